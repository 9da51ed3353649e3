"""Designs: how the levels of some factors become configs, each addressed by its position.

Owns the order of configs and the draws of sampled designs (reference engine, section 4.9). A design is
counted without being listed, and a row is computed when it is asked for. What the values mean is `factors`'
business.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard

from henad_web.explore.levels import ContinuousDomain, Domain, Levels, WholeDomain
from henad_web.model.params import ParamValue
from henad_web.randomness import DesignRng

__all__ = ["Design", "FactorialDesign", "LhsDesign", "RandomDesign", "Row", "TableDesign", "ZipDesign"]

Row = tuple[ParamValue, ...]
"""One value a factor, in the factors' order."""

_STRIDE = 1024
"""Rows of a random design between two kept states of its stream."""


class Design(Protocol):
    """Configs of one block by position."""

    @property
    def config_count(self) -> int:
        """Number of configs."""

    def row(self, position: int) -> Row:
        """Return the values of the config at `position`, 0 to ``config_count - 1``."""

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield the values of factor number `factor`, each with a number of configs; a value may come twice."""


class FactorialDesign:
    """Every combination: the first factor changes slowest, the last fastest. No factors make one config."""

    def __init__(self, levels: Sequence[Levels]) -> None:
        self._levels = tuple(levels)
        self._strides = [math.prod(map(len, self._levels[place + 1 :])) for place in range(len(self._levels))]

    @property
    def config_count(self) -> int:
        """Product of the level counts."""
        return math.prod(map(len, self._levels))

    def row(self, position: int) -> Row:
        """Return the combination at `position`."""
        return tuple(
            levels[position // stride % len(levels)] for levels, stride in zip(self._levels, self._strides, strict=True)
        )

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield each level with the number of combinations of the other factors."""
        levels = self._levels[factor]
        for place in range(len(levels)):
            yield levels[place], self.config_count // len(levels)


class ZipDesign:
    """Level i of every factor together; all factors have `config_count` levels."""

    def __init__(self, levels: Sequence[Levels]) -> None:
        self._levels = tuple(levels)

    @property
    def config_count(self) -> int:
        """Common number of levels; 1 without factors."""
        return len(self._levels[0]) if self._levels else 1

    def row(self, position: int) -> Row:
        """Return level `position` of every factor."""
        return tuple(levels[position] for levels in self._levels)

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield each level once."""
        for place in range(self.config_count):
            yield self._levels[factor][place], 1


class RandomDesign:
    """Independent draws, config by config and factor by factor inside.

    The number of draws a row takes is not fixed, so rows are drawn in order. The state of the stream is kept
    every 1024 rows; a row near an earlier one costs little, and memory does not grow with the values.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int) -> None:
        self._domains = tuple(domains)
        self._samples = samples
        self._rng = DesignRng(seed)
        self._states = [self._rng.state]
        self._chunk = -1
        self._rows: list[Row] = []

    @property
    def config_count(self) -> int:
        """Number of samples."""
        return self._samples

    def row(self, position: int) -> Row:
        """Return the draws of config `position`."""
        chunk, place = divmod(position, _STRIDE)
        if chunk != self._chunk:
            self._draw(chunk)
        return self._rows[place]

    def _draw(self, chunk: int) -> None:
        for current in range(min(chunk, len(self._states) - 1), chunk + 1):
            self._rng.state = self._states[current]
            count = min(_STRIDE, self._samples - current * _STRIDE)
            self._rows = [tuple(_drawn(domain, self._rng) for domain in self._domains) for _ in range(count)]
            if current + 1 == len(self._states):
                self._states.append(self._rng.state)
        self._chunk = chunk

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield the value of every config."""
        for position in range(self._samples):
            yield self.row(position)[factor], 1


def _drawn(domain: Domain, rng: DesignRng) -> ParamValue:
    if isinstance(domain, ContinuousDomain):
        return domain.at(rng.unit())
    if isinstance(domain, WholeDomain):
        return rng.whole_number(domain.low, domain.high)
    return domain[rng.index(len(domain))]


def _is_listed(domain: Domain) -> TypeGuard[Levels]:
    return not isinstance(domain, ContinuousDomain | WholeDomain)


class LhsDesign:
    """A Latin hypercube: every factor takes each of its strata exactly once, in an order of its own.

    A factor with m listed levels takes each of them floor or ceiling of samples/m times, whatever the seed.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int) -> None:
        self._domains = tuple(domains)
        self._samples = samples
        self._seed = seed
        self._columns: list[Sequence[float] | Sequence[int]] | None = None

    @property
    def config_count(self) -> int:
        """Number of samples."""
        return self._samples

    def row(self, position: int) -> Row:
        """Return the values of config `position`; the first call draws every column."""
        if self._columns is None:
            rng = DesignRng(self._seed)
            self._columns = [self._column(domain, rng) for domain in self._domains]
        return tuple(
            domain[int(column[position])] if _is_listed(domain) else column[position]
            for domain, column in zip(self._domains, self._columns, strict=True)
        )

    def _column(self, domain: Domain, rng: DesignRng) -> Sequence[float] | Sequence[int]:
        """Draw one factor: its values, or positions of its levels, in the least memory that holds them."""
        samples, order = self._samples, rng.permutation(self._samples)
        if isinstance(domain, ContinuousDomain):
            return array("f", (domain.at((stratum + rng.unit()) / samples) for stratum in order))
        count = domain.count if isinstance(domain, WholeDomain) else len(domain)
        low = domain.low if isinstance(domain, WholeDomain) else 0
        return array("Q", (low + stratum * count // samples for stratum in order))

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield the value of every config."""
        for position in range(self._samples):
            yield self.row(position)[factor], 1


class TableDesign:
    """Rows written out one by one."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = tuple(rows)

    @property
    def config_count(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def row(self, position: int) -> Row:
        """Return row `position`."""
        return self._rows[position]

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield the value of every row."""
        for row in self._rows:
            yield row[factor], 1


if TYPE_CHECKING:
    _designs: list[type[Design]] = [FactorialDesign, ZipDesign, RandomDesign, LhsDesign, TableDesign]
