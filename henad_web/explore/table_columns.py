"""The columns of a design table, read in bulk into arrays.

Owns which fields may be read together and which one by one: whatever is not plainly a number of the column's kind and
range goes through the parameter itself, which owns the rule. How a table is split into fields is `design_table`'s
business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ParamError
from henad_web.explore.designs import TableLevels
from henad_web.explore.factors import Target
from henad_web.explore.numbers import shown_numbers
from henad_web.explore.warnings import EXACT_DIGITS, RoundedValue, rounded_among
from henad_web.model.params import ParamValue

__all__ = ["ColumnReader"]

_REALS, _WHOLES = b"0123456789.+-eE", b"0123456789-"
"""All that plain numbers are written with; what Python reads of these letters alone is what a parameter reads."""

_Wrong = list[tuple[int, ParamError]]


class ColumnReader:
    """Reads one column, some fields at a time.

    Attributes:
        target: What the column varies.
    """

    def __init__(self, target: Target) -> None:
        """Start a column of `target`."""
        self.target = target
        self._parts: list[NDArray[np.generic]] = []
        self._codes: dict[str, int] = {}
        self._values: dict[ParamValue, int] = {}
        self._type = _type_of(target)
        self._first_rounded: list[str] = []
        self._rounded: list[NDArray[np.float64]] = []
        self._doubted: dict[str, None] = {}

    def read(self, fields: Sequence[str]) -> _Wrong:
        """Read `fields` as the next rows, and return the positions of those that are wrong, each with its error."""
        if not self.target.is_number:
            return self._read_words(fields)
        written = _doubles_of(fields) if self.target.is_real else _integers_of(fields)
        if written is None:
            entries, doubtful = np.zeros(len(fields), self._type), np.arange(len(fields))
        else:
            entries, doubtful = _plain_entries(written, self.target, self._type)
        self._parts.append(entries)
        wrong: _Wrong = []
        for position in doubtful.tolist():
            try:
                entries[position] = self.target.coerce(fields[position])
            except ParamError as error:
                wrong.append((position, error))
        if self.target.is_real and written is not None and not wrong:
            self._note_rounded(fields, written.astype(np.float64), entries)
        return wrong

    def _note_rounded(self, fields: Sequence[str], written: NDArray[np.float64], entries: NDArray[np.generic]) -> None:
        """Note which of `fields` are not held: those shown as another double, and maybe some of very many digits."""
        shown = entries if self.target.is_double else shown_numbers(entries.astype(np.float32))
        differs = shown != written
        if differs.any():
            self._first_rounded = self._first_rounded or [fields[int(np.argmax(differs))]]
            self._rounded.append(np.unique(written[differs]))
        long = enumerate(fields) if max(map(len, fields), default=0) > EXACT_DIGITS else ()
        for position, field in long:
            if len(field) > EXACT_DIGITS and not differs[position] and field != repr(float(written[position])):
                self._doubted[field] = None

    def rounded(self) -> RoundedValue | None:
        """Return what of the rows read so far the parameter's precision does not hold, None without any."""
        param = self.target.param
        if param is None or not self.target.is_real:
            return None
        told = [rounded_among(param, self._first_rounded), rounded_among(param, self._doubted)]
        found = [warning for warning in told if warning is not None]
        if not found:
            return None
        others = len(np.unique(np.concatenate(self._rounded))) - 1 if self._rounded else 0
        return replace(found[0], more=others + sum(warning.more + 1 for warning in found) - 1)

    def levels(self) -> TableLevels:
        """Return the rows read so far."""
        entries = np.concatenate(self._parts)
        if not self.target.is_number:
            return TableLevels(entries.astype(np.min_scalar_type(len(self._values))), tuple(self._values))
        return TableLevels(entries)

    def _read_words(self, fields: Sequence[str]) -> _Wrong:
        wrong: _Wrong = []
        entries = np.zeros(len(fields), self._type)
        for position, field in enumerate(fields):
            code = self._codes.get(field)
            if code is None:
                try:
                    value = self.target.coerce(field)
                except ParamError as error:
                    wrong.append((position, error))
                    continue
                code = self._codes[field] = self._values.setdefault(value, len(self._values))
            entries[position] = code
        self._parts.append(entries)
        return wrong


def _type_of(target: Target) -> np.dtype[np.generic]:
    if target.is_real:
        return np.dtype(np.float64 if target.is_double else np.float32)
    if target.is_whole:
        return np.dtype(np.uint64 if target.param is None else np.int64)
    return np.dtype(np.uint32)


def _doubles_of(fields: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the doubles that `fields` write, ``(n,)``; None when one of them is not plainly a decimal number."""
    try:
        return np.array(list(map(float, fields)), np.float64) if _consist_of(_REALS, fields) else None
    except ValueError:
        return None


def _consist_of(letters: bytes, fields: Sequence[str]) -> bool:
    return not "".join(fields).encode(errors="replace").translate(None, letters)


def _integers_of(fields: Sequence[str]) -> NDArray[np.int64] | None:
    """Return the integers that `fields` write, as `_doubles_of` does; None also when one has more than 64 bits."""
    try:
        return np.array(list(map(int, fields)), np.int64) if _consist_of(_WHOLES, fields) else None
    except (ValueError, OverflowError):
        return None


def _plain_entries(
    written: NDArray[np.float64] | NDArray[np.int64], target: Target, kind: np.dtype[np.generic]
) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return `written` as entries of `target`, and the positions of those that have to be read one by one."""
    if not target.is_real:
        return written.astype(kind), np.flatnonzero(~_is_in_range(written, target))
    with np.errstate(over="ignore", under="ignore"):
        entries = written.astype(kind)
        nearest = entries.astype(np.float64)
        others = np.nextafter(entries, np.where(written > nearest, np.inf, -np.inf).astype(kind)).astype(np.float64)
        # Between two numbers of single precision the decimal decides, which a double may have rounded.
        in_the_middle = (nearest != written) & (nearest + others == 2 * written)
    return entries + kind.type(0), np.flatnonzero(in_the_middle | ~_is_in_range(nearest, target))


def _is_in_range(numbers: NDArray[np.float64] | NDArray[np.int64], target: Target) -> NDArray[np.bool_]:
    low, high = (0, None) if target.param is None else (target.param.min, target.param.max)
    fits = np.ones(len(numbers), np.bool_)
    if low is not None:
        fits &= numbers >= low
    if high is not None:
        fits &= numbers <= high
    return fits
