"""What a search came to: how its best got better, and its front.

Draws what a search read back tells. Computes nothing but the best so far.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import UsageError, counted
from henad_web.explore.columns import EVALUATION_OBJECTIVES, each_column
from henad_web.plots.canvas import PALETTE, axis_text, draw_legend, drawn_on, write_notes
from henad_web.plots.grids import draw_archive
from henad_web.wording import objective_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from henad_web.results.search import SearchHistory

__all__ = ["draw_search"]


def draw_search(search: SearchHistory, ax: Axes | None = None) -> Axes:
    """Draw what a search came to and return the axes: its best batch by batch, its front, or the cells that it met.

    Args:
        search: The search.
        ax: Where to draw; a new figure when None.

    Raises:
        UsageError: It was told too little to be drawn.
        NeedsExtraError: matplotlib is not installed.
    """
    if search.settings.pse is not None:
        return draw_archive(search, ax)
    if not search.batches:
        raise UsageError("the search was told no batch yet; there is nothing to draw")
    return _draw_front(search, ax) if search.settings.objectives else _draw_best(search, ax)


def _draw_best(search: SearchHistory, ax: Axes | None) -> Axes:
    objective = search.settings.all_objectives[0]
    told = search.evaluations[EVALUATION_OBJECTIVES[0]]
    with drawn_on(ax) as axes:
        axes.plot(np.arange(1, len(told) + 1), told, ".", color="#b5b5b5", markersize=4, label="candidates")
        ends = [batch.evaluations for batch in search.batches]
        best = [_finite(batch.best_objective) for batch in search.batches]
        marker = "o" if len(ends) == 1 else ""
        axes.plot(ends, best, color=PALETTE[0], drawstyle="steps-post", marker=marker, label="leader of the ranking")
        axes.set_xlabel("evaluations")
        axes.set_ylabel(axis_text(f"{objective.column}, {objective.aggregate}", 32))
        draw_legend(axes, "", 2)
        write_notes(axes, _told_lines(search))
        return axes


def _draw_front(search: SearchHistory, ax: Axes | None) -> Axes:
    objectives = search.settings.objectives
    names = each_column(EVALUATION_OBJECTIVES[1], search.settings.watched_columns)
    told = [search.evaluations[name] for name in names[:2]]
    with drawn_on(ax) as axes:
        axes.plot(*told, ".", color="#b5b5b5", markersize=4, label="candidates")
        front = np.array(sorted(member.objectives[:2] for member in search.front), np.float64).reshape(-1, 2)
        front[~np.isfinite(front)] = np.nan
        axes.plot(front[:, 0], front[:, 1], "o", color=PALETTE[0], label="front")
        along, up = (f"{each.column}, {each.aggregate} ({each.goal})" for each in objectives[:2])
        axes.set_xlabel(axis_text(along, 32))
        axes.set_ylabel(axis_text(up, 32))
        draw_legend(axes, "", 2)
        more = (f"the first two of {len(objectives)} objectives",) if len(objectives) > 2 else ()
        write_notes(axes, (*_told_lines(search), *more))
        return axes


def _told_lines(search: SearchHistory) -> tuple[str, ...]:
    size = counted(len(search.evaluations), "evaluation", grouped=True)
    goals = ", ".join(map(objective_text, search.settings.all_objectives))
    without = int(np.count_nonzero(~np.isfinite(search.evaluations[_first_objective(search)])))
    left_out = (f"{counted(without, 'evaluation', grouped=True)} without a finite value: not drawn",) if without else ()
    return (f"{search.settings.algorithm}: {goals}; {size}", *left_out)


def _first_objective(search: SearchHistory) -> str:
    if search.settings.objectives:
        return each_column(EVALUATION_OBJECTIVES[1], search.settings.watched_columns)[0]
    return EVALUATION_OBJECTIVES[0]


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else math.nan
