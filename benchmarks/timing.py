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
    """One line: our time as a multiple of the bare one, the most it should be, ok or SHORT."""
    report_ratio(f"{what}: {ours} / {bare}", times[ours] / times[bare], target)


def report_ratio(what, ratio, target):
    digits = 2 if target >= 0.1 else 4
    figures = f"{ratio:8.{digits}f} {target:6.{digits}f}"
    print(f"{what:90} {figures} {'ok' if ratio <= target else 'SHORT'}", flush=True)
