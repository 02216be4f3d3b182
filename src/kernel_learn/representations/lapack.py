"""Cholesky factors in place, while other Python threads run.

SciPy's wrappers of LAPACK hold Python's lock, so that two threads that factorise take as long as
one. The same routines, from the table that SciPy has for Cython, let go of it when ctypes calls
them. Where that table declares other types than these, the wrappers do. All matrices are lower
triangles in LAPACK's order: the transpose of a C array, or a corner of one.
"""

import ctypes
import re
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.linalg import cython_lapack, lapack

from kernel_learn.arrays import Array

CapsuleName = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
CapsulePointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


@cache
def _routine(name: str, arguments: bytes) -> Callable[..., None] | None:
    """A routine of LAPACK, void, all arguments by address; None unless it declares these.

    ``arguments`` has a letter each: char, int, double.
    """
    capsule = cython_lapack.__pyx_capi__.get(name)
    if capsule is None:
        return None
    own = CapsuleName(("PyCapsule_GetName", ctypes.pythonapi))(capsule)
    declared = re.fullmatch(rb"void \((.*)\)", own)
    kinds = [re.sub(rb".*_d \*", b"d", one) for one in declared[1].split(b", ")] if declared else []
    if b"".join({b"char *": b"c", b"int *": b"i"}.get(kind, kind) for kind in kinds) != arguments:
        return None
    address = CapsulePointer(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, own)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arguments))(address)


def _call(name: str, letters: bytes, *arguments: int | Array) -> int:
    """Letters, then sizes and matrices, each followed by its leading dimension; info."""
    given: list[object] = [ctypes.byref(ctypes.c_char(letter)) for letter in letters]
    kinds = b"c" * len(letters)
    for one in arguments:
        if isinstance(one, int):
            given.append(ctypes.byref(ctypes.c_int(one)))
            kinds += b"i"
        else:
            given += [one.ctypes.data, ctypes.byref(ctypes.c_int(_leading(one)))]
            kinds += b"di"
    routine = _routine(name, kinds + b"i")
    if routine is None:
        return _call_wrapper(name, *(one for one in arguments if not isinstance(one, int)))
    info = ctypes.c_int()
    routine(*given, ctypes.byref(info))
    return int(info.value)


def _call_wrapper(name: str, *matrices: Array) -> int:
    """The same by SciPy's wrapper, which may copy; the last matrix is overwritten."""
    if not matrices[-1].size:
        return 0
    others = {"clean": 0} if name == "dpotrf" else {}
    found, info = getattr(lapack, name)(*matrices, lower=1, **others)
    matrices[-1][...] = found
    return int(info)


def _leading(A: Array) -> int:
    """Numbers between the columns of a matrix in LAPACK's order."""
    rows, columns = map(int, A.shape)
    if A.dtype != np.float64 or (rows > 1 and A.strides[0] != 8):
        raise ValueError("A matrix for LAPACK has columns of adjacent doubles.")
    return max(1, rows, int(A.strides[1]) // 8 if columns > 1 else 0)


def factorise(A: Array) -> bool:
    """A = LL' in its lower triangle, in place; False if A is not positive definite."""
    return _call("dpotrf", b"L", len(A), A) == 0


def solve_factor(
    L: Array,
    B: Array,  # (n,) or (n, q)
) -> Array:
    """(LL')^{-1} B."""
    X = np.array(B if B.ndim > 1 else B[:, None], dtype=np.float64, order="F")
    _call("dpotrs", b"L", len(L), X.shape[1], L, X)
    return X if B.ndim > 1 else X[:, 0]


def invert_triangle(L: Array) -> None:
    """L^{-1} in the place of L."""
    _call("dtrtri", b"LN", len(L), L)


def invert_factor(L: Array) -> None:
    """The lower triangle of (LL')^{-1} in the place of L."""
    _call("dpotri", b"L", len(L), L)
