"""A model that says it has ended ends its run there: sampled, by `condition`, the same whatever the slices.

Mutants seen red: the end is sampled twice where it falls on the cadence, or not at all off it; it is asked for before
the actions of its tick; a sample is taken in the warm-up; a model that stops short without a word is taken for ended;
that one has ended at its start is told where an action comes first, or of a sweep without steps, or not at all.
"""

from __future__ import annotations

from typing import Any

import pytest

import henad_web as hw
from henad_web.explore.warnings import EndsAtStart
from tests.shared.declared_models import ForestFire, study_of
from tests.shared.hosts import Host
from tests.shared.test_cursor import comparable, cursor_of, forever, run_in_slices
from tests.shared.toy_models import Toy, entry_of, toy_spec

SLICES = [(1,), (1000,), (2, 5), (3, 1, 1), (7,)]


class Fuse(hw.Model):
    """Ends at tick `length`; an action makes it longer by three."""

    length = hw.u32(4, min=0, max=100)

    def setup(self) -> None:
        self.left = self.length

    def step_once(self) -> None:
        self.left -= 1

    def has_ended(self) -> bool:
        return self.left <= 0

    @hw.stat
    def remaining(self) -> int:
        return self.left

    @hw.action
    def lengthen(self) -> None:
        self.left += 3


class Burning(hw.Model, id="fuse"):
    """A fuse that burns several steps at once."""

    length = hw.u32(4, min=0, max=100)
    remaining = hw.stat()

    def setup(self) -> None:
        self.remaining = self.length

    def step(self, n: int = 1) -> None:
        self.remaining -= n

    def has_ended(self) -> bool:
        return self.remaining <= 0


class Late(Toy):
    """Ends at tick `value`, which it knows only when it is asked to go on."""

    is_over = False

    def step(self, n: int = 1) -> None:
        self.is_over = self.tick + n > self.value
        self.tick = min(self.tick + n, self.value)

    def has_ended(self) -> bool:
        return self.is_over


class Silent(hw.Model):
    """Only counts its steps, and knows no end."""

    value = hw.stat()

    def setup(self) -> None:
        self.value = 0

    def step_once(self) -> None:
        self.value += 1


def outcomes_of(model: type[hw.Model], spec: hw.SweepSpec, columns: tuple[str, ...]) -> list[hw.RunOutcome]:
    return [run_in_slices(cursor_of(model.entry(), spec, columns), forever(*sizes)) for sizes in SLICES]


def fuse(length: int, *, every: int = 3, steps: int = 20, warmup: int = 0, at: int | None = None) -> hw.RunOutcome:
    """Return the outcome of a fuse, having made sure that it is the same in all slices."""
    spec = hw.SweepSpec(
        model="fuse",
        fixed=(("length", length),),
        run=hw.RunSettings(steps=steps, warmup=warmup),
        measure=hw.MeasureSettings(stats_every=every, series_every=every),
        actions=() if at is None else (hw.ActionSpec(id="lengthen", tick=at),),
    )
    first, *others = outcomes_of(Fuse, spec, ("remaining",))
    assert all(comparable(other) == comparable(first) for other in others)
    return first


@pytest.mark.parametrize(
    ("length", "ticks"),
    [(0, [0]), (1, [0, 1]), (3, [0, 3]), (4, [0, 3, 4]), (6, [0, 3, 6]), (19, [*range(0, 19, 3), 19])],
)
def test_a_run_ends_where_its_model_does_and_is_sampled_there_once(length: int, ticks: list[int]) -> None:
    outcome = fuse(length)
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == (hw.RunStatus.OK, hw.StopReason.CONDITION, length)
    assert outcome.series.ticks.tolist() == ticks
    assert outcome.reducers["remaining:final"] == 0.0
    assert outcome.note == ""


def test_a_model_that_lasts_ends_by_its_steps() -> None:
    assert (fuse(21).stop_reason, fuse(21).ticks) == (hw.StopReason.STEPS, 20)
    assert (fuse(20).stop_reason, fuse(20).ticks) == (hw.StopReason.CONDITION, 20)


def test_the_end_is_asked_for_behind_the_actions_of_its_tick() -> None:
    assert fuse(4, at=4).ticks == 7
    assert fuse(4, at=3).ticks == 7
    assert fuse(4, at=5).ticks == 4
    assert fuse(0, at=0).ticks == 3


def test_an_end_in_the_warm_up_leaves_no_sample() -> None:
    outcome = fuse(4, warmup=6, every=2)
    assert (outcome.ticks, outcome.stop_reason, len(outcome.series)) == (4, hw.StopReason.CONDITION, 0)
    assert outcome.reducers["remaining:final"] is None
    assert fuse(7, warmup=6, every=2).series.ticks.tolist() == [6, 7]


@pytest.mark.parametrize("length", [0, 1, 3, 4, 6, 19])
def test_a_model_that_steps_several_at_once_ends_at_the_same_tick(length: int) -> None:
    spec = hw.SweepSpec(model="fuse", fixed=(("length", length),), run=hw.RunSettings(steps=20))
    ends = {(each.ticks, each.stop_reason) for each in outcomes_of(Burning, spec, ("remaining",))}
    assert ends == {(length, hw.StopReason.CONDITION)}


@pytest.mark.parametrize(("value", "ticks"), [(3, [0, 2, 3]), (4, [0, 2, 4]), (9, [0, 2, 4, 6, 8, 9])])
def test_a_model_may_learn_of_its_end_when_it_is_to_go_on(value: int, ticks: list[int]) -> None:
    spec = hw.SweepSpec(
        model="toy",
        fixed=(("value", value),),
        run=hw.RunSettings(steps=10),
        measure=hw.MeasureSettings(stats_every=2, series_every=2),
    )
    for sizes in SLICES:
        outcome = run_in_slices(cursor_of(entry_of(Late), spec, ("Ticks",)), forever(*sizes))
        assert (outcome.ticks, outcome.stop_reason) == (value, hw.StopReason.CONDITION)
        assert outcome.series.ticks.tolist() == ticks


def test_a_model_takes_no_step_behind_its_end() -> None:
    model = Fuse({"length": 3})
    model.step(10)
    assert (model.tick, model.remaining) == (3, 0)
    model.step(1)
    assert model.tick == 3


def test_a_stop_condition_may_come_before() -> None:
    spec = hw.SweepSpec(
        model="fuse",
        fixed=(("length", 9),),
        run=hw.RunSettings(steps=20, stop=hw.StopSpec(column="remaining", comparison="<=", threshold=5.0)),
        measure=hw.MeasureSettings(stats_every=1),
    )
    assert {outcome.ticks for outcome in outcomes_of(Fuse, spec, ("remaining",))} == {4}


def test_a_model_that_stops_short_without_a_word_is_wrong() -> None:
    class Stuck(Toy):
        """Takes two steps of however many, and denies that it has ended."""

        def step(self, n: int = 1) -> None:
            self.tick = min(self.tick + n, 2)

        def has_ended(self) -> bool:
            return False

    spec = toy_spec(1, steps=20)
    outcome = run_in_slices(cursor_of(entry_of(Stuck), spec, ("Ticks",)), forever(3))
    assert (outcome.status, outcome.ticks) == (hw.RunStatus.SHAPE_ERROR, 2)


def test_an_end_that_is_assigned_and_no_method_is_told() -> None:
    class Assigns(Silent):
        """Takes the method for a value."""

        def step_once(self) -> None:
            self.has_ended = True  # type: ignore[method-assign, assignment]

    spec = study_of(Assigns)
    outcome = run_in_slices(cursor_of(Assigns.entry(), spec, ("value",)), forever(100))
    assert outcome.status is hw.RunStatus.PANICKED
    assert "the model's has_ended is True, and it is a method: def has_ended(self) -> bool" in outcome.note


def test_a_sweep_of_models_that_end_is_written_replayed_and_viewed(host: Host) -> None:
    spec = study_of(ForestFire, steps=200)
    files = host.files(ForestFire, spec)
    results = hw.ResultSet.from_files(files, models=ForestFire)
    assert [run.stop_reason for run in results.runs] == ["condition", "condition"]
    for run_id in range(2):
        ticks = int(results.runs.run(run_id).ticks)
        assert 0 < ticks < 200
        state = results.replay(run_id, "end")
        assert state.tick == ticks
        assert state.stats()["burning"] == 0.0
        assert results.series(run_id).ticks[-1] == ticks
    assert hw.verify_results(results, runs=2).is_equal


FROM_THE_START = [
    ({"fixed": (("length", 0),)}, True),
    ({"fixed": (("length", 0),), "run": hw.RunSettings(steps=5, warmup=2)}, True),
    ({"fixed": (("length", 1),)}, False),
    ({"fixed": (("length", 0),), "run": hw.RunSettings(steps=0)}, False),
    ({"fixed": (("length", 0),), "actions": (hw.ActionSpec(id="lengthen", tick=0),)}, False),
    ({"fixed": (("length", 0),), "actions": (hw.ActionSpec(id="lengthen", tick=1),)}, True),
]


@pytest.mark.parametrize(("given", "is_told"), FROM_THE_START)
def test_a_model_that_has_ended_before_its_first_step_is_warned_of(
    host: Host, given: dict[str, Any], is_told: bool
) -> None:
    spec = hw.SweepSpec(model="fuse", **{"run": hw.RunSettings(steps=5), **given})
    outline = hw.plan_spec(Fuse, spec, target=host.target)
    assert outline.warnings == (EndsAtStart(0),) * is_told
    assert "has ended at tick 0 of config 0 already" in str(EndsAtStart(0))


def test_an_end_that_cannot_be_asked_for_is_left_to_the_runs(host: Host) -> None:
    class Broken(Fuse, id="fuse"):
        """Fails where it is asked whether it has ended."""

        def has_ended(self) -> bool:
            raise KeyError("left")

    spec = hw.SweepSpec(model="fuse", run=hw.RunSettings(steps=5))
    assert hw.plan_spec(Broken, spec, target=host.target).warnings == ()
