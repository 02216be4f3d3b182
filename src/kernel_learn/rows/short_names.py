"""Names cut to a width, so that those that differ still do."""

from collections.abc import Sequence

LONGEST = 22  # letters of a name beside a picture


def shorten(name: str, most: int = LONGEST) -> str:
    """A name that leaves room for the picture; its beginning and its end tell most."""
    if len(name) <= most:
        return name
    head = (most - 1) * 2 // 3
    return f"{name[:head]}…{name[-(most - 1 - head) :]}"


def shorten_all(names: Sequence[str], most: int = LONGEST) -> list[str]:
    """Names that leave room for the picture and differ where the whole ones do."""
    short = [shorten(name, most) for name in names]
    alike: dict[str, list[str]] = {}
    for name, cut in zip(names, short, strict=True):
        alike.setdefault(cut, []).append(name)
    for i, name in enumerate(names):
        others = list(dict.fromkeys(alike[short[i]]))
        if len(others) > 1:
            short[i] = cut_where_they_differ(name, others, most)
    return short


def cut_where_they_differ(name: str, others: Sequence[str], most: int) -> str:
    """The beginning of a name, and what follows after the part that all of these share."""
    differ = (i for i, letters in enumerate(zip(*others, strict=False)) if len(set(letters)) > 1)
    start = max(next(differ, min(map(len, others))) - 1, 0)
    head, part = max(most // 3, 1), name[start : start + most // 3]
    cut = f"{name[:head]}…{part}{'…' if start + most // 3 < len(name) else ''}"
    number = f" ({others.index(name) + 1})"
    same = [other for other in others if other[start : start + most // 3] == part]
    return cut if len(same) == 1 else cut[: most - len(number)] + number
