"""The configs of a block that an expression keeps.

Owns the walk over a block, in columns of a bounded number of configs, and the values that an expression sees: a value
counts as the number its text shows, so that ``rate <= 0.3`` holds for the single-precision 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.designs import CHUNK, Column, Design, Row, value_at
from henad_web.explore.factors import Target
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.shown_numbers import shown_number, shown_numbers
from henad_web.explore.where_filter import Values, Where
from henad_web.model.params import ParamValue

__all__ = ["FilteredDesign"]


class FilteredDesign(Design):
    """The configs of another design that an expression keeps, in their order.

    Args:
        inner: All configs.
        kept: Positions of those kept, ascending, uint32 ``(n,)``: four bytes each.
    """

    def __init__(self, inner: Design, kept: NDArray[np.uint32]) -> None:
        self._inner, self._kept = inner, kept

    @classmethod
    def of(cls, inner: Design, varied: Sequence[Target], where: Where, base: Mapping[Target, ParamValue]) -> Design:
        """Return the configs of `inner` that `where` keeps; takes time in proportion to all of them.

        Args:
            inner: All configs.
            varied: What `inner` varies, in its order.
            where: Which to keep.
            base: The value of everything that a block may leave alone.
        """
        fixed = {target: _constant(base[target]) for target in where.targets if target not in varied}
        kept = []
        for first in range(0, inner.config_count, CHUNK):
            last = min(first + CHUNK, inner.config_count)
            values = dict(fixed)
            columns = inner.columns(first, last) if len(fixed) < len(where.targets) else []
            for target, domain, column in zip(varied, inner.domains, columns, strict=False):
                if target in where.targets:
                    values[target] = _values(domain, column)
            kept.append((np.flatnonzero(where.holds(values, last - first)) + first).astype(np.uint32))
        return cls(inner, np.concatenate(kept))

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Those of the other design."""
        return self._inner.domains

    @property
    def config_count(self) -> int:
        """Number of configs kept."""
        return len(self._kept)

    def row(self, position: int) -> Row:
        """Return the values of the kept config at `position`."""
        return self._inner.row(int(self._kept[position]))

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the columns of the kept configs `first` to ``last - 1``."""
        kept = self._kept[first:last]
        if not len(kept):
            return [column[:0] for column in self._inner.columns(0, 1)]
        start, stop = int(kept[0]), int(kept[-1]) + 1
        if stop - start <= 4 * CHUNK:
            return [column[kept - start] for column in self._inner.columns(start, stop)]
        rows = [self._inner.columns(int(place), int(place) + 1) for place in kept]
        return [np.concatenate(column) for column in zip(*rows, strict=True)]


def _constant(value: ParamValue) -> Values:
    return np.asarray(_plain(value))


def _plain(value: ParamValue) -> float | bool | str:
    if isinstance(value, bool | str):
        return value
    return shown_number(value) if isinstance(value, float) else float(value)


def _values(domain: Domain, column: Column) -> Values:
    """Return the numbers, flags or names that the entries of `column` stand for."""
    if isinstance(domain, ContinuousDomain):
        return shown_numbers(column.astype(np.float32))
    if isinstance(domain, WholeDomain):
        return column.astype(np.float64) + float(domain.low)
    # A level is looked at once, however many configs of this stretch have it.
    entries, places = np.unique(column, return_inverse=True)
    return np.asarray([_plain(value_at(domain, entry)) for entry in entries])[places]
