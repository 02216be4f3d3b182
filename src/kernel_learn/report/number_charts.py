"""The pictures of a report on numbers: its facts, drawn by ``kernel_learn.inspection``."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.inspection.drawing import Axes, bar_height, draw_reliability, printable
from kernel_learn.inspection.number_drawing import (
    draw_agreement,
    draw_errors,
    draw_ranges,
    draw_residuals,
)
from kernel_learn.inspection.svg import draw_svg
from kernel_learn.report.data_tables import table_id
from kernel_learn.report.number_tables import range_of
from kernel_learn.report.number_verdict import show
from kernel_learn.report.placing import Facts
from kernel_learn.tables.number_methods import MEAN


def draw_number_charts(facts: Facts, leaderboard: Facts | None) -> dict[str, str | None]:
    """Every picture of numbers; of new rows where there are some."""
    found, is_new = facts.get("new_numbers") or facts["numbers"], bool(facts.get("new_numbers"))
    coverage = found["coverage"]
    return {
        "agreement": draw_points("agreement", found, is_new=is_new),
        "residuals": draw_points("residuals", found, is_new=is_new),
        "ranges": draw_range_bars("ranges", found),
        "coverage": draw_coverage_line("coverage", coverage) if coverage else None,
        "leaderboard": draw_board("leaderboard", leaderboard) if leaderboard else None,
    }


def draw_points(name: str, found: Facts, *, is_new: bool) -> str:
    """Predicted against true values, or residuals; of each point its row and both values."""
    truth, said, rows = np.array(found["points"], dtype=float).T
    label = "Predicted against true values"
    if name == "residuals":
        label = "Errors by predicted value"

    def draw(ax: Axes) -> None:
        paint = draw_residuals if name == "residuals" else draw_agreement
        word = "new row" if is_new else "row"
        paint(ax, truth, said, new=is_new).set_urls(
            [
                f"{word} {row:.0f}: true {show(t)}, predicted {show(s)}"
                for t, s, row in zip(truth, said, rows, strict=True)
            ]
        )

    height = 3.8 if name == "agreement" else 3.0
    return draw_svg(draw, label, name, height, described_by=table_id(name))


def draw_range_bars(name: str, found: Facts) -> str:
    """Errors in ranges of the target."""
    ranges = found["ranges"]

    def draw(ax: Axes) -> None:
        rmse, bias = (np.array([own[key] for own in ranges]) for key in ("rmse", "bias"))
        points = draw_ranges(ax, [range_of(own) for own in ranges], rmse, bias, found["rmse"])
        points.set_urls(
            [
                f"{range_of(own)}: {own['n']} rows, RMSE {show(own['rmse'])}, "
                f"mean error {show(own['bias'])}"
                for own in ranges
            ]
        )

    height = bar_height(len(ranges)) + 0.2
    label = "Errors by range of the target"
    return draw_svg(draw, label, name, height, described_by=table_id(name))


def draw_coverage_line(name: str, coverage: Sequence[Facts]) -> str:
    """How often intervals hold the truth against how often they should."""

    def draw(ax: Axes) -> None:
        keys = ("asked", "found", "low", "high")
        asked, held, low, high = (np.array([own[key] for own in coverage]) for key in keys)
        names = ("coverage that was asked for", "share of values inside")
        points = draw_reliability(ax, asked, held, low, high, names=names)
        words = "asked {:.0f} %, found {:.1f} %, mean width {}"
        points.set_urls(
            [
                words.format(100 * own["asked"], 100 * own["found"], show(own["width"]))
                for own in coverage
            ]
        )

    label = "Share of values inside intervals by the coverage asked for"
    return draw_svg(draw, label, name, 3.2, described_by=table_id(name))


def draw_board(name: str, leaderboard: Facts) -> str:
    """RMSE with their intervals; the mean would squeeze all others and is in the table alone."""
    rows = [row for row in leaderboard["rows"] if not row["failure"] and row["method"] != MEAN]
    errors, low, high = (
        np.array([np.nan if row[key] is None else row[key] for row in rows], dtype=float)
        for key in ("rmse", "rmse_low", "rmse_high")
    )

    def draw(ax: Axes) -> None:
        points = draw_errors(ax, [row["method"] for row in rows], errors, low, high)
        ax.set_xlabel("RMSE")
        points.set_urls(
            [
                printable(f"{row['method']}: RMSE {show(row['rmse'])}, R2 {row['r2']:.3f}")
                for row in rows
            ]
        )

    label = "RMSE of each method with its interval"
    height = bar_height(len(rows)) + 0.3
    return draw_svg(draw, label, name, height, described_by=table_id(name))
