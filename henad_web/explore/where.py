"""The expressions of `where` and of stop conditions, read from text into a tree.

Owns the grammar, loosest first: ``or``, ``and``, ``not``, comparisons (``a < b < c`` is both), ``+ -``, ``* /``, a
leading ``-``, and then a number, a text in quotes, ``true``, ``false``, a name, which may have one point in it, or
something in parentheses. Nothing is ever evaluated as Python. What names and texts mean is the business of
`filtered_design` for the configs of a block, and of `conditions` for the samples of a run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from henad_web.errors import ProblemList
from henad_web.explore.spelling import odd_character

__all__ = [
    "AllOf",
    "AnyOf",
    "Arithmetic",
    "Comparisons",
    "Expression",
    "Literal",
    "Name",
    "Negative",
    "Not",
    "WhereError",
    "parse_expression",
    "parse_where",
]

MAX_DEPTH = 50
"""Parentheses, negations and signs inside one another; a deeper text is a mistake, or an attack."""

FORM = "such as \"rate < 0.5 and (size >= 8 or mode == 'fast')\""
"""What an expression looks like, for messages."""

_COMPARATORS = ("<", "<=", ">", ">=", "==", "!=")
_JOINING = ("and", "or", "not")


def _token(after_the_point: str) -> re.Pattern[str]:
    return re.compile(
        rf"""(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
           | (?P<name>[^\W\d]\w*(?:\.(?:{after_the_point}))?)
           | (?P<text>"[^"\n]*"|'[^'\n]*')
           | (?P<mark><=|>=|==|!=|[<>+*/()-])""",
        re.VERBOSE,
    )


_TOKEN = _token(r"\w+")
_WHERE_TOKEN = _token(r"""[\w-]+|"[^"\n]*"|'[^'\n]*'""")
"""Names of actions are often several words, with blanks or with hyphens."""
_BLANK = re.compile(r"\s*")
_MEANT = {"=": "==", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "^": "and", "<>": "!=", "=>": ">="}


class WhereError(ValueError):
    """A text that is no expression over the configs of a block, or over columns.

    Attributes:
        wrong: What is wrong, one clause.
        at: Offset of the first letter that is wrong, from 0.
        came: What stands there, None at the end of the text.
        allowed: What is allowed there, None when the clause says it.
        hint: What to write, None when there is nothing better.
    """

    def __init__(
        self, wrong: str, at: int, *, came: str | None = None, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.wrong, self.at, self.came, self.allowed, self.hint = wrong, at, came, allowed, hint
        super().__init__(f"{wrong} at character {at + 1}")

    def add_to(self, problems: ProblemList, table: tuple[str | int, ...], key: str, hint: str | None = None) -> None:
        """Record that this stands in the text at `key` of `table`; `hint` goes before its own."""
        wrong = f"character {self.at + 1} of the expression: {self.wrong}"
        problems.add(table, key, wrong, came=self.came, allowed=self.allowed, hint=hint or self.hint)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, an option's name, a text or a truth value; an int is a number that no double holds."""

    value: float | int | str | bool
    at: int


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter's id, ``action.`` and an action's name, or a column."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus a number."""

    inner: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`first`, then each sign with its number, from left to right."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    at: int


@dataclass(frozen=True, slots=True)
class Comparisons:
    """`first`, then each comparator with what follows; all must hold between neighbours."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    at: int


@dataclass(frozen=True, slots=True)
class Not:
    """What holds when `inner` does not."""

    inner: Expression
    at: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """What holds when all of `parts` do."""

    parts: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What holds when one of `parts` does."""

    parts: tuple[Expression, ...]
    at: int


Expression = Literal | Name | Negative | Arithmetic | Comparisons | Not | AllOf | AnyOf
"""A tree; `at` is the offset of its first letter."""


def parse_where(text: str) -> Expression:
    """Return the tree of the expression `text`.

    Raises:
        WhereError: It does not follow the grammar.
    """
    return _parsed(text, _WHERE_TOKEN, FORM)


def parse_expression(text: str, form: str) -> Expression:
    """Return the tree of the expression `text`, over names of letters, digits and ``_``; `form` is an example of one.

    Raises:
        WhereError: It does not follow the grammar.
    """
    return _parsed(text, _TOKEN, form)


def _parsed(text: str, token: re.Pattern[str], form: str) -> Expression:
    parser = _Parser(_tokens(text, token), len(text), form)
    tree = parser.any_of()
    parser.expect_end()
    return tree


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str, pattern: re.Pattern[str]) -> list[_Token]:
    tokens = []
    position = _blank(text, 0)
    while position < len(text):
        match = pattern.match(text, position)
        if match is None or match.lastgroup is None:
            raise _strange(text, position)
        tokens.append(_Token(match.lastgroup, match.group(), position))
        position = _blank(text, match.end())
    return tokens


def _blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _strange(text: str, position: int) -> WhereError:
    if text[position] in "\"'":
        return WhereError("a quote that is never closed", position, came=repr(text[position:]))
    run = re.match(r"[=&|!<>^]{1,2}|[\w.]+|.", text[position:])
    came = run.group() if run else text[position]
    meant = _MEANT.get(came)
    hint = meant and f"did you mean '{meant}'?"
    return WhereError(
        "not a word of an expression", position, came=f"'{came}'", hint=odd_character(text[position]) or hint
    )


class _Parser:
    def __init__(self, tokens: list[_Token], length: int, form: str) -> None:
        self._tokens, self._length, self._form = tokens, length, form
        self._next = 0
        self._depth = 0

    @property
    def _at(self) -> int:
        return self._tokens[self._next].at if self._next < len(self._tokens) else self._length

    def _take(self, *texts: str) -> str | None:
        """Take the next token if it is one of `texts`."""
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            if token.kind in ("name", "mark") and token.text in texts:
                self._next += 1
                return token.text
        return None

    def _wrong(self, wanted: str) -> WhereError:
        if self._next >= len(self._tokens):
            return WhereError(f"{wanted} is missing at the end", self._length, allowed=self._form)
        token = self._tokens[self._next]
        word = token.text.lower()
        hint = f"write {word}" if word != token.text and word in _JOINING else None
        return WhereError(f"{wanted} is missing", token.at, came=f"'{token.text}'", allowed=self._form, hint=hint)

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._wrong("`and`, `or` or a comparator")

    def any_of(self) -> Expression:
        at, parts = self._at, [self._all_of()]
        while self._take("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts), at)

    def _all_of(self) -> Expression:
        at, parts = self._at, [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts), at)

    def _negation(self) -> Expression:
        at = self._at
        if self._take("not"):
            return Not(self._deeper(self._negation), at)
        return self._comparisons()

    def _comparisons(self) -> Expression:
        at, first = self._at, self._sum()
        rest = []
        while comparator := self._take(*_COMPARATORS):
            rest.append((comparator, self._sum()))
        return Comparisons(first, tuple(rest), at) if rest else first

    def _sum(self) -> Expression:
        return self._arithmetic(self._product, "+", "-")

    def _product(self) -> Expression:
        return self._arithmetic(self._signed, "*", "/")

    def _arithmetic(self, part: Callable[[], Expression], *signs: str) -> Expression:
        at, first = self._at, part()
        rest = []
        while sign := self._take(*signs):
            rest.append((sign, part()))
        return Arithmetic(first, tuple(rest), at) if rest else first

    def _signed(self) -> Expression:
        at = self._at
        if self._take("-"):
            return Negative(self._deeper(self._signed), at)
        return self._atom()

    def _atom(self) -> Expression:
        at = self._at
        if self._take("("):
            inner = self._deeper(self.any_of)
            if not self._take(")"):
                raise self._wrong("`)`")
            return inner
        if self._next >= len(self._tokens):
            raise self._wrong("a name or a value")
        token = self._tokens[self._next]
        if token.kind == "mark" or token.text in _JOINING:
            raise self._wrong("a name or a value")
        self._next += 1
        return _atom_of(token, at)

    def _deeper(self, part: Callable[[], Expression]) -> Expression:
        if self._depth >= MAX_DEPTH:
            raise WhereError(f"more than {MAX_DEPTH} levels deep", self._at)
        self._depth += 1
        found = part()
        self._depth -= 1
        return found


def _atom_of(token: _Token, at: int) -> Expression:
    if token.kind == "text":
        return Literal(token.text[1:-1], at)
    if token.kind == "name":
        if token.text in ("true", "false"):
            return Literal(token.text == "true", at)
        head, dot, tail = token.text.partition(".")
        return Name(head + dot + (tail[1:-1] if tail[:1] in ("'", '"') else tail), at)
    number = float(token.text)
    if not math.isfinite(number):
        raise WhereError("a number too large", at, came=token.text)
    digits = token.text.lstrip("0")  # Python reads no thousands of digits, and zeros before a number may be as many
    is_exact = not digits.isdigit() or int(digits) == number
    return Literal(number if is_exact else int(digits), at)
