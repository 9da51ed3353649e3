"""Rows of failed runs are pure too: the same row whatever the slices, found by doing the run once more.

Mutants that this file was seen to catch: no second course, one that is never stepped singly, a second course with the
samples of the first one, a slice that outlives the change of pace.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.model.params import ParamValue
from henad_web.results.verifying import verify_results
from henad_web.run.control import SliceSize
from henad_web.run.cursor import RunCursor, RunStage
from henad_web.run.lanes import InProcessLane, RunEnded
from henad_web.run.requests import RunRequest
from tests.shared.hosts import Host, ManualClock
from tests.shared.toy_models import Toy, entry_of, toy_spec


class Loops(Toy):
    """Loops inside `step`, counts once behind the loop, and fails in the step from `value` on."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.age = self.marks = 0

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            if self.age == self.value:
                raise ValueError("of age")
            self.age += 1
        self.tick += n

    @property
    def population(self) -> int:  # type: ignore[override]
        return 100 + self.age

    def act(self, action_id: str) -> bool:
        self.marks += 1
        return self.age % 2 == 0

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.age), "Marks": float(self.marks)}


class LosesCount(Loops):
    """Does its steps, but its tick stands still from `value` on."""

    def step(self, n: int = 1) -> None:
        self.age += n
        self.tick = min(self.tick + n, self.value)


COLUMNS = ("Ticks", "Marks")


def spec_of(
    value: int, *, steps: int = 400, every: int = 100, marks: tuple[int, ...] = (), timeout_s: float | None = None
) -> hw.SweepSpec:
    return hw.SweepSpec(
        model="toy",
        fixed=(("value", value),),
        run=hw.RunSettings(steps=steps, timeout_s=timeout_s),
        measure=hw.MeasureSettings(stats_every=every),
        actions=tuple(hw.ActionSpec(id="mark", tick=tick, name=f"mark_{tick}") for tick in marks),
    )


def cursor_of(model: type[Toy], spec: hw.SweepSpec, clock: ManualClock | None = None) -> RunCursor:
    entry = entry_of(model, stats=COLUMNS, actions=("mark",))
    plan = spec.plan(entry.schema())
    request = RunRequest.of(plan, plan.run(0))
    return RunCursor(entry, MeasurePlan.bind(plan, COLUMNS), request, clock or ManualClock())


def row_of(model: type[Toy], spec: hw.SweepSpec, slices: Iterator[int]) -> tuple[object, ...]:
    cursor = cursor_of(model, spec)
    cursor.build()
    while (outcome := cursor.advance(next(slices))) is None:
        pass
    fields = [getattr(outcome, field.name) for field in dataclasses.fields(outcome)]
    names = [field.name for field in dataclasses.fields(outcome)]
    plain = {name: value for name, value in zip(names, fields, strict=True) if name not in ("series", "traceback")}
    return (*plain.items(), outcome.series.ticks.tolist(), outcome.series.values.tolist())


def forever(*sizes: int) -> Iterator[int]:
    while True:
        yield from sizes


def told(row: tuple[object, ...], name: str) -> object:
    return next(pair[1] for pair in row if isinstance(pair, tuple) and pair[0] == name)


@pytest.mark.parametrize("model", [Loops, LosesCount])
@pytest.mark.parametrize("sizes", [(2,), (7,), (128,), (1 << 20,), (1, 64, 3)])
def test_a_fault_in_the_step_from_t_has_ticks_t_in_every_slicing(model: type[Toy], sizes: tuple[int, ...]) -> None:
    spec = spec_of(157, marks=(0, 31, 150, 300))
    singly = row_of(model, spec, forever(1))
    assert told(singly, "ticks") == 157
    assert told(singly, "population") == 200, "that of the latest sample"
    assert told(singly, "stop_reason") == "fault"
    assert row_of(model, spec, forever(*sizes)) == singly


@given(
    value=st.integers(0, 60),
    every=st.integers(1, 70),
    marks=st.lists(st.integers(0, 70), max_size=3, unique=True),
    sizes=st.lists(st.integers(1, 90), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_slicing_gives_the_row_of_single_steps(value: int, every: int, marks: list[int], sizes: list[int]) -> None:
    spec = spec_of(value, steps=70, every=every, marks=tuple(marks))
    assert row_of(Loops, spec, forever(*sizes)) == row_of(Loops, spec, forever(1))


def test_the_recorded_vector_a_fault_at_tick_5_with_samples_every_3() -> None:
    row = row_of(Loops, spec_of(5, steps=12, every=3), forever(64))
    assert told(row, "ticks") == 5
    assert told(row, "population") == 103
    assert row[-2] == [0, 3]
    assert str(told(row, "note")).startswith("while stepping the simulation, ValueError at test_failed_rows.py:")


@pytest.mark.parametrize("steps", [1, 2, 7, 128])
def test_no_slice_size_changes_a_byte_of_failed_rows(
    stepped: Host, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    spec = toy_spec(3, 50, 158, steps=200)
    entry = entry_of(Loops, stats=COLUMNS)
    whole = hw.masked(stepped.files(entry, spec))
    monkeypatch.setattr(SliceSize, "within", lambda self, time_left_s: steps)
    assert hw.masked(stepped.files(entry, spec)) == whole


def test_a_deterministic_model_that_fails_is_verified_equal(stepped: Host) -> None:
    entry = entry_of(Loops, stats=COLUMNS)
    files = stepped.files(entry, toy_spec(3, 50, 158, steps=200))
    results = hw.ResultSet.from_files(files, models=hw.ModelSet([entry]))
    report = verify_results(results, runs=99)
    assert report.is_equal, str(report)


class FailsOnce(Loops):
    """Fails in its first course only."""

    builds = 0

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        FailsOnce.builds += 1

    def step(self, n: int = 1) -> None:
        if FailsOnce.builds > 1:
            self.age, self.tick = self.age + n, self.tick + n
        else:
            super().step(n)


class FailsToBuildAgain(FailsOnce):
    """Fails in its first course, and at its second build."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        if FailsOnce.builds:
            raise MemoryError
        super().__init__(params, seed)


class FailsInLargeSteps(Loops):
    """Cannot do 20 steps at once."""

    def step(self, n: int = 1) -> None:
        if n >= 20:
            raise ValueError("too many")
        self.age, self.tick = self.age + n, self.tick + n


@pytest.mark.parametrize("model", [FailsOnce, FailsToBuildAgain, FailsInLargeSteps])
def test_a_run_that_fails_otherwise_when_it_is_done_again_says_so(model: type[Toy]) -> None:
    FailsOnce.builds = 0
    row = row_of(model, spec_of(157), forever(64))
    assert told(row, "status") == "panicked"
    assert str(told(row, "note")).startswith("the run was done again step by step and did not fail there, ")
    assert "; while stepping the simulation, ValueError at test_failed_rows.py:" in str(told(row, "note"))
    assert told(row, "ticks") == (0 if model is FailsInLargeSteps else 128), "the last tick it is known to have reached"


def test_doing_a_run_again_takes_no_more_than_a_slice_a_call() -> None:
    taken: list[int] = []

    class Counts(Loops):
        def step(self, n: int = 1) -> None:
            taken.append(n)
            super().step(n)

    cursor = cursor_of(Counts, spec_of(157, every=1000))
    cursor.build()
    stages = []
    while cursor.advance(50) is None:
        stages.append((cursor.stage, cursor.tick))
    assert taken == [50, 50, 50, 50, 50, 50, 50, *[1] * 8]
    assert stages == [
        (RunStage.FIRST, 50),
        (RunStage.FIRST, 100),
        (RunStage.FIRST, 150),
        (RunStage.AGAIN, 0),
        (RunStage.AGAIN, 0),
        (RunStage.AGAIN, 50),
        (RunStage.AGAIN, 100),
        (RunStage.STEP_BY_STEP, 150),
    ]


def test_single_steps_begin_with_a_slice_of_their_own() -> None:
    """A slice grown on many steps at once would hold a pause for as many single ones."""
    taken: list[int] = []

    class Counts(Loops):
        def step(self, n: int = 1) -> None:
            taken.append(n)
            super().step(n)

    clock = ManualClock(tick_s=1e-6)
    spec = spec_of(900, steps=1000, every=1000)
    entry = entry_of(Counts, stats=COLUMNS)
    plan = spec.plan(entry.schema())
    measure = MeasurePlan.bind(plan, COLUMNS)
    lane = InProcessLane(entry, measure, slice_target_s=1.0, clock=clock)
    assert lane.submit(RunRequest.of(plan, plan.run(0)))
    polls: list[list[int]] = []
    ended = False
    while not ended:
        before = len(taken)
        ended = any(isinstance(report, RunEnded) for report in lane.poll())
        polls.append(taken[before:])
    largest = max(range(len(polls)), key=lambda place: max(polls[place], default=0))
    single = [steps for steps in polls[largest + 1 :] if set(steps) == {1}]
    assert max(polls[largest]) >= 256
    assert [len(steps) for steps in single[-3:-1]] == [64, 128]
    assert [1] in single, "one step, as at the start of any run"


def test_the_time_of_the_course_that_is_recorded_counts() -> None:
    clock = ManualClock(tick_s=0.25)
    cursor = cursor_of(Loops, spec_of(157, timeout_s=1.0), clock)
    cursor.build()
    while (outcome := cursor.advance(200)) is None:
        pass
    assert outcome.status is hw.RunStatus.PANICKED, "the first course's second is not held against the next"
    assert outcome.wall_ms == pytest.approx(500.0), "two slices: to tick 100, then to the fault"


def test_a_run_that_takes_too_long_when_it_is_done_again_timed_out() -> None:
    cursor = cursor_of(Loops, spec_of(157, timeout_s=1.0), ManualClock(tick_s=0.3))
    cursor.build()
    assert cursor.advance(120) is None
    assert cursor.advance(200) is None
    while (outcome := cursor.advance(20)) is None:
        pass
    assert (outcome.status, outcome.note) == ("timed_out", "timed out after 1 s at tick 80")
    assert outcome.series.ticks.tolist() == [0]
