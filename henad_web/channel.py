"""The events of a sweep on their way to the host, and the counts the host reads beside them.

Events are never lost and keep their order; counts are one reference swapped whole, so reading needs no lock. The side
that pumps writes, the host reads. Owns the series budget of the events and the wake callback.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.errors import describe
from henad_web.explore.outcomes import RunOutcome, Series
from henad_web.explore.warnings import PlanWarning
from henad_web.model.faults import FAULTS
from henad_web.output.record import SweepEnd, SweepRecord
from henad_web.resume.merging import MissingRuns
from henad_web.resume.provenance import ProvenanceWarning
from henad_web.run.lanes import LaneNotice

if TYPE_CHECKING:
    from henad_web.run.control import Clock
    from henad_web.run.outline import SweepOutline
    from henad_web.search.update import SearchUpdate

__all__ = [
    "Counters",
    "Failed",
    "Finished",
    "OutputNotice",
    "OutputPaused",
    "Planned",
    "RunFinished",
    "SearchBatchTold",
    "SweepChannel",
    "SweepEvent",
    "SweepPhase",
    "SweepWarning",
    "WakeFailed",
    "Warned",
]


class SweepPhase(StrEnum):
    """Stage a sweep has reached."""

    PLANNING = "planning"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WakeFailed:
    """The wake callback raised and is called no more."""

    error: str

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return f"the wake callback raised and is called no more: {self.error}"


@dataclass(frozen=True, slots=True)
class OutputPaused:
    """The results could not be written for want of room; the sweep is paused and nothing is lost.

    Attributes:
        error: What could not be written.
        looks_again_s: Seconds after which a blocking call tries again, and again; None where the host is to resume.
    """

    error: str
    _: KW_ONLY
    looks_again_s: float | None = None

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        if self.looks_again_s is None:
            return f"the sweep is paused, because {self.error}; make room and resume, or abort to keep what is written"
        return (
            f"the sweep waits, because {self.error}; it looks again every {self.looks_again_s:g} seconds and goes on "
            f"once there is room; Ctrl-C ends it"
        )


@dataclass(frozen=True, slots=True)
class OutputNotice:
    """Something found and dealt with in the place of the results, such as the lock of a dead writer."""

    text: str

    def __str__(self) -> str:
        """Return the notice."""
        return self.text


SweepWarning = PlanWarning | WakeFailed | OutputPaused | OutputNotice | LaneNotice | MissingRuns | ProvenanceWarning


@dataclass(frozen=True, slots=True)
class Planned:
    """The sweep is planned and probed; its runs start."""

    outline: SweepOutline


@dataclass(frozen=True, slots=True)
class Warned:
    """The sweep still runs, but perhaps not as meant."""

    warning: SweepWarning

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return str(self.warning)


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run was written. Runs arrive in the order of the spec: plan order, or replicate by replicate for ``breadth``.

    Attributes:
        outcome: The run as written, with an empty series and no tables once the series budget is spent.
        series_dropped: Whether its series and tables were left out for that reason.
    """

    outcome: RunOutcome
    series_dropped: bool


@dataclass(frozen=True, slots=True)
class SearchBatchTold:
    """A search was told the evaluations of one batch, after the runs of the batch; its rows are written."""

    update: SearchUpdate


@dataclass(frozen=True, slots=True)
class Finished:
    """The sweep ran to its end or was aborted. Nothing follows."""

    record: SweepRecord


@dataclass(frozen=True, slots=True)
class Failed:
    """The sweep ended on its own error, outside every run, told with its causes. Nothing follows."""

    message: str

    def __str__(self) -> str:
        """Return the message."""
        return self.message


SweepEvent = Planned | Warned | RunFinished | SearchBatchTold | Finished | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Counts of a sweep as the pumping side last published them.

    Attributes:
        runs_total: Runs this sweep executes, the most there may be where they depend on outcomes; None until it is
            planned.
        runs_skipped: Runs kept from an earlier session.
        runs_done: Runs written.
        runs_failed: Written runs that failed.
        final_phase: `ENDED` or `FAILED` once the sweep is over, None before.
        end: How it ended, None before and after a failure.
        ended_at: Clock reading at its end, None before.
        fraction: Share done of opening or ending the sweep, 0 to 1; None while runs are under way and once over.
    """

    runs_total: int | None = None
    runs_skipped: int = 0
    runs_done: int = 0
    runs_failed: int = 0
    final_phase: SweepPhase | None = None
    end: SweepEnd | None = None
    ended_at: float | None = None
    fraction: float | None = None

    def with_run(self, is_failed: bool) -> Counters:
        """Return the counts with one more run written."""
        return Counters(
            runs_total=self.runs_total,
            runs_skipped=self.runs_skipped,
            runs_done=self.runs_done + 1,
            runs_failed=self.runs_failed + is_failed,
            final_phase=self.final_phase,
            end=self.end,
            ended_at=self.ended_at,
            fraction=self.fraction,
        )


class SweepChannel:
    """Sends a sweep's events and publishes its counts.

    Args:
        series_budget: Bytes of series and of models' own tables that the events carry. The first run that would pass
            it and every later one arrive without.
        wake: Called once after each event; dropped with a warning once it raises.
        clock: Monotonic clock.
    """

    def __init__(self, *, series_budget: int, wake: Callable[[], None] | None, clock: Clock) -> None:
        self.counters = Counters()
        self.listener: Callable[[], None] | None = None
        self._events: deque[SweepEvent] = deque()
        self._warnings: list[SweepWarning] = []
        self._series_budget, self._wake, self._clock = series_budget, wake, clock
        self._series_bytes = 0
        self._is_budget_spent = False

    @property
    def warnings(self) -> tuple[SweepWarning, ...]:
        """Every warning sent so far, in order; one that is sent again and again, as of a full disk, stands once."""
        return tuple(self._warnings)

    def try_recv(self) -> SweepEvent | None:
        """Return the next event, None when none is waiting."""
        try:
            return self._events.popleft()
        except IndexError:
            return None

    def planned(self, outline: SweepOutline) -> None:
        """Send the outline and publish how many runs there are to do."""
        self._publish(runs_total=outline.pending, runs_skipped=outline.skipped, fraction=None)
        self._send(Planned(outline))

    def advanced(self, fraction: float) -> None:
        """Publish the share done, 0 to 1, of opening or ending the sweep."""
        self._publish(fraction=fraction)

    def warned(self, warning: SweepWarning) -> None:
        """Send a warning."""
        self._keep(warning)
        self._send(Warned(warning))

    def run_committed(self, outcome: RunOutcome) -> None:
        """Send a written run, its series left out once the budget is spent."""
        self.counters = self.counters.with_run(outcome.status.is_failure)
        self._send(self._within_budget(outcome))

    def expecting(self, runs_total: int) -> None:
        """Publish how many runs there are to do, where a source has come to know of fewer."""
        if runs_total != self.counters.runs_total:
            self._publish(runs_total=runs_total)

    def batch_told(self, update: SearchUpdate) -> None:
        """Send what a search tells of a batch whose runs and rows are written."""
        self._send(SearchBatchTold(update))

    def finish(self, record: SweepRecord) -> None:
        """Send the record; nothing may be sent after it."""
        self._publish(final_phase=SweepPhase.ENDED, end=record.report.end, ended_at=self._clock(), fraction=None)
        self._send(Finished(record))

    def fail(self, error: BaseException) -> None:
        """Send `error` with its causes as the end; nothing may be sent after it."""
        self._publish(final_phase=SweepPhase.FAILED, ended_at=self._clock(), fraction=None)
        self._send(Failed(describe(error)))

    def _publish(self, **changes: object) -> None:
        self.counters = replace(self.counters, **changes)  # type: ignore[arg-type]

    def _within_budget(self, outcome: RunOutcome) -> RunFinished:
        size = outcome.byte_count
        self._is_budget_spent = self._is_budget_spent or self._series_bytes + size > self._series_budget
        if not self._is_budget_spent:
            self._series_bytes += size
            return RunFinished(outcome, series_dropped=False)
        emptied = replace(outcome, series=Series.empty(outcome.series.values.shape[1]), tables={})
        return RunFinished(emptied, series_dropped=len(outcome.series) > 0 or bool(outcome.tables))

    def _send(self, event: SweepEvent) -> None:
        self._events.append(event)
        self._call_wake(is_last=isinstance(event, (Finished, Failed)))
        if self.listener is not None:
            self.listener()

    def _call_wake(self, *, is_last: bool) -> None:
        wake = self._wake
        if wake is None:
            return
        if is_last:  # a callback mostly holds its handle: let go of it, so that both can be freed
            self._wake = None
        try:
            wake()
        except FAULTS as error:
            self._wake = None
            if not is_last:  # nothing follows the last event, not even this warning
                failed = WakeFailed(describe(error))
                self._keep(failed)
                self._events.append(Warned(failed))

    def _keep(self, warning: SweepWarning) -> None:
        if warning not in self._warnings[-1:]:
            self._warnings.append(warning)
