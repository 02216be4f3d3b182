"""What a sample becomes: exact Gram matrices, or moments of landmark features."""

from kernel_learn.representations.base import Combined, Eigenpairs, Representation
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.gram import Gram, GramForm
from kernel_learn.representations.landmarks import Landmarks, select_landmarks
from kernel_learn.representations.moment_form import FeatureSample, MomentForm
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import Needs, Plan, Size, plan
from kernel_learn.representations.represent import build_features, plan_source, represent
from kernel_learn.representations.sources import ArraySource, Block, Source
from kernel_learn.representations.summary import Summary

__all__ = [
    "ArraySource",
    "Block",
    "Combined",
    "Eigenpairs",
    "FeatureMap",
    "FeatureSample",
    "Gram",
    "GramForm",
    "Landmarks",
    "MomentForm",
    "Moments",
    "Needs",
    "Plan",
    "Representation",
    "Size",
    "Source",
    "Summary",
    "build_features",
    "plan",
    "plan_source",
    "represent",
    "select_landmarks",
]
