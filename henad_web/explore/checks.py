"""Checks of a spec against the model it is for, blocks aside.

Each check records every problem it finds with its place, in the order of the reference engine's section 5.1.
Nothing is computed here that a plan keeps, except the values and action ticks shared by every config.
"""

from __future__ import annotations

import json
import math
import re

from henad_web.errors import ParamError, ProblemList, counted, near_miss
from henad_web.explore.adaptive_spec import check_adaptive
from henad_web.explore.columns import FILE_COLUMNS, SERIES_LEADING, names_a_statistic
from henad_web.explore.conditions import Comparison, CompoundStop, column_text, condition_text, understood_stop
from henad_web.explore.factors import TablePath, Target, Targets
from henad_web.explore.reducers import DEFAULT_KINDS, KIND_FORMS, parse_kind
from henad_web.explore.spec import BlockSpec, RunOrder, StopExpression, StopSpec, SweepSpec
from henad_web.explore.where import WhereError
from henad_web.model.decimals import MAX_U64, grouped, whole_text
from henad_web.model.params import ParamValue
from henad_web.model.schema import ModelSchema, name_problem, param_hint

__all__ = [
    "MAX_TIMEOUT_S",
    "check_actions",
    "check_columns",
    "check_fixed",
    "check_lengths",
    "check_names",
    "check_reducer",
    "check_seeds",
    "check_tables",
    "check_until",
    "check_varied_and_fixed",
]

MAX_TIMEOUT_S = float(2**64)
"""Timeouts from here on are refused: no clock counts that many seconds."""


def check_lengths(spec: SweepSpec, problems: ProblemList) -> None:
    """Check replicates, lengths, timeout and cadences."""
    run, measure = spec.run, spec.measure
    if run.adaptive is None and run.most_replicates < 1:
        came = whole_text(run.most_replicates)
        problems.add(("run",), "replicates", "no replicates", came=came, allowed="at least 1")
    for key, number in (("steps", run.steps), ("warmup", run.warmup)):
        if not 0 <= number <= MAX_U64:
            problems.add(("run",), key, "not a number of ticks", came=whole_text(number), allowed="0 to 2^64 - 1")
    if run.steps + run.warmup > MAX_U64:
        came = f"{whole_text(run.warmup)} + {whole_text(run.steps)}"
        problems.add(("run",), "steps", "warmup + steps is too long", came=came, allowed="at most 2^64 - 1")
    check_timeout(run.timeout_s, problems)
    cadences = {"stats_every": measure.stats_every, "series_every": measure.series_cadence}
    long = [key for key, ticks in cadences.items() if ticks > MAX_U64]
    if measure.stats_every < 1:
        came = whole_text(measure.stats_every)
        problems.add(("measure",), "stats_every", "not a cadence", came=came, allowed="at least 1")
    elif measure.series_cadence < 0 or measure.series_cadence % measure.stats_every:
        wrong = f"not a multiple of stats_every, which is {whole_text(measure.stats_every)}"
        near = max(measure.series_cadence // measure.stats_every, 1) * measure.stats_every
        came, allowed = whole_text(measure.series_cadence), f"0 for no series, or a multiple such as {whole_text(near)}"
        problems.add(("measure",), "series_every", wrong, came=came, allowed=allowed)
    elif long:
        came = whole_text(cadences[long[0]])
        problems.add(("measure",), long[0], "not a cadence", came=came, allowed="at most 2^64 - 1")


def check_tables(spec: SweepSpec, schema: ModelSchema, problems: ProblemList) -> None:
    """Check that the tables asked for are the model's, each once, and their cadence."""
    table, measure, known = ("measure",), spec.measure, [own.id for own in schema.tables]
    for position, id in enumerate(measure.tables):
        if id not in known:
            allowed, hint = ", ".join(known) or "none, the model has no tables", near_miss(id, known)
            problems.add(table, "tables", "no such table", came=f"'{id}'", allowed=allowed, hint=hint)
        elif id in measure.tables[:position]:
            problems.add(table, "tables", "a table given twice", came=f"'{id}'", hint="remove one of them")
    every, stats_every = measure.tables_every, measure.stats_every
    if every is None or stats_every < 1:
        return
    came = whole_text(every)
    if not measure.tables:
        hint = f"add tables = {json.dumps(known)}" if known else "remove it, the model has no tables"
        problems.add(table, "tables_every", "a cadence of no tables", came=came, hint=hint)
    elif not 1 <= every <= MAX_U64:
        allowed = "1 to 2^64 - 1; leave it out for the end of each run alone"
        problems.add(table, "tables_every", "not a cadence", came=came, allowed=allowed)
    elif every % stats_every:
        near = max(every // stats_every, 1) * stats_every
        wrong = f"not a multiple of stats_every, which is {whole_text(stats_every)}"
        allowed = f"a multiple such as {whole_text(near)}; leave it out for the end of each run alone"
        problems.add(table, "tables_every", wrong, came=came, allowed=allowed)


def check_seeds(spec: SweepSpec, problems: ProblemList) -> None:
    """Check the root, and a list of seeds: as many as replicates, each once."""
    table, seeds, allowed = ("seeds",), spec.seeds.list, "0 to 2^64 - 1"
    if not 0 <= spec.seeds.root <= MAX_U64:
        problems.add(table, "root", "not a seed", came=whole_text(spec.seeds.root), allowed=allowed)
    if seeds is None:
        return
    first: dict[int, int] = {}
    for rep, seed in enumerate(seeds):
        if not 0 <= seed <= MAX_U64:
            problems.add(table, "list", f"entry #{rep + 1} is not a seed", came=whole_text(seed), allowed=allowed)
        elif first.setdefault(seed, rep) != rep:
            wrong = f"entries #{first[seed] + 1} and #{rep + 1} are the same seed, which makes two replicates one"
            problems.add(table, "list", wrong, came=whole_text(seed), hint="remove one of them")
    replicates = spec.run.most_replicates
    if len(seeds) != replicates:
        asked = f"{grouped(replicates)} replicate{'' if replicates == 1 else 's'}"
        came = f"{counted(len(seeds), 'seed')} for {asked}"
        key = "replicates" if spec.run.adaptive is None else "max"
        hint = f"write {key} = {len(seeds)} in [run]" if seeds else "remove the list, or give seeds"
        problems.add(table, "list", "not as many seeds as replicates", came=came, hint=hint)


def check_timeout(timeout_s: float | None, problems: ProblemList) -> None:
    """Check that `timeout_s`, None for none, is a time."""
    if timeout_s is None or 0 <= timeout_s < MAX_TIMEOUT_S:
        return
    wrong = "too long" if MAX_TIMEOUT_S <= timeout_s < math.inf else "not a time"
    allowed = "finite seconds from 0 on; leave it out for none"
    problems.add(("run",), "timeout_s", f"the timeout is {wrong}", came=repr(timeout_s), allowed=allowed)


def check_columns(spec: SweepSpec, labels: tuple[str, ...], problems: ProblemList) -> None:
    """Check reducers and the stop condition against the labels of the model's statistics."""
    known = ", ".join(labels) or "none, the model has no statistics"
    if spec.run.stop is not None:
        _check_stop(spec.run.stop, labels, known, problems)
    for position, reducer in enumerate(spec.measure.reducers):
        place = ("measure", "reducers", position)
        if not names_a_statistic(reducer.column, labels):
            came, hint = f"'{reducer.column}'", near_miss(reducer.column, labels)
            problems.add(place, "column", "no such statistic", came=came, allowed=known, hint=hint)
        try:
            parse_kind(reducer.kind)
        except ValueError as error:
            problems.add(place, "kinds", str(error), came=f"'{reducer.kind}'", allowed=KIND_FORMS)


def _check_stop(stop: StopSpec | StopExpression, labels: tuple[str, ...], known: str, problems: ProblemList) -> None:
    table = ("run", "stop")
    if not 0 <= stop.min_tick <= MAX_U64:
        problems.add(table, "min_tick", "not a tick", came=whole_text(stop.min_tick), allowed="0 to 2^64 - 1")
    try:
        understood = understood_stop(stop, labels)
    except WhereError as error:
        error.add_to(problems, table, "condition", _quoting_hint(condition_text(stop), labels))
        return
    if isinstance(understood, CompoundStop):
        for name in understood.names:
            if not names_a_statistic(name.name, labels):
                came, hint = f"'{name.name}'", near_miss(name.name, labels)
                unknown = WhereError("no such statistic", name.at, came=came, allowed=known, hint=hint)
                unknown.add_to(problems, table, "condition", _quoting_hint(condition_text(stop), labels))
    else:
        _check_comparison(understood, labels, known, problems)


def _quoting_hint(condition: str, labels: tuple[str, ...]) -> str | None:
    """Return how to write a label that stands in `condition` and that an expression does not take for a name."""
    outside = re.sub(r"""'[^']*'|"[^"]*\"""", "", condition)
    found = (label for label in labels if label in outside and column_text(label) != label)
    return next((f"such a column stands in quotes: {column_text(label)}" for label in found), None)


def _check_comparison(stop: StopSpec, labels: tuple[str, ...], known: str, problems: ProblemList) -> None:
    table = ("run", "stop")
    if not names_a_statistic(stop.column, labels):
        hint = near_miss(stop.column, labels)
        problems.add(table, "condition", "no such statistic", came=f"'{stop.column}'", allowed=known, hint=hint)
    if stop.comparison not in list(Comparison):
        allowed = " ".join(Comparison)
        problems.add(table, "condition", "no such comparator", came=f"'{stop.comparison}'", allowed=allowed)
    if not math.isfinite(stop.threshold):
        came = repr(stop.threshold)
        problems.add(table, "condition", "threshold not finite", came=came, allowed="a finite number")


def check_until(spec: SweepSpec, labels: tuple[str, ...], problems: ProblemList) -> None:
    """Check adaptive replicates: their settings, their columns, and what cannot go with them."""
    adaptive = spec.run.adaptive
    if adaptive is None:
        return
    check_adaptive(adaptive, problems)
    for position, precision in enumerate(adaptive.until):
        check_reducer((*adaptive.path, "until", position), precision.column, spec, labels, problems)
    if spec.run.order is not RunOrder.DEPTH:
        wrong = "adaptive replicates have an order of their own, a round of a config after the other"
        problems.add(("run",), "order", wrong, came=f"'{spec.run.order}'", hint="remove it")
    if spec.search is not None:
        wrong = "a search takes a number of replicates: it compares candidates of as many runs each"
        hint = f"write replicates = {whole_text(adaptive.min)}"
        problems.add(("run",), "replicates", wrong, came="a table", allowed="a whole number", hint=hint)


def check_reducer(
    table: TablePath, column: str, spec: SweepSpec, labels: tuple[str, ...], problems: ProblemList
) -> None:
    """Check that `column` is one that runs.csv will have; parts of a vector are known only once a model was built."""
    measure = spec.measure
    kinds = [kind.value for kind in DEFAULT_KINDS] if measure.default_reducers else []
    known = [f"{label}:{kind}" for label in labels for kind in kinds]
    known += [f"{reducer.column}:{reducer.kind}" for reducer in measure.reducers]
    label, colon, kind = column.rpartition(":")
    if column in known or (colon and label not in labels and names_a_statistic(label, labels) and kind in kinds):
        return
    came, allowed = f"'{column}'", ", ".join(known) or "none, the spec has no reducers"
    hint = _column_hint(column, known, labels)
    problems.add(table, "column", "no such column of reducers", came=came, allowed=allowed, hint=hint)


def _column_hint(column: str, known: list[str], labels: tuple[str, ...]) -> str | None:
    label, _, kind = column.rpartition(":")
    if label in labels and _is_kind(kind):
        return f'add {{ column = "{label}", kinds = ["{kind}"] }} to the reducers of [measure]'
    reduced = [name for name in known if name.startswith(f"{column}:")]
    return f"did you mean '{reduced[0]}'?" if reduced else near_miss(column, known)


def _is_kind(text: str) -> bool:
    try:
        return parse_kind(text).text == text
    except ValueError:
        return False


def check_actions(spec: SweepSpec, action_ids: tuple[str, ...], problems: ProblemList) -> None:
    """Check that scheduled actions exist, have ticks, and names of their own."""
    seen: dict[str, int] = {}
    for position, action in enumerate(spec.actions):
        table = ("action", position)
        if action.label in seen:
            key = "id" if action.name is None else "name"
            came, other = f"'{action.label}'", seen[action.label] + 1
            taken = f"action #{other} has it already; give this one a name of its own, such as '{action.id}_2'"
            problems.add(table, key, "two actions share a name", came=came, hint=taken)
        seen.setdefault(action.label, position)
        wrong = None if action.name is None else name_problem(action.name)
        if wrong is not None:
            problems.add(table, "name", f"the name {wrong}")
        if action.name is not None and not action.name.strip():
            problems.add(table, "name", "an empty name", hint="leave it out to use the id")
        if action.id not in action_ids:
            known = ", ".join(action_ids) or "none, the model has no actions"
            hint = near_miss(action.id, action_ids)
            problems.add(table, "id", "unknown action", came=f"'{action.id}'", allowed=known, hint=hint)
        if not 0 <= action.tick <= MAX_U64:
            problems.add(table, "tick", "not a tick", came=whole_text(action.tick), allowed="0 to 2^64 - 1")


def check_fixed(spec: SweepSpec, schema: ModelSchema, problems: ProblemList) -> tuple[ParamValue, ...]:
    """Check the values shared by every config and return the full base values, defaults where one is wrong."""
    known = {param.id: slot for slot, param in enumerate(schema.params)}
    base = [param.default for param in schema.params]
    seen: set[str] = set()
    for name, value in spec.fixed:
        if name in seen:
            problems.add(("set",), name, "set twice", hint="remove one of them")
        elif name not in known:
            hint = param_hint(name, known, schema.constants)
            problems.add(("set",), name, "unknown parameter", came=f"'{name}'", allowed=", ".join(known), hint=hint)
        else:
            try:
                base[known[name]] = schema.params[known[name]].coerce(value)
            except ParamError as error:
                problems.add(("set",), name, error.wrong, came=error.came, allowed=error.allowed, hint=error.hint)
        seen.add(name)
    return tuple(base)


def check_varied_and_fixed(
    position: int, block: BlockSpec, targets: tuple[Target, ...], spec: SweepSpec, problems: ProblemList
) -> None:
    """Check that the block at `position`, which varies `targets`, varies nothing that `[set]` fixes."""
    fixed = {name for name, _ in spec.fixed}
    for factor, target in enumerate(targets):
        if target.param is not None and target.name in fixed:
            is_factor = bool(block.factors)
            table = ("block", position, "factors", factor) if is_factor else ("block", position)
            hint = f"remove '{target.name}' from [set], or this {'factor' if is_factor else 'column'}"
            wrong = f"{target.words} is fixed in [set] and varied here"
            problems.add(table, "param" if is_factor else None, wrong, hint=hint)


def check_names(schema: ModelSchema, targets: Targets, problems: ProblemList) -> None:
    """Check that no column of a result file has the name of another.

    The model's author, not the spec's, gave these names; a place in the spec is the best there is.
    """
    params = {param.id for param in schema.params}
    for param in schema.params:
        if param.id in FILE_COLUMNS:
            hint = f"rename it in the model, such as '{schema.model}_{param.id}'"
            problems.add((), "model", f"parameter '{param.id}' has the name of a file column", hint=hint)
    for name, target in targets.actions.items():
        if target.column in params:
            position = target.slot
            wrong = f"the column of action '{name}' has the name of a parameter"
            problems.add(("action", position), "name", wrong, hint="give the action another name")
    for label in schema.stat_labels:
        other = "parameter" if label in params else "file column" if label in SERIES_LEADING + FILE_COLUMNS else None
        if other is not None:
            hint = f"rename it in the model, such as '{label}_count'"
            problems.add((), "model", f"statistic '{label}' has the name of a {other}", hint=hint)
