"""Mesa's batch runs: the arguments of `batch_run`, or its parameters alone, as a spec.

Owns their meaning: a list varies and everything else is fixed, a text is one value, every combination is run.
"""

from __future__ import annotations

from collections.abc import Mapping

from henad_web.errors import ProblemList
from henad_web.explore.spec import BlockSpec, ExecutionSettings, MeasureSettings, RunSettings, SweepSpec
from henad_web.importers.imported import Notes
from henad_web.importers.levels import Variables, levels_of, split_blocks
from henad_web.importers.names import NameMap

__all__ = ["spec_of_batch"]

_PARAMETERS = "parameters"
_AT_END = -1
_SILENT = ("display_progress", "model_cls")


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
    parameters = inner if isinstance(inner, Mapping) else given
    arguments = {key: value for key, value in given.items() if key != _PARAMETERS} if inner is parameters else {}
    variables: Variables = []
    for name, values in parameters.items():
        found = names.find(str(name), (_PARAMETERS,))
        if found is not None:
            listed = _listed(str(name), values, problems)
            variables.append((found, levels_of(str(name), listed, names, (_PARAMETERS,), problems)))
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


def _listed(name: str, values: object, problems: ProblemList) -> list[object]:
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
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        problems.add((), key, "not a whole number", came=repr(value), allowed=f"a whole number from {at_least} on")
        return default
    return value


def _execution(arguments: Mapping[str, object], problems: ProblemList, notes: Notes) -> ExecutionSettings:
    known = ("data_collection_period", "max_steps", "iterations", "number_processes", *_SILENT)
    for key, value in arguments.items():
        if key == "rng":
            notes.add(f"rng = {value!r} was not carried over; seeds follow from [seeds] root.")
        elif key not in known:
            notes.add(f"Argument {key} = {value!r} was not carried over.")
    if arguments.get("number_processes", 1) in (None, 1):
        return ExecutionSettings()
    return ExecutionSettings(concurrent=_whole(arguments, "number_processes", 1, problems, at_least=1))
