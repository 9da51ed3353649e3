"""Of which kind each value of a spec is, and the words for one of another kind.

Owns the sentences that files and specs made in Python share. Which numbers and words are allowed is not its business.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import structs

from henad_web.errors import Place, Problem
from henad_web.explore.spelling import number_hint, whole_hint
from henad_web.model.decimals import LARGEST_DOUBLE, MAX_U64, whole_text

__all__ = ["FLAG", "NUMBER", "TEXT", "TOO_LARGE", "VALUE", "WHOLE", "fractional_fields", "kind_of", "wrong_kinds"]

WHOLE = ("not a whole number", "a whole number, 0 to 2^64 - 1")
NUMBER = ("not a number", "a number")
TOO_LARGE = ("a number too large", "at most 2^64 - 1")
FLAG = ("neither true nor false", "true or false, without quotes")
TEXT = ("not a text", "a text in quotes")
VALUE = ("not a value", "a number, true or false, or a text")
"""What is wrong with another kind of value, and what is allowed."""

_WORDS = {
    frozenset({int}): WHOLE,
    frozenset({float}): NUMBER,
    frozenset({int, float}): NUMBER,
    frozenset({bool}): FLAG,
    frozenset({str}): TEXT,
    frozenset({int, str}): ("neither a whole number nor a text", "a whole number or a text"),
    frozenset({int, float, bool, str}): VALUE,
}


def kind_of(value: object) -> str:
    """Return `value` with its kind in words, as a message shows it: ``the text '12'``, ``the number 1.5``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else f"{value[:40]}..."
        return f"the text {shown!r}"
    if isinstance(value, int | float):
        return f"the number {whole_text(value)}"
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "a table"
    return "a list" if isinstance(value, list | tuple) else f"a value of kind {type(value).__name__}"


def wrong_kinds(table: msgspec.Struct, path: tuple[str | int, ...]) -> list[Problem]:
    """Return a problem for each value of `table`, the table at `path`, that is not of the type its field declares."""
    return [
        Problem(place=Place(table=path, key=name), wrong=wrong, came=came, allowed=allowed, hint=hint)
        for name, declared in _declared(type(table)).items()
        for wrong, came, allowed, hint in _problems(name, getattr(table, name), declared)
    ]


@functools.cache
def fractional_fields(table: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of `table` that hold a float, also where a whole number was given: text forms have one form."""
    kinds = {name: _kinds(declared) for name, declared in _declared(table).items()}
    return tuple(name for name, allowed in kinds.items() if float in allowed and int not in allowed)


@functools.cache
def _declared(table: type[msgspec.Struct]) -> dict[str, object]:
    return {field.name: field.type for field in structs.fields(table)}


_Words = tuple[str, str, str, str | None]


def _kinds(declared: object) -> tuple[Any, ...]:
    return get_args(declared) if get_origin(declared) in (Union, types.UnionType) else (declared,)


def _problems(name: str, value: object, declared: object) -> Iterator[_Words]:
    kinds = _kinds(declared)
    if value is None and types.NoneType in kinds:
        return
    kinds = tuple(kind for kind in kinds if kind is not types.NoneType)
    tables = tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct))
    if tables and len(tables) < len(kinds):  # a plain value or a table
        if isinstance(value, tables):
            return
        kinds = tuple(kind for kind in kinds if kind not in tables)
    lists = [kind for kind in kinds if get_origin(kind) is tuple]
    if lists:
        yield from _list_problems(name, value, get_args(lists[0]))
    elif issubclass(kinds[0], msgspec.Struct):
        if not isinstance(value, kinds):
            allowed = ", ".join(f"hw.{kind.__name__}(…)" for kind in kinds)
            yield "another type", _shown(value), allowed, "parse_spec takes the whole spec as a mapping"
    elif not issubclass(kinds[0], Enum):  # a word is looked at where it is made one
        yield from _plain_problems(name, value, frozenset(kinds))


def _list_problems(name: str, value: object, kinds: tuple[object, ...]) -> Iterator[_Words]:
    each = kinds[0]
    if kinds[-1] is not ...:
        if not isinstance(value, tuple) or len(value) != len(kinds):
            yield "not a pair", kind_of(value), "a parameter id and a value", None
        else:
            for entry, kind in zip(value, kinds, strict=True):
                yield from _problems(name, entry, kind)
        return
    is_table = isinstance(each, type) and issubclass(each, msgspec.Struct)
    if not isinstance(value, tuple) and not is_table:
        yield "not a list", kind_of(value), "a list", None
        return
    for entry in value if isinstance(value, tuple) else [value]:
        yield from _problems(name, entry, each)


def _plain_problems(name: str, value: object, kinds: frozenset[type]) -> Iterator[_Words]:
    allowed = tuple(kinds | {int} if float in kinds else kinds)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in kinds):
        wrong, words = _WORDS[kinds]
        hint = whole_hint if words == WHOLE[1] else number_hint
        yield wrong, kind_of(value), words, hint(name, value) if words in (WHOLE[1], NUMBER[1]) else None
    elif float in kinds and isinstance(value, int) and abs(value) > (LARGEST_DOUBLE if int in kinds else MAX_U64):
        yield TOO_LARGE[0], kind_of(value), TOO_LARGE[1], None


def _shown(value: object) -> str:
    shown = whole_text(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
