"""The line of every key of any valid document, in TOML and in JSON, is the line where it was written."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from henad_web.explore.factors import TablePath
from henad_web.explore.json_text import read_json
from henad_web.explore.positions import index_positions

# Letters that mean something in TOML or JSON, and some that a careless scanner would count wrongly.
TRICKY = "ab1 .=[]{}#,:'\"\\-_é€😀\t"
WORDS = st.text(st.sampled_from(TRICKY), max_size=6)
BARE_KEYS = st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True)
COMMENTS = st.sampled_from(["", " # plain", " # [table] = 'x'", ' # """', " # a = [1, {", " # é }]"])
BLANK_LINES = st.sampled_from(["", "\n", "\n\n", "# [[block]]\n", '  # key = """\n', "\t\n"])


def basic(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\t", "\\t")


def keys() -> st.SearchStrategy[tuple[str, str]]:
    """Return keys with a way to write each: bare, in double quotes, escaped, in single quotes."""
    quoted = WORDS.map(lambda word: (word, basic(word)))
    escaped = WORDS.map(lambda word: (word, '"' + "".join(f"\\U{ord(letter):08x}" for letter in word) + '"'))
    literal = WORDS.filter(lambda word: "'" not in word).map(lambda word: (word, f"'{word}'"))
    return st.one_of(BARE_KEYS.map(lambda word: (word, word)), quoted, escaped, literal)


class Writer:
    """Writes a TOML document piece by piece and remembers the line of everything in it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self.text = draw, ""
        self.lines: dict[TablePath, int] = {}

    def mark(self, path: TablePath) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)

    def fresh(self, taken: set[str]) -> tuple[str, str]:
        key, written = self.draw(keys().filter(lambda pair: pair[0] not in taken))
        taken.add(key)
        return key, written

    def pair(self, path: TablePath, taken: set[str], *, depth: int) -> None:
        key, written = self.fresh(taken)
        self.mark((*path, key))
        self.text += written
        path = (*path, key)
        for _ in range(self.draw(st.integers(0, 2))):
            inner, inner_written = self.draw(keys())
            path = (*path, inner)
            self.mark(path)
            self.text += self.draw(st.sampled_from([".", " . ", "\t."])) + inner_written
        self.text += self.draw(st.sampled_from(["=", " = ", "  =\t"]))
        self.value(path, depth=depth)

    def value(self, path: TablePath, *, depth: int) -> None:
        kinds = ["number", "date", "basic", "literal", "long", "long literal"]
        kind = self.draw(st.sampled_from(kinds if depth == 0 else [*kinds, "array", "table", "array"]))
        word = self.draw(WORDS)
        if kind == "array":
            self.array(path, depth=depth)
        elif kind == "table":
            self.inline_table(path, depth=depth)
        elif kind in ("number", "date"):
            numbers = ["0", "-1_000", "1e5", "0x1F", "inf", "true"]
            dates = ["1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "07:32:00"]
            self.text += self.draw(st.sampled_from(numbers if kind == "number" else dates))
        elif kind == "basic":
            self.text += basic(word)
        elif kind == "literal":
            self.text += "'" + word.replace("'", "") + "'"
        elif kind == "long":
            body = word.replace("\\", "\\\\").replace('"', '\\"') + self.draw(
                st.sampled_from(["", "\n", "\n#[\n", '""'])
            )
            self.text += f'"""{body}"""'
        else:
            body = word.replace("'", "") + self.draw(st.sampled_from(["", "\n", "\n = \n", "''"]))
            self.text += f"'''{body}'''"

    def gap(self) -> None:
        """Write what may stand between the entries of an array."""
        self.text += self.draw(st.sampled_from(["", " ", "\n", "\n\n  ", " # , ]\n", "\n# {\n"]))

    def array(self, path: TablePath, *, depth: int) -> None:
        self.text += "["
        count = self.draw(st.integers(0, 3))
        for entry in range(count):
            self.gap()
            self.mark((*path, entry))
            self.value((*path, entry), depth=depth - 1)
            self.gap()
            if entry < count - 1 or self.draw(st.booleans()):
                self.text += ","
        self.gap()
        self.text += "]"

    def inline_table(self, path: TablePath, *, depth: int) -> None:
        self.text += "{"
        taken: set[str] = set()
        for entry in range(self.draw(st.integers(0, 3))):
            self.text += ", " if entry else " "
            self.pair(path, taken, depth=depth - 1)
        self.text += " }"

    def pairs(self, path: TablePath, taken: set[str]) -> None:
        for _ in range(self.draw(st.integers(0, 3))):
            self.text += self.draw(BLANK_LINES) + self.draw(st.sampled_from(["", "  ", "\t"]))
            self.pair(path, taken, depth=2)
            self.text += self.draw(COMMENTS) + "\n"

    def header(self, path: TablePath, written: list[str], *, is_entry: bool) -> None:
        inside = self.draw(st.sampled_from([".", " . "])).join(written)
        self.text += f"[[{inside}]]" if is_entry else f"[ {inside} ]"
        self.text += self.draw(COMMENTS) + "\n"

    def document(self) -> None:
        taken: set[str] = set()
        self.pairs((), taken)
        for _ in range(self.draw(st.integers(0, 3))):
            self.text += self.draw(BLANK_LINES)
            key, written = self.fresh(taken)
            if self.draw(st.booleans()):
                self.entries((key,), written)
                continue
            path: TablePath = (key,)
            names = [written]
            self.mark(path)
            for _ in range(self.draw(st.integers(0, 1))):
                inner, inner_written = self.draw(keys())
                path, names = (*path, inner), [*names, inner_written]
                self.mark(path)
            self.header(path, names, is_entry=False)
            self.pairs(path, set())

    def entries(self, path: TablePath, written: str) -> None:
        for entry in range(self.draw(st.integers(1, 3))):
            self.mark(path)
            self.mark((*path, entry))
            self.header(path, [written], is_entry=True)
            taken: set[str] = set()
            self.pairs((*path, entry), taken)
            if self.draw(st.booleans()):
                inner, inner_written = self.fresh(taken)
                self.mark((*path, entry, inner))
                self.header((*path, entry, inner), [written, inner_written], is_entry=False)
                self.pairs((*path, entry, inner), set())


@st.composite
def toml_documents(draw: st.DrawFn) -> tuple[str, dict[TablePath, int]]:
    writer = Writer(draw)
    writer.document()
    return writer.text, writer.lines


@settings(max_examples=40)
@given(toml_documents())
def test_every_key_of_a_toml_document_has_its_line(written: tuple[str, dict[TablePath, int]]) -> None:
    text, lines = written
    tomllib.loads(text)
    positions = index_positions(text)
    found = {path: positions.line(path[:-1], str(path[-1])) for path in lines if isinstance(path[-1], str)}
    assert found == {path: line for path, line in lines.items() if isinstance(path[-1], str)}
    entries = {path: positions.line(path, None) for path in lines}
    assert entries == lines


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)
GAPS = st.sampled_from(["", " ", "\n", "\n\n\t", "  \n "])


@st.composite
def json_documents(draw: st.DrawFn) -> tuple[str, object, dict[TablePath, int]]:
    document = draw(st.dictionaries(WORDS, JSON_VALUES, max_size=4))
    lines: dict[TablePath, int] = {}
    text = ""

    def write(value: object, path: TablePath) -> None:
        nonlocal text
        text += draw(GAPS)
        if path:
            lines.setdefault(path, text.count("\n") + 1)
        if isinstance(value, dict):
            text += "{"
            for place, (key, entry) in enumerate(value.items()):
                text += ("," if place else "") + draw(GAPS)
                lines[(*path, key)] = text.count("\n") + 1
                text += json.dumps(key, ensure_ascii=draw(st.booleans())) + draw(GAPS) + ":"
                write(entry, (*path, key))
            text += draw(GAPS) + "}"
        elif isinstance(value, list):
            text += "["
            for place, entry in enumerate(value):
                text += "," if place else ""
                write(entry, (*path, place))
                text += draw(GAPS)
            text += draw(GAPS) + "]"
        else:
            text += json.dumps(value, ensure_ascii=draw(st.booleans()))

    write(document, ())
    return text + draw(GAPS), document, lines


@settings(max_examples=40)
@given(json_documents())
def test_every_key_of_a_json_document_has_its_line(written: tuple[str, object, dict[TablePath, int]]) -> None:
    text, document, lines = written
    read = read_json(text)
    assert read.document == document
    assert {path: read.positions.line(path, None) for path in lines} == lines


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a.b.c = 1\n\na.b.d = 2\n", ("a", "b", "d"), 3),
        ('"a.b" = 1\n\n"c\\"]" = 2\n', ('c"]',), 3),
        ('"\\u0061" = 1\n', ("a",), 1),
        ("[a.b]\nc = 1\n[a]\nd = 2\n", ("a", "d"), 4),
        ("[[a]]\n[[a.b]]\nc = 1\n[[a]]\n[[a.b]]\n\nc = 2\n", ("a", 1, "b", 0, "c"), 7),
        ("a = [\n  1, # ]\n  [2,\n   3],\n]\n", ("a", 1, 1), 4),
        ("a = '''\n# [b]\nc = 1\n'''\nd = 1\n", ("d",), 5),
        ('a = """x\\\n   y"""\nb = 1\n', ("b",), 3),
    ],
)
def test_layouts_that_a_careless_scanner_miscounts(text: str, path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(text)
    assert index_positions(text).line(path, None) == line
