"""The CMA-ES of searches: the generations of its library whatever the batches, edges, configs met again, restarts."""

from __future__ import annotations

from collections.abc import Callable

import cmaes
import numpy as np
import pytest

from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.search_spec import CmaEsSettings
from henad_web.model.params import ParamValue
from henad_web.randomness import DesignRng
from henad_web.search import Candidate, Origin
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Watched
from henad_web.search.space import reflected
from tests.shared.search_studies import PLANE, Driver, Run, flat, noisy_peak, search_spec

FIVE: tuple[Domain, ...] = (ContinuousDomain(0.0, 1.0, is_double=True),) * 5
WHOLE: tuple[Domain, ...] = (WholeDomain(1, 4), WholeDomain(0, 3))


def driver(
    batch: int,
    evaluations: int = 120,
    *,
    run: Run = noisy_peak,
    domains: tuple[Domain, ...] = FIVE,
    settings: CmaEsSettings | None = None,
    seed: int = 7,
) -> Driver:
    spec = search_spec(settings or CmaEsSettings(population=9), evaluations, batch)
    return Driver(spec, domains, run, seed=seed)


def distance(values: tuple[ParamValue, ...], from_each: float) -> float:
    total = 0.0
    for value in values:
        total += (float(value) - from_each) ** 2
    return total


def falling_from(centre: float, power: float = 1.0) -> Run:
    """Return runs that are the better the nearer to `centre` each value is."""
    return lambda values, subject, rep: (-(distance(values, centre) ** power),)


def told_by_hand(evaluations: int, population: int, seed: int) -> list[tuple[float, ...]]:
    """Return the genomes that the library alone asks for, generation by generation, told the distance from 0.3."""
    rng = DesignRng(seed)
    one = cmaes.CMA(mean=np.full(5, 0.5), sigma=0.3, population_size=population, seed=rng.index(2**32))
    genomes: list[tuple[float, ...]] = []
    while len(genomes) < evaluations:
        points = [one.ask() for _ in range(population)]
        genomes += [tuple(map(reflected, point.tolist())) for point in points]
        told = [distance(genome, 0.3) for genome in genomes[-population:]]
        one.tell(list(zip(points, told, strict=True)))
    return genomes[:evaluations]


@pytest.mark.parametrize("batch", [1, 4, 9, 10, 64])
def test_whatever_the_batches_it_asks_as_its_library_does_generation_by_generation(batch: int) -> None:
    asked = driver(batch, run=falling_from(0.3)).drive()
    assert [each.genome for each in asked.candidates] == told_by_hand(120, 9, 7)
    assert all(size <= 9 for size in asked.sizes), "a batch ends with its generation"


def test_the_population_is_that_of_the_library_unless_it_is_given() -> None:
    assert driver(64, 30, settings=CmaEsSettings()).drive().sizes == [8, 8, 8, 6]
    assert driver(64, 30, settings=CmaEsSettings(population=12)).drive().sizes == [12, 12, 6]


def test_sigma_is_how_far_the_first_samples_are_from_the_middle() -> None:
    narrow, wide = (driver(64, 64, settings=CmaEsSettings(population=64, sigma=sigma)).ask() for sigma in (0.01, 0.1))
    spreads = [np.std([each.genome for each in batch]) for batch in (narrow, wide)]
    assert spreads[1] == pytest.approx(10 * spreads[0])
    assert spreads[0] == pytest.approx(0.01, rel=0.2)


def test_seeds_are_different_searches() -> None:
    first, second = (driver(9, 9, seed=seed).ask() for seed in (1, 2))
    assert first != second
    assert {each.origin for each in first} == {Origin.SAMPLE}


@pytest.mark.parametrize("centre", [0.0, 1.0, 0.8])
def test_it_finds_a_best_config_at_the_edges_and_inside(centre: float) -> None:
    found = driver(16, 600, run=falling_from(centre)).drive()
    assert isinstance(found.searcher, ScoredSearcher)
    best = found.searcher.log.best()
    assert best is not None
    assert all(abs(number - centre) < 1e-3 for number in found.searcher.log[best.candidate_id].genome)


def test_only_the_order_of_values_counts_however_large_they_are() -> None:
    plain = driver(9, 60, run=falling_from(0.3)).drive()
    huge = driver(9, 60, run=lambda values, subject, rep: (-distance(values, 0.3) * 1e307,)).drive()
    assert [each.genome for each in huge.candidates] == [each.genome for each in plain.candidates]


def failing(part: Callable[[tuple[ParamValue, ...]], bool]) -> Run:
    def run(values: tuple[ParamValue, ...], subject: int, rep: int) -> Watched:
        return (None,) if part(values) else (-distance(values, 0.9),)

    return run


def test_configs_that_fail_are_the_worst_and_are_left_behind() -> None:
    found = driver(9, 400, run=failing(lambda values: float(values[0]) < 0.6)).drive()
    last = found.candidates[-40:]
    assert all(float(found.space.values(each.genome)[0]) >= 0.6 for each in last)
    everywhere = driver(9, 300, run=failing(lambda values: True)).drive()
    assert len(everywhere.candidates) == 300, "a search all of whose runs fail goes on"


def test_where_nothing_is_better_it_starts_anew_at_a_place_that_is_drawn() -> None:
    found = driver(9, 600, run=flat).drive()
    restarts = [each for each in found.candidates if each.origin is Origin.RESTART]
    first = restarts[0].candidate_id
    assert first % 9 == 0
    assert [each.origin for each in found.candidates[first : first + 10]] == [Origin.RESTART] * 9 + [Origin.SAMPLE]
    assert {each.origin for each in found.candidates[:first]} == {Origin.SAMPLE}
    middles = [np.mean([each.genome for each in found.candidates[at : at + 9]], axis=0) for at in (0, first)]
    assert np.abs(middles[1] - middles[0]).max() > 0.1


def generations(candidates: list[Candidate], sizes: list[int]) -> list[list[Candidate]]:
    found, first = [], 0
    for size in sizes:
        found.append(candidates[first : first + size])
        first += size
    return found


def test_a_config_is_run_once_a_generation_and_again_with_new_seeds_in_later_ones() -> None:
    found = driver(64, 150, run=noisy_peak, domains=WHOLE).drive()
    offsets: dict[int, int] = {}
    for generation in generations(found.candidates, found.sizes):
        keys = [found.space.key(each.genome) for each in generation]
        assert len(keys) == len(set(keys))
        for each in generation:
            assert each.replicate_offset == offsets.get(each.subject_id, 0)
            offsets[each.subject_id] = each.replicate_offset + 2
    new = [found.space.key(each.genome) for each in found.candidates if each.reevaluated_id is None]
    assert len(new) == len(set(new)) <= 16
    assert min(found.sizes[:-1]) < 9, "some samples of a generation were one config"


def test_a_generation_in_which_configs_repeat_is_told_whole() -> None:
    """A search of two factors that has a noiseless best config converges on it and starts anew."""
    found = driver(5, 400, run=falling_from(3.0), domains=WHOLE).drive()
    assert isinstance(found.searcher, ScoredSearcher)
    best = found.searcher.log.best()
    assert best is not None
    assert found.space.values(found.searcher.log[best.candidate_id].genome) == (3, 3)
    assert Origin.RESTART in {each.origin for each in found.candidates}


def test_a_generation_is_learnt_from_only_when_all_of_it_is_told() -> None:
    one = driver(5)
    first, second = one.ask(), one.ask()
    assert (len(first), len(second), one.ask()) == (5, 4, ())
    one.tell(first)
    assert one.ask() == (), "what comes next depends on the rest"
    one.tell(second)
    assert len(one.ask()) == 5


def test_it_works_in_pieces_of_a_sample_each() -> None:
    one = driver(64, 64, domains=PLANE, settings=CmaEsSettings(population=64))
    assert sum(1 for _ in one.searcher.asking(64)) >= 64
