"""Numbers of single and double precision as decimal text and back, each rounded exactly once.

Owns the conversions that every f32 and f64 parameter goes through. Knows nothing of parameters, bounds or files.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal

import numpy as np

__all__ = [
    "LARGEST_DOUBLE",
    "WHOLE_LIMIT",
    "f32_bits",
    "f32_from_text",
    "f32_text",
    "f64_bits",
    "f64_from_text",
    "f64_text",
    "whole_text",
]

WHOLE_LIMIT = 1e15
"""Whole numbers below this magnitude are written as integers; every one of them is exact in a double."""

LARGEST_DOUBLE = 2**1024 - 1
"""Whole numbers beyond are infinite as doubles, and files hold none; steps of ranges may be past 64 bits."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)


def f32_from_text(text: str) -> float | None:
    """Return the single-precision number nearest to the decimal `text`, as a Python float; None when it is no number.

    The decimal is rounded once: ``1.0000000596046448`` lies above the middle of 1 and its successor and becomes
    ``1.0000001``, where a detour over a double would give 1. A number too large becomes infinite; a negative zero
    becomes zero, so that equal values have equal bits. ``inf`` and ``nan`` are numbers here, bounds refuse them.
    """
    if _NOT_FINITE.fullmatch(text):
        return float(text)
    if not _NUMBER.fullmatch(text):
        return None
    wide = float(text)
    with np.errstate(over="ignore", under="ignore"):
        single = np.float32(wide)
        nearest = float(single)
        if nearest == wide or not np.isfinite(single):
            return nearest + 0.0
        other = float(np.nextafter(single, np.float32(np.inf if wide > nearest else -np.inf)))
    if nearest + other != 2 * wide:
        return nearest + 0.0
    exact, middle = Decimal(text), Decimal(wide)
    if exact == middle:
        return nearest + 0.0
    return (max(nearest, other) if exact > middle else min(nearest, other)) + 0.0


def f32_text(value: float) -> str:
    """Return the shortest decimal that reads back as the single-precision `value`: positional, no trailing point."""
    return np.format_float_positional(np.float32(value), unique=True, trim="-")


def f32_bits(value: float) -> int:
    """Return the 32 bits of the single-precision `value` as an unsigned integer."""
    return int.from_bytes(struct.pack("<f", value), "little")


def f64_from_text(text: str) -> float | None:
    """Return the double nearest to the decimal `text`; None when it is no number.

    What holds of zeros, numbers too large, ``inf`` and ``nan`` is as in `f32_from_text`.
    """
    if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return float(text) + 0.0
    return None


def f64_text(value: float) -> str:
    """Return the shortest decimal that reads back as the finite double `value`: positional, ``0`` for -0."""
    if value.is_integer() and -WHOLE_LIMIT < value < WHOLE_LIMIT:
        return str(int(value))
    # repr has the same digits as format_float_positional and is five times faster; only its exponents differ.
    text = repr(value)
    if "e" not in text and not text.endswith(".0"):
        return text
    return np.format_float_positional(value, unique=True, trim="-")


def f64_bits(value: float) -> int:
    """Return the 64 bits of the double `value` as an unsigned integer."""
    return int.from_bytes(struct.pack("<d", value), "little")


def whole_text(value: object) -> str:
    """Return `value` as messages show it: a number of very many digits, which Python does not write, as ``about 2^N``.

    What holds such a number is shown by its kind.
    """
    if isinstance(value, int) and abs(value) > LARGEST_DOUBLE:
        return f"about {'-' if value < 0 else ''}2^{value.bit_length() - 1}"
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} with a number of very many digits"
