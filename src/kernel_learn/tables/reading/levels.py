"""Spellings of one level: "sick", "SICK" and "sick " are one, in the most frequent spelling.

Of single letters case may mean something: there a spelling is another's only if it is rare, or if
the letters stand for words (y and n, m and f).
"""

from collections.abc import Mapping

LETTERS_OF_WORDS = ({"y", "n"}, {"m", "f"}, {"t", "f"}, {"j", "n"}, {"m", "w"}, {"m", "f", "u"})
RARE_LETTER = 0.2  # share of a level's cells
MOST_LEVELS, LEAST_PER_LEVEL = 1000, 2.0  # beyond, cells are names rather than levels


def level_key(text: str) -> str:
    """What spellings of a level have in common."""
    return " ".join(text.split()).casefold()


def find_levels(counts: Mapping[str, int]) -> dict[str, str] | None:
    """Key: spelling of each level; None where cells hardly repeat."""
    groups: dict[str, dict[str, int]] = {}
    for text, n in counts.items():
        own = groups.setdefault(level_key(text), {})
        own[text] = own.get(text, 0) + n
    if len(groups) > MOST_LEVELS or sum(counts.values()) < LEAST_PER_LEVEL * len(groups):
        return None
    letters = {key for key in groups if len(key) == 1}
    are_words = any(letters == own for own in LETTERS_OF_WORDS)
    found = {}
    for key, spellings in groups.items():
        trimmed: dict[str, int] = {}
        for text, n in spellings.items():
            short = " ".join(text.split())
            trimmed[short] = trimmed.get(short, 0) + n
        best = max(trimmed, key=lambda text: (trimmed[text], text))
        is_rare = trimmed[best] >= (1 - RARE_LETTER) * sum(trimmed.values())
        if len(key) == 1 and not are_words and not is_rare:
            continue  # each letter keeps its case
        found[key] = best
    return found
