"""The space of a search: what may vary, and candidates as points of a unit cube.

Owns genomes (reference engine, section 10.1): one number from 0 to 1 a factor, how one is drawn, changed and crossed,
and which config it stands for. Knows no algorithm, no score and no run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from henad_web.explore.designs import is_listed
from henad_web.explore.levels import ContinuousDomain, DecimalLevels, Domain, Levels, SteppedLevels, WholeDomain, single
from henad_web.model.params import ParamValue
from henad_web.randomness import DesignRng

__all__ = ["ConfigKey", "Genome", "SearchSpace", "reflected"]

Genome = tuple[float, ...]
"""One number from 0 to 1 a factor."""

ConfigKey = tuple[float | int, ...]
"""What a genome stands for: the value of a continuous factor, the position of a whole number or a level.

Two genomes are one config exactly when their keys are equal.
"""


@dataclass(frozen=True, slots=True)
class _Gene:
    """One factor of a space.

    Attributes:
        is_categorical: Whether its values have no order: a change draws any of them.
        decode: The entry of a key that a number from 0 to 1 stands for.
        value: The value of a factor that an entry of a key stands for.
    """

    is_categorical: bool
    decode: Callable[[float], float | int]
    value: Callable[[float | int], ParamValue]


class SearchSpace:
    """What a search looks through.

    A factor with listed levels is categorical, as is a range with a step, whose levels are listed by it; a continuous
    range and one of whole numbers are ordered. Equal levels count once.

    Args:
        domains: What each factor takes, at least one; a whole domain where it is a range without a step.

    Attributes:
        domains: The same, listed levels without those that stood before.
        categorical: Whether the values of each factor have no order.
    """

    def __init__(self, domains: Sequence[Domain]) -> None:
        self.domains = tuple(_distinct(domain) if is_listed(domain) else domain for domain in domains)
        self._genes = tuple(map(_gene_of, self.domains))
        self.categorical = tuple(gene.is_categorical for gene in self._genes)

    def __len__(self) -> int:
        """Return the number of factors."""
        return len(self._genes)

    def draw(self, rng: DesignRng) -> Genome:
        """Return a genome drawn evenly: one unit a factor."""
        return tuple([rng.unit() for _ in self._genes])

    def mutate(self, genome: Genome, rate: float, scale: float, rng: DesignRng) -> Genome:
        """Return `genome` with each gene changed with probability `rate`, factor by factor.

        A categorical gene is drawn anew, an ordered one moved by `scale` times a triangular draw and reflected into 0
        to 1. Whether a gene changes takes a draw of its own, also where it is certain.
        """
        changed = list(genome)
        for position, gene in enumerate(self._genes):
            if rng.unit() >= rate:
                continue
            changed[position] = (
                rng.unit() if gene.is_categorical else reflected(genome[position] + scale * rng.triangular())
            )
        return tuple(changed)

    @staticmethod
    def cross(first: Genome, second: Genome, rng: DesignRng) -> Genome:
        """Return a genome with each gene of `first` or `second`, one unit a gene: below a half takes the first."""
        return tuple([one if rng.unit() < 0.5 else other for one, other in zip(first, second, strict=True)])

    def key(self, genome: Genome) -> ConfigKey:
        """Return which config `genome` stands for."""
        return tuple([gene.decode(number) for gene, number in zip(self._genes, genome, strict=True)])

    def values(self, genome: Genome) -> tuple[ParamValue, ...]:
        """Return the canonical value of each factor of `genome`."""
        return tuple([gene.value(gene.decode(number)) for gene, number in zip(self._genes, genome, strict=True)])


def _gene_of(domain: Domain) -> _Gene:
    if isinstance(domain, ContinuousDomain):
        return _Gene(is_categorical=False, decode=_continuous(domain), value=float)
    if isinstance(domain, WholeDomain):
        low = domain.low
        return _Gene(is_categorical=False, decode=_position(domain.count), value=lambda entry: low + int(entry))
    if not is_listed(domain):
        raise TypeError("a domain is continuous, of whole numbers or listed")
    return _Gene(is_categorical=True, decode=_position(len(domain)), value=lambda entry: domain[int(entry)])


def _continuous(domain: ContinuousDomain) -> Callable[[float], float]:
    """Return ``domain.at``, its ends rounded once: it is called for every candidate that is considered."""
    if domain.is_double:
        return domain.at
    low, span = domain.low, domain.high - domain.low
    bottom, top = single(low), single(domain.high)
    return lambda fraction: min(max(single(low + fraction * span), bottom), top)


def _position(count: int) -> Callable[[float], int]:
    last = count - 1
    return lambda fraction: min(int(fraction * count), last)


def reflected(number: float) -> float:
    """Return `number` folded into 0 to 1 as if both ends were mirrors."""
    folded = number % 2.0
    return 2.0 - folded if folded > 1.0 else folded


def _distinct(levels: Levels) -> Levels:
    """Return `levels` without those that stood before; a range that has none of these is not listed."""
    if isinstance(levels, range) or (isinstance(levels, SteppedLevels | DecimalLevels) and levels.are_distinct):
        return levels
    return tuple(dict.fromkeys(levels[position] for position in range(len(levels))))
