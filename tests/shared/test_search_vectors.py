"""The recorded courses of the four algorithms: batch by batch, origin by origin."""

from __future__ import annotations

import math
import sys

import pytest

from henad_web.explore.search_spec import Aggregate, GeneticSettings, HillClimbSettings
from henad_web.search.genetic import Genetic
from henad_web.search.pattern import PatternAxis, automatic_range, outputs_of
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Origin, Watched
from tests.shared.search_studies import FIFTEEN, Driver, axis, flat, noisy_sum, pse, search_spec

LARGEST = sys.float_info.max


def two(values: object, subject: int, rep: int) -> Watched:
    return (0.5, 0.5)


def nothing(values: object, subject: int, rep: int) -> Watched:
    return (None, math.nan)


@pytest.mark.parametrize(
    ("initial", "evaluations", "batch", "sizes"),
    [(1, 2, 16, [1, 1]), (3, 8, 16, [3, 5]), (0, 20, 8, [1, 8, 8, 3])],
)
def test_a_pse_cuts_a_batch_at_the_last_of_the_initial_samples(
    initial: int, evaluations: int, batch: int, sizes: list[int]
) -> None:
    assert Driver(search_spec(pse(initial), evaluations, batch), run=two).drive().sizes == sizes


def test_a_pse_that_nothing_lands_in_goes_on_at_random() -> None:
    driver = Driver(search_spec(pse(0), 13, 8), run=nothing).drive()
    assert driver.sizes == [1, 8, 4]
    assert {candidate.origin for candidate in driver.candidates} == {Origin.RANDOM}


def test_a_pse_with_an_automatic_axis_cuts_its_batches_as_well() -> None:
    automatic = axis(None, None)
    assert Driver(search_spec(pse(10, automatic), 14, 4), run=two).drive().sizes == [4, 4, 2, 4]


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.25, math.nan, 0.25], -0.25, 0.75),
        ([-4.0], -6.0, -2.0),
        ([LARGEST], LARGEST / 2, LARGEST),
        ([-LARGEST], -LARGEST, -LARGEST / 2),
        ([math.inf], 0.0, 1.0),
        ([], 0.0, 1.0),
        ([10.0, 30.0, 20.0], 9.0, 31.0),
        ([-LARGEST, LARGEST], -LARGEST, LARGEST),
        ([0.0, LARGEST], 0.0, LARGEST),
    ],
)
def test_an_automatic_range_is_a_little_wider_than_what_came(values: list[float], low: float, high: float) -> None:
    assert automatic_range(values) == (low, high)


@pytest.mark.parametrize(
    ("value", "cell", "is_outside"),
    [(-3.0, 0, True), (24.9, 0, False), (25.0, 1, False), (100.0, 3, False), (250.0, 3, True), (math.nan, 0, True)],
)
def test_a_value_lands_in_the_cell_of_its_part_of_the_axis(value: float, cell: int, is_outside: bool) -> None:
    assert PatternAxis(0.0, 100.0, 4).cell(value) == (cell, is_outside)


def test_cells_of_an_axis_as_long_as_numbers_go_are_found() -> None:
    assert PatternAxis(-LARGEST, LARGEST, 4).cell(LARGEST) == (0, False)
    assert PatternAxis(0.0, 100.0, 4).bounds(1) == (25.0, 50.0)
    assert PatternAxis(0.0, 0.3, 3).bounds(2)[1] == 0.3, "the last cell ends where the axis does"


def test_an_evaluation_lands_by_the_median_of_what_is_finite_on_each_axis() -> None:
    settings = pse(x_axis=axis(0.0, 100.0), y_axis=axis(0.0, 100.0))
    searcher = Driver(search_spec(settings, 10)).searcher
    assert isinstance(searcher, PatternSearch)
    replicates = ((15.0, None), (None, 95.0), (math.nan, 96.0))
    assert outputs_of(replicates, Aggregate.MEDIAN) == (15.0, 95.5)
    placement = searcher.archive.place(replicates)
    assert placement is not None
    assert (placement.cell, placement.is_outside) == ((1, 9), False)
    assert searcher.archive.place(((15.0, None), (16.0, math.inf))) is None, "one axis without a value is nowhere"
    outside = [searcher.archive.place([replicate]) for replicate in ((-1.0, 50.0), (50.0, 101.0), (50.0, 50.0))]
    assert [each and (each.cell, each.is_outside) for each in outside] == [
        ((0, 5), True),
        ((5, 9), True),
        ((5, 5), False),
    ]


def test_a_generation_is_asked_for_in_whole_batches_and_a_rest() -> None:
    settings = GeneticSettings(population=20, elite_count=2, reevaluate_fraction=0.25)
    assert Driver(search_spec(settings, 43, 7)).drive().sizes == [7, 7, 6, 7, 7, 7, 2]


def test_generations_are_counted_once_they_are_complete() -> None:
    settings = GeneticSettings(population=20, elite_count=2, reevaluate_fraction=0.0)
    searcher = Driver(search_spec(settings, 38, 7)).drive().searcher
    assert isinstance(searcher, Genetic)
    assert [generation.number for generation in searcher.generations] == [0, 1]


@pytest.mark.parametrize(("fraction", "population", "count"), [(0.1, 30, 3), (0.25, 10, 3), (0.07, 100, 7)])
def test_the_share_that_is_evaluated_again_is_rounded_up(fraction: float, population: int, count: int) -> None:
    settings = GeneticSettings(population=population, reevaluate_fraction=fraction)
    driver = Driver(search_spec(settings, 2 * population, population)).drive()
    again = [candidate for candidate in driver.batches[1] if candidate.origin is Origin.REEVALUATION]
    assert len(again) == count
    assert driver.batches[1][:count] == tuple(again), "they come first"


def test_a_genetic_search_finds_all_of_a_small_space_and_then_looks_again() -> None:
    driver = Driver(search_spec(GeneticSettings(population=12), 150, 5), FIFTEEN, noisy_sum).drive()
    new = [candidate for candidate in driver.candidates if candidate.origin is not Origin.REEVALUATION]
    assert len({driver.space.key(candidate.genome) for candidate in new}) == len(new) == 15
    assert {candidate.origin for candidate in driver.candidates[100:]} == {Origin.REEVALUATION}
    assert len(driver.candidates) == 150


def test_a_hill_climb_finds_all_of_a_small_space() -> None:
    driver = Driver(search_spec(HillClimbSettings(), 200, 5), FIFTEEN, noisy_sum).drive()
    assert sum(candidate.origin is not Origin.REEVALUATION for candidate in driver.candidates) == 15
    assert len(driver.candidates) == 200


def test_a_hill_climb_on_flat_ground_starts_anew_once_its_patience_is_over() -> None:
    settings = HillClimbSettings(patience=2, reevaluate=True)
    driver = Driver(search_spec(settings, 16, 4), run=flat).drive()
    origins = [candidate.origin for candidate in driver.candidates]
    assert origins[:4] == [Origin.RANDOM] * 4
    assert origins[4:8] == [Origin.REEVALUATION, Origin.NEIGHBOR, Origin.NEIGHBOR, Origin.NEIGHBOR]
    assert origins.index(Origin.RESTART) == 12


def test_a_better_neighbour_gives_a_climb_its_patience_back() -> None:
    def second_step_is_better(values: object, subject: int, rep: int) -> Watched:
        return (1.0 if subject in (4, 5) else 0.0,)

    driver = Driver(search_spec(HillClimbSettings(patience=2), 12, 2), run=second_step_is_better).drive()
    assert [candidate.origin for candidate in driver.candidates].index(Origin.RESTART) == 10


@pytest.mark.parametrize(
    ("settings", "count"), [(GeneticSettings(population=8), 7), (HillClimbSettings(), 5), (pse(10), 6)]
)
def test_thirty_evaluations_take_so_many_batches_of_six(settings: object, count: int) -> None:
    driver = Driver(search_spec(settings, 30, 6), run=two if isinstance(settings, type(pse())) else flat)  # type: ignore[arg-type]
    assert len(driver.drive().batches) == count


def test_eighteen_evaluations_come_in_these_batches() -> None:
    assert Driver(search_spec(pse(10), 18, 6), run=two).drive().sizes == [6, 4, 6, 2]
    assert Driver(search_spec(GeneticSettings(population=8), 18, 6), run=flat).drive().sizes == [6, 2, 6, 2, 2]


def test_hits_sum_to_the_evaluations() -> None:
    searcher = Driver(search_spec(pse(10), 30, 6), run=two).drive().searcher
    assert isinstance(searcher, PatternSearch)
    assert sum(entry.hits for entry in searcher.archive.entries()) == 30


@pytest.mark.parametrize("settings", [GeneticSettings(population=8), HillClimbSettings(reevaluate=True)])
def test_an_evaluation_again_has_new_replicates_and_no_parents(settings: GeneticSettings | HillClimbSettings) -> None:
    driver = Driver(search_spec(settings, 60, 6)).drive()
    again = [candidate for candidate in driver.candidates if candidate.origin is Origin.REEVALUATION]
    assert again
    assert isinstance(driver.searcher, ScoredSearcher)
    counts = {entry.candidate_id: entry.replicate_count for entry in driver.searcher.ranking()}
    met: dict[int, int] = {}
    for candidate in driver.candidates:
        offset = met.get(candidate.subject_id, 0)
        assert candidate.replicate_offset == offset
        assert candidate.parents == () or candidate.origin is not Origin.REEVALUATION
        met[candidate.subject_id] = offset + 2
    assert met == counts
