"""Two faults at once, drawn at random: a sentence of ours, or a right answer."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import kernel_learn as kl
from chaos.faults import TIMES, record
from kernel_learn.constraints import Pairs, Similarities, Triplets

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
rng = np.random.default_rng(0)
N = 24
X = rng.normal(size=(N, 3))
Y = np.arange(N) % 3
PAIRS = np.arange(8).reshape(4, 2)
FOREIGN = (AssertionError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError)

ROWS = {
    "none": X,
    "NaN": np.where(X > 2, np.nan, X),
    "infinite": np.where(X > 2, np.inf, X),
    "huge": 1e200 * X,
    "float32, huge": (1e30 * X).astype(np.float32),
    "texts": X.astype(str),
    "objects": X.astype(object),
    "one number": np.array(3.0),
    "one row": X[:1],
    "no rows": X[:0],
    "constant": np.ones_like(X),
    "a list": X.tolist(),
    "three dimensions": X[:, :, None],
    "None": None,
}
LABELS = {
    "none": Y,
    "one class": np.zeros(N),
    "too few": Y[:-1],
    "each its own": np.arange(N),
    "NaN": np.where(Y == 0, np.nan, Y),
    "texts": np.array(["a", "b", "c"])[Y],
    "mixed": np.array(["a", 1, None], object)[Y],
    "real": X[:, 0],
    "None": None,
    "two columns": np.column_stack([Y, Y]),
}
PARAMETERS = {
    "none": {},
    "reg": {"reg": -1.0},
    "reg of text": {"reg": "much"},
    "reg NaN": {"reg": np.nan},
    "landmarks": {"landmarks": 0},
    "landmarks beyond": {"landmarks": 10**6},
    "landmarks, given": {"landmarks": np.full((2, 3), np.nan)},
    "landmarks of another width": {"landmarks": np.zeros((2, 7))},
    "kernel": {"kernel": "gausian"},
    "kernel of numbers": {"kernel": 3},
    "kernel that gives text": {"kernel": lambda A, B: "K"},
    "components": {"n_components": -2},
    "components beyond": {"n_components": 10**6},
    "budget": {"memory_budget": "much"},
    "no budget": {"memory_budget": 10},
    "seed": {"random_state": "a"},
    "C": {"C": 0.0},
    "quality": {"quality": "best"},
    "members": {"max_members": 0},
    "unknown": {"gama": 1.0},
}
GROUPS = {
    "none": None,
    "too few": np.arange(N - 1),
    "one": np.zeros(N),
    "NaN": np.where(Y == 0, np.nan, Y),
    "objects": np.array([None, "a", 1], object)[Y],
    "a text": "group",
    "each its own": np.arange(N),
}
CONSTRAINTS = {
    "none": Pairs(PAIRS[:2], PAIRS[2:]),
    "beyond": lambda: Pairs(PAIRS + 100, PAIRS),
    "negative": lambda: Pairs(PAIRS - 10, PAIRS),
    "fractions": lambda: Pairs(PAIRS + 0.5, PAIRS),
    "triples as pairs": lambda: Pairs(np.zeros((2, 3), int), PAIRS),
    "empty": lambda: Pairs(PAIRS[:0], PAIRS[:0]),
    "contradictory": lambda: Pairs(PAIRS, PAIRS),
    "with itself": lambda: Pairs(np.zeros((3, 2), int), PAIRS),
    "NaN rows": lambda: Similarities(np.full((2, 2, 3), np.nan), X[PAIRS]),
    "other columns": lambda: Triplets(np.zeros((2, 3, 9))),
    "a text": lambda: "pair",
    "a number": lambda: 3,
}
MODELS = [
    kl.KernelDiscriminant(),
    kl.HSICSubspace(),
    kl.SubspaceSVC(),
    kl.KernelPLS(),
    kl.KernelOrthogonalCentroid(),
    kl.KernelClassifier(quality="fast", max_members=1),
    kl.KernelRegressor(quality="fast", max_members=1, assess=False),
]


def drawn(times):
    """So many draws, the same in every run."""
    return hypothesis.settings(
        max_examples=times * TIMES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def attempt(work):
    """Whether it gave answers, which are finite, or a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = work()
        except FOREIGN as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
        except (ValueError, TypeError) as error:
            text = str(error)
            assert 10 < len(text) < 1500 and "unsized" not in text, text
            return "a sentence"
    assert np.isfinite(np.asarray(found, dtype=float)).all()
    return "answers"


def answers(model, *given, **more):
    fitted = clone(model).fit(*given, **more)
    method = next(
        m for m in ("predict_proba", "transform", "decision_function") if hasattr(fitted, m)
    )
    return getattr(fitted, method)(X)


@drawn(2520)
@hypothesis.given(
    model=st.sampled_from(MODELS),
    rows=st.sampled_from(list(ROWS)),
    labels=st.sampled_from(list(LABELS)),
    parameter=st.sampled_from(list(PARAMETERS)),
    groups=st.sampled_from(list(GROUPS)),
    faulty=st.sampled_from([(i, j) for i in range(4) for j in range(i, 4)]),
)
def test_rows_labels_parameters_and_groups(model, rows, labels, parameter, groups, faulty):
    drawn = enumerate([rows, labels, parameter, groups])
    rows, labels, parameter, groups = (own if i in faulty else "none" for i, own in drawn)

    def work():
        own = clone(model).set_params(**PARAMETERS[parameter])
        more = {"groups": GROUPS[groups]} if GROUPS[groups] is not None else {}
        return answers(own, ROWS[rows], LABELS[labels], **more)

    outcome = attempt(work)
    wrong = [rows, labels, parameter, groups].count("none") < 4
    record("pairs of faults" if wrong else "no fault", "fit", outcome)


@drawn(600)
@hypothesis.given(
    rows=st.sampled_from(list(ROWS)),
    constraints=st.sampled_from(list(CONSTRAINTS)),
    parameter=st.sampled_from(list(PARAMETERS)),
)
def test_constraints(rows, constraints, parameter):
    def work():
        own = kl.InductiveKernel().set_params(**PARAMETERS[parameter])
        given = CONSTRAINTS[constraints]
        return answers(own, ROWS[rows], constraints=given() if callable(given) else given)

    record("pairs of faults", "constraints", attempt(work))
