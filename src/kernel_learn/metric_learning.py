"""Metric learners by the names the literature gives them, all of them with kernels.

``LMNN`` is ``kernel_learn.KernelLMNN``, and so on: the same classes, under shorter names.

>>> import kernel_learn as kl
>>> kl.metric_learning.LMNN is kl.KernelLMNN
True
"""

from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.lmnn import KernelLMNN as LMNN
from kernel_learn.estimators.mcml import KernelMCML as MCML
from kernel_learn.estimators.mmc import KernelMMC as MMC
from kernel_learn.estimators.nca import KernelNCA as NCA
from kernel_learn.estimators.pairs import PairClassifier
from kernel_learn.estimators.rca import KernelRCA as RCA
from kernel_learn.namespaces import list_only
from kernel_learn.presets import itml, pola

__all__ = ["LMNN", "MCML", "MMC", "NCA", "RCA", "InductiveKernel", "PairClassifier", "itml", "pola"]

__dir__ = list_only(__all__)
