"""Whole courses of the four algorithms, as hashes: every draw, origin, parent and offset.

They were recorded once the genetic algorithm had reproduced the example that the reference publishes, run by run:
candidate 442 with the objective 165 over 8 replicates, after 24 batches, 12 generations and 1,920 runs.
"""

from __future__ import annotations

import pytest

from henad_web.explore.levels import Domain
from henad_web.explore.search_spec import Aggregate, GeneticSettings, HillClimbSettings, PseSettings
from henad_web.model.fnv import Fnv1a64
from henad_web.search.genetic import Genetic
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Watched
from tests.shared.search_studies import (
    FIFTEEN,
    PLANE,
    Driver,
    Run,
    axis,
    flat,
    noise,
    noisy_peak,
    noisy_sum,
    search_spec,
)


def spread(values: tuple[object, ...], subject: int, rep: int) -> Watched:
    """Return two outputs, each missing now and then."""
    x, y = (float(str(value)) + 0.05 * noise(subject, rep) for value in values)
    return (None if noise(subject, 50 + rep) > 0.45 else x * y, None if noise(subject, 90 + rep) > 0.45 else x - y)


PSE = PseSettings(x_axis=axis(None, None, 6), y_axis=axis(-0.5, 0.5, 5), initial_samples=10, aggregate=Aggregate.MEAN)
GENETIC = GeneticSettings(population=10, elite_count=3, tournament_size=4, mutation_rate=0.4)


def course_of(driver: Driver) -> str:
    """Return a hash of all that a search asked for."""
    fnv = Fnv1a64()
    for batch in driver.drive().batches:
        fnv.u64(len(batch))
        for candidate in batch:
            fnv.text(candidate.origin).u64(candidate.subject_id).u64(candidate.replicate_offset)
            for parent in candidate.parents:
                fnv.u64(parent)
            for number in candidate.genome:
                fnv.f64(number)
    return fnv.hex()


@pytest.mark.parametrize(
    ("settings", "domains", "run", "course"),
    [
        (None, PLANE, noisy_peak, "8b0694dba0c6086b"),
        (HillClimbSettings(patience=3, reevaluate=True), PLANE, noisy_peak, "6d9d86618a9f0004"),
        (HillClimbSettings(patience=2, mutation_scale=0.3), FIFTEEN, noisy_sum, "998f1046724f5b87"),
        (GENETIC, PLANE, noisy_peak, "48d0273aa6dfd4f1"),
        (GENETIC, PLANE, flat, "92146264356d5357"),
        (GENETIC, FIFTEEN, noisy_sum, "2ce20dcdd5d21634"),
        (PSE, PLANE, spread, "d44345c79a5b92ca"),
    ],
    ids=["random", "climb", "climb in 15", "genetic", "genetic on flat ground", "genetic in 15", "pse"],
)
def test_a_course_is_as_it_was_recorded(
    settings: HillClimbSettings | GeneticSettings | PseSettings | None,
    domains: tuple[Domain, ...],
    run: Run,
    course: str,
) -> None:
    assert course_of(Driver(search_spec(settings, 90, 6), domains, run)) == course


def test_a_generation_s_summary_is_that_of_its_members() -> None:
    searcher = Driver(search_spec(GENETIC, 60, 6)).drive().searcher
    assert isinstance(searcher, Genetic)
    assert isinstance(searcher, ScoredSearcher)
    for generation in searcher.generations:
        assert generation.best >= generation.median >= generation.worst
    assert searcher.generations[-1].median > searcher.generations[0].median


def test_an_archive_is_in_the_order_of_x_and_then_y_with_a_hit_an_evaluation() -> None:
    searcher = Driver(search_spec(PSE, 90, 6), run=spread).drive().searcher
    assert isinstance(searcher, PatternSearch)
    entries = searcher.archive.entries()
    assert [entry.cell for entry in entries] == sorted({entry.cell for entry in entries})
    assert len(entries) == len(searcher.archive) > 10
    for entry in entries:
        assert searcher.archive[entry.cell] is entry
