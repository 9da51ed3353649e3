"""A search whose candidates a searcher of a program's own chooses: its files, what it may not ask for, and resumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

import henad_web as hw
from henad_web.errors import UsageError
from henad_web.resume.errors import ResumeError, ResumeReason
from henad_web.search import Candidate, Evaluation, Origin, SearchPlan, searcher_of
from henad_web.search.searcher import SteadySearcher
from tests.shared.hosts import Host
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.test_search_resume import left_by_a_kill

SMALL = 24
TABLES = ("runs.csv", "series.csv", "summary.csv", "evaluations.csv", "batches.csv", "best.csv")


def custom_spec(name: str = "mine") -> hw.SweepSpec:
    spec = hills_spec("random", evaluations=SMALL)
    assert spec.search is not None
    search = msgspec.structs.replace(spec.search, algorithm=hw.SearchAlgorithm.CUSTOM, name=name)
    return msgspec.structs.replace(spec, search=search)


def of_package(algorithm: str, plan: SearchPlan) -> SteadySearcher:
    search = hills_spec(algorithm, evaluations=SMALL).search
    assert search is not None
    return searcher_of(search, plan.space, plan.search_seed)


class Walk:
    """Goes on from the best candidate so far, a quarter of the way to a corner; has nothing but ask and tell."""

    def __init__(self, plan: SearchPlan, wrong: Callable[[list[Candidate]], Any] | None = None) -> None:
        self.best, self.height, self.asked = (0.5,) * len(plan.space), -1e300, list[Candidate]()
        self.wrong, self.heard = wrong, list[int]()

    def ask(self, count: int) -> tuple[Candidate, ...]:
        made = []
        for _ in range(min(count, SMALL - len(self.asked))):
            number = len(self.asked)
            corner = [float(number >> place & 1) for place in range(len(self.best))]
            genome = tuple(0.75 * one + 0.25 * other for one, other in zip(self.best, corner, strict=True))
            self.asked.append(Candidate(candidate_id=number, genome=genome, origin=Origin.NEIGHBOR))
            made.append(self.asked[-1])
        if self.wrong is not None and len(self.heard) >= 10:
            return self.wrong(made)  # type: ignore[no-any-return]
        return tuple(made)

    def tell(self, evaluations: Iterable[Evaluation]) -> None:
        for each in evaluations:
            self.heard.append(each.candidate_id)
            height = max((one for (one,) in each.replicates if one is not None), default=-1e300)
            if height > self.height:
                self.best, self.height = self.asked[each.candidate_id].genome, height


def finished(host: Host, run: hw.SweepRun) -> dict[str, bytes]:
    files = host.record(run).files
    assert files is not None
    return files


@pytest.mark.parametrize("algorithm", ["random", "hill_climb", "genetic"])
def test_with_a_searcher_of_the_package_it_leaves_the_files_of_that(host: Host, algorithm: str) -> None:
    plain = finished(host, host.start(HILLS, hills_spec(algorithm, evaluations=SMALL)))
    custom = finished(host, host.start(HILLS, custom_spec(), searcher=lambda plan: of_package(algorithm, plan)))
    assert {name: custom[name] for name in TABLES[1:]} == {name: plain[name] for name in TABLES[1:]}
    assert hw.masked(custom)["runs.csv"] == hw.masked(plain)["runs.csv"]
    assert b'"name": "mine"' in custom["manifest.json"]


def test_a_searcher_that_only_asks_and_hears_is_enough(host: Host) -> None:
    walks: list[Walk] = []

    def walk(plan: SearchPlan) -> Walk:
        walks.append(Walk(plan))
        return walks[-1]

    files = finished(host, host.start(HILLS, custom_spec(), searcher=walk))
    assert len(files["evaluations.csv"].splitlines()) == 1 + SMALL
    assert [each.heard for each in walks] == [list(range(SMALL))], "made once, and told of each once and in order"
    assert finished(host, host.start(HILLS, custom_spec(), searcher=Walk))["best.csv"] == files["best.csv"]


def test_one_that_asks_for_nothing_any_more_is_over(stepped: Host) -> None:
    run = stepped.start(HILLS, custom_spec(), searcher=lambda plan: Walk(plan, lambda made: ()))
    assert len(finished(stepped, run)["evaluations.csv"].splitlines()) == 1 + 10


def raising(made: list[Candidate]) -> tuple[Candidate, ...]:
    raise ZeroDivisionError("no way on")


def changed(**values: object) -> Callable[[list[Candidate]], list[Candidate]]:
    return lambda made: [*made[:-1], replace(made[-1], **values)]  # type: ignore[arg-type]


WRONG: list[tuple[Callable[[list[Candidate]], Any], str]] = [
    (raising, "failed as it was asked for 5 candidates: ZeroDivisionError: no way on"),
    (lambda made: [*made, made[0]], "asked for 6 candidates; allowed: at most 5 at that moment"),
    (
        lambda made: [made[0], *made[:-1]],
        "asked for candidate 10; allowed: 11, its position among all",
    ),
    (lambda made: [replace(made[0], candidate_id=3)], "asked for candidate 3; allowed: 10, its position"),
    (lambda made: None, "answered with NoneType; allowed: a tuple of candidates"),
    (lambda made: [1], "has int among its candidates; allowed: henad_web.search.Candidate"),
    (changed(genome=(0.5,)), "gave candidate 14 a genome of 1 number; allowed: one for each of the 3 factors"),
    (changed(genome=(0.5, 0.5, 1.5)), "gave candidate 14 a genome with 1.5; allowed: numbers from 0 to 1"),
    (changed(genome=(0.5, float("nan"), 0.5)), "gave candidate 14 a genome with nan; allowed: numbers from 0 to 1"),
    (changed(genome=(-0.1, 0.5, 0.5)), "gave candidate 14 a genome with -0.1; allowed"),
    (changed(origin="guess"), "gave candidate 14 the origin 'guess'; allowed: a word of henad_web.search.Origin"),
    (changed(parents=(14,)), r"gave candidate 14 the parents (14,); allowed: ids of earlier candidates"),
    (
        changed(replicate_offset=2),
        "gave candidate 14 the replicate_offset 2; allowed: 0, the replicates",
    ),
    (
        changed(reevaluated_id=13),
        "evaluates candidate 13 again as candidate 14; allowed: one that it was told of",
    ),
    (changed(reevaluated_id=0), "evaluates candidate 0 again with another genome; allowed: the same"),
]


@pytest.mark.parametrize(("wrong", "told"), WRONG)
def test_a_searcher_that_asks_for_what_it_must_not_ends_the_search_in_words(
    stepped: Host, wrong: Callable[[list[Candidate]], Any], told: str
) -> None:
    events = stepped.drain(stepped.start(HILLS, custom_spec(), searcher=lambda plan: Walk(plan, wrong)))
    (failed,) = [event for event in events if isinstance(event, hw.Failed)]
    assert f"the searcher 'mine' {told}" in failed.message
    assert sum(isinstance(event, hw.RunFinished) for event in events) == 20, "the runs of the batches before"


def test_a_searcher_that_fails_as_it_is_told_ends_the_search_in_words(stepped: Host) -> None:
    class Deaf(Walk):
        def tell(self, evaluations: Iterable[Evaluation]) -> None:
            raise ValueError("no ears")

    events = stepped.drain(stepped.start(HILLS, custom_spec(), searcher=Deaf))
    (failed,) = [event for event in events if isinstance(event, hw.Failed)]
    assert "the searcher 'mine' failed as it was told of 5 candidates: ValueError: no ears" in failed.message


class Again(Walk):
    """Evaluates its first five candidates again and again."""

    def ask(self, count: int) -> tuple[Candidate, ...]:
        return tuple(self.repeated(each) if len(self.heard) >= 10 else each for each in super().ask(count))

    def repeated(self, made: Candidate) -> Candidate:
        times, subject = divmod(made.candidate_id, 5)
        again = {"reevaluated_id": subject, "replicate_offset": 2 * (times - 1), "origin": Origin.REEVALUATION}
        return replace(made, genome=self.asked[subject].genome, **again)  # type: ignore[arg-type]


def test_a_candidate_may_be_evaluated_again(host: Host) -> None:
    files = finished(host, host.start(HILLS, custom_spec(), searcher=Again))
    assert files["evaluations.csv"].count(b"reevaluation") == SMALL - 10


def failing(plan: SearchPlan) -> Walk:
    raise OSError("no such file")


@pytest.mark.parametrize(
    ("spec", "searcher", "told"),
    [
        (custom_spec(), None, "a custom search is done by a searcher of your program, 'mine'; give what makes it"),
        (custom_spec(), failing, "the searcher 'mine' could not be made"),
        (custom_spec(), lambda plan: 3, "the searcher 'mine' is of type int, which cannot be asked and told"),
        (hills_spec("random"), Walk, 'came one and algorithm = "random"; write algorithm = "custom"'),
        (msgspec.structs.replace(custom_spec(), search=None), Walk, "the spec is no search"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(
    stepped: Host, spec: hw.SweepSpec, searcher: Any, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        stepped.start(HILLS, spec, searcher=searcher)


def test_it_goes_on_to_the_files_of_a_whole_one(stepped: Host) -> None:
    files = finished(stepped, stepped.start(HILLS, custom_spec(), searcher=Walk))
    for rows in (0, 9, 11, 48):
        left = left_by_a_kill(files, rows)
        run = hw.SweepRun.resume_files(HILLS, left, searcher=Walk, target=stepped.target)
        assert hw.masked(finished(stepped, run)) == hw.masked(files)


def greedy_walk(plan: SearchPlan) -> Walk:
    return Walk(plan, lambda made: [*made, made[0]])


def test_a_searcher_that_does_not_ask_the_same_again_is_refused(stepped: Host) -> None:
    left = left_by_a_kill(finished(stepped, stepped.start(HILLS, custom_spec(), searcher=Walk)), 25)
    with pytest.raises(ResumeError) as refused:
        hw.SweepRun.resume_files(HILLS, left, searcher=lambda plan: of_package("random", plan), target=stepped.target)
    assert refused.value.reason is ResumeReason.SEARCH_RUN_CHANGED
    with pytest.raises(ResumeError) as refused:
        hw.SweepRun.resume_files(HILLS, left, spec=custom_spec("yours"), searcher=Walk, target=stepped.target)
    assert refused.value.reason is ResumeReason.SEARCH_CHANGED
    with pytest.raises(UsageError, match="a custom search is done by a searcher of your program, 'mine'"):
        hw.SweepRun.resume_files(HILLS, left, target=stepped.target)
    with pytest.raises(UsageError, match="asked for 6 candidates"):
        hw.SweepRun.resume_files(HILLS, left, searcher=greedy_walk, target=stepped.target)


def test_a_dry_run_needs_no_searcher(host: Host) -> None:
    outline = hw.plan_spec(HILLS, custom_spec(), target=host.target)
    assert outline.search is not None
    assert (outline.search.algorithm, outline.search.name, outline.pending) == ("custom", "mine", 48)
