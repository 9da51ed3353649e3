"""Whole numbers as a spec may give them, and as messages show them."""

from __future__ import annotations

import re

__all__ = ["MAX_U64", "grouped", "parse_whole"]

MAX_U64 = 2**64 - 1
"""Largest tick, seed and count."""

_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)


def grouped(number: int) -> str:
    """Return `number` in groups of three digits: ``16 777 216``."""
    return f"{number:,}".replace(",", " ")


def parse_whole(value: object) -> int | None:
    """Return `value` as a whole number, None when it is none.

    A whole number counts, also as a float (``8.0``) or as a text of digits, which is how a file carries
    numbers above 2^63 - 1. A bool does not.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    return None
