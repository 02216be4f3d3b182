"""A model of clean rows predicts messy files as it does their clean twins."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402
from kernel_learn.cli.models import reading_of  # noqa: E402
from kernel_learn.streams.readers import TableFiles  # noqa: E402
from kernel_learn.tables.new_rows import NewRows  # noqa: E402
from kernel_learn.tables.reading.clean_files import clean_blocks  # noqa: E402
from messy_files import CORPUS, base  # noqa: E402

READ = {name: case for name, case in CORPUS.items() if case.twin is not None}
# A number that training does not know as missing is one, and is told as outside the range.
NUMBERS = {name for name in READ if "sentinel" in name or name in ("several", "own-number")}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    base().to_csv(folder / "t.csv", index=False)
    words = ["fit", folder / "t.csv", "-t", "y", "-o", folder / "m.skops"]
    words += ["--set", "quality=fast", "--set", "max_members=2"]
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return kl.load(folder / "m.skops")


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("rows", [50, 20_000])
def test_predictions_are_those_of_the_twin(name, rows, model, tmp_path):
    case = READ[name]
    (tmp_path / case.name).write_bytes(case.content)
    files = TableFiles([str(tmp_path / case.name)])
    met = NewRows(model.seen_, reading_of(model))
    found = []
    for given, block, _ in clean_blocks(files.blocks(rows), met.reading):
        met.look(given, block)
        found.append(model.predict_proba(block))
    P = np.vstack(found)
    if name in NUMBERS:
        assert len(P) == len(case.twin) and "outside the training range" in str(met.sentences())
    else:
        np.testing.assert_allclose(P, model.predict_proba(case.twin), rtol=1e-9)
