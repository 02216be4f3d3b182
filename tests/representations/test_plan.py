import numpy as np
import pytest

from kernel_learn.kernels import ColumnKernel, Gaussian
from kernel_learn.representations import ArraySource, Needs, Size, plan
from kernel_learn.representations.plan import _setup, format_bytes, free_memory, parse_memory
from kernel_learn.representations.represent import plan_size, rule_rows


def size(n, **options):
    return Size(n_rows=n, n_distinct=n, **options)


def test_small_is_exact_and_large_is_not():
    assert plan(size(1000), memory_budget="2GB").representation == "gram"
    big = plan(size(50_000), memory_budget="2GB")
    assert big.representation == "landmarks"
    assert big.n_landmarks == 1000


def test_less_memory_gives_another_model_only_with_a_warning():
    default = plan(size(5000), memory_budget="2GB")
    need = format_bytes(default.bytes_least)
    with pytest.warns(UserWarning, match=rf"{need}, and the memory budget is 20 MB.*landmarks"):
        tight = plan(size(5000), memory_budget="20MB")
    assert tight.representation == "landmarks"
    assert 1 < tight.n_landmarks < 1000
    with pytest.warns(UserWarning, match="among 4000 rows would take.*budget is 15 MB"):
        narrow = plan(size(10**5), 300, memory_budget="15MB")
    assert 300 <= narrow.pool_rows < 4000


def test_rpcholesky_chooses_among_a_few_rows_for_each_landmark():
    """Other rules see the whole pool."""
    found = {M: plan(size(10**5), M).pool_rows for M in (50, 500, 1000, 5000)}
    assert found == {50: 4000, 500: 4000, 1000: 8000, 5000: 20_000}
    assert plan(size(10**5, rule="kmeans"), 50).pool_rows == 20_000
    assert plan(size(3000), 1000).pool_rows == 3000


def test_blocks_and_kept_matrices_depend_on_memory_and_nothing_else_does():
    rich, poor = (plan(size(10**4, pool=0), 100, memory_budget=b) for b in ("10GB", "5MB"))
    assert rich.block_rows > poor.block_rows
    assert (rich.n_landmarks, rich.pool_rows) == (poor.n_landmarks, poor.pool_rows)
    rich, poor = (plan(size(1000, n_kernels=5), "all", memory_budget=b) for b in ("1GB", "50MB"))
    assert (rich.n_kept, poor.n_kept) == (5, 3)
    assert "3 of them kept" in str(poor) and "kept" not in str(rich)


@pytest.mark.parametrize("landmarks", ["auto", "all", 200])
@pytest.mark.parametrize("kernels", [1, 4])
@pytest.mark.parametrize("n_rows", [10, 3000, 10**5])
@pytest.mark.filterwarnings("ignore:.*the memory budget is")
def test_least_is_the_border(n_rows, kernels, landmarks):
    """Just above ``bytes_least`` a plan is accepted and within the budget, just below refused."""
    rows = size(n_rows, n_kernels=kernels, n_targets=7, row_bytes=80.0, row_copies=2.5)
    least = plan(rows, landmarks, memory_budget=10**13).bytes_least
    chosen = plan(rows, landmarks, memory_budget=least)
    assert chosen.bytes_needed <= chosen.budget == least
    assert 1 <= chosen.block_rows <= n_rows
    if landmarks != "auto":
        with pytest.raises(ValueError, match="memory budget"):
            plan(rows, landmarks, memory_budget=least - 1)


@pytest.mark.parametrize("budget", ["10MB", "1GB", "100GB", 10**13])
@pytest.mark.parametrize("n_rows", [10, 3000, 10**5, 10**8])
@pytest.mark.filterwarnings("ignore:.*the memory budget is")
def test_never_over_budget(n_rows, budget):
    try:
        chosen = plan(size(n_rows), memory_budget=budget)
    except ValueError:
        return
    assert chosen.bytes_needed <= chosen.budget == parse_memory(budget)
    assert 1 <= chosen.block_rows <= n_rows


def test_refuses_before_allocating():
    with pytest.raises(ValueError, match=r"needs 1.6e\+04 GB.*1 GB.*landmarks="):
        plan(size(10**6), "all", memory_budget="1GB")
    with pytest.raises(ValueError, match="fewer landmarks"):
        plan(size(10**6), 10**5, memory_budget="1GB")


def test_repeated_rows_cost_what_distinct_rows_cost():
    few = plan(Size(n_rows=2000, n_distinct=50), "all", memory_budget="5MB")
    assert (few.representation, few.n_rows) == ("gram", 50)
    apart = Size(n_rows=2000, n_distinct=50, merges=False)
    assert plan(apart, "all", memory_budget="1GB").bytes_needed > 2 * 8 * 2000**2


def test_what_an_estimator_needs_is_counted():
    lean, rich = (
        plan(size(1000, n_targets=3), "all", Needs(exact=m, columns=c), memory_budget="1GB")
        for m, c in ((1.0, 1.0), (4.0, 5.0))
    )
    assert rich.bytes_needed - lean.bytes_needed == 8 * (3 * 1000**2 + 4 * 3 * 1000)


def test_prints_itself():
    text = str(plan(size(1000), memory_budget="2GB"))
    assert "exact Gram matrix of 1000 rows" in text
    assert "16.1 MB of a budget of 2 GB" in text
    assert "500 landmarks for 1000000 rows" in str(plan(size(10**6), 500, memory_budget="2GB"))
    many = plan(size(10**6, n_kernels=3), 50, memory_budget="2GB")
    assert "50 landmarks for each of 3 kernels" in str(many)


def test_explicit_feature_space():
    chosen = plan(size(1000, explicit=30))
    assert (chosen.representation, chosen.n_landmarks) == ("explicit", 30)
    assert "30 explicit features" in str(chosen)
    assert plan(size(1000, explicit=800)).representation == "gram"
    assert plan(size(10**6, explicit=10**5)).representation == "landmarks"
    assert plan(size(1000, explicit=30), 50).representation == "landmarks"


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2GB", 2e9), ("512MiB", 512 * 2**20), ("1.5 kB", 1500), (7, 7), ("3", 3), ("2gb", 2e9)],
)
def test_amounts(text, amount):
    assert parse_memory(text) == amount


@pytest.mark.parametrize(
    "bad", ["lots", "GB", -1, 0, "2XB", [1], "1.5.2GB", ".", "0MB", True, float("inf")]
)
def test_not_amounts(bad):
    with pytest.raises(ValueError, match="amount of memory"):
        parse_memory(bad)


def test_free_memory_is_found():
    assert free_memory() > 0
    assert parse_memory(None) > 0
    assert format_bytes(12) == "12 bytes"


def test_rules_look_at_some_rows_and_the_plan_counts_them(rng):
    """Rows that a rule looks at are copied; a kernel without rules, or with values, copies none."""
    X = rng.normal(size=(5000, 50))
    source = ArraySource(X, np.zeros((5000, 1)))
    kernels = {"median": Gaussian("median"), "given": Gaussian(0.1)}
    sizes = {name: plan_size([kernel], source) for name, kernel in kernels.items()}
    assert sizes["median"].rule_rows == Gaussian.pool_rows < 5000
    assert sizes["given"].rule_rows == 0 and sizes["given"].rule_bytes == 0
    assert rule_rows(ColumnKernel(Gaussian("median"), [0, 1]), 5000) == Gaussian.pool_rows
    assert rule_rows(Gaussian("median"), 7) == 7
    per_row = X[0].nbytes + sizes["median"].row_copies * sizes["median"].double_bytes
    setup = _setup(sizes["median"])
    assert setup == sizes["median"].rule_bytes + Gaussian.pool_rows * per_row
    assert _setup(sizes["given"]) == 48.0 * sizes["given"].n_held


def test_landmarks_are_chosen_among_as_many_rows_as_fit():
    rows = size(200_000, row_bytes=800.0, pool=20_000)
    free = plan(rows, 1000, memory_budget=10**11)
    assert free.pool_rows == 8000
    with pytest.warns(UserWarning, match="chosen among"):
        tight = plan(rows, 1000, memory_budget=free.bytes_least + 10**7)
    assert 1000 <= tight.pool_rows < 8000
    with pytest.warns(UserWarning, match="chosen among"):
        more = plan(rows, 1000, memory_budget=free.bytes_least + 2 * 10**7)
    # a row of the pool costs a column per landmark, those of a round of draws, and itself
    per_row = 8 * 1000 + 3 * 8 * 166 + 800
    assert more.pool_rows - tight.pool_rows == pytest.approx(10**7 / per_row, abs=2)


def test_half_of_what_is_free_is_the_budget(monkeypatch):
    monkeypatch.setitem(parse_memory.__globals__, "free_memory", lambda: 3001)
    assert parse_memory(None) == 1500


@pytest.mark.parametrize("landmarks", ["all", 100])
def test_copies_of_rows_that_are_there_already_count(landmarks):
    plain, copied = (
        plan(size(5000, copied_bytes=amount), landmarks, memory_budget="2GB")
        for amount in (0.0, 10**6)
    )
    assert copied.bytes_needed - plain.bytes_needed == 10**6
    assert copied.bytes_least - plain.bytes_least == 10**6


def test_landmarks_are_chosen_among_no_more_rows_than_there_are():
    assert plan(size(15_000, pool=20_000), 2000, memory_budget="8GB").pool_rows == 15_000
    assert plan(size(30_000, pool=20_000), 3000, memory_budget="8GB").pool_rows == 20_000
