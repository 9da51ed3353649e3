"""From a `SweepSpec` back to a document: the structure of a spec file in JSON builtins, as TOML and JSON, its hash.

Owns the canonical form: settings in full, `series_every` explicit, consecutive reducers of one column grouped, design
tables inlined. Parsing a document gives the spec back, floats bit for bit. The hash of a spec is FNV-1a with 64 bits
over ``henad.spec.1`` and the canonical text, both with their length before them: everything a spec says, speed aside.
Owns the text of TOML too, which Python's standard library reads and does not write.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from msgspec import structs

from henad_web.errors import Place, Problem, SpecError
from henad_web.explore.adaptive_spec import AdaptiveReplicates
from henad_web.explore.blocks import DEFAULT_NUM_LEVELS
from henad_web.explore.conditions import condition_text
from henad_web.explore.intervals import IntervalKind
from henad_web.explore.reducers import parse_kind
from henad_web.explore.search_spec import SETTINGS, SearchSpec
from henad_web.explore.spec import (
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    FactorSpec,
    RangeLevels,
    RunOrder,
    RunSettings,
    SeedSettings,
    SweepSpec,
    ValueLevels,
    spec_of,
)
from henad_web.explore.spec_table import SpecTable
from henad_web.explore.spec_text import normalized
from henad_web.model.decimals import EXACT_LIMIT, LARGEST_TOML_INTEGER, parse_long_number
from henad_web.model.fnv import Fnv1a64

if TYPE_CHECKING:
    from henad_web.explore.spec_file import LoadedSpec

__all__ = [
    "Document",
    "canonical_text",
    "spec_document",
    "spec_hash",
    "spec_to_json",
    "spec_to_toml",
    "toml_text",
]

_VALUES = "values"


def spec_hash(spec: SweepSpec | LoadedSpec) -> str:
    """Return the 16 hex digits that name `spec`.

    The form of the file (TOML or JSON), the order of keys, comments, a byte-order mark, the kind of line end, a
    default that is written out and settings of speed do not count. Replicates and timeout do: this names the study as
    asked for, a plan's hash names what it computes.
    """
    return Fnv1a64().text("henad.spec.1").text(canonical_text(spec_of(spec))).hex()


def canonical_text(spec: SweepSpec) -> str:
    """Return `spec` as JSON without blanks, keys sorted, settings in full.

    A whole number below 2^53 has no point, whether a file wrote ``1`` or ``1.0``, since some writers of JSON drop it.
    A value beyond is a number, whether a file wrote it as one or, as JSON has to, as a text of digits.
    """
    # The order of runs changes when a result is there, and no result.
    run = structs.replace(spec.run, order=RunSettings().order)
    blocks = tuple(_in_full(block) for block in spec.blocks)
    document = spec_document(structs.replace(spec, run=run, blocks=blocks))
    if spec.actions:
        document["action"] = [{"id": action.id, "name": action.label, "tick": action.tick} for action in spec.actions]
    return json.dumps(_canonical(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _in_full(block: BlockSpec) -> BlockSpec:
    if block.design is DesignKind.SALTELLI and block.second_order is None:
        return structs.replace(block, second_order=True)
    if block.design is DesignKind.MORRIS and block.num_levels is None:
        return structs.replace(block, num_levels=DEFAULT_NUM_LEVELS)
    return block


def _canonical(value: object, key: str | None = None) -> object:
    if isinstance(value, dict):
        return {name: _canonical(entry, _VALUES if key == "set" else name) for name, entry in value.items()}
    if isinstance(value, list):
        return [_canonical(entry, key) for entry in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_LIMIT:
        return int(value)
    if key == "table_text" and isinstance(value, str):
        return normalized(value)
    number = parse_long_number(value) if key == _VALUES else None
    if number is not None:
        return number
    return value


Document: TypeAlias = dict[str, object]
"""A table by key, of JSON builtins."""


def spec_to_toml(spec: SweepSpec | LoadedSpec, *, execution: ExecutionSettings | None = None) -> str:
    """Return the text of a spec file that says `spec`; `execution` is written where it is not the default."""
    return toml_text(spec_document(spec_of(spec), execution))


def spec_to_json(spec: SweepSpec | LoadedSpec, *, execution: ExecutionSettings | None = None) -> str:
    """Return the JSON text of a spec file that says `spec`; `execution` is written where it is not the default.

    Seeds and values beyond 2^53 are texts of digits, which every reader keeps; a parameter reads them as numbers.

    Raises:
        SpecError: The spec holds a number that is not finite, which JSON cannot say.
    """
    document = spec_document(spec_of(spec), execution, largest_seed=EXACT_LIMIT, largest_value=EXACT_LIMIT)
    try:
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        wrong = "a number that is not finite cannot be written as JSON"
        raise SpecError([Problem(place=Place(), wrong=wrong, hint="replace it by a finite one")]) from error


def spec_document(
    spec: SweepSpec,
    execution: ExecutionSettings | None = None,
    *,
    largest_seed: int = LARGEST_TOML_INTEGER,
    largest_value: int | None = None,
) -> Document:
    """Return `spec` as the tables of a spec file, in JSON builtins; a manifest keeps it under `spec`.

    Args:
        spec: The spec.
        execution: Settings of speed, left out where they are the default.
        largest_seed: Seeds above are written as texts of digits.
        largest_value: Whole numbers among the values further from 0 are written as texts of digits; None for none.
    """

    def value(number: object) -> object:
        is_long = isinstance(number, int) and largest_value is not None and abs(number) > largest_value
        return str(number) if is_long else number

    document: Document = {"model": spec.model}
    if spec.fixed:
        document["set"] = {name: value(level) for name, level in spec.fixed}
    document["run"] = _run(spec)
    document["measure"] = _measure(spec)
    document["seeds"] = _seeds(spec.seeds, largest_seed)
    if spec.actions:
        document["action"] = [
            _without_none(id=action.id, name=action.name, tick=action.tick) for action in spec.actions
        ]
    if spec.blocks:
        document["block"] = [_block(block, largest_seed, value) for block in spec.blocks]
    if spec.search is not None:
        document["search"] = _search(spec.search, value)
    if execution is not None and execution != ExecutionSettings():
        document["execution"] = _without_none(
            concurrent=execution.concurrent, memory=execution.memory, gpu_memory=execution.gpu_memory
        )
    return document


def _without_none(**values: object) -> Document:
    return {key: value for key, value in values.items() if value is not None}


def _seed(seed: int | None, largest: int) -> int | str | None:
    return str(seed) if seed is not None and seed > largest else seed


def _seeds(seeds: SeedSettings, largest: int) -> Document:
    root = _seed(seeds.root, largest)
    if seeds.list is None:
        return {"root": root, "scheme": str(seeds.scheme)}
    return {"root": root, "list": [_seed(seed, largest) for seed in seeds.list]}


def _run(spec: SweepSpec) -> Document:
    run = spec.run
    stop = run.stop and {"condition": condition_text(run.stop), "min_tick": run.stop.min_tick}
    return _without_none(
        steps=run.steps,
        warmup=run.warmup,
        replicates=run.most_replicates if run.adaptive is None else _adaptive(run.adaptive),
        stop=stop,
        timeout_s=run.timeout_s,
        order=None if run.order is RunOrder.DEPTH else str(run.order),
    )


def _adaptive(adaptive: AdaptiveReplicates) -> Document:
    until = [
        _without_none(
            column=precision.column,
            half_width=precision.half_width,
            relative=precision.relative,
            confidence=precision.confidence,
            interval=None if precision.interval is IntervalKind.STUDENT else str(precision.interval),
        )
        for precision in adaptive.until
    ]
    return {"min": adaptive.min, "max": adaptive.max, "until": until}


def _measure(spec: SweepSpec) -> Document:
    measure = spec.measure
    grouped = [
        {"column": column, "kinds": [parse_kind(reducer.kind).text for reducer in reducers]}
        for column, reducers in groupby(measure.reducers, key=lambda reducer: reducer.column)
    ]
    document: Document = {
        "stats_every": measure.stats_every,
        "series_every": measure.series_cadence,
        "default_reducers": measure.default_reducers,
        "reducers": grouped,
    }
    if measure.tables:
        document["tables"] = list(measure.tables)
    if measure.tables_every is not None:
        document["tables_every"] = measure.tables_every
    return document


def _block(block: BlockSpec, largest_seed: int, value: Callable[[object], object]) -> Document:
    document = _without_none(
        design=str(block.design),
        samples=block.samples,
        design_seed=_seed(block.design_seed, largest_seed),
        second_order=block.second_order,
        num_levels=block.num_levels,
        where=block.where,
        table_text=block.table_text,
        file=block.file if block.table_text is None else None,
    )
    if block.factors:
        document["factors"] = [_factor(factor, value) for factor in block.factors]
    return document


def _search(search: SearchSpec, value: Callable[[object], object]) -> Document:
    document: Document = {
        "algorithm": str(search.algorithm),
        "max_evaluations": search.max_evaluations,
        "batch_size": search.batch_size,
        "space": [_factor(factor, value) for factor in search.space],
    }
    if search.name is not None:
        document["name"] = search.name
    if search.objective is not None:
        document["objective"] = _in_words(search.objective)
    if search.objectives:
        document["objectives"] = list(map(_in_words, search.objectives))
    for algorithm in SETTINGS:
        # Settings of another algorithm are wrong, and are not to vanish.
        own = search.settings if algorithm is search.algorithm else getattr(search, algorithm.value)
        if own is not None:
            document[algorithm.value] = _in_words(own)
    return document


def _in_words(settings: SpecTable) -> Document:
    """Return settings in full, words as texts; what is None is left out."""
    found: Document = {}
    for name in settings.__struct_fields__:
        value = getattr(settings, name)
        if isinstance(value, SpecTable):
            found[name] = _in_words(value)
        elif value is not None:
            found[name] = str(value) if isinstance(value, str) else value
    return found


def _factor(factor: FactorSpec, value: Callable[[object], object]) -> Document:
    document = _without_none(param=factor.param, action=factor.action)
    levels = factor.levels
    if isinstance(levels, ValueLevels):
        document["values"] = list(map(value, levels.values))
    elif isinstance(levels, RangeLevels):
        document["range"] = _without_none(min=value(levels.min), max=value(levels.max), step=value(levels.step))
    else:
        document["levels"] = "all"
    return document


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def toml_text(document: Mapping[str, object]) -> str:
    """Return `document` as TOML text: a section a table, a double-bracketed section an entry, the rest inline.

    Args:
        document: Values by key; a mapping becomes a section, a list of mappings one section an entry.
    """
    plain, sections = [], []
    for key, value in document.items():
        if isinstance(value, Mapping):
            sections.append(_section(f"[{_key(key)}]", value))
        elif _is_tables(value):
            sections += [_section(f"[[{_key(key)}]]", entry) for entry in value]
        else:
            plain.append(_line(key, value))
    return "\n".join(["".join(plain), *sections])


def _is_tables(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _section(header: str, table: Mapping[str, object]) -> str:
    return f"{header}\n" + "".join(_line(key, value) for key, value in table.items())


def _line(key: str, value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"{_key(key)} = {_long_text(value)}\n"
    if _is_tables(value):
        entries = "".join(f"  {_inline(entry)},\n" for entry in value)
        return f"{_key(key)} = [\n{entries}]\n"
    return f"{_key(key)} = {_inline(value)}\n"


def _inline(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return f'"{_escaped(value)}"'
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_inline(entry)}" for key, entry in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_inline(entry) for entry in value)}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _float(number: float) -> str:
    # `repr` is the shortest text that reads back as the same double, and TOML reads its exponents.
    return repr(number) if math.isfinite(number) else str(number)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else f'"{_escaped(key)}"'


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(letter) or _letter(letter) for letter in text)


def _letter(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x20 or ord(letter) == 0x7F else letter


def _long_text(text: str) -> str:
    lines = (_escaped(line) for line in text.split("\n"))
    # The newline right after the opening quotes is not part of the text.
    return '"""\n' + "\n".join(lines) + '"""'
