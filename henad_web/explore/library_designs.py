"""Designs drawn by a library of native Python: Sobol' points, Saltelli's and Morris's samples.

Owns which library draws what, from which seed, and the order of configs. The libraries are looked for when a plan needs
them, never at import; where one is missing, a plan of such a design is frozen into a table elsewhere. What a library
draws may change with its version: a frozen plan does not.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.designs import CHUNK, Column
from henad_web.explore.levels import ContinuousDomain, Domain
from henad_web.explore.sampled_designs import DrawnDesign, count_of, entry_type
from henad_web.explore.spec import DesignKind

__all__ = ["LIBRARIES", "MorrisDesign", "SaltelliDesign", "SobolDesign", "is_installed"]

LIBRARIES = {DesignKind.SOBOL: "scipy", DesignKind.SALTELLI: "scipy", DesignKind.MORRIS: "SALib"}
"""The library that draws each design."""

_TRAJECTORIES = 4096
"""Morris trajectories drawn together; the library takes one after another and keeps each in a list."""

Fractions = NDArray[np.float64]


def is_installed(library: str) -> bool:
    """Return whether `library` can be imported here; imports nothing."""
    try:
        return importlib.util.find_spec(library) is not None
    except ValueError:  # a module without a spec, or one that was taken out of the way
        return False


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
