"""Variation of real-coded genomes: simulated binary crossover and polynomial mutation, both within bounds.

Owns the two operators as NSGA-II has them: the crossover of Deb and Agrawal, "Simulated Binary Crossover for Continuous
Search Space", Complex Systems 9, 1995, and the mutation of Deb and Goyal, "A Combined Genetic Adaptive Search (GeneAS)
for Engineering Design", Computer Science and Informatics 26(4), 1996, with the bounds of Deb's own program. They need
roots of degree ``index + 1``; where that is a power of two these are square roots of square roots, so that with the
`DISTRIBUTION_INDICES` a genome has the same bits on every target.
"""

from __future__ import annotations

import math

from henad_web.explore.search_spec import DISTRIBUTION_INDICES
from henad_web.randomness import DesignRng
from henad_web.search.space import Genome, SearchSpace

__all__ = ["crossed", "mutated"]

_ALIKE = 1e-14
"""Genes that are no farther apart are not crossed: the spread of their children is a share of their distance."""

_DEGREES = {index: (index + 1).bit_length() - 1 for index in DISTRIBUTION_INDICES}
"""How many square roots make the root of degree ``index + 1``."""


def crossed(space: SearchSpace, parents: tuple[Genome, Genome], index: int, rng: DesignRng) -> tuple[Genome, Genome]:
    """Return two children of `parents`, each gene crossed with probability one half.

    An ordered gene of the children lies around those of the parents, the mean of both kept where no bound is near, and
    which child gets which is drawn. A categorical one is exchanged.

    Args:
        space: The space of the genomes.
        parents: Both of them.
        index: Distribution index, one of `DISTRIBUTION_INDICES`: the larger, the more children are like their parents.
        rng: Where draws come from.
    """
    first, second = list(parents[0]), list(parents[1])
    for position, is_categorical in enumerate(space.categorical):
        if rng.unit() >= 0.5:
            continue
        one, other = first[position], second[position]
        if not is_categorical:
            if abs(one - other) <= _ALIKE:
                continue
            low, high = _spread(min(one, other), max(one, other), _DEGREES[index], rng.unit())
            one, other = (low, high) if rng.unit() < 0.5 else (high, low)
        first[position], second[position] = other, one
    return tuple(first), tuple(second)


def mutated(space: SearchSpace, genome: Genome, rate: float, index: int, rng: DesignRng) -> Genome:
    """Return `genome` with each gene changed with probability `rate`, a categorical one drawn anew.

    Args:
        space: The space of the genome.
        genome: What is changed.
        rate: 0 to 1.
        index: Distribution index, one of `DISTRIBUTION_INDICES`: the larger, the smaller most changes are.
        rng: Where draws come from.
    """
    changed = list(genome)
    for position, is_categorical in enumerate(space.categorical):
        if rng.unit() < rate:
            drawn = rng.unit()
            changed[position] = drawn if is_categorical else _moved(genome[position], _DEGREES[index], drawn)
    return tuple(changed)


def _spread(low: float, high: float, degree: int, drawn: float) -> tuple[float, float]:
    """Return the genes of two children of `low` and `high`, by one draw; each is kept in 0 to 1 by its own bound."""
    distance, total = high - low, low + high
    below = 0.5 * (total - _factor(1.0 + 2.0 * low / distance, degree, drawn) * distance)
    above = 0.5 * (total + _factor(1.0 + 2.0 * (1.0 - high) / distance, degree, drawn) * distance)
    return _within(below), _within(above)


def _factor(room: float, degree: int, drawn: float) -> float:
    """Return the spread of children over that of their parents, at most `room`."""
    share = drawn * (2.0 - 1.0 / _power(room, degree))
    return _root(share, degree) if share <= 1.0 else _root(1.0 / (2.0 - share), degree)


def _moved(gene: float, degree: int, drawn: float) -> float:
    """Return `gene` moved within 0 to 1, by one draw: down below a half, up above."""
    if drawn < 0.5:
        share = 2.0 * drawn + (1.0 - 2.0 * drawn) * _power(1.0 - gene, degree)
        return _within(gene + _root(share, degree) - 1.0)
    share = 2.0 * (1.0 - drawn) + 2.0 * (drawn - 0.5) * _power(gene, degree)
    return _within(gene + 1.0 - _root(share, degree))


def _power(number: float, degree: int) -> float:
    for _ in range(degree):
        number *= number
    return number


def _root(number: float, degree: int) -> float:
    for _ in range(degree):
        number = math.sqrt(number)
    return number


def _within(number: float) -> float:
    return min(max(number, 0.0), 1.0)
