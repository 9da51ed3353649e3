"""Scenario discovery: a box of factors in which a condition holds far more often than elsewhere.

Owns what is said of the boxes on the way there: coverage, density, mass, limits, and how likely each limit is chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.cases import Cases, cases_of
from henad_web.analysis.distributions import binomial_tail
from henad_web.analysis.grouping import levels_of
from henad_web.analysis.peeling import Box, Kind, Limits, Objective, Peeled, Settings, Side, peeled
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.samples import AfterStop
from henad_web.analysis.scaling import scaled, unscaled
from henad_web.analysis.selection import Factor, Held, chosen, factor_names, find_factor, several
from henad_web.analysis.tables import AnalysisTable, Axis, Column
from henad_web.errors import UsageError, counted
from henad_web.explore.cell_texts import number_text
from henad_web.model.decimals import whole_text
from henad_web.results.recorded import RecordedResults

__all__ = ["PrimBox", "PrimBoxes", "prim", "quasi_p"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrimBox(AnalysisTable):
    """One box, a row a factor that it restricts.

    Attributes:
        axis: What is looked for.
        axes: The factors that it restricts.
        low: Smallest value of each within, NaN of names, ``(factors,)``.
        high: Largest value within, likewise.
        values: Of names: those within, in order; empty of numbers.
        qp_low: How likely so many runs of interest would be in the box if the limit at the low end, or the choice of
            names, had nothing to do with it (Bryant and Lempert's quasi-p-value); NaN where there is no such limit.
        qp_high: The same of the limit at the high end.
        coverage: Share of all runs of interest that are in it.
        density: Share of its runs that are of interest.
        mass: Share of all runs that are in it.
    """

    axis: Axis
    axes: tuple[Axis, ...]
    low: Floats
    high: Floats
    values: tuple[tuple[str, ...], ...]
    qp_low: Floats
    qp_high: Floats
    coverage: float
    density: float
    mass: float

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        shares = f"coverage {self.coverage:.3g}, density {self.density:.3g}, mass {self.mass:.3g}"
        return f"box of {self.axis}: {shares}"

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors, in the order of the rows."""
        return tuple(axis.name for axis in self.axes)

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(factors,)``."""
        values = np.array([", ".join(each) for each in self.values], np.str_)
        limits = {"low": self.low, "high": self.high, "values": values}
        return {"factor": np.array(self.factors, np.str_), **limits, "qp_low": self.qp_low, "qp_high": self.qp_high}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrimBoxes(AnalysisTable):
    """The boxes from all runs to the last one, a row a box; every array is ``(boxes,)`` unless it says otherwise.

    Attributes:
        axis: What is looked for.
        axes: The factors.
        coverage: Share of all runs of interest that are in the box.
        density: Share of its runs that are of interest.
        mean: Mean of y in it; the density where y is a condition.
        mass: Share of all runs that are in it.
        runs: Runs in it.
        of_interest: Runs of interest in it.
        restricted: Factors that it restricts.
        low: Smallest value of each factor within, NaN of names, ``(boxes, factors)``.
        high: Largest value within, likewise.
        values: Of each factor, box by box: its names that are within; none of numbers.
        qp_low: Quasi-p-value of each limit at the low end, NaN where there is none, ``(boxes, factors)``.
        qp_high: The same of the high end.
        chosen: Number of the box that is chosen.
        notes: What to know of how the box was found, a sentence each.
    """

    axis: Axis
    axes: tuple[Axis, ...]
    coverage: Floats
    density: Floats
    mean: Floats
    mass: Floats
    runs: Ints
    of_interest: Ints
    restricted: Ints
    low: Floats
    high: Floats
    values: tuple[tuple[tuple[str, ...], ...], ...]
    qp_low: Floats
    qp_high: Floats
    chosen: int
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"boxes of {self.axis}"

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(axis.name for axis in self.axes)

    @property
    def lines(self) -> tuple[str, ...]:
        """How the box was found, and what was left out."""
        return (*self.notes, *self.left_out.lines())

    @property
    def box(self) -> PrimBox:
        """The box that is chosen."""
        return self.box_at(self.chosen)

    def box_at(self, number: int) -> PrimBox:
        """Return the box `number`, from 0, which holds all runs; -1 is the last.

        Raises:
            UsageError: There is none.
        """
        if isinstance(number, bool) or not isinstance(number, int) or not -len(self.runs) <= number < len(self.runs):
            raise UsageError(f"box {number!r}; allowed: 0 to {len(self.runs) - 1}, or -1 for the last")
        places = [place for place in range(len(self.axes)) if self._is_restricted(number, place)]
        return PrimBox(
            left_out=self.left_out,
            axis=self.axis,
            axes=tuple(self.axes[place] for place in places),
            low=self.low[number, places],
            high=self.high[number, places],
            values=tuple(self.values[place][number] for place in places),
            qp_low=self.qp_low[number, places],
            qp_high=self.qp_high[number, places],
            coverage=float(self.coverage[number]),
            density=float(self.density[number]),
            mass=float(self.mass[number]),
        )

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(boxes,)``, with the limits of every factor that some box restricts."""
        columns: dict[str, Column] = {
            "box": np.arange(len(self.runs)),
            "coverage": self.coverage,
            "density": self.density,
            "mean": self.mean,
            "mass": self.mass,
            "runs": self.runs,
            "of_interest": self.of_interest,
            "restricted": self.restricted,
        }
        for place, name in enumerate(self.factors):
            if any(self._is_restricted(number, place) for number in range(len(self.runs))):
                if self.values[place][0]:
                    columns[f"{name}:values"] = np.array([", ".join(each) for each in self.values[place]])
                else:
                    columns[f"{name}:low"], columns[f"{name}:high"] = self.low[:, place], self.high[:, place]
        return columns

    def _is_restricted(self, number: int, place: int) -> bool:
        if self.values[place][0]:
            return self.values[place][number] != self.values[place][0]
        ends = ((each[number, place], each[0, place]) for each in (self.low, self.high))
        return any(end != whole for end, whole in ends)


@piecewise
def prim(
    results: RecordedResults,
    condition: str,
    *,
    factors: str | Sequence[str] | None = None,
    held: Held | None = None,
    threshold: float | None = None,
    peel_alpha: float = 0.05,
    paste_alpha: float = 0.05,
    mass_min: float = 0.05,
    objective: str = Objective.LENIENT1,
    at: int | None = None,
    after_stop: str = AfterStop.DROP,
) -> Pieces[PrimBoxes]:
    """Return a box of factors in which `condition` holds, found by peeling (PRIM, the patient rule induction method).

    From a box that holds every run, a little is peeled off one side of one factor, again and again, so that what is
    left has more of the runs of interest; then sides are pasted back where that adds to the mean. The last box is
    chosen. Runs are the cases, each replicate for itself.

    Args:
        results: The results.
        condition: What is looked for: a condition over measured columns, such as ``Infected:max > 0.5`` or
            ``"Infected:max" > 0.5 and ticks < 100``, of columns that are no plain words in quotes; or the name of a
            column, whose mean is to be high, with `at` of a statistic such as ``Infected``.
        factors: Parameters by id and ticks of actions as ``action.NAME``; those that vary when None.
        held: Only runs whose factors have these values.
        threshold: Of a condition the least density of the last box, 0 to 1, if any; of a column the number from which
            on a run is of interest, and the least mean. Where the last box has less, the one of all runs is chosen.
        peel_alpha: Share of the runs in the box that a peel takes away.
        paste_alpha: Share of the runs beyond a side that a paste takes in.
        mass_min: Least share of all runs that a box must hold.
        objective: ``"lenient1"`` takes the side that gains most mean a run it loses, ``"lenient2"`` the same weighted
            with the runs left, ``"original"`` the highest mean.
        at: Tick of the series that a statistic is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.

    Raises:
        UsageError: There is no such column or factor, the condition cannot be read, no run or every run is of interest,
            no factor varies, or an option is not allowed.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    settings = Settings(
        peel_alpha=_share("peel_alpha", peel_alpha),
        paste_alpha=_share("paste_alpha", paste_alpha),
        mass_min=_share("mass_min", mass_min),
        objective=Objective(chosen("objective", objective, list(Objective))),
    )
    cases = yield from cases_of(results, condition, held=held, threshold=threshold, at=at, after_stop=after_stop)
    _check_interest(cases)
    varied = yield from _factors(results, cases, factors)
    sides, names = [], []
    for factor in varied:
        side, options = yield from _side(factor)
        sides.append(side)
        names.append(options)
    trajectory = yield from peeled(sides, cases.y, settings)
    shares, tests = [], []
    numbers, exponent = scaled(cases.y)
    for found in trajectory:
        y = numbers[found.inside]
        mean = float(unscaled(y.mean(), exponent))
        shares.append((len(y), int((found.inside & cases.is_interesting).sum()), mean))
        yield
        tests.append((yield from quasi_p(found, trajectory[0].box, sides, cases)))
    boxes = [found.box for found in trajectory]
    return _table(cases, varied, names, boxes, shares, np.array(tests), threshold)


def _share(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int) or not 0 < value < 1:
        raise UsageError(f"{name} is {whole_text(value)}; allowed: a number between 0 and 1, such as 0.05")
    return float(value)


def _check_interest(cases: Cases) -> None:
    count, total = int(np.count_nonzero(cases.is_interesting)), len(cases.y)
    if not 0 < count < total:
        runs, few = counted(total, "run", grouped=True), "none" if not count else "every one"
        raise UsageError(
            f"of {runs} {few} is of interest by '{cases.axis.name}': no box is better than all; take another condition "
            f"or threshold"
        )


def _factors(results: RecordedResults, cases: Cases, names: str | Sequence[str] | None) -> Pieces[list[Factor]]:
    found = []
    for name in factor_names(results) if names is None else dict.fromkeys(several(names)):
        factor = find_factor(results, name).taken(cases.rows)
        yield
        if (factor.values != factor.values[0]).any():
            found.append(factor)
    if not found:
        raise UsageError(
            f"no factor varies between the runs asked for '{cases.axis.name}'; hold fewer, or name others in factors="
        )
    return found


def _side(factor: Factor) -> Pieces[tuple[Side, tuple[str, ...]]]:
    """Return `factor` as the search sees it, and its names, none of numbers."""
    if factor.is_number:
        kind = Kind.NUMBER if factor.values.dtype.kind == "f" else Kind.WHOLE
        return Side(kind=kind, values=factor.values.astype(np.float64)), ()
    levels = yield from levels_of(factor)
    names = tuple(str(level).lower() if levels.values.dtype.kind == "b" else str(level) for level in levels.values)
    return Side(kind=Kind.NAME, values=levels.codes.astype(np.float64), names=len(names)), names


def quasi_p(found: Peeled, whole: Box, sides: Sequence[Side], cases: Cases) -> Pieces[Floats]:
    """Return the quasi-p-values of the low and of the high limits of a box, ``(2, factors)``.

    One-sided binomial tests of as many runs of interest in the box, against their share in the box without the limit
    (B. Bryant and R. Lempert, Technological Forecasting and Social Change 77, 2010, 34-49, section 3).
    """
    hits, runs = int((cases.is_interesting & found.inside).sum()), int(found.inside.sum())
    beyond: list[tuple[int, int, NDArray[np.bool_]]] = []
    for place, (side, limits, all_values) in enumerate(zip(sides, found.box, whole, strict=True)):
        if side.kind is Kind.NAME:
            beyond += [(place, 0, ~side.within(limits))] if not limits.is_like(all_values) else []
        else:
            beyond += [(place, 0, side.values < limits.low)] if limits.low != all_values.low else []
            beyond += [(place, 1, side.values > limits.high)] if limits.high != all_values.high else []
        yield
    missed = np.zeros(len(cases.y), np.int64)
    for _, _, outside in beyond:
        missed += outside
        yield
    values = np.full((2, len(sides)), np.nan)
    for place, end, outside in beyond:
        without = missed == outside
        share = int((cases.is_interesting & without).sum()) / int(without.sum())
        values[end, place] = binomial_tail(hits, runs, share)
        yield
    return values


def _table(
    cases: Cases,
    factors: Sequence[Factor],
    names: Sequence[tuple[str, ...]],
    boxes: Sequence[Box],
    shares: Sequence[tuple[int, int, float]],
    tests: Floats,
    threshold: float | None,
) -> PrimBoxes:
    runs, hits = (np.array([share[place] for share in shares], np.int64) for place in range(2))
    means = np.array([mean for _, _, mean in shares])
    is_reached = threshold is None or means[-1] >= threshold
    notes = [*cases.notes, f"{counted(int(hits[0]), 'run', grouped=True)} of {runs[0]:,} of interest"]
    if not is_reached:
        notes.append(f"the last box comes to {number_text(float(means[-1]))} and not to {threshold}: none is chosen")
    return PrimBoxes(
        left_out=cases.left_out,
        axis=cases.axis,
        axes=tuple(factor.axis for factor in factors),
        coverage=hits / hits[0],
        density=hits / runs,
        mean=means,
        mass=runs / runs[0],
        runs=runs,
        of_interest=hits,
        restricted=np.array([_restricted(box, boxes[0]) for box in boxes], np.int64),
        low=np.array([[limits.low for limits in box] for box in boxes]),
        high=np.array([[limits.high for limits in box] for box in boxes]),
        values=tuple(
            tuple(tuple(options[code] for code in box[place].kept) for box in boxes)
            for place, options in enumerate(names)
        ),
        qp_low=tests[:, 0],
        qp_high=tests[:, 1],
        chosen=len(boxes) - 1 if is_reached else 0,
        notes=tuple(notes),
    )


def _restricted(box: Box, whole: Box) -> int:
    def is_restricted(limits: Limits, all_values: Limits) -> bool:
        return not limits.is_like(all_values)

    return sum(map(is_restricted, box, whole))
