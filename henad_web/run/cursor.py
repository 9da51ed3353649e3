"""Drives one CPU run: builds it, then advances it in slices of any size to its one outcome.

A run's samples, actions and end depend on ticks alone, so any way of slicing gives the same outcome; only `build_ms`,
`wall_ms` and the moment a timeout is noticed depend on the clock. The cursor never looks at a sweep's control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.errors import ModelDefinitionError, StateValueError, StatsShapeError, TickError
from henad_web.explore.outcomes import RunOutcome, RunStatus, RunTable, StopReason
from henad_web.explore.table_sampler import table_offer
from henad_web.model.entry import Backend
from henad_web.model.faults import Blame, Fault, Phase, RefusedBuild, one_line
from henad_web.model.state import StateDefaults, checked_count, has_ended
from henad_web.model.tables import TableShapeError
from henad_web.run.course import Course

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.sampler import Reduced
    from henad_web.model.entry import ModelEntry
    from henad_web.model.params import ParamValue
    from henad_web.model.schema import Schedule
    from henad_web.model.state import BatchState, ModelState
    from henad_web.run.control import Clock
    from henad_web.run.course import Leg
    from henad_web.run.requests import RunRequest

__all__ = [
    "RunCursor",
    "RunEnd",
    "RunStage",
    "build_state",
    "check_sizes",
    "check_tick",
    "refusal_text",
    "rows_together",
    "run_outcome",
]


class RunStage(StrEnum):
    """Which way a run is being stepped; each has a pace of its own."""

    FIRST = "first"
    AGAIN = "again"
    STEP_BY_STEP = "step by step"


class RunCursor:
    """One run between its request and its outcome.

    A fault inside several steps taken at once does not say which of them failed. Such a run is done once more, from a
    fresh build: as before up to the last tick it is known to have reached, and one step at a time from there. So a
    fault in the step from t to t + 1 has ticks t, whatever the slices were.

    Args:
        entry: The model.
        measure: When to sample, what to keep and when to give the run up, by the time of the attempt that is recorded.
        request: Which run.
        clock: Monotonic clock for the run's timings.
        takes_interrupts: Whether an interrupt is the model's fault too, as `Blame` has it.

    Attributes:
        request: Which run.
        error: What the model raised that ended the run, None before that and for any other end.
    """

    def __init__(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        request: RunRequest,
        clock: Clock,
        *,
        takes_interrupts: bool = False,
    ) -> None:
        self.request = request
        self._entry, self._measure, self._clock = entry, measure, clock
        self._takes_interrupts = takes_interrupts
        self._attempt = _Attempt(measure, request)
        self._failed: _FailedAttempt | None = None
        self._outcome: RunOutcome | None = None
        self.error: BaseException | None = None

    @property
    def tick(self) -> int:
        """Tick the run has reached, 0 before its build."""
        return self._attempt.tick

    @property
    def state(self) -> ModelState | None:
        """The model as it stands, None before the build and after a failed one."""
        return self._attempt.state

    @property
    def stage(self) -> RunStage:
        """Which way the next slice steps."""
        if self._failed is None:
            return RunStage.FIRST
        return RunStage.AGAIN if self.tick < self._failed.attempt.tick else RunStage.STEP_BY_STEP

    def build(self) -> None:
        """Build the model; a fault becomes the outcome of the first `advance`."""
        attempt, request = self._attempt, self.request
        started = self._clock()
        built = build_state(
            self._entry, request.config.params, request.run.seed, takes_interrupts=self._takes_interrupts
        )
        attempt.build_s = self._clock() - started
        if isinstance(built, Fault):
            self.error = built.error
            self._finish(RunEnd.by_fault(built))
        else:
            attempt.state = built

    def advance(self, max_steps: int) -> RunOutcome | None:
        """Take up to `max_steps` steps, sampling and acting where due; return the outcome once the run has ended.

        Samples that are due are taken even when no step is left. A run that is done again takes one call for its
        build. After the end the same outcome is returned again.
        """
        if self._outcome is None:
            if self._attempt.state is None:
                self.build()
            else:
                self._advance(self._attempt, max_steps)
        return self._outcome

    def _advance(self, attempt: _Attempt, budget: int) -> None:
        failed, stride = self._failed, None
        if failed is not None:
            is_there = attempt.tick >= failed.attempt.tick
            budget = min(budget, (failed.last_tick if is_there else failed.attempt.tick) - attempt.tick)
            stride = 1 if is_there else None
        started = self._clock()
        phase, file = Phase.STEPPING, self._entry.source_file
        with Blame(phase, file, takes_interrupts=self._takes_interrupts) as blame:
            reason = attempt.advance(budget, stride)
        attempt.wall_s += self._clock() - started
        if blame.error is not None:
            self._fail(attempt, RunEnd.by_error(blame, attempt.tick), blame.error)
        elif reason is not None:
            self._finish(RunEnd.by_reason(reason, attempt.sampler.non_finite))
        elif (timeout_s := self._measure.timeout_s) is not None and attempt.wall_s >= timeout_s:
            self._finish(RunEnd.by_timeout(timeout_s, attempt.tick), is_cut=True)
        elif failed is not None and attempt.tick >= failed.last_tick:
            self._finish(failed.end)

    def _fail(self, attempt: _Attempt, end: RunEnd, error: BaseException) -> None:
        """End the run, or have it done again to find the step that fails."""
        if self._failed is None and attempt.stepping > 1:
            attempt.state = None  # two of them might not fit
            self._failed = _FailedAttempt(attempt, end)
            self._attempt = _Attempt(self._measure, self.request)
        else:
            self.error = error  # that of an attempt to be repeated is dropped: its frames hold the model
            self._finish(end)

    def _finish(self, end: RunEnd, *, is_cut: bool = False) -> None:
        attempt, failed = self._attempt, self._failed
        if failed is not None and not is_cut and not failed.is_found_by(attempt, end):
            attempt, end = failed.attempt, failed.end.not_again()
        self._outcome = run_outcome(
            self.request,
            end,
            ticks=attempt.tick,
            population=attempt.population,
            build_s=attempt.build_s,
            wall_s=attempt.wall_s,
            refusals=attempt.refusals,
            reduced=attempt.sampler.finish(),
            tables=attempt.tables.finish(),
        )


class _Attempt:
    """One way of a model from its build to its end, and what was measured on it.

    Attributes:
        state: The model, None before its build.
        sampler: Its samples.
        tables: What it reported of the model's own tables.
        tick: Steps it is known to have done.
        stepping: Steps it is doing right now, 0 while it samples or acts.
        population: Population at its latest sample.
        refusals: Actions it refused, in words.
        build_s: Seconds the build took.
        wall_s: Seconds of stepping and sampling so far.
    """

    def __init__(self, measure: MeasurePlan, request: RunRequest) -> None:
        self.state: ModelState | None = None
        self.sampler, self.tables = measure.sampler(), measure.table_sampler(request.run.run_id)
        self.tick = self.stepping = self.population = 0
        self.refusals: list[str] = []
        self.build_s = self.wall_s = 0.0
        self._measure, self._course = measure, Course(measure, request.schedule)
        self._is_started = False
        self._warmup, self._sampled = measure.warmup, -1

    def advance(self, budget: int, stride: int | None) -> StopReason | None:
        """Take up to `budget` steps, at most `stride` at once; return why the run has ended, None while it has not."""
        state = self.state
        if state is None:
            return None
        if not self._is_started:
            self._is_started = True
            check_tick(state, 0)
            check_sizes(state)
            if (reason := self._take(state, self._course.start)) is not None:
                return reason
        while leg := self._course.leg(self.tick, budget if stride is None else min(budget, stride)):
            if (reason := self._take(state, leg)) is not None:
                return reason
            budget -= leg.steps * leg.strides
        return None

    def _take(self, state: ModelState, leg: Leg) -> StopReason | None:
        for left in reversed(range(leg.strides)):
            is_whole = self._step(state, leg.steps)
            if not left and is_whole:
                self._fire(state, leg.actions)
            is_over = not is_whole or has_ended(state)
            is_due = self._sampled < self.tick >= self._warmup if is_over else leg.is_sampled
            is_over = (is_due and self._sample(state)) or is_over
            self._report(state, is_last=is_over or (leg.is_last and not left))
            if is_over:
                return StopReason.CONDITION
        return StopReason.STEPS if leg.is_last else None

    def _sample(self, state: ModelState) -> bool:
        stats = state.stats()
        population = checked_count("population", state.population)
        is_stopped = self.sampler.push(self.tick, stats)
        self.population, self._sampled = population, self.tick
        return is_stopped

    def _report(self, state: ModelState, *, is_last: bool) -> None:
        """Take the tables that are due at the sample of this tick, if there is one."""
        if self._measure.tables and self._sampled == self.tick:
            self.tables.take(self.tick, table_offer(state, self._measure, self.tick), is_last=is_last)

    def _step(self, state: ModelState, steps: int) -> bool:
        """Take `steps` steps; return whether all were taken, and the model did not end on the way."""
        if not steps:
            return True
        self.stepping, tick = steps, self.tick + steps
        state.step(steps)
        came: object = state.tick
        if type(came) is not int or came != tick:
            reached = checked_count("tick", came)
            if self.tick <= reached < tick and has_ended(state):
                tick, steps = reached, 0
            else:
                check_tick(state, tick)
        self.stepping, self.tick = 0, tick
        return steps > 0

    def _fire(self, state: ModelState, actions: Schedule) -> None:
        for action in actions:
            if not state.act(action.id):
                self.refusals.append(refusal_text(action.id, self.tick))


def refusal_text(action_id: str, tick: int) -> str:
    """Return what a row's note says of an action that the model refused."""
    return f"model refused action '{action_id}' at tick {tick}"


def check_sizes(state: ModelState) -> None:
    """Make sure that the sizes of `state`, just built, are counts; raises `StateValueError` where one is none."""
    if getattr(type(state), "heap_bytes", None) is not StateDefaults.heap_bytes:  # a count, and slow to be made
        checked_count("heap_bytes", state.heap_bytes)
    jobs = state.parallel_jobs
    if jobs is not None:
        checked_count("parallel_jobs", jobs)


def check_tick(state: ModelState | BatchState, tick: int) -> None:
    """Make sure that `state` counts its steps as its caller does.

    Raises:
        TickError: It tells another tick.
        StateValueError: Its tick is no count.
    """
    # Slices begin at the model's own tick: one that counts otherwise would depend on how its run is sliced.
    came = checked_count("tick", state.tick)
    if came != tick:
        raise TickError(expected=tick, came=came)


_LONGEST_END = 4000
"""Letters of an end's note: a message of a model is cut long before."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, before its outcome is put together."""

    status: RunStatus
    reason: StopReason
    note: str = ""
    traceback: str | None = None

    @classmethod
    def by_reason(cls, reason: StopReason, non_finite: tuple[str, int] | None) -> RunEnd:
        """Return the end of a run without a fault, given its first value that is not finite, as ``(column, tick)``."""
        if non_finite is None:
            return cls(RunStatus.OK, reason)
        column, tick = non_finite
        return cls(RunStatus.NON_FINITE, reason, f"{column} is not finite at tick {tick}")

    @classmethod
    def by_fault(cls, fault: Fault) -> RunEnd:
        """Return the end that a fault of the model is."""
        status = RunStatus.REFUSED if fault.is_refusal else RunStatus.PANICKED
        return cls(status, StopReason.FAULT, fault.text, fault.traceback)

    @classmethod
    def by_error(cls, blame: Blame, tick: int) -> RunEnd:
        """Return the end that what was raised behind `tick` is: wrong values of the model, or its fault."""
        error, fault = blame.error, blame.fault
        if isinstance(error, StatsShapeError | TickError | TableShapeError):
            return cls(RunStatus.SHAPE_ERROR, StopReason.FAULT, one_line(str(error)))
        if isinstance(error, StateValueError):
            return cls(RunStatus.SHAPE_ERROR, StopReason.FAULT, one_line(f"{error}; it was read at tick {tick}"))
        return cls(RunStatus.PANICKED, StopReason.FAULT) if fault is None else cls.by_fault(fault)

    @classmethod
    def by_timeout(cls, timeout_s: float, tick: int) -> RunEnd:
        """Return the end of a run that had its `timeout_s` seconds by `tick`."""
        seconds = repr(float(timeout_s)).removesuffix(".0")
        return cls(RunStatus.TIMED_OUT, StopReason.TIMEOUT, f"timed out after {seconds} s at tick {tick}")

    def not_again(self) -> RunEnd:
        """Return this end of a run that was done again and went another way."""
        return replace(self, note=f"{_NOT_AGAIN}; {self.note}")


def run_outcome(
    request: RunRequest,
    end: RunEnd,
    *,
    ticks: int,
    population: int,
    build_s: float,
    wall_s: float,
    refusals: Sequence[str],
    reduced: Reduced,
    tables: Mapping[str, RunTable],
) -> RunOutcome:
    """Return the outcome of the run of `request`, which came to `end`.

    Args:
        request: Which run.
        end: How it ended.
        ticks: Last tick reached.
        population: Population at the latest sample.
        build_s: Seconds the build took.
        wall_s: Seconds of stepping and sampling.
        refusals: Actions the model refused, in words.
        reduced: Its reducers and its series.
        tables: What it reported of the model's own tables, by id.
    """
    reducers, series = reduced
    notes = (one_line("; ".join(refusals)), one_line(end.note, _LONGEST_END))
    return RunOutcome(
        run=request.run,
        config=request.config,
        run_key=request.run_key,
        status=end.status,
        stop_reason=end.reason,
        ticks=ticks,
        population=population,
        build_ms=build_s * 1000.0,
        wall_ms=wall_s * 1000.0,
        reducers=reducers,
        series=series,
        tables=tables,
        note="; ".join(filter(None, notes)),
        traceback=end.traceback,
    )


_NOT_AGAIN = (
    "the run was done again step by step and did not fail there, so it depends on more than parameters, seed, actions "
    "and steps, or step(n) is not n times step(1)"
)


@dataclass(frozen=True, slots=True)
class _FailedAttempt:
    """An attempt that failed inside several steps at once, its model dropped, and the end it came to."""

    attempt: _Attempt
    end: RunEnd

    @property
    def last_tick(self) -> int:
        """The tick that those steps led to."""
        return self.attempt.tick + self.attempt.stepping

    def is_found_by(self, again: _Attempt, end: RunEnd) -> bool:
        """Return whether `again` ended with a single failing step where this one failed."""
        return (
            end.reason is StopReason.FAULT and again.stepping == 1 and self.attempt.tick <= again.tick < self.last_tick
        )


def build_state(
    entry: ModelEntry, params: tuple[ParamValue, ...], seed: int, *, takes_interrupts: bool = False
) -> ModelState | Fault:
    """Build `entry` with `params` (one a parameter, in schema order) and `seed` on a CPU lane.

    Args:
        entry: The model.
        params: Its values.
        seed: Its seed.
        takes_interrupts: Whether an interrupt is the model's fault too, as `Blame` has it.

    Returns:
        The state at tick 0, or the fault that the build ended on. A GPU entry is a refused build.
    """
    with Blame(Phase.BUILDING, entry.source_file, takes_interrupts=takes_interrupts) as blame:
        if entry.metadata.backend is Backend.GPU:
            raise RefusedBuild("a GPU model cannot run on a CPU lane")
        state = entry.build(params, seed)
        if state is None:
            raise ModelDefinitionError(f"the factory of model '{entry.id}' returned nothing; it returns the state")
    return blame.fault or state


def rows_together(entry: ModelEntry, params: tuple[ParamValue, ...], *, takes_interrupts: bool = False) -> int:
    """Return how many replicates of `entry` with `params` are worth stepping together, 1 where it does not say."""
    if entry.batches is None or entry.metadata.backend is Backend.GPU:
        return 1
    with Blame(Phase.BUILDING, entry.source_file, takes_interrupts=takes_interrupts):
        rows: object = entry.batch_rows(params)
        return max(1, rows) if isinstance(rows, int) else 1
    return 1
