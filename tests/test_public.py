"""What users import stays where it is, and everything public says what it does."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import kernel_learn

ROOT = Path(kernel_learn.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# What is public, in one place. A name may be added here, and none may go: each was in a document
# or in an ``__all__``. What no ``__all__`` names is the package's own, and may change.
PATHS = {
    "kernel_learn": """
        AlignmentSubspace ExpansionSVC FeatureScales HSICSubspace InductiveKernel
        KernelClassifier KernelDiscriminant KernelDiscriminantQR KernelLMNN KernelMCML
        KernelMMC KernelNCA KernelOrthogonalCentroid KernelPLS KernelPLSRegressor KernelRCA
        KernelRegressor Landmarks MultiKernelSVC PairClassifier SubspaceSVC TableEncoder
        __version__ constraints
        describe export_onnx inspection kernels load make_pipeline metrics neighbors papers
        presets save
        Blocks CsvSource DaskSource LibsvmSource NpySource ParquetSource datasets interop
        metric_learning
        model_selection report tables testing""",
    "kernel_learn.constraints": """
        ClassProbabilities Constraints Linear Pairs Quadruplets Similarities Triplets""",
    "kernel_learn.criteria.kernel_weights": "KimDiscriminant LabelResolvent",
    "kernel_learn.criteria.regularizers": "Frobenius LogDet Pola Regularizer Trace TraceNorm",
    "kernel_learn.criteria.general_forms.penalties": "Absolute Hinge Penalty Squared SquaredHinge",
    "kernel_learn.datasets": """
        Blocks CsvSource DaskSource DataFolder DataSets LibsvmSource NpySource ParquetSource
        find_data""",
    "kernel_learn.estimators": """
        AlignmentSubspace ExpansionSVC FeatureScales HSICSubspace InductiveKernel
        KernelClassifier KernelDiscriminant KernelDiscriminantQR KernelLMNN KernelMCML
        KernelMMC KernelNCA KernelOrthogonalCentroid KernelPLS KernelPLSRegressor KernelRCA
        KernelRegressor MarginPath MultiKernelSVC PairClassifier RegularizationPath SubspaceSVC
        TableEncoder""",
    "kernel_learn.streams.progress": """
        CallbackSupport Progress with_callbacks""",
    "kernel_learn.streams.readers": """
        FORMATS MissingTableError TableError TableFiles find_files format_of need_pandas
        read_blocks read_table""",
    "kernel_learn.inspection": """
        ConvergenceDisplay EmbeddingDisplay GramDisplay KernelWeightsDisplay MembersDisplay
        RegularizationPathDisplay RelevanceDisplay""",
    "kernel_learn.interop": "files onnx",
    "kernel_learn.interop.files": """
        ModelFileError check_savable describe load save""",
    "kernel_learn.interop.onnx": """
        OnnxExportError export_onnx introduce register""",
    "kernel_learn.kernels": """
        Additive ArcCosine ChiSquared ColumnKernel Combination Cosine CovarianceFunction Exponential
        FunctionKernel Gaussian GaussianProcessKernel GraphDeformed Hamming Kernel Laplacian
        Linear LowRank Matching Matern PairwiseAnova PairwiseKernel Polynomial Precomputed
        ProfileKernel ScaledKernel SharedStatistics Spectrum StatisticsKernel Subsequence
        SubspaceKernel TransformedKernel as_kernel evaluate_bank evaluate_shared
        gaussian_bank""",
    "kernel_learn.metric_learning": """
        InductiveKernel LMNN MCML MMC NCA PairClassifier RCA itml pola""",
    "kernel_learn.metrics": "HSICTest alignment centered_alignment hsic hsic_test",
    "kernel_learn.model_selection": """
        HeldOut LeaveOneOutPath cross_validate_generally cross_validate_source held_out_scores
        leave_groups_out leave_one_out search_leave_one_out""",
    "kernel_learn.neighbors": "KernelGraph KernelIndex",
    "kernel_learn.papers": """
        Bench Cell PROTOCOLS Protocol Record compare load_protocol run""",
    "kernel_learn.presets": """
        frob_lr frobenius_low_rank itml itml_low_rank_after itml_low_rank_first itml_lr_post
        itml_lr_pre pola pola_pairs low_rank_trace trace_ssikdr""",
    "kernel_learn.report": """
        ReportPage gather_facts judge_new_rows make_report render""",
    "kernel_learn.representations": """
        ArraySource Block Combined Eigenpairs FeatureMap FeatureSample Gram GramForm
        Landmarks MomentForm Moments Needs Plan PooledSource Price Representation Size
        Source StreamState Summary build_features load_state plan plan_source represent
        save_state select_landmarks""",
    "kernel_learn.tables": """
        CleanTable Columns TableError TableModel look_at_columns read_blocks read_clean_table
        read_table""",
    "kernel_learn.testing": """
        check_criterion check_estimator check_kernel check_penalty check_regularizer
        check_solver""",
}
EXPORTED = sorted(
    {
        value
        for path, names in PATHS.items()
        for module in [importlib.import_module(path)]
        for value in [getattr(module, n, None) for n in {*vars(module), *names.split()}]
        if inspect.isclass(value) and value.__module__.startswith("kernel_learn.")
    },
    key=lambda value: (value.__module__, value.__name__),
)


def exports(file):
    """The names of a file's ``__all__``; None if it has none."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def test_nothing_is_public_by_accident():
    """The list above names what each ``__all__`` exports, and nothing that none exports."""
    exported = {}
    for file in FILES:
        names = exports(file)
        if names is not None:
            parts = file.relative_to(ROOT.parent).with_suffix("").parts
            exported[".".join(part for part in parts if part != "__init__")] = names
    listed = {path: set(names.split()) for path, names in PATHS.items()}
    deep = {
        f"kernel_learn.criteria.{name}"
        for name in ("general_forms.penalties", "kernel_weights", "regularizers")
    }
    assert {path: names for path, names in listed.items() if path not in deep} == exported


def test_a_fresh_process_finds_everything():
    """Subpackages come when they are asked for, and ``dir`` shows what is public alone."""
    program = """
import sys
import kernel_learn as kl
assert "sklearn" not in sys.modules
assert dir(kl) == sorted(kl.__all__)
for name in kl.__all__:
    getattr(kl, name)
kl.interop.files.save, kl.interop.onnx.export_onnx
assert not hasattr(kl.interop, "nothing")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("path", PATHS)
def test_import_paths(path):
    module = importlib.import_module(path)
    missing = [name for name in PATHS[path].split() if not hasattr(module, name)]
    assert not missing, f"{path} has lost {missing}"
    unknown = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert not unknown


@pytest.mark.parametrize("path", [path for path in PATHS if ".criteria." not in path])
def test_dir_shows_what_is_public_alone(path):
    """No ``TYPE_CHECKING``, no ``import_module``, no module that happens to be imported."""
    assert dir(importlib.import_module(path)) == sorted(PATHS[path].split())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_public_functions_and_classes_have_docstrings(file):
    tree = ast.parse(file.read_text())
    defined = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    silent = [n.name for n in defined if n.name[0] != "_" and not ast.get_docstring(n)]
    assert not silent, f"{file.name} does not say what they do: {silent}"
    assert ast.get_docstring(tree) or file.name in ("_version.py",), f"{file.name} itself"


@pytest.mark.parametrize("owner", EXPORTED, ids=lambda owner: owner.__name__)
def test_methods_of_exported_classes_have_docstrings(owner):
    """Their own, or that of the method they stand for."""
    own = {name: value for name, value in vars(owner).items() if not name.startswith("_")}
    functions = {
        name: value
        for name, value in own.items()
        if (inspect.isfunction(value) and value.__name__ == name)
        or isinstance(value, property | classmethod | staticmethod)
    }
    silent = [name for name in functions if not inspect.getdoc(getattr(owner, name))]
    assert not silent, f"{owner.__name__} does not say what they do: {silent}"
