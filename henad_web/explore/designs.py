"""Designs: how the levels of some factors become configs, each addressed by its position.

Owns the order of configs of designs that draw nothing (reference engine, section 4.9); `sampled_designs` and
`library_designs` own the draws of the others. A design is counted without being listed, and a row is computed when it
is asked for. What the values mean is `factors`' business.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.levels import ContinuousDomain, Domain, Levels, WholeDomain
from henad_web.model.params import ParamValue

__all__ = [
    "CHUNK",
    "Column",
    "Design",
    "FactorialDesign",
    "Row",
    "TableDesign",
    "ZipDesign",
    "is_listed",
    "value_at",
]

CHUNK = 1 << 16
"""Configs looked at together when a whole design is walked."""

Row = tuple[ParamValue, ...]
"""One value a factor, in the factors' order."""

Column: TypeAlias = NDArray[np.generic]
"""A factor over some configs, ``(n,)``, in the form its domain gives it.

Float32 values of a continuous domain, unsigned distances from the lowest value of a whole domain, unsigned positions
of listed levels.
"""


def is_listed(domain: Domain) -> TypeGuard[Levels]:
    """Return whether `domain` is levels by position."""
    return not isinstance(domain, ContinuousDomain | WholeDomain)


def value_at(domain: Domain, entry: np.generic | int | float) -> ParamValue:
    """Return the canonical value that the `entry` of a column of `domain` stands for."""
    if isinstance(domain, ContinuousDomain):
        return float(entry)
    position = int(entry)
    return domain.low + position if isinstance(domain, WholeDomain) else domain[position]


class Design(ABC):
    """Configs of one block by position."""

    @property
    @abstractmethod
    def domains(self) -> tuple[Domain, ...]:
        """What each factor takes."""

    @property
    @abstractmethod
    def config_count(self) -> int:
        """Number of configs."""

    @abstractmethod
    def columns(self, first: int, last: int) -> list[Column]:
        """Return one column a factor over the configs `first` to ``last - 1``."""

    def row(self, position: int) -> Row:
        """Return the values of the config at `position`, 0 to ``config_count - 1``."""
        columns = self.columns(position, position + 1)
        return tuple(value_at(domain, column[0]) for domain, column in zip(self.domains, columns, strict=True))

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield the values of factor number `factor`, each with a number of configs; a value may come twice."""
        domain = self.domains[factor]
        for first in range(0, self.config_count, CHUNK):
            column = self.columns(first, min(first + CHUNK, self.config_count))[factor]
            entries, counts = np.unique(column, return_counts=True)
            for entry, count in zip(entries, counts.tolist(), strict=True):
                yield value_at(domain, entry), count


class FactorialDesign(Design):
    """Every combination: the first factor changes slowest, the last fastest. No factors make one config."""

    def __init__(self, levels: Sequence[Levels]) -> None:
        self._levels = tuple(levels)
        self._strides = [math.prod(map(len, self._levels[place + 1 :])) for place in range(len(self._levels))]

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The levels of each factor."""
        return self._levels

    @property
    def config_count(self) -> int:
        """Product of the level counts."""
        return math.prod(map(len, self._levels))

    def row(self, position: int) -> Row:
        """Return the combination at `position`."""
        return tuple(
            levels[position // stride % len(levels)] for levels, stride in zip(self._levels, self._strides, strict=True)
        )

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the positions of levels in the combinations `first` to ``last - 1``."""
        positions = np.arange(first, last, dtype=np.int64)
        return [
            (positions // stride % len(levels)).astype(np.uint32)
            for levels, stride in zip(self._levels, self._strides, strict=True)
        ]

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield each level with the number of combinations of the other factors."""
        levels = self._levels[factor]
        for place in range(len(levels)):
            yield levels[place], self.config_count // len(levels)


class ZipDesign(Design):
    """Level i of every factor together; all factors have `config_count` levels."""

    def __init__(self, levels: Sequence[Levels]) -> None:
        self._levels = tuple(levels)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The levels of each factor."""
        return self._levels

    @property
    def config_count(self) -> int:
        """Common number of levels; 1 without factors."""
        return len(self._levels[0]) if self._levels else 1

    def row(self, position: int) -> Row:
        """Return level `position` of every factor."""
        return tuple(levels[position] for levels in self._levels)

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the positions `first` to ``last - 1`` for every factor."""
        return [np.arange(first, last, dtype=np.uint32) for _ in self._levels]

    def tallies(self, factor: int) -> Iterator[tuple[ParamValue, int]]:
        """Yield each level once."""
        for place in range(self.config_count):
            yield self._levels[factor][place], 1


class TableDesign(ZipDesign):
    """Rows written out one by one: column i of the table is the levels of factor i."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(tuple(zip(*rows, strict=True)))
