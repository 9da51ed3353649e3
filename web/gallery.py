"""Which run's series the chart shows: the newest, or the one that was chosen.

Owns the series kept to look at, of the rows in the table and the chosen run, and the button that follows the newest.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from chart import Chart, Line, Picture
from dom import by_id, reveal
from handlers import listen
from study import Study
from table import MOST_ROWS

from henad_web.explore.outcomes import RunOutcome

__all__ = ["Gallery"]


class Gallery:
    """Keeps the newest outcomes and shows one; `on_shown` is called with its run id after each choice."""

    def __init__(self, chart: Chart, on_shown: Callable[[int | None], None]) -> None:
        self._chart, self._on_shown = chart, on_shown
        self._follow = by_id("follow")
        self._study: Study | None = None
        self._kept: OrderedDict[int, tuple[RunOutcome, str]] = OrderedDict()
        self._waiting: OrderedDict[int, tuple[RunOutcome, str]] = OrderedDict()
        self._chosen: int | None = None
        self.shown: int | None = None
        listen(self._follow, "click", lambda _event: self.choose(None))

    def begin(self, study: Study) -> None:
        """Forget the last sweep and get ready for runs of `study`."""
        self._study, self._chosen, self.shown = study, None, None
        self._kept.clear()
        self._waiting.clear()
        reveal(self._follow, False)
        self._chart.show(None, "The series of the newest finished run appears here.")

    def add(self, outcome: RunOutcome, why_empty: str = "no series was kept.") -> None:
        """Take a finished run, which can be shown from the next refresh on; `why_empty` is for one without series."""
        self._waiting[outcome.run.run_id] = (outcome, why_empty)
        if len(self._waiting) > MOST_ROWS:
            self._waiting.popitem(last=False)

    def choose(self, run_id: int | None) -> None:
        """Show run `run_id` from now on, or with None the newest."""
        if run_id is not None and run_id not in self._kept:
            return
        self._chosen = run_id
        reveal(self._follow, run_id is not None)
        self._show()
        self._on_shown(self.shown)

    def refresh(self) -> None:
        """Keep the runs taken since the last refresh in place of the oldest, as the table does, and show one."""
        for run_id, shown in self._waiting.items():
            if self._kept.pop(run_id, None) is not None and run_id == self.shown:
                self.shown = None  # it was run again: drawn anew
            self._kept[run_id] = shown
        self._waiting.clear()
        for run_id in list(self._kept)[:-MOST_ROWS]:
            if run_id != self._chosen:
                del self._kept[run_id]
        self._show()

    def _show(self) -> None:
        newest = next(reversed(self._kept), None)
        wanted = newest if self._chosen is None else self._chosen
        if wanted is None or wanted == self.shown:
            return
        self.shown = wanted
        self._draw(*self._kept[wanted])

    def _draw(self, outcome: RunOutcome, why_empty: str) -> None:
        study, series = self._study, outcome.series
        if study is None:
            return
        caption = f"Run {outcome.run.run_id}{self._levels(study, outcome)}"
        if not len(series):
            self._chart.show(None, f"{caption}: {why_empty}")
        else:
            stats = study.plan.schema.stats
            lines = tuple(
                Line(
                    label=label,
                    colour=stats[min(index, len(stats) - 1)].color,
                    values=series.values[:, index],
                )
                for index, label in enumerate(study.plan.schema.stat_labels)
            )
            self._chart.show(Picture(caption=caption, ticks=series.ticks, lines=lines))

    def _levels(self, study: Study, outcome: RunOutcome) -> str:
        levels = [f"{factor} {study.level(outcome.config, factor)}" for factor in study.factors]
        return f" · {', '.join(levels)} · replicate {outcome.run.rep}"
