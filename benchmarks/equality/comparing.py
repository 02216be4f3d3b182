"""Two records of the same cases, bit by bit."""

from itertools import takewhile
from pathlib import Path

import numpy as np
from recording import read


def same_bits(A, B):
    """Whether two arrays are the same to the last bit; any NaN is as good as another."""
    if A.dtype != B.dtype or A.shape != B.shape:
        return False
    if A.dtype.kind not in "fc":
        return bool(np.array_equal(A, B))
    if A.dtype.kind == "c":
        return same_bits(A.real.copy(), B.real.copy()) and same_bits(A.imag.copy(), B.imag.copy())
    hole = np.isnan(A)
    same_holes = np.array_equal(hole, np.isnan(B))
    return bool(same_holes and A[~hole].tobytes() == B[~hole].tobytes())


def difference_in_words(A, B):
    """How far apart two arrays are."""
    if A is None or B is None:
        return "only in the second" if A is None else "only in the first"
    if A.shape != B.shape:
        return f"shape {A.shape} and {B.shape}"
    if A.dtype.kind in "fiub" and B.dtype.kind in "fiub":
        gaps = np.abs(A.astype(float) - B.astype(float))
        most = np.nanmax(gaps) if np.isfinite(gaps).any() else np.nan
        kinds = "" if A.dtype == B.dtype else f", types {A.dtype} and {B.dtype}"
        return f"greatest absolute difference {most:.3g}{kinds}"
    return f"{int(np.sum(A != B))} of {A.size} entries differ, types {A.dtype} and {B.dtype}"


def change_in_words(old, new):
    """Both texts from where they begin to differ."""
    old, new = str(old), str(new)
    shared = sum(takewhile(bool, (a == b for a, b in zip(old, new, strict=False))))
    start = max(0, shared - 20)
    return f"{old[start : start + 80]!r} | {new[start : start + 80]!r}"


def read_all(folder):
    """{case: (error, arrays, texts)}."""
    found = (read(path) for path in sorted(Path(folder).glob("*.json")))
    return {case: parts for case, *parts in found}


def compare_records(first, second):
    """Lines of differences of arrays, lines of those of texts, number of arrays that are equal."""
    lines, words, equal = [], [], 0
    for case in dict.fromkeys([*first, *second]):
        if case not in first or case not in second:
            lines.append(f"{case}: only in the {'first' if case in first else 'second'} record")
            continue
        (error, arrays, texts), (other_error, others, other_texts) = first[case], second[case]
        if error != other_error:
            lines.append(f"{case}: raised {error} in the first, {other_error} in the second")
        for name in dict.fromkeys([*arrays, *others]):
            A, B = arrays.get(name), others.get(name)
            if A is not None and B is not None and same_bits(A, B):
                equal += 1
            else:
                lines.append(f"{case}: {name}: {difference_in_words(A, B)}")
        words += [
            f"{case}: text {name}: {change_in_words(texts.get(name), other_texts.get(name))}"
            for name in dict.fromkeys([*texts, *other_texts])
            if texts.get(name) != other_texts.get(name)
        ]
    return lines, words, equal


def compare(first, second, show_texts=False):
    """Print what differs; whether all arrays are equal."""
    one, other = read_all(first), read_all(second)
    lines, words, equal = compare_records(one, other)
    print("\n".join([*lines, *(words if show_texts else [])]) or "no array differs")
    print(
        f"{equal} arrays of {len(one.keys() & other.keys())} cases equal, {len(lines)} differ; "
        f"{len(words)} texts differ"
    )
    return bool(equal) and not lines
