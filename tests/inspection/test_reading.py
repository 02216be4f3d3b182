"""What a step calls its columns."""

from types import SimpleNamespace

import numpy as np

from kernel_learn.inspection.reading import FittedStep


def test_names_are_those_of_the_step_if_there_are_as_many():
    named = SimpleNamespace(feature_names_in_=np.array(["a", "b"], dtype=object))
    assert FittedStep(named, []).feature_names(2) == ["a", "b"]
    assert FittedStep(named, []).feature_names(3) == ["x0", "x1", "x2"]
    before = SimpleNamespace(get_feature_names_out=lambda: np.array(["pca0", "pca1"]))
    assert FittedStep(SimpleNamespace(), [before]).feature_names(2) == ["pca0", "pca1"]
    assert FittedStep(named, [before]).feature_names(2) == ["a", "b"]
    assert FittedStep(SimpleNamespace(), [SimpleNamespace()]).feature_names(1) == ["x0"]
