"""A small table of every kind of column, with holes."""

import datetime as dt

import numpy as np

from extras import optional

pd = optional("pandas")
START = dt.datetime(2020, 2, 1)


def make_rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = np.empty((n, 6), dtype=object)
    X[:, 0] = (3 + 5 * rng.normal(size=n)).tolist()
    X[:, 1] = rng.integers(0, 9, n).tolist()
    X[:, 2] = rng.choice(["x", "y", "z"], n).tolist()
    X[:, 3] = [START + dt.timedelta(seconds=int(s)) for s in rng.integers(0, 10**8, n)]
    X[:, 4] = (rng.random(n) < 0.3).tolist()
    X[:, 5] = [f"id{i}" for i in rng.integers(0, 200, n)]
    for c, step in ((0, 7), (2, 11), (3, 13)):
        X[::step, c] = None
    return X


def frame_of(X):
    frame = pd.DataFrame({f"c{c}": list(X[:, c]) for c in range(X.shape[1])})
    frame["c0"], frame["c4"] = frame["c0"].astype(float), frame["c4"].astype(bool)
    frame["c3"] = pd.to_datetime(frame["c3"])
    return frame


def cut(X, size):
    return [X[start : start + size] for start in range(0, len(X), size)]
