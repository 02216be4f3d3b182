"""What a notebook shows of an estimator: a few lines when it is fitted, a link to its page."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array

PACKAGE = Path(__file__).parents[1]
# In an installed package, and in a source tree.
FOLDERS = (PACKAGE / "pages", PACKAGE.parents[1] / "docs" / "methods")
MOST_SHOWN, LONGEST = 10, 300  # lines, and letters of one
FIGURES = {
    "n_features_in_": "columns",
    "n_components_": "features",
    "objective_": "objective",
    "gap_": "gap to its bound",
    "n_iter_": "steps",
}
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


@dataclass(frozen=True)
class Card:
    """A fitted model in a few kilobytes of HTML."""

    title: str
    sentences: Sequence[str]
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    address: str = ""  # of a page on it
    has_report: bool = False

    def html(self) -> str:
        """In the colours and letters of the notebook."""
        more = len(self.rows) - MOST_SHOWN
        link = f' <a href="{html.escape(self.address)}">what it does</a>' if self.address else ""
        parts = [f"<div><p><code>{html_text(self.title)}</code>{link}</p>"]
        parts += [f"<p>{html_text(text)}</p>" for text in self.sentences[:MOST_SHOWN]]
        if self.rows:
            names = "".join(f'<th scope="col">{html_text(name)}</th>' for name in self.head)
            head = f"<thead><tr>{names}</tr></thead>" if names else ""
            lines = ["".join(f"<td>{html_text(c)}</td>" for c in own) for own in self.rows]
            body = "".join(f"<tr>{line}</tr>" for line in lines[:MOST_SHOWN])
            parts.append(f"<table>{head}<tbody>{body}</tbody></table>")
        if more > 0:
            parts.append(f"<p>and {more} more</p>")
        if self.has_report:
            parts.append("<p>The whole report: <code>kernel_learn.report(model, X, y)</code></p>")
        return "".join(parts) + "</div>"


def html_text(text: str) -> str:
    """A text for HTML, cut where it is long."""
    return html.escape(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...")


def is_fitted(model: Any) -> bool:
    """Whether an estimator has learned something."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


class OwnPage:
    """A mixin for ``BaseEstimator``: a notebook shows what was found, and links to our page.

    Before the fit it shows scikit-learn's diagram.
    """

    _doc_link_module = "kernel_learn"
    _doc_link_template = "{address}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": page_address(type(self).__name__)}

    def _html_repr(self) -> str:
        if not is_fitted(self):
            return str(estimator_html_repr(self))
        return replace(self._card(), has_report=hasattr(self, "predict")).html()

    def _card(self) -> Card:
        """What was found: the plan in words, weights of kernels or figures of the solver."""
        plan, names = getattr(self, "plan_", None), getattr(self, "kernel_names_", ())
        sentences = [] if plan is None else [f"{str(plan)[:1].upper()}{str(plan)[1:]}."]
        head: Sequence[str] = ()
        rows = [
            (words, f"{value:.6g}")
            for name, words in FIGURES.items()
            if isinstance(value := getattr(self, name, None), int | float)
        ]
        if len(names) > 1:
            weights: Array = vars(self)["kernel_weights_"]
            pairs = sorted(zip(weights, names, strict=True), reverse=True)
            head, rows = ("weight", "kernel"), [(f"{own:.3f}", str(name)) for own, name in pairs]
        return Card(repr(self), sentences, head, rows, page_address(type(self).__name__))
