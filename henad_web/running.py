"""The running stage of a sweep: runs handed to lanes, their outcomes written in order, a search asked and told.

Owns what is under way between a source of runs, the lanes and the writer. Does one bounded piece of work a pump; never
blocks and reads no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.output.record import SweepEnd
from henad_web.run.control import NOW, Answer
from henad_web.run.lanes import (
    BatchAdvanced,
    CommandAcknowledged,
    DeviceLost,
    LaneCommand,
    LaneNotice,
    LaneReport,
    Lanes,
    RunAdvanced,
    RunEnded,
    RunLost,
    RunStarted,
)
from henad_web.run.requests import ReorderBuffer, RunRequest

if TYPE_CHECKING:
    from henad_web.channel import SweepChannel
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.output.writer import ResultsWriter
    from henad_web.run.active_runs import ActiveRuns
    from henad_web.run.control import SweepControl
    from henad_web.run.outline import SweepOutline
    from henad_web.run.source import RunSource
    from henad_web.search.update import SearchUpdate

__all__ = ["RunningStage"]


class RunningStage:
    """Hands runs to lanes and writes their outcomes in the order they were handed out.

    Args:
        source: Where the runs come from.
        end_tick: The last tick of a run.
        outline: What the sweep set out to do.
        writer: What writes it, begun.
        lanes: What steps the runs.
        channel: Where events go.
        control: Pause, resume and abort.
        active_runs: Table of runs in progress.
    """

    def __init__(
        self,
        source: RunSource,
        end_tick: int,
        outline: SweepOutline,
        writer: ResultsWriter,
        lanes: Lanes,
        *,
        channel: SweepChannel,
        control: SweepControl,
        active_runs: ActiveRuns,
    ) -> None:
        self.outline, self.writer, self.lanes = outline, writer, lanes
        self._source, self._end_tick = source, end_tick
        self._channel, self._control, self._active_runs = channel, control, active_runs
        self._next_request: RunRequest | None = None
        self._finished: ReorderBuffer[RunOutcome] = ReorderBuffer()
        self._unwritten: RunOutcome | None = None
        self._untold: SearchUpdate | None = None
        self._writing: Iterator[None] | None = None
        self._told, self._unanswered = LaneCommand.RESUME, 0
        self._is_device_lost = False

    def pump(self, time_left_s: float | None) -> Answer | SweepEnd:
        """Write one finished run, or let the source or the lanes work; return how the batch ended once it has."""
        if self._write_one() or self._take_turn():
            return NOW
        is_all_written = self._unwritten is None and self._untold is None
        if is_all_written and self._source.is_done and self._finished.is_empty:
            return SweepEnd.COMPLETE
        if is_all_written and self._is_device_lost:
            return SweepEnd.DEVICE_LOST
        if self._control.is_aborted:
            self.lanes.command(LaneCommand.ABORT)
            return SweepEnd.ABORTED
        return NOW if self._drive(time_left_s) else self.lanes.when_quiet()

    def close(self) -> None:
        """Give up every run in progress and every one that waits."""
        self.lanes.close()
        self._finished.clear()
        self._active_runs.clear()
        self._control.acknowledge(True)  # no lane is left that could answer

    def _write_one(self) -> bool:
        if self._unwritten is not None and self._control.is_paused:
            return False  # there was no room for it, and nobody has said that there is: the lanes are to be told
        outcome = self._finished.pop_ready() if self._unwritten is None else self._unwritten
        if outcome is None:
            return False
        self._unwritten = outcome  # kept until it is written: a full disk loses nothing
        self.writer.write_run(outcome)
        self._unwritten = None
        self._active_runs.mark_committed(outcome.run.run_id)
        self._channel.run_committed(outcome)
        self._source.committed(outcome)
        self._channel.expecting(self._source.total_runs)
        return True

    def _take_turn(self) -> bool:
        """Let the source do its own work, paused or not, and write its news and pass them on; return whether it did."""
        if self._untold is not None:
            return self._write_update(self._untold)
        turn = self._source.turn(may_ask=not (self._control.is_aborted or self._is_device_lost))
        if turn is not None and turn.update is not None:
            self._untold, self._writing = turn.update, self.writer.write_batch(turn.update)
        return turn is not None

    def _write_update(self, update: SearchUpdate) -> bool:
        """Write a piece of what a batch came to, and pass it on behind the last; return whether there was room."""
        if self._writing is None:
            if self._control.is_paused:
                return False  # as with a run that there was no room for
            self._writing = self.writer.write_batch(update)
        writing, self._writing = self._writing, None  # one that raises is started over
        for _ in writing:
            self._writing = writing
            return True
        self._untold = None
        self._channel.batch_told(update)
        return True

    def _drive(self, time_left_s: float | None) -> bool:
        """Pass a change of the control on, hand out runs, hear the lanes; return whether anything moved."""
        wanted = LaneCommand.PAUSE if self._control.is_paused else LaneCommand.RESUME
        if wanted is not self._told:
            self._control.acknowledge(False)  # before any lane moves: the host may pause again meanwhile
            self.lanes.command(wanted)
            self._told, self._unanswered = wanted, self._unanswered + 1
        has_moved, was_taken = False, wanted is LaneCommand.RESUME and self._submit()
        # A lane inside the caller first tells of new runs, which is no work: their build follows in the same pump.
        for _ in range(2 if was_taken else 1):
            for report in self.lanes.poll(time_left_s):
                has_moved = self._hear(report) or has_moved
        return has_moved

    def _submit(self) -> bool:
        """Hand runs out until every lane is busy, and return whether any was taken."""
        was_taken = False
        while True:
            if self._next_request is None:
                self._next_request = self._source.next()
                if self._next_request is None:
                    return was_taken
                self._finished.expect(self._next_request.run.run_id)
            if not self.lanes.submit(self._next_request):
                return was_taken
            self._next_request, was_taken = None, True

    def _hear(self, report: LaneReport) -> bool:
        match report:
            case RunStarted(run):
                self._active_runs.start(run, self._end_tick)
            case RunAdvanced(run_id, tick):
                self._active_runs.reach(run_id, tick)
            case BatchAdvanced(run_ids, tick):
                for run_id in run_ids:
                    self._active_runs.reach(run_id, tick)
            case RunEnded(outcome):
                run_id = outcome.run.run_id
                self._active_runs.finish(run_id)
                self._finished.insert(run_id, outcome)
            case RunLost(run_id):
                self._active_runs.drop(run_id)
            case LaneNotice():
                self._channel.warned(report)
            case DeviceLost():
                self._is_device_lost = True
            case CommandAcknowledged():
                self._unanswered -= 1
                self._control.acknowledge(self._told is LaneCommand.PAUSE and not self._unanswered)
                return False
        return True
