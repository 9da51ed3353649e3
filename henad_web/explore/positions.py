"""Lines of a TOML text: where each table, key and array entry stands.

Owns an index from paths to lines. It is built only over text that a TOML parser accepted, so it checks nothing: which
text is valid and what it says is that parser's business.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

from henad_web.explore.factors import TablePath

__all__ = ["Positions", "index_positions"]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_LONG_BASIC = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL)
_BASIC = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LITERAL = re.compile(r"'([^'\n]*)'")
_SCALAR = re.compile(r"[^,\]}\n#]+")


class Positions:
    """Lines by path, counted from 1."""

    __slots__ = ("_lines",)

    def __init__(self, lines: dict[TablePath, int] | None = None) -> None:
        """Take `lines` as the index; None knows no line."""
        self._lines = lines or {}

    def line(self, table: TablePath, key: str | None) -> int | None:
        """Return the line of `key` in `table`, else that of the nearest table around it; None when none is known."""
        path = table if key is None else (*table, key)
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return None


def index_positions(text: str) -> Positions:
    """Return where everything in the valid TOML `text` stands."""
    scanner = _Scanner(text)
    scanner.scan()
    return Positions(scanner.lines)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[TablePath, int] = {}
        self._last_entry: dict[TablePath, int] = {}
        self._line_ends = [match.start() for match in re.finditer("\n", text)]

    def scan(self) -> None:
        table: TablePath = ()
        self._skip(_BLANK)
        while self.position < len(self.text):
            if self.text[self.position] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match.group()

    def _next_is(self, text: str) -> bool:
        return self.text.startswith(text, self.position)

    def _mark(self, path: TablePath) -> None:
        self.lines.setdefault(path, bisect_right(self._line_ends, self.position - 1) + 1)

    def _header(self) -> TablePath:
        start, is_entry = self.position, self._next_is("[[")
        self.position += 2 if is_entry else 1
        keys = self._keys()
        end, self.position = self.position, start
        path: TablePath = ()
        for key in keys[:-1]:
            path = self._inside((*path, key))
            self._mark(path)
        path = (*path, keys[-1])
        if is_entry:
            self._mark(path)
            self._last_entry[path] = self._last_entry.get(path, -1) + 1
            path = (*path, self._last_entry[path])
        self._mark(path)
        self.position = end + (2 if is_entry else 1)
        return path

    def _inside(self, path: TablePath) -> TablePath:
        return (*path, self._last_entry[path]) if path in self._last_entry else path

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            keys.append(self._key())
            self._skip(_SPACE)
            if not self._next_is("."):
                return keys
            self.position += 1

    def _key(self) -> str:
        for pattern in (_BASIC, _LITERAL):
            match = pattern.match(self.text, self.position)
            if match is not None:
                self.position = match.end()
                has_escape = pattern is _BASIC and "\\" in match[1]
                return str(tomllib.loads(f"key = {match[0]}")["key"]) if has_escape else match[1]
        bare = self._skip(_BARE_KEY)
        # Nothing a parser accepted comes here; moving on keeps the scan finite whatever comes.
        self.position += 0 if bare else 1
        return bare

    def _pair(self, table: TablePath) -> None:
        start = self.position
        keys = self._keys()
        end, self.position = self.position, start
        path = table
        for key in keys:
            path = (*path, key)
            self._mark(path)
        self.position = end + 1
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: TablePath) -> None:
        if self._next_is("["):
            self._array(path)
        elif self._next_is("{"):
            self._inline_table(path)
        elif self._next_is('"""'):
            self._skip(_LONG_BASIC)
        elif self._next_is("'''"):
            self._skip(_LONG_LITERAL)
        elif self._next_is('"'):
            self._skip(_BASIC)
        elif self._next_is("'"):
            self._skip(_LITERAL)
        else:
            self._skip(_SCALAR)

    def _array(self, path: TablePath) -> None:
        self.position += 1
        entry = 0
        self._skip(_BLANK)
        while self.position < len(self.text) and not self._next_is("]"):
            self._mark((*path, entry))
            self._value((*path, entry))
            self._separator()
            entry += 1
        self.position += 1

    def _inline_table(self, path: TablePath) -> None:
        self.position += 1
        self._skip(_BLANK)
        while self.position < len(self.text) and not self._next_is("}"):
            self._pair(path)
            self._separator()
        self.position += 1

    def _separator(self) -> None:
        self._skip(_BLANK)
        if self._next_is(","):
            self.position += 1
        self._skip(_BLANK)
