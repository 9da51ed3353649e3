"""Scenario discovery: a box of factors in which a condition holds, each side as a share of the factor's range.

Draws the boxes that were found. Computes nothing but shares of ranges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from henad_web.markup import short_text
from henad_web.plots.canvas import PALETTE, axis_text, drawn_on, shortened, write_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.prim import PrimBox, PrimBoxes

__all__ = ["draw_boxes"]

LONGEST_TEXT = 44
"""Letters of the limits, or of the names, that are written on a bar, which has room for `_ROOM`."""

_ROOM = 60


def draw_boxes(table: PrimBoxes, ax: Axes | None = None, *, box: int | None = None) -> Axes:
    """Draw the limits of one box, a bar a factor that it restricts, and return the axes.

    A bar goes from the least to the largest value that is within; its factor's range is what all runs have. Of names
    the bar is as long as the share of them that is within.

    Args:
        table: The boxes.
        ax: Where to draw; a new figure when None.
        box: Number of the box, from 0; the one that is chosen when None.

    Raises:
        UsageError: There is no such box.
        NeedsExtraError: matplotlib is not installed.
    """
    number = table.chosen if box is None else box
    shown = table.box_at(number)
    with drawn_on(ax, height=1.7 + 0.32 * max(1, len(shown.factors))) as axes:
        for row, name in enumerate(shown.factors):
            _draw_factor(axes, table, shown, row, table.factors.index(name))
        axes.set_yticks(range(len(shown.factors)), labels=[shortened(axis.label) for axis in shown.axes])
        axes.set_ylim(max(1, len(shown.factors)) - 0.4, -0.6)
        axes.set_xlim(-0.02, 1.02)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(axis_text("share of the range of the factor"))
        axes.set_title(axis_text(table.axis, 60), loc="left")
        write_notes(axes, _lines(table, shown, number))
        return axes


def _draw_factor(ax: Axes, table: PrimBoxes, shown: PrimBox, row: int, place: int) -> None:
    ax.barh([row], [1.0], height=0.62, color="#e4e4e4")
    names, every = shown.values[row], table.values[place][0]
    if every:
        start, end, text = 0.0, len(names) / len(every), ", ".join(names)
    else:
        low, high = table.low[0, place], table.high[0, place]
        start, end = ((value - low) / (high - low) for value in (shown.low[row], shown.high[row]))
        text = f"{short_text(float(shown.low[row]))} to {short_text(float(shown.high[row]))}"
    ax.barh([row], [end - start], left=[start], height=0.62, color=PALETTE[5])
    written = shortened(text, LONGEST_TEXT)
    half = len(written) / _ROOM / 2
    ax.text(min(max((start + end) / 2, half), 1.0 - half), row, written, ha="center", va="center", fontsize=8)


def _lines(table: PrimBoxes, shown: PrimBox, number: int) -> tuple[str, ...]:
    last = len(table.runs) - 1
    runs = f"{int(table.of_interest[number]):,} of its {int(table.runs[number]):,} runs are of interest"
    shares = f"coverage {shown.coverage:.3g}, density {shown.density:.3g}, mass {shown.mass:.3g}"
    unsure = [
        f"{axis.label} {end} {chance:.2g}"
        for axis, ends in zip(shown.axes, zip(shown.qp_low, shown.qp_high, strict=True), strict=True)
        for end, chance in zip(("low", "high"), ends, strict=True)
        if np.isfinite(chance)
    ]
    limits = (f"quasi-p of limits: {', '.join(unsure)}",) if unsure else ()
    restricted = () if shown.factors else ("no factor is restricted",)
    return (f"box {number % (last + 1)} of {last}: {shares}; {runs}", *restricted, *limits, *table.lines)
