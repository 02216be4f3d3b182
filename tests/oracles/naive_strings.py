"""String kernels from their definitions: dictionaries of words and loops, nothing shared."""

from collections import defaultdict
from itertools import combinations
from math import sqrt


def spectrum_features(s, k):
    features = defaultdict(float)
    for start in range(len(s) - k + 1):
        features[s[start : start + k]] += 1.0
    return features


def subsequence_features(s, k, decay):
    """Lists all C(|s|, k) index sets: for short strings."""
    features = defaultdict(float)
    for indices in combinations(range(len(s)), k):
        word = "".join(s[i] for i in indices)
        features[word] += decay ** (indices[-1] - indices[0] + 1)
    return features


def inner_product(a, b):
    return sum(value * b[word] for word, value in a.items() if word in b)


def subsequence(s, t, k, decay):
    return inner_product(subsequence_features(s, k, decay), subsequence_features(t, k, decay))


def subsequence_recursion(s, t, k, decay):
    """The recursion of Lodhi et al. (2002), section 4, entry by entry: for longer strings."""
    n, m = len(s), len(t)
    K1 = [[[1.0 if level == 0 else 0.0] * (m + 1) for _ in range(n + 1)] for level in range(k)]
    for level in range(1, k):
        for i in range(1, n + 1):
            K2 = 0.0
            for j in range(1, m + 1):
                K2 *= decay
                if s[i - 1] == t[j - 1]:
                    K2 += decay**2 * K1[level - 1][i - 1][j - 1]
                K1[level][i][j] = decay * K1[level][i - 1][j] + K2
    total = 0.0
    for i in range(n):
        for j in range(m):
            if s[i] == t[j]:
                total += decay**2 * K1[k - 1][i][j]
    return total


def gram(features, rows, rows_ref, normalize):
    """Inner products of ``features(s)``, ``features(t)``; 0 where a normalised one is 0 / 0."""
    left, right = [features(s) for s in rows], [features(t) for t in rows_ref]
    K = [[inner_product(a, b) for b in right] for a in left]
    if not normalize:
        return K
    norms = [[sqrt(inner_product(a, a)) for a in side] for side in (left, right)]
    for i, norm in enumerate(norms[0]):
        for j, norm_ref in enumerate(norms[1]):
            K[i][j] = K[i][j] / (norm * norm_ref) if norm * norm_ref > 0 else 0.0
    return K
