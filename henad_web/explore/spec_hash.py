"""The hash that names a spec, the same whatever file it came from.

Owns what counts: everything a spec says, speed aside. The hash is FNV-1a with 64 bits over ``henad.spec.1`` and the
canonical text, both with their length before them.
"""

from __future__ import annotations

import json

from msgspec import structs

from henad_web.explore.blocks import DEFAULT_NUM_LEVELS
from henad_web.explore.numbers import EXACT_LIMIT, parse_long_number
from henad_web.explore.spec import BlockSpec, DesignKind, RunSettings, SweepSpec
from henad_web.explore.spec_document import spec_document
from henad_web.explore.spec_text import normalized
from henad_web.model.fnv import Fnv1a64

__all__ = ["canonical_text", "spec_hash"]


_VALUES = "values"


def spec_hash(spec: SweepSpec) -> str:
    """Return the 16 hex digits that name `spec`.

    The form of the file (TOML or JSON), the order of keys, comments, a byte-order mark, the kind of line end, a
    default that is written out and settings of speed do not count. Replicates and timeout do: this names the study as
    asked for, a plan's hash names what it computes.
    """
    return Fnv1a64().text("henad.spec.1").text(canonical_text(spec)).hex()


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
