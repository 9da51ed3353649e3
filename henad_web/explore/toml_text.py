"""Writing a document as TOML: one section a table, one double-bracketed section an entry, the rest inline.

Owns quoting and number text. Python's standard library reads TOML and does not write it. Knows no key of a spec.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

__all__ = ["toml_text"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def toml_text(document: Mapping[str, object]) -> str:
    """Return `document` as TOML text with a final newline.

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
