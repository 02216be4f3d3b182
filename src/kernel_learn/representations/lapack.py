"""Cholesky factors in place, while other Python threads run.

SciPy's wrappers of LAPACK hold Python's lock, so that two threads that factorise take as long as
one. The same routines, from the table that SciPy has for Cython, let go of it when ctypes calls
them. All matrices are lower triangles in LAPACK's order: the transpose of a C array, or a corner
of one.
"""

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.linalg import cython_lapack

from kernel_learn.arrays import Array

CapsuleName = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
CapsulePointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


@cache
def _routine(name: str) -> Callable[..., None]:
    """A routine of LAPACK: void, all arguments by address."""
    capsule = cython_lapack.__pyx_capi__[name]
    own = CapsuleName(("PyCapsule_GetName", ctypes.pythonapi))(capsule)
    address = CapsulePointer(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, own)
    # arguments separated by commas: void (char *, int *, ...)
    pointers = [ctypes.c_void_p] * (own.count(b",") + 1)
    return ctypes.CFUNCTYPE(None, *pointers)(address)


def _call(name: str, letters: bytes, *arguments: int | Array) -> int:
    """Letters, then sizes and matrices, each followed by its leading dimension; info."""
    given: list[object] = [ctypes.byref(ctypes.c_char(letter)) for letter in letters]
    for one in arguments:
        if isinstance(one, int):
            given.append(ctypes.byref(ctypes.c_int(one)))
        else:
            given += [one.ctypes.data, ctypes.byref(ctypes.c_int(_leading(one)))]
    info = ctypes.c_int()
    _routine(name)(*given, ctypes.byref(info))
    return info.value


def _leading(A: Array) -> int:
    """Numbers between the columns of a matrix in LAPACK's order."""
    rows, columns = A.shape
    if A.dtype != np.float64 or (rows > 1 and A.strides[0] != 8):
        raise ValueError("A matrix for LAPACK has columns of adjacent doubles.")
    return max(1, rows, A.strides[1] // 8 if columns > 1 else 0)


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
