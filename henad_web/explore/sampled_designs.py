"""Designs that draw, with the project's own generator or with a library of native Python.

Owns which draw of the generator stands for which value and in which order they are taken (reference engine, section
4.9), the same on every target; and which library draws Sobol' points, Saltelli's and Morris's samples, from which seed,
in which order of configs. Where such a library is missing (`libraries`), a plan of such a design is frozen into a table
elsewhere. What a library draws may change with its version: a frozen plan does not.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.designs import CHUNK, Column, Design
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.randomness import DesignRng, stream_bits, units_of

__all__ = [
    "DrawnDesign",
    "LhsDesign",
    "MorrisDesign",
    "RandomDesign",
    "SaltelliDesign",
    "SobolDesign",
    "count_of",
    "entry_type",
]

_STRIDE = 4096
"""Rows of a random design between two kept states of its stream."""

_LOW_32, _SHIFT_32 = np.array(2**32 - 1, np.uint64), np.array(32, np.uint64)


def count_of(domain: Domain) -> int:
    """Return the number of values of a domain that is not continuous."""
    if isinstance(domain, ContinuousDomain):
        raise TypeError("a continuous domain has no count")
    return domain.count if isinstance(domain, WholeDomain) else len(domain)


def entry_type(domain: Domain) -> np.dtype[np.generic]:
    """Return the narrowest type of a column of `domain`."""
    if isinstance(domain, ContinuousDomain):
        return np.dtype(domain.dtype)
    return np.min_scalar_type(count_of(domain) - 1)


class RandomDesign(Design):
    """Independent draws, config by config and factor by factor inside.

    The number of draws a row takes is not fixed, so rows are drawn in order. The state of the stream is kept
    every 4096 rows; a row near an earlier one costs little, and memory does not grow with the values. Several threads
    may read at once, as a host does that looks at the plan of a sweep under way.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int) -> None:
        self._domains = tuple(domains)
        self._samples = samples
        self._states = [DesignRng(seed).state]
        self._held = (-1, list[Column]())  # read and replaced as one: another thread may draw meanwhile

    @property
    def domains(self) -> tuple[Domain, ...]:
        """What each factor draws from."""
        return self._domains

    @property
    def config_count(self) -> int:
        """Number of samples."""
        return self._samples

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the draws of the configs `first` to ``last - 1``."""
        parts: list[list[Column]] = [[np.empty(0, _drawn_type(domain))] for domain in self._domains]
        for chunk in range(first // _STRIDE, -(-last // _STRIDE)):
            start = chunk * _STRIDE
            for part, column in zip(parts, self._chunk(chunk), strict=True):
                part.append(column[max(first - start, 0) : last - start])
        return [np.concatenate(part) for part in parts]

    def _chunk(self, chunk: int) -> list[Column]:
        held, columns = self._held
        if chunk == held:
            return columns
        for current in range(min(chunk, len(self._states) - 1), chunk + 1):
            count = min(_STRIDE, self._samples - current * _STRIDE)
            state = self._states[current]
            columns, after = _drawn_together(self._domains, count, state) or _drawn(self._domains, count, state)
            self._states[current + 1 : current + 2] = [after]  # whoever else has drawn it came to the same
        self._held = chunk, columns
        return columns


def _drawn_type(domain: Domain) -> type[np.generic]:
    return domain.dtype if isinstance(domain, ContinuousDomain) else np.uint64


def _drawn(domains: Sequence[Domain], count: int, state: int) -> tuple[list[Column], int]:
    """Return the columns of `count` rows drawn one by one, and the state of the stream after them."""
    rng = DesignRng(0)
    rng.state = state
    rows = [[_drawn_value(domain, rng) for domain in domains] for _ in range(count)]
    columns = zip(domains, zip(*rows, strict=True), strict=True)
    return [np.array(column, _drawn_type(domain)) for domain, column in columns], rng.state


def _drawn_value(domain: Domain, rng: DesignRng) -> float | int:
    if isinstance(domain, ContinuousDomain):
        return domain.at(rng.unit())
    if isinstance(domain, WholeDomain):
        return rng.whole_number(domain.low, domain.high) - domain.low
    return rng.index(len(domain))


def _drawn_together(domains: Sequence[Domain], count: int, state: int) -> tuple[list[Column], int] | None:
    """Return what `_drawn` does, a column at a time; None where a draw is rejected, or may often be.

    Without a rejection each row takes as many words of the stream: two a continuous value, one an index.
    """
    widths = [2 if isinstance(domain, ContinuousDomain) else 1 for domain in domains]
    if any(width == 1 and count_of(domain) >= 2**32 for width, domain in zip(widths, domains, strict=True)):
        return None
    words, after = stream_bits(state, count * sum(widths))
    table, position, columns = words.reshape(count, sum(widths)).astype(np.uint64), 0, list[Column]()
    for width, domain in zip(widths, domains, strict=True):
        if isinstance(domain, ContinuousDomain):
            columns.append(domain.column(units_of(table[:, position], table[:, position + 1])))
        else:
            size = count_of(domain)
            products = table[:, position] * np.array(size, np.uint64)
            if ((products & _LOW_32) < np.array((2**32 - size) % size, np.uint64)).any():
                return None
            columns.append(products >> _SHIFT_32)
        position += width
    return columns, after


class DrawnDesign(Design):
    """A design whose columns are drawn whole, at the first look, and kept: as wide as a value, at most eight bytes."""

    def __init__(self, domains: Sequence[Domain], config_count: int) -> None:
        self._domains = tuple(domains)
        self._config_count = config_count

    @property
    def domains(self) -> tuple[Domain, ...]:
        """What each factor draws from."""
        return self._domains

    @property
    def config_count(self) -> int:
        """Number of configs."""
        return self._config_count

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the draws of the configs `first` to ``last - 1``; the first call draws everything."""
        return [column[first:last] for column in self._columns]

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        return self.draw()

    @abstractmethod
    def draw(self) -> tuple[Column, ...]:
        """Return every column, whole."""


class LhsDesign(DrawnDesign):
    """A Latin hypercube: every factor takes each of its strata exactly once, in an order of its own.

    A factor with m listed levels takes each of them floor or ceiling of samples/m times, whatever the seed.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int) -> None:
        super().__init__(domains, samples)
        self._seed = seed

    def draw(self) -> tuple[Column, ...]:
        """Return every column, drawn factor by factor: the order of the strata, then a position in each."""
        rng = DesignRng(self._seed)
        return tuple(self._column(domain, rng) for domain in self._domains)

    def _column(self, domain: Domain, rng: DesignRng) -> Column:
        order = rng.shuffled(self.config_count)
        if isinstance(domain, ContinuousDomain) and not domain.is_double:
            kept: Column = order.view(np.float32)  # a value is as wide as its stratum and overwrites it
        else:
            kept = np.empty(self.config_count, entry_type(domain))
        for first in range(0, self.config_count, CHUNK):
            strata = order[first : first + CHUNK].copy()
            kept[first : first + CHUNK] = self._entries(domain, strata, rng)
        return kept

    def _entries(self, domain: Domain, strata: NDArray[np.uint32], rng: DesignRng) -> Column:
        samples = self.config_count
        if isinstance(domain, ContinuousDomain):
            return domain.column((strata + rng.units(len(strata))) / samples)
        # stratum * count // samples, with no product past 64 bits.
        each, rest = divmod(count_of(domain), samples)
        each %= 2**64  # only one sample of all 2^64 ticks has more in a stratum, and that stratum is number 0
        wide = strata.astype(np.uint64)
        return wide * np.array(each, np.uint64) + wide * np.array(rest, np.uint64) // np.array(samples, np.uint64)


_TRAJECTORIES = 4096
"""Morris trajectories drawn together; the library takes one after another and keeps each in a list."""

Fractions = NDArray[np.float64]


class SobolDesign(DrawnDesign):
    """The first points of a Sobol' sequence, scrambled (Owen) by the seed; one dimension a factor.

    Args:
        domains: What the factors take.
        samples: A power of two, which the sequence needs to be balanced.
        seed: Seed of numpy's default generator, which scrambles.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int) -> None:
        super().__init__(domains, samples)
        self._seed = seed

    def draw(self) -> tuple[Column, ...]:
        """Return one column a factor."""
        return _filled(self.domains, self.config_count, _sobol(len(self.domains), self.config_count, self._seed))


class SaltelliDesign(DrawnDesign):
    """Saltelli's arrangement of two Sobol' samples A and B, for variance-based sensitivity.

    For each point: the row of A; for each factor that row with the factor from B; with `second_order` also for each
    factor the row of B with the factor from A; the row of B. SALib's ``analyze.sobol`` expects this order.

    Args:
        domains: What the factors take.
        samples: Points, a power of two.
        seed: As in `SobolDesign`.
        second_order: Whether to draw what second-order indices need.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int, *, second_order: bool) -> None:
        self._points, self._seed = samples, seed
        self._rows = self.rows_a_point(len(domains), second_order=second_order)
        super().__init__(domains, samples * self._rows)

    @staticmethod
    def rows_a_point(factors: int, *, second_order: bool) -> int:
        """Return the configs that each point becomes."""
        return 2 * factors + 2 if second_order else factors + 2

    def draw(self) -> tuple[Column, ...]:
        """Return the columns of A, then those of B."""
        both = (*self.domains, *self.domains)
        return _filled(both, self._points, _sobol(len(both), self._points, self._seed))

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the configs `first` to ``last - 1``, each factor taken from A or from B."""
        drawn, factors = self._columns, len(self.domains)
        points, positions = np.divmod(np.arange(first, last, dtype=np.int64), self._rows)
        found = []
        for factor in range(factors):
            is_second = (positions == factor + 1) | ((positions > factors) & (positions != factors + 1 + factor))
            is_second |= positions == self._rows - 1
            found.append(np.where(is_second, drawn[factors + factor][points], drawn[factor][points]))
        return found


class MorrisDesign(DrawnDesign):
    """Morris's trajectories for elementary effects: each is one config more than there are factors.

    Args:
        domains: What the factors take.
        samples: Trajectories.
        seed: Seed of numpy's default generator; each 4096 trajectories have one of their own.
        num_levels: Levels of the grid, even; a factor takes ``i / (num_levels - 1)`` of its range.
    """

    def __init__(self, domains: Sequence[Domain], samples: int, seed: int, *, num_levels: int) -> None:
        self._trajectories, self._seed, self._num_levels = samples, seed, num_levels
        super().__init__(domains, samples * (len(domains) + 1))

    def draw(self) -> tuple[Column, ...]:
        """Return one column a factor, trajectory after trajectory."""
        return _filled(self.domains, self.config_count, self._blocks())

    def _blocks(self) -> Iterator[Fractions]:
        sample: Callable[..., Fractions] = importlib.import_module("SALib.sample.morris").sample
        factors, steps = len(self.domains), self._num_levels - 1
        problem = {"num_vars": factors, "names": [f"x{position}" for position in range(factors)]}
        for number, first in enumerate(range(0, self._trajectories, _TRAJECTORIES)):
            count = min(_TRAJECTORIES, self._trajectories - first)
            seed = [self._seed, number] if number else self._seed
            bounds = [[0.0, 1.0] for _ in range(factors)]
            drawn = sample({**problem, "bounds": bounds}, count, num_levels=self._num_levels, seed=seed)
            # A level is reached by adding and taking away; the nearest one is meant.
            yield np.rint(drawn * steps) / steps


def _sobol(dimensions: int, points: int, seed: int) -> Iterator[Fractions]:
    sequence = importlib.import_module("scipy.stats").qmc.Sobol(dimensions, scramble=True, rng=seed)
    for first in range(0, points, CHUNK):
        yield sequence.random(min(CHUNK, points - first))


def _filled(domains: Sequence[Domain], count: int, blocks: Iterator[Fractions]) -> tuple[Column, ...]:
    """Return a column a domain from `blocks` of fractions, 0 to 1, float64 ``(n, domains)``, `count` rows in all."""
    columns: list[Column] = [np.empty(count, entry_type(domain)) for domain in domains]
    first = 0
    for block in blocks:
        last = first + len(block)
        for domain, column, fractions in zip(domains, columns, block.T, strict=True):
            column[first:last] = _entries(domain, fractions)
        first = last
    return tuple(columns)


def _entries(domain: Domain, fractions: Fractions) -> Column:
    if isinstance(domain, ContinuousDomain):
        return domain.column(fractions)
    # Equal parts of 0 to 1 a value; 1 itself belongs to the last one.
    last = count_of(domain) - 1
    count = float(last + 1)
    parts = np.minimum(fractions * count, np.nextafter(count, 0.0)).astype(np.uint64)
    # Of more values than a double tells apart, the number below the count is none of the last ones.
    return np.where(fractions >= 1.0, np.array(last, np.uint64), parts)
