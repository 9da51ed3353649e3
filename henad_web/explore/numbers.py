"""Numbers as a spec may give them, and as messages and tables show them.

A single-precision number is shown as the double of its shortest text: 0.3 is 0.3, not 0.30000001192092896.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from henad_web.model.decimals import LARGEST_DOUBLE, f32_text, whole_text

__all__ = [
    "EXACT_LIMIT",
    "LARGEST_DOUBLE",
    "LARGEST_TOML_INTEGER",
    "MAX_U64",
    "grouped",
    "parse_long_number",
    "parse_whole",
    "shown_number",
    "shown_numbers",
    "whole_text",
]

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
