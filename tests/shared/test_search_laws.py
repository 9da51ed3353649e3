"""Laws of every algorithm: budgets, reproducible courses, no order of telling, no repetition where that is promised."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from henad_web.errors import UsageError
from henad_web.explore.search_spec import (
    CmaEsSettings,
    GeneticSettings,
    HillClimbSettings,
    Nsga2Settings,
    SearchAlgorithm,
    SearchSettings,
    SearchSpec,
)
from henad_web.randomness import DesignRng
from henad_web.search.algorithms import searcher_of
from henad_web.search.genetic import Genetic
from henad_web.search.nsga2 import Nsga2
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Evaluation, Origin, SteadySearcher, Watched
from tests.shared.search_studies import (
    FIFTEEN,
    PLANE,
    Driver,
    Run,
    axis,
    noise,
    noisy_peak,
    noisy_sum,
    pse,
    search_spec,
)

KINDS: dict[str, SearchSettings | None] = {
    "random": None,
    "hill_climb": HillClimbSettings(patience=2, reevaluate=True),
    "genetic": GeneticSettings(population=9, elite_count=3),
    "cma_es": CmaEsSettings(population=9),
    "pse": pse(5, axis(None, None), axis(-1.0, 0.0, 4)),
    "nsga2": Nsga2Settings(population=9),
}
SEEDS = st.integers(0, 2**64 - 1)
KIND_NAMES = st.sampled_from(sorted(KINDS))
BATCHES = st.integers(1, 12)


def runs_of(kind: str, domains: object) -> Run:
    def both(values: tuple[object, ...], subject: int, rep: int) -> Watched:
        one = run(values, subject, rep)  # type: ignore[arg-type]
        failed = noise(subject, 100 + rep) > 0.4
        return (None if failed else one[0], one[0] / 2) if kind in ("pse", "nsga2") and one[0] is not None else one

    run = noisy_sum if domains is FIFTEEN else noisy_peak
    return both


def driver_of(kind: str, seed: int, batch: int, evaluations: int = 40, *, small: bool = False) -> Driver:
    domains = FIFTEEN if small else PLANE
    return Driver(search_spec(KINDS[kind], evaluations, batch), domains, runs_of(kind, domains), seed=seed)


def state_of(searcher: SteadySearcher) -> object:
    """Return what a search has come to, for people and for what it asks next."""
    if isinstance(searcher, PatternSearch):
        return searcher.archive.axes, searcher.archive.entries(), searcher.asked_count, searcher.batch_count
    if isinstance(searcher, Nsga2):
        return searcher.ranking(), searcher.front(), searcher.generations, searcher.asked_count, searcher.batch_count
    assert isinstance(searcher, ScoredSearcher)
    generations = searcher.generations if isinstance(searcher, Genetic) else None
    return searcher.ranking(), generations, searcher.asked_count, searcher.batch_count


def test_each_algorithm_is_under_test() -> None:
    assert {*KINDS, "custom"} == {algorithm.value for algorithm in SearchAlgorithm}


@settings(max_examples=25, deadline=None)
@given(KIND_NAMES, SEEDS, BATCHES, st.integers(1, 40), st.booleans())
def test_a_search_asks_for_its_budget_and_no_more(
    kind: str, seed: int, batch: int, evaluations: int, small: bool
) -> None:
    driver = driver_of(kind, seed, batch, evaluations, small=small).drive()
    assert [candidate.candidate_id for candidate in driver.candidates] == list(range(evaluations))
    assert all(1 <= size <= batch for size in driver.sizes)
    assert driver.searcher.batch_count == len(driver.batches)
    assert driver.searcher.ask(batch) == ()
    for candidate in driver.candidates:
        assert all(parent < candidate.candidate_id for parent in candidate.parents)
        assert all(0.0 <= number <= 1.0 for number in candidate.genome)
        assert (candidate.origin is Origin.REEVALUATION) == (candidate.reevaluated_id is not None)


@settings(max_examples=25, deadline=None)
@given(KIND_NAMES, SEEDS, BATCHES, st.randoms(use_true_random=False), st.booleans())
def test_evaluations_of_a_batch_may_be_told_in_any_order_and_one_by_one(
    kind: str, seed: int, batch: int, chance: object, small: bool
) -> None:
    driver, other = (driver_of(kind, seed, batch, small=small) for _ in range(2))
    driver.drive()
    while asked := other.ask():
        shuffled = list(asked)
        chance.shuffle(shuffled)  # type: ignore[attr-defined]
        for candidate in shuffled:
            other.tell([candidate])
        other.tell(asked)  # what is told again is not awaited any more
    assert other.batches == driver.batches
    assert state_of(other.searcher) == state_of(driver.searcher)


@settings(max_examples=25, deadline=None)
@given(KIND_NAMES, SEEDS, BATCHES, st.integers(0, 6), st.booleans())
def test_a_search_that_is_told_the_same_again_goes_on_as_if_nothing_had_happened(
    kind: str, seed: int, batch: int, interrupted_after: int, small: bool
) -> None:
    whole = driver_of(kind, seed, batch, small=small).drive()
    first = driver_of(kind, seed, batch, small=small).drive(interrupted_after)
    again = driver_of(kind, seed, batch, small=small)
    for recorded in first.batches:
        assert again.searcher.ask(batch) == recorded
        again.searcher.tell(map(again.evaluation, recorded))
    assert state_of(again.searcher) == state_of(first.searcher)
    again.batches = list(first.batches)
    again.drive()
    assert again.batches == whole.batches
    assert state_of(again.searcher) == state_of(whole.searcher)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["hill_climb", "genetic", "nsga2"]), SEEDS, BATCHES)
def test_hill_climb_genetic_and_nsga2_evaluate_no_config_twice_as_new(kind: str, seed: int, batch: int) -> None:
    driver = driver_of(kind, seed, batch, 60, small=True).drive()
    new = [driver.space.key(each.genome) for each in driver.candidates if each.reevaluated_id is None]
    assert len(new) == len(set(new)) <= 15
    for asked in driver.batches:
        again = [each.reevaluated_id for each in asked if each.reevaluated_id is not None]
        assert len(again) == len(set(again)), "nobody twice in a batch"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_pieces_come_to_what_one_call_does(kind: str) -> None:
    driver, sliced = (driver_of(kind, 3, 50, 120) for _ in range(2))
    driver.drive()
    pieces = 0
    while True:
        asking = sliced.searcher.asking(50)
        while True:
            try:
                next(asking)
                pieces += 1
            except StopIteration as end:
                batch = end.value
                break
        if not batch:
            break
        sliced.batches.append(batch)
        pieces += sum(1 for _ in sliced.searcher.telling(map(sliced.evaluation, batch)))
    assert sliced.batches == driver.batches
    assert pieces >= 6


def test_a_hill_climb_gets_near_the_top_of_a_hill() -> None:
    driver = driver_of("hill_climb", 5, 8, 160).drive()
    assert isinstance(driver.searcher, ScoredSearcher)
    best = driver.searcher.log.best()
    assert best is not None
    assert all(abs(number - 0.7) < 0.2 for number in driver.searcher.log[best.candidate_id].genome)


def test_an_evaluation_of_nobody_is_ignored() -> None:
    driver = driver_of("random", 1, 4)
    batch = driver.ask()
    driver.searcher.tell([Evaluation(99, ((1.0,),))])
    assert driver.searcher.awaits_any
    driver.tell(batch)
    assert not driver.searcher.awaits_any
    before = state_of(driver.searcher)
    driver.tell(batch)
    assert state_of(driver.searcher) == before


@pytest.mark.parametrize("replicates", [(), ((1.0, 2.0),), ((1.0,), ())])
def test_an_evaluation_of_another_shape_is_refused_and_changes_nothing(replicates: tuple[Watched, ...]) -> None:
    driver = driver_of("random", 1, 2)
    first, second = driver.ask()
    with pytest.raises(UsageError, match="candidate 0 has"):
        driver.searcher.tell([driver.evaluation(second), Evaluation(first.candidate_id, replicates)])
    driver.tell((first, second))
    assert not driver.searcher.awaits_any


def test_of_two_evaluations_of_a_candidate_the_first_counts() -> None:
    driver = driver_of("random", 1, 1)
    driver.ask()
    driver.searcher.tell([Evaluation(0, ((1.0,),)), Evaluation(0, ((2.0,),))])
    assert isinstance(driver.searcher, ScoredSearcher)
    assert [entry.objective for entry in driver.searcher.ranking()] == [1.0]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_batches_take_effect_in_the_order_of_asking(kind: str) -> None:
    driver, ahead = (driver_of(kind, 5, 4, 8) for _ in range(2))
    if kind in ("genetic", "cma_es", "nsga2"):  # whose first nine are drawn before anything is told
        driver.drive()
        first, second = ahead.ask(), ahead.ask()
        assert [first, second] == driver.batches
        ahead.tell(first)
        ahead.tell(second)
    else:
        first, second = ahead.ask(), ahead.ask()
        driver.searcher.ask(4), driver.searcher.ask(4)
        driver.tell((*first, *second))
        ahead.tell(second)
        assert ahead.searcher.awaits_any
        ahead.tell(first)
    assert not ahead.searcher.awaits_any
    assert state_of(ahead.searcher) == state_of(driver.searcher)


@pytest.mark.parametrize("kind", ["genetic", "nsga2"])
def test_a_generation_ends_only_when_all_of_it_is_told(kind: str) -> None:
    driver = driver_of(kind, 5, 5, 18)
    first, second = driver.ask(), driver.ask()
    assert driver.ask() == (), "what comes next depends on these"
    assert isinstance(driver.searcher, Genetic | Nsga2)
    driver.tell(first)
    assert driver.searcher.generations == []
    assert driver.ask() == ()
    driver.tell(second)
    assert len(driver.searcher.generations) == 1
    assert len(driver.ask()) == 5


def test_a_batch_of_one_evaluates_no_leader_again() -> None:
    driver = Driver(search_spec(HillClimbSettings(reevaluate=True), 12, 1)).drive()
    assert Origin.REEVALUATION not in {candidate.origin for candidate in driver.candidates}


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(UsageError, match="-1 candidates"):
        driver_of("random", 1, 2).searcher.ask(-1)


@pytest.mark.parametrize("algorithm", [SearchAlgorithm.PSE, SearchAlgorithm.GENETIC, SearchAlgorithm.NSGA2])
def test_a_searcher_is_not_made_without_what_it_needs(algorithm: SearchAlgorithm) -> None:
    good = search_spec(None, 4)
    spec = SearchSpec(algorithm=algorithm, max_evaluations=4, batch_size=2, space=good.space)
    with pytest.raises(UsageError, match=r"needs (its axes|an objective|two objectives or more)"):
        searcher_of(spec, driver_of("random", 1, 2).space, 1)


def test_random_draws_are_those_of_the_seed_alone() -> None:
    driver = driver_of("random", 11, 7, 20).drive()
    rng = DesignRng(11)
    assert [candidate.genome for candidate in driver.candidates] == [(rng.unit(), rng.unit()) for _ in range(20)]
