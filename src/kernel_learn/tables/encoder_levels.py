"""The encoder of a table without the words of levels that no row has any more.

Its columns stay as they are, so that a model behind it sees rows as before: a level that is gone is
called by the level before it and a letter that no cell has, which keeps their order.
"""

from collections.abc import Mapping
from copy import deepcopy

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from kernel_learn.arrays import Array
from kernel_learn.tables.model import Estimator, TableModel

NO_LETTER = "\x01"


def encoder_without(model: TableModel, rows: Array) -> Estimator:
    """The full encoder of a model, of levels that encoded rows have; the model's own stays."""
    encoder: Estimator = deepcopy(model.encoder_)
    if not hasattr(encoder[0], "named_transformers_"):
        return encoder  # of numbers alone
    vectorizer, means = encoder[0].named_transformers_["tablevectorizer"], encoder[-1].mean_
    words: dict[str, str] = {}
    for name, places in model.encoded_places().items():
        own = vectorizer.transformers_.get(name)
        if isinstance(own, OneHotEncoder):
            # a level is 1 or 0, less its mean: a row has it where that is above zero
            gone = ~np.any(rows[:, places] > 0, axis=0) & (means[places] < 1)
            before, levels = "", own.categories_[0]
            for i, level in enumerate(levels):
                if gone[i] and isinstance(level, str):
                    levels[i] = before + NO_LETTER
                    words[f"{name}_{level}"] = f"{name}_{levels[i]}"
                before = levels[i]
    if words:
        rename(encoder, words, {})
    return encoder


def rename(found: object, words: Mapping[str, str], done: dict[int, object]) -> object:
    """An object in which texts, wherever they stand, are called otherwise; changed in place."""
    if isinstance(found, str):
        return words.get(found, found)
    if id(found) in done or callable(found):
        return found
    done[id(found)] = found
    if isinstance(found, dict):
        pairs = [(rename(k, words, done), rename(v, words, done)) for k, v in found.items()]
        found.clear()
        found.update(pairs)
    elif isinstance(found, list):
        found[:] = [rename(one, words, done) for one in found]
    elif type(found) is tuple:
        return tuple(rename(one, words, done) for one in found)
    elif isinstance(found, np.ndarray):
        if found.dtype == object:
            found[...] = np.array([*map(words.get, found.flat, found.flat)], object).reshape(
                found.shape
            )
    elif hasattr(found, "__dict__"):
        rename(vars(found), words, done)
    return found
