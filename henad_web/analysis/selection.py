"""Which runs a question is about, and their numbers: what is measured (y), and the factors it is set against.

Owns the names that a question may give for both, which rows count, and what is said of the others. Failed runs and runs
without a finite value never count; a run that met a value which is not finite does, as in summary.csv, and is told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import Pieces, stretches
from henad_web.analysis.tables import Axis, Column, LeftOut
from henad_web.errors import UsageError, near_miss
from henad_web.explore.columns import ACTION, MEASURED, resolve_column
from henad_web.explore.outcomes import RunStatus
from henad_web.model.decimals import whole_text
from henad_web.results.frames import UNITS
from henad_web.results.recorded import RecordedResults

__all__ = ["Factor", "Held", "Selection", "factor_names", "find_factor", "selected", "varied_factors"]

Held: TypeAlias = Mapping[str, "float | int | bool | str | Sequence[float | int | bool | str]"]
"""Factors to hold, by name: at a value, or at any of several."""

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

_NUMBERS = tuple(name for name in MEASURED if name not in ("status", "stop_reason"))
"""Columns that every table of runs has and that can be asked about."""

_FAILURES = tuple(status.value for status in RunStatus if status.is_failure)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factor:
    """A parameter, or the tick of an action, of some runs.

    Attributes:
        axis: Its name and label.
        values: Value of each run, ``(runs,)``: float64, int64, uint64, bool or text, the decimals of the tables.
    """

    axis: Axis
    values: Column

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, rather than names or yes and no."""
        return self.values.dtype.kind in "iuf"

    def taken(self, rows: Rows | NDArray[np.bool_]) -> Factor:
        """Return that of some of the runs."""
        return Factor(axis=self.axis, values=self.values[rows])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """The runs that count for a question; every array is ``(runs,)``, in the order of runs.csv.

    Attributes:
        axis: What is measured.
        y: Its value of each run, finite, float64.
        rows: Where each run stands in ``results.runs``.
        factors: Each factor asked for, by its name.
        left_out: The runs that do not count.
    """

    axis: Axis
    y: Floats
    rows: Rows
    factors: Mapping[str, Factor]
    left_out: LeftOut


def selected(
    results: RecordedResults, y: str, *, factors: Iterable[str] = (), held: Held | None = None
) -> Pieces[Selection]:
    """Return the runs of `results` that have a value of `y`, with their `factors`.

    Args:
        results: The results.
        y: A reducer such as ``Infected:max``, or a column of every run: ``ticks``, ``population``, a timing.
        factors: Parameters by id, ticks of actions as ``action.NAME``.
        held: Only runs whose factors have these values.

    Raises:
        UsageError: There is no such reducer, factor or level.
    """
    axis, values = _measured(results, y)
    found = {name: find_factor(results, name) for name in factors}
    is_asked = _held_rows(results, held or {})
    status, kept, failed, without = results.runs["status"], [np.zeros(0, np.int64)], 0, 0
    for part in stretches(len(values)):
        counts, has_failed = is_asked[part], np.isin(status[part], _FAILURES)
        has_value = np.isfinite(values[part])
        failed += int(np.count_nonzero(counts & has_failed))
        without += int(np.count_nonzero(counts & ~has_failed & ~has_value))
        kept.append(np.flatnonzero(counts & ~has_failed & has_value) + part.start)
        yield
    rows = np.concatenate(kept)
    left_out = LeftOut(
        not_done=_not_done(results),
        failed=failed,
        without_value=without,
        non_finite=int(np.count_nonzero(results.runs.is_non_finite[rows])),
    )
    return Selection(
        axis=axis,
        y=np.asarray(values[rows], np.float64),
        rows=rows,
        factors={name: factor.taken(rows) for name, factor in found.items()},
        left_out=left_out,
    )


def factor_names(results: RecordedResults) -> tuple[str, ...]:
    """Return the names of all parameters and of the ticks of all actions, as questions give them."""
    return (*results.runs.param_ids, *(f"{ACTION}{name}" for name in results.runs.actions))


def find_factor(results: RecordedResults, name: str) -> Factor:
    """Return the parameter or the tick of an action that is called `name`, of every row.

    Raises:
        UsageError: There is none.
    """
    known = factor_names(results)
    if name not in known:
        raise _unknown("factor", name, known)
    if name in results.runs.param_ids:
        labels = {param.get("id"): str(param.get("label", name)) for param in _params_of(results)}
        return Factor(axis=Axis(name=name, label=labels.get(name, name)), values=results.runs.param(name))
    action = name.removeprefix(ACTION)
    return Factor(axis=Axis(name=name, label=action, unit="tick"), values=results.runs.action(action))


def varied_factors(results: RecordedResults) -> tuple[str, ...]:
    """Return the names of the factors that are not the same in every row, in the order of the table."""
    values = {name: find_factor(results, name).values for name in factor_names(results)}
    return tuple(name for name, column in values.items() if len(column) and bool((column != column[0]).any()))


def _measured(results: RecordedResults, name: str) -> tuple[Axis, Column]:
    reducers = results.reducer_columns
    if name in reducers:
        return Axis(name=name, label=name), results.runs.reducer(name)
    if name in _NUMBERS:
        unit = UNITS[name] if UNITS[name] != "1" else ""
        return Axis(name=name, label=name.removesuffix("_ms").replace("_", " "), unit=unit), results.runs[name]
    if resolve_column(str(name), results.stat_columns) is not None:
        column = resolve_column(name, results.stat_columns)
        kinds = ", ".join(repr(known) for known in reducers if known.startswith(f"{column}:")) or "none were kept"
        raise UsageError(f"'{name}' is a series, not one value a run; give one of its reducers: {kinds}")
    raise _unknown("measured column", name, (*reducers, *_NUMBERS))


def _held_rows(results: RecordedResults, held: Held) -> NDArray[np.bool_]:
    is_asked = np.ones(len(results.runs), np.bool_)
    for name, levels in held.items():
        values = find_factor(results, name).values
        for level in _several(levels):
            if not (values == level).any() if len(values) else False:
                known = np.unique(values)
                shown = ", ".join(repr(value) for value in known[:20].tolist()) + (", ..." if len(known) > 20 else "")
                raise UsageError(f"no run has {name} = {level!r}; its values here: {shown}")
        is_asked &= np.isin(values, np.asarray(_several(levels)))
    return is_asked


def _several(levels: object) -> list[float | int | bool | str]:
    return list(levels) if isinstance(levels, (list, tuple, np.ndarray)) else [levels]  # type: ignore[list-item]


def _not_done(results: RecordedResults) -> int:
    # Of a search, and with adaptive replicates, nobody knows how many there will be.
    if results.is_search or results.manifest.is_adaptive:
        return 0
    return max(0, results.expected_runs - len(results.runs))


def _params_of(results: RecordedResults) -> list[Mapping[str, object]]:
    params = results.manifest.model.schema.get("params", ())
    return list(params) if isinstance(params, (list, tuple)) else []


def _unknown(noun: str, name: str, known: Sequence[str]) -> UsageError:
    hint = near_miss(str(name), known)
    allowed = ", ".join(known) or "none"
    return UsageError(f"no {noun} {whole_text(name)}; allowed: {allowed}" + (f"; {hint}" if hint else ""))
