"""Reading JSON text: its document, the line of everything in it, and what JSON readers disagree about.

Owns syntax only, and knows no key of a spec. Python's reader takes NaN, keys given twice and halves of surrogate
pairs; other readers do not, so these are reported here, each with its place.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # the reader of one text, known to every version

from henad_web.errors import ProblemList
from henad_web.explore.factors import TablePath
from henad_web.explore.positions import Positions

__all__ = ["HALF_CHARACTER", "HALF_HINT", "HALF_WRONG", "JsonSyntaxError", "JsonText", "read_json"]

_BLANK = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[-+.\w]+", re.ASCII)
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{}\]]', re.DOTALL)
"""A bracket, or a text, which may hold brackets. One that never ends takes the rest: to look for its end from every
quote inside it took a time that grew with its square."""
_MAX_DEPTH = 64
"""Most brackets inside one another. Python's reader of JSON recurses on the machine's stack, which ends a browser's
tab before Python counts too deep a recursion."""
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: text of a browser may hold one, and no file can."""
HALF_WRONG = "half of a surrogate pair, which is no character"
HALF_HINT = "write the character itself, or both halves"


class JsonSyntaxError(ValueError):
    """A text that is not JSON. `line` and `column` count from 1; `hint` says what to write, None when unknown."""

    def __init__(self, wrong: str, line: int, column: int, hint: str | None) -> None:
        self.line, self.column, self.hint = line, column, hint
        super().__init__(wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonText:
    """What a JSON text says.

    Attributes:
        document: Its value.
        positions: Lines of its keys, objects and array entries.
        problems: Keys given twice, nulls, numbers that are not finite, broken texts; places without file and line.
        twice: Keys given twice in one object, each with the lines of the first time and of the other.
    """

    document: object
    positions: Positions
    problems: ProblemList
    twice: tuple[tuple[str, int, int], ...]


def read_json(text: str) -> JsonText:
    """Return what `text` says.

    Raises:
        JsonSyntaxError: It is not JSON.
    """
    _check_depth(text)
    try:
        document = json.loads(text)
        scanner = _Scanner(text)
        scanner.value(())
    except json.JSONDecodeError as error:
        raise _syntax_error(error.msg, text, error.pos) from error
    except ValueError as error:
        raise JsonSyntaxError("a number has too many digits", *_line_of_digits(text), None) from error
    return JsonText(
        document=document,
        positions=Positions(scanner.lines),
        problems=scanner.problems,
        twice=tuple(scanner.twice),
    )


def _check_depth(text: str) -> None:
    depth = 0
    for match in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > _MAX_DEPTH:
            raise _at(text, match.start(), f"more than {_MAX_DEPTH} brackets inside one another", None)


def _line_of_digits(text: str) -> tuple[int, int]:
    longest = max(re.finditer(r"[0-9]+", text), key=lambda match: match.end() - match.start())
    return _line_and_column(text, longest.start())


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _syntax_error(message: str, text: str, position: int) -> JsonSyntaxError:
    # Versions of Python word one mistake in several ways; these words and positions are the same in all.
    before = text[:position].rstrip(" \t\r\n")
    found = text[position : position + 1]
    if before.endswith(",") and found in ("}", "]"):
        position, found = len(before) - 1, ","
    if found == "," and text[position + 1 :].lstrip(" \t\r\n")[:1] in ("}", "]"):
        return _at(text, position, "a comma before a closing bracket", "remove the comma")
    if not text[position:].strip():
        return _at(text, len(text.rstrip()), "the text ends too early", "close what is open")
    if found == "'":
        return _at(text, position, "a text in single quotes", 'write it in double quotes, "like this"')
    if found in ("/", "#"):
        return _at(text, position, "a comment", "JSON has none; remove it, or write the spec as TOML")
    if message == "Extra data":
        return _at(text, position, f"{found!r} after the end of the document", None)
    return _at(text, position, f"{found!r} where {_EXPECTED.get(message, message.lower())}", None)


_EXPECTED = {
    "Expecting value": "a value should stand",
    "Expecting property name enclosed in double quotes": "a key in double quotes should stand",
    "Expecting ',' delimiter": "a comma or a closing bracket should stand",
    "Expecting ':' delimiter": "a colon should stand",
    "Unterminated string starting at": "a text starts that never ends",
    "Invalid control character at": "a text must not hold a line end or control character",
}


def _at(text: str, position: int, wrong: str, hint: str | None) -> JsonSyntaxError:
    return JsonSyntaxError(wrong, *_line_and_column(text, position), hint)


@dataclass(slots=True)
class _Scanner:
    text: str
    position: int = 0
    lines: dict[TablePath, int] = field(default_factory=dict)
    problems: ProblemList = field(default_factory=ProblemList)
    twice: list[tuple[str, int, int]] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ends = [match.start() for match in re.finditer("\n", self.text)]

    def _blank(self) -> str:
        match = _BLANK.match(self.text, self.position)
        self.position = self.position if match is None else match.end()
        return self.text[self.position : self.position + 1]

    def _line(self) -> int:
        return bisect_right(self._ends, self.position - 1) + 1

    def value(self, path: TablePath) -> None:
        found = self._blank()
        if path:
            self.lines.setdefault(path, self._line())
        if found == "{":
            self._object(path)
        elif found == "[":
            self._array(path)
        elif found == '"':
            self._text(path)
        else:
            match = _SCALAR.match(self.text, self.position)
            scalar = "" if match is None else match.group()
            self._check_scalar(path, scalar)
            self.position += len(scalar)

    def _check_scalar(self, path: TablePath, scalar: str) -> None:
        table, key = _place(path)
        if scalar in _CONSTANTS:
            self.problems.add(table, key, "not a JSON number", came=scalar, allowed="a finite number")
        elif scalar == "null":
            self.problems.add(table, key, "no value", came="null", hint="leave the key out to get its default")

    def _text(self, path: TablePath) -> str:
        text, self.position = scanstring(self.text, self.position + 1)
        if HALF_CHARACTER.search(text):
            table, key = _place(path)
            self.problems.add(table, key, HALF_WRONG, hint=HALF_HINT)
        return str(text)

    def _object(self, path: TablePath) -> None:
        self.position += 1
        seen: dict[str, int] = {}
        while self._blank() == '"':
            line = self._line()
            key = self._text(path)
            if key in seen:
                came = f"it again in line {line}" if line != seen[key] else "it twice in this line"
                self.problems.add(path, key, "key given twice", came=came, hint="remove one of them")
                self.twice.append((key, seen[key], line))
            seen.setdefault(key, line)
            self.lines.setdefault((*path, key), line)
            self._blank()
            self.position += 1
            self.value((*path, key))
            if self._blank() == ",":
                self.position += 1
        self.position += 1

    def _array(self, path: TablePath) -> None:
        self.position += 1
        entry = 0
        while self._blank() != "]":
            self.value((*path, entry))
            if self._blank() == ",":
                self.position += 1
            entry += 1
        self.position += 1


def _place(path: TablePath) -> tuple[TablePath, str | None]:
    """Return the table and key that a value at `path` belongs to; an entry of an array belongs to its key."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return (path[:-1], str(path[-1])) if path else ((), None)
