"""What a call with odd input may do: answer in finite numbers, or refuse in a sentence of ours."""

import copy
import dis
import re
import signal
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import kernel_learn

OURS = str(Path(kernel_learn.__file__).parent)
# scikit-learn's sentences for users: its checks, called by ours with nothing in between, and
# the methods that its base classes give our estimators. Nothing else of it may raise.
SKLEARN = Path(sklearn.__file__).parent
ITS_CHECKS = tuple(
    str(SKLEARN / name)
    for name in (
        "base.py",
        "feature_selection/_base.py",
        "utils/_available_if.py",
        "utils/_metadata_requests.py",
        "utils/_param_validation.py",
        "utils/_set_output.py",
        "utils/class_weight.py",
        "utils/metaestimators.py",
        "utils/multiclass.py",
        "utils/validation.py",
    )
)
# NumPy and SciPy say these of arrays: words of a machine, of which no user made an array.
FOREIGN = re.compile(r"could not be broadcast|could not convert|setting an array element")
SECONDS = 60.0

N = 24
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 3)) + 2 * np.eye(3)[Y]


class OutOfTime(BaseException):
    """A call took more processor time than it may; no ``except Exception`` hides it."""


@contextmanager
def cpu_limit(seconds=SECONDS):
    """Interrupt what is inside after so much processor time."""

    def stop(*_):
        raise OutOfTime(f"more than {seconds:.0f} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def origin(error):
    """What is wrong with where an exception comes from; None if a sentence of ours raised it.

    The innermost frame must be ours, or scikit-learn's checks and nothing else must lie between
    it and ours; and it must stand at a ``raise``: compiled code of NumPy or SciPy that fails has
    the frame of its caller.
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    files = [frame.f_code.co_filename for frame, _ in frames]
    mine = [i for i, file in enumerate(files) if file.startswith(OURS) or is_test(file)]
    beyond = files[mine[-1] + 1 :]
    if not all(file in ITS_CHECKS for file in beyond):
        return f"raised in {Path(files[-1]).parent.name}/{Path(files[-1]).name}"
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code.co_code
    if dis.opname[code[tb.tb_lasti]] != "RAISE_VARARGS":
        return f"raised by compiled code called at {Path(files[-1]).name}:{tb.tb_lineno}"
    return None


def is_test(file):
    return Path(file).parent == Path(__file__).parent


def refusal(error):
    """What is wrong with an exception as an answer to a user; None if nothing is."""
    if not isinstance(error, ValueError | TypeError):
        return f"{type(error).__name__}: {error}"
    wrong = origin(error)
    if wrong:
        return f"{wrong}: {type(error).__name__}: {error}"
    if len(str(error).split()) < 4 or FOREIGN.search(str(error)):
        return f"no sentence: {error}"
    return None


def same(a, b):
    """Whether two inputs have the same values, of the same types."""
    if type(a) is not type(b):
        return False
    if sparse.issparse(a):
        return all(
            np.array_equal(getattr(a, part), getattr(b, part), equal_nan=part == "data")
            for part in ("data", "indices", "indptr", "row", "col")
            if isinstance(getattr(a, part, None), np.ndarray)
        )
    if isinstance(a, np.ma.MaskedArray):
        return same(a.data, b.data) and np.array_equal(a.mask, b.mask)
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object:
            return all(same(u, v) for u, v in zip(a.ravel(), b.ravel(), strict=True))
        return a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(u, v) for u, v in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if hasattr(a, "equals"):  # frames and series
        return bool(a.equals(b))
    if callable(a) or not hasattr(a, "__dict__"):
        return a is b or a == b or (a != a and b != b) or repr(a) == repr(b)
    return same(vars(a), vars(b))


def not_finite(value):
    """Whether an answer has a NaN or an infinity among its numbers."""
    if sparse.issparse(value):
        value = value.data
    if isinstance(value, list | tuple):
        return any(map(not_finite, value))
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, np.ndarray | np.generic | float):
        value = np.asarray(value)
        return value.dtype.kind in "fc" and not np.isfinite(value).all()
    return False


def fitted(model):
    """Attributes that only a fit makes, and whatever else an estimator holds."""
    return {name: id(value) for name, value in vars(model).items()}


def judge(call, *, model=None, inputs=(), seconds=SECONDS):
    """(refused, words): the sentence of a refusal, or the answer's representation.

    Fails on what no user should see: an exception from inside NumPy, SciPy or
    scikit-learn, a RuntimeWarning, an answer that is not finite, changed inputs or
    parameters, something left behind by a refused fit, too much time.
    """
    before = copy.deepcopy(inputs)
    state = None if model is None else (fitted(model), copy.deepcopy(model.get_params()))
    with warnings.catch_warnings(), cpu_limit(seconds):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # ours; below are kinds of it
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataConversionWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            answer, refused = call(), None
        except Exception as error:
            answer, refused = None, error
    assert same(before, inputs), "its inputs were changed"
    if state is not None:
        assert same(state[1], copy.deepcopy(model.get_params())), "its parameters were changed"
    if refused is not None:
        wrong = refusal(refused)
        assert wrong is None, wrong
        if state is not None:
            assert fitted(model) == state[0], "a refused fit left something behind"
        return True, str(refused)
    assert not not_finite(answer), "the answer is not finite"
    return False, repr(answer)


def refuse(call, match, *, model=None, inputs=()):
    """Assert that a call is refused, in words that match."""
    refused, words = judge(call, model=model, inputs=inputs)
    assert refused, f"nothing was refused: {words[:200]}"
    assert re.search(match, words), words


def changed(value, *, at=(3, 1), dtype=None):
    """X with one entry changed."""
    A = X.astype(dtype or float)
    A[at] = value
    return A
