"""What leaves the process: files that are read again, ONNX, and the figures of pictures."""

import fixed_data as data
from array_cases import BANK, COLUMNS, prepared

import kernel_learn as kl
from kernel_learn import inspection
from kernel_learn.tables import TableModel, look_at_columns

KEPT = {
    "KernelDiscriminant bank": (kl.KernelDiscriminant(BANK), data.wine),
    "SubspaceSVC frame": (kl.SubspaceSVC(COLUMNS), data.records),
    "KernelClassifier frame": (kl.KernelClassifier(quality="fast", max_members=3), data.frame),
    "KernelClassifier sparse": (kl.KernelClassifier(quality="fast"), data.sparse_rows),
    "InductiveKernel": (kl.InductiveKernel(), data.iris),
    "TableModel": (
        TableModel(kl.KernelClassifier(quality="fast", max_members=3, memory_budget="1GB")),
        data.frame,
    ),
}
EXPORTED = {
    "KernelDiscriminant": kl.KernelDiscriminant(),
    "HSICSubspace bank": kl.HSICSubspace(BANK),
    "MultiKernelSVC": kl.MultiKernelSVC(BANK),
    "KernelClassifier": kl.KernelClassifier(quality="fast", max_members=3),
}


def write_and_read(record, model, rows):
    """save, load, and what the model says then."""
    model = prepared(model).fit(rows.X, rows.y)
    kl.save(model, record.folder / "model.skops")
    record.add_model(kl.load(record.folder / "model.skops"), rows.X_new)
    text = kl.describe(record.folder / "model.skops")
    record.say("describe", text.partition("\n")[2])  # without the time of the first line


def export(record, model):
    """What the runtime of ONNX makes of it."""
    import onnxruntime

    rows, file = data.wine(), record.folder / "model.onnx"
    kl.export_onnx(prepared(model).fit(rows.X, rows.y), file)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: rows.X_new})
    for output, values in zip(session.get_outputs(), found, strict=True):
        record.add(output.name, values)


def draw(record):
    """The figures that pictures are drawn from."""
    rows = data.wine()
    bank = prepared(kl.KernelDiscriminant(BANK)).fit(rows.X, rows.y)
    classifier = prepared(kl.KernelClassifier(quality="fast")).fit(rows.X, rows.y)
    pictures = {
        "convergence": inspection.ConvergenceDisplay.from_estimator(bank),
        "embedding": inspection.EmbeddingDisplay.from_estimator(bank, rows.X, rows.y),
        "gram": inspection.GramDisplay.from_estimator(bank, rows.X, rows.y),
        "weights": inspection.KernelWeightsDisplay.from_estimator(bank),
        "members": inspection.MembersDisplay.from_estimator(classifier),
        "relevance": inspection.RelevanceDisplay.from_estimator(classifier),
        "path": inspection.RegularizationPathDisplay.from_estimator(
            prepared(kl.HSICSubspace()).fit(rows.X, rows.y), rows.X, rows.y, regs=[0.01, 0.1, 1.0]
        ),
    }
    for name, picture in pictures.items():
        drawn = {k: v for k, v in vars(picture).items() if not k.endswith("_")}
        record.add(name, drawn, rows.X_new)


def look(record):
    """What the columns of a table are taken for."""
    rows = data.frame()
    record.add("columns", look_at_columns(rows.X))


def cases():
    found = {
        f"file: {name}": lambda r, m=model, d=rows: write_and_read(r, m, d())
        for name, (model, rows) in KEPT.items()
    }
    found |= {f"onnx: {name}": lambda r, m=model: export(r, m) for name, model in EXPORTED.items()}
    return found | {"pictures": draw, "columns of a table": look}
