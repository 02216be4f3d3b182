"""A model of a table: columns by name, their encoders, and an estimator behind them."""

import json
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.constraints import Constraints
from kernel_learn.fitting.pages import Card, OwnPage
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.keys import are_among, hash_texts
from kernel_learn.rows.named_columns import take_named
from kernel_learn.streams.blocks import Blocks
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.columns import (
    Columns,
    as_word,
    check_complete,
    is_sparse_type,
    load_skrub,
    look_at_columns,
)
from kernel_learn.tables.deciding import decide_between
from kernel_learn.tables.reading.dates import find_date_form

Estimator = Any  # a classifier or transformer, fitted or not
ENCODINGS = ("light", "full")
TEXT_FEATURES = 30  # columns that a column of free text becomes


def estimator_has(method: str) -> Callable[[Estimator], bool]:
    """Whether the estimator behind has a method, fitted or not."""
    return lambda model: hasattr(getattr(model, "estimator_", model.estimator), method)


class TableModel(OwnPage, BaseEstimator):
    """An estimator that takes tables as they come from files and finds its columns by name.

    Parameters
    ----------
    estimator : classifier, regressor or transformer
        Fitted behind the encoders; the model is of the same kind.
    encoding : {"light", "full"}
        "light": dates and free text become numbers, everything else passes through with its
        name (for ``KernelClassifier`` and ``KernelRegressor``). "full": all columns become scaled
        numbers without holes.
    target : str
        The name of the column of labels or numbers; for the record.

    Attributes
    ----------
    columns_ : Columns
        What is used and what was left out.
    encoder_ : Pipeline, or None where there is nothing to encode
        Of a table in blocks and "full" it ends with :class:`TableEncoder`, fitted to all rows.
    estimator_ : the fitted estimator
    classes_ : ndarray, of a classifier
    labels_ : ndarray of shape (n_samples,)
        Positions in ``classes_`` of the training rows, of a classifier.
    row_keys_ : ndarray of int
        Hashes of the training rows: a report does not count them as new.
    threshold_ : float, where it was set
        Of two classes ``classes_[positive_]`` is said from this probability on.
    positive_ : int, where it was set
    seen_ : str
        Ranges and levels of the training rows, as JSON; set by whoever read them from files.
    reading_ : str
        How its table was read from files, as JSON; set by whoever read one.
    facts_ : str
        What a report of this model says, as JSON; set by whoever writes one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernel_learn import KernelClassifier
    >>> from kernel_learn.tables import TableModel
    >>> frame, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = TableModel(KernelClassifier(quality="fast")).fit(frame[::2], y[::2])
    >>> shuffled = frame[frame.columns[::-1]]
    >>> round(model.score(shuffled[1::2], y[1::2]), 2)
    0.97
    """

    def __init__(
        self, estimator: Estimator, *, encoding: str = "light", target: str = "target"
    ) -> None:
        self.estimator = estimator
        self.encoding = encoding
        self.target = target

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = own.estimator_type, own.classifier_tags
        tags.regressor_tags, tags.transformer_tags = own.regressor_tags, own.transformer_tags
        tags.target_tags = own.target_tags
        return tags

    def _card(self) -> Card:
        """The verdict of who fitted it to a file, else the estimator's own words; its columns."""
        fitted = self.estimator_
        own = fitted._card() if isinstance(fitted, OwnPage) else Card("", [])
        facts = json.loads(getattr(self, "facts_", "{}"))
        columns, kinds = self.columns_, list(self.columns_.kinds.values())
        counts = [f"{kinds.count(kind)} of kind {kind}" for kind in dict.fromkeys(kinds)]
        left_out = [*columns.ids, *columns.constants, *columns.dropped]
        rows = [("predicts", self.target), ("by", type(fitted).__name__)]
        rows += [("rows", f"{facts['n_rows']}")] if facts else []
        rows += [("columns", ", ".join(counts)), ("left out", ", ".join(left_out))]
        rows += [("classes", ", ".join(map(str, getattr(self, "classes_", ()))))]
        filled = [row for row in rows if row[1]]
        return Card(repr(self), facts.get("verdict") or own.sentences, (), filled)

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted."""
        return bool(is_regressor(self.estimator))

    def fit(
        self,
        X: Frame,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        columns: Columns | None = None,
        constraints: Constraints | None = None,
    ) -> Self:
        """Learn columns, encoders and the estimator.

        Parameters
        ----------
        X : pandas frame
            Rows, with columns by name.
        y : array-like of shape (n_samples,) or name of a column of X, optional
            Class labels, or numbers.
        groups : array-like of shape (n_samples,) or name of a column of X, optional
            Rows of one group are left out together, by estimators that leave rows out.
        columns : Columns, optional
            What the columns are, if somebody has looked already.
        constraints : Constraints, optional
            For ``InductiveKernel``, instead of labels.
        """
        X, y, groups = take_named({"X": X, "y": y, "groups": groups}).values()
        labels = None if y is None else np.asarray(y)
        rows = self.fit_encoder(X, look_at_columns(X, labels) if columns is None else columns)
        estimator = clone(self.estimator)
        if constraints is not None:
            self.estimator_ = estimator.fit(rows, constraints=constraints)
        elif groups is not None and takes_groups(estimator):
            self.estimator_ = estimator.fit(rows, y, groups=groups)
        else:
            self.estimator_ = estimator.fit(rows, y)
        if hasattr(self.estimator_, "classes_") and labels is not None:
            self.classes_ = self.estimator_.classes_
            self.labels_ = np.searchsorted(self.classes_, labels)
        return self

    def fit_encoder(
        self, X: Frame, columns: Columns, every: Callable[[], Iterator[Frame]] | None = None
    ) -> Rows:
        """Learn columns and encoders alone; the encoded rows.

        ``every``: X is a sample of a table, and this gives all of its rows, in blocks.
        """
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding={self.encoding!r}: choose one of {ENCODINGS}.")
        self.columns_ = columns
        self.feature_names_in_ = np.array(columns.used, dtype=object)
        self.n_features_in_ = len(columns.used)
        self.date_formats_ = find_date_formats(X, columns.of("date"))
        self.is_sparse_ = any(is_sparse_type(dtype) for dtype in X.dtypes.loc[columns.used])
        rows = self.cast(X)
        self.row_keys_ = np.unique(table_keys(rows))
        self.encoder_ = None
        if not self.is_sparse_:
            self.encoder_ = make_encoder(columns, self.encoding, in_blocks=every is not None)
        if self.encoder_ is None:
            return rows
        if every is None or self.encoding == "light":
            return to_double(self.encoder_.fit_transform(rows))
        texts = self.encoder_[:-1].fit(rows)
        self.encoder_[-1].fit(Blocks(lambda: (texts.transform(self.cast(own)) for own in every())))
        return to_double(self.encoder_.transform(rows))

    def score(self, X: Frame, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows that are predicted right; R2 of numbers."""
        X, y, sample_weight = take_named({"X": X, "y": y, "sample_weight": sample_weight}).values()
        measure = r2_score if self.is_regression else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def predict(self, X: Frame) -> Array:
        """Labels or numbers, (n_samples,); of two classes by ``threshold_`` if there is one.

        Where there are probabilities, the label is the likeliest by these.
        """
        if hasattr(self, "classes_") and hasattr(self, "predict_proba"):
            return np.asarray(self.classes_[self.decide(self.predict_proba(X))])
        return np.asarray(self.estimator_.predict(self.encode(X)))

    def decide(self, P: Array) -> Array:
        """Positions in ``classes_`` of what is said of rows with these probabilities."""
        if hasattr(self, "threshold_"):
            return decide_between(P, self.positive_, self.threshold_)
        return np.asarray(P.argmax(axis=1))

    def set_threshold(self, positive: int, threshold: float) -> None:
        """From now on say class ``positive`` of two where its probability is so large."""
        self.positive_, self.threshold_ = int(positive), float(threshold)

    @available_if(estimator_has("predict_proba"))
    def predict_proba(self, X: Frame) -> Array:
        """Probabilities of ``classes_``, (n_samples, n_classes)."""
        return np.asarray(self.estimator_.predict_proba(self.encode(X)))

    @available_if(estimator_has("predict_set"))
    def predict_set(self, X: Frame, coverage: float = 0.9) -> Array:
        """The classes that cannot be excluded, (n_samples, n_classes) booleans."""
        return np.asarray(self.estimator_.predict_set(self.encode(X), coverage))

    @available_if(estimator_has("predict_interval"))
    def predict_interval(self, X: Frame, coverage: float = 0.9) -> Array:
        """From where to where a new value lies, (n_samples, 2)."""
        return np.asarray(self.estimator_.predict_interval(self.encode(X), coverage))

    @available_if(estimator_has("novelty"))
    def novelty(self, X: Frame) -> Array:
        """p-values, small for rows unlike those of the training, (n_samples,)."""
        return np.asarray(self.estimator_.novelty(self.encode(X)))

    @available_if(estimator_has("transform"))
    def transform(self, X: Frame) -> Array:
        """Learned features, (n_samples, n_components)."""
        return np.asarray(self.estimator_.transform(self.encode(X)))

    def encode(self, X: Frame) -> Rows:
        """The rows as the estimator sees them: its columns by name, in its order.

        In double precision, which skrub's encoders do not keep: what is forgotten or explained
        exactly is exact to the precision of the rows.
        """
        check_is_fitted(self)
        rows = self.cast(X)
        return rows if self.encoder_ is None else to_double(self.encoder_.transform(rows))

    def encoded_places(self) -> dict[str, list[int]]:
        """Which columns behind the encoders each column has become, if any."""
        used = self.columns_.used
        if self.encoding == "light" and self.encoder_ is not None:
            steps = [step.output_to_input_ for step in self.encoder_]
            source = {own: name for step in steps for own, name in step.items()}
            places: dict[str, list[int]] = {name: [] for name in used}
            for c, own in enumerate(self.encoder_[-1].all_outputs_):
                places[source.get(own, own)].append(c)
            return {name: own for name, own in places.items() if own}
        others = [name for name in used if self.columns_.kinds[name] != "number"]
        if self.encoder_ is None or not others:
            return {name: [c] for c, name in enumerate(used)}
        vectorizer = self.encoder_[0].named_transformers_["tablevectorizer"]
        numbers = self.columns_.of("number")
        found = {name: [c] for c, name in enumerate(numbers)}
        for c, name in enumerate(vectorizer.all_outputs_, len(numbers)):
            found.setdefault(vectorizer.output_to_input_[name], []).append(c)
        return {name: found[name] for name in used if name in found}

    def has_seen(self, X: Frame) -> Array:
        """Which rows the model was fitted to, (n_samples,) booleans."""
        return are_among(table_keys(self.cast(X)), self.row_keys_)

    def missing_columns(self, X: Frame) -> list[str]:
        """Columns of the model that a table lacks."""
        return [name for name in self.columns_.used if name not in X.columns]

    def extra_columns(self, X: Frame) -> list[str]:
        """Columns of a table that the model does not know."""
        known = {*self.columns_.used, self.target, *self.columns_.ids}
        known |= {*self.columns_.constants, *self.columns_.dropped}
        return [str(name) for name in X.columns if name not in known]

    def cast(self, X: Frame) -> Rows:
        """Our columns in our order and of our kinds."""
        if self.is_sparse_:
            return sparse_rows(X, self.columns_.used)
        used = self.columns_.used
        check_complete(used, X.columns)
        kinds = zip(used, self.columns_.kinds.values(), X.dtypes.loc[used], strict=True)
        plain = [name for name, kind, dtype in kinds if kind == "number" and dtype.kind in "fiu"]
        rows = X[plain].astype(np.float64)  # as one block: columns one by one take their time
        if len(plain) == len(used):
            return rows
        cast = {
            name: CASTS[kind](X[name], self.date_formats_.get(name))
            for name, kind in self.columns_.kinds.items()
            if name not in rows
        }
        pd = need_pandas()
        return pd.concat([rows, pd.DataFrame(cast, index=X.index)], axis=1)[used]


def table_keys(rows: Rows) -> Array:
    """A number for each row, by its cells."""
    if is_sparse(rows):
        return hash_texts(row.indices.tobytes() + row.data.tobytes() for row in rows)
    return np.asarray(need_pandas().util.hash_pandas_object(rows, index=False), dtype=np.uint64)


def takes_groups(estimator: Estimator) -> bool:
    """Whether ``fit`` has a parameter ``groups``."""
    return "groups" in signature(estimator.fit).parameters


def sparse_rows(X: Frame, names: list[str]) -> Rows:
    """Columns of a wide sparse table as a CSR matrix; what a file does not name is zero."""
    present = [name for name in names if name in X.columns]
    shape = (len(X), len(names))
    if not present:
        return sparse.csr_matrix(shape)
    place = {name: i for i, name in enumerate(names)}
    coo = sparse.csr_matrix(X[present].sparse.to_coo()).tocoo()
    columns = np.array([place[name] for name in present])[coo.col]
    return sparse.csr_matrix((coo.data.astype(float), (coo.row, columns)), shape=shape)


def as_number(column: FrameColumn, _: str | None) -> FrameColumn:
    """Cells as floats; names the first that is none."""
    pd = need_pandas()
    try:
        return pd.to_numeric(column).astype(float)
    except (ValueError, TypeError):
        bad = column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]
        raise TableError(
            f"Column {column.name!r} holds {str(bad.iloc[0])!r} in row {bad.index[0]}, and it held "
            "numbers when the model was fitted."
        ) from None


def as_date(column: FrameColumn, date_format: str | None) -> FrameColumn:
    """Cells as dates without time zone; what is none is missing."""
    pd = need_pandas()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = column
    else:
        dates = pd.to_datetime(column, format=date_format, errors="coerce")
        lost = column[dates.isna() & column.notna()].astype(str)
        if len(lost) and (form := find_date_form(lost.value_counts().to_dict(), 0.0)):
            dates = dates.fillna(pd.Series(lost.map(form.value), dtype=dates.dtype))
    return dates.dt.tz_convert("UTC").dt.tz_localize(None) if dates.dt.tz is not None else dates


CASTS = {"number": as_number, "category": as_word, "text": as_word, "date": as_date}


def find_date_formats(frame: Frame, dates: list[str]) -> dict[str, str]:
    """The format of each column of dates that is written in words."""
    pd, found = need_pandas(), {}
    for name in dates:
        if not pd.api.types.is_datetime64_any_dtype(frame[name].dtype):
            found[name] = load_skrub().ToDatetime().fit(frame[name].dropna().astype(str)).format_
    return found


def make_encoder(columns: Columns, encoding: str, *, in_blocks: bool = False) -> Estimator | None:
    """skrub's encoders for the columns that need them; None if none does.

    Numbers go past skrub, which takes milliseconds for a column, and genes come in thousands. In
    blocks, "full" leaves free text alone to skrub, and the rest to TableEncoder.
    """
    dates, texts, numbers = columns.of("date"), columns.of("text"), columns.of("number")
    if encoding == "light":
        if not (dates or texts):
            return None
        skrub = load_skrub()
        steps = [skrub.ApplyToCols(skrub.DatetimeEncoder(), cols=dates)] if dates else []
        steps += [skrub.ApplyToCols(text_encoder(), cols=texts)] if texts else []
        return make_pipeline(*steps)
    if in_blocks:
        from kernel_learn.estimators.table_encoder import TableEncoder

        words = load_skrub().ApplyToCols(text_encoder(), cols=texts) if texts else "passthrough"
        return make_pipeline(words, TableEncoder(columns.of("category")))
    scaling = [SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()]
    others = [name for name in columns.used if columns.kinds[name] != "number"]
    if not others:
        return make_pipeline(*scaling)
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    vectorizer = load_skrub().TableVectorizer(
        low_cardinality=levels, high_cardinality=text_encoder()
    )
    return make_pipeline(
        make_column_transformer(("passthrough", numbers), (vectorizer, others)), *scaling
    )


def text_encoder() -> Estimator:
    """skrub's encoder of free text."""
    return load_skrub().StringEncoder(n_components=TEXT_FEATURES, random_state=0)
