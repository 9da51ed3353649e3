"""Drives one CPU run: builds it, then advances it in slices of any size to its one outcome.

A run's samples, actions and end depend on ticks alone, so any way of slicing gives the same outcome; only `build_ms`,
`wall_ms` and the moment a timeout is noticed depend on the clock. The cursor never looks at a sweep's control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.errors import StatsShapeError, TickError
from henad_web.explore.outcomes import RunOutcome, RunStatus, StopReason
from henad_web.model.faults import FAULTS, Fault, Phase, fault_of
from henad_web.run.building import build_state

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.model.state import ModelState
    from henad_web.run.pause_clock import Clock
    from henad_web.run.requests import RunRequest

__all__ = ["RunCursor"]


class RunCursor:
    """One run between its request and its outcome.

    Args:
        entry: The model.
        measure: When to sample and what to keep.
        request: Which run.
        timeout_s: Seconds of stepping and sampling after which the run is given up, None for no limit.
        clock: Monotonic clock for the run's timings.
    """

    def __init__(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        request: RunRequest,
        timeout_s: float | None,
        clock: Clock,
    ) -> None:
        self.request = request
        self._entry, self._measure, self._timeout_s, self._clock = entry, measure, timeout_s, clock
        self._sampler = measure.sampler()
        self._state: ModelState | None = None
        self._outcome: RunOutcome | None = None
        self._build_s = self._wall_s = 0.0
        self._population = 0
        self._refusals: list[str] = []
        self._actions = request.schedule
        self._fired = 0
        self._started = False
        self._next_sample = measure.next_sample(-1)

    @property
    def tick(self) -> int:
        """Tick the run has reached, 0 before its build."""
        return 0 if self._state is None else int(self._state.tick)

    @property
    def state(self) -> ModelState | None:
        """The model as it stands, None before the build and after a failed one."""
        return self._state

    def build(self) -> None:
        """Build the model; a fault becomes the outcome of the first `advance`."""
        started = self._clock()
        built = build_state(self._entry, self.request.params, self.request.run.seed)
        self._build_s = self._clock() - started
        if isinstance(built, Fault):
            self._outcome = self._outcome_of(_End.by_fault(built))
        else:
            self._state = built

    def advance(self, max_steps: int) -> RunOutcome | None:
        """Take up to `max_steps` steps, sampling and acting where due; return the outcome once the run has ended.

        Samples that are due are taken even when no step is left. After the end the same outcome is returned again.
        """
        if self._outcome is not None or self._state is None:
            return self._outcome
        started = self._clock()
        end = self._advance_guarded(self._state, max_steps)
        self._wall_s += self._clock() - started
        if end is None and self._timeout_s is not None and self._wall_s >= self._timeout_s:
            end = _End.by_timeout(self._timeout_s, self.tick)
        if end is not None:
            self._outcome = self._outcome_of(end)
        return self._outcome

    def _advance_guarded(self, state: ModelState, budget: int) -> _End | None:
        try:
            reason = self._step_to_sample_or_budget(state, budget)
        except StatsShapeError as error:
            return _End(RunStatus.SHAPE_ERROR, StopReason.FAULT, str(error))
        except FAULTS as error:
            return _End.by_fault(fault_of(Phase.STEPPING, error, self._entry.source_file))
        if reason is None:
            return None
        if self._sampler.non_finite is None:
            return _End(RunStatus.OK, reason)
        column, tick = self._sampler.non_finite
        return _End(RunStatus.NON_FINITE, reason, f"{column} is not finite at tick {tick}")

    def _step_to_sample_or_budget(self, state: ModelState, budget: int) -> StopReason | None:
        if not self._started:
            self._started = True
            _check_tick(state, 0)
            self._fire_due(state, 0)
        tick = self.tick
        while True:
            if tick == self._next_sample:
                self._population = int(state.population)
                if self._sampler.push(tick, state.stats()):
                    return StopReason.CONDITION
                self._next_sample = self._measure.next_sample(tick)
            if self._next_sample is None:
                return StopReason.STEPS
            if budget <= 0:
                return None
            steps = min(self._next_sample - tick, budget)
            if self._fired < len(self._actions):
                steps = min(steps, self._actions[self._fired].tick - tick)
            state.step(steps)
            tick += steps
            _check_tick(state, tick)
            budget -= steps
            self._fire_due(state, tick)

    def _fire_due(self, state: ModelState, tick: int) -> None:
        while self._fired < len(self._actions) and self._actions[self._fired].tick <= tick:
            action = self._actions[self._fired]
            self._fired += 1
            if not state.act(action.id):
                self._refusals.append(f"model refused action '{action.id}' at tick {tick}")

    def _outcome_of(self, end: _End) -> RunOutcome:
        reducers, series = self._sampler.finish()
        return RunOutcome(
            run=self.request.run,
            run_key=self.request.run_key,
            status=end.status,
            stop_reason=end.reason,
            ticks=self._last_tick(),
            population=self._population,
            build_ms=self._build_s * 1000.0,
            wall_ms=self._wall_s * 1000.0,
            reducers=reducers,
            series=series,
            note="; ".join([*self._refusals, *([end.note] if end.note else [])]),
            traceback=end.traceback,
        )

    def _last_tick(self) -> int:
        try:
            return self.tick
        except FAULTS:  # a model broken enough to have lost its tick still leaves a row
            return 0


def _check_tick(state: ModelState, tick: int) -> None:
    # Slices begin at the model's own tick: one that counts otherwise would depend on how its run is sliced.
    if state.tick != tick:
        raise TickError(expected=tick, came=state.tick)


@dataclass(frozen=True, slots=True)
class _End:
    """How a run ended, before its outcome is put together."""

    status: RunStatus
    reason: StopReason
    note: str = ""
    traceback: str | None = None

    @classmethod
    def by_fault(cls, fault: Fault) -> _End:
        status = RunStatus.REFUSED if fault.is_refusal else RunStatus.PANICKED
        return cls(status, StopReason.FAULT, fault.text, fault.traceback)

    @classmethod
    def by_timeout(cls, timeout_s: float, tick: int) -> _End:
        seconds = repr(float(timeout_s)).removesuffix(".0")
        return cls(RunStatus.TIMED_OUT, StopReason.TIMEOUT, f"timed out after {seconds} s at tick {tick}")
