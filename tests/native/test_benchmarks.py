"""What the benchmarks measure by: one loop and one set of cases for the page and for native Python."""

from __future__ import annotations

import asyncio

import pytest

import henad_web as hw
from benchmarks.native import handle_steps
from tests.shared.hosts import ManualClock
from web.bench_bare import BareLoop
from web.bench_cases import CASES, Case, single_run_text, spec_text


class _State:
    """Takes as long for a call as its entry's next entry of `seconds` says."""

    def __init__(self, clock: ManualClock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds

    def step(self, n: int = 1) -> None:
        self._clock.advance(self._seconds)


class _Entry:
    """Builds states that take `seconds`, one after the other; a build takes an hour."""

    def __init__(self, clock: ManualClock, seconds: list[float]) -> None:
        self._clock, self._seconds = clock, iter(seconds)

    def build(self, params: dict[str, object], seed: int) -> _State:
        self._clock.advance(3600.0)
        assert params == {"grid_width": 10, "grid_height": 10}
        return _State(self._clock, next(self._seconds))


def test_a_rate_is_the_median_of_seven_repeats_after_one_that_is_discarded_without_builds() -> None:
    clock = ManualClock()
    entry = _Entry(clock, [100.0, 4.0, 1.0, 2.0, 8.0, 16.0, 32.0, 64.0])
    loop = BareLoop(entry, 10, 50, clock)  # type: ignore[arg-type]
    assert asyncio.run(loop.before()) == pytest.approx(10 * 10 * 50 / 3.0)
    assert asyncio.run(loop.after()) == pytest.approx(10 * 10 * 50 / 8.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_run_through_the_handle_is_the_bare_run_or_a_whole_number_of_them(case: Case) -> None:
    steps = handle_steps(case)
    assert steps % case.bare_steps == 0
    spec = hw.parse_spec(single_run_text(case, steps=steps, stats_every=100)).spec
    plan = spec.plan(hw.example_models()[case.model].schema())
    assert (plan.run_count, plan.total_ticks) == (1, steps)


def test_a_sweep_of_the_page_steps_for_the_time_it_is_asked_for() -> None:
    life, _, sir = CASES
    spec = hw.parse_spec(spec_text(life, rate=65536 * 1000.0, seconds=2.0, stats_every=100)).spec
    assert (spec.run.steps, spec.run.replicates) == (1000, 2)
    spec = hw.parse_spec(spec_text(sir, rate=65536 * 1000.0, seconds=2.0, stats_every=1)).spec
    assert (spec.run.steps, spec.run.replicates) == (100, 20)
