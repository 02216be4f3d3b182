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


def spectrum(s, t, k):
    return inner_product(spectrum_features(s, k), spectrum_features(t, k))


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


def gram(kernel, rows, rows_ref, normalize):
    """kernel(s, t) for all pairs; 0 where a normalised value would be 0 / 0."""
    K = [[kernel(s, t) for t in rows_ref] for s in rows]
    if not normalize:
        return K
    for i, s in enumerate(rows):
        for j, t in enumerate(rows_ref):
            norm = sqrt(kernel(s, s)) * sqrt(kernel(t, t))
            K[i][j] = K[i][j] / norm if norm > 0 else 0.0
    return K
