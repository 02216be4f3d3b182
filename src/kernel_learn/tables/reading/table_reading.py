"""How a table is read from files, learned on one of them and kept with the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kernel_learn.rows.frames import Frame
from kernel_learn.rows.kinds import column_kind
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.reading.dates import DateForm
from kernel_learn.tables.reading.numbers import NumberForm
from kernel_learn.tables.reading.odd_rows import Dropped, Sums, drop_rows, find_odd_rows
from kernel_learn.tables.reading.recipe import TYPES, ColumnRecipe, count_texts, find_recipe

Kept = Any  # a field of a recipe in JSON
Remarks = dict[str, list[str]]  # what was done to the cells of each column


@dataclass(frozen=True)
class TableReading:
    """Recipes of columns, with what was asked for."""

    columns: Mapping[str, ColumnRecipe] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)  # as asked for
    na: Sequence[str] = ()  # words for missing, as asked for
    clean: bool = True  # False: types and words as asked for, nothing else

    @property
    def skipped(self) -> list[str]:
        """Columns that are left out on request."""
        return [name for name, kind in self.types.items() if kind == "skip"]

    @property
    def kept(self) -> list[str]:
        """Columns that are used on request, whatever they look like."""
        return [name for name, kind in self.types.items() if kind != "skip"]

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds that were asked for; the order of day and month is none."""
        asked = {name: kind.partition("-")[0] for name, kind in self.types.items()}
        return {name: kind for name, kind in asked.items() if kind != "skip"}

    def read(self, frame: Frame) -> tuple[Frame, Remarks]:
        """The table as it is meant; the frame that is given stays as it is."""
        changed, remarks = {}, {}
        for name, recipe in self.columns.items():
            if name not in frame.columns:
                continue
            given = frame[name]
            column, done = recipe.read(given)
            if column is not given:
                changed[name] = column
            if done:
                remarks[name] = done
        return (frame.assign(**changed) if changed else frame), remarks

    def adapted(self, frame: Frame) -> "TableReading":
        """The reading for a file whose numbers are written as in these rows, its first ones."""
        changed = {}
        for name, recipe in self.columns.items():
            if recipe.kind != "number" or name not in frame.columns:
                continue
            if column_kind(frame[name]) == "object" and (counts := count_texts(frame[name])):
                changed[name] = replace(recipe, number=recipe.number_form(counts, name))
        return replace(self, columns={**self.columns, **changed})

    def drop_odd_rows(
        self, frame: Frame, before: Sums | None = None, *, is_last: bool = True
    ) -> tuple[Frame, Dropped]:
        """The table without rows that are none of it, and how many of which kind these are."""
        if not self.clean:
            return frame, Dropped()
        odd, dropped = find_odd_rows(frame, before, is_last=is_last)
        return (drop_rows(frame, odd) if dropped else frame), dropped

    def to_json(self) -> str:
        """The reading as text, for model files: words for missing once, not for each column."""
        words = sorted({tuple(sorted(own.missing)) for own in self.columns.values()})
        place = {frozenset(own): i for i, own in enumerate(words)}
        columns = {
            name: {**changed_fields(own), "missing": place[own.missing]}
            for name, own in self.columns.items()
        }
        kept = {"types": dict(self.types), "na": list(self.na), "clean": self.clean}
        return json.dumps({**kept, "words": words, "columns": columns})

    @classmethod
    def from_json(cls, text: str) -> "TableReading":
        """The reading that a model file keeps."""
        found = json.loads(text)
        words = [frozenset(own) for own in found["words"]]
        columns = {name: recipe_from(own, words) for name, own in found["columns"].items()}
        return cls(columns, found["types"], found["na"], found["clean"])


def changed_fields(recipe: ColumnRecipe) -> dict[str, object]:
    """What differs from a column that is read as it is."""
    plain = asdict(ColumnRecipe())
    return {key: value for key, value in asdict(recipe).items() if value != plain[key]}


def recipe_from(found: Mapping[str, Kept], words: Sequence[frozenset[str]]) -> ColumnRecipe:
    """A recipe from its JSON."""
    given = {**found, "missing": words[found["missing"]]}
    if "number" in given:
        own = given["number"]
        given["number"] = NumberForm(**{**own, "units": tuple(own["units"])})
    if "date" in given:
        own = given["date"]
        given["date"] = DateForm(**{**own, "forms": tuple(own["forms"])})
    if "sentinels" in given:
        given["sentinels"] = tuple(given["sentinels"])
    return ColumnRecipe(**given)


def learn_reading(
    frame: Frame,
    *,
    target: str | None = None,
    types: Mapping[str, str] | None = None,
    na: Sequence[str] = (),
    clean: bool = True,
) -> TableReading:
    """How the columns of a table are to be read, by its cells and by what is asked for."""
    types = dict(types or {})
    check_types(types, frame)
    if na and not clean:
        raise TableError("--no-clean takes cells as they are; leave it out, or --na.")
    columns = {}
    for name in frame.columns:
        wanted = types.get(name)
        if clean or wanted is not None:
            recipe = find_recipe(frame[name], wanted, na, is_target=name == target)
            if recipe != ColumnRecipe():
                columns[name] = recipe
    return TableReading(columns, types, list(na), clean)


def check_types(types: Mapping[str, str], frame: Frame) -> None:
    """Refuse columns that are not there and types that are none."""
    check_kinds(types)
    for name in types:
        if name not in frame.columns:
            shown = ", ".join(repr(own) for own in frame.columns[:12])
            raise TableError(f"--types: there is no column {name!r}; there are {shown}.")


def check_kinds(types: Mapping[str, str]) -> None:
    """Refuse types that are none."""
    for name, kind in types.items():
        if kind not in TYPES:
            raise TableError(f"--types {name}={kind}: choose one of {', '.join(TYPES)}.")


def parse_types(given: Sequence[str]) -> dict[str, str]:
    """``age=number,zip=category`` as columns and their types."""
    found = {}
    for words in given:
        for part in words.split(","):
            name, equals, kind = part.rpartition("=")
            if not equals or not name.strip():
                raise TableError(
                    f"--types {part!r}: write name=type, such as age=number,zip=category; types "
                    f"are {', '.join(TYPES)}."
                )
            found[name.strip()] = kind.strip()
    return found
