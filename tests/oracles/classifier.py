"""Ridge, discriminants and gradients the slow way: refits on repeated rows, loops, differences."""

import math

import numpy as np


def repeat(counts):
    """(row, class) of every repetition in counts (n, k) of whole numbers."""
    return [
        (i, c)
        for i in range(counts.shape[0])
        for c in range(counts.shape[1])
        for _ in range(int(counts[i, c]))
    ]


def ridge_scores(K, counts, lam, K_new):
    """Scores of new rows by ridge with intercept on repeated rows: the bordered system."""
    units = repeat(counts)
    rows = [i for i, _ in units]
    n, k = len(units), counts.shape[1]
    Y = np.eye(k)[[c for _, c in units]]
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K[np.ix_(rows, rows)] + lam * np.eye(n)
    system[:n, n] = system[n, :n] = 1.0
    solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, k))]))
    return K_new[:, rows] @ solution[:n] + solution[n]


def ridge_unit(K, counts):
    """Mean eigenvalue of the centred Gram matrix of the repeated rows."""
    rows = [i for i, _ in repeat(counts)]
    K = K[np.ix_(rows, rows)]
    P = np.eye(len(rows)) - 1.0 / len(rows)
    return np.trace(P @ K @ P) / len(rows)


def ridge_left_out(K, counts, lam, groups):
    """Scores of each group by a refit without it."""
    n, k = counts.shape
    scores = np.empty((n, k))
    for group in groups:
        kept = np.setdiff1d(np.arange(n), group)
        scores[group] = ridge_scores(
            K[np.ix_(kept, kept)], counts[kept], lam, K[np.ix_(group, kept)]
        )
    return scores


def discriminant_logits(S, counts, shrinkage, S_new):
    """Log-odds of the shrunken discriminant, one repetition at a time.

    The score of a class that is not higher on its own rows than on the others is left out.
    """
    units = repeat(counts)
    n, k, q = len(units), counts.shape[1], S.shape[1]
    F = np.array([S[i] for i, _ in units])
    y = np.array([c for _, c in units])
    for c in range(q):
        if not (y == c).any() or F[y == c, c].mean() <= F[y != c, c].mean():
            F[:, c] = 0.0
    m = F.mean(axis=0)
    M = np.array([F[y == c].mean(axis=0) if (y == c).any() else m for c in range(k)])
    W = np.zeros((q, q))
    for row, c in zip(F, y, strict=True):
        W += np.outer(row - M[c], row - M[c])
    W /= n - len(set(y))
    W = (W + shrinkage * np.trace(W) / q * np.eye(q)) / (1 + shrinkage)
    logits = np.empty((len(S_new), k))
    for c in range(k):
        a = np.linalg.solve(W, M[c] - m)
        prior = math.log(((y == c).sum() + 0.5) / (n + 0.5 * k))
        logits[:, c] = (S_new - m) @ a - 0.5 * (M[c] - m) @ a + prior
    return logits


def log_loss(logits, counts):
    """Mean log loss over the repetitions."""
    total = 0.0
    units = repeat(counts)
    for i, c in units:
        total += math.log(sum(math.exp(v - logits[i, c]) for v in logits[i]))
    return total / len(units)


def weights_by_standard_errors(proba, counts):
    """exp(-z^2/2) from paired losses of the repetitions."""
    units = repeat(counts)
    losses = np.array([[-math.log(P[i, c]) for i, c in units] for P in proba])
    best = losses.mean(axis=1).argmin()
    w = []
    for loss in losses:
        d = loss - losses[best]
        error = d.std() / math.sqrt(len(d))
        w.append(math.exp(-0.5 * (d.mean() / error) ** 2) if error > 0 else 1.0)
    return np.array(w) / sum(w)


def mean_squared_gradients(Z, counts, coef, width, step=1e-5):
    """sum_c mean_i (d f_c / d z_j)^2 at each row by differences, without the row's own kernel."""
    n, d = Z.shape
    weight = counts.sum(axis=1)
    M = np.zeros(d)
    for i in range(n):
        others = [j for j in range(n) if j != i]

        def f(z, others=others):
            return sum(coef[j] * math.exp(-np.linalg.norm(z - Z[j]) / width) for j in others)

        for j in range(d):
            e = np.zeros(d)
            e[j] = step
            slope = (f(Z[i] + e) - f(Z[i] - e)) / (2 * step)
            M[j] += weight[i] * np.sum(slope**2) / weight.sum()
    return M
