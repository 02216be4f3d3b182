import pytest

from kernel_learn.representations import plan
from kernel_learn.representations.plan import format_bytes, free_memory, parse_memory


def test_small_is_exact_and_large_is_not():
    assert plan(1000, memory_budget="2GB").representation == "gram"
    big = plan(50_000, memory_budget="2GB")
    assert big.representation == "landmarks"
    assert big.n_landmarks == 1000
    tight = plan(5000, memory_budget="20MB")
    assert tight.representation == "landmarks"
    assert tight.n_landmarks < 1000


@pytest.mark.parametrize("budget", ["10MB", "1GB", "100GB", 10**13])
@pytest.mark.parametrize("n_rows", [10, 3000, 10**5, 10**8])
def test_never_over_budget(n_rows, budget):
    try:
        chosen = plan(n_rows, memory_budget=budget)
    except ValueError:
        return
    assert chosen.bytes_needed <= chosen.budget == parse_memory(budget)
    assert 1 <= chosen.block_rows <= n_rows


def test_refuses_before_allocating():
    with pytest.raises(ValueError, match=r"needs 2e\+04 GB.*1 GB.*landmarks="):
        plan(10**6, "all", memory_budget="1GB")
    with pytest.raises(ValueError, match="fewer landmarks"):
        plan(10**6, 10**5, memory_budget="1GB")


def test_prints_itself():
    text = str(plan(1000, memory_budget="2GB"))
    assert "exact Gram matrix of 1000 rows" in text
    assert "20 MB of a budget of 2 GB" in text
    assert "500 landmarks for 1000000 rows" in str(plan(10**6, 500, memory_budget="2GB"))


def test_explicit_feature_space():
    chosen = plan(1000, explicit=30)
    assert (chosen.representation, chosen.n_landmarks) == ("explicit", 30)
    assert "30 explicit features" in str(chosen)
    assert plan(1000, explicit=800).representation == "gram"
    assert plan(10**6, explicit=10**5).representation == "landmarks"
    assert plan(1000, 50, explicit=30).representation == "landmarks"


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2GB", 2e9), ("512MiB", 512 * 2**20), ("1.5 kB", 1500), (7, 7), ("3", 3), ("2gb", 2e9)],
)
def test_amounts(text, amount):
    assert parse_memory(text) == amount


@pytest.mark.parametrize("bad", ["lots", "GB", -1, 0, "2XB", [1]])
def test_not_amounts(bad):
    with pytest.raises(ValueError, match="amount of memory"):
        parse_memory(bad)


def test_free_memory_is_found():
    assert free_memory() > 0
    assert parse_memory(None) > 0
    assert format_bytes(12) == "12 bytes"
