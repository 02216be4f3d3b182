"""Some rows with what belongs to them: the one shape in which blocks are passed on."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Given = Any  # rows, labels or weights of any kind, as a user has them


class Block(NamedTuple):
    """Some rows with their labels and weights.

    As they were read, with None for what is not there; once they are checked labels are class
    indices (n,) or values (n, q), never one-hot, and weights (n,).
    """

    X: Given
    y: Given = None
    weight: Given = None

    @property
    def n_rows(self) -> int:
        """Its number of rows; refuses what has none."""
        shape = getattr(self.X, "shape", None)
        if not shape and not hasattr(self.X, "__len__"):
            raise ValueError(
                "A block is rows, (X, y) or (X, y, weight), and this one is a "
                f"{type(self.X).__name__}."
            )
        return int(shape[0]) if shape else len(self.X)

    @property
    def beside(self) -> Mapping[str, Given]:
        """Columns beside the rows, which tell groups and strata and are no features."""
        return getattr(self, "_beside", {})

    def put_beside(self, columns: Mapping[str, Given]) -> "Block":
        """The same with columns beside the rows."""
        if not columns:
            return self
        own = _WideBlock(*self)
        own._beside = columns
        return own


class _WideBlock(Block):
    """A block, which is a tuple of three, with columns beside it."""

    _beside: Mapping[str, Given]
