"""PRIM's search: a box of factors that is peeled, and then pasted, side by side, towards more of what is looked for.

Owns the algorithm: which sides may go, which goes, when it ends. The choices that its authors leave open (where between
two values a side is cut, ties, whole numbers, names, the objective) are those of the EMA Workbench, whose boxes these
are. Boxes are sets of closed limits; a case is in a box when every factor is within.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import order_of, ordered
from henad_web.analysis.pieces import Pieces
from henad_web.analysis.scaling import scaled

__all__ = ["Box", "Kind", "Limits", "Objective", "Peeled", "Settings", "Side", "peeled"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


class Kind(StrEnum):
    """What the values of a factor are: any numbers, whole ones, or names."""

    NUMBER = "number"
    WHOLE = "whole"
    NAME = "name"


class Objective(StrEnum):
    """What a peel or a paste is chosen by: gain of the mean a case, the same weighted, or the mean itself."""

    LENIENT1 = "lenient1"
    LENIENT2 = "lenient2"
    ORIGINAL = "original"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One factor as the search sees it.

    Attributes:
        kind: What its values are.
        values: Its value in each case, of names their codes from 0, ``(cases,)``.
        names: How many names there are; 0 of numbers.
    """

    kind: Kind
    values: Floats
    names: int = 0

    def all(self) -> Limits:
        """Return the limits that hold every case."""
        if self.kind is Kind.NAME:
            return Limits(low=np.nan, high=np.nan, kept=tuple(range(self.names)))
        return Limits(low=float(self.values.min()), high=float(self.values.max()))

    def within(self, limits: Limits) -> Flags:
        """Return whether each case is within `limits`, ``(cases,)``."""
        if self.kind is Kind.NAME:
            is_kept = np.zeros(self.names, np.bool_)
            is_kept[list(limits.kept)] = True
            return is_kept[self.values.astype(np.intp)]
        return np.asarray((limits.low <= self.values) & (self.values <= limits.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one factor: numbers from `low` to `high`, both within, or the codes of the names that are `kept`."""

    low: float
    high: float
    kept: tuple[int, ...] = ()

    def is_like(self, other: Limits) -> bool:
        """Return whether both are the same."""
        if self.kept or other.kept:
            return self.kept == other.kept
        return (self.low, self.high) == (other.low, other.high)


Box = tuple[Limits, ...]
"""Limits of every factor, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A side that may go or come: the limits of one factor, and the box that they would leave."""

    score: float
    place: int
    limits: Limits
    count: int
    total: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Peeled:
    """A box on the way.

    Attributes:
        box: Its limits.
        inside: Whether each case is in it, ``(cases,)``.
    """

    box: Box
    inside: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the search goes.

    Attributes:
        peel_alpha: Share of the cases in the box that a peel takes away.
        paste_alpha: Share of the cases beyond a side that a paste takes in.
        mass_min: Least share of all cases that a box must hold.
        objective: What a step is chosen by.
    """

    peel_alpha: float = 0.05
    paste_alpha: float = 0.05
    mass_min: float = 0.05
    objective: Objective = Objective.LENIENT1


def peeled(sides: Sequence[Side], y: Floats, settings: Settings) -> Pieces[list[Peeled]]:
    """Return the boxes of the search, the first of which holds every case.

    J. Friedman and N. Fisher, Bump hunting in high-dimensional data, Statistics and Computing 9, 1999, 123-143; for
    scenarios: B. Bryant and R. Lempert, Thinking inside the box, Technological Forecasting and Social Change 77, 2010,
    34-49; the lenient objectives and names: J. Kwakkel and M. Jaxa-Rozen, Improving scenario discovery for handling
    heterogeneous uncertainties and multinomial classified outcomes, Environmental Modelling & Software 79, 2016,
    311-321.

    Args:
        sides: The factors.
        y: What is to be high, ``(cases,)``.
        settings: How the search goes.
    """
    search = _Search(sides, scaled(y)[0], settings)
    trajectory = [search.start]
    for step in (search.peel, search.paste):
        while True:
            found = yield from step(trajectory[-1])
            if found is None:
                break
            trajectory.append(found)
    return trajectory


class _Search:
    def __init__(self, sides: Sequence[Side], y: Floats, settings: Settings) -> None:
        self._sides, self._y, self._settings = tuple(sides), y, settings
        self._all = tuple(side.all() for side in self._sides)
        self.start = Peeled(box=self._all, inside=np.ones(len(y), np.bool_))
        self._orders: list[Rows] = []
        # Of peels that are as good, the first one is taken: numbers go before whole ones, and those before names.
        kinds = list(Kind)
        self._turns = sorted(range(len(self._sides)), key=lambda place: kinds.index(self._sides[place].kind))

    def peel(self, before: Peeled) -> Pieces[Peeled | None]:
        """Return the box that the best peel leaves, None where it is none."""
        if not self._orders:
            for side in self._sides:
                self._orders.append((yield from order_of(side.values)))
        candidates: list[_Candidate] = []
        count, total = int(before.inside.sum()), float(self._y[before.inside].sum())
        for place in self._turns:
            order = self._orders[place] = self._orders[place][before.inside[self._orders[place]]]
            values, y = self._sides[place].values[order], self._y[order]
            yield
            for candidate in self._peels(place, before.box[place], values, y, (count, total)):
                candidates.append(candidate)
                yield
        best = self._best(candidates, before.box)
        if best is None or best.score <= 0 or best.count >= count or not self._is_large(best.count):
            return None
        return (yield from self._with(before, best))

    def paste(self, before: Peeled) -> Pieces[Peeled | None]:
        """Return the box that the best paste makes, None where it is none."""
        outside, missed = [], np.zeros(len(self._y), np.int64)
        for side, limits in zip(self._sides, before.box, strict=True):
            outside.append(~side.within(limits))
            missed += outside[-1]
            yield
        candidates: list[_Candidate] = []
        count, total = int(before.inside.sum()), float(self._y[before.inside].sum())
        for place in self._turns:
            if not before.box[place].is_like(self._all[place]):
                others = missed == outside[place]  # within all other limits
                for limits in (yield from self._wider(place, before.box[place], others)):
                    y = self._y[others & self._sides[place].within(limits)]
                    candidates.append(self._candidate(place, limits, y, (count, total)))
                    yield
        best = self._best(candidates, before.box)
        if best is None or best.score <= 0 or best.count <= count or not self._is_large(best.count):
            return None
        if best.total / best.count <= total / count:
            return None
        return (yield from self._with(before, best))

    def _peels(
        self, place: int, limits: Limits, values: Floats, y: Floats, before: tuple[int, float]
    ) -> Iterator[_Candidate]:
        """Yield what may be peeled off one factor; `values` of the cases in the box ascend."""
        if self._sides[place].kind is Kind.NAME:
            for name in limits.kept if len(limits.kept) > 1 else ():
                is_kept = values != name
                kept = tuple(other for other in limits.kept if other != name)
                yield self._candidate(place, replace(limits, kept=kept), y[is_kept], before)
            return
        share = self._settings.peel_alpha
        cut, is_whole = _quantile(values, 1 - share), self._sides[place].kind is Kind.WHOLE
        top, high = (cut, cut) if not is_whole else _whole_cut(values, int(cut), limits.high, -1)
        kept_below = int(np.searchsorted(values, top, side="right"))
        yield self._candidate(place, replace(limits, high=high), y[:kept_below], before)
        cut = _quantile(values, share)
        bottom, low = (cut, cut) if not is_whole else _whole_cut(values, int(cut), limits.low, 1)
        kept_from = int(np.searchsorted(values, bottom, side="left"))
        yield self._candidate(place, replace(limits, low=low), y[kept_from:], before)

    def _wider(self, place: int, limits: Limits, others: Flags) -> Pieces[list[Limits]]:
        """Return what may be pasted to one factor; `others` says which cases are within all other limits."""
        side, whole, share = self._sides[place], self._all[place], self._settings.paste_alpha
        if side.kind is Kind.NAME:
            missing = (name for name in whole.kept if name not in limits.kept)
            return [replace(limits, kept=tuple(sorted((*limits.kept, name)))) for name in missing]
        below = yield from ordered(side.values[others & (side.values <= limits.low)])
        above = yield from ordered(side.values[others & (side.values >= limits.high)])
        low = _quantile(below, 1 - share) if len(below) else whole.low
        high = _quantile(above, share) if len(above) else whole.high
        if side.kind is Kind.WHOLE:
            low, high = float(np.ceil(low)), float(np.floor(high))
        return [replace(limits, low=low), replace(limits, high=high)]

    def _candidate(self, place: int, limits: Limits, y: Floats, before: tuple[int, float]) -> _Candidate:
        count, total = len(y), float(y.sum())
        score = _SCORES[self._settings.objective](before[0], before[1], count, total)
        return _Candidate(score=score, place=place, limits=limits, count=count, total=total)

    def _best(self, candidates: Sequence[_Candidate], box: Box) -> _Candidate | None:
        """Return the first of the best: of the highest score, and of these with the fewest factors restricted."""

        def rank(candidate: _Candidate) -> tuple[float, int]:
            limits = (*box[: candidate.place], candidate.limits, *box[candidate.place + 1 :])
            free = sum(each.is_like(whole) for each, whole in zip(limits, self._all, strict=True))
            return candidate.score, free

        return max(candidates, key=rank, default=None)

    def _is_large(self, count: int) -> bool:
        return count / len(self._y) >= self._settings.mass_min

    def _with(self, before: Peeled, step: _Candidate) -> Pieces[Peeled]:
        box = (*before.box[: step.place], step.limits, *before.box[step.place + 1 :])
        inside = np.ones(len(self._y), np.bool_)
        for side, limits in zip(self._sides, box, strict=True):
            inside &= side.within(limits)
            yield
        return Peeled(box=box, inside=inside)


def _quantile(values: Floats, share: float) -> float:
    """Return the number between two different neighbours in `values`, ascending, where `share` of them lies below.

    With ties the neighbour further inside is looked for, away from the middle of the box.
    """
    place = (len(values) - 1) * share
    low, high = int(np.floor(place)), int(np.ceil(place))
    if values[low] == values[high]:
        if share > 0.5:
            low = max(int(np.searchsorted(values, values[low], side="left")) - 1, 0)
        else:
            high = min(int(np.searchsorted(values, values[high], side="right")), len(values) - 1)
    if values[low] == values[high]:
        return float(values[low])
    return float(values[low] / 2 + values[high] / 2)  # halves first: a sum may be infinite


def _whole_cut(values: Floats, cut: int, limit: float, inward: int) -> tuple[float, float]:
    """Return where whole numbers are cut, and the limit that is left: the outermost number that stays.

    A cut at the limit itself takes all cases that lie on it.
    """
    bound = float(cut) if cut != limit else float(np.nextafter(limit, inward * np.inf))
    if inward < 0:
        kept = values[: np.searchsorted(values, bound, side="right")]
        return bound, float(kept[-1] if len(kept) else values[-1])
    kept = values[np.searchsorted(values, bound, side="left") :]
    return bound, float(kept[0] if len(kept) else values[0])


def _gain(count: int, total: float, new_count: int, new_total: float) -> float:
    return (new_total / new_count if new_count else 0.0) - total / count


def _lenient1(count: int, total: float, new_count: int, new_total: float) -> float:
    gain = _gain(count, total, new_count, new_total)
    return gain / abs(count - new_count) if count != new_count else 0.0


def _lenient2(count: int, total: float, new_count: int, new_total: float) -> float:
    gain = _gain(count, total, new_count, new_total)
    return new_count * gain / abs(count - new_count) if count != new_count else 0.0


def _original(count: int, total: float, new_count: int, new_total: float) -> float:
    return new_total / new_count if new_count else -1.0


_SCORES: dict[Objective, Callable[[int, float, int, float], float]] = {
    Objective.LENIENT1: _lenient1,
    Objective.LENIENT2: _lenient2,
    Objective.ORIGINAL: _original,
}
"""Scores of a box by the number of its cases and their sum, after those of the box before."""
