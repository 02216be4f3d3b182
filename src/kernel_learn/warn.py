"""Words to users: warnings that point at the line that called the package, and plain texts."""

import sys
import warnings

OURS = ("kernel_learn", "sklearn", "contextlib")  # a context manager of ours is entered there


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the name of the nearest caller outside the package (and scikit-learn's wrappers)."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def escaped(text: str) -> str:
    """A text in which what moves a cursor or clears a screen is written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS
