"""Lanes: the places where runs are stepped, and the one that steps them inside the caller.

A lane takes a run, advances it when polled (or on its own thread or process) and reports. It obeys commands and never
decides anything about a sweep: order, files and events are the sweep's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from henad_web.model.faults import Blame, Phase
from henad_web.run.batch import BatchCursor
from henad_web.run.control import IDLE, BatchSize, SliceSize
from henad_web.run.cursor import rows_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.outcomes import PlannedRun, RunOutcome
    from henad_web.model.entry import ModelEntry
    from henad_web.run.control import Answer, Clock
    from henad_web.run.requests import RunRequest

__all__ = [
    "BatchAdvanced",
    "CommandAcknowledged",
    "DeviceLost",
    "InProcessLane",
    "LaneCommand",
    "LaneNotice",
    "LaneReport",
    "Lanes",
    "RunAdvanced",
    "RunEnded",
    "RunLost",
    "RunStarted",
    "RunView",
]


class LaneCommand(StrEnum):
    """What a sweep tells its lanes."""

    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A lane has taken `run` up and builds it next; its outcome follows."""

    run: PlannedRun


@dataclass(frozen=True, slots=True)
class RunAdvanced:
    """Run `run_id` has reached `tick`, its latest steps taking `pace_s` seconds each."""

    run_id: int
    tick: int
    pace_s: float


@dataclass(frozen=True, slots=True)
class BatchAdvanced:
    """The runs `run_ids`, which are stepped together, have reached `tick`, a step of all taking `pace_s` seconds."""

    run_ids: tuple[int, ...]
    tick: int
    pace_s: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has its outcome."""

    outcome: RunOutcome


@dataclass(frozen=True, slots=True)
class RunLost:
    """Run `run_id` was in progress where a lane died. The lanes do it again: a start or its outcome follows."""

    run_id: int


@dataclass(frozen=True, slots=True)
class LaneNotice:
    """Something that people are to know of the lanes, such as why there is only one."""

    text: str

    def __str__(self) -> str:
        """Return the notice."""
        return self.text


@dataclass(frozen=True, slots=True)
class CommandAcknowledged:
    """Every lane obeys `command`. After a pause nothing they hold moves until they are told otherwise."""

    command: LaneCommand


@dataclass(frozen=True, slots=True)
class DeviceLost:
    """The device that the lanes step on is gone: no run that has not ended yet will."""


LaneReport = (
    RunStarted | RunAdvanced | BatchAdvanced | RunEnded | RunLost | LaneNotice | CommandAcknowledged | DeviceLost
)


@dataclass(frozen=True, slots=True, eq=False)
class RunView:
    """The run in progress, to draw.

    Attributes:
        run_id: Which run.
        tick: The tick shown.
        grid: Cell states, uint8 ``(height, width)``, a copy; None for a model without a grid.
        palette: Colour of each state, ``(red, green, blue)`` 0 to 255.
    """

    run_id: int
    tick: int
    grid: NDArray[np.uint8] | None
    palette: tuple[tuple[int, int, int], ...]

    def __repr__(self) -> str:
        """Return the facts on one line."""
        grid = "no grid" if self.grid is None else f"grid of {self.grid.shape[0]} x {self.grid.shape[1]} cells"
        return f"<RunView of run {self.run_id} at tick {self.tick}: {grid}>"


class Lanes(Protocol):
    """Where a sweep's runs are stepped.

    - `submit` takes a run and answers True, or answers False while every lane is busy.
    - `poll` returns what happened since the last poll; lanes inside the caller do one bounded piece of work here. A
      run may end without a start before it: it was too short to be told of, or its lane died before.
    - `when_quiet` says when to poll again after a poll without a report: lanes that work elsewhere call the `notify`
      they were made with, from any thread, once there is one, or ask to be looked at after a time.
    - `command` passes pause, resume or abort on. A later poll acknowledges it, once for all lanes, when the last of
      them obeys; in the order of the commands. After an abort no outcome of a run that was in progress is reported.
    - `view` shows a run in progress: as it stands, of a lane inside the caller; as it was shown last, of one elsewhere,
      which is asked for the next call, and exactly once a pause is acknowledged.
    - `close` gives up all runs and frees what the lanes hold.
    """

    def submit(self, request: RunRequest) -> bool:
        """Take `request`, or return False while there is no room."""

    def poll(self, time_left_s: float | None = None) -> Sequence[LaneReport]:
        """Return the reports since the last poll, doing at most one bounded piece of work.

        Args:
            time_left_s: Seconds the caller can spare, None for no limit; passed by less than one step.
        """

    def when_quiet(self) -> Answer:
        """Return when to poll again after a poll that told nothing: idle until they notify, or after a time."""

    def command(self, command: LaneCommand) -> None:
        """Pass `command` to every lane."""

    def view(self) -> RunView | None:
        """Return the run in progress, to draw."""

    def close(self) -> None:
        """Give up every run."""


class InProcessLane:
    """One lane that steps its runs inside `poll`: one at a time, or several replicates of one config together.

    Args:
        entry: The model.
        measure: When to sample, what to keep and when to give a run up.
        slice_target_s: Seconds a slice aims at.
        clock: Monotonic clock.
        batch_rows: Most runs to step together, where the model offers it.
        takes_interrupts: Whether an interrupt inside `poll` can only be the model's doing.
    """

    def __init__(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        *,
        slice_target_s: float,
        clock: Clock,
        batch_rows: int = 1,
        takes_interrupts: bool = False,
    ) -> None:
        self._entry, self._measure = entry, measure
        self._slice_target_s, self._clock, self._takes_interrupts = slice_target_s, clock, takes_interrupts
        self._batch_size = BatchSize(batch_rows, slice_target_s)
        self._taken: list[RunRequest] = []
        self._room = 0
        self._sound_config_id: int | None = None
        self._cursor: BatchCursor | None = None
        self._is_built = False
        self._slice = SliceSize(slice_target_s)
        self._obeys = LaneCommand.RESUME
        self._acknowledgements: list[LaneReport] = []

    @property
    def is_busy(self) -> bool:
        """Whether a run is in progress."""
        return bool(self._taken)

    @property
    def is_stepping(self) -> bool:
        """Whether the next `poll` steps a model that stands, and does not build one."""
        return self._cursor is not None and self._cursor.is_built

    def submit(self, request: RunRequest) -> bool:
        """Take `request` unless runs are in progress, it is of another config than those taken, or the lane is held."""
        if self._cursor is not None or self._obeys is not LaneCommand.RESUME:
            return False
        if not self._taken:
            self._room = self._rows_together(request)
        elif not self._is_replicate(request):
            return False
        self._taken.append(request)
        return True

    def _rows_together(self, request: RunRequest) -> int:
        """Return how many runs of the config of `request` are to be stepped together."""
        if self._batch_size.rows == 1:
            return 1
        worth = rows_together(self._entry, request.config.params, takes_interrupts=self._takes_interrupts)
        return min(self._batch_size.rows, worth)

    def _is_replicate(self, request: RunRequest) -> bool:
        return len(self._taken) < self._room and request.run.config_id == self._taken[0].run.config_id

    def poll(self, time_left_s: float | None = None) -> Sequence[LaneReport]:
        """Tell of new runs, then build them, then advance them by one slice a call, and report."""
        reports, self._acknowledgements = self._acknowledgements, []
        if self._obeys is not LaneCommand.RESUME or not self._taken:
            return reports
        cursor = self._cursor
        if cursor is None:
            self._cursor, self._is_built = self._cursor_of(self._taken), False
            return [*reports, *(RunStarted(request.run) for request in self._taken)]
        started = self._clock()
        if self._is_built:
            return [*reports, *self._advance(cursor, time_left_s, started)]
        config_id = self._taken[0].run.config_id
        if len(cursor.run_ids) > 1 and config_id != self._sound_config_id:
            self._sound_config_id = config_id  # sizes follow from the parameters: one run of a config tells
            cursor.check_sizes()
            if len(cursor.run_ids) == 1:
                self._sound_config_id = None
            return [*reports, *self._advanced(cursor)]
        cursor.build()
        self._is_built, self._slice = True, SliceSize(self._slice_target_s)
        self._batch_size.took(self._clock() - started)
        return [*reports, *self._advanced(cursor)]

    def _cursor_of(self, requests: Sequence[RunRequest]) -> BatchCursor:
        return BatchCursor(self._entry, self._measure, requests, self._clock, takes_interrupts=self._takes_interrupts)

    def _advance(self, cursor: BatchCursor, time_left_s: float | None, started: float) -> Sequence[LaneReport]:
        steps, stage = self._slice.within(time_left_s), cursor.stage
        outcomes = cursor.advance(steps)
        self._slice.adapt(self._clock() - started, steps)
        self._batch_size.took(self._slice.pace_s)
        ended = map(RunEnded, outcomes)
        if not cursor.is_over:
            if cursor.stage != stage:  # another pace: a slice grown on the last one says nothing of it
                self._slice = SliceSize(self._slice_target_s)
            return [*ended, *self._advanced(cursor)]
        self._batch_size.end(len(self._taken))
        self._cursor = None
        self._taken = []
        return [*ended]

    def _advanced(self, cursor: BatchCursor) -> Sequence[LaneReport]:
        run_ids, pace_s = cursor.run_ids, self._slice.pace_s
        if len(run_ids) == 1:
            return [RunAdvanced(run_ids[0], cursor.tick, pace_s)]
        return [BatchAdvanced(run_ids, cursor.tick, pace_s)]

    def when_quiet(self) -> Answer:
        """Return idle: nothing moves outside `poll`."""
        return IDLE

    def command(self, command: LaneCommand) -> None:
        """Obey `command` at once; the acknowledgement comes with the next poll."""
        self._obeys = command
        if command is LaneCommand.ABORT:
            self.close()
        self._acknowledgements.append(CommandAcknowledged(command))

    def view(self) -> RunView | None:
        """Return the run in progress, the first of those that are stepped together, as a copy; None without one.

        A model that fails to show itself is one without a grid: whoever looks is not to end the run or the sweep.
        """
        cursor = self._cursor
        if cursor is None or not self._is_built or not cursor.run_ids:
            return None
        grid = _copied_grid(cursor, takes_interrupts=self._takes_interrupts)
        return RunView(cursor.run_ids[0], cursor.tick, grid, self._entry.metadata.palette)

    def close(self) -> None:
        """Give up the runs in progress."""
        self._cursor = None
        self._taken = []


def _copied_grid(cursor: BatchCursor, *, takes_interrupts: bool) -> NDArray[np.uint8] | None:
    with Blame(Phase.STEPPING, None, takes_interrupts=takes_interrupts):
        grid = cursor.grid()
        cells = None if grid is None else np.array(grid, dtype=np.uint8, copy=True)
        return cells if cells is not None and cells.ndim == _GRID_AXES else None
    return None


_GRID_AXES = 2
