"""The text of a spec file, in either of its forms, as a document with lines.

Owns the choice of the form and the problems of syntax. What the keys mean is `spec_parse`'s business.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from henad_web.errors import Place, Problem, ProblemList, SpecError, near_miss
from henad_web.explore.json_text import HALF_CHARACTER, HALF_HINT, HALF_WRONG, JsonSyntaxError, read_json
from henad_web.explore.positions import Positions, index_positions
from henad_web.explore.spelling import odd_character

__all__ = ["DocumentText", "SpecFormat", "format_of", "normalized", "read_document"]

_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


_CLOSED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
_BARE_WORD = re.compile(r"\s*([\w.-]+)\s*=\s*([^\W\d][\w.-]*)\s*(?:#.*)?$")


class SpecFormat(StrEnum):
    """The form of a spec file; both say the same."""

    TOML = "toml"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document that was read.

    Attributes:
        document: Its tables as mappings, arrays as lists, values as Python's own.
        positions: Lines of its keys.
        problems: What the form forbids without ending the reading, such as a JSON key given twice.
    """

    document: object
    positions: Positions
    problems: ProblemList


def normalized(text: str) -> str:
    """Return `text` without a byte-order mark, its lines ending in LF."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def format_of(text: str, *, path: PurePath | None = None, given: str | None = None) -> SpecFormat:
    """Return the form of `text`: the `given` one, else the one the name of its file ends in, else what it looks like.

    Raises:
        SpecError: `given` is no form.
    """
    suffix = "" if path is None else path.suffix.lower().removeprefix(".")
    for word in (given, suffix):
        if word in list(SpecFormat):
            return SpecFormat(word)
    if given is not None:
        allowed = " or ".join(f'"{word}"' for word in SpecFormat)
        problem = Problem(
            place=Place(key="format"),
            wrong="no such form of a spec",
            came=repr(given),
            allowed=allowed,
            hint=near_miss(given, list(SpecFormat)),
        )
        raise SpecError([problem])
    # No TOML document starts with a brace, and no spec in JSON starts with anything else.
    return SpecFormat.JSON if text.lstrip()[:1] == "{" else SpecFormat.TOML


def read_document(text: str, form: SpecFormat, file: str | None) -> DocumentText:
    """Return what `text` says in `form`; `file` is what messages call it.

    Raises:
        SpecError: The text is not valid; the first error of syntax is in it.
    """
    if form is SpecFormat.JSON:
        try:
            read = read_json(text)
        except JsonSyntaxError as error:
            wrong = f"not valid JSON: {error} at column {error.column}"
            hint = _odd_hint(text, error.line, error.column) or error.hint
            raise SpecError([Problem(place=Place(file=file, line=error.line), wrong=wrong, hint=hint)]) from error
        return DocumentText(document=read.document, positions=read.positions, problems=read.problems)
    half = HALF_CHARACTER.search(text)
    if half is not None:
        place = Place(file=file, line=text.count("\n", 0, half.start()) + 1)
        raise SpecError([Problem(place=place, wrong=HALF_WRONG, hint=HALF_HINT)])
    try:
        document = tomllib.loads(text)
        positions = index_positions(text)
    # A number of thousands of digits is a plain ValueError, a thousand nested lists end the recursion.
    except (ValueError, RecursionError) as error:
        raise SpecError([_toml_problem(str(error), text, file)]) from error
    return DocumentText(document=document, positions=positions, problems=ProblemList())


def _toml_problem(message: str, text: str, file: str | None) -> Problem:
    place = _SYNTAX_PLACE.search(message)
    line = text.count("\n", 0, len(text.rstrip())) + 1
    wrong, odd = message, None
    if place is not None:
        wrong = message[: place.start()]
        line = int(place[1]) if place[1] else line
        wrong += f" at column {place[2]}" if place[2] else " at the end of the text"
        odd = _odd_hint(text, line, int(place[2]) if place[2] else None)
    hint = odd or _toml_hint(wrong, text, line)
    return Problem(place=Place(file=file, line=line), wrong=f"not valid TOML: {wrong}", hint=hint)


def _odd_hint(text: str, line: int, column: int | None) -> str | None:
    """Return which odd character is to blame for an error of syntax, None when none is.

    Args:
        text: The text.
        line: Line of the error, from 1.
        column: Its column, from 1; None for the end of the text, which a quote that is never closed leads to.
    """
    lines = text.split("\n")
    for number in [line] if column else range(1, len(lines) + 1):
        found = lines[number - 1]
        last = column - 1 if column else len(found)
        # What stands in quotes that were closed before is text, and there all characters are fine.
        before = _CLOSED.sub(lambda match: " " * len(match.group()), found[:last])
        for position in (last, *reversed(range(len(before)))):
            odd = odd_character((before + found[last:])[position]) if position < len(found) else None
            if odd is not None:
                return f"line {number}, column {position + 1}: {odd}"
    return None


def _toml_hint(wrong: str, text: str, line: int) -> str | None:
    bare = _BARE_WORD.match(text.split("\n")[line - 1])
    if bare is not None:
        return f'a text stands in quotes: {bare[1]} = "{bare[2]}"'
    if "overwrite" in wrong or "declare" in wrong:
        return "a key or table is given twice, remove one"
    if text.lstrip()[:1] == "{":
        return "this looks like JSON, give the file a name that ends in .json"
    return None
