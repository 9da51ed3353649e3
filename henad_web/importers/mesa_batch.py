"""Mesa's batch runs: the arguments of `batch_run`, or its parameters alone, as a spec.

Owns their meaning: a list varies and everything else is fixed, a text is one value, every combination is run.
"""

from __future__ import annotations

from collections.abc import Mapping

from henad_web.errors import ProblemList, counted
from henad_web.explore.factors import TablePath
from henad_web.explore.spec import (
    BlockSpec,
    ExecutionSettings,
    LevelSpec,
    MeasureSettings,
    RunSettings,
    SweepSpec,
    ValueLevels,
)
from henad_web.importers.imported import Notes
from henad_web.importers.literals import COMPUTED, COMPUTED_HINT
from henad_web.importers.python_values import RangeCall, code_in
from henad_web.importers.variables import NameMap, Variables, levels_of, split_blocks

__all__ = ["spec_of_batch"]

_PARAMETERS = "parameters"
_AT_END = -1
_SILENT = ("display_progress", "model_cls")
_NUMBERS = ("iterations", "max_steps", "data_collection_period", "number_processes")


def spec_of_batch(
    given: Mapping[str, object], model: str, names: NameMap, problems: ProblemList, notes: Notes
) -> tuple[SweepSpec, ExecutionSettings]:
    """Return the spec of a batch run for `model`, to be used only when no problem was recorded.

    Args:
        given: The arguments by name with ``parameters`` among them, or the parameters themselves.
        model: Id of the model.
        names: What the parameters are called there.
        problems: Where problems go.
        notes: Where is told what could not be carried over.
    """
    inner = given.get(_PARAMETERS)
    _check_computed(given, problems)
    parameters = inner if isinstance(inner, Mapping) else {} if problems.problems else given
    arguments = {key: value for key, value in given.items() if key != _PARAMETERS} if inner is parameters else {}
    variables: Variables = []
    for name, values in parameters.items():
        found = names.find(str(name), (_PARAMETERS,))
        if found is not None and code_in(values) is None:
            variables.append((found, _levels(str(name), values, names, problems, notes)))
    fixed, factors = split_blocks([variables])
    period = _whole(arguments, "data_collection_period", _AT_END, problems, at_least=_AT_END)
    run = RunSettings(
        steps=_whole(arguments, "max_steps", RunSettings().steps, problems, at_least=0),
        replicates=_whole(arguments, "iterations", 1, problems, at_least=1),
    )
    if "max_steps" not in arguments:
        notes.add(f"No max_steps is given; steps = {run.steps} is Mesa's own default.")
    spec = SweepSpec(
        model=model,
        fixed=fixed,
        run=run,
        measure=_measure(period),
        blocks=tuple(BlockSpec(factors=each) for each in factors if each),
    )
    return spec, _execution(arguments, problems, notes)


def _check_computed(given: Mapping[str, object], problems: ProblemList) -> None:
    """Record what of the parameters and numbers of `given` is code; other arguments that are, are only told."""
    inner = given.get(_PARAMETERS)
    places: list[tuple[TablePath, str, object]] = [((), key, given.get(key)) for key in _NUMBERS]
    if isinstance(inner, Mapping):
        places += [((_PARAMETERS,), str(name), values) for name, values in inner.items()]
    else:
        places.append(((), _PARAMETERS, inner))
    for table, key, value in places:
        code = code_in(value)
        if code is not None:
            problems.add(table, key, f"line {code.line}: {COMPUTED}", came=code.source, hint=COMPUTED_HINT)


def _levels(name: str, values: object, names: NameMap, problems: ProblemList, notes: Notes) -> LevelSpec:
    if isinstance(values, RangeCall):
        notes.add(f"'{name}': {values.source} became {counted(values.count, 'value')}.")
        if values.levels is not None:
            return values.levels
        if values.values is None:
            hint = "give fewer, or the ends as a range in the spec"
            problems.add((_PARAMETERS,), name, f"{values.count} values", came=values.source, hint=hint)
            return ValueLevels(values=(0,))
    return levels_of(name, _listed(name, values, problems), names, (_PARAMETERS,), problems)


def _listed(name: str, values: object, problems: ProblemList) -> list[object]:
    if isinstance(values, RangeCall):
        return list(values.values or ())
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, set | frozenset):
        hint = "write a list, which has an order"
        problems.add((_PARAMETERS,), name, "a set has no order", came="a set", hint=hint)
        return [0]
    return [values]


def _measure(period: int) -> MeasureSettings:
    if period in (_AT_END, 0):
        return MeasureSettings(series_every=0)
    return MeasureSettings(stats_every=period, series_every=period)


def _whole(arguments: Mapping[str, object], key: str, default: int, problems: ProblemList, *, at_least: int) -> int:
    value = arguments.get(key, default)
    if code_in(value) is not None:  # which is told already
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        problems.add((), key, "not a whole number", came=repr(value), allowed=f"a whole number from {at_least} on")
        return default
    return value


def _execution(arguments: Mapping[str, object], problems: ProblemList, notes: Notes) -> ExecutionSettings:
    known = (*_NUMBERS, *_SILENT)
    for key, value in arguments.items():
        if key == "rng":
            notes.add(f"rng = {value!r} was not carried over; seeds follow from [seeds] root.")
        elif key not in known:
            notes.add(f"Argument {key} = {value!r} was not carried over.")
    if arguments.get("number_processes", 1) in (None, 1):
        return ExecutionSettings()
    return ExecutionSettings(concurrent=_whole(arguments, "number_processes", 1, problems, at_least=1))
