"""From a spec document, as TOML and JSON give it, to a `SweepSpec`.

Owns the meaning of every key and the defaults; which keys a table has is `spec_form`'s business. Every problem of a
document is found in one pass. Reads no file: the text of a design table comes through a function that the caller gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import msgspec
from msgspec import structs

from henad_web.errors import ProblemList, SpecError
from henad_web.explore.adaptive_spec import AdaptiveReplicates, Precision, check_adaptive
from henad_web.explore.blocks import check_shape, check_values
from henad_web.explore.checks import check_timeout
from henad_web.explore.conditions import read_condition
from henad_web.explore.factors import TablePath
from henad_web.explore.intervals import USUAL, IntervalKind
from henad_web.explore.reducers import KIND_FORMS, Kind, parse_kind
from henad_web.explore.search_parse import read_factor, read_search
from henad_web.explore.spec import (
    SCHEME_BESIDE_LIST,
    ActionSpec,
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    MeasureSettings,
    ReducerSpec,
    RunSettings,
    SeedScheme,
    SeedSettings,
    SpecValue,
    StopExpression,
    StopSpec,
    SweepSpec,
)
from henad_web.explore.spec_form import (
    SCHEMA_KEY,
    ActionForm,
    BlockForm,
    ExecutionForm,
    MeasureForm,
    PrecisionForm,
    ReducerForm,
    ReplicatesForm,
    RunForm,
    SearchForm,
    SeedsForm,
    SpecForm,
    StopForm,
    keys_of,
)
from henad_web.explore.spec_kinds import TEXT, VALUE, kind_of
from henad_web.explore.spelling import comparator_hint, meant
from henad_web.explore.table_reader import TableReader
from henad_web.model.decimals import MAX_U64

__all__ = ["ParsedDocument", "ReadTable", "parse_document", "parse_spec_document"]

ReadTable = Callable[[str], str]
"""Returns the text of a design table by the path a spec gives; raises ValueError saying why it cannot."""

_HOMES = {
    key: home
    for home, form in (
        ("[run]", RunForm),
        ("[measure]", MeasureForm),
        ("[seeds]", SeedsForm),
        ("[execution]", ExecutionForm),
        ("a [[block]]", BlockForm),
        ("[search]", SearchForm),
    )
    for key in keys_of(form)
}
"""Where a key belongs that stands in the wrong table."""

_BYTES = "a whole number of bytes, such as 2000000000"
_DOUBLE = "write [[{}]] with double brackets, or a list of tables"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a document says.

    Attributes:
        spec: The spec; to be used only when no problem was recorded.
        execution: Settings of speed.
        reducer_entries: For each reducer of the spec, the position of the entry it came from.
    """

    spec: SweepSpec
    execution: ExecutionSettings
    reducer_entries: tuple[int, ...]


def parse_spec_document(document: Mapping[str, object]) -> SweepSpec:
    """Return the spec of a document of JSON builtins, such as a manifest's `spec`.

    Raises:
        SpecError: The document is no spec; every problem is in it.
    """
    problems = ProblemList()
    parsed = parse_document(document, problems)
    if problems.problems:
        raise SpecError(problems.problems)
    return parsed.spec


def parse_document(document: object, problems: ProblemList, *, read_table: ReadTable | None = None) -> ParsedDocument:
    """Return what `document` says, with every problem recorded in `problems`.

    Args:
        document: Tables as mappings, arrays as lists, values as Python's own.
        problems: Where problems go.
        read_table: Gives the text of a table design's file; None where files cannot be read.
    """
    if isinstance(document, Mapping):
        document = {key: value for key, value in document.items() if key != SCHEMA_KEY}
    top = TableReader(document, (), keys_of(SpecForm), problems, homes=_HOMES)
    model = top.text("model")
    if "model" not in top:
        top.missing("model", 'add a line such as model = "sir" at the top')
    measure, entries = _measure(top)
    spec = SweepSpec(
        model=model or "",
        fixed=_fixed(top),
        run=_run(top),
        measure=measure,
        seeds=_seeds(top),
        actions=tuple(
            _action(entry, path, problems) for path, entry in top.items("action", hint=_DOUBLE.format("action"))
        ),
        blocks=tuple(
            _block(entry, path, problems, read_table)
            for path, entry in top.items("block", hint=_DOUBLE.format("block"))
        ),
        search=read_search(top),
    )
    return ParsedDocument(spec=spec, execution=_execution(top), reducer_entries=entries)


def _section(top: TableReader, name: str, form: type[msgspec.Struct]) -> TableReader:
    value = top.raw(name) if name in top else {}
    return TableReader(value, (*top.path, name), keys_of(form), top.problems, homes=_HOMES)


def _fixed(top: TableReader) -> tuple[tuple[str, SpecValue], ...]:
    table = top.raw("set") if "set" in top else {}
    if not isinstance(table, Mapping):
        top.wrong("set", "not a table", allowed="a table of parameter ids and values")
        return ()
    fixed = []
    for name, value in table.items():
        if isinstance(value, bool | int | float | str):
            fixed.append((str(name), value))
        else:
            hint = "what varies belongs in the factors of a [[block]]" if isinstance(value, list) else None
            top.problems.add(("set",), name, VALUE[0], came=kind_of(value), allowed=VALUE[1], hint=hint)
    return tuple(fixed)


def _run(top: TableReader) -> RunSettings:
    run = _section(top, "run", RunForm)
    default = RunSettings()
    timeout_s = run.number("timeout_s", least=0, allowed="a number of seconds")
    check_timeout(timeout_s, run.problems)
    return RunSettings(
        steps=run.whole("steps", default.steps),
        warmup=run.whole("warmup", default.warmup),
        replicates=_replicates(run, default.most_replicates),
        stop=_stop(run) if "stop" in run else None,
        timeout_s=None if timeout_s is None else float(timeout_s),
        order=run.choice("order", default.order),
    )


def _replicates(run: TableReader, default: int) -> int | AdaptiveReplicates:
    value = run.raw("replicates")
    if not isinstance(value, Mapping):
        return run.whole("replicates", default, least=1)
    table = TableReader(value, (*run.path, "replicates"), keys_of(ReplicatesForm), run.problems)
    hints = {
        "min": "add the replicates of the first round, such as min = 10",
        "max": "add the most replicates of a config, such as max = 200",
        "until": 'add what is to be narrow, such as until = [{ column = "Infected:max", half_width = 5 }]',
    }
    before = len(run.problems.problems)
    for key, hint in hints.items():
        if key not in table:
            table.missing(key, hint)
    adaptive = AdaptiveReplicates(
        min=table.whole("min", 2, least=2),
        max=table.whole("max", MAX_U64, least=2),
        until=tuple(_precision(entry, path, run.problems) for path, entry in table.items("until", hint=_UNTIL)),
    )
    told = {problem.place for problem in run.problems.problems[before:]}
    # What a whole table lacks may be a key of it that was told to be misspelt.
    told |= {replace(place, key=None) for place in told}
    found = ProblemList()
    check_adaptive(adaptive, found)
    run.problems.problems.extend(problem for problem in found.problems if problem.place not in told)
    return adaptive


_UNTIL = 'write until = [{ column = "Infected:max", half_width = 5 }]'


def _precision(entry: object, path: TablePath, problems: ProblemList) -> Precision:
    table = TableReader(entry, path, keys_of(PrecisionForm), problems)
    if isinstance(entry, Mapping) and "column" not in table:
        table.missing("column", 'add a column of reducers, such as column = "Infected:max"')
    half_width, relative, confidence = (table.number(key) for key in ("half_width", "relative", "confidence"))
    return Precision(
        column=table.text("column") or "",
        half_width=None if half_width is None else float(half_width),
        relative=None if relative is None else float(relative),
        confidence=USUAL if confidence is None else float(confidence),
        interval=table.choice("interval", IntervalKind.STUDENT),
    )


def _stop(run: TableReader) -> StopSpec | StopExpression | None:
    value = run.raw("stop")
    if isinstance(value, str):
        run.wrong("stop", "not a table", allowed="a table", hint=f'write stop = {{ condition = "{value}" }}')
        return None
    stop = TableReader(value, (*run.path, "stop"), keys_of(StopForm), run.problems)
    min_tick = stop.whole("min_tick", 0)
    if "condition" not in stop:
        if isinstance(value, Mapping):
            stop.missing("condition", 'add one, such as condition = "Infected <= 0"')
        return None
    text = stop.text("condition")
    if text is None:
        return None
    return read_condition(text, min_tick, stop.problems, stop.path)


def _measure(top: TableReader) -> tuple[MeasureSettings, tuple[int, ...]]:
    measure = _section(top, "measure", MeasureForm)
    reducers: list[ReducerSpec] = []
    entries: list[int] = []
    for position, (path, entry) in enumerate(measure.items("reducers")):
        found = _reducers(entry, path, measure.problems)
        reducers += found
        entries += [position] * len(found)
    stats_every = measure.whole("stats_every", 1, least=1)
    settings = MeasureSettings(
        stats_every=stats_every,
        series_every=measure.whole("series_every", stats_every),
        default_reducers=measure.flag("default_reducers", default=True),
        reducers=tuple(reducers),
        tables=_tables(measure),
        tables_every=measure.optional_whole("tables_every", least=1),
    )
    return settings, tuple(entries)


def _tables(measure: TableReader) -> tuple[str, ...]:
    raw = measure.raw("tables")
    found = []
    for _, id in measure.items("tables", hint=f'write tables = ["{raw}"]' if isinstance(raw, str) else None):
        if isinstance(id, str):
            found.append(id)
        else:
            measure.problems.add(measure.path, "tables", TEXT[0], came=kind_of(id), allowed="ids of the model's tables")
    return tuple(found)


def _reducers(entry: object, path: TablePath, problems: ProblemList) -> list[ReducerSpec]:
    table = TableReader(entry, path, keys_of(ReducerForm), problems)
    column = table.text("column")
    if isinstance(entry, Mapping):
        if "column" not in table:
            table.missing("column", 'add one, such as column = "Infected"')
        if "kinds" not in table:
            table.missing("kinds", 'add them, such as kinds = ["argmax"]')
    found = []
    for _, kind in table.items("kinds", hint=f'write kinds = ["{table.raw("kinds")}"]'):
        try:
            if not isinstance(kind, str):
                raise ValueError("not a text")
            found.append(ReducerSpec(column=column or "", kind=parse_kind(kind).text))
        except ValueError as error:
            problems.add(
                path,
                "kinds",
                f"no such reducer, {error}",
                came=kind_of(kind),
                allowed=KIND_FORMS,
                hint=_kind_hint(kind),
            )
            if column is not None:  # a model is asked about the column all the same
                found.append(ReducerSpec(column=column, kind=Kind.FINAL.value))
    return found


def _kind_hint(kind: object) -> str | None:
    if not isinstance(kind, str):
        return None
    if kind.strip() in (Kind.FIRST, Kind.WINDOW):
        return "write first<=10 or mean@200..600, with numbers of your own"
    if kind.isidentifier():
        missed = meant(kind, [word for word in Kind if word not in (Kind.FIRST, Kind.WINDOW)])
        return None if missed is None else f"did you mean '{missed}'?"
    return comparator_hint(kind)


def _seeds(top: TableReader) -> SeedSettings:
    seeds = _section(top, "seeds", SeedsForm)
    root, scheme = seeds.seed("root", 0) or 0, seeds.choice("scheme", SeedScheme.COMMON)
    if "list" not in seeds:
        return SeedSettings(root=root, scheme=scheme)
    if "scheme" in seeds:
        seeds.wrong("scheme", SCHEME_BESIDE_LIST, hint="remove it, or the list")
    return SeedSettings(root=root, list=seeds.seeds("list"))


def _action(entry: object, path: TablePath, problems: ProblemList) -> ActionSpec:
    action = TableReader(entry, path, keys_of(ActionForm), problems)
    if isinstance(entry, Mapping):
        if "id" not in action:
            action.missing("id", "name the model's action that fires")
        if "tick" not in action:
            action.missing("tick", "add the tick it fires at, such as tick = 100")
    name = action.text("name")
    if name is not None and not name.strip():
        action.wrong("name", "an empty name", hint="leave it out to use the id")
    return ActionSpec(id=action.text("id") or "", name=name, tick=action.whole("tick", 0))


def _block(entry: object, path: TablePath, problems: ProblemList, read_table: ReadTable | None) -> BlockSpec:
    table = TableReader(entry, path, keys_of(BlockForm), problems)
    block = BlockSpec(
        design=table.choice("design", DesignKind.FACTORIAL),
        factors=tuple(read_factor(factor, place, problems) for place, factor in table.items("factors")),
        samples=table.optional_whole("samples", least=1),
        design_seed=table.seed("design_seed", None),
        second_order=table.flag("second_order", default=True) if "second_order" in table else None,
        num_levels=table.optional_whole("num_levels", least=2, multiple_of=2),
        where=table.text("where"),
        table_text=table.text("table_text"),
        file=table.text("file"),
    )
    if block.file is not None and block.table_text is not None:
        table.wrong("file", "both `file` and `table_text` are given", hint="remove one of them")
    _check_shape(block, table)
    if block.file is None or block.table_text is not None or block.design is not DesignKind.TABLE:
        return block
    return _with_text(block, table, read_table)


def _check_shape(block: BlockSpec, table: TableReader) -> None:
    found = ProblemList()
    word = table.raw("design")
    # Beside a word that means no design, which keys fit is unknown.
    is_known = word in (None, *DesignKind) or (isinstance(word, str) and meant(word, DesignKind) is not None)
    (check_shape if is_known else check_values)(block, table.path, found)
    told = {problem.place.key for problem in table.problems.problems if problem.place.table == table.path}
    for problem in found.problems:
        if isinstance(word, str) and word != block.design:
            design = f"a {block.design} design"
            wrong = problem.wrong.replace(design, f"{design}, as {word!r} is read,")
            problem = replace(problem, wrong=wrong)
        is_missing = problem.came is None and (problem.place.key is None or problem.place.key not in table)
        if problem.place.key not in told and not (is_missing and table.misspelt):
            table.problems.problems.append(problem)


def _with_text(block: BlockSpec, table: TableReader, read_table: ReadTable | None) -> BlockSpec:
    if read_table is None:
        hint = "give the table as table_text, or load the spec from its file"
        table.wrong("file", "a spec that is not a file cannot name one", hint=hint)
        return block
    try:
        text = read_table(block.file or "")
    except ValueError as error:
        table.wrong("file", str(error), allowed="a path inside the spec's folder")
        return block
    return structs.replace(block, table_text=text)


def _execution(top: TableReader) -> ExecutionSettings:
    table = _section(top, "execution", ExecutionForm)
    concurrent = table.raw("concurrent") if "concurrent" in table else "auto"
    is_count = isinstance(concurrent, int) and not isinstance(concurrent, bool) and concurrent >= 1
    if concurrent != "auto" and not is_count:
        table.wrong("concurrent", "not a number of runs", allowed='"auto" or a whole number from 1 on')
        concurrent = "auto"
    return ExecutionSettings(
        concurrent=concurrent if isinstance(concurrent, int | str) else "auto",
        memory=table.optional_whole("memory", allowed=_BYTES),
        gpu_memory=table.optional_whole("gpu_memory", allowed=_BYTES),
    )
