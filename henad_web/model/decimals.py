"""Numbers of single and double precision as decimal text and back, each rounded exactly once; whole numbers from text.

Owns the conversions that every f32 and f64 parameter goes through, and numbers as messages and tables show them: a
single-precision number is shown as the double of its shortest text, 0.3 and not 0.30000001192092896. Owns the limits of
whole numbers in texts and doubles. Knows nothing of parameters and their bounds.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EXACT_LIMIT",
    "LARGEST_DOUBLE",
    "LARGEST_TOML_INTEGER",
    "MAX_U64",
    "WHOLE_LIMIT",
    "f32_bits",
    "f32_from_text",
    "f32_text",
    "f64_bits",
    "f64_from_text",
    "f64_text",
    "grouped",
    "parse_long_number",
    "parse_whole",
    "shown_number",
    "shown_numbers",
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


_SMALLEST, _LARGEST = 1e-11, 1e15
"""Between these, the powers of ten that take part are exact."""

_MOST_DIGITS = 9
"""Digits that tell any two single-precision numbers apart."""


_POWERS = np.array([float(f"1e{exponent}") for exponent in range(23)])
"""Powers of ten that a double holds exactly; a library's `pow` need not give them."""


def shown_number(value: float) -> float:
    """Return the double that the shortest text of the single-precision `value` shows."""
    return float(f32_text(value))


def shown_numbers(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return `shown_number` of each of `values`, finite, float64 ``(n,)``."""
    shown = values.astype(np.float64)
    sizes = np.abs(shown)
    by_digits = (sizes > _SMALLEST) & (sizes < _LARGEST)
    for position in np.flatnonzero(~by_digits & (sizes > 0)).tolist():
        shown[position] = shown_number(float(values[position]))
    left = np.flatnonzero(by_digits)
    exponents = np.floor(np.log10(sizes[left])).astype(np.int64)
    # One digit more than enough: a logarithm next to a power of ten may be taken for its neighbour.
    for digits in range(1, _MOST_DIGITS + 2):
        found = _rounded(shown[left], digits - 1 - exponents)
        fits = found.astype(np.float32) == values[left]
        shown[left[fits]] = found[fits]
        left, exponents = left[~fits], exponents[~fits]
        if not left.size:
            break
    return shown


def _rounded(numbers: NDArray[np.float64], decimals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each of `numbers` rounded to its own number of decimals, as reading the digits would give it."""
    up, down = _POWERS[np.maximum(decimals, 0)], _POWERS[np.maximum(-decimals, 0)]
    whole = np.rint(numbers * up / down)
    # A whole number below 2^53 over or times an exact power of ten is rounded once, like a decimal that is read.
    rounded: NDArray[np.float64] = whole / up * down
    return rounded


MAX_U64 = 2**64 - 1
"""Largest tick, seed and count."""

LARGEST_TOML_INTEGER = 2**63 - 1
"""TOML promises 64 bits with a sign, and so do most readers of a manifest."""

EXACT_LIMIT = 2**53
"""A double holds every whole number up to here, and not every one beyond: readers of JSON may round those."""

_SIGNED_DIGITS = re.compile(r"[+-]?[0-9]{1,309}", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)


def grouped(number: int) -> str:
    """Return `number` in groups of three digits: ``16 777 216``."""
    return f"{number:,}".replace(",", " ") if abs(number) <= LARGEST_DOUBLE else whole_text(number)


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
