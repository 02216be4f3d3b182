"""check_kernel passes every kernel of the package and names what a broken one breaks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp

from extras import optional, skip_if_missing
from kernel_learn import kernels
from kernel_learn.kernels import (
    ColumnKernel,
    Combination,
    Gaussian,
    Kernel,
    Linear,
    Precomputed,
    Spectrum,
    SubspaceKernel,
    as_kernel,
)
from kernel_learn.kernels.resolve import NAMES
from kernel_learn.rows.access import dense
from kernel_learn.testing import check_kernel

pd = optional("pandas")
N_NEW = 5  # new rows that check_kernel makes by itself

OTHERS = [
    "sigmoid",
    gp.RBF(),
    gp.DotProduct() + gp.Matern(),
    kernels.Matern(nu=0.5),
    kernels.Matern(1.0, nu=2.5),
    kernels.Spectrum(2, normalize=False),
    ColumnKernel(Gaussian(), [0, 2]),
    ColumnKernel("exponential", ["a", "b"]),
    ColumnKernel(Spectrum(2), "text"),
    ColumnKernel(Spectrum(2), 1),
    Combination([Gaussian(), Linear(), kernels.Cosine()], np.array([1.0, 0.5, 0.0])),
]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_named_kernels(name):
    check_kernel(name)


@pytest.mark.parametrize("kernel", OTHERS[1:], ids=str)
def test_other_kernels(kernel):
    try:
        check_kernel(kernel)
    except ImportError as error:
        skip_if_missing(error)
        raise


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_the_user(form, dtype, rng):
    X = form(rng.standard_normal((10, 3)).astype(dtype))
    rtol = 1e-10 if dtype == np.float64 else 1e-6
    check_kernel(Gaussian(), X, rtol=rtol)
    check_kernel(Gaussian("scale"), X, X_new=X[:4], rtol=rtol)


def test_learned_kernel(rng):
    coef = rng.standard_normal((5, 2))
    check_kernel(SubspaceKernel(Gaussian(1.0), rng.standard_normal((5, 4)), coef, np.ones(2)))


def test_matrix_and_frame(rng):
    F = rng.standard_normal((8, 3))
    check_kernel(Precomputed(), F @ F.T)
    frame = pd.DataFrame({"a": F[:, 0], "b": F[:, 1], "s": list("abcabcab")})
    bank = [ColumnKernel(Gaussian(), slice("a", "b")), ColumnKernel(Spectrum(1), "s")]
    check_kernel(Combination(bank, [1.0, 1.0]), frame)
    with pytest.raises(ValueError, match="cannot guess the columns"):
        check_kernel(Combination(bank, [1.0, 1.0]))


def test_repaired_matrix_passes(rng):
    A = rng.standard_normal((8, 8))
    with pytest.warns(UserWarning, match="negative eigenvalues"):
        check_kernel(Precomputed(), A + A.T)


class Good(Kernel):
    """x'y, the least that a kernel must say; each class below breaks one promise."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def __call__(self, X, X_ref=None):
        X_ref = X if X_ref is None else X_ref
        K = self.factor * dense(X @ X_ref.T)
        return (K + K.T) / 2 if X_ref is X else K


class WrongShape(Good):
    def __call__(self, X, X_ref=None):
        return super().__call__(X, X_ref)[:, :2]


class Matrix(Good):
    def __call__(self, X, X_ref=None):
        return sparse.csr_matrix(super().__call__(X, X_ref))


class SparseFromSparse(Good):
    """An array for arrays; what the product of sparse rows is, is left to chance."""

    def __call__(self, X, X_ref=None):
        return self.factor * (X @ (X if X_ref is None else X_ref).T)


class AlwaysDouble(Good):
    def __call__(self, X, X_ref=None):
        return super().__call__(X, X_ref).astype(np.float64)


class AlwaysSingle(Good):
    def __call__(self, X, X_ref=None):
        return super().__call__(X, X_ref).astype(np.float32)


class NotFinite(Good):
    def __call__(self, X, X_ref=None):
        K = super().__call__(X, X_ref)
        K[0, 0] = np.nan
        return K


class NotSymmetric(Good):
    def __call__(self, X, X_ref=None):
        K = super().__call__(X, X_ref)
        K[0, -1] *= 1 + 1e-15
        return K


class Noise(Good):
    def __call__(self, X, X_ref=None):
        K = super().__call__(X, X_ref)
        return K + np.eye(len(K)) if X_ref is None else K


class Centred(Good):
    def __call__(self, X, X_ref=None):
        mean = X.mean(axis=0)
        return super().__call__(X - mean, X - mean if X_ref is None else X_ref - mean)


class CentredOnReference(Good):
    def __call__(self, X, X_ref=None):
        mean = (X if X_ref is None else X_ref).mean(axis=0)
        return super().__call__(X - mean, X - mean if X_ref is None else X_ref - mean)


class WrongDiagonal(Good):
    def diag(self, X):
        return np.ones(len(X))


class Indefinite(Good):
    def __call__(self, X, X_ref=None):
        return -super().__call__(X, X_ref)


class HiddenState(Good):
    hidden = 2.0

    def __init__(self, factor=1.0):
        super().__init__(factor)
        self.hidden = Good.created = getattr(Good, "created", 0) + 1

    def __call__(self, X, X_ref=None):
        return self.hidden * super().__call__(X, X_ref)


class OtherClone(Good):
    """Its clone forgets what a fit of ours gave it."""

    def __sklearn_clone__(self):
        return type(self)(2 * self.factor)


class NotReciprocal(Good):
    """Twice as much where there are fewer rows on the right than the blocks that are tried."""

    def __call__(self, X, X_ref=None):
        K = super().__call__(X, X_ref)
        return 2 * K if K.shape[1] == N_NEW else K


class WritesInDiag(Good):
    def diag(self, X):
        found = super().diag(X)
        if X.flags.writeable:
            X[0] *= 2.0
        return found

    def __call__(self, X, X_ref=None):  # of signs: what diag does to a row has no effect
        return super().__call__(np.sign(X), None if X_ref is None else np.sign(X_ref))


class Unpicklable(Good):
    def __getstate__(self):
        raise TypeError("it holds an open file")


class Writes(Good):
    def __call__(self, X, X_ref=None):
        K = super().__call__(X, X_ref)
        if X.flags.writeable:
            X[0, 0] += 1
        return K


class WritesRoundTrip(Good):
    """Undoes its writing, and so needs rows that can be written to."""

    def __call__(self, X, X_ref=None):
        X *= 1
        return super().__call__(X, X_ref)


class Rule(Good):
    @property
    def is_resolved(self):
        return not isinstance(self.factor, str)

    def resolve(self, X, sample_weight=None):
        return self if self.is_resolved else type(self)(2.0)

    def __call__(self, X, X_ref=None):
        if not self.is_resolved:
            raise ValueError("open rule")
        return super().__call__(X, X_ref)


class CallableRule(Rule):
    def __call__(self, X, X_ref=None):
        return Good(1.0)(X, X_ref)


class ResolvesItself(Rule):
    def resolve(self, X, sample_weight=None):
        self.factor = 2.0
        return self


class NeverResolved(Rule):
    def resolve(self, X, sample_weight=None):
        return self


class ResolvesTwice(Rule):
    def resolve(self, X, sample_weight=None):
        return type(self)(2.0 if isinstance(self.factor, str) else self.factor + 1)


class OtherOnSparse(Good):
    def __call__(self, X, X_ref=None):
        return (2 if sparse.issparse(X) else 1) * super().__call__(X, X_ref)


class RefusesSparse(Good):
    def __call__(self, X, X_ref=None):
        if sparse.issparse(X):
            raise TypeError("dense rows only")
        return super().__call__(X, X_ref)


def test_good_kernels_pass():
    check_kernel(Good())
    check_kernel(Rule("rule"))
    check_kernel(RefusesSparse())


@pytest.mark.parametrize(
    "kernel, sentence",
    [
        (WrongShape(), r"k\(X\) of 14 rows must be of shape \(14, 14\), and it is \(14, 2\)"),
        (Matrix(), r"k\(X\) must be an array, and it is a csr_matrix"),
        (SparseFromSparse(), "CSR rows must give an array, or be refused.*csr_matrix"),
        (AlwaysSingle(), r"k\(X\) must be float64"),
        (AlwaysDouble(), "float32 rows must give float32 values"),
        (NotFinite(), r"k\(X\) must be finite"),
        (NotSymmetric(), r"k\(X\) must be exactly symmetric, and 2 entries are not"),
        (Noise(), r"k\(X\) must be k\(X, X\) with X given twice"),
        (WrongDiagonal(), r"diag\(X\) must be the diagonal"),
        (Indefinite(), "must be positive semidefinite, and its eigenvalues run from -"),
        (Centred(), "diagonal|blocks of 1 rows"),
        (CentredOnReference(), "diagonal|each row of X_ref by itself"),
        (HiddenState(), "get_params"),
        (OtherClone(), "its clone must be the same function"),
        (NotReciprocal(), r"k\(X, X_new\) must be the transpose of k\(X_new, X\)"),
        (WritesInDiag(), "it must not change the rows that it is given"),
        (Unpicklable(), "must survive pickling, and it holds an open file"),
        (Writes(), "diagonal|must not change the rows|X given twice"),
        (CallableRule("rule"), "calling it with an open rule must be a ValueError"),
        (ResolvesItself("rule"), "must leave the kernel itself as it was"),
        (NeverResolved("rule"), "must leave no rule open"),
        (ResolvesTwice("rule"), "resolving a second time must change nothing"),
        (OtherOnSparse(), "CSR rows must give the values of dense rows"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Kernel) else "",
)
def test_broken_promises_are_named(kernel, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_kernel(kernel)


def test_rows_that_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        check_kernel(WritesRoundTrip())


def test_kernels_written_on_the_spot():
    class Local(Good):
        pass

    check_kernel(Local())
    check_kernel(lambda X, X_ref: X @ X_ref.T)


def test_the_sigmoid_is_no_kernel():
    with pytest.raises(AssertionError, match="positive semidefinite"):
        check_kernel(as_kernel("sigmoid"))
