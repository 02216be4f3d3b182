"""The gallery begins with what most readers came for; the rest follows by name."""

FIRST = [
    "plot_kernel_classifier.py",
    "plot_kernel_regressor.py",
    "plot_decision_surfaces.py",
    "plot_calibration.py",
    "plot_relevance.py",
    "plot_sensors.py",
    "plot_strings.py",
]


def order(name: str) -> tuple[int, str]:
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)
