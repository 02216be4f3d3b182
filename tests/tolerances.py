"""How close is close: the one place for tolerances."""

EXACT = 1e-10  # the same mathematics along another path, float64
SINGLE = 1e-6  # kernel values computed in float32
KERNEL = 1e-12  # kernel values against their definition, float64
