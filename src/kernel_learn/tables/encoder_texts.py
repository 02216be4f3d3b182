"""The encoder of a table without the parts of words that forgotten rows alone had.

skrub's encoder of texts keeps every part of three or four letters with its weight, and a row of
them can be put together to words. Rows that stay have none of those that go: they are encoded as
before, to the last bit.
"""

from collections.abc import Iterator

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame
from kernel_learn.tables.model import Estimator, TableModel


def drop_words(
    model: TableModel,  # whose encoder is changed
    rows: Frame,  # cells of the training rows that are forgotten, a row each
    n_rows: int,  # that the encoder was fitted to
) -> None:
    """Parts of words in as many training rows as are forgotten go.

    How many had each is told by its weight, log((1 + n) / (1 + n_having)) + 1.
    """
    for name, own in text_encoders(model):
        vectorizer = own.vectorizer_
        texts = own.to_str.transform(rows[name]).fillna("")
        gone = np.bincount(vectorizer.transform(texts).indices, minlength=len(vectorizer.idf_))
        having = (1 + n_rows) / np.exp(vectorizer.idf_ - 1) - 1
        keep_terms(own, np.flatnonzero((gone == 0) | (having - gone > 0.5)))


def text_encoders(model: TableModel) -> Iterator[tuple[str, Estimator]]:
    """Columns of texts, and what encodes each."""
    texts = set(model.columns_.of("text"))
    for step in model.encoder_ or ():
        if hasattr(step, "named_transformers_"):
            step = step.named_transformers_["tablevectorizer"]
        for name, own in getattr(step, "transformers_", {}).items():
            if name in texts and hasattr(own, "vectorizer_"):
                yield name, own


def keep_terms(own: Estimator, kept: Array) -> None:
    """A text encoder of some of its terms."""
    vectorizer = own.vectorizer_
    terms = vectorizer.get_feature_names_out()
    if not hasattr(own, "tsvd_"):  # a term is a column of its own: its name goes, its place stays
        stays = np.isin(np.arange(len(terms)), kept)
        names = [term if stays[i] else f"\x01{i}" for i, term in enumerate(terms)]
        vectorizer.vocabulary_ = {term: i for i, term in enumerate(names)}
        return
    vectorizer.vocabulary_ = {term: i for i, term in enumerate(terms[kept].tolist())}
    vectorizer._tfidf.idf_ = vectorizer.idf_[kept]
    own.tsvd_.components_ = own.tsvd_.components_[:, kept]
    for step in (vectorizer._tfidf, own.tsvd_):
        if hasattr(step, "n_features_in_"):
            step.n_features_in_ = len(kept)
