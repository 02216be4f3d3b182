"""Banks of kernels: leave-one-out beside what it is made of."""

from sklearn.datasets import load_digits
from timing import best_times, report

from kernel_learn import KernelDiscriminant
from kernel_learn.kernels import Gaussian, gaussian_bank

X, y = load_digits(return_X_y=True)
X = X / 16 * 3
BANK = gaussian_bank(10, 0.1, 1000)


def regularisation_by_leave_one_out(n=1500):
    """reg="loo" on a bank: as fast as reg="learn" and one path of a single kernel."""

    def learn_and_path():
        KernelDiscriminant(BANK, reg="learn").fit(X[:n], y[:n])
        KernelDiscriminant(Gaussian(0.05)).fit(X[:n], y[:n])

    times = best_times(
        {
            'reg="loo"': lambda: KernelDiscriminant(BANK, reg="loo").fit(X[:n], y[:n]),
            'reg="learn" + path': learn_and_path,
        },
        2,
    )
    what = f"KernelDiscriminant, bank of 10, n={n}"
    report(what, 'reg="loo"', 'reg="learn" + path', 1.0, times)
