"""Ratios of CPU times within one run on one thread."""

from time import process_time

from threadpoolctl import threadpool_limits


def best_times(functions, repeats=5):
    """The best of ``repeats`` times of each function, taken in turn: noise hits all alike."""
    times = {name: [] for name in functions}
    with threadpool_limits(1):
        for _ in range(repeats):
            for name, function in functions.items():
                start = process_time()
                function()
                times[name].append(process_time() - start)
    return {name: min(values) for name, values in times.items()}


def report(what, ours, bare, target, times):
    """One line: our time as a multiple of the bare one, or the bare one as a multiple of ours."""
    ratio = times[ours] / times[bare]
    print(f"{what:62} {ours} / {bare} = {ratio:.2f} (target <= {target:.2f})")
