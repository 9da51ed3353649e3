"""The JSON Schema with which editors complete and check a spec file, in TOML and in JSON.

Owns how the tables of `spec_form` become a schema, and the rules in it that no type says: which keys exclude or need
each other. What depends on a model is not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import msgspec

from henad_web.explore.search_spec import SETTINGS, SearchAlgorithm
from henad_web.explore.spec import DesignKind
from henad_web.explore.spec_form import SCHEMA_KEY, SpecForm

__all__ = ["spec_schema", "spec_schema_text"]

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
    root = definitions.pop(_name(SpecForm.__name__))
    _add_rules(definitions, root)
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


def _add_rules(definitions: dict[str, Schema], top: Schema) -> None:
    top["not"] = {"required": ["search", "block"], "properties": {"block": {"minItems": 1}}}
    definitions["Seeds"]["not"] = {"required": ["scheme", "list"]}
    definitions["Measure"]["dependencies"] = {"tables_every": ["tables"]}
    definitions["Factor"]["allOf"] = [_exactly_one("param", "action"), _exactly_one("values", "range", "levels")]
    sampled = [kind.value for kind in DesignKind if kind not in _UNSAMPLED]
    definitions["Block"]["allOf"] = [
        {
            "if": _is("design", sampled),
            "then": {"required": ["samples", "factors"], "properties": {"factors": {"minItems": 1}}},
            "else": {"allOf": [_without("samples"), _without("design_seed")]},
        },
        {"if": _is("design", [DesignKind.SALTELLI.value]), "else": _without("second_order")},
        {"if": _is("design", [DesignKind.MORRIS.value]), "else": _without("num_levels")},
        {"if": _is("design", [DesignKind.SALTELLI.value, DesignKind.MORRIS.value]), "then": _without("where")},
        {
            "if": _is("design", [DesignKind.TABLE.value]),
            "then": {"allOf": [_exactly_one("file", "table_text"), {"properties": {"factors": {"maxItems": 0}}}]},
            "else": {"allOf": [_without("file"), _without("table_text")]},
        },
    ]
    definitions["Axis"]["dependencies"] = {"min": ["max"], "max": ["min"]}
    needed = {kind: ["objective"] for kind in SearchAlgorithm}
    needed |= {SearchAlgorithm.PSE: ["pse"], SearchAlgorithm.NSGA2: ["objectives"]}
    needed[SearchAlgorithm.CUSTOM] = ["objective", "name"]
    definitions["Search"]["allOf"] = [
        *({"if": _is("algorithm", [kind.value]), "then": {"required": keys}} for kind, keys in needed.items()),
        *(
            {
                "if": _is("algorithm", [kind.value for kind, keys in needed.items() if key not in keys]),
                "then": _without(key),
            }
            for key in ("objective", "objectives", "name")
        ),
        *({"if": _is("algorithm", [kind.value]), "else": _without(kind.value)} for kind in SETTINGS),
    ]


def _exactly_one(*keys: str) -> Schema:
    return {"oneOf": [{"required": [key]} for key in keys]}


def _is(key: str, words: list[str]) -> Schema:
    # A key that is left out satisfies `properties`, and what is left out is none of these.
    return {"required": [key], "properties": {key: {"enum": words}}}


def _without(key: str) -> Schema:
    return {"not": {"required": [key]}}
