"""Heatmaps: a measure against two factors, and the cells that a search for patterns met.

Draws grids that are made. Computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import UsageError, counted
from henad_web.markup import short_text
from henad_web.plots.canvas import SEQUENCE, axis_text, drawn_on, write_levels_along, write_levels_up, write_notes
from henad_web.plots.lines import runs_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.analysis.heatmap import Heatmap
    from henad_web.analysis.tables import Axis
    from henad_web.results.search import SearchHistory

__all__ = ["draw_archive", "draw_heatmap"]

MOST_NUMBERED = 8
"""Cells along an axis up to which the number of each is written into it."""

MOST_LEVELS = 12
"""Levels that are written along an axis; of more, every second, third and so on."""

MOST_SHAPES = 2_500
"""Cells that a vector graphic draws one by one; more of them become a picture inside it."""

Floats = NDArray[np.float64]


def draw_heatmap(table: Heatmap, ax: Axes | None = None) -> Axes:
    """Draw a measure against two factors and return the axes; cells without a run stay grey.

    Levels stand side by side whatever their distance, unless they were cut into parts of equal width.

    Args:
        table: The grid.
        ax: Where to draw; a new figure when None.

    Raises:
        NeedsExtraError: matplotlib is not installed.
    """
    with drawn_on(ax) as axes:
        x_edges, y_edges = table.x_edges, table.y_edges
        label = f"{table.z_axis}, {table.kind}"
        _draw_cells(axes, _ends(x_edges, len(table.x)), _ends(y_edges, len(table.y)), table.center, label)
        if x_edges is None:
            shown = _shown(len(table.x))
            write_levels_along(axes, [table.x[place].item() for place in shown], shown, room=42)
        if y_edges is None:
            shown = _shown(len(table.y))
            write_levels_up(axes, [table.y[place].item() for place in shown], shown)
        if x_edges is None and y_edges is None and max(table.center.shape) <= MOST_NUMBERED:
            _write_numbers(axes, table.center)
        _name(axes, table.x_axis, table.y_axis)
        write_notes(axes, (runs_line(table.n[table.n > 0], "cell"), *table.lines))
        return axes


def draw_archive(search: SearchHistory, ax: Axes | None = None) -> Axes:
    """Draw how often a search for patterns met each cell and return the axes; cells that it never met stay grey.

    Args:
        search: A search with `axes`.
        ax: Where to draw; a new figure when None.

    Raises:
        UsageError: The axes are not known yet, or it looks for no patterns.
        NeedsExtraError: matplotlib is not installed.
    """
    if search.axes is None or search.settings.pse is None:
        raise UsageError("the axes of the search are not known: it looks for no patterns, or was told too little yet")
    ends = [np.linspace(axis.low, axis.high, axis.cells + 1) for axis in search.axes]
    hits = np.full((search.axes[1].cells, search.axes[0].cells), np.nan)
    for entry in search.archive:
        hits[entry.cell[1], entry.cell[0]] = entry.hits
    with drawn_on(ax) as axes:
        _draw_cells(axes, ends[0], ends[1], hits, "hits")
        columns = [axis.column for axis in search.settings.pse.axes]
        axes.set_xlabel(axis_text(columns[0]))
        axes.set_ylabel(axis_text(columns[1], 32))
        notes = [f"{len(search.archive):,} of {counted(hits.size, 'cell', grouped=True)} met"]
        if search.outside_count:
            outside = counted(search.outside_count, "evaluation", grouped=True)
            notes.append(f"{outside} outside of the axes, in the cells at their ends")
        write_notes(axes, notes)
        return axes


def _draw_cells(ax: Axes, x_ends: Floats, y_ends: Floats, cells: Floats, label: str) -> None:
    is_large = cells.size > MOST_SHAPES
    drawn = ax.pcolormesh(x_ends, y_ends, cells, cmap=SEQUENCE, rasterized=is_large)
    ax.set_facecolor("#e8e8e8")
    ax.grid(visible=False)
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label(axis_text(label, 32))
    bar.outline.set_linewidth(0.5)


def _write_numbers(ax: Axes, cells: Floats) -> None:
    finite = cells[np.isfinite(cells)]
    middle = (finite.min() + finite.max()) / 2 if len(finite) else 0.0
    for (y, x), value in np.ndenumerate(cells):
        if np.isfinite(value):
            colour = "black" if value > middle else "white"
            ax.text(x, y, short_text(float(f"{value:.3g}")), ha="center", va="center", color=colour, fontsize=7)


def _ends(edges: Floats | None, count: int) -> Floats:
    return np.arange(count + 1, dtype=np.float64) - 0.5 if edges is None else edges


def _shown(count: int) -> list[int]:
    return list(range(0, count, -(-count // MOST_LEVELS)))


def _name(ax: Axes, x_axis: Axis, y_axis: Axis) -> None:
    ax.set_xlabel(axis_text(x_axis))
    ax.set_ylabel(axis_text(y_axis, 32))
