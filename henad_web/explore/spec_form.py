"""The tables of a spec file as types and as a schema: which keys each has, of which kind, what leaving one out means.

Owns the form alone. `spec_parse` takes its keys from here; no file is ever decoded into these types, since a decoder
stops at the first mistake. Owns too the JSON Schema with which editors complete and check a file, in TOML and in JSON,
and the rules in it that no type says: which keys exclude or need each other. What depends on a model is not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from henad_web.explore.blocks import MOST_NUM_LEVELS
from henad_web.explore.conditions import Comparison
from henad_web.explore.reducers import Kind
from henad_web.explore.spec import (
    DesignKind,
    MeasureSettings,
    RunOrder,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopSpec,
)

__all__ = [
    "ActionForm",
    "BlockForm",
    "ExecutionForm",
    "FactorForm",
    "MeasureForm",
    "RangeForm",
    "ReducerForm",
    "RunForm",
    "SCHEMA_KEY",
    "SeedsForm",
    "SpecForm",
    "StopForm",
    "keys_of",
    "spec_schema",
    "spec_schema_text",
]

SCHEMA_KEY = "$schema"
"""Key by which a spec file names its schema to an editor; it says nothing about the study."""

_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_COMPARATOR = f"({'|'.join(sorted(Comparison, key=len, reverse=True))})"
_PLAIN_KINDS = [kind.value for kind in Kind if kind not in (Kind.FIRST, Kind.WINDOW)]
_KIND_RULES: dict[str, Any] = {
    "anyOf": [
        {"enum": _PLAIN_KINDS},
        {"pattern": rf"^\s*(({'|'.join(_PLAIN_KINDS)})|mean@\s*[0-9]+\s*\.\.\s*[0-9]+)\s*$"},
        {"pattern": rf"^\s*first\s*{_COMPARATOR}\s*{_NUMBER}\s*$"},
    ],
    "examples": ["argmax", "first>=100", "mean@200..600"],
}

Whole: TypeAlias = Annotated[int, Meta(ge=0)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seed: TypeAlias = Whole | Annotated[str, Meta(pattern=r"^\s*[0-9]{1,20}\s*$")]
Value: TypeAlias = bool | int | float | str
LongNumber: TypeAlias = Annotated[str, Meta(pattern=r"^\s*[+-]?[0-9]{16,309}\s*$")]
KindText: TypeAlias = Annotated[str, Meta(extra_json_schema=_KIND_RULES)]
_CONDITIONS = ["Infected <= 0", 'Infected <= 0 and not (Recovered < 10 or "Mean age" > 3)']
ConditionText: TypeAlias = Annotated[
    str,
    Meta(pattern=rf"[^<>=!\s]\s*{_COMPARATOR}\s*[^<>=!\s]", extra_json_schema={"examples": _CONDITIONS}),
]

_RUN, _MEASURE, _SEEDS = RunSettings(), MeasureSettings(), SeedSettings()


class _Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tables."""


class StopForm(_Form, frozen=True):
    """A condition that ends a run at the first sample that satisfies it.

    Attributes:
        condition: COLUMN CMP NUMBER, with CMP one of < <= > >= == !=, such as "Infected <= 0", or several of these
            with and, or, not, arithmetic and parentheses.
        min_tick: First tick at which it may end a run.
    """

    condition: ConditionText
    min_tick: Whole = StopSpec(column="", comparison="", threshold=0.0).min_tick


class RunForm(_Form, frozen=True):
    """How long a run is and how many there are.

    Attributes:
        steps: Measured ticks after the warm-up; 0 takes one sample at its end.
        warmup: Ticks before measuring.
        replicates: Runs of each config.
        stop: What ends a run early.
        timeout_s: Seconds of stepping and sampling after which a run ends as timed_out; leave it out for none.
        order: depth runs all replicates of a config before the next one, breadth runs replicate 0 of every config
            first; changes no result.
    """

    steps: Whole = _RUN.steps
    warmup: Whole = _RUN.warmup
    replicates: Count = _RUN.replicates
    stop: StopForm | UnsetType = UNSET
    timeout_s: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    order: RunOrder = _RUN.order


class ReducerForm(_Form, frozen=True):
    """Numbers that the samples of one statistic become.

    Attributes:
        column: Label of the statistic.
        kinds: final, min, max, mean, argmax, argmin, first<=NUMBER or mean@START..END.
    """

    column: str
    kinds: list[KindText]


class MeasureForm(_Form, frozen=True):
    """When a run is sampled and what is kept.

    Attributes:
        stats_every: Ticks between two samples.
        series_every: Ticks between two rows of series.csv, a multiple of stats_every; 0 keeps none; left out,
            stats_every.
        default_reducers: Whether every statistic gets final, min, max and mean.
        reducers: What is computed beside these.
        tables: Ids of the model's own tables that are kept; left out, none.
        tables_every: Ticks between two reports of these tables, a multiple of stats_every; the end of a run is one in
            any case, and left out, the only one.
    """

    stats_every: Count = _MEASURE.stats_every
    series_every: Whole | UnsetType = UNSET
    default_reducers: bool = _MEASURE.default_reducers
    reducers: list[ReducerForm] = []
    tables: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})] = _MEASURE.tables
    tables_every: Count | UnsetType = UNSET


class SeedsForm(_Form, frozen=True):
    """Where the seeds of runs come from.

    Attributes:
        root: 0 to 2^64 - 1; as a text of digits where a number cannot hold it.
        scheme: common gives replicate r the same seed in every config, independent gives every run its own.
        list: The seed of each replicate, the same in every config, instead of a scheme: as many as replicates.
    """

    root: Seed = _SEEDS.root
    scheme: SeedScheme = _SEEDS.scheme
    list: Annotated[tuple[Seed, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})] | UnsetType = UNSET


class ActionForm(_Form, frozen=True):
    """A scheduled intervention.

    Attributes:
        id: Action of the model that fires.
        tick: When it fires: 0 before the first step, later ones right after the step that reaches them.
        name: What factors and the column action.NAME call it; left out, its id.
    """

    id: str
    tick: Whole
    name: Annotated[str, Meta(pattern=r"\S")] | UnsetType = UNSET


class RangeForm(_Form, frozen=True):
    """Levels from min to max, both included; a whole number beyond 2^53 as a text of digits where JSON would round it.

    Attributes:
        min: First level.
        max: Last level where the steps land on it, not below min.
        step: Distance of two levels. Left out, a whole number steps by 1 and a sampled design takes the whole range.
    """

    min: int | float | LongNumber
    max: int | float | LongNumber
    step: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)] | LongNumber | UnsetType = UNSET


class FactorForm(_Form, frozen=True):
    """One thing that varies: one of param and action, with one of values, range and levels.

    Attributes:
        param: Id of the parameter.
        action: Name of the action whose tick varies.
        values: The levels one by one; a single value is one level, a whole number beyond 2^53 may be a text of digits.
        range: The levels from one number to another.
        levels: "all" for every option of a choice, or false and true.
    """

    param: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    values: list[Value] | bool | int | float | str | UnsetType = UNSET
    range: RangeForm | UnsetType = UNSET
    levels: Literal["all"] | UnsetType = UNSET


class BlockForm(_Form, frozen=True):
    """One design over some factors.

    Attributes:
        design: How levels become configs.
        samples: Size of a sampled design: configs (random, lhs, sobol), points (saltelli) or trajectories (morris).
        design_seed: Seed of a sampled design; left out, it follows from the root.
        second_order: Whether a saltelli design draws what second-order indices need; left out, it does.
        num_levels: Levels of the grid of a morris design, even; left out, 4.
        where: Which configs are kept, such as "rate < 0.5 and (size >= 8 or mode == 'fast')".
        file: Path of the CSV of a table design, beside the spec.
        table_text: The CSV itself.
        factors: What varies, in order.
    """

    design: DesignKind = DesignKind.FACTORIAL
    samples: Count | UnsetType = UNSET
    design_seed: Seed | UnsetType = UNSET
    second_order: bool | UnsetType = UNSET
    num_levels: Annotated[int, Meta(ge=2, le=MOST_NUM_LEVELS, multiple_of=2)] | UnsetType = UNSET
    where: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    table_text: str | UnsetType = UNSET
    factors: list[FactorForm] = []


class ExecutionForm(_Form, frozen=True):
    """Speed only: enters no hash and no result.

    Attributes:
        concurrent: Runs at once.
        memory: Bytes for all live runs together.
        gpu_memory: The same on a device.
    """

    concurrent: Literal["auto"] | Count = "auto"
    memory: Whole | UnsetType = UNSET
    gpu_memory: Whole | UnsetType = UNSET


class SpecForm(_Form, frozen=True):
    """A parameter study: what is fixed, what varies, how long, how measured, with which seeds.

    Attributes:
        model: Id of the model.
        set: Parameter values that every config shares, by id; a whole number beyond 2^53 may be a text of digits.
        run: Length, replicates, stop, timeout.
        measure: When a run is sampled and what is kept.
        seeds: Where the seeds of runs come from.
        action: Scheduled interventions.
        block: What varies; without a block there is a single config.
        execution: Settings of speed.
    """

    model: str
    set: dict[str, Value] = {}
    run: RunForm = RunForm()
    measure: MeasureForm = MeasureForm()
    seeds: SeedsForm = SeedsForm()
    action: list[ActionForm] = []
    block: list[BlockForm] = []
    execution: ExecutionForm = ExecutionForm()


def keys_of(form: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the keys of the table that `form` describes, in order."""
    return form.__struct_encode_fields__


Schema: TypeAlias = dict[str, Any]

_DIALECT = "http://json-schema.org/draft-07/schema#"
"""The newest dialect that editors of TOML and of JSON both know in full."""
_TITLE = "henad-web spec"
_SUFFIX = "Form"
_UNSAMPLED = (DesignKind.FACTORIAL, DesignKind.ZIP, DesignKind.TABLE)
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


def spec_schema() -> Schema:
    """Return the schema, in JSON builtins."""
    _, components = msgspec.json.schema_components([SpecForm], ref_template="#/definitions/{name}")
    definitions = {_name(name): _definition(name, schema) for name, schema in components.items()}
    _add_rules(definitions)
    root = definitions.pop(_name(SpecForm.__name__))
    root["properties"] = {SCHEMA_KEY: {"type": "string", "description": "Where this schema is."}, **root["properties"]}
    return {SCHEMA_KEY: _DIALECT, **root, "title": _TITLE, "definitions": dict(sorted(definitions.items()))}


def spec_schema_text() -> str:
    """Return the schema as the text of its published file."""
    return json.dumps(spec_schema(), indent=2) + "\n"


def _name(name: str) -> str:
    return name.removesuffix(_SUFFIX)


def _definition(name: str, schema: Schema) -> Schema:
    summary, attributes = _documentation(schema)
    found = cast(Schema, _simplified(schema))
    found["title"], found["description"] = _name(name), summary
    if not found.get("required", True):
        del found["required"]
    for key, described in found.get("properties", {}).items():
        if "$ref" in described:
            # What stands beside a reference does not count in this dialect.
            reference = {"$ref": described.pop("$ref")}
            found["properties"][key] = described = {"allOf": [reference], **described}
        described["description"] = attributes[key]
    return found


def _documentation(schema: Schema) -> tuple[str, dict[str, str]]:
    text, _, listed = str(schema.get("description", "")).partition("\n\n")
    _, _, listed = f"\n{listed}".partition("\nAttributes:\n")
    attributes = {match[1]: " ".join(match[2].split()) for match in _ATTRIBUTE.finditer(listed)}
    return " ".join(text.split()), attributes


def _simplified(value: object) -> object:
    if isinstance(value, list):
        return [_simplified(entry) for entry in value]
    if not isinstance(value, Mapping):
        return value.replace(f"{_SUFFIX}", "") if isinstance(value, str) and value.startswith("#/") else value
    found: Schema = {key: _simplified(entry) for key, entry in value.items()}
    choices = found.get("anyOf", [])
    if choices and all(set(choice) == {"type"} for choice in choices):
        kinds = [choice["type"] for choice in choices]
        found["type"] = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
        del found["anyOf"]
    return found


def _add_rules(definitions: dict[str, Schema]) -> None:
    definitions["Seeds"]["not"] = {"required": ["scheme", "list"]}
    definitions["Measure"]["dependencies"] = {"tables_every": ["tables"]}
    definitions["Factor"]["allOf"] = [_exactly_one("param", "action"), _exactly_one("values", "range", "levels")]
    sampled = [kind.value for kind in DesignKind if kind not in _UNSAMPLED]
    definitions["Block"]["allOf"] = [
        {
            "if": _design_in(sampled),
            "then": {"required": ["samples", "factors"], "properties": {"factors": {"minItems": 1}}},
            "else": {"allOf": [_without("samples"), _without("design_seed")]},
        },
        {"if": _design_in([DesignKind.SALTELLI.value]), "else": _without("second_order")},
        {"if": _design_in([DesignKind.MORRIS.value]), "else": _without("num_levels")},
        {"if": _design_in([DesignKind.SALTELLI.value, DesignKind.MORRIS.value]), "then": _without("where")},
        {
            "if": _design_in([DesignKind.TABLE.value]),
            "then": {"allOf": [_exactly_one("file", "table_text"), {"properties": {"factors": {"maxItems": 0}}}]},
            "else": {"allOf": [_without("file"), _without("table_text")]},
        },
    ]


def _exactly_one(*keys: str) -> Schema:
    return {"oneOf": [{"required": [key]} for key in keys]}


def _design_in(words: list[str]) -> Schema:
    # A key that is left out satisfies `properties`, and the design left out is none of these.
    return {"required": ["design"], "properties": {"design": {"enum": words}}}


def _without(key: str) -> Schema:
    return {"not": {"required": [key]}}
