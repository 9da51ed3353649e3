"""What factors do, and how two groups differ: bars and points with their intervals.

Draws tables of sensitivities, comparisons and boxes. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from henad_web.analysis.main_effects import MainEffects
from henad_web.analysis.morris import MorrisEffects
from henad_web.analysis.regression import RegressionMeasures
from henad_web.analysis.sobol import SobolIndices
from henad_web.errors import counted
from henad_web.markup import short_text
from henad_web.plots.canvas import NEUTRAL, PALETTE, axis_text, draw_legend, drawn_on, shortened, write_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.compare import Comparison

__all__ = ["MOST_FACTORS", "Sensitivities", "draw_comparison", "draw_sensitivity"]

MOST_FACTORS = 30
"""Factors that are drawn; of more, those with the largest first measure."""

Floats = NDArray[np.float64]

Sensitivities: TypeAlias = SobolIndices | MorrisEffects | RegressionMeasures | MainEffects
"""What a question for sensitivities may be answered by."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Measure:
    """One measure of every factor: its name, its values, and its interval where it has one; each ``(factors,)``."""

    label: str
    values: Floats
    low: Floats | None = None
    high: Floats | None = None


def draw_sensitivity(table: Sensitivities, ax: Axes | None = None) -> Axes:
    """Draw what each factor does, a bar a measure, and return the axes.

    Args:
        table: The sensitivities.
        ax: Where to draw; a new figure when None.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    measures, label = _measures_of(table)
    size = np.nan_to_num(np.abs(measures[0].values), nan=-1.0)
    shown = np.sort(np.argsort(-size, kind="stable")[:MOST_FACTORS])
    bars = len(shown) * (len(measures) + 0.6)
    height = 1.4 + bars * min(0.17, max(0.09, 4.0 / bars))
    with drawn_on(ax, height=height) as axes:
        for position, measure in enumerate(measures):
            _draw_measure(axes, measure, shown, position, len(measures))
        names = [shortened(table.axes[factor].label) for factor in shown.tolist()]
        axes.set_yticks(range(len(shown)), labels=names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.set_xlabel(axis_text(label))
        draw_legend(axes, "", len(measures))
        left = len(size) - len(shown)
        more = (f"{counted(left, 'factor', grouped=True)} with less of {measures[0].label} not drawn",) if left else ()
        write_notes(axes, (*table.lines, *more), ends="error bars")
        return axes


def draw_comparison(table: Comparison, ax: Axes | None = None) -> Axes:
    """Draw two groups, each as mean and standard deviation, and beside them their difference with its interval.

    The difference stands on an axis of its own, at the right, whose 0 is at the mean of the second group.

    Args:
        table: The comparison.
        ax: Where to draw; a new figure when None.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    with drawn_on(ax) as axes:
        groups = (table.a, table.b)
        for place, (group, colour) in enumerate(zip(groups, PALETTE, strict=False)):
            spread = None if np.isnan(group.sd) else [group.sd]
            axes.errorbar([place], [group.mean], yerr=spread, fmt="o", color=colour, elinewidth=1.0)
        base = table.b.mean
        axes.axhline(base, color=NEUTRAL, linewidth=0.8, linestyle=":")
        ends = None if np.isnan(table.low) else [[table.difference - table.low], [table.high - table.difference]]
        axes.errorbar([2], [base + table.difference], yerr=ends, fmt="D", color="black", elinewidth=1.5)
        labels = [
            "\n".join([*(shortened(each, 24) for each in group.shared), counted(group.n, "run", grouped=True)])
            for group in groups
        ]
        axes.set_xticks(range(3), labels=[*labels, "difference\nof means"])
        axes.set_xlim(-0.5, 2.5)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(axis_text(table.y_axis, 32))
        beside = axes.secondary_yaxis("right", functions=(partial(_moved, by=-base), partial(_moved, by=base)))
        beside.set_ylabel("difference")
        found = (
            f"difference {short_text(table.difference)}, interval {short_text(table.low)} to {short_text(table.high)}"
        )
        tested = f"first above second in {table.a12:.0%} of pairs, p = {table.p:.2g} by Mann and Whitney"
        shown = "error bars of groups: one standard deviation"
        write_notes(
            axes,
            (found, tested, shown, *table.left_out.lines(), table.interval_line),
            ends="error bar of the difference",
        )
        return axes


def _moved(values: ArrayLike, *, by: float) -> ArrayLike:
    return np.asarray(values, np.float64) + by


def _measures_of(table: Sensitivities) -> tuple[Sequence[_Measure], str]:
    """Return what is drawn of `table`, and what the axis is called."""
    if isinstance(table, SobolIndices):
        first = _Measure(label="alone (S1)", values=table.s1, low=table.s1_low, high=table.s1_high)
        total = _Measure(label="in all (ST)", values=table.st, low=table.st_low, high=table.st_high)
        return (first, total), f"share of the variance of {table.axis}"
    if isinstance(table, MainEffects):
        shares = (_Measure(label="alone (S1)", values=table.s1), _Measure(label="in all (ST)", values=table.st))
        return shares, f"share of the variance of {table.axis}"
    if isinstance(table, MorrisEffects):
        size = _Measure(
            label="size (\N{GREEK SMALL LETTER MU}*)",
            values=table.mu_star,
            low=table.mu_star_low,
            high=table.mu_star_high,
        )
        return (
            size,
            _Measure(label="spread (\N{GREEK SMALL LETTER SIGMA})", values=table.sigma),
        ), f"elementary effects on {table.axis}"
    linear = _Measure(label="linear (SRC)", values=table.src, low=table.src_low, high=table.src_high)
    ranked = (_Measure(label="of ranks (SRRC)", values=table.srrc), _Measure(label="partial (PRCC)", values=table.prcc))
    return (linear, *ranked), f"coefficients for {table.axis}"


def _draw_measure(ax: Axes, measure: _Measure, shown: NDArray[np.int64], position: int, count: int) -> None:
    thickness = 0.8 / count
    at = np.arange(len(shown)) + (position - (count - 1) / 2) * thickness
    values = measure.values[shown]
    ax.barh(at, np.nan_to_num(values), height=0.9 * thickness, color=PALETTE[position], label=measure.label)
    if measure.low is None or measure.high is None:
        return
    low, high = measure.low[shown], measure.high[shown]
    has_interval = np.isfinite(low) & np.isfinite(high)
    ends = np.maximum([values - low, high - values], 0.0)[:, has_interval]
    ax.errorbar(values[has_interval], at[has_interval], xerr=ends, fmt="none", ecolor="black", elinewidth=0.9)
