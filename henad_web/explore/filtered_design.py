"""The configs of a block that an expression keeps.

Owns the walk over a block, in columns of a bounded number of configs, and the values that an expression sees: a value
counts as the number its text shows, so that ``rate <= 0.3`` holds for the single-precision 0.3.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.designs import CHUNK, Column, Design, Row, TableLevels
from henad_web.explore.factors import Target
from henad_web.explore.levels import ContinuousDomain, Domain, Levels, WholeDomain
from henad_web.explore.numbers import EXACT_LIMIT, shown_number, shown_numbers
from henad_web.explore.where_filter import Values, Where
from henad_web.model.params import ParamValue

__all__ = ["FilteredDesign"]


class FilteredDesign(Design):
    """The configs of another design that an expression keeps, in their order.

    Args:
        inner: All configs.
        kept: For each stretch of `CHUNK` configs, which of them are kept, a bit each as `numpy.packbits` packs them.
    """

    def __init__(self, inner: Design, kept: Sequence[NDArray[np.uint8]]) -> None:
        self._inner, self._kept = inner, tuple(kept)
        self._starts = [0, *accumulate(len(_set_bits(flags)) for flags in self._kept)]
        self._held = (-1, np.empty(0, np.intp))  # read and replaced as one: another thread may look meanwhile

    @classmethod
    def of(cls, inner: Design, varied: Sequence[Target], where: Where, base: Mapping[Target, ParamValue]) -> Design:
        """Return the configs of `inner` that `where` keeps; takes time in proportion to all of them.

        Args:
            inner: All configs.
            varied: What `inner` varies, in its order.
            where: Which to keep.
            base: The value of everything that a block may leave alone.

        Raises:
            WhereError: Something is to be calculated with a number that double precision does not hold.
        """
        fixed = {target: _values(target, [base[target]]) for target in where.targets if target not in varied}
        named = [
            (position, target, _reader(target, inner.domains[position]))
            for position, target in enumerate(varied)
            if target in where.targets
        ]
        kept = []
        for first in range(0, inner.config_count, CHUNK):
            last = min(first + CHUNK, inner.config_count)
            columns = inner.columns(first, last) if named else []
            values = {**fixed, **{target: read(columns[position]) for position, target, read in named}}
            kept.append(np.packbits(where.holds(values, last - first)))
        return cls(inner, kept)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Those of the other design."""
        return self._inner.domains

    @property
    def config_count(self) -> int:
        """Number of configs kept."""
        return self._starts[-1]

    def row(self, position: int) -> Row:
        """Return the values of the kept config at `position`."""
        stretch = bisect_right(self._starts, position) - 1
        return self._inner.row(stretch * CHUNK + int(self._positions_in(stretch)[position - self._starts[stretch]]))

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the columns of the kept configs `first` to ``last - 1``."""
        parts = [[column[:0]] for column in self._inner.columns(0, 1)]
        for stretch in range(bisect_right(self._starts, first) - 1, bisect_left(self._starts, last)):
            start = self._starts[stretch]
            positions = self._positions_in(stretch)[max(first - start, 0) : last - start]
            if not len(positions):
                continue
            # Only what lies between the first and the last of them is computed.
            begin, end = stretch * CHUNK + int(positions[0]), stretch * CHUNK + int(positions[-1]) + 1
            for part, column in zip(parts, self._inner.columns(begin, end), strict=True):
                part.append(column[positions - positions[0]])
        return [np.concatenate(part) for part in parts]

    def _positions_in(self, stretch: int) -> NDArray[np.intp]:
        held, positions = self._held
        if stretch != held:
            positions = _set_bits(self._kept[stretch])
            self._held = stretch, positions
        return positions


def _set_bits(flags: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the positions of the bits that are set; bits past the last config never are."""
    return np.flatnonzero(np.unpackbits(flags))


def _values(target: Target, levels: Sequence[ParamValue]) -> Values:
    """Return the numbers, flags, names or texts that `levels` of `target` stand for, ``(n,)``."""
    if not target.is_number:
        return np.asarray(levels)
    if target.is_real and not target.is_double:
        return np.asarray([shown_number(float(level)) for level in levels], np.float64)
    return _narrowed(np.asarray(levels, object))


def _narrowed(numbers: Values) -> Values:
    """Return `numbers`, Python's own, as doubles where these hold every one of them."""
    is_exact = all(float(number) == number for number in numbers.tolist())
    return numbers.astype(np.float64) if is_exact else numbers


def _reader(target: Target, domain: Domain) -> Callable[[Column], Values]:
    """Return what turns a column of `domain` into what its entries stand for, as `_values` does."""
    if isinstance(domain, ContinuousDomain):
        if domain.is_double:
            return lambda column: column
        return lambda column: shown_numbers(column.astype(np.float32))
    if isinstance(domain, WholeDomain):
        if max(abs(domain.low), abs(domain.high)) > EXACT_LIMIT:
            return lambda column: _narrowed(column.astype(object) + domain.low)
        low = float(domain.low)
        return lambda column: column.astype(np.float64) + low
    if isinstance(domain, TableLevels):
        return _table_reader(target, domain)
    if len(domain) > CHUNK:
        return lambda column: _levels_met(target, domain, column)
    levels = _values(target, [domain[position] for position in range(len(domain))])
    return lambda column: levels[column.astype(np.intp)]


def _table_reader(target: Target, levels: TableLevels) -> Callable[[Column], Values]:
    entries = levels.entries
    if levels.values is not None:
        values = _values(target, levels.values)
        return lambda column: values[entries[column.astype(np.intp)].astype(np.intp)]
    if target.is_double:
        return lambda column: entries[column.astype(np.intp)]
    if target.is_real:
        return lambda column: shown_numbers(entries[column.astype(np.intp)].astype(np.float32))
    return lambda column: _narrowed(entries[column.astype(np.intp)].astype(object))


def _levels_met(target: Target, domain: Levels, column: Column) -> Values:
    # Many levels are never listed together: only those of this stretch are looked at, each once.
    entries, positions = np.unique(column, return_inverse=True)
    return _values(target, [domain[int(entry)] for entry in entries])[positions]
