"""Curves with their intervals: responses against a factor, bands over time.

Draws what a table of curves holds, group after group. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import UsageError, counted
from henad_web.plots.canvas import (
    MARKERS,
    Colour,
    axis_text,
    draw_legend,
    drawn_on,
    group_colours,
    level_label,
    shortened,
    write_levels_along,
    write_notes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.bands import Bands
    from henad_web.analysis.curves import Curve, CurveTable
    from henad_web.analysis.response import Response

__all__ = ["draw_bands", "draw_response", "levels_along", "runs_line"]

MANY_LEVELS = 8
"""Levels that are all written below the axis; of more, matplotlib chooses."""

MOST_CURVES = 24
"""Curves of one figure; a legend of more would leave no room to what it explains."""

_WIDEST_DODGE = 0.6
"""Share of the room of a named level in which groups stand side by side."""

Floats = NDArray[np.float64]


def draw_response(table: Response, ax: Axes | None = None) -> Axes:
    """Draw a measure against a factor and return the axes.

    Numbers are lines with a band each; names, and yes and no, are points with error bars, groups side by side.

    Args:
        table: The response.
        ax: Where to draw; a new figure when None.

    Raises:
        UsageError: There are more than `MOST_CURVES` groups.
        NeedsExtraError: matplotlib is not installed.
    """
    curves, x = _curves(table), table.x
    with drawn_on(ax) as axes:
        if x.dtype.kind in "iuf":
            for curve, look in _looks(curves):
                _draw_curve(axes, x[curve.rows].astype(np.float64), table, curve, look)
            levels_along(axes, np.unique(x))
        else:
            _draw_named(axes, x, table, curves)
        _finish(axes, table, curves, "point", "bands" if x.dtype.kind in "iuf" else "error bars")
        return axes


def draw_bands(table: Bands, ax: Axes | None = None) -> Axes:
    """Draw a statistic over time, its center as a line and what is around it as a band, and return the axes.

    Args:
        table: The bands.
        ax: Where to draw; a new figure when None.

    Raises:
        UsageError: There are more than `MOST_CURVES` groups.
        NeedsExtraError: matplotlib is not installed.
    """
    curves, tick = _curves(table), table.tick
    with drawn_on(ax) as axes:
        for curve, look in _looks(curves):
            marker = look["marker"] if curve.rows.stop - curve.rows.start == 1 else ""
            _draw_curve(axes, tick[curve.rows].astype(np.float64), table, curve, {**look, "marker": marker})
        _finish(axes, table, curves, "tick")
        return axes


def levels_along(ax: Axes, levels: NDArray[Any]) -> None:
    """Let the x axis suit numeric `levels`, ascending: logarithmic where each is the same multiple of the last."""
    if _is_geometric(levels.astype(np.float64)):
        ax.set_xscale("log")
        if len(levels) <= MANY_LEVELS:
            write_levels_along(ax, levels.tolist(), levels.tolist())


def runs_line(n: NDArray[np.int64], what: str) -> str:
    """Return how many runs each `what` speaks of, such as ``n = 18 to 20 runs a point``."""
    if not len(n):
        return "no runs"
    least, most = int(n.min()), int(n.max())
    runs = counted(most, "run", grouped=True)
    return f"n = {runs} a {what}" if least == most else f"n = {least:,} to {runs} a {what}"


def _curves(table: CurveTable) -> list[Curve]:
    curves = list(table.curves())
    if len(curves) > MOST_CURVES:
        raise UsageError(
            f"the levels of {', '.join(table.by)} are {len(curves):,} curves, and a figure has {MOST_CURVES} at most; "
            "hold some of the levels, or draw a heatmap, whose bins cut them into parts"
        )
    return curves


def _looks(curves: Sequence[Curve]) -> list[tuple[Curve, dict[str, Any]]]:
    colours = group_colours(len(curves))
    return [
        (curve, {"color": colour, "marker": MARKERS[position % len(MARKERS)]})
        for position, (curve, colour) in enumerate(zip(curves, colours, strict=True))
    ]


def _draw_curve(ax: Axes, x: Floats, table: CurveTable, curve: Curve, look: Mapping[str, Any]) -> None:
    center, low, high = (column[curve.rows] for column in (table.center, table.low, table.high))
    ax.plot(x, center, label=_label(curve), zorder=3, **look)
    has_interval = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(x, low, high, where=has_interval.tolist(), color=look["color"], alpha=0.2, linewidth=0)
    # A band between one end and nothing has no width.
    beside = np.concatenate([[False], has_interval, [False]])
    alone = has_interval & ~beside[:-2] & ~beside[2:]
    if alone.any():
        _error_bars(ax, x[alone], center[alone], low[alone], high[alone], look["color"])


def _draw_named(ax: Axes, x: NDArray[Any], table: CurveTable, curves: Sequence[Curve]) -> None:
    names = list(dict.fromkeys(x.tolist()))
    places = {name: place for place, name in enumerate(names)}
    for position, (curve, look) in enumerate(_looks(curves)):
        offset = _WIDEST_DODGE * ((position + 0.5) / len(curves) - 0.5)
        at = np.array([places[name] + offset for name in x[curve.rows].tolist()], np.float64)
        center, low, high = (column[curve.rows] for column in (table.center, table.low, table.high))
        ax.plot(at, center, label=_label(curve), linestyle="none", zorder=3, **look)
        has_interval = np.isfinite(low) & np.isfinite(high)
        _error_bars(ax, at[has_interval], center[has_interval], low[has_interval], high[has_interval], look["color"])
    write_levels_along(ax, names, range(len(names)), room=44 if table.by else 60)
    ax.set_xlim(-0.5, max(0.5, len(names) - 0.5))
    ax.grid(visible=False, axis="x")


def _is_geometric(levels: Floats) -> bool:
    """Return whether each of three levels or more is the same multiple of the last, to a hundredth of it."""
    if len(levels) < 3 or levels[0] <= 0:
        return False
    steps = np.diff(np.log(levels))
    return bool(np.ptp(steps) < 0.01 * steps.mean())


def _error_bars(ax: Axes, x: Floats, center: Floats, low: Floats, high: Floats, colour: Colour) -> None:
    ends = np.maximum([center - low, high - center], 0.0)
    ax.errorbar(x, center, yerr=ends, fmt="none", ecolor=colour, elinewidth=1.0)


def _label(curve: Curve) -> str:
    return shortened(", ".join(map(level_label, curve.levels.values()))) if curve.levels else "_nolegend_"


def _finish(ax: Axes, table: CurveTable, curves: Sequence[Curve], what: str, ends: str = "bands") -> None:
    ax.set_xlabel(axis_text(table.x_axis))
    ax.set_ylabel(axis_text(f"{table.y_axis}, {table.kind}", 32))
    if table.by:
        title = ", ".join(str(axis) for axis in table.by_axes.values())
        draw_legend(ax, shortened(title), len(curves))
    write_notes(ax, (runs_line(table.n, what), *table.lines), ends=ends)
