"""The numbers behind each picture of a report on numbers, as tables."""

from kernel_learn.report.data_tables import DataTable, percents
from kernel_learn.report.number_verdict import show
from kernel_learn.report.placing import Facts


def number_tables(found: Facts | None, target: str) -> dict[str, DataTable]:
    """Tables of the pictures of numbers; ``found`` are the figures of the rows they show."""
    if not found:
        return {}
    tables = {
        "agreement": prediction_table(found),
        "residuals": residual_table(found),
        "ranges": range_table(found, target),
    }
    if found["coverage"]:
        tables["coverage"] = interval_table(found)
    return tables


def range_of(own: Facts) -> str:
    """``120 to 180``."""
    return f"{show(own['least'])} to {show(own['most'])}"


def prediction_table(found: Facts) -> DataTable:
    """Means of predicted and true values in ranges of the predicted ones."""
    lines = [
        [range_of(own), str(own["n"]), show(own["said"]), show(own["true"])]
        for own in found["bins"]
    ]
    columns = ["predicted", "rows", "mean predicted", "mean true"]
    return DataTable("Predicted and true values, by range of the predicted ones", columns, lines)


def residual_table(found: Facts) -> DataTable:
    """Errors in ranges of the predicted values."""
    lines = [
        [range_of(own), str(own["n"]), show(own["true"] - own["said"]), show(own["rmse"])]
        for own in found["bins"]
    ]
    columns = ["predicted", "rows", "mean of true minus predicted", "RMSE"]
    return DataTable("Errors by range of the predicted values", columns, lines)


def range_table(found: Facts, target: str) -> DataTable:
    """Errors in ranges of the true values."""
    lines = [
        [range_of(own), str(own["n"]), *(show(own[key]) for key in ("rmse", "mae", "bias"))]
        for own in found["ranges"]
    ]
    columns = [target, "rows", "RMSE", "MAE", "mean of predicted minus true"]
    return DataTable("Errors by range of the true values", columns, lines)


def interval_table(found: Facts) -> DataTable:
    """How often intervals held the true value, and how wide they are."""
    lines = [
        [
            f"{100 * own['asked']:.3g} %",
            *percents(own["found"], own["low"], own["high"]),
            show(own["width"]),
        ]
        for own in found["coverage"]
    ]
    columns = ["asked for", "held", "95 % from", "to", "mean width"]
    return DataTable("How often intervals held the true value", columns, lines)
