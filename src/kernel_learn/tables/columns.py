"""What the columns of a table are, and which of them are suspicious.

A column is a number, a category, a date or free text. Two kinds are left out: identifiers (every
value is another one, or rows are counted) and constants. A column that alone predicts the target
stays, with a warning: often it was filled in when the target was known.
"""

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.codes import cell_kind
from kernel_learn.rows.frames import ColumnType, Frame, FrameColumn
from kernel_learn.rows.kinds import is_free_text
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.streams.readers.layout import look_like_cells

ID_NAME = re.compile(r"(^|[_\s.-])(id|ids|uuid|key|index|nr|no|number|row)$", re.IGNORECASE)
ID_DISTINCT = 0.95  # share of different values of a column that is named as an identifier
LEAST_ID_ROWS = 20  # fewer rows with all values different prove nothing
TEXT_WORDS, TEXT_LETTERS = 4.0, 40.0  # mean words or letters of a cell of free text
LEAST_DATE = 6  # letters of a date: "2021" is a number, "2021-3" may be one
ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
LOOKED_AT = 1000  # rows that show what a column of strings is
MOST_FRACTIONS, MOST_CLASSES = 10, 1000  # of a target that names classes
LEAST_GROUPS, CHANCE_OF_GROUPS = 10, 1e-6
LEAK_ACCURACY, LEAK_ROWS, LEAK_COLUMNS = 0.995, 2000, 60
# Near leaks are right less often, but at most three are wrong far less often than all others.
NEAR_ACCURACY, NEAR_SHARE, MOST_NEAR = 0.955, 0.25, 3
SHARE = "balanced_accuracy"


@dataclass(frozen=True)
class Columns:
    """The columns that are used, by kind, and why the others are not."""

    kinds: dict[str, str]  # name: number, category, date or text
    ids: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    leaks: dict[str, float] = field(default_factory=dict)  # name: balanced accuracy alone
    dropped: list[str] = field(default_factory=list)  # on request

    @property
    def used(self) -> list[str]:
        """The names of the columns that are used."""
        return list(self.kinds)

    def of(self, kind: str) -> list[str]:
        """The columns of a kind."""
        return [name for name, own in self.kinds.items() if own == kind]

    @property
    def warnings(self) -> list[str]:
        """What a user should know, one sentence each."""
        found = []
        if self.ids:
            found.append(f"{capital(named(self.ids))} looks like an identifier and is left out.")
        if self.constants:
            found.append(
                f"{capital(named(self.constants))} is the same in every row and is left out."
            )
        return [*found, *self.leak_warnings]

    @property
    def leak_warnings(self) -> list[str]:
        """What of it is on columns that give the target away."""
        return [
            f"{capital(named([name]))} alone predicts the target ({100 * accuracy:.1f} % balanced "
            "accuracy). Is it known before the target is? If it is filled in only when the target "
            f"is known, leave it out with --drop {name!r}."
            for name, accuracy in self.leaks.items()
        ]


def named(columns: Sequence[str], most: int = 5, several: str = "each of the columns") -> str:
    """``column 'a'``, ``each of columns 'a', 'b' and 3 more``."""
    shown = ", ".join(repr(name) for name in columns[:most])
    more = f" and {len(columns) - most} more" if len(columns) > most else ""
    return f"column {shown}" if len(columns) == 1 else f"{several} {shown}{more}"


def capital(words: str) -> str:
    """The words with a capital letter."""
    return words[0].upper() + words[1:]


def look_at_columns(
    frame: Frame,
    y: Array | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    known: Mapping[str, str] = MappingProxyType({}),
) -> Columns:
    """What each column is; identifiers are left out unless ``keep`` names them.

    ``known`` are kinds that somebody has said, by the columns' names.
    """
    check_there(frame, [*drop, *keep])
    kinds: dict[str, str] = {}
    ids, constants = [], []
    for name in frame.columns:
        if name in drop:
            continue
        column = frame[name]
        if name in known or name in keep:
            kinds[name] = known[name] if name in known else kind_of(column)
        elif is_constant(column):
            constants.append(name)
        elif is_id(column):
            ids.append(name)
        else:
            kinds[name] = kind_of(column)
    if not kinds:
        raise TableError("No column is left to predict from.")
    leaks = {} if y is None else find_leaks(frame, kinds, y)
    return Columns(kinds, ids, constants, leaks, list(drop))


def check_there(frame: Frame, names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    if missing := [name for name in names if name not in frame.columns]:
        raise TableError(f"There is no {named(missing)} in the table; {offer(frame)}")


def check_complete(used: Sequence[str], there: Collection[str], how: str = "") -> None:
    """Refuse a table that lacks columns of a model; ``how``: what else can be done."""
    if missing := [name for name in used if name not in there]:
        raise TableError(
            f"The table lacks {named(missing, 20, 'the columns')}, which the model was fitted "
            f"with; cells that are not known may be empty{how}."
        )


def offer(frame: Frame, most: int = 12) -> str:
    """The columns there are, for an error."""
    names = [repr(name) for name in frame.columns[:most]]
    more = f" and {len(frame.columns) - most} more" if len(frame.columns) > most else ""
    cells = "The first line looks like cells: put the names of the columns above it."
    hint = f" {cells}" if look_like_cells([str(name) for name in frame.columns]) else ""
    return f"there are {', '.join(names)}{more}.{hint}"


def is_number(column: FrameColumn) -> bool:
    """Whether cells are numbers; booleans are categories."""
    return cell_kind(column) == "number"


def is_integer(column: FrameColumn) -> bool:
    """Whether cells are whole numbers by their type."""
    return bool(column.dtype.kind in "iu")


def is_sparse_type(dtype: ColumnType) -> bool:
    """Whether a column is one of a wide sparse table."""
    return isinstance(dtype, need_pandas().SparseDtype)


def is_constant(column: FrameColumn) -> bool:
    """Whether all cells are the same."""
    return not is_sparse_type(column.dtype) and bool(column.nunique(dropna=False) <= 1)


def is_id(column: FrameColumn) -> bool:
    """All values different, and words without spaces, or integers that count or are named so.

    Of a column with the name of an identifier some values may repeat, as rows that are there
    twice have it.
    """
    n = len(column)
    if n < LEAST_ID_ROWS or is_sparse_type(column.dtype):
        return False
    named_so = bool(ID_NAME.search(str(column.name)))
    if column.nunique(dropna=False) < (ID_DISTINCT if named_so else 1.0) * n:
        return False
    if is_integer(column):
        return named_so or bool(np.all(np.diff(np.sort(column.to_numpy())) == 1))
    return cell_kind(column) not in ("number", "date") and kind_of(column) == "category"


def kind_of(column: FrameColumn) -> str:
    """``number``, ``category``, ``date`` or ``text``: of objects and strings by their words."""
    kind = cell_kind(column)
    if kind in ("number", "date", "category"):
        return kind
    if kind == "boolean":
        return "category"
    filled = column.dropna()
    words = filled.iloc[:LOOKED_AT].astype(str)
    if not len(words):
        return "category"
    if is_date(words):
        return "date"
    several = words.str.split().str.len().mean() >= TEXT_WORDS
    long = words.str.len().mean() >= TEXT_LETTERS
    distinct = words.nunique() > max(5, 0.2 * len(words))
    if (several or long) and distinct:
        return "text"
    # what KernelClassifier refuses as free text is none of its categories
    return "text" if is_free_text(filled.astype(str).tolist()) else "category"


def is_date(words: FrameColumn) -> bool:
    """Whether skrub finds one format in which all cells are dates."""
    if words.str.len().min() < LEAST_DATE or not words.str.contains(r"\d", regex=True).all():
        return False
    if words.str.fullmatch(ISO_DATE).all():  # spares the second that skrub takes to import
        dates = need_pandas().to_datetime(words, format="%Y-%m-%d", errors="coerce")
        return bool(dates.notna().all())
    skrub = load_skrub()
    try:
        skrub.ToDatetime().fit(words)
    except ValueError:  # skrub rejects the column
        return False
    return True


def load_skrub() -> ModuleType:
    """skrub, or the extra that brings it."""
    try:
        import skrub
    except ImportError as error:
        raise ImportError(
            "Columns of several kinds need skrub: install kernel-learn[cli]."
        ) from error
    return skrub


def check_target(column: FrameColumn) -> Array:
    """Labels as strings or whole numbers, without rows; refuses what is not a few classes."""
    name = column.name
    filled = column.dropna()
    values = filled.nunique()
    if values < 2:
        only = f"only {filled.tolist()[0]!r}" if values else "nothing"
        raise TableError(f"Target {name!r} holds {only}; there must be two classes or more.")
    if is_number(column):
        if not names_classes(filled):
            raise TableError(
                f"Target {name!r} has {values} different numbers in {len(filled)} rows, too many "
                "for classes; predict it as a number with --task regress, or cut it into ranges."
            )
        numbers = filled.to_numpy(dtype=float)
        return numbers.astype(int) if not np.any(numbers % 1) else numbers
    if values > MOST_CLASSES or values > 0.5 * len(filled):
        raise TableError(
            f"Target {name!r} has {values} different values in {len(filled)} rows; classes must "
            "repeat."
        )
    return filled.astype(str).to_numpy(dtype=object).astype(str)


def names_classes(numbers: FrameColumn) -> bool:
    """Whether numbers may be classes: whole ones some of which repeat, or very few others."""
    values, n = numbers.nunique(), len(numbers)
    if np.any(numbers.to_numpy(dtype=float) % 1):
        return bool(values <= min(MOST_FRACTIONS, 0.5 * n))
    return bool(values <= MOST_CLASSES and values < n)


def find_leaks(frame: Frame, kinds: dict[str, str], y: Array) -> dict[str, float]:
    """Columns of which a small tree alone predicts the target of held-out rows almost always.

    Also one to three that do so nearly, where all others alone are wrong far more often.
    """
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    if len(y) < LEAST_ID_ROWS or np.sum(counts >= 2) < 2 or len(classes) > 50:
        return {}
    rows = np.random.default_rng(0).permutation(len(y))[:LEAK_ROWS]
    codes = codes[rows]
    small, tree = (
        DecisionTreeClassifier(max_leaf_nodes=leaves * len(classes), random_state=0)
        for leaves in (1, 4)
    )
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    seen, held_out = {}, {}
    for name in likely_leaks(frame, kinds, rows, codes):
        values = as_codes(frame[name].iloc[rows], kinds[name])[:, None]
        said = tree.fit(values, codes).predict(values)
        seen[name] = float(balanced_accuracy_score(codes, said))
        if seen[name] < NEAR_ACCURACY:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes with a single row
            held_out[name] = max(
                float(cross_val_score(own, values, codes, cv=folds, scoring=SHARE).mean())
                for own in (small, tree)
            )
    near = names_of_leaks(held_out, seen, 1 / len(classes))
    return {name: held_out[name] for name in near}


def names_of_leaks(
    held_out: Mapping[str, float],  # accuracy or R2 of a column alone
    seen: Mapping[str, float],  # of the rows that it was fitted to, for all columns
    chance: float,
) -> list[str]:
    """Columns that are right almost always, and the few that nearly are where no other is close."""
    sure = [name for name, own in held_out.items() if own >= LEAK_ACCURACY]
    near = [name for name, own in held_out.items() if NEAR_ACCURACY <= own < LEAK_ACCURACY]
    best = max((own for own in seen.values() if own < NEAR_ACCURACY), default=chance)
    if len(near) > MOST_NEAR:  # the task is easy
        return sure
    return [*sure, *(name for name in near if 1 - held_out[name] <= NEAR_SHARE * (1 - best))]


def find_groups(frame: Frame, columns: Columns, y: Array) -> list[str]:
    """Columns such as patients: each value has several rows, and all of them have one label.

    Rows of a patient are alike, so leave-one-out tells them by the others. Labels
    that are drawn give r rows of a value one label with probability sum_k p_k^r.
    """
    pd = need_pandas()
    codes = np.unique(y, return_inverse=True)[1]
    shares = np.bincount(codes) / len(codes)
    found = []
    for name, kind in columns.kinds.items():
        whole = kind == "number" and is_integer(frame[name])
        if name in columns.leaks or not (kind == "category" or whole):
            continue
        values = pd.factorize(frame[name], use_na_sentinel=False)[0]
        rows = np.bincount(values)
        if len(rows) < max(LEAST_GROUPS, 3 * len(shares)) or len(rows) == len(values):
            continue
        labels = len(np.unique(values * len(shares) + codes))
        chance = np.logaddexp.reduce(rows[:, None] * np.log(shares), axis=1).sum()
        if labels == len(rows) and chance < np.log(CHANCE_OF_GROUPS):
            found.append(name)
    return found


def likely_leaks(frame: Frame, kinds: dict[str, str], rows: Array, codes: Array) -> list[str]:
    """All columns of a narrow table; of a wide one those whose class means differ most."""
    names = [name for name, kind in kinds.items() if kind in ("number", "category")]
    names = [name for name in names if not is_sparse_type(frame[name].dtype)]
    if len(names) <= LEAK_COLUMNS:
        return names
    from sklearn.feature_selection import f_classif

    values = np.column_stack([as_codes(frame[name].iloc[rows], kinds[name]) for name in names])
    ranks = values.argsort(axis=0).argsort(axis=0)
    with np.errstate(all="ignore"):
        F = np.nan_to_num(f_classif(ranks, codes)[0], nan=0.0)
    return [names[i] for i in np.argsort(-F, kind="stable")[:LEAK_COLUMNS]]


def as_word(column: FrameColumn, _: str | None) -> FrameColumn:
    """Levels as strings: 1, 1.0 and "1" are one level, however a file writes it."""
    if is_number(column):
        numbers = column.astype(float)
        if bool((numbers.dropna() % 1 == 0).all()):
            column = numbers.astype("Int64")
    return column.astype(object).map(str, na_action="ignore").astype(object)


def as_codes(column: FrameColumn, kind: str) -> Array:
    """Numbers as they are, levels counted; missing cells far below."""
    pd = need_pandas()
    if kind == "number":
        values = column.to_numpy(dtype=float, na_value=np.nan)
        finite = values[np.isfinite(values)]
        low = finite.min() - 1.0 if len(finite) else 0.0
        return np.where(np.isfinite(values), values, low)
    return np.asarray(pd.factorize(column)[0], dtype=float)
