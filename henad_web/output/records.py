"""Records of a table: where each stands in its file, and its fields.

Owns the one grammar that every reader of a table goes by: UTF-8, with a byte-order mark or without; records end with LF
or CRLF; a field is plain, or stands in quotes, doubled inside, and may then hold separators and line breaks. What has
no line feed yet is a torn tail, and so are blank lines behind the last record, which editors add. Judges no field,
repairs nothing and opens no file.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from henad_web.errors import TableDamagedError
from henad_web.explore.cell_texts import csv_line

__all__ = ["RecordReader", "TableRecord", "canonical_records"]

_FIELD = re.compile(r'(?:"([^"]*+(?:""[^"]*+)*+)"|([^",\r\n]*+))(,|\Z)')

_TORN = re.compile(r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+),)*+(?:".*+|[^",\r\n]*+\r?)', re.S)
"""The beginning of a record, which is all that a kill leaves of one."""


_BLANK = (b"\n", b"\r\n")


class TableRecord(NamedTuple):
    """One whole record of a table.

    Attributes:
        table: Name of the table.
        number: From 1, which is the header.
        start: Offset of its first byte in the file.
        end: Offset behind its line feed.
        raw: Its bytes, a byte-order mark and the line feed included.
    """

    table: str
    number: int
    start: int
    end: int
    raw: bytes

    @property
    def fields(self) -> list[str]:
        """Its fields, quotes taken off.

        Raises:
            TableDamagedError: Its bytes are not UTF-8, or its quotes or line breaks not those of a record.
        """
        raw = self.raw.removeprefix(codecs.BOM_UTF8) if self.number == 1 else self.raw
        body = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
        try:
            text = body.decode()
        except UnicodeDecodeError as error:
            raise self._damaged(body.decode(errors="replace"), "UTF-8") from error
        if '"' not in text:
            if "\r" in text:
                raise self._damaged(text, "no carriage return but before a line feed")
            return text.split(",")
        return self._quoted_fields(text)

    @property
    def is_canonical(self) -> bool:
        """Whether a sweep would have written these fields in these bytes."""
        if b'"' not in self.raw:
            is_marked = self.number == 1 and self.raw.startswith(codecs.BOM_UTF8)
            return not (is_marked or self.raw.endswith(b"\r\n"))
        return csv_line(self.fields) == self.raw

    def _quoted_fields(self, text: str) -> list[str]:
        fields, position, separator = [], 0, ","
        while separator:
            found = _FIELD.match(text, position)
            if found is None:
                raise self._damaged(text[position:], "a field that is quoted whole, its quotes doubled, or not at all")
            quoted, plain, separator = found.groups()
            fields.append(plain if quoted is None else quoted.replace('""', '"'))
            position = found.end()
        return fields

    def _damaged(self, came: str, expected: str) -> TableDamagedError:
        return TableDamagedError(self.table, self.number, came=came, expected=expected)


class RecordReader:
    """Iterates over the whole records of a table, its header first; a torn tail is left out.

    A record is whole once its line feed is there. A line feed inside quotes does not end one.

    Args:
        stream: The table, or its rest from where a record starts.
        table: Its name.
        start: Offset of the first byte of `stream` in the file.
        number: Number of the first record.
        width: Fields of a record, None to take it from the header.

    Attributes:
        end: Offset behind the last whole record read so far; after the last one, where a torn tail begins.
        number: Number of the record to come.
        torn_bytes: Bytes of the torn tail, known after the last record; 0 for a whole table.
    """

    def __init__(
        self, stream: BinaryIO, table: str, *, start: int = 0, number: int = 1, width: int | None = None
    ) -> None:
        self._stream, self._table, self._width = stream, table, width
        self.end, self.number, self.torn_bytes = start, number, 0

    def __iter__(self) -> Iterator[TableRecord]:
        """Yield the records in the order of the file.

        Raises:
            TableDamagedError: What is left at the end is no torn record: a quote that is never closed, say.
        """
        lines: list[bytes] = []  # of a record that is not whole yet
        blanks: list[bytes] = []  # damage once a record follows
        is_open = False
        for line in self._stream:
            if not lines and line in _BLANK:
                blanks.append(line)
                continue
            while blanks:
                yield self._record(blanks.pop(0))
            if not lines and b'"' not in line and line.endswith(b"\n"):
                yield self._record(line)
                continue
            if b'"' in line and line.count(b'"') % 2:
                is_open = not is_open
            lines.append(line)
            if is_open or not line.endswith(b"\n"):
                continue
            raw = b"".join(lines)
            lines.clear()
            yield self._record(raw)
        self._check_tail(lines)
        self.torn_bytes += sum(map(len, blanks))

    def _record(self, raw: bytes) -> TableRecord:
        record = TableRecord(self._table, self.number, self.end, self.end + len(raw), raw)
        self.number, self.end = self.number + 1, record.end
        if self._width is None:
            self._width = len(record.fields)
        return record

    def _check_tail(self, lines: list[bytes]) -> None:
        self.torn_bytes = sum(map(len, lines))
        text = b"".join(lines).decode(errors="replace")
        # A kill tears one record. With a whole one behind its open quote, bytes were changed.
        is_more = any(line.endswith(b"\n") and line.count(b",") + 1 == self._width for line in lines[1:])
        if is_more or _TORN.fullmatch(text) is None:
            expected = "a record that ends with a line feed, its quotes closed"
            raise TableDamagedError(self._table, self.number, came=text, expected=expected)


def canonical_records(data: bytes, table: str, number: int = 2) -> bytes:
    """Return the whole records in `data`, rows of `table` from the record `number` on, each as a sweep writes it.

    Their fields stay as they are.

    Raises:
        TableDamagedError: A record is none.
    """
    return b"".join(csv_line(record.fields) for record in RecordReader(io.BytesIO(data), table, number=number))
