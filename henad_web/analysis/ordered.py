"""Numbers in order, in bounded pieces: sorted, laid out by group, and quantiles of them.

Owns how many numbers a piece sorts. A page cannot wait for one sort of 100,000 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.analysis.tables import Column

__all__ = ["OrderedGroups", "Rows", "distinct", "order_of", "ordered", "ordered_groups"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Run = TypeVar("Run")


def ordered(values: Column) -> Pieces[Column]:
    """Return `values`, ``(n,)``, in ascending order: stretches are sorted, then merged two by two."""
    runs = []
    for part in stretches(len(values)):
        runs.append(np.sort(values[part]))
        yield
    return (yield from _joined(runs, _merged)) if runs else values


def order_of(values: Column) -> Pieces[Ints]:
    """Return the places of `values`, ``(n,)``, in ascending order; equal ones stay in the order they stand in."""
    runs = []
    for part in stretches(len(values), PIECE_ROWS // 4):  # places take ten times as long as the numbers themselves
        order = np.argsort(values[part], kind="stable")
        runs.append((values[part][order], order + part.start))
        yield
    return (yield from _joined(runs, _merged_places))[1] if runs else np.empty(0, np.int64)


def _joined(runs: list[Run], merged: Callable[[Run, Run], Pieces[Run]]) -> Pieces[Run]:
    """Return all `runs`, at least one, as one: neighbours are merged until there is no other."""
    while len(runs) > 1:
        joined = []
        for first, second in zip(runs[::2], runs[1::2], strict=False):
            joined.append((yield from merged(first, second)))
        runs = joined + runs[len(joined) * 2 :]
    return runs[0]


def _merged(first: Column, second: Column) -> Pieces[Column]:
    """Return both, each in order, as one in order."""
    together = np.empty(len(first) + len(second), first.dtype)
    for part, of_first, of_second in _shares(first, second):
        together[part] = np.sort(np.concatenate([first[of_first], second[of_second]]), kind="stable")
        yield
    return together


_Placed: TypeAlias = tuple[Column, Ints]
"""Numbers in order, and where each stands."""


def _merged_places(first: _Placed, second: _Placed) -> Pieces[_Placed]:
    """Return both, each in order, as one in order; of equal numbers those of `first` come first."""
    size = len(first[0]) + len(second[0])
    values, places = np.empty(size, first[0].dtype), np.empty(size, np.int64)
    for part, of_first, of_second in _shares(first[0], second[0]):
        both = np.concatenate([first[0][of_first], second[0][of_second]])
        order = np.argsort(both, kind="stable")
        values[part] = both[order]
        places[part] = np.concatenate([first[1][of_first], second[1][of_second]])[order]
        yield
    return values, places


def _shares(first: Column, second: Column) -> Iterator[tuple[slice, slice, slice]]:
    """Yield stretches of both in order together, and what of `first` and of `second` is in each."""
    at_first = at_second = 0
    for part in stretches(len(first) + len(second)):
        to_first = _taken_of(first, second, part.stop)
        to_second = part.stop - to_first
        yield part, slice(at_first, to_first), slice(at_second, to_second)
        at_first, at_second = to_first, to_second


def _taken_of(first: Column, second: Column, count: int) -> int:
    """Return how many of `first` are among the `count` smallest of both, where those of `first` precede equal ones."""
    low, high = max(0, count - len(second)), min(count, len(first))
    while low < high:
        middle = (low + high) // 2
        if second[count - middle - 1] >= first[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@dataclass(frozen=True, slots=True, eq=False)
class OrderedGroups:
    """The numbers of each group, ascending.

    Attributes:
        values: All of them, group after group, ``(n,)``.
        counts: How many each group has, ``(groups,)``.
    """

    values: Floats
    counts: Ints

    @property
    def starts(self) -> Ints:
        """Where each group begins, ``(groups,)``."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def quantile(self, share: float) -> Pieces[Floats]:
        """Return the quantile `share` of each group, ``(groups,)``; NaN of one without numbers.

        Between two numbers it is interpolated linearly (definition 7 of Hyndman and Fan, The American Statistician 50,
        1996), in the same steps as numpy's where their distance is a number.
        """
        found, starts = np.full(len(self.counts), np.nan), self.starts
        for part in stretches(len(self.counts)):
            some = np.flatnonzero(self.counts[part]) + part.start
            found[some] = _quantiles(self.values, starts[some], self.counts[some] - 1, share)
            yield
        return found

    def values_of(self, group: int) -> Floats:
        """Return the numbers of one group."""
        start = int(self.starts[group])
        return self.values[start : start + int(self.counts[group])]


def _quantiles(values: Floats, starts: Ints, lasts: Ints, share: float) -> Floats:
    """Return the quantile `share` of groups that begin at `starts` and have `lasts` more numbers than one."""
    place = lasts * share
    below = np.floor(place).astype(np.int64)
    low, high = values[starts + below], values[starts + np.minimum(below + 1, lasts)]
    part = place - below
    with np.errstate(over="ignore", invalid="ignore"):
        step = high - low
        between = np.where(part >= 0.5, high - step * (1 - part), low + step * part)
        return np.asarray(np.where(np.isinf(step), low * (1 - part) + high * part, between))


Rows = Iterable[tuple[Ints, Floats]]
"""Numbers, in bounded stretches: the group of each, and its value."""


def ordered_groups(rows: Rows, counts: Ints) -> Pieces[OrderedGroups]:
    """Return the numbers of `rows` by group, of which each has `counts`."""
    values = np.empty(int(counts.sum()), np.float64)
    free = np.cumsum(counts) - counts
    for codes, numbers in rows:
        order = np.argsort(codes, kind="stable")
        groups, first, count = _runs_of(codes[order])
        places = np.repeat(free[groups] - first, count.astype(np.intp)) + np.arange(len(codes))
        values[places] = numbers[order]
        free[groups] += count
        yield
    starts = np.cumsum(counts) - counts
    for group in np.flatnonzero(counts > PIECE_ROWS).tolist():
        part = slice(int(starts[group]), int(starts[group] + counts[group]))
        values[part] = yield from ordered(values[part])
    for first_group, end in _bundles(counts):
        _sort_each(values, starts[first_group:end], counts[first_group:end])
        yield
    return OrderedGroups(values, counts)


def _runs_of(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each value of `codes`, which ascend, where it begins and how often it stands there."""
    firsts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])[: len(codes)]).astype(np.int64)
    return codes[firsts], firsts, np.diff(np.append(firsts, len(codes)))


def _bundles(counts: Ints) -> Iterator[tuple[int, int]]:
    """Yield stretches of groups which, filled up to the largest among them, are no more than a piece.

    Groups that are more than a piece by themselves are in none.
    """
    first = 0
    while first < len(counts):
        size = max(1, PIECE_ROWS // max(1, int(counts[first])))
        size = min(size, max(1, PIECE_ROWS // max(1, int(counts[first : first + size].max()))))
        if counts[first] <= PIECE_ROWS:
            yield first, min(first + size, len(counts))
        first += size


def _sort_each(values: Floats, starts: Ints, counts: Ints) -> None:
    width = int(counts.max(initial=0))
    if width < 2:
        return
    columns = np.arange(width)
    is_there = columns < counts[:, None]
    laid = np.full((len(counts), width), np.inf)
    part = values[int(starts[0]) : int(starts[-1] + counts[-1])]
    laid[is_there] = part
    laid.sort(axis=1)
    part[:] = laid[is_there]


def distinct(values: Column) -> Pieces[Column]:
    """Return each of `values`, ``(n,)``, once, ascending."""
    together = yield from ordered(values)
    if not len(together):
        return together
    return np.asarray(together[np.concatenate([[True], together[1:] != together[:-1]])])
