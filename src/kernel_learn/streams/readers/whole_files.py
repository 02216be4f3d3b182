"""Formats that are read whole: Feather, ARFF, NumPy's .npz."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers.input_files import FormatFiles, InputFile, TableError, need_pandas


@dataclass
class WholeFiles(FormatFiles):
    """Files that one function reads, each at once."""

    reader: Callable[[InputFile], Frame]

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        frame = self.reader(file)
        frame = frame if columns is None else frame[list(columns)]
        for part in row_blocks(len(frame), rows or max(1, len(frame))):
            yield frame.iloc[part].copy()


def read_feather(file: InputFile) -> Frame:
    """Arrow's own file format."""
    with file.open() as content:
        return need_pandas().read_feather(content)


def read_arff(file: InputFile) -> Frame:
    """Weka's format: numbers and nominal attributes."""
    from scipy.io import arff

    with file.open() as content:
        text = content.read().decode("utf-8")
    try:
        rows, _ = arff.loadarff(io.StringIO(text))
    except NotImplementedError as error:
        raise TableError(
            f"{file} has text attributes, which ARFF readers here do not know; save it as CSV."
        ) from error
    frame = need_pandas().DataFrame(rows)
    for column in frame.select_dtypes("object").columns:
        words = frame[column].str.decode("utf-8")
        frame[column] = words.mask(words == "?")
    return frame


def read_npz(file: InputFile) -> Frame:
    """``X`` (with ``feature_names``, if there) and every other array of one entry for each row."""
    pandas = need_pandas()
    with file.open() as content, np.load(content, allow_pickle=False) as held:
        arrays = {key: held[key] for key in held.files}
    names = arrays.pop("feature_names", None)
    matrices = {key: array for key, array in arrays.items() if array.ndim == 2}
    lengths = {len(array) for array in arrays.values() if array.ndim in (1, 2)}
    if len(matrices) > 1 or len(lengths) != 1:
        raise TableError(
            f"{file} must hold one matrix X and arrays of one entry for each of its rows; "
            f"it holds {', '.join(f'{k} {a.shape}' for k, a in arrays.items()) or 'nothing'}."
        )
    parts = []
    for key, X in matrices.items():
        wide = X.shape[1]
        named = names is not None and len(names) == wide
        columns = list(names) if named else [f"{key}{i}" for i in range(wide)]
        parts.append(pandas.DataFrame(X, columns=columns))
    vectors = {key: array for key, array in arrays.items() if array.ndim == 1}
    return pandas.concat([*parts, pandas.DataFrame(vectors)], axis=1)
