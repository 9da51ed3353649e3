"""Designs: how the levels of some factors become configs, each addressed by its position.

Owns the order of configs of designs that draw nothing (reference engine, section 4.9); `sampled_designs`
owns the draws of the others. A design is counted without being listed, and a row is computed when it
is asked for. What the values mean is `factors`' business.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    "TableLevels",
    "ZipDesign",
    "float_bits",
    "is_listed",
    "value_at",
]

CHUNK = 1 << 16
"""Configs looked at together when a whole design is walked."""

Row = tuple[ParamValue, ...]
"""One value a factor, in the factors' order."""

Column: TypeAlias = NDArray[np.generic]
"""A factor over some configs, ``(n,)``, in the form its domain gives it.

Values of a continuous domain in its precision, unsigned distances from the lowest value of a whole domain, unsigned
positions of listed levels.
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


def float_bits(column: Column) -> NDArray[np.uint64]:
    """Return the bits of the numbers of a continuous `column`, whatever its precision, ``(n,)``."""
    return column.view(np.uint32 if column.itemsize == 4 else np.uint64).astype(np.uint64)


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

    def late_ticks(self, factor: int, last_tick: int) -> tuple[int, int]:
        """Return in how many configs the tick of factor number `factor` is after `last_tick`, and the latest of these.

        Without any, both are 0, and nothing is drawn or walked when no level of the factor is late.
        """
        domain, count, latest = self.domains[factor], 0, 0
        if isinstance(domain, ContinuousDomain):
            raise TypeError("ticks are whole numbers")
        if _latest(domain) <= last_tick:
            return 0, 0
        ticks_of = _ticks_of(domain)
        for first in range(0, self.config_count, CHUNK):
            ticks = ticks_of(self.columns(first, min(first + CHUNK, self.config_count))[factor])
            late = ticks[ticks > np.uint64(last_tick)]
            count, latest = count + late.size, max(latest, int(late.max(initial=0)))
        return count, latest


def _latest(domain: Levels | WholeDomain) -> int:
    if isinstance(domain, WholeDomain):
        return domain.high
    if isinstance(domain, TableLevels):
        return int(domain.entries.max())
    return domain[-1] if isinstance(domain, range) else max(int(domain[position]) for position in range(len(domain)))


def _ticks_of(domain: Levels | WholeDomain) -> Callable[[Column], NDArray[np.uint64]]:
    """Return what turns a column of `domain` into ticks."""
    if isinstance(domain, WholeDomain):
        low = np.array(domain.low, np.uint64)
        return lambda column: column.astype(np.uint64) + low
    if isinstance(domain, range):
        start, step = np.array(domain.start, np.uint64), np.array(domain.step, np.uint64)
        return lambda column: column.astype(np.uint64) * step + start
    if isinstance(domain, TableLevels):
        numbers = domain.entries.astype(np.uint64)
        return lambda column: numbers[column.astype(np.intp)]
    ticks = np.array([int(domain[position]) for position in range(len(domain))], np.uint64)
    return lambda column: ticks[column.astype(np.intp)]


class FactorialDesign(Design):
    """Every combination: the first factor changes slowest, the last fastest. No factors make one config."""

    def __init__(self, levels: Sequence[Levels]) -> None:
        self._levels = tuple(levels)
        self._strides = [math.prod(map(len, self._levels[position + 1 :])) for position in range(len(self._levels))]

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

    def late_ticks(self, factor: int, last_tick: int) -> tuple[int, int]:
        """Return as `Design.late_ticks` does, from the levels alone: each stands in as many combinations."""
        levels = self._levels[factor]
        count, latest = ZipDesign((levels,)).late_ticks(0, last_tick)
        return count * (self.config_count // len(levels)), latest


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


@dataclass(frozen=True, slots=True, eq=False)
class TableLevels:
    """Levels that a table lists row by row, as an array.

    Attributes:
        entries: Numbers in the type of the parameter, ``(n,)``, or positions among `values`.
        values: What the entries stand for; None for numbers.
    """

    entries: NDArray[np.generic]
    values: tuple[ParamValue, ...] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.entries)

    def __getitem__(self, position: int) -> ParamValue:
        """Return the level in row `position`, from 0."""
        entry: float | int = self.entries[position].item()
        return entry if self.values is None else self.values[int(entry)]


class TableDesign(ZipDesign):
    """Rows written out one by one: column i of the table is the levels of factor i."""
