"""One run from its request to its outcome: the same whatever the slices, a row whatever the model does."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.model.entry import Backend, ModelEntry
from henad_web.model.params import ParamValue
from henad_web.run.cursor import RunCursor
from henad_web.run.requests import RunRequest
from tests.shared.hosts import ManualClock
from tests.shared.toy_models import Divides, DividesAtBuild, Exits, Inverse, Logs, Refuses, Reshapes, Toy, entry_of


def cursor_of(
    entry: ModelEntry, spec: hw.SweepSpec, columns: tuple[str, ...], run_id: int = 0, clock: ManualClock | None = None
) -> RunCursor:
    plan = spec.plan(entry.schema())
    request = RunRequest.of(plan, plan.run(run_id))
    measure = MeasurePlan.bind(plan, columns)
    cursor = RunCursor(entry, measure, request, clock or ManualClock())
    cursor.build()
    return cursor


def run_in_slices(cursor: RunCursor, slices: Iterator[int]) -> hw.RunOutcome:
    while (outcome := cursor.advance(next(slices))) is None:
        pass
    return outcome


def forever(*sizes: int) -> Iterator[int]:
    while True:
        yield from sizes


def toy_spec(value: int, steps: int = 10, stats_every: int = 2, **run: object) -> hw.SweepSpec:
    return hw.SweepSpec(
        model="toy",
        fixed=(("value", value),),
        run=hw.RunSettings(steps=steps, **run),  # type: ignore[arg-type]
        measure=hw.MeasureSettings(stats_every=stats_every),
    )


def outcome_of(
    model: type[Toy], spec: hw.SweepSpec, columns: tuple[str, ...] = ("Ticks",), size: int = 3, **entry: object
) -> hw.RunOutcome:
    made = entry_of(model, stats=columns, **entry)  # type: ignore[arg-type]
    return run_in_slices(cursor_of(made, spec, columns), forever(size))


def comparable(outcome: hw.RunOutcome) -> tuple[object, ...]:
    fields = [getattr(outcome, field.name) for field in dataclasses.fields(outcome) if field.name != "series"]
    return (*fields, outcome.series.ticks.tolist(), outcome.series.values.tolist())


@pytest.mark.parametrize("sizes", [(1,), (2, 7), (30,), (1 << 20,), (5, 1, 1, 13)])
def test_any_way_of_slicing_gives_the_same_outcome(
    small_sir: hw.SweepSpec, models: hw.ModelSet, sizes: tuple[int, ...]
) -> None:
    columns = ("Susceptible", "Infected", "Recovered")
    whole = run_in_slices(cursor_of(models["sir"], small_sir, columns, run_id=3), forever(1000))
    sliced = run_in_slices(cursor_of(models["sir"], small_sir, columns, run_id=3), forever(*sizes))
    assert comparable(sliced) == comparable(whole)
    assert whole.series.ticks.tolist() == [0, 6, 12, 18, 24, 30]
    assert whole.status is hw.RunStatus.OK
    assert (whole.ticks, whole.stop_reason) == (30, hw.StopReason.STEPS)


def test_a_slice_takes_exactly_the_steps_it_is_given() -> None:
    cursor = cursor_of(entry_of(Toy), toy_spec(1, steps=10, stats_every=4), ("Ticks",))
    assert cursor.advance(3) is None
    assert cursor.tick == 3
    assert cursor.advance(0) is None
    assert cursor.tick == 3
    assert cursor.advance(7) is not None, "the last sample is taken although no step is left"


class Lags(Toy):
    """Counts one step less than it is told to take, whenever that is more than one."""

    def step(self, n: int = 1) -> None:
        self.tick += max(1, n - 1)


class StartsLate(Toy):
    """Begins at tick 3."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.tick = 3


@pytest.mark.parametrize(("model", "came", "expected"), [(Lags, 1, 2), (StartsLate, 3, 0)])
def test_a_model_that_counts_its_steps_otherwise_fails_its_run(model: type[Toy], came: int, expected: int) -> None:
    outcome = outcome_of(model, toy_spec(1, stats_every=2))
    assert (outcome.status, outcome.ticks, outcome.traceback) == ("shape_error", 0, None)
    assert f"the model's tick is {came}, expected {expected}; it starts at 0 and each step adds 1" in outcome.note


def test_after_its_end_a_run_gives_the_same_outcome_again() -> None:
    cursor = cursor_of(entry_of(Toy), toy_spec(1), ("Ticks",))
    outcome = cursor.advance(100)
    assert outcome is not None
    assert cursor.advance(100) is outcome


def test_a_run_of_no_steps_is_one_sample_at_the_end_of_its_warm_up() -> None:
    outcome = outcome_of(Toy, toy_spec(1, steps=0, warmup=5))
    assert outcome.series.ticks.tolist() == [5]
    assert outcome.ticks == 5


def test_samples_start_at_the_warm_up_and_end_at_the_last_tick() -> None:
    outcome = outcome_of(Toy, toy_spec(1, steps=26, stats_every=5, warmup=5))
    assert outcome.series.ticks.tolist() == [5, 10, 15, 20, 25, 30, 31]


def test_a_condition_ends_a_run_at_the_first_sample_it_holds_at() -> None:
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=3.0)
    outcome = outcome_of(Toy, toy_spec(1, stop=stop))
    assert (outcome.ticks, outcome.stop_reason) == (4, hw.StopReason.CONDITION)
    assert outcome.series.ticks.tolist() == [0, 2, 4]
    later = hw.StopSpec(column="Ticks", comparison=">=", threshold=0.0, min_tick=5)
    assert outcome_of(Toy, toy_spec(1, stop=later)).ticks == 6


def test_a_failing_step_is_a_row_that_keeps_the_samples_before_it() -> None:
    outcome = outcome_of(Divides, toy_spec(0))
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == ("panicked", "fault", 0)
    assert outcome.series.ticks.tolist() == [0]
    assert outcome.population == 8
    assert re.fullmatch(
        r"while stepping the simulation, ZeroDivisionError at toy_models\.py:\d+: "
        r"integer division or modulo by zero|"
        r"while stepping the simulation, ZeroDivisionError at toy_models\.py:\d+: division by zero",
        outcome.note,
    ), outcome.note
    assert outcome.traceback is not None
    assert "before_step" in outcome.traceback


def test_a_failing_build_is_a_row_without_samples() -> None:
    outcome = outcome_of(DividesAtBuild, toy_spec(0))
    assert (outcome.status, outcome.stop_reason) == ("panicked", "fault")
    assert (outcome.ticks, outcome.population, len(outcome.series)) == (0, 0, 0)
    assert outcome.note.startswith("while building the model, ZeroDivisionError at toy_models.py:")
    assert set(outcome.reducers.values()) == {None}


def test_a_refused_build_says_so() -> None:
    outcome = outcome_of(Refuses, toy_spec(0))
    assert outcome.status is hw.RunStatus.REFUSED
    assert outcome.note.endswith("a value of 0 makes no model")


def test_a_gpu_model_is_refused_on_a_cpu_lane() -> None:
    outcome = outcome_of(Toy, toy_spec(1), backend=Backend.GPU)
    assert outcome.status is hw.RunStatus.REFUSED
    assert "a GPU model cannot run on a CPU lane" in outcome.note


def test_a_model_that_exits_fails_its_run_and_its_note_is_one_line() -> None:
    outcome = outcome_of(Exits, toy_spec(4))
    assert (outcome.status, outcome.ticks) == (hw.RunStatus.PANICKED, 4)
    assert "SystemExit" in outcome.note
    assert outcome.note.endswith("enough of this")


def test_a_value_that_is_not_finite_is_told_with_column_and_tick() -> None:
    outcome = outcome_of(Inverse, toy_spec(4), columns=("Inverse",))
    assert (outcome.status, outcome.stop_reason) == (hw.RunStatus.NON_FINITE, hw.StopReason.STEPS)
    assert outcome.note == "Inverse is not finite at tick 4"
    reducers = {kind: outcome.reducers[f"Inverse:{kind}"] for kind in ("final", "min", "max", "mean")}
    assert reducers == {"final": 0.5, "min": 0.25, "max": 0.5, "mean": 0.375}
    assert np.isinf(outcome.series.values[2:, 0]).all()


def test_statistics_that_change_their_shape_end_the_run() -> None:
    outcome = outcome_of(Reshapes, toy_spec(4))
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == ("shape_error", "fault", 4)
    assert outcome.series.ticks.tolist() == [0, 2]
    assert "More" in outcome.note


def with_marks(*ticks: int, value: int = 1000) -> hw.SweepSpec:
    actions = tuple(hw.ActionSpec(id="mark", tick=tick, name=f"mark_{tick}") for tick in ticks)
    return hw.SweepSpec(
        model="toy",
        fixed=(("value", value),),
        run=hw.RunSettings(steps=10),
        measure=hw.MeasureSettings(stats_every=2),
        actions=actions,
    )


def marks(outcome: hw.RunOutcome) -> list[float]:
    return [float(marks) for marks in outcome.series.values[:, 1]]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_an_action_fires_before_the_sample_of_its_tick_and_never_past_the_end(size: int) -> None:
    columns = ("Ticks", "Marks")
    outcome = outcome_of(Logs, with_marks(0, 4, 5, 11), columns, size=size, actions=("mark",))
    assert marks(outcome) == [1, 1, 2, 3, 3, 3], "tick 0 acts before the first sample, tick 11 never comes"
    assert outcome.note == ""


def test_a_refused_action_is_noted_and_the_run_goes_on() -> None:
    columns = ("Ticks", "Marks")
    outcome = outcome_of(Logs, with_marks(0, value=0), columns, actions=("mark",))
    assert outcome.status is hw.RunStatus.OK
    assert outcome.note == "model refused action 'mark' at tick 0"


def test_a_timeout_counts_stepping_and_keeps_the_samples() -> None:
    clock = ManualClock(tick_s=0.25)
    cursor = cursor_of(entry_of(Toy), toy_spec(1, steps=100, timeout_s=1.0), ("Ticks",), clock=clock)
    clock.advance(50.0)
    outcome = run_in_slices(cursor, forever(5))
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == ("timed_out", "timeout", 20)
    assert outcome.note == "timed out after 1 s at tick 20"
    assert outcome.series.ticks.tolist() == list(range(0, 21, 2))
    assert outcome.wall_ms == pytest.approx(1000.0)
    assert outcome.build_ms == pytest.approx(250.0)


def test_a_timeout_of_nothing_ends_every_run_that_is_not_done_at_once() -> None:
    outcome = outcome_of(Toy, toy_spec(1, steps=30, timeout_s=0.0), size=1)
    assert outcome.status is hw.RunStatus.TIMED_OUT
    assert outcome.ticks < 30
    assert outcome.note.startswith("timed out after 0 s")
