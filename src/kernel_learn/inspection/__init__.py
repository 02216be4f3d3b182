"""Pictures of fitted estimators, by scikit-learn's convention for displays.

``from_estimator`` reads a fitted estimator (or a Pipeline, or a search that holds one) and draws;
``plot(ax=...)`` draws again; ``ax_`` and ``figure_`` are what was drawn on. Needs matplotlib
(``kernel-learn[plot]``), which is imported when the first picture is drawn. For confusion and
calibration scikit-learn has ``ConfusionMatrixDisplay`` and ``CalibrationDisplay``.
"""

from kernel_learn.inspection.convergence import ConvergenceDisplay
from kernel_learn.inspection.embedding import EmbeddingDisplay
from kernel_learn.inspection.gram import GramDisplay
from kernel_learn.inspection.members import MembersDisplay
from kernel_learn.inspection.regularization_path import RegularizationPathDisplay
from kernel_learn.inspection.relevance import RelevanceDisplay
from kernel_learn.inspection.weights import KernelWeightsDisplay
from kernel_learn.namespaces import list_only

__all__ = [
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "GramDisplay",
    "KernelWeightsDisplay",
    "MembersDisplay",
    "RegularizationPathDisplay",
    "RelevanceDisplay",
]

__dir__ = list_only(__all__)
