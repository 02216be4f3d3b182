"""KernelClassifier.fit(checkpoint=): leaves that are done are found again, and nothing else."""

from functools import partial

import numpy as np
import pytest

import kernel_learn.ensemble.leaves as leaves_module
import kernel_learn.streams.checkpoint as checkpoint_module
import kernel_learn.streams.spill as spill_module
from kernel_learn import KernelClassifier
from kernel_learn.ensemble import plan, quality
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.leaf_checkpoint import LeafCheckpoint, work_key
from kernel_learn.kernels import Gaussian
from kernel_learn.representations.feature_map import (
    FeatureMap,
)
from kernel_learn.streams import gather

X = np.random.default_rng(0).uniform(-2, 2, size=(500, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


class Stopped(BaseException):
    """As if somebody had ended the program."""


def make(**options):
    return KernelClassifier(**{"quality": "fast", **options})


def blocks():
    for start in range(0, len(X), 150):
        yield X[start : start + 150], Y[start : start + 150]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few candidates, leaves of 50 rows, each kept as soon as it is done."""
    monkeypatch.setitem(quality.QUALITIES, "fast", quality.Quality(60, 2, 1, 1))
    monkeypatch.setitem(quality.PLAIN, "fast", {"z": "rbf1 rbf3"})
    monkeypatch.setattr(plan, "NARROW_ROWS", 100)
    monkeypatch.setattr(plan, "EXACT_ROWS", 100)
    monkeypatch.setattr(plan, "LEAF_ROWS", 50)
    monkeypatch.setattr(leaves_module, "fit_one_leaf", Counted(leaves_module.fit_one_leaf))
    monkeypatch.setattr(checkpoint_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_module, "SHARE", 0)


class Counted:
    """A function that counts its calls and stops the program at one of them."""

    def __init__(self, function, stop_at=None):
        self.function, self.calls, self.stop_at = function, 0, stop_at

    def __get__(self, instance, owner):
        return self if instance is None else partial(self, instance)

    def __call__(self, *args):
        if self.calls == self.stop_at:
            raise Stopped
        self.calls += 1
        return self.function(*args)


def stop_after(n):
    leaves_module.fit_one_leaf.calls, leaves_module.fit_one_leaf.stop_at = 0, n


def n_done():
    return leaves_module.fit_one_leaf.calls


def calls_of(fit):
    counted = leaves_module.fit_one_leaf
    counted.calls, counted.stop_at = 0, None
    model = fit()
    return counted.calls, model


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("given", ["rows", "source"])
def test_a_stopped_fit_goes_on_after_its_leaves(given, killed, tmp_path, monkeypatch):
    options = {}
    if given == "source":
        monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)
        options = {"memory_budget": "400kB"}

    def fit(**keep):
        data = (X, Y) if given == "rows" else (blocks,)
        return make(**options).fit(*data, **keep)

    n_leaves, whole = calls_of(fit)
    assert n_leaves > 5 and ("on the disk" in str(whole.plan_)) == (given == "source")
    stop_after(5)
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        if killed:  # then nobody writes what was done last
            kind = checkpoint_module.Checkpoint
            write = kind.flush
            patch.setattr(kind, "flush", lambda self: n_done() < 5 and write(self))
        fit(checkpoint=tmp_path)
    n_left, again = calls_of(lambda: fit(checkpoint=tmp_path))
    assert n_left == n_leaves - (4 if killed else 5)
    np.testing.assert_array_equal(again.predict_proba(X[:50]), whole.predict_proba(X[:50]))
    np.testing.assert_array_equal(again.loo_proba_, whole.loo_proba_)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def stopped(tmp_path):
    stop_after(3)
    with pytest.raises(Stopped):
        make().fit(X, Y, checkpoint=tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "data", "said"),
    [
        ({"max_members": 3}, (X, Y), "other parameters: max_members was 20 and is 3"),
        ({}, (X + 1.0, Y), "changed source: rows differ from those of the checkpoint"),
        ({}, (X, 1 - Y), "changed source: labels differ from those of the checkpoint"),
        ({}, (X, Y, np.r_[2.0, np.ones(499)]), "source: weights differ from those of the check"),
        ({}, (X[::-1], Y[::-1]), "source: the rows are in another order than those of the check"),
        ({}, (X[:-1], Y[:-1]), "source: there are 499 rows, and the checkpoint has counted 500"),
    ],
)
def test_what_was_kept_of_another_fit_is_refused(options, data, said, stopped):
    with pytest.raises(ValueError, match=said):
        make(**options).fit(*data, checkpoint=stopped)
    assert list(stopped.glob("part-*.npz"))  # and still there


def test_groups_are_another_fit(stopped):
    with pytest.raises(ValueError, match="changed source: groups differ from those of the check"):
        make().fit(X, Y, groups=np.arange(500) // 2, checkpoint=stopped)


def test_a_file_that_is_gone_is_made_again(stopped):
    (stopped / "part-1.npz").unlink()
    n_left, _ = calls_of(lambda: make().fit(X, Y, checkpoint=stopped))
    n_leaves, _ = calls_of(lambda: make().fit(X, Y))
    assert n_left == n_leaves - 2
    assert not list(stopped.iterdir())


def test_a_time_budget_cannot_go_on(tmp_path):
    with pytest.raises(ValueError, match="Leave out one of them"):
        make(time_budget=5.0).fit(X, Y, checkpoint=tmp_path)


def test_a_full_disk_is_said_and_keeps_what_there_was(stopped, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_module, "write_file", full)
        stop_after(None)
        with pytest.raises(OSError, match=r"No space left.*The one before it is kept"):
            make().fit(X, Y, checkpoint=stopped)
    n_left, _ = calls_of(lambda: make().fit(X, Y, checkpoint=stopped))
    n_leaves, _ = calls_of(lambda: make().fit(X, Y))
    assert n_left == n_leaves - 3


def test_sums_on_landmarks_go_on_after_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "HEAD_SHARE", 1e9)
    monkeypatch.setattr(spill_module, "DISK_SHARE", 1e-12)
    monkeypatch.setattr(FeatureMap, "block_moments", Counted(FeatureMap.block_moments))
    added = FeatureMap.block_moments

    def fit(**keep):
        added.calls = 0
        with pytest.warns(UserWarning, match="landmarks"):
            return make(memory_budget="1.2MB").fit(blocks, **keep)

    whole = fit()
    n_blocks, added.stop_at = added.calls, 4
    with pytest.raises(Stopped):
        fit(checkpoint=tmp_path)
    added.stop_at = None
    again = fit(checkpoint=tmp_path)
    assert added.calls < n_blocks - 1
    np.testing.assert_array_equal(again.predict_proba(X[:50]), whole.predict_proba(X[:50]))
    assert not list(tmp_path.iterdir())


def test_a_key_knows_rows_kernels_scales_and_lam():
    def key(rows=(1, 2), view="z", width=1.0, scale=1.0, lam=0.1, block_rows=0):
        candidate = Candidate(view, "rbf").on_rows(Gaussian(width), np.full(2, scale))
        one = CrossValidated(candidate, 0.1, 0.0, np.empty((0, 2)), lam=lam)
        return work_key(np.array(rows), [one], block_rows)

    others = [key((1, 3)), key(width=2.0), key(scale=2.0), key(lam=0.2), key(block_rows=1)]
    assert key() == key()
    assert len({key(), key(view="q"), *others}) == 7


def test_sums_of_another_pass_are_not_taken(tmp_path):
    work = LeafCheckpoint(checkpoint_module.Checkpoint(tmp_path, {"model": {}, "source": {}}))
    work.keep_sums("first", [], 150)
    assert work.sums_of("first") == ([], 150)
    assert work.sums_of("second") == ([], 0)
