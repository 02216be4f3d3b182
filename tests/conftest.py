import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scikit-learn: or a check is skipped

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)
