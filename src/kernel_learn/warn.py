"""Warnings that point at the line that called the package, however deep they arise."""

import sys
import warnings

OURS = ("kernel_learn", "sklearn", "contextlib")  # a context manager of ours is entered there


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the name of the nearest caller outside the package (and scikit-learn's wrappers)."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS
