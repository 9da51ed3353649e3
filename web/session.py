"""One sweep of the page: starts it, gives it turns, and shows its events.

Owns the `SweepRun`. It knows the views it tells, none of their elements, and no timer. Views are told through a
`Showing`: a sweep goes its way, and frees the page at its end, whatever a view raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from board import Board
from controls import Controls
from download import Download
from gallery import Gallery
from handlers import Showing
from pacing import BUDGET_MS, Pace, Pacing, StepWatch
from recorded import Recorded
from study import Study
from table import Table
from wording import ended_text, gap_text, slow_step_text, state_text

import henad_web as hw
from henad_web.output.record import non_finite_line

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
        self._show = Showing()

    @property
    def active(self) -> bool:
        """Whether a sweep runs or is paused."""
        return self._run is not None

    def start(self, study: Study) -> None:
        """Start the sweep of `study`; a sweep that cannot start says why and leaves the page idle."""
        options = hw.SweepRunOptions.from_loaded(study.loaded)
        self._begin(study, None, lambda: hw.SweepRun.start(study.entry, study.loaded, options=options))

    def go_on(self) -> None:
        """Run what the opened results lack, keeping their rows."""
        opened = self._opened
        if opened is not None and self._run is None:
            self._begin(opened.study, opened, lambda: hw.SweepRun.resume_files(opened.study.entry, opened.files))

    def show(self, opened: Recorded) -> None:
        """Show results that were opened, while no sweep runs."""
        views, show = self._views, self._show
        self._study, self._opened = opened.study, opened
        show.begin()
        show(views.controls.clear_warnings)
        show(views.download.offer, opened.study.entry.id, opened.files)
        show(views.gallery.begin, opened.study)
        show(views.table.begin, opened.study, opened.results.reducer_columns)
        show(views.board.clear, "Results were opened; no run is in progress.")
        self._show_earlier(opened, len(opened.results.runs))
        self._show_runs()
        counts, planned = opened.results.counts, opened.results.expected_runs
        show(
            views.controls.show_recorded,
            rows=counts.rows,
            planned=planned,
            failed=counts.failed,
            is_most=opened.is_most,
        )
        show(views.controls.show_pace, Pace.FRAMES, "")
        show(views.controls.show_state, "ended", opened.sentence, failed=counts.failed > 0)
        for notice in opened.notices:
            show(views.controls.add_warning, notice)
        show(views.controls.offer_rest, opened.can_go_on)

    def _show_earlier(self, opened: Recorded, count: int) -> None:
        views, show = self._views, self._show
        show(views.table.show_earlier, opened.newest, count)
        for outcome in opened.newest:
            show(views.gallery.add, outcome, opened.why_empty)

    def _begin(self, study: Study, opened: Recorded | None, start: Callable[[], hw.SweepRun]) -> None:
        views, show = self._views, self._show
        show.begin()
        show(views.controls.clear_warnings)
        try:
            self._run = start()
        except hw.HenadError as error:
            show(views.controls.show_state, "failed", f"The sweep could not start: {error}")
            return
        self._study, self._opened, self._watch = study, opened, StepWatch()
        self._due = self._rows_due = 0.0
        show(views.controls.offer_rest, False)
        show(views.download.clear)
        show(views.gallery.begin, study)
        show(views.table.begin, study, ())
        show(views.board.clear, "Planning.")
        show(views.controls.show_active, True)
        show(views.controls.show_state, *state_text(planned=False, paused=False, held=False, fraction=None))
        show(self._on_active, True)

    def pause(self) -> None:
        """Hold the sweep at its next slice."""
        if self._run is not None:
            self._run.pause()
            self._refresh(self._run)

    def resume(self) -> None:
        """Let a paused sweep go on."""
        if self._run is not None:
            self._run.resume()
            self._refresh(self._run)

    def abort(self) -> None:
        """End the sweep at its next slice; its files keep the runs finished so far."""
        if self._run is not None:
            self._run.abort()

    def _turn(self, passed_s: float, budget_s: float | None) -> None:
        run = self._run
        if run is None:
            return
        start = self._clock()
        try:
            run.update(passed_s, budget_s=budget_s)
        except Exception:
            self._release()
            self._show(self._views.controls.show_state, "failed", "The sweep ended on a fault of the page.")
            raise
        turn_ms = (self._clock() - start) * 1000
        while (event := run.try_recv()) is not None:
            self._show_event(event, run.progress())
        if run.is_ended:
            self._end(run)
            return
        if budget_s is None:
            self._observe(run, turn_ms)
        self._show(self._views.board.draw_if_due, run.view)
        if self._clock() >= self._due:
            self._refresh(run)

    def _observe(self, run: hw.SweepRun, turn_ms: float) -> None:
        for active in run.progress().active_runs[:1]:
            self._watch.observe(active.run.run_id, active.tick, turn_ms)

    def _show_event(self, event: hw.SweepEvent, progress: hw.SweepProgress) -> None:
        views, show = self._views, self._show
        match event:
            case hw.Planned(outline):
                show(views.controls.show_layout, outline.layout)
                if self._study is not None:
                    show(views.table.begin, self._study, outline.reducer_columns)
                if self._opened is not None:
                    self._show_earlier(self._opened, outline.skipped)
            case hw.Warned(warning):
                show(views.controls.add_warning, str(warning))
            case hw.RunFinished(outcome, dropped):
                show(views.table.add, outcome)
                if dropped:
                    show(views.gallery.add, outcome, "series left out to save memory; series.csv has it.")
                else:
                    show(views.gallery.add, outcome)
            case hw.Finished(record):
                self._show_finished(record, progress)
            case hw.Failed(message):
                show(views.controls.show_state, "failed", f"The sweep failed: {message}")

    def _show_finished(self, record: hw.SweepRecord, progress: hw.SweepProgress) -> None:
        report, counts = record.report, record.report.counts
        aborted = report.end != "complete"
        sentence = ended_text(
            aborted=aborted,
            rows=counts.rows,
            failed=counts.failed,
            planned=progress.runs_total,
            is_most=progress.total_is_most,
            elapsed=report.elapsed,
            kept_files=bool(record.files),
        )
        phase = "aborted" if aborted else "ended"
        self._show(self._views.controls.show_state, phase, sentence, failed=counts.failed > 0)
        line = non_finite_line(counts)
        if line is not None:
            self._show(self._views.controls.add_warning, gap_text(line))
        if self._study is not None and record.files:
            self._show(self._views.download.offer, self._study.entry.id, record.files)

    def _refresh(self, run: hw.SweepRun) -> None:
        views, show, progress = self._views, self._show, run.progress()
        self._due = self._clock() + REFRESH_S
        show(views.controls.show_active, True, paused=run.is_paused)
        show(views.controls.show_progress, progress)
        state = state_text(
            planned=progress.is_planned, paused=run.is_paused, held=run.is_held, fraction=progress.fraction
        )
        show(views.controls.show_state, *state)
        step_ms = self._watch.step_ms
        slow = "" if step_ms is None else slow_step_text(step_ms, BUDGET_MS)
        show(views.controls.show_pace, self.pacing.pace, slow)
        if run.is_held or self._clock() >= self._rows_due:
            self._rows_due = self._clock() + (REFRESH_S if views.table.row_count < FEW_ROWS else BUSY_S)
            self._show_runs()

    def _show_runs(self) -> None:
        views, show = self._views, self._show
        # The chart first: it asks for its size, which new rows would make the browser lay out anew.
        show(views.gallery.refresh)
        show(views.table.flush)
        show(views.table.choose, views.gallery.shown)

    def _end(self, run: hw.SweepRun) -> None:
        views, show = self._views, self._show
        run.close()
        self._release()
        show(views.controls.show_progress, run.progress())
        self._show_runs()
        show(views.board.rest)

    def _release(self) -> None:
        self._run = None
        self._show(self._on_active, False)
        self._show(self._views.controls.show_active, False)
