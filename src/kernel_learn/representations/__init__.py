"""What a sample becomes: an exact Gram matrix, or moments of landmark features."""

from kernel_learn.representations.bank import GramBank, KernelBank, MomentBank
from kernel_learn.representations.base import Representation, Spectrum
from kernel_learn.representations.features import Features, FeatureSample
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.landmarks import Landmarks, select_landmarks
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import Plan, plan
from kernel_learn.representations.represent import build_features, plan_sample, represent
from kernel_learn.representations.represent_bank import represent_bank
from kernel_learn.representations.sources import Sample

__all__ = [
    "FeatureSample",
    "Features",
    "Gram",
    "GramBank",
    "KernelBank",
    "Landmarks",
    "MomentBank",
    "Moments",
    "Plan",
    "Representation",
    "Sample",
    "Spectrum",
    "build_features",
    "plan",
    "plan_sample",
    "represent",
    "represent_bank",
    "select_landmarks",
]
