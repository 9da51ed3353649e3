"""One sweep of the page: starts it, gives it turns, and shows its events.

Owns the `SweepRun`. It knows the views it tells, none of their elements, and no timer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from board import Board
from chart import Chart
from controls import Controls
from download import Download
from gallery import Gallery
from pacing import BUDGET_MS, Pacing, StepWatch
from recorded import Recorded
from study import Study
from table import MOST_ROWS, Table
from wording import ended_text, slow_step_text

import henad_web as hw

__all__ = ["Session", "Views"]

REFRESH_S = 0.25
"""How often texts follow the sweep, and rows and chart while they are few; the board has a pace of its own."""

BUSY_S = 1.0
"""How often rows and chart follow a sweep of many short runs: laying a long table out takes longer than a frame."""

FEW_ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """What a sweep is shown on."""

    controls: Controls
    board: Board
    table: Table
    chart: Chart
    download: Download
    gallery: Gallery


class Session:
    """Drives at most one sweep at a time.

    `on_active` is called with whether a sweep runs, each time that changes.
    """

    def __init__(self, views: Views, clock: Callable[[], float], on_active: Callable[[bool], None]) -> None:
        self._views, self._clock, self._on_active = views, clock, on_active
        self.pacing = Pacing(clock, self._turn)
        self._run: hw.SweepRun | None = None
        self._study: Study | None = None
        self._opened: Recorded | None = None
        self._watch = StepWatch()
        self._due = self._rows_due = 0.0

    @property
    def active(self) -> bool:
        """Whether a sweep runs or is paused."""
        return self._run is not None

    def start(self, study: Study) -> None:
        """Start the sweep of `study`; a sweep that cannot start says why and leaves the page idle."""
        options = hw.SweepRunOptions.from_loaded(study.loaded)
        self._begin(study, None, lambda: hw.SweepRun.start(study.entry, study.loaded.spec, options=options))

    def go_on(self) -> None:
        """Run what the opened results lack, keeping their rows."""
        opened = self._opened
        if opened is not None and self._run is None:
            self._begin(opened.study, opened, lambda: hw.SweepRun.resume_files(opened.study.entry, opened.files))

    def show(self, opened: Recorded) -> None:
        """Show results that were opened, while no sweep runs."""
        views = self._views
        self._study, self._opened = opened.study, opened
        views.controls.clear_warnings()
        views.download.offer(opened.study.entry.id, opened.files)
        views.gallery.begin(opened.study)
        views.table.begin(opened.study, opened.results.reducer_columns)
        views.board.clear("Results were opened; no run is in progress.")
        self._add_rows(opened)
        self._show_runs()
        views.controls.show_state("ended", opened.sentence)
        views.controls.offer_rest(opened.can_go_on)

    def _add_rows(self, opened: Recorded) -> None:
        views = self._views
        views.table.note_earlier(max(0, len(opened.results.runs) - MOST_ROWS))
        for outcome in opened.newest(MOST_ROWS):
            views.table.add(outcome)
            views.gallery.add(outcome, dropped=False)

    def _begin(self, study: Study, opened: Recorded | None, start: Callable[[], hw.SweepRun]) -> None:
        views = self._views
        views.controls.clear_warnings()
        try:
            self._run = start()
        except hw.HenadError as error:
            views.controls.show_state("failed", f"The sweep could not start: {error}")
            return
        self._study, self._opened, self._watch = study, opened, StepWatch()
        self._due = self._rows_due = 0.0
        views.controls.offer_rest(False)
        views.download.clear()
        views.gallery.begin(study)
        views.table.begin(study, ())
        views.board.clear("Planning.")
        views.controls.show_active(True)
        views.controls.show_state("planning", "Planning: trying the first configs.")
        self._on_active(True)

    def pause(self) -> None:
        """Hold the sweep at its next slice."""
        if self._run is not None:
            self._run.pause()
            self._refresh()

    def resume(self) -> None:
        """Let a paused sweep go on."""
        if self._run is not None:
            self._run.resume()
            self._refresh()

    def abort(self) -> None:
        """End the sweep at its next slice; its files keep the runs finished so far."""
        if self._run is not None:
            self._run.abort()

    def _turn(self, passed_s: float, budget_s: float | None) -> None:
        run = self._run
        if run is None:
            return
        start = self._clock()
        run.update(passed_s, budget_s=budget_s)
        turn_ms = (self._clock() - start) * 1000
        while (event := run.try_recv()) is not None:
            self._show(event)
        if run.is_ended:
            self._end()
            return
        if budget_s is None:
            self._observe(run, turn_ms)
        self._views.board.draw_if_due(run.view)
        if self._clock() >= self._due:
            self._refresh()

    def _observe(self, run: hw.SweepRun, turn_ms: float) -> None:
        for active in run.progress().active_runs[:1]:
            self._watch.observe(active.run.run_id, active.tick, turn_ms)

    def _show(self, event: hw.SweepEvent) -> None:
        views = self._views
        match event:
            case hw.Planned(outline):
                if self._study is not None:
                    views.table.begin(self._study, outline.reducer_columns)
                if self._opened is not None:
                    self._add_rows(self._opened)
            case hw.Warned(warning):
                views.controls.add_warning(str(warning))
            case hw.RunFinished(outcome, dropped):
                views.table.add(outcome)
                views.gallery.add(outcome, dropped=dropped)
            case hw.Finished(record):
                self._finished(record)
            case hw.Failed(message):
                views.controls.show_state("failed", f"The sweep failed: {message}")

    def _finished(self, record: hw.SweepRecord) -> None:
        report, counts = record.report, record.report.counts
        planned = 0 if self._run is None else self._run.progress().runs_total
        aborted = report.end != "complete"
        sentence = ended_text(
            aborted=aborted, rows=counts.rows, failed=counts.failed, planned=planned, elapsed=report.elapsed
        )
        self._views.controls.show_state("aborted" if aborted else "ended", sentence, failed=counts.failed > 0)
        if self._study is not None and record.files:
            self._views.download.offer(self._study.entry.id, record.files)

    def _refresh(self) -> None:
        if self._run is None:
            return
        views, progress = self._views, self._run.progress()
        self._due = self._clock() + REFRESH_S
        views.controls.show_active(True, paused=self._run.is_paused)
        views.controls.show_progress(progress)
        if self._run.is_paused:
            views.controls.show_state("paused", "Paused. Resume goes on where the run stands.")
        elif progress.phase == "running":
            views.controls.show_state("running", "Running.")
        step_ms = self._watch.step_ms
        slow = "" if step_ms is None else slow_step_text(step_ms, BUDGET_MS)
        views.controls.show_pace(self.pacing.pace, slow)
        if self._clock() >= self._rows_due:
            self._rows_due = self._clock() + (REFRESH_S if views.table.row_count < FEW_ROWS else BUSY_S)
            self._show_runs()

    def _show_runs(self) -> None:
        views = self._views
        # The chart first: it asks for its size, which new rows would make the browser lay out anew.
        views.gallery.refresh()
        views.table.flush()
        views.table.choose(views.gallery.shown)

    def _end(self) -> None:
        run, views = self._run, self._views
        if run is None:
            return
        views.controls.show_progress(run.progress())
        self._show_runs()
        views.board.rest()
        run.close()
        self._run = None
        views.controls.show_active(False)
        self._on_active(False)
