"""What a sample becomes: exact Gram matrices, or moments of landmark features."""

from kernel_learn.namespaces import list_only
from kernel_learn.representations.base import Combined, Eigenpairs, Representation
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.gram import Gram, GramForm
from kernel_learn.representations.landmarks import Landmarks, select_landmarks
from kernel_learn.representations.moment_form import FeatureSample, MomentForm
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import Needs, Plan, Size, plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.price import Price
from kernel_learn.representations.represent import build_features, plan_source, represent
from kernel_learn.representations.sources import ArraySource, Source
from kernel_learn.representations.state import StreamState
from kernel_learn.representations.state_files import load_state, save_state
from kernel_learn.representations.summary import Summary
from kernel_learn.rows.block import Block

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
    "PooledSource",
    "Price",
    "Representation",
    "Size",
    "Source",
    "StreamState",
    "Summary",
    "build_features",
    "load_state",
    "plan",
    "plan_source",
    "represent",
    "save_state",
    "select_landmarks",
]

__dir__ = list_only(__all__)
