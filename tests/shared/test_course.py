"""A course is what a tick-by-tick reading of the spec says, in any slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.measure import MeasurePlan
from henad_web.model.schema import Schedule, ScheduledAction, schedule_of
from henad_web.run.course import Course, Leg

Happening = tuple[int, str]


def measure_of(warmup: int = 0, steps: int = 10, every: int = 1) -> MeasurePlan:
    return MeasurePlan(
        warmup=warmup,
        total=warmup + steps,
        stats_every=every,
        series_every=0,
        columns=("Ticks",),
        reducers=(),
        stop=None,
    )


def actions_at(ticks: Sequence[int]) -> Schedule:
    return schedule_of(ScheduledAction(tick, f"action_{number}", "") for number, tick in enumerate(ticks))


def tick_by_tick(measure: MeasurePlan, schedule: Schedule) -> Iterator[Happening]:
    """Yield what happens at each tick: its actions, then its sample."""
    for tick in range(measure.total + 1):
        yield from ((tick, action.id) for action in schedule if action.tick == tick)
        is_on_cadence = tick >= measure.warmup and (tick - measure.warmup) % measure.stats_every == 0
        if is_on_cadence or tick == measure.total:
            yield tick, "sample"


def legs_of(course: Course, budgets: Iterator[int]) -> Iterator[Leg]:
    """Yield the legs of a run that gets one budget after the other, to its end."""
    yield (leg := course.start)
    tick = 0
    while not leg.is_last:
        budget = next(budgets)
        while not leg.is_last and (found := course.leg(tick, budget)) is not None:
            leg = found
            taken = leg.steps * leg.strides
            assert 0 < taken <= budget
            tick, budget = tick + taken, budget - taken
            yield leg
        assert budget == 0 or leg.is_last, "a slice takes all the steps it is given"


def happenings(legs: Iterator[Leg]) -> Iterator[Happening]:
    tick = 0
    for leg in legs:
        for left in reversed(range(leg.strides)):
            tick += leg.steps
            yield from ((tick, action.id) for action in (() if left else leg.actions))
            if leg.is_sampled:
                yield tick, "sample"


@given(
    warmup=st.integers(0, 12),
    steps=st.integers(0, 40),
    every=st.integers(1, 15),
    ticks=st.lists(st.integers(0, 60), max_size=6),
    budgets=st.lists(st.integers(1, 50), min_size=1, max_size=8),
)
def test_any_slices_come_to_what_happens_tick_by_tick(
    warmup: int, steps: int, every: int, ticks: list[int], budgets: list[int]
) -> None:
    measure, schedule = measure_of(warmup, steps, every), actions_at(ticks)

    def repeated() -> Iterator[int]:
        while True:
            yield from budgets

    legs = list(legs_of(Course(measure, schedule), repeated()))
    assert list(happenings(iter(legs))) == list(tick_by_tick(measure, schedule))
    assert sum(leg.steps * leg.strides for leg in legs) == measure.total
    assert [leg.is_last for leg in legs] == [False] * (len(legs) - 1) + [True]


def test_samples_of_one_cadence_are_strides_of_one_leg() -> None:
    course = Course(measure_of(warmup=3, steps=20, every=4), actions_at([11]))
    assert course.start == Leg(0, 1, False, (), is_last=False)
    assert course.leg(0, 100) == Leg(3, 1, True, (), is_last=False)
    assert course.leg(3, 100) == Leg(4, 2, True, actions_at([11]), is_last=False), "to the action and its sample"
    assert course.leg(11, 100) == Leg(4, 3, True, (), is_last=True)


def test_a_last_sample_off_the_cadence_is_a_leg_of_its_own() -> None:
    course = Course(measure_of(steps=10, every=4), ())
    assert course.leg(0, 100) == Leg(4, 2, True, (), is_last=False)
    assert course.leg(8, 100) == Leg(2, 1, True, (), is_last=True)


def test_there_is_no_leg_without_a_budget_nor_behind_the_end() -> None:
    course = Course(measure_of(steps=10), ())
    assert course.leg(4, 0) is None
    assert course.leg(10, 5) is None


def test_actions_behind_the_last_tick_shorten_nothing() -> None:
    assert Course(measure_of(steps=10), actions_at([11])).leg(0, 100) == Leg(1, 10, True, (), is_last=True)
