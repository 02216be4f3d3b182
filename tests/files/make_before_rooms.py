"""Write small models of every kind to ``before_rooms``, with some rows and what they say of them.

    python tests/files/make_before_rooms.py [FOLDER]

Run once, with the version before modules moved to other packages; the files are kept as they are,
and ``tests/interop/test_earlier_files.py`` reads them. It is here to say how they were made, and
to make such files of a later version. Uses the public interface alone.
"""

import contextlib
import json
import os
import runpy
import shutil
import sys
import tempfile
import warnings
from collections import namedtuple
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn import kernels as kk
from kernel_learn.constraints import Pairs, Similarities, Triplets
from kernel_learn.datasets import Blocks
from kernel_learn.representations import save_state
from kernel_learn.tables import TableModel

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")
N, SHOWN = 36, 6
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4)).round(3)
CODE = (X[:, 0] + 0.3 * rng.normal(size=N) > 0).astype(int) + (X[:, 1] > 0.8)
y = np.array(["a", "b", "c"])[CODE]
unit = (np.abs(X) / np.abs(X).max()).round(4)
codes = np.round(X).clip(-2, 2)
thin = sparse.random(N, 12, density=0.3, random_state=0, format="csr")
words = np.array(["".join(rng.choice(list("ACGT"), 10)) for _ in range(N)], dtype=object)
frame = pd.DataFrame(X, columns=list("pqrs"))
frame.loc[3, "p"] = np.nan
frame["colour"] = pd.Categorical(rng.choice(["red", "green", "blue"], N))
frame["flag"] = rng.random(N) > 0.5
frame["word"] = rng.choice(["x", "yy", "zz"], N).astype(object)
records = frame[["q", "r", "s"]].assign(protein=words)
notes = frame.drop(columns="flag").assign(
    note=[" ".join(rng.choice(["one", "two", "three", "four"], 4)) + f" {i}" for i in range(N)],
    day=pd.date_range("2020-01-01", periods=N, freq="17h").strftime("%Y-%m-%d"),
)
same = np.flatnonzero(y == "a")[:8].reshape(4, 2)
other = np.stack([np.flatnonzero(y == "a")[:4], np.flatnonzero(y == "b")[:4]], axis=1)
triplets = np.stack([same[:, 0], same[:, 1], other[:, 1]], axis=1)
BANK = [kk.Gaussian(0.1), kk.Gaussian(1.0), kk.Linear()]
COLUMNS = {
    "numbers": kk.ColumnKernel(kk.Gaussian(), ["q", "r"]),
    "sequence": kk.ColumnKernel(kk.Spectrum(3), "protein"),
}
FAST = {"quality": "fast", "max_members": 2}
Usage = namedtuple("Usage", "total used free")


def estimators():
    """{name: (model, rows)} that are fitted by ``fit(rows, y)``."""
    some = {"landmarks": 9, "random_state": 0}
    return {
        "alignment": (kl.AlignmentSubspace(), X),
        "alignment-landmarks": (kl.AlignmentSubspace(**some), X),
        "expansion": (kl.ExpansionSVC(n_points=4, random_state=0), X),
        "expansion-kept": (
            kl.ExpansionSVC(n_points=4, move_points=False, class_weight="balanced", random_state=0),
            X,
        ),
        "scales": (kl.FeatureScales(), X),
        "scales-linear": (kl.FeatureScales("linear", criterion="alignment", n_features=2), X),
        "hsic": (kl.HSICSubspace(), X),
        "hsic-bank": (kl.HSICSubspace(BANK, uncorrelated=True), X),
        "hsic-landmarks": (kl.HSICSubspace(landmarks=kl.Landmarks("kmeans", 8), random_state=0), X),
        "hsic-strings": (kl.HSICSubspace(kk.Subsequence(2)), words),
        "hsic-precomputed": (kl.HSICSubspace("precomputed"), X @ X.T),
        "discriminant": (kl.KernelDiscriminant(), X),
        "discriminant-bank": (kl.KernelDiscriminant({"narrow": BANK[1], "wide": BANK[0]}), X),
        "discriminant-stacked": (kl.KernelDiscriminant(BANK, landmarks=8, random_state=0), X),
        "discriminant-frame": (kl.KernelDiscriminant(COLUMNS), records),
        "discriminant-sparse": (kl.KernelDiscriminant(), thin),
        "discriminant-sparse-array": (kl.KernelDiscriminant(**some), sparse.csr_array(thin)),
        "discriminant-strings": (kl.KernelDiscriminant(kk.Spectrum(3)), words),
        "discriminant-single": (kl.KernelDiscriminant(**some), X.astype(np.float32)),
        "discriminant-views": (kl.KernelDiscriminant(BANK[1:]), [X[:, :2], X[:, 2:]]),
        "discriminant-neighbour": (kl.KernelDiscriminant(decision="nearest_neighbor"), X),
        "discriminant-process": (
            kl.KernelDiscriminant(1.5 * gp.RBF(2.0) + gp.WhiteKernel()),
            X,
        ),
        "discriminant-metric": (kl.KernelDiscriminant("additive_chi2"), unit),
        "discriminant-chi": (kl.KernelDiscriminant(kk.ChiSquared()), unit),
        "discriminant-arc": (kl.KernelDiscriminant(kk.ArcCosine()), X),
        "discriminant-additive": (kl.KernelDiscriminant(kk.Additive()), unit),
        "discriminant-anova": (kl.KernelDiscriminant(kk.PairwiseAnova()), unit),
        "discriminant-hamming": (kl.KernelDiscriminant(kk.Hamming(1.0, [0, 1])), codes),
        "discriminant-matching": (kl.KernelDiscriminant(kk.Matching()), codes),
        "discriminant-low-rank": (kl.KernelDiscriminant(kk.LowRank("gaussian", 4)), X),
        "discriminant-graph": (kl.KernelDiscriminant(kk.GraphDeformed(kk.Gaussian())), X),
        "discriminant-scaled": (
            kl.KernelDiscriminant(kk.ScaledKernel(kk.Gaussian(0.3), np.array([1, 2, 0, 1.0]))),
            X,
        ),
        "discriminant-learned": (kl.KernelDiscriminant(kl.HSICSubspace().fit(X, y).kernel_), X),
        "discriminant-qr": (kl.KernelDiscriminantQR(), X),
        "centroid": (kl.KernelOrthogonalCentroid(), X),
        "centroid-clusters": (
            kl.KernelOrthogonalCentroid(clusters_per_class=2, random_state=0),
            X,
        ),
        "pls": (kl.KernelPLS(), X),
        "pls-landmarks": (kl.KernelPLS(**some), X),
        "mkl": (kl.MultiKernelSVC(), X),
        "mkl-bank": (kl.MultiKernelSVC(BANK, class_weight="balanced"), X),
        "mkl-frame": (kl.MultiKernelSVC(COLUMNS), records),
        "mkl-landmarks": (kl.MultiKernelSVC(BANK, loss="squared_hinge", **some), X),
        "svc": (kl.SubspaceSVC(), X),
        "svc-bank": (kl.SubspaceSVC(BANK), X),
        "svc-landmarks": (kl.SubspaceSVC(loss="squared_hinge", **some), X),
        "svc-few": (kl.SubspaceSVC(n_components=1, C=10.0), X),
        "inductive": (kl.InductiveKernel(random_state=0), X),
        "inductive-trace": (kl.InductiveKernel(regularizer="trace", **some), X),
        "inductive-rows": (
            kl.InductiveKernel(constraints=Pairs(X[same], X[other]) + Triplets(X[triplets])),
            X,
        ),
        "inductive-similar": (kl.InductiveKernel(constraints=Similarities(X[same], X[other])), X),
        "lmnn": (kl.KernelLMNN(max_iter=50), X),
        "mcml": (kl.KernelMCML(max_iter=30), X),
        "mmc": (kl.KernelMMC(**some), X),
        "nca": (kl.KernelNCA(max_iter=30, random_state=0), X),
        "rca": (kl.KernelRCA(), X),
        "rca-linear": (kl.KernelRCA("linear"), X),
        "pipeline": (make_pipeline(StandardScaler(), kl.SubspaceSVC()), X),
        "pipeline-neighbours": (
            make_pipeline(kl.HSICSubspace(), KNeighborsClassifier(1, algorithm="brute")),
            X,
        ),
        "classifier": (kl.KernelClassifier(**FAST), X),
        "classifier-balanced": (kl.KernelClassifier(max_members=4, random_state=3), codes),
        "classifier-one": (kl.KernelClassifier(quality="fast", max_members=1), X),
        "classifier-frame": (kl.KernelClassifier(**FAST), frame),
        "classifier-groups": (
            kl.KernelClassifier(column_groups={"one": ["p", "q"], "two": ["r", "colour"]}, **FAST),
            frame,
        ),
        "classifier-sparse": (kl.KernelClassifier(**FAST), thin),
        "classifier-views": (kl.KernelClassifier(**FAST), [X[:, :2], X[:, 2:]]),
        "classifier-categories": (kl.KernelClassifier(categorical=[0, 1], **FAST), codes),
        "table-notes": (TableModel(kl.KernelClassifier(**FAST)), notes),
        "table-scaled": (TableModel(kl.KernelDiscriminant(), encoding="full"), records[["q", "r"]]),
    }


def kernels():
    """{name: (kernel, rows)} that are saved alone."""
    learned = kl.KernelClassifier(**FAST).fit(frame, y).kernel_
    found = {
        "gaussian": (kk.Gaussian(0.3), X),
        "laplacian": (kk.Laplacian(0.3), X),
        "exponential": (kk.Exponential(0.3), X),
        "matern": (kk.Matern(0.3, nu=2.5), X),
        "chi": (kk.ChiSquared(0.5), unit),
        "linear": (kk.Linear(), X),
        "cosine": (kk.Cosine(), X),
        "polynomial": (kk.Polynomial(2, 0.5, 1.0), X),
        "arc": (kk.ArcCosine(1.0), X),
        "sum": (kk.Combination(BANK, [0.5, 0.3, 0.2]), X),
        "columns": (kk.ColumnKernel(kk.Gaussian(0.2), ["q", "s"]), records),
        "spectrum": (kk.Spectrum(3), words),
        "of-hsic": (kl.HSICSubspace().fit(X, y).kernel_, X),
        "of-hsic-bank": (kl.HSICSubspace(BANK, landmarks=8, random_state=0).fit(X, y).kernel_, X),
        "of-inductive": (kl.InductiveKernel(random_state=0).fit(X, y).kernel_, X),
        "of-classifier": (learned, frame),
    }
    return {f"kernel-{name}": case for name, case in found.items()}


def blocks(rows, labels):
    return Blocks(
        lambda: ((rows[i : i + 100], labels[i : i + 100]) for i in range(0, len(rows), 100))
    )


def streams():
    """{name: (fitted model, rows)} of sources."""
    draw = np.random.default_rng(1)
    many = draw.uniform(-2, 2, size=(20_100, 3)).round(3)
    labels = (many[:, 0] * many[:, 1] > 0).astype(int)
    few, few_labels = many[:240], labels[:240]
    landmarks = {"landmarks": 9, "random_state": 0}
    found = {
        "stream-discriminant": kl.KernelDiscriminant(**landmarks).fit(blocks(many, labels)),
        "stream-hsic-bank": kl.HSICSubspace(BANK, **landmarks).fit(blocks(many, labels)),
        "stream-svc": kl.SubspaceSVC(loss="squared_hinge", **landmarks).fit(blocks(many, labels)),
        "classifier-leaves": kl.KernelClassifier(memory_budget=700_000, **FAST).fit(
            few[:200], few_labels[:200]
        ),
        "classifier-disk": kl.KernelClassifier(memory_budget="450kB", **FAST).fit(
            blocks(few, few_labels)
        ),
    }
    full = mock.patch.object(shutil, "disk_usage", return_value=Usage(1, 1, 0))
    with full:
        found["classifier-without-rows"] = kl.KernelClassifier(memory_budget="1MB", **FAST).fit(
            blocks(few, few_labels)
        )
    return {name: (model, many[-SHOWN:]) for name, model in found.items()}


def fitted():
    """Every (name, model, new rows)."""
    for name, (model, rows) in estimators().items():
        yield name, model.fit(rows, y), take(rows)
    values = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    yield "pls-regressor", kl.KernelPLSRegressor().fit(X, values), take(X)
    pairs, alike = np.concatenate([same, other]), np.arange(8) < 4
    yield "pairs", kl.PairClassifier(cv=2).fit(X, pairs, alike), take(X)
    mmc = kl.PairClassifier(kl.KernelMMC("linear"), "f1", cv=2)
    yield "pairs-mmc", mmc.fit(X, pairs, alike), take(X)
    for name, (model, rows) in kernels().items():
        yield name, model, take(rows)
    for name, (model, rows) in streams().items():
        yield name, model, rows


def take(rows):
    """The first of the rows; of views, of each."""
    if isinstance(rows, list):
        return [part[:SHOWN] for part in rows]
    return rows[:SHOWN]


def say(model, rows):
    """What the model says of the rows, by method."""
    if isinstance(model, kk.Kernel):
        return {"kernel": model(rows)}
    sides = (rows, rows[::-1]) if isinstance(model, kl.PairClassifier) else (rows,)
    found = {}
    for name in METHODS:
        with contextlib.suppress(AttributeError):  # a table's model has what its estimator has
            found[name] = getattr(model, name)(*sides)
    if "transform" not in found and hasattr(model, "kernel_"):
        found["kernel"] = model.kernel_(rows)
    return found


def as_json(rows):
    """Rows as something that JSON holds."""
    if isinstance(rows, list):
        return {"kind": "views", "views": [as_json(part) for part in rows]}
    if hasattr(rows, "columns"):
        columns = {
            name: {"dtype": str(rows[name].dtype), "values": plain(rows[name])} for name in rows
        }
        return {"kind": "frame", "columns": columns}
    if sparse.issparse(rows):
        kind = "sparse array" if isinstance(rows, sparse.sparray) else "sparse"
        return {"kind": kind, "values": rows.toarray().tolist()}
    return {"kind": "array", "dtype": str(rows.dtype), "values": rows.tolist()}


def plain(column):
    return [None if pd.isna(value) else value for value in column.astype(object).tolist()]


def write(folder, name, rows, outputs, needs=()):
    content = {
        "rows": as_json(rows),
        "outputs": {key: np.asarray(values).tolist() for key, values in outputs.items()},
        "needs": list(needs),
    }
    (folder / f"{name}.json").write_text(json.dumps(content) + "\n", encoding="utf-8")


def needs_of(model):
    """Packages that reading the file, or asking the model, takes."""
    text = kl.describe(model)
    return [name for name in ("pandas", "skrub") if name in text]


def write_models(folder):
    for name, model, rows in fitted():
        kl.save(model, folder / f"{name}.skops")
        outputs = say(model, rows)
        for key, values in say(kl.load(folder / f"{name}.skops"), rows).items():
            np.testing.assert_array_equal(values, outputs[key])
        is_frame = hasattr(rows, "columns")
        needs = needs_of(folder / f"{name}.skops")
        write(folder, name, rows, outputs, dict.fromkeys([*(["pandas"] * is_frame), *needs]))


def write_state(folder):
    """A state between two calls of ``partial_fit``."""
    model = kl.KernelDiscriminant(kk.Gaussian(0.3), reg=0.01, landmarks=X[:8])
    model.partial_fit(X[:20], CODE[:20]).partial_fit(X[20:], CODE[20:])
    save_state(model.state_, folder / "state.npz")
    write(folder, "state", take(X), say(model, take(X)))


def command(*words):
    """The command line, in this process; silent."""
    with (
        mock.patch.object(sys, "argv", ["kernel_learn", *words, "-q"]),
        contextlib.suppress(SystemExit),
    ):
        runpy.run_module("kernel_learn", run_name="__main__")


def write_commands(folder):
    """Models of the command line, from a folder of its own: its words are kept in the file."""
    here = Path.cwd()
    commands = {
        "command-fit": ("fit", "table.csv", "-t", "label", "--set", "max_members=2"),
        "command-fit-discriminant": ("fit", "short.csv", "-t", "label", "-m", "KernelDiscriminant"),
        "command-fit-neighbours": ("fit", "numbers.csv", "-t", "label", "-m", "KernelNCA"),
        "command-learn-kernel": ("learn-kernel", "numbers.csv", "-t", "label"),
        "command-learn-pairs": ("learn-kernel", "rows.csv", "--pairs", "pairs.csv"),
    }
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        try:
            notes[["p", "q", "colour", "day"]].assign(label=y).to_csv("table.csv", index=False)
            # what encodes dates for methods of numbers takes megabytes of text in a file
            notes[["p", "colour"]].assign(label=y).to_csv("short.csv", index=False)
            numbers = pd.DataFrame(X, columns=list("pqrs"))
            numbers.to_csv("rows.csv", index=False)
            numbers.assign(label=y).to_csv("numbers.csv", index=False)
            lines = [f"{a},{b},1" for a, b in same] + [f"{a},{b},0" for a, b in other]
            Path("pairs.csv").write_text("\n".join(["a,b,same", *lines]))
            for name, words in commands.items():
                command(*words, "-o", "model.skops", "--memory", "1GB")
                shutil.move("model.skops", folder / f"{name}.skops")
                rows = pd.read_csv(words[1]).drop(columns="label", errors="ignore")[:SHOWN]
                outputs = say(kl.load(folder / f"{name}.skops"), rows)
                write(folder, name, rows, outputs, ("pandas", "skrub"))
        finally:
            os.chdir(here)


def main():
    here = Path(__file__).parent / "before_rooms"
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    write_models(folder)
    write_state(folder)
    write_commands(folder)
    files = list(folder.iterdir())
    print(f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
