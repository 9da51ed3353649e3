"""Values in NetLogo's notation.

Owns the notation of numbers, booleans, strings and stepped values. Evaluates nothing.
"""

from __future__ import annotations

import re
from decimal import Decimal

from henad_web.importers.levels import WHOLE_LIMIT

__all__ = ["parse_literal", "parse_number", "stepped_values"]

_NUMBER = re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_MAX_VALUES = 2**16


def parse_number(text: str) -> int | float:
    """Return the number that `text` writes; a whole one as an integer, since NetLogo knows only one kind.

    Raises:
        ValueError: It is no finite number.
    """
    trimmed = text.strip()
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError(f"'{trimmed}' is not a number")
    number = float(trimmed)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"'{trimmed}' is not a finite number")
    # A decimal, since a whole number past 2^53 has digits that the double need not have.
    return int(Decimal(trimmed)) if number.is_integer() and abs(number) < WHOLE_LIMIT else number


def parse_literal(text: str) -> int | float | bool | str:
    """Return the value that `text` writes.

    Raises:
        ValueError: It is no number, boolean or string, such as a list or a piece of code.
    """
    trimmed = text.strip()
    if trimmed.lower() in ("true", "false"):
        return trimmed.lower() == "true"
    string = _STRING.fullmatch(trimmed)
    if string is not None:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), string[1], flags=re.DOTALL)
    if trimmed.startswith("["):
        raise ValueError("a list is not a value of a parameter")
    return parse_number(trimmed)


def stepped_values(first: str, step: str, last: str) -> list[int | float]:
    """Return the numbers from `first` by `step` up to, or down to, `last`; counted in decimals, so that none is lost.

    Raises:
        ValueError: A text is no number, the step is 0 or leads away from `last`, or there are too many values.
    """
    begin, by, end = (Decimal(repr(parse_number(text))) for text in (first, step, last))
    if by == 0 or (end - begin) * by < 0:
        raise ValueError(f"a step of {step.strip()} never comes from {first.strip()} to {last.strip()}")
    count = int((end - begin) / by) + 1
    if count > _MAX_VALUES:
        raise ValueError(f"{count} values, at most {_MAX_VALUES} are taken one by one")
    return [parse_number(str(begin + by * place)) for place in range(count)]
