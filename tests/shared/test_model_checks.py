"""The kit that checks models: what keeps every rule passes, and each rule has models that break it."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import henad_web as hw
from henad_web.testing import Check, ModelReport, check_model
from tests.shared import broken_models as broken

ALL_BUT = {Check.OTHER_PROCESS}


@pytest.mark.parametrize(
    "entry", [*hw.example_models().values(), broken.in_batches(broken.Rows)], ids=lambda entry: entry.id
)
def test_a_sound_model_passes_every_check(entry: hw.ModelEntry) -> None:
    report = check_model(entry)
    assert str(report).splitlines()[1:] == [
        "  other_process: not checked, no other process was given; henad check has one"
    ]
    assert set(report.passed) == set(Check) - ALL_BUT
    assert report.is_ok


def test_the_fingerprint_is_that_of_every_target() -> None:
    assert check_model(broken.Sound).fingerprint == "366be606b93489a9"
    report = check_model(broken.Sound, fingerprint="0123456789abcdef")
    assert [failure.check for failure in report.failures] == [Check.PORTABLE]
    assert "here, and 0123456789abcdef elsewhere" in report.failures[0].words


BROKEN: list[tuple[Check, Any, str]] = [
    (Check.BUILD, broken.RaisesAtTheBuild, "no start"),
    (Check.BUILD, broken.RaisesInAStep, "ZeroDivisionError at broken_models.py:"),
    (Check.BUILD, broken.ReportsNoNumber, "stats() holds what is no number at tick 0"),
    (Check.BUILD, broken.CountsWrong, "heap_bytes"),
    (Check.UNSEEDED, broken.StartsAnywhereUnseeded, "two builds without a seed differ: at tick 0 total is "),
    (Check.STATS, broken.ReportsAnother, "it reports place, total at tick 0 and total, place at tick 5"),
    (Check.STATS, broken.ReportsMore, "it declares place, total and reports place, total, extra"),
    (Check.GRID, broken.DrawsFractions, "its grid is float64 of shape (4, 4); allowed: uint8 (height, width)"),
    (Check.GRID, broken.DrawsPastThePalette, "its grid holds 7, and the palette has 2 colours"),
    (Check.GRID, broken.GivesItsGridAway, "writing to its grid changes the model"),
    (Check.PARAMS, broken.TakesEveryParameter, "parameter 'side' is declared to be read at the build alone"),
    (Check.PARAMS, broken.TakesNoParameter, "parameter 'stride' is declared to be taken as it runs"),
    (Check.ACTIONS, broken.ActsOnAnything, "act() returns true for an action that it does not declare"),
    (Check.ACTIONS, broken.ActsInVain, "the action 'wave' is refused, or changes nothing"),
    (Check.SAME_SEED, broken.DrawsFromTheSystem, "two runs of one seed differ: at tick "),
    (Check.SEED_SENSITIVITY, broken.DrawsNothing, "seeds 1 to 4 give one run"),
    (
        Check.SLICES,
        broken.StepsInLeaps,
        "step(1) again and again and steps of 20 differ: at tick 20 place is 4.0 and 0.0",
    ),
    (Check.SLICES, broken.StepsOnZero, "step(0) changes what the model shows"),
    (Check.CADENCE, broken.ReadingMoves, "differ: at tick 20 total is "),
    (Check.NEIGHBOURS, broken.SharesAPlace, "a run beside another one differs from the same run alone: at tick"),
    (Check.BATCHES, broken.in_batches(broken.KeepsOthers), "alone and in a batch differ: at tick 11"),
    (Check.BATCHES, broken.in_batches(broken.DrawsTogether), "seed 2 alone and in a batch differ: at tick 1 "),
    (
        Check.BATCHES,
        broken.in_batches(broken.RefusesActions),
        "act('home') returns [False, False, False, False, False]",
    ),
    (Check.BATCHES, broken.in_batches(broken.LosesItsGrids), "seed 1 alone and in a batch differ: at tick 0 the grids"),
    (Check.BATCHES, broken.in_batches(broken.Rows, rows=0), "it says that 0 rows are worth a batch"),
    (Check.GLOBALS, broken.SeedsNumpy, "a run changes the generator behind the functions of np.random;"),
    (Check.GLOBALS, broken.SeedsRandom, "a run changes the generator behind the functions of random;"),
    (Check.GLOBALS, broken.SetsTheEnvironment, "a run changes environment variables;"),
    (Check.GLOBALS, broken.CountsRuns, "a run changes the variable runs_built of "),
    (Check.GLOBALS, broken.SharesAPlace, "the class variable SharesAPlace.shared"),
    (Check.CLOCKS, broken.AsksTheTime, "a run asks for time.time at broken_models.py:"),
    (Check.CLOCKS, broken.AsksTheDate, "a run asks for datetime.now at broken_models.py:"),
    (Check.CLOCKS, broken.DrawsFromRandom, "random.getrandbits at broken_models.py:"),
    (Check.CLOCKS, broken.DrawsFromNumpysGlobal, "a run asks for np.random.random in DrawsFromNumpysGlobal.draw; "),
    (Check.PORTABLE, broken.Inherits, "the distribution f in Decays.step_once"),
    (Check.PORTABLE, broken.CallsAnotherFile, "np.exp in decay"),
    (Check.PORTABLE, broken.ReportsALogarithm, "math.log1p in ReportsALogarithm.grown"),
    (Check.PORTABLE, broken.UsesMath, "math.exp in UsesMath.draw"),
    (Check.PORTABLE, broken.UsesANameOfMath, "math.log in UsesANameOfMath.draw"),
    (Check.PORTABLE, broken.UsesNumpy, "np.exp in helper"),
    (Check.PORTABLE, broken.UsesADistribution, "the distribution normal in UsesADistribution.draw"),
    (Check.PORTABLE, broken.Multiplies, "the operator @ in Multiplies.draw"),
    (Check.PORTABLE, broken.UsesLinearAlgebra, "numpy.linalg.det in UsesLinearAlgebra.draw"),
    (Check.PORTABLE, broken.UsesRandomsGauss, "math.log"),
    (Check.PICKLING, replace(broken.Sound.entry(), factory=broken.Forgetful()), "a run of what was pickled differs:"),
    (Check.SWEEP, broken.NeedsASmallSeed, "seed must be between 0 and 2**32 - 1"),
]


@pytest.mark.parametrize(("check", "model", "words"), BROKEN, ids=lambda each: getattr(each, "__name__", None))
def test_a_model_that_breaks_a_rule_is_caught(check: Check, model: Any, words: str) -> None:
    report = check_model(model)
    found = {failure.check: failure.words for failure in report.failures}
    assert words in found.get(check, str(report))
    assert not report.is_ok
    assert f"  {check}: " in str(report)


def test_the_cause_is_told_before_what_follows_from_it() -> None:
    report = check_model(broken.DrawsFromTheSystem)
    assert [failure.check for failure in report.failures][:2] == [Check.CLOCKS, Check.UNSEEDED]


def test_what_others_do_at_a_collection_is_not_the_models_doing() -> None:
    def note(phase: str, info: dict[str, int]) -> None:
        time.perf_counter()

    class Litters(broken.Sound):
        def draw(self) -> int:
            [[[]] for _ in range(3000)]
            return super().draw()

    gc.callbacks.append(note)
    try:
        report = check_model(Litters)
    finally:
        gc.callbacks.remove(note)
    assert Check.CLOCKS in report.passed
    assert gc.isenabled()


def test_parameters_and_methods_may_be_called_as_distributions_are() -> None:
    report = check_model(broken.UsesTheNamesOfDistributions)
    assert report.is_ok, report


def test_each_rule_has_a_model_that_breaks_it() -> None:
    assert {check for check, _, _ in BROKEN} == set(Check) - ALL_BUT


def reasons(report: ModelReport) -> dict[Check, str]:
    return {skip.check: skip.reason for skip in report.skipped}


def test_rules_that_do_not_apply_are_told_with_a_reason() -> None:
    found = reasons(check_model(broken.Bare))
    assert found == {
        Check.GRID: "it has no grid",
        Check.PARAMS: "it has no parameters",
        Check.ACTIONS: "it declares no actions",
        Check.BATCHES: "it offers no batches",
        Check.PORTABLE: "it declares portable=False",
        Check.OTHER_PROCESS: "no other process was given; henad check has one",
    }


def test_a_model_that_does_not_build_is_checked_no_further() -> None:
    report = check_model(broken.RaisesAtTheBuild)
    assert [failure.check for failure in report.failures] == [Check.BUILD]
    assert set(reasons(report).values()) == {"it needs a model that builds and steps"}
    assert report.fingerprint is None
    assert len(report.skipped) == len(Check) - 1


def test_a_model_that_promises_no_exact_replay_is_not_held_to_it() -> None:
    entry = broken.DrawsFromTheSystem.entry()
    lax = replace(entry, metadata=replace(entry.metadata, replays_exactly=False))
    report = check_model(lax)
    assert report.is_ok
    assert reasons(report)[Check.SAME_SEED] == "it declares replays_exactly=False"


def test_an_exemption_needs_a_rule_that_is_broken() -> None:
    why = "the walk is the same for all"
    report = check_model(broken.DrawsNothing, exempt={"seed_sensitivity": why})
    assert report.is_ok
    assert reasons(report)[Check.SEED_SENSITIVITY] == f"exempt: {why}"
    kept = check_model(broken.Sound, exempt={"grid": "x", "batches": "y"})
    assert {failure.check: failure.words.partition(",")[0] for failure in kept.failures} == {
        Check.GRID: "the rule is kept",
        Check.BATCHES: "the rule does not apply",
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"exempt": {"seeds_sensitivity": "x"}}, "did you mean 'seed_sensitivity'?"),
        ({"exempt": {"grid": " "}}, "the exemption of 'grid' has no reason"),
        ({"ticks": 7}, "ticks is 7; allowed: a whole number, at least 8"),
        ({"ticks": 9.5}, "ticks is 9.5"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1 << 64}, "seed is 18446744073709551616"),
    ],
)
def test_a_wrong_argument_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(hw.UsageError, match=words.replace("?", r"\?")):
        check_model(broken.Sound, **given)


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(hw.ParamError, match="strade"):
        check_model(broken.Sound, params={"strade": 3})
    with pytest.raises(hw.UsageError, match="the model is"):
        check_model("sir")  # type: ignore[arg-type]


def test_sizes_are_cut_down_unless_given() -> None:
    seen = []

    class Sized(hw.GridModel, width=1000, height=7):
        num_agents = hw.u32(5000, min=300, max=9000)
        n = hw.stat()

        def setup(self) -> None:
            seen.append((self.grid_width, self.grid_height, self.num_agents))
            self.n = int(self.rng.integers(1 << 30))

        def step_once(self) -> None:
            self.n += 1

    check_model(Sized)
    assert set(seen) == {(128, 7, 300)}
    seen.clear()
    check_model(Sized, params={"grid_width": 200, "num_agents": 400})
    assert set(seen) == {(200, 7, 400)}


def test_what_cannot_be_pickled_is_told() -> None:
    numbers = (number for number in range(9))

    def build(params: Mapping[str, Any], seed: int | None) -> broken.Sound:
        next(numbers, None)
        return broken.Sound(params, seed)

    report = check_model(replace(broken.Sound.entry(), factory=build))
    words = {failure.check: failure.words for failure in report.failures} | reasons(report)
    assert "pickle" in words[Check.PICKLING]
