"""Cells of the tables read back: a column's texts turned into an array of its type.

Owns the types and what a cell may hold. A number is the decimal that stands in the table: the text of a
single-precision value, such as 0.4, gives the double 0.4, so that filters, merges and axes work. Knows nothing of where
a column stands; how cells are written is `explore.cell_texts`' business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.explore.outcomes import RunStatus, StopReason
from henad_web.model.decimals import f64_from_text
from henad_web.search.searcher import Origin

__all__ = [
    "Cells",
    "NUMBER",
    "WHOLE",
    "cells_for",
]

WHOLE = r"(?:0|[1-9][0-9]*+)"
"""A whole number as tables spell it."""

NUMBER = r"(?:[0-9]++|-?[0-9]++\.[0-9]++|-[0-9]++|-?[0-9]++(?:\.[0-9]++)?[eE][-+]?[0-9]++)"
"""A number as tables spell it, and with the exponents of other writers; what is frequent comes first."""

_WHOLE, _NUMBER, _KEY = re.compile(WHOLE), re.compile(NUMBER), re.compile(r"[0-9a-fA-F]{16}")

_BOOLS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Cells:
    """One column's type.

    Attributes:
        column: Name of the column.
        table: Name of its table.
        dtype: Type of its array.
        read: Value of one cell; raises ValueError or KeyError for what is none.
        expected: What a cell holds, in words.
    """

    column: str
    table: str
    dtype: Any
    read: Callable[[str], Any]
    expected: str

    def array(self, texts: Sequence[str], first: int) -> NDArray[Any]:
        """Return the values of `texts`, the first of which stands in the record `first`.

        Raises:
            TableDamagedError: A text is no such value.
        """
        try:
            return np.array(self._values(texts), self.dtype)
        except (ValueError, KeyError, OverflowError):
            for offset, text in enumerate(texts):
                self.value(text, first + offset)
            raise

    def value(self, text: str, record: int) -> Any:  # noqa: ANN401 - of the type that `read` gives
        """Return the value of `text`, which stands in the record `record`.

        Raises:
            TableDamagedError: It is no such value.
        """
        try:
            value = self.read(text)
            if isinstance(value, int):  # what fits into no column is no value
                np.array(value, self.dtype)
        except (ValueError, KeyError, OverflowError) as error:
            raise TableDamagedError(self.table, record, self.column, came=text, expected=self.expected) from error
        return value

    def _values(self, texts: Sequence[str]) -> list[Any]:
        # Levels, statuses and notes repeat: each is read once.
        distinct = set(texts)
        if 2 * len(distinct) > len(texts):
            return list(map(self.read, texts))
        values = {text: self.read(text) for text in distinct}
        return list(map(values.__getitem__, texts))


def cells_for(kind: str, column: str, table: str) -> Cells:
    """Return the type of a `column` of `table`; `kind` is a parameter's, or count, seed, key, number and the like."""
    dtype, read, expected = _KINDS.get(kind, _KINDS["text"])
    return Cells(column, table, dtype, read, expected)


def _whole(text: str) -> int:
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def _whole_or_none(text: str) -> int:
    return _whole(text) if text else -1


def _flag(text: str) -> bool:
    return _BOOLS[text] if text else False


def _number(text: str) -> float:
    if text.isdigit() and text.isascii():  # most are; measured: a third of the time of the pattern
        return float(text)
    if not text:
        return float("nan")
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)


def _signed(text: str) -> int:
    return -_whole(text[1:]) if text.startswith("-") else _whole(text)


def _decimal(text: str) -> float:
    number = f64_from_text(text)
    if number is None:
        raise ValueError(text)
    return number


def _key(text: str) -> str:
    if _KEY.fullmatch(text) is None:
        raise ValueError(text)
    return text


_KINDS: dict[str, tuple[Any, Callable[[str], Any], str]] = {
    "count": (np.int64, _whole, "a whole number from 0 to 2^63 - 1"),
    "seed": (np.uint64, _whole, "a whole number from 0 to 2^64 - 1"),
    "tick": (np.uint64, _whole, "a whole number from 0 to 2^64 - 1"),
    "key": (np.str_, _key, "16 hex digits"),
    "number": (np.float64, _number, "a number or nothing"),
    "count or nothing": (np.int64, _whole_or_none, "a whole number or nothing"),
    "flag": (np.bool_, _flag, "true, false or nothing"),
    "origin": (np.str_, lambda text: Origin(text).value, f"one of {', '.join(Origin)}"),
    "status": (np.str_, lambda text: RunStatus(text).value, f"one of {', '.join(RunStatus)}"),
    "stop_reason": (np.str_, lambda text: StopReason(text).value, f"one of {', '.join(StopReason)}"),
    "text": (np.str_, str, "a text"),
    "f32": (np.float64, _decimal, "a number"),
    "f64": (np.float64, _decimal, "a number"),
    "u32": (np.int64, _whole, "a whole number"),
    "i64": (np.int64, _signed, "a whole number from -2^63 to 2^63 - 1"),
    "bool": (np.bool_, _BOOLS.__getitem__, "true or false"),
    "choice": (np.str_, str, "the name of an option"),
}
