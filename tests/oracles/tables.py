"""The encoding of a table, cell by cell, from its definition."""

import math

CYCLES = (365.2425 * 86400.0, 7 * 86400.0, 86400.0)


def spread(values, weights):
    total = math.fsum(weights)
    mean = math.fsum(w * v for v, w in zip(values, weights, strict=True)) / total
    squares = (w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
    return mean, math.fsum(squares) / total


def encode_numbers(values, weights):
    """A column of numbers, None if missing: z-scores, and a column of missing cells if any."""
    seen = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    mean, variance = spread(*zip(*seen, strict=True)) if seen else (0.0, 0.0)
    constant = len({v for v, _ in seen}) < 2
    scale = 0.0 if constant else 1 / math.sqrt(variance)
    rows = [[0.0 if v is None else (v - mean) * scale] for v in values]
    return with_missing(rows, values, 1.0)


def encode_dates(seconds, weights):
    """A column of seconds since 1970."""
    seen = [(v, w) for v, w in zip(seconds, weights, strict=True) if v is not None]
    mean, variance = spread(*zip(*seen, strict=True))
    rows = [[0.0 if v is None else (v - mean) / math.sqrt(variance)] for v in seconds]
    for length in CYCLES:
        angle = [None if v is None else 2 * math.pi * ((v / length) % 1.0) for v in seconds]
        parts = [[None if a is None else turn(a) for a in angle] for turn in (math.sin, math.cos)]
        known = [spread([v for v in part if v is not None], [w for _, w in seen]) for part in parts]
        scale = 1 / math.sqrt(sum(own for _, own in known))
        for part, (centre, _) in zip(parts, known, strict=True):
            for row, value in zip(rows, part, strict=True):
                row.append(0.0 if value is None else (value - centre) * scale)
    return with_missing(rows, seconds, 1.0)


def encode_levels(values, weights):
    """A column of levels: blocks of ones over sqrt(sum p (1 - p)), missing cells the last."""
    levels = sorted({v for v in values if v is not None})
    total = math.fsum(weights)
    everything = [*levels, None] if None in values else levels
    share = [
        math.fsum(w for v, w in zip(values, weights, strict=True) if v == level) / total
        for level in everything
    ]
    variance = math.fsum(p * (1 - p) for p in share)
    scale = 1 / math.sqrt(variance) if variance > 0 else 0.0
    return [[scale if v == level else 0.0 for level in everything] for v in values]


def with_missing(rows, values, one):
    if None not in values:
        return rows
    return [[*row, one if v is None else 0.0] for row, v in zip(rows, values, strict=True)]
