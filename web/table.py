"""The table of finished runs, newest first.

Owns its elements and which run is chosen. Rows are added in batches, and only the newest stay in the page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from dom import Element, Event, by_id, drop_last, enclosing, find, reveal, write
from handlers import listen
from rows import Columns, head_markup, row_markup
from study import Study

from henad_web.explore.outcomes import RunOutcome

__all__ = ["MOST_ROWS", "Table"]

MOST_ROWS = 200
"""Rows kept in the page: enough to look around in, few enough that layout stays within a frame."""


class Table:
    """Shows finished runs; `on_choose` is called with the run id of a row that is chosen."""

    def __init__(self, on_choose: Callable[[int], None]) -> None:
        self._on_choose = on_choose
        self._head, self._body = by_id("rows-head"), by_id("rows-body")
        self._count, self._empty = by_id("rows-count"), by_id("rows-empty")
        self._study: Study | None = None
        self._columns = Columns((), ())
        self._waiting: deque[RunOutcome] = deque(maxlen=MOST_ROWS)
        self._seen = 0
        self._shown = 0
        self._chosen: int | None = None
        self._earlier: set[int] = set()
        listen(self._body, "click", self._clicked)

    @property
    def row_count(self) -> int:
        """Rows in the page."""
        return self._shown

    def begin(self, study: Study, reducer_columns: tuple[str, ...]) -> None:
        """Empty the table and give it the columns of `study`."""
        self._study, self._columns = study, Columns.of(study, reducer_columns)
        self._waiting.clear()
        self._earlier.clear()
        self._seen = self._shown = 0
        self._chosen = None
        self._head.innerHTML = head_markup(self._columns)
        self._body.replaceChildren()
        self.flush()

    def show_earlier(self, outcomes: Sequence[RunOutcome], count: int) -> None:
        """Show `outcomes`, the last of `count` runs that the files hold from before."""
        self._waiting.extend(outcomes)
        self._seen += count
        self.flush()
        self._earlier = {outcome.run.run_id for outcome in outcomes}

    def add(self, outcome: RunOutcome) -> None:
        """Take a finished run; it appears with the next `flush`, and one from before that was run again goes."""
        run_id = outcome.run.run_id
        if run_id in self._earlier:
            self._earlier.discard(run_id)
            self._remove(run_id)
        self._waiting.append(outcome)
        self._seen += 1

    def _remove(self, run_id: int) -> None:
        row = self._row(run_id)
        if row is not None:
            row.remove()
            self._shown -= 1
            self._chosen = None if run_id == self._chosen else self._chosen

    def _row(self, run_id: int) -> Element | None:
        return find(self._body, f'[data-run="{run_id}"]')

    def flush(self) -> None:
        """Put the runs taken since the last flush into the page, with one change of the document."""
        reveal(self._empty, not self._seen)
        if self._study is None or not self._waiting:
            write(self._count, self._count_text())
            return
        rows = [row_markup(outcome, self._study, self._columns) for outcome in reversed(self._waiting)]
        self._waiting.clear()
        self._body.insertAdjacentHTML("afterbegin", "".join(rows))
        self._shown += len(rows)
        while self._shown > MOST_ROWS:
            drop_last(self._body)
            self._shown -= 1
        write(self._count, self._count_text())

    def choose(self, run_id: int | None) -> None:
        """Mark the row of `run_id` as the one whose series is shown."""
        if run_id == self._chosen:
            return
        for other, current in ((self._chosen, False), (run_id, True)):
            row = None if other is None else self._row(other)
            if row is not None and current:
                row.setAttribute("aria-current", "true")
            elif row is not None:
                row.removeAttribute("aria-current")
        self._chosen = run_id

    def _count_text(self) -> str:
        if self._seen > MOST_ROWS:
            return f"newest {MOST_ROWS} of {self._seen:,}; the files hold all"
        return f"{self._seen:,}" if self._seen else ""

    def _clicked(self, event: Event) -> None:
        row = enclosing(event, "tr[data-run]")
        if row is not None:
            self._on_choose(int(row.dataset.run))
