"""The CSV text of a table design: split into fields, then into configs; and records written as such text.

Owns the reading of that text (RFC 4180, fields trimmed, blank lines ignored) and its errors, each with its
row. Rows are counted from 1 and include the header and blank lines, as a text editor counts lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from henad_web.errors import ParamError, ProblemList, near_miss
from henad_web.explore.designs import Row, TableDesign
from henad_web.explore.factors import TablePath, Target, Targets
from henad_web.explore.numbers import grouped
from henad_web.explore.roundings import rounded_among
from henad_web.explore.warnings import RoundedValue

__all__ = ["CsvTextError", "csv_record", "parse_csv", "parse_design_table"]

_QUOTED = re.compile(r'[,"\r\n]')
_MOST_ROWS_TOLD = 20
"""Wrong rows that are told one by one: a column of another kind is wrong in each of a hundred thousand."""


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


def parse_csv(text: str) -> list[tuple[int, list[str]]]:
    """Return the records of `text` that are not blank, each with the line it starts in, fields trimmed.

    A leading byte-order mark and the kind of line end do not count.

    Raises:
        CsvTextError: A quote is not closed, or stands inside or after a field.
    """
    cursor = _Cursor(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    records: list[tuple[int, list[str]]] = []
    while not cursor.at_end():
        line = cursor.line
        fields, is_blank = _record(cursor)
        if not is_blank:
            records.append((line, fields))
    return records


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
    start = cursor.position
    end = start
    while end < len(cursor.text) and cursor.text[end] not in ',\n"':
        end += 1
    plain = cursor.text[start:end]
    cursor.position = end
    if end == len(cursor.text) or cursor.text[end] != '"':
        return plain.strip()
    if plain.strip():
        raise CsvTextError("a quote inside a field that does not start with one", cursor.line)
    quoted = _quoted(cursor)
    end = cursor.position
    while end < len(cursor.text) and cursor.text[end] not in ",\n":
        if not cursor.text[end].isspace():
            raise CsvTextError("text after a closing quote", cursor.line)
        end += 1
    cursor.position = end
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
) -> tuple[tuple[Target, ...], TableDesign, tuple[RoundedValue, ...]] | None:
    """Return what the columns of `text` vary, its rows as a design, and what of them is rounded.

    None with the problems recorded.

    Args:
        text: The CSV text; its header names parameter ids and ``action.NAME``.
        targets: Everything a column may name.
        table: Place of the block.
        key: Key of the block that gave the text.
        problems: Where problems go.
    """
    try:
        records = parse_csv(text)
    except CsvTextError as error:
        problems.add(table, key, f"table line {error.line}: {error.wrong}")
        return None
    if not records:
        problems.add(table, key, "the table has no header", allowed="a line of parameter ids and action.NAME columns")
        return None
    (_, header), *body = records
    before = len(problems.problems)
    columns = _columns(header, targets, table, key, problems)
    if not body:
        problems.add(table, key, "the table has 0 rows", allowed="one row a config below the header")
    if len(problems.problems) > before:
        return None
    rows, wrong_rows = [], 0
    for line, fields in body:
        found = ProblemList()
        rows.append(_row(line, fields, columns, table, key, found))
        wrong_rows += bool(found.problems)
        if wrong_rows <= _MOST_ROWS_TOLD:
            problems.problems += found.problems
    if wrong_rows > _MOST_ROWS_TOLD:
        problems.add(table, key, f"table: {grouped(wrong_rows - _MOST_ROWS_TOLD)} more rows are wrong")
    if wrong_rows:
        return None
    rounded = (
        rounded_among(target.param, (fields[place] for _, fields in body))
        for place, target in enumerate(columns)
        if target.param is not None and target.is_real
    )
    return tuple(columns), TableDesign(rows), tuple(each for each in rounded if each is not None)


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


def _row(
    line: int,
    fields: Sequence[str],
    columns: Sequence[Target],
    table: TablePath,
    key: str,
    problems: ProblemList,
) -> Row:
    if len(fields) != len(columns):
        came = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}"
        problems.add(table, key, f"table row {line}: wrong width", came=came, allowed=f"{len(columns)}")
        return ()
    values = []
    for field, target in zip(fields, columns, strict=True):
        try:
            values.append(target.coerce(field))
        except ParamError as error:
            wrong = f"table row {line}, column '{target.column}': {error.wrong}"
            problems.add(table, key, wrong, came=error.came, allowed=error.allowed, hint=error.hint)
    return tuple(values)
