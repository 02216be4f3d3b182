"""How doubtful cleanlab finds labels; runs in cleanlab's own environment.

    python cleanlab_ranks.py problem.npz scores.npz

The problem: rows X, labels y (0 .. k - 1), the same model's five-fold probabilities P and the folds
(n,). Written: for these probabilities and for those of LightGBM on the same folds a score of every
row, larger is more doubtful: by self-confidence, and as ``find_label_issues`` gives them by default
(those it names first, by self-confidence, then the others).
"""

import sys

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from lightgbm import LGBMClassifier


def boosted(X, y, folds):
    """Five-fold probabilities."""
    P = np.zeros((len(y), y.max() + 1))
    for fold in np.unique(folds):
        inside = folds != fold
        model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X[inside], y[inside])
        P[np.ix_(~inside, model.classes_)] = model.predict_proba(X[~inside])
    return P


def ranks(y, P):
    """(self-confidence, default)."""
    P = np.maximum(P, 1e-12)
    P = P / P.sum(axis=1, keepdims=True)
    quality = get_label_quality_scores(y, P, method="self_confidence")
    named = find_label_issues(y, P, return_indices_ranked_by="self_confidence", n_jobs=1)
    return 1 - quality, 1 - quality + np.isin(np.arange(len(y)), named)


with np.load(sys.argv[1]) as problem:
    X, y, P, folds = (problem[name] for name in ("X", "y", "P", "folds"))
found = {}
for learner, proba in (("same", P), ("LightGBM", boosted(X, y, folds))):
    found[f"{learner} self"], found[f"{learner} default"] = ranks(y, proba)
np.savez(sys.argv[2], **found)
