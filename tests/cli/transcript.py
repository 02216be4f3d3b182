"""What a command says, with sentences on one line again."""

import re

BEGINNINGS = "Warning: |Note: |Error: |Usage: |Try |How the table |  |╭|│|╰"


def unfolded(text: str) -> str:
    """Standard error with every sentence on a line of its own; no line was too long."""
    sentences = [line for line in text.splitlines() if re.match("Warning|Note|Error", line)]
    too_long = [line for line in sentences if len(line) > 80 and not re.search(r"\S{40,}", line)]
    assert not too_long  # but for paths, which are one word
    return re.sub(rf"(?<=\S)\n(?!{BEGINNINGS}|\n|$)", " ", text)
