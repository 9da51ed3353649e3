"""Genomes and what they stand for: draws, changes, keys."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain, decimal_levels, single, stepped_levels
from henad_web.randomness import DesignRng
from henad_web.search.space import Genome, SearchSpace

DOMAINS: tuple[Domain, ...] = (
    ContinuousDomain(0.05, 0.9),
    ContinuousDomain(-1e300, 1e300, is_double=True),
    ContinuousDomain(-1.7e308, 1.7e308, is_double=True),
    WholeDomain(0, 400),
    WholeDomain(-(2**63), 2**63 - 1),
    ("a", "b", "c"),
    (False, True),
    range(0, 10, 3),
)
SPACE = SearchSpace(DOMAINS)
UNITS = st.floats(0.0, 1.0)
GENOMES = st.tuples(*[UNITS] * len(DOMAINS))
SEEDS = st.integers(0, 2**64 - 1)


def holds(domain: Domain, value: object) -> bool:
    if isinstance(domain, ContinuousDomain):
        if not isinstance(value, float):
            return False
        if domain.is_double:
            return domain.low <= value <= domain.high
        return float(np.float32(value)) == value and single(domain.low) <= value <= single(domain.high)
    if isinstance(domain, WholeDomain):
        return isinstance(value, int) and domain.low <= value <= domain.high
    return value in [domain[position] for position in range(len(domain))]


@given(GENOMES)
def test_any_genome_stands_for_values_inside_the_bounds(genome: Genome) -> None:
    for domain, value in zip(DOMAINS, SPACE.values(genome), strict=True):
        assert holds(domain, value)


@given(GENOMES, GENOMES)
def test_two_genomes_are_one_config_exactly_when_their_keys_are_equal(first: Genome, second: Genome) -> None:
    assert (SPACE.key(first) == SPACE.key(second)) == (SPACE.values(first) == SPACE.values(second))


def test_the_ends_and_the_middle_of_a_gene_are_those_of_its_factor() -> None:
    space = SearchSpace([ContinuousDomain(0.1, 0.3), WholeDomain(1, 5), ("a", "b", "c"), range(10, 50, 10)])
    assert space.values((0.0,) * 4) == (float(np.float32(0.1)), 1, "a", 10)
    assert space.values((1.0,) * 4) == (float(np.float32(0.3)), 5, "c", 40)
    assert space.values((0.5, 0.4, 0.34, 0.75)) == (float(np.float32(0.1 + 0.5 * (0.3 - 0.1))), 3, "b", 40)
    assert space.values((0.5, math.nextafter(0.4, 0.0), 0.34, math.nextafter(0.75, 0.0)))[1:] == (2, "b", 30)


def test_a_genome_is_one_unit_a_factor_in_order() -> None:
    rng = DesignRng(1)
    assert SearchSpace(DOMAINS[:2]).draw(rng) == (0.14109274024192997, 0.30724511462004034)


class Draws(DesignRng):
    """Draws that are given, in order."""

    def __init__(self, *units: float) -> None:
        super().__init__(0)
        self.units_left = list(units)

    def unit(self) -> float:
        return self.units_left.pop(0)


def test_a_change_takes_its_draws_factor_by_factor() -> None:
    space = SearchSpace([ContinuousDomain(0.0, 1.0), ("a", "b"), WholeDomain(0, 9), ContinuousDomain(0.0, 1.0)])
    rng = Draws(0.2, 0.75, 0.5, 0.1, 0.9, 0.3, 0.25, 1.0, 1.0)
    genome = space.mutate((0.5, 0.5, 0.5, 0.95), 0.3, 0.4, rng)
    # Kept or not, then: triangular 0.75 + 0.5 - 1; a level anew; kept at 0.3; reflected at 1.
    assert genome == pytest.approx((0.6, 0.9, 0.5, 0.65))
    assert rng.units_left == []


def test_certain_changes_and_impossible_ones_take_the_same_first_draw() -> None:
    space = SearchSpace([ContinuousDomain(0.0, 1.0)])
    assert space.mutate((0.5,), 0.0, 0.1, Draws(0.0)) == (0.5,)
    assert space.mutate((0.0,), 1.0, 0.5, Draws(0.999, 0.25, 0.25)) == (0.25,), "reflected at 0"
    assert space.mutate((0.5,), 1.0, 3.0, Draws(0.0, 1.0, 1.0)) == (0.5,), "reflected twice"


def test_a_crossing_takes_the_first_below_a_half() -> None:
    assert SearchSpace.cross((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), Draws(0.49, 0.5, 0.0)) == (1.0, 5.0, 3.0)


@given(GENOMES, SEEDS, UNITS, st.floats(1e-6, 1e6))
def test_a_changed_genome_stays_in_the_cube(genome: Genome, seed: int, rate: float, scale: float) -> None:
    changed = SPACE.mutate(genome, rate, scale, DesignRng(seed))
    assert all(0.0 <= number <= 1.0 for number in changed)


def test_equal_levels_count_once_and_their_first_place_stays() -> None:
    space = SearchSpace([(3.0, 1.0, 3.0, 2.0)])
    assert [space.values((share,)) for share in (0.0, 0.4, 0.9)] == [(3.0,), (1.0,), (2.0,)]


def test_levels_of_a_range_whose_steps_are_too_short_count_once() -> None:
    fine = stepped_levels(16777216.0, 16777220.0, 1.0)
    assert fine is not None
    assert not fine.are_distinct
    assert len({SearchSpace([fine]).key((unit / 64,)) for unit in range(64)}) == len(set(fine[at] for at in range(5)))  # noqa: C401
    tenths, finer = decimal_levels(0.0, 1.0, 0.1), decimal_levels(1.0, 1.0 + 4e-16, 1e-16)
    assert tenths is not None
    assert finer is not None
    assert (tenths.are_distinct, finer.are_distinct) == (True, False)
