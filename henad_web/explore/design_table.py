"""The CSV text of a table design: split into fields, then into configs; and records written as such text.

Owns the reading of that text (RFC 4180, fields trimmed, blank lines ignored) and its errors, each with its row. Rows
are counted from 1 and include the header and blank lines, as a text editor counts lines. Columns are read in bulk:
whatever is not plainly a number of the column's kind and range goes through the parameter, which owns the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ParamError, ProblemList, counted, near_miss
from henad_web.explore.designs import TableDesign, TableLevels
from henad_web.explore.factors import TablePath, Target, Targets
from henad_web.explore.warnings import EXACT_DIGITS, RoundedValue, rounded_among
from henad_web.model.decimals import grouped, shown_numbers
from henad_web.model.params import ParamValue

__all__ = [
    "ColumnReader",
    "CsvTextError",
    "csv_record",
    "csv_records",
    "parse_csv",
    "parse_design_table",
]

_QUOTED = re.compile(r'[,"\r\n]')
_PLAIN = re.compile(r'[^,\n"]*')
_TO_THE_END = re.compile(r"[^,\n]*")
_BLANK = re.compile(r"[^\S\n]")
_PIECE = 1 << 16
"""Letters split at a time."""
_ROWS = 1 << 14
"""Rows read at a time."""
_MOST_ROWS_TOLD = 20
"""Wrong rows that are told one by one: a column of another kind is wrong in each of a hundred thousand."""


ParsedTable = tuple[tuple[Target, ...], TableDesign, tuple[RoundedValue, ...]]


class CsvTextError(ValueError):
    """A CSV text with a quote where none may stand. `line` counts from 1."""

    def __init__(self, wrong: str, line: int) -> None:
        self.wrong, self.line = wrong, line
        super().__init__(f"{wrong} in line {line}")


@dataclass(slots=True)
class _Cursor:
    text: str
    position: int = 0
    line: int = 1

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def take(self, pattern: re.Pattern[str]) -> str:
        """Move behind what `pattern` matches here, which may be nothing, and return it."""
        match = pattern.match(self.text, self.position)
        found = "" if match is None else match.group()
        self.position += len(found)
        return found


def csv_records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of `text` that are not blank, each with the line it starts in, fields trimmed.

    A leading byte-order mark and the kind of line end do not count.

    Raises:
        CsvTextError: A quote is not closed, or stands inside or after a field.
    """
    cursor = _Cursor(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    while not cursor.at_end():
        quote = cursor.text.find('"', cursor.position)
        end = len(cursor.text) if quote < 0 else cursor.text.rfind("\n", cursor.position, quote) + 1
        yield from _plain_records(cursor, end)
        if not cursor.at_end():
            line = cursor.line
            fields, is_blank = _record(cursor)
            if not is_blank:
                yield line, fields


def parse_csv(text: str) -> list[tuple[int, list[str]]]:
    """Return all records of `text` as `csv_records` yields them; raises as it does."""
    return list(csv_records(text))


def _plain_records(cursor: _Cursor, end: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the records up to the position `end`, a line's start or the text's end; there is no quote in them."""
    while cursor.position < end:
        last = cursor.text.find("\n", cursor.position + _PIECE, end)
        piece = cursor.text[cursor.position : end if last < 0 else last + 1]
        cursor.position += len(piece)
        lines = piece.removesuffix("\n").split("\n")
        fields = [line.split(",") for line in lines]
        numbered = enumerate(fields, cursor.line)
        cursor.line += len(lines)
        if "" not in lines and not _BLANK.search(piece):
            yield from numbered
        else:
            yield from ((line, [field.strip() for field in row]) for line, row in numbered if ",".join(row).strip())


def csv_record(fields: Iterable[str]) -> str:
    """Return `fields` as one record that `parse_csv` reads back, with its line feed."""
    return (
        ",".join(f'"{field.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(field) else field for field in fields)
        + "\n"
    )


def _record(cursor: _Cursor) -> tuple[list[str], bool]:
    start = cursor.position
    fields = [_field(cursor)]
    while not cursor.at_end() and cursor.text[cursor.position] == ",":
        cursor.position += 1
        fields.append(_field(cursor))
    is_blank = not cursor.text[start : cursor.position].strip()
    cursor.position += 1
    cursor.line += 1
    return fields, is_blank


def _field(cursor: _Cursor) -> str:
    plain = cursor.take(_PLAIN)
    if not cursor.text.startswith('"', cursor.position):
        return plain.strip()
    if plain.strip():
        raise CsvTextError("a quote inside a field that does not start with one", cursor.line)
    quoted = _quoted(cursor)
    if cursor.take(_TO_THE_END).strip():
        raise CsvTextError("text after a closing quote", cursor.line)
    return quoted.strip()


def _quoted(cursor: _Cursor) -> str:
    opened, parts = cursor.line, []
    cursor.position += 1
    while True:
        end = cursor.text.find('"', cursor.position)
        if end < 0:
            raise CsvTextError("a quote that is never closed", opened)
        part = cursor.text[cursor.position : end]
        parts.append(part)
        cursor.line += part.count("\n")
        cursor.position = end + 1
        if not cursor.text.startswith('"', cursor.position):
            return '"'.join(parts)
        cursor.position += 1


def parse_design_table(
    text: str, targets: Targets, table: TablePath, key: str, problems: ProblemList
) -> ParsedTable | None:
    """Return what the columns of `text` vary, its rows as a design, and what of them is rounded.

    None with the problems recorded.

    Args:
        text: The CSV text; its header names parameter ids and ``action.NAME``.
        targets: Everything a column may name.
        table: Place of the block.
        key: Key of the block that gave the text.
        problems: Where problems go.
    """
    found = ProblemList()
    try:
        parsed = _parsed(csv_records(text), targets, table, key, found)
    except CsvTextError as error:
        problems.add(table, key, f"table line {error.line}: {error.wrong}")
        return None
    problems.problems += found.problems
    return parsed


def _parsed(
    records: Iterator[tuple[int, list[str]]], targets: Targets, table: TablePath, key: str, problems: ProblemList
) -> ParsedTable | None:
    _, header = next(records, (0, None))
    if header is None:
        problems.add(table, key, "the table has no header", allowed="a line of parameter ids and action.NAME columns")
        return None
    columns = _columns(header, targets, table, key, problems)
    body = _Body([] if problems.problems else columns, table, key, problems)
    # Below a wrong header only a misplaced quote counts, which goes before all else.
    has_rows = sum(1 for _ in records) > 0 if problems.problems else body.read(records)
    if not has_rows:
        problems.add(table, key, "the table has 0 rows", allowed="one row a config below the header")
    if problems.problems:
        return None
    rounded = (reader.rounded() for reader in body.readers)
    design = TableDesign([reader.levels() for reader in body.readers])
    return tuple(columns), design, tuple(each for each in rounded if each is not None)


def _columns(
    header: Sequence[str], targets: Targets, table: TablePath, key: str, problems: ProblemList
) -> list[Target]:
    known = {target.column: target for target in (*targets.params.values(), *targets.actions.values())}
    found: list[Target] = []
    for name in header:
        target = known.get(name)
        if target is None:
            hint = near_miss(name, known)
            wrong = "table header: unknown column"
            problems.add(table, key, wrong, came=f"'{name}'", allowed=", ".join(known), hint=hint)
        elif target in found:
            problems.add(table, key, "table header: column given twice", came=f"'{name}'", hint="remove one of them")
        else:
            found.append(target)
    return found


class _Body:
    """The rows below a header, read column by column, a bounded number of rows at a time."""

    def __init__(self, columns: Sequence[Target], table: TablePath, key: str, problems: ProblemList) -> None:
        self.readers = [ColumnReader(target) for target in columns]
        self._table, self._key, self._problems = table, key, problems
        self._wrong_rows = 0

    def read(self, records: Iterator[tuple[int, list[str]]]) -> bool:
        """Read `records`, record what is wrong with them, and return whether there are any."""
        has_rows = False
        while piece := list(islice(records, _ROWS)):
            has_rows = True
            self._read_piece(piece)
        if self._wrong_rows > _MOST_ROWS_TOLD:
            more = grouped(self._wrong_rows - _MOST_ROWS_TOLD)
            self._problems.add(self._table, self._key, f"table: {more} more rows are wrong")
        return has_rows

    def _read_piece(self, piece: list[tuple[int, list[str]]]) -> None:
        width = len(self.readers)
        whole = [record for record in piece if len(record[1]) == width]
        came = {} if len(whole) == len(piece) else {line: len(row) for line, row in piece if len(row) != width}
        errors: dict[int, list[tuple[Target, ParamError]]] = {line: [] for line in came}
        for reader, *fields in zip(self.readers, *(fields for _, fields in whole), strict=True):
            for position, error in reader.read(fields):
                errors.setdefault(whole[position][0], []).append((reader.target, error))
        for line in sorted(errors):
            self._wrong_rows += 1
            if self._wrong_rows <= _MOST_ROWS_TOLD:
                self._tell(line, came.get(line), errors[line])

    def _tell(self, line: int, came: int | None, errors: Sequence[tuple[Target, ParamError]]) -> None:
        place = self._table, self._key
        if came is not None:
            self._problems.add(
                *place, f"table row {line}: wrong width", came=counted(came, "field"), allowed=f"{len(self.readers)}"
            )
        for target, error in errors:
            wrong = f"table row {line}, column '{target.column}': {error.wrong}"
            self._problems.add(*place, wrong, came=error.came, allowed=error.allowed, hint=error.hint)


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
