"""Searches whose candidates a study of optuna chooses: its trials are the candidates, told what these came to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import optuna
import pytest

import henad_web as hw
from henad_web.errors import UsageError
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain, decimal_levels
from henad_web.explore.search_spec import Goal, ObjectiveSpec
from henad_web.model.params import ParamValue
from henad_web.search import (
    Candidate,
    Evaluation,
    Origin,
    Searcher,
    SearchPlan,
    SearchSpace,
    SlicedSearcher,
    asking,
)
from henad_web.search.optuna_study import StudySearch
from tests.shared.search_studies import MAXIMIZE, noise

TENTHS = decimal_levels(0.0, 1.0, 0.1)
assert TENTHS is not None
MIXED: tuple[Domain, ...] = (ContinuousDomain(-2.0, 3.0, is_double=True), WholeDomain(1, 9), ("low", "high"), TENTHS)
NAMES = ("rate", "size", "mode", "share")
SPACE = SearchSpace(MIXED)


def study_of(seed: int = 5, direction: Literal["minimize", "maximize"] = "maximize") -> optuna.Study:
    return optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=6))


def search_of(study: object, evaluations: int = 40) -> Searcher:
    return asking(study, SPACE, objective=MAXIMIZE, max_evaluations=evaluations, names=NAMES)


def height(values: Sequence[ParamValue]) -> float:
    rate, size, mode, share = values
    return float(size) - (float(rate) - 1.0) ** 2 + (mode == "high") - abs(float(share) - 0.3)


def evaluation(candidate: Candidate) -> Evaluation:
    value, number = height(SPACE.values(candidate.genome)), candidate.candidate_id
    failed = number % 7 == 3
    return Evaluation(number, tuple((None if failed else value + noise(number, rep),) for rep in range(2)))


def driven(search: Searcher, batch: int = 5, batches: int | None = None) -> list[tuple[Candidate, ...]]:
    asked: list[tuple[Candidate, ...]] = []
    while batches is None or len(asked) < batches:
        candidates = search.ask(batch)
        if not candidates:
            break
        asked.append(candidates)
        search.tell(map(evaluation, reversed(candidates)))
    return asked


def test_each_candidate_is_a_trial_with_its_values_and_what_it_came_to() -> None:
    study = study_of()
    candidates = [each for batch in driven(search_of(study)) for each in batch]
    assert [each.candidate_id for each in candidates] == list(range(40))
    assert {each.origin for each in candidates} == {Origin.SAMPLE}
    for trial, candidate in zip(study.trials, candidates, strict=True):
        rate, size, mode, share = SPACE.values(candidate.genome)
        assert trial.params["rate"] == pytest.approx(rate)
        assert (trial.params["size"], trial.params["mode"]) == (size, mode)
        assert TENTHS is not None
        assert TENTHS[trial.params["share"]] == share
        if candidate.candidate_id % 7 == 3:
            assert trial.state is optuna.trial.TrialState.FAIL
        else:
            replicates = evaluation(candidate).replicates
            assert trial.value == sum(value for (value,) in replicates if value is not None) / 2
    assert len({each.genome[2] for each in candidates}) == 2


def test_it_finds_what_is_best() -> None:
    search = asking(study_of(), SPACE, objective=MAXIMIZE, max_evaluations=60)
    driven(search)
    best = search.ranking()[0]
    assert height(SPACE.values(search.log[best.candidate_id].genome)) > 8.5
    assert search.study.best_trial.number == best.candidate_id


@pytest.mark.parametrize("crashed_after", [0, 1, 4])
def test_a_new_study_told_what_was_recorded_goes_on_to_the_same_end(crashed_after: int) -> None:
    whole = driven(search_of(study_of()))
    recorded = driven(search_of(study_of()), batches=crashed_after)
    again = search_of(study_of())
    for batch in recorded:
        assert again.ask(5) == batch
        again.tell(map(evaluation, batch))
    assert [*recorded, *driven(again)] == whole
    assert driven(search_of(study_of(seed=6))) != whole


def test_it_works_in_pieces_of_a_trial_each() -> None:
    search = search_of(study_of())
    assert isinstance(search, SlicedSearcher)
    assert sum(1 for _ in search.asking(7)) >= 7


def test_an_enqueued_trial_is_the_first_candidate() -> None:
    study = study_of()
    study.enqueue_trial({"rate": 3.0, "size": 9, "mode": "high", "share": 10})
    (first,) = search_of(study).ask(1)
    assert SPACE.values(first.genome) == (3.0, 9, "high", 1.0)


@pytest.mark.parametrize("wrong", [{"rate": 7.0}, {"rate": -2.1}, {"size": 10}])
def test_an_enqueued_trial_outside_of_the_space_is_refused_in_words(wrong: dict[str, object]) -> None:
    study = study_of()
    study.enqueue_trial(wrong)
    ((name, value),), search = wrong.items(), search_of(study)
    told = pytest.raises(UsageError, match=rf"trial 0 of the study has {name} = {value}; allowed: what")
    with pytest.warns(UserWarning, match="out of range"), told:
        search.ask(1)


def begun() -> optuna.Study:
    study = study_of()
    study.tell(study.ask(), 1.0)
    return study


@pytest.mark.parametrize(
    ("study", "told"),
    [
        (study_of(direction="minimize"), 'the study is to minimize, and the objective to maximize; .*"maximize"'),
        (optuna.create_study(directions=["maximize", "minimize"]), "the study is to maximize and minimize, and"),
        (begun(), "the study has 1 trial already; make a new one"),
        ("study", "asking takes a study of optuna, came str; make one with optuna.create_study"),
        (None, "asking takes a study of optuna, came NoneType"),
    ],
)
def test_a_study_that_does_not_fit_is_refused_before_anything_is_asked(study: object, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        search_of(study)


def test_names_are_those_of_the_factors() -> None:
    with pytest.raises(UsageError, match="the space has 4 factors, came 4 names, 3 of them different"):
        asking(study_of(), SPACE, objective=MAXIMIZE, max_evaluations=1, names=("a", "b", "b", "c"))
    with pytest.raises(UsageError, match="came 1 name"):
        asking(study_of(), SPACE, objective=MAXIMIZE, max_evaluations=1, names=("a",))
    study = study_of()
    asking(study, SPACE, objective=MAXIMIZE, max_evaluations=1).ask(1)
    assert sorted(study.trials[0].params) == ["x0", "x1", "x2", "x3"]


def test_without_optuna_it_is_named_with_the_way_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of()
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match=r"pip install 'henad-web\[optuna\]'"):
        search_of(study)


@pytest.mark.parametrize("low", [-1e308, 0.5])
def test_a_range_may_be_as_long_as_numbers_are_or_a_single_one(low: float) -> None:
    high = -low if low < 0 else low
    space = SearchSpace([ContinuousDomain(low, high, is_double=True)])
    search = asking(study_of(), space, objective=ObjectiveSpec(column="x", goal=Goal.MAXIMIZE), max_evaluations=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optuna.samplers.TPESampler, "sample_independent", lambda *_: high)
        (candidate,) = search.ask(1)
    assert space.values(candidate.genome) == (high,)


STUDY = """
model = "game_of_life"
set = { grid_width = 16, grid_height = 16 }
run = { steps = 5, replicates = 2 }
[search]
algorithm = "custom"
name = "tpe"
max_evaluations = 20
batch_size = 4
objective = { column = "Alive:max", goal = "maximize" }
space = [{ param = "density", range = { min = 0.1, max = 0.9 } }]
"""


def tpe(plan: SearchPlan, seed: int | None = 3) -> StudySearch:
    assert plan.search.objective is not None
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    budget = plan.search.max_evaluations
    return asking(study, plan.space, objective=plan.search.objective, max_evaluations=budget, names=["density"])


def folder_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != "henad.lock"}


def test_a_sweep_that_a_study_drives_goes_on_to_the_files_of_a_whole_one(tmp_path: Path) -> None:
    entry, spec = hw.example_models()["game_of_life"], hw.parse_spec(STUDY).spec
    hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path / "whole"), searcher=tpe)

    with hw.SweepRun.start(entry, spec, hw.DirectoryOutput(tmp_path / "cut"), searcher=tpe) as run:
        while not run.is_ended:
            event = run.try_recv()
            if isinstance(event, hw.RunFinished) and event.outcome.run.run_id == 13:
                run.abort()
    before = folder_of(tmp_path / "cut")
    with pytest.raises(hw.ResumeError) as refused:
        hw.resume_sweep(entry, tmp_path / "cut", searcher=lambda plan: tpe(plan, seed=None))
    assert refused.value.reason is hw.ResumeReason.SEARCH_RUN_CHANGED
    assert folder_of(tmp_path / "cut") == before, "a study that asks for something else changes nothing"
    hw.resume_sweep(entry, tmp_path / "cut", searcher=tpe)
    assert hw.masked(folder_of(tmp_path / "cut")) == hw.masked(folder_of(tmp_path / "whole"))


def test_a_searcher_that_fails_loses_nothing_that_is_written(tmp_path: Path) -> None:
    entry, spec = hw.example_models()["game_of_life"], hw.parse_spec(STUDY).spec

    def breaking(plan: SearchPlan) -> StudySearch:
        search = tpe(plan)
        search.study.sampler.after_trial = lambda study, trial, *_: 1 // (trial.number - 9)
        return search

    with pytest.raises(hw.HenadError, match="the searcher 'tpe' failed as it was told of 4 candidates: ZeroDivision"):
        hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path / "cut"), searcher=breaking)
    assert len((tmp_path / "cut" / "runs.csv").read_bytes().splitlines()) == 1 + 24
    hw.resume_sweep(entry, tmp_path / "cut", searcher=tpe)
    hw.run_spec(entry, spec, output=hw.DirectoryOutput(tmp_path / "whole"), searcher=tpe)
    assert hw.masked(folder_of(tmp_path / "cut")) == hw.masked(folder_of(tmp_path / "whole"))
