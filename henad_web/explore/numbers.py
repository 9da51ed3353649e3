"""Whole numbers as a spec may give them, and as messages show them."""

from __future__ import annotations

import re

__all__ = ["EXACT_LIMIT", "LARGEST_DOUBLE", "MAX_U64", "grouped", "parse_long_number", "parse_whole", "whole_text"]

MAX_U64 = 2**64 - 1
"""Largest tick, seed and count."""

LARGEST_DOUBLE = 2**1024 - 1
"""Whole numbers beyond are infinite as doubles, and files hold none; steps of ranges may be past 64 bits."""

EXACT_LIMIT = 2**53
"""A double holds every whole number up to here, and not every one beyond: readers of JSON may round those."""

_SIGNED_DIGITS = re.compile(r"[+-]?[0-9]{1,309}", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)


def grouped(number: int) -> str:
    """Return `number` in groups of three digits: ``16 777 216``."""
    return f"{number:,}".replace(",", " ") if abs(number) <= LARGEST_DOUBLE else whole_text(number)


def whole_text(number: object) -> str:
    """Return `number` as messages show it; one of very many digits, which Python does not write, as ``about 2^N``."""
    if isinstance(number, int) and abs(number) > LARGEST_DOUBLE:
        return f"about {'-' if number < 0 else ''}2^{number.bit_length() - 1}"
    return repr(number)


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


def parse_long_number(value: object) -> int | None:
    """Return the whole number beyond `EXACT_LIMIT` that the text `value` writes, None when it is no such text."""
    if isinstance(value, str) and _SIGNED_DIGITS.fullmatch(value.strip()) and abs(int(value)) > EXACT_LIMIT:
        return int(value)
    return None
