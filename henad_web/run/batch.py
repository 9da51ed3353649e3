"""Drives several runs of one config at once: builds them together, advances them in slices, gives each its outcome.

Rows never differ from those of runs done one by one: whatever goes wrong with the batch ends it, and the runs it still
held are done anew, each alone. Only timings are shares of the batch's. Never looks at a sweep's control.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import StateValueError
from henad_web.explore.outcomes import RunOutcome, StopReason
from henad_web.explore.table_sampler import table_offer
from henad_web.model.faults import Blame, Phase
from henad_web.run.course import Course, Leg
from henad_web.run.cursor import RunCursor, RunEnd, check_sizes, check_tick, refusal_text, run_outcome

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.model.schema import Schedule
    from henad_web.model.state import BatchState
    from henad_web.run.control import Clock
    from henad_web.run.requests import RunRequest

__all__ = ["TOLD_AT_ONCE", "BatchCursor"]


class BatchCursor:
    """Runs of one config between their requests and their outcomes.

    Several are stepped together while nothing goes wrong; one, and those of a batch that failed, are done by a
    `RunCursor` each, one after the other.

    Args:
        entry: The model.
        measure: When to sample, what to keep and when to give a run up.
        requests: Which runs, at least one, all of one config.
        clock: Monotonic clock for the runs' timings.
        takes_interrupts: Whether an interrupt is the model's fault too, as `Blame` has it.
    """

    def __init__(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        requests: Sequence[RunRequest],
        clock: Clock,
        *,
        takes_interrupts: bool = False,
    ) -> None:
        self._entry, self._measure, self._clock = entry, measure, clock
        self._takes_interrupts = takes_interrupts
        self._together: _Rows | None = None
        self._waiting = deque(requests)
        self._alone: RunCursor | None = None
        if len(requests) > 1:
            self._together = _Rows(entry, measure, list(self._waiting), clock)
            self._waiting.clear()
        else:
            self._take_next()

    @property
    def is_over(self) -> bool:
        """Whether every run has its outcome."""
        return self._together is None and self._alone is None

    @property
    def stage(self) -> Hashable:
        """What the next slice does, and which way; each has a pace of its own, a build not the one of a step."""
        if self._together is not None:
            return self._together.is_telling
        alone = self._alone
        return None if alone is None else (alone.request.run.run_id, alone.stage, self.is_built)

    @property
    def is_built(self) -> bool:
        """Whether the next `advance` steps, and does not build a run that is done alone."""
        if self._together is not None:
            return self._together.state is not None
        return self._alone is not None and self._alone.state is not None

    @property
    def run_ids(self) -> tuple[int, ...]:
        """The runs that are being stepped now; those that wait to be done alone are not."""
        if self._together is not None:
            return self._together.run_ids
        return () if self._alone is None else (self._alone.request.run.run_id,)

    @property
    def tick(self) -> int:
        """Tick that these runs have reached."""
        if self._together is not None:
            return self._together.tick
        return 0 if self._alone is None else self._alone.tick

    def grid(self) -> NDArray[np.uint8] | None:
        """Return the grid of the first of these runs, as its state gives it; raises whatever the model raises."""
        if self._together is not None:
            state = self._together.state
            return None if state is None else state.grid_of(0)
        return None if self._alone is None or self._alone.state is None else self._alone.state.grid

    def check_sizes(self) -> None:
        """Build the first of the runs alone: where its sizes are such that a run fails on them, all are done alone."""
        together = self._together
        if together is None:
            return
        request = together.requests[0]
        with self._blame(Phase.BUILDING) as blame:
            check_sizes(self._entry.build(request.config.params, request.run.seed))
        if blame.error is not None:
            self._part(together)

    def build(self) -> None:
        """Build the runs; a fault becomes the outcome of a later `advance`."""
        together = self._together
        if together is None:
            if self._alone is not None:
                self._alone.build()
            return
        with self._blame(Phase.BUILDING) as blame:
            together.build()
        if blame.error is not None:
            self._part(together)

    def advance(self, max_steps: int) -> list[RunOutcome]:
        """Take up to `max_steps` steps of every run that is being stepped; return the outcomes of those that ended.

        A run that is done alone behind another takes one call for its build.
        """
        if self._together is None:
            return self._advance_alone(max_steps)
        together = self._together
        with self._blame(Phase.STEPPING) as blame:
            together.advance(max_steps)
        if blame.error is not None:
            self._part(together)
        elif not together.requests:
            self._together = None
        return together.ended

    def _blame(self, phase: Phase) -> Blame:
        return Blame(phase, self._entry.source_file, takes_interrupts=self._takes_interrupts)

    def _advance_alone(self, max_steps: int) -> list[RunOutcome]:
        outcome = None if self._alone is None else self._alone.advance(max_steps)
        if outcome is None:
            return []
        self._take_next()
        return [outcome]

    def _part(self, together: _Rows) -> None:
        """Have the runs that are left done one by one from their builds."""
        self._together = None
        self._waiting.extend(together.requests)
        self._take_next()

    def _take_next(self) -> None:
        self._alone = None
        if self._waiting:
            self._alone = RunCursor(
                self._entry,
                self._measure,
                self._waiting.popleft(),
                self._clock,
                takes_interrupts=self._takes_interrupts,
            )


class _Rows:
    """The runs of a batch while they are stepped together, a row each.

    Attributes:
        requests: The run in each row.
        state: All rows, None before the build.
        tick: Tick they have reached.
        ended: Outcomes of the runs that were told to have ended in the latest advance.
    """

    def __init__(self, entry: ModelEntry, measure: MeasurePlan, requests: list[RunRequest], clock: Clock) -> None:
        self.requests = requests
        self.state: BatchState | None = None
        self.tick = 0
        self.ended: list[RunOutcome] = []
        self._entry, self._measure, self._clock = entry, measure, clock
        self._course = Course(measure, requests[0].schedule)
        self._sampler = measure.batch_sampler(len(requests))
        self._tables = [measure.table_sampler(request.run.run_id) for request in requests]
        self._refusals: list[list[str]] = [[] for _ in requests]
        self._populations = [0] * len(requests)
        self._leaving: deque[int] = deque()
        self._end: RunEnd | StopReason = StopReason.STEPS
        self._told: set[int] = set()
        self._is_started = self._is_at_end = False
        self._build_s = self._wall_s = 0.0

    @property
    def is_telling(self) -> bool:
        """Whether rows have ended whose outcomes are still to come; nothing is stepped meanwhile."""
        return bool(self._leaving)

    @property
    def run_ids(self) -> tuple[int, ...]:
        """The runs that have no outcome yet."""
        return tuple(run_id for request in self.requests if (run_id := request.run.run_id) not in self._told)

    def build(self) -> None:
        """Build every row."""
        started, rows = self._clock(), len(self.requests)
        params, seeds = self.requests[0].config.params, [request.run.seed for request in self.requests]
        self.state = self._entry.build_many(params, seeds)
        check_tick(self.state, 0)
        if self._measure.tables:  # where it offers none, the runs are done one by one before a step was taken
            table_offer(self.state, self._measure, 0, _TABLE_OF)
        self._build_s = (self._clock() - started) / rows

    def advance(self, budget: int) -> None:
        """Step every row, until some end or the budget does; give some of the rows that ended their outcomes."""
        self.ended = []
        state = self.state
        if state is None:
            return
        if not self._leaving:
            started = self._clock()
            self._step(state, budget)
            self._wall_s += (self._clock() - started) / len(self.requests)
            timeout_s = self._measure.timeout_s
            if timeout_s is not None and self._wall_s >= timeout_s and not self._leaving:
                self._leave(range(len(self.requests)), RunEnd.by_timeout(timeout_s, self.tick))
        self._tell_some(state)

    def _step(self, state: BatchState, budget: int) -> None:
        if not self._is_started:
            self._is_started = True
            self._take(state, self._course.start)
        while not self._leaving and (leg := self._course.leg(self.tick, budget)):
            self._take(state, leg)
            budget -= leg.steps * leg.strides

    def _take(self, state: BatchState, leg: Leg) -> None:
        for left in reversed(range(leg.strides)):
            if leg.steps:
                state.step(leg.steps)
                check_tick(state, self.tick + leg.steps)
                self.tick += leg.steps
            if not left:
                self._fire(state, leg.actions)
                self._is_at_end = leg.is_last
            if leg.is_sampled:
                stopped = self._sample(state)
                self._take_tables(state, stopped, is_last=leg.is_last and not left)
                self._leave(stopped, StopReason.CONDITION)
            if self._leaving:
                return  # what is left of the leg is taken from the tick that is reached
        if leg.is_last:
            self._leave(range(len(self.requests)), StopReason.STEPS)

    def _sample(self, state: BatchState) -> list[int]:
        stats, populations = state.stats(), np.asarray(state.populations)
        if populations.shape != (len(self.requests),) or populations.dtype.kind not in "iu" or populations.min() < 0:
            raise StateValueError("populations", str(populations))
        stopped = self._sampler.push(self.tick, stats)
        self._populations = populations.tolist()
        return stopped

    def _take_tables(self, state: BatchState, stopped: Sequence[int], *, is_last: bool) -> None:
        if not self._measure.tables:
            return
        offer, ended = table_offer(state, self._measure, self.tick, _TABLE_OF), set(stopped)
        for row, tables in enumerate(self._tables):
            tables.take(self.tick, partial(offer, row=row), is_last=is_last or row in ended)

    def _fire(self, state: BatchState, actions: Schedule) -> None:
        for action in actions:
            for row, is_done in enumerate(np.broadcast_to(state.act(action.id), len(self.requests)).tolist()):
                if not is_done:
                    self._refusals[row].append(refusal_text(action.id, self.tick))

    def _leave(self, rows: Sequence[int], end: RunEnd | StopReason) -> None:
        """Have the runs in `rows` come to their end where they stand."""
        self._leaving, self._end = deque(rows), end

    def _tell_some(self, state: BatchState) -> None:
        """Give up to `TOLD_AT_ONCE` of the rows that ended their outcomes; behind the last, go on with the others."""
        if not self._leaving:
            return
        for _ in range(min(TOLD_AT_ONCE, len(self._leaving))):
            self.ended.append(self._outcome(self._leaving.popleft()))
        self._told.update(outcome.run.run_id for outcome in self.ended)
        if self._leaving:
            return
        left = [row for row, request in enumerate(self.requests) if request.run.run_id not in self._told]
        self.requests = [self.requests[row] for row in left]
        self._refusals = [self._refusals[row] for row in left]
        self._tables = [self._tables[row] for row in left]
        self._populations = [self._populations[row] for row in left]
        if left:
            state.keep(np.array(left, np.intp))
            self._sampler.keep(np.array(left, np.intp))
        if self._is_at_end:
            self._leave(range(len(left)), StopReason.STEPS)

    def _outcome(self, row: int) -> RunOutcome:
        end = self._end
        return run_outcome(
            self.requests[row],
            end if isinstance(end, RunEnd) else RunEnd.by_reason(end, self._sampler.non_finite(row)),
            ticks=self.tick,
            population=self._populations[row],
            build_s=self._build_s,
            wall_s=self._wall_s,
            refusals=self._refusals[row],
            reduced=self._sampler.finish(row),
            tables=self._tables[row].finish(),
        )


_TABLE_OF = "table_of"
"""Member by which a state of several rows offers the table of one: ``table_of(name, row=…)``."""


TOLD_AT_ONCE = 8
"""Rows that are given their outcomes in one advance: half a millisecond natively, two in a page."""
