"""Bad side information: pairs, triplets, similarities, probabilities, and rows they do not name."""

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.constraints import (
    ClassProbabilities,
    Linear,
    Pairs,
    Quadruplets,
    Similarities,
    Triplets,
)
from kernel_learn.datasets import Blocks
from refusals import N, X, Y, judge, refuse

PAIRS = np.array([[0, 3], [1, 4], [2, 5]])
APART = np.array([[0, 1], [1, 2], [2, 3]])
TRIPLETS = np.array([[0, 3, 1], [1, 4, 2], [2, 5, 0]])


def put(value, at=(0, 0), tuples=PAIRS, dtype=None):
    """Index tuples with one entry changed."""
    A = np.array(tuples, dtype=dtype or type(value))
    A[at] = value
    return A


# Tuples that no family takes; each is tried in the place of pairs and of triplets.
BAD_TUPLES = {
    "a negative index": (lambda T: put(-1, tuples=T), "negative index -1"),
    "NaN": (lambda T: put(np.nan, tuples=T), "type float64.*integers"),
    "halves": (lambda T: T + 0.5, "type float64.*integers"),
    "texts": (lambda T: T.astype(str), "type <U"),
    "None": (lambda T: put(None, tuples=T, dtype=object), "type object"),
    "a mask": (lambda T: T > 1, "type bool"),
    "complex numbers": (lambda T: T + 1j, "type complex"),
    "dates": (lambda T: T.astype("datetime64[s]"), "type datetime"),
    "one index each": (lambda T: T[:, :1], r"shape \(3, 1\)"),
    "five indices each": (lambda T: np.tile(T, (1, 5))[:, :5], r"shape \(3, 5\)"),
    "a flat list": (lambda T: T.ravel(), r"shape \(\d,\)"),
    "a number": (lambda T: 3, r"shape \(\)"),
    "a word": (lambda T: "pairs", "is a str"),
    "a dict": (lambda T: {0: 1}, "is a dict"),
    "four dimensions": (lambda T: X[T][..., None], r"shape \(3, ., 3, 1\)"),
    "ragged": (lambda T: [[0, 1], [2]], "rectangle"),
    "masked": (lambda T: np.ma.masked_array(T, mask=T == 3), "masked"),
    "a sparse matrix": (lambda T: sparse.csr_matrix(T), "is a csr"),
    "none": (lambda T: [], "holds no constraint"),
    "rows with NaN": (lambda T: X[T] * np.nan, "not finite"),
    "rows with infinity": (lambda T: X[T] * np.inf, "not finite"),
    "rows of text": (lambda T: X[T].astype(str), "type <U"),
}
FAMILIES = {
    "Pairs(similar=)": (Pairs, PAIRS),
    "Pairs(dissimilar=)": (lambda T: Pairs(dissimilar=T), PAIRS),
    "Similarities(similar=)": (Similarities, PAIRS),
    "Similarities(dissimilar=)": (lambda T: Similarities(dissimilar=T), PAIRS),
    "Triplets(triplets=)": (Triplets, TRIPLETS),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", BAD_TUPLES)
def test_tuples(family, case):
    make, tuples = FAMILIES[family]
    change, words = BAD_TUPLES[case]
    given = change(tuples)
    with np.errstate(invalid="ignore"):
        refuse(lambda: make(given), words, inputs=(given,))


def learn(constraints, **options):
    return kl.InductiveKernel(**options).fit(X, constraints=constraints)


def with_probabilities(rows=(0, 1), classes=(0, 1), labels=Y, **options):
    return ClassProbabilities(rows, classes, labels, **options)


CASES = {
    # rows that X does not have
    "a pair of another table": (lambda: learn(Pairs(put(N))), rf"{N}.*{N} rows"),
    "a dissimilar pair of another table": (lambda: learn(Pairs(PAIRS, put(99))), "99"),
    "a triplet of another table": (lambda: learn(Triplets(put(99, tuples=TRIPLETS))), "99"),
    "a similarity of another table": (lambda: learn(Similarities(put(99))), "99"),
    "a probability of another table": (lambda: learn(with_probabilities([0, 99])), "99"),
    "rows of other columns": (lambda: learn(Pairs(X[PAIRS][..., :2])), "2 (features|columns)"),
    "rows without squares": (lambda: learn(Pairs(1e200 * X[PAIRS])), "squares"),
    "indices beyond all types": (lambda: learn(Pairs([[0, 2**62]])), f"{2**62}"),
    # pairs
    "a pair of a row with itself": (lambda: Pairs([[3, 3]]), r"row 3 with itself"),
    "a triplet of a row with itself": (lambda: Triplets([[1, 2, 2]]), "row 2 with itself"),
    "no pairs at all": (lambda: Pairs(), "no constraint"),
    "indices and rows": (lambda: Pairs(PAIRS, X[APART]), "same form"),
    "a quadruplet of a row with itself": (lambda: Quadruplets([[1, 2, 5, 5]]), "row 5 with itself"),
    "a quadruplet of three": (lambda: Quadruplets(TRIPLETS), r"shape \(n, 4\)"),
    "no quadruplets": (lambda: Quadruplets([]), "no constraint"),
    "coefficients of no rows": (lambda: Linear(np.zeros((4, 4)), 1.0), "asks for nothing"),
    "coefficients that cancel": (
        lambda: Linear([[0.0, 1.0], [-1.0, 0.0]], 1.0),
        "constraint 0, has no coefficient",
    ),
    "coefficients that are no matrix": (lambda: Linear(np.ones((4, 3)), 1.0), r"shape \(4, 3\)"),
    "coefficients of text": (lambda: Linear([["a", "b"], ["c", "d"]], 1.0), "real numbers"),
    "coefficients of NaN": (lambda: Linear(np.full((3, 3), np.nan), 1.0), "not finite"),
    "no bound of coefficients": (lambda: Linear(np.eye(3), None), "no default bound"),
    "bounds of other coefficients": (lambda: Linear([np.eye(3)] * 2, [1.0] * 3), "2 numbers"),
    "coefficients of another table": (
        lambda: learn(Linear(np.eye(99), 1.0)),
        f"matrices of 99 rows and columns, and X has {N}",
    ),
    "coefficients of some rows": (
        lambda: learn(Pairs(PAIRS, APART) + Linear(sparse.eye_array(5), 0.2)),
        f"matrices of 5 rows and columns, and X has {N}",
    ),
    "coefficients of two sizes": (
        lambda: Linear([np.eye(3), np.eye(4)], 1.0),
        "matrices of 3 and of 4 rows",
    ),
    "a negative distance": (lambda: Pairs(PAIRS, similar_max=-1.0), "not negative"),
    "a bound of NaN": (lambda: Pairs(PAIRS, similar_max=np.nan), "finite"),
    "a bound of text": (lambda: Pairs(PAIRS, similar_max="small"), "similar_max"),
    "bounds of other pairs": (lambda: Pairs(PAIRS, similar_max=[1.0, 2.0]), "3 numbers"),
    "a complex bound": (lambda: Pairs(PAIRS, similar_max=1j), "complex"),
    "a margin of infinity": (lambda: Triplets(TRIPLETS, margin=np.inf), "finite"),
    "a margin of text": (lambda: Triplets(TRIPLETS, margin="a"), "margin"),
    "signs of zero": (lambda: Pairs.from_signs(PAIRS, [0, 1, -1]), r"\+1 or -1"),
    "signs too few": (lambda: Pairs.from_signs(PAIRS, [1, -1]), r"\+1 or -1"),
    "signs of text": (lambda: Pairs.from_signs(PAIRS, ["a", "b", "c"]), r"\+1 or -1"),
    "signs for no pairs": (lambda: Pairs.from_signs([], []), "no constraint"),
    "signs for a number": (lambda: Pairs.from_signs(3, [1]), r"\+1 or -1 for each pair"),
    "ragged signs": (lambda: Pairs.from_signs(PAIRS, [[1], [1, -1], []]), "signs"),
    "contradictory pairs that must hold": (
        lambda: learn(Pairs(PAIRS, PAIRS), slack=np.inf),
        "these constraints were not all met",
    ),
    # probabilities
    "probability of a class that is not there": (
        lambda: with_probabilities(classes=(0, 9)),
        "names 9",
    ),
    "probabilities of too few classes": (lambda: with_probabilities(classes=(0,)), "one class for"),
    "probabilities of no rows": (lambda: with_probabilities([], []), "row indices|no constraint"),
    "probabilities of rows by text": (lambda: with_probabilities(["a", "b"]), "row indices"),
    "probabilities of one row, flat": (lambda: with_probabilities(3, 0), "row indices"),
    "probabilities of ragged rows": (lambda: with_probabilities([[0], [1, 2]]), "rectangle"),
    "probabilities that contradict": (
        lambda: with_probabilities(at_least=0.9, at_most=0.1),
        "contradict",
    ),
    "a negative probability": (lambda: with_probabilities(at_least=-0.1), "not negative"),
    "a probability of NaN": (lambda: with_probabilities(at_most=np.nan), "finite"),
    "a probability of text": (lambda: with_probabilities(at_most="a"), "at_most"),
    "a negative mass": (lambda: with_probabilities(mass=-1.0), "mass"),
    "labels of other rows": (lambda: learn(with_probabilities(labels=Y[:5])), "labels|rows"),
    "labels of more rows": (lambda: learn(with_probabilities(labels=np.tile(Y, 2))), "labels|rows"),
    "labels, none known": (lambda: with_probabilities(labels=np.full(N, -1)), "no row has"),
    "labels of two dimensions": (lambda: with_probabilities(labels=np.eye(3)[Y]), "labels"),
    # what a fit takes
    "a list of pairs": (lambda: learn(PAIRS), "not a set of constraints"),
    "constraints and labels": (
        lambda: kl.InductiveKernel().fit(X, Y, constraints=Pairs(PAIRS)),
        "Both y and constraints",
    ),
    "indices at construction": (
        lambda: kl.InductiveKernel(constraints=Pairs(PAIRS)).fit(X),
        "row indices",
    ),
    "neither labels nor constraints": (lambda: kl.InductiveKernel().fit(X), "labels|constraints"),
    "a stream without such a row": (
        lambda: kl.InductiveKernel().fit(Blocks([X, X]), constraints=Pairs(put(99))),
        "row 99.*48 rows",
    ),
    "probabilities of a stream": (
        lambda: kl.InductiveKernel().fit(Blocks([X, X]), constraints=with_probabilities()),
        "stream",
    ),
    "a stream with weights": (
        lambda: kl.InductiveKernel().fit(Blocks([(X, Y, np.arange(N))])),
        "counts every row once",
    ),
    "LMNN from pairs": (lambda: kl.KernelLMNN().fit(X, constraints=Pairs(PAIRS)), "Triplets"),
    "LMNN from labels and triplets": (
        lambda: kl.KernelLMNN().fit(X, Y, constraints=Triplets(TRIPLETS)),
        "Both|y and",
    ),
    "LMNN of another table": (
        lambda: kl.KernelLMNN().fit(X, constraints=Triplets(put(99, tuples=TRIPLETS))),
        "99",
    ),
    "LMNN from rows": (
        lambda: kl.KernelLMNN().fit(X, constraints=Triplets(X[TRIPLETS])),
        "indices|rows",
    ),
    "LMNN from a list": (lambda: kl.KernelLMNN().fit(X, constraints=TRIPLETS), "Triplets"),
    "MMC from triplets": (
        lambda: kl.KernelMMC().fit(X, constraints=Triplets(TRIPLETS)),
        "Pairs",
    ),
    "MMC from similar pairs alone": (
        lambda: kl.KernelMMC().fit(X, constraints=Pairs(PAIRS)),
        "dissimilar",
    ),
    "MMC of another table": (
        lambda: kl.KernelMMC().fit(X, constraints=Pairs(PAIRS, put(99))),
        "99",
    ),
    "RCA from ragged chunklets": (
        lambda: kl.KernelRCA().fit(X, constraints=[[0], [1, 2]]),
        "rectangle",
    ),
    "MMC from chunklets of other rows": (
        lambda: kl.KernelMMC().fit(X, constraints=[0, 0, 1]),
        f"each of the {N} rows",
    ),
    "RCA from chunklets of text": (
        lambda: kl.KernelRCA().fit(X, constraints=["a"] * N),
        "number of its chunklet",
    ),
    "RCA from chunklets of NaN": (
        lambda: kl.KernelRCA().fit(X, constraints=np.full(N, np.nan)),
        "number of its chunklet",
    ),
    "RCA from no chunklet": (
        lambda: kl.KernelRCA().fit(X, constraints=np.full(N, -1)),
        "chunklet",
    ),
    "RCA from triplets": (
        lambda: kl.KernelRCA().fit(X, constraints=Triplets(TRIPLETS)),
        "Pairs",
    ),
    "RCA of another table": (lambda: kl.KernelRCA().fit(X, constraints=Pairs(put(99))), "99"),
    "RCA from dissimilar pairs": (
        lambda: kl.KernelRCA().fit(X, constraints=Pairs(dissimilar=PAIRS)),
        "similar",
    ),
    "pairs of a classifier, out of range": (
        lambda: kl.PairClassifier().fit(X, put(99), [True, False, True]),
        "99",
    ),
    "pairs of a classifier, negative": (
        lambda: kl.PairClassifier().fit(X, put(-1), [True, False, True]),
        "-1",
    ),
    "pairs of a classifier, of one kind": (
        lambda: kl.PairClassifier().fit(X, PAIRS, [True, True, True]),
        "0 are different",
    ),
    "pairs of a classifier, too few labels": (
        lambda: kl.PairClassifier().fit(X, PAIRS, [True]),
        "3",
    ),
    "pairs of a classifier, NaN": (
        lambda: kl.PairClassifier().fit(X, put(np.nan), [True, False, True]),
        "integers|indices",
    ),
    "pairs of a classifier, none": (lambda: kl.PairClassifier().fit(X, [], []), "no pair|0|empty"),
    "pairs of a classifier, texts": (
        lambda: kl.PairClassifier().fit(X, PAIRS.astype(str), [True, False, True]),
        "integers|indices",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_side_information(case):
    call, words = CASES[case]
    refuse(call, words, inputs=(X, Y, PAIRS, APART, TRIPLETS))


ODD = {
    "contradictory pairs": lambda: Pairs(PAIRS, PAIRS),
    "contradictory triplets": lambda: Triplets([[0, 3, 1], [0, 1, 3]]),
    "pairs twice": lambda: Pairs(np.repeat(PAIRS, 3, axis=0), APART),
    "a pair both ways": lambda: Pairs(np.vstack([PAIRS, PAIRS[:, ::-1]]), APART),
    "one pair": lambda: Pairs(PAIRS[:1], APART[:1]),
    "bounds of zero": lambda: Pairs(PAIRS, APART, similar_max=0.0),
    "unsigned indices": lambda: Pairs(PAIRS.astype(np.uint8), APART),
    "tuples of tuples": lambda: Pairs(((0, 3), (1, 4)), ((0, 1),)),
    "a similarity of a row with itself": lambda: Similarities([[3, 3]], APART),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_constraints_that_are_answered(case):
    refused, words = judge(lambda: learn(ODD[case]()).transform(X), inputs=(X, PAIRS, APART))
    assert not refused, words
