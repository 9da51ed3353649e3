"""What the benchmarks measure by: one loop and one set of cases for the page and for native Python."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import henad_web as hw
from benchmarks.answers import QUESTIONS, Walk, figures, study
from benchmarks.frameworks import ENTRANTS, Entrant, Lap, RaceError, difference, python_of, race, times_as_many
from benchmarks.fronts import hypervolume, our_front
from benchmarks.native import handle_steps
from benchmarks.rivals.race import INFECTION, INITIAL, RECOVERY, STEPS
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


def test_a_hypervolume_is_the_area_that_a_front_dominates_up_to_the_reference() -> None:
    assert hypervolume([]) == 0.0
    assert hypervolume([(0.5, 0.5)], (1.0, 1.0)) == 0.25
    front = [(0.75, 0.25), (0.25, 0.75), (0.5, 0.9), (0.0, 1.0), (2.0, 0.0), (0.0, 3.0)]
    assert hypervolume(front, (1.0, 1.0)) == 0.75 * 0.25 + 0.25 * 0.5
    assert len(our_front(1, factors=3, population=6, evaluations=18)) == 6


OTHER = Entrant(name="Other", program="other_sir.py", requirement="other>=1", runs={1: 1})


def test_an_environment_is_made_once_for_each_requirement(tmp_path: Path) -> None:
    installed: list[tuple[Path, str]] = []

    def install(python: Path, requirement: str) -> None:
        installed.append((python, requirement))

    for entrant in (OTHER, OTHER, replace(OTHER, requirement="other>=2")):
        python = python_of(entrant, tmp_path, make=lambda home: home.mkdir(exist_ok=True), install=install)
        assert python.is_relative_to(tmp_path / "other")
    assert [requirement for _, requirement in installed] == ["other>=1", "other>=2"]
    assert python_of(replace(OTHER, requirement=None), tmp_path) == Path(sys.executable)


def test_a_package_that_cannot_be_installed_is_told_in_a_line(tmp_path: Path) -> None:
    def install(python: Path, requirement: str) -> None:
        raise subprocess.CalledProcessError(1, "pip", stderr="Collecting other\nERROR: No matching distribution\n")

    with pytest.raises(RaceError) as caught:
        python_of(OTHER, tmp_path, make=lambda home: home.mkdir(), install=install)
    assert str(caught.value) == "Other cannot be installed: ERROR: No matching distribution"
    assert not (tmp_path / "other" / "requirement.txt").exists()


def test_a_program_that_fails_is_told_in_a_line() -> None:
    with pytest.raises(RaceError, match=r"^Other on 1 core failed: .*No such file.*$"):
        race(OTHER, Path(sys.executable), 1)


def test_our_own_program_runs_the_epidemic_it_is_compared_by() -> None:
    ours = ENTRANTS[0]
    lap = race(replace(ours, runs={1: 2}), Path(sys.executable), 1)
    assert len(lap.infected) == 2
    assert difference(lap, lap) is None
    defaults = {param.id: param.default for param in hw.example_models()["sir"].params}
    assert defaults["infection_rate"] == pytest.approx(INFECTION)
    assert defaults["recovery_rate"] == pytest.approx(RECOVERY)
    assert defaults["initial_infected_pct"] == pytest.approx(INITIAL)


def lap_of(*runs: list[int]) -> Lap:
    return Lap("1", 1.0, 1.0, [*runs])


def epidemic(start: int = 100, peak: int = 7000, counts: int = STEPS + 1) -> list[int]:
    return [start, peak, *([90] * (counts - 2))]


@pytest.mark.parametrize(
    ("lap", "text"),
    [
        (lap_of(epidemic(), epidemic(130, 7500)), None),
        (lap_of(epidemic(), epidemic(counts=STEPS)), "not every run has 101 counts"),
        (lap_of(epidemic(start=10)), "10 cells are infected at the start, not about 100"),
        (lap_of(epidemic(peak=6000)), "6000 are infected at the peak, not about 7000"),
        (lap_of(epidemic(peak=8000)), "8000 are infected at the peak, not about 7000"),
    ],
)
def test_another_epidemic_is_told_in_words(lap: Lap, text: str | None) -> None:
    assert difference(lap, lap_of(epidemic())) == text


def test_what_is_compared_is_the_ratio_within_a_round() -> None:
    assert times_as_many([1.0, 10.0, 2.0], [3.0, 20.0, 8.0]) == 3.0


def test_every_question_of_the_benchmark_of_answers_is_answered() -> None:
    record = hw.run_spec(Walk, study(40))
    results = hw.ResultSet.from_files(record.files or {}, models=Walk)
    assert [name for name, *_ in figures(results, repeats=1)] == list(QUESTIONS)
