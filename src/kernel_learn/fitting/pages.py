"""The page of each estimator, to which its diagram in a notebook links."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# In an installed package, and in a source tree.
FOLDERS = (PACKAGE / "pages", PACKAGE.parents[1] / "docs" / "methods")
PAGES = {
    "AlignmentSubspace": "alignment_subspace",
    "ExpansionSVC": "expansion_svc",
    "FeatureScales": "feature_scales",
    "HSICSubspace": "hsic_subspace",
    "InductiveKernel": "inductive_kernel",
    "KernelClassifier": "kernel_classifier",
    "KernelDiscriminant": "kernel_discriminant",
    "KernelDiscriminantQR": "discriminant_qr",
    "KernelLMNN": "inductive_kernel",
    "KernelMCML": "inductive_kernel",
    "KernelMMC": "inductive_kernel",
    "KernelNCA": "inductive_kernel",
    "KernelOrthogonalCentroid": "orthogonal_centroid",
    "KernelPLS": "kernel_pls",
    "KernelPLSRegressor": "kernel_pls",
    "KernelRCA": "inductive_kernel",
    "KernelRegressor": "kernel_regressor",
    "MultiKernelSVC": "kernel_weights",
    "PairClassifier": "pair_classifier",
    "SubspaceSVC": "subspace_svc",
    "TableEncoder": "table_encoder",
}


def page_address(name: str) -> str:
    """The address of an estimator's page on this machine; empty if there is none."""
    for folder in FOLDERS:
        page = folder / f"{PAGES.get(name)}.md"
        if page.is_file():
            return page.as_uri()
    return ""


class OwnPage:
    """A mixin for ``BaseEstimator``: the link of ``_repr_html_`` leads to our page."""

    _doc_link_module = "kernel_learn"
    _doc_link_template = "{address}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": page_address(type(self).__name__)}
