"""A dict of another tool, given as JSON, as a Python literal, or by a script that hands it to Mesa's `batch_run`.

Owns the choice of the dict or call. Nothing is ever run: what has no value as it is written is refused.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence

from henad_web.errors import ProblemList, near_miss
from henad_web.explore.json_text import JsonSyntaxError, read_json
from henad_web.importers.imported import Notes
from henad_web.importers.python_values import PythonProgram, code_in

__all__ = ["COMPUTED", "COMPUTED_HINT", "read_mapping"]

_MAX_LETTERS = 1_000_000
_CALL = "batch_run"
_CALL_NAME = re.compile(rf"{_CALL}(?:#([0-9]{{1,6}}))?")
_ARGUMENTS = (
    "model_cls",
    "parameters",
    "number_processes",
    "iterations",
    "data_collection_period",
    "max_steps",
    "display_progress",
)
"""Arguments of Mesa's `batch_run` in the order of its signature."""

COMPUTED = "something that has to be computed"
COMPUTED_HINT = "write its values out; code in the text is never run"


def read_mapping(text: str, name: str | None, problems: ProblemList, notes: Notes) -> Mapping[str, object] | None:
    """Return the dict that `text` writes; None with a problem recorded.

    Args:
        text: JSON, a Python dict, Python statements that assign dicts to names, or a script that calls `batch_run`.
        name: Which of several assigned dicts, or of several calls (``batch_run#2``), is meant.
        problems: Where problems go.
        notes: Where is told what was given twice, and what was left out of a script.
    """
    if len(text) > _MAX_LETTERS:
        problems.add((), None, f"more than {_MAX_LETTERS} letters", hint="give only the dict")
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return _python(text, name, problems, notes)
    _note_twice(text, notes)
    return _checked(found, problems)


def _note_twice(text: str, notes: Notes) -> None:
    try:
        twice = read_json(text).twice
    except JsonSyntaxError:  # more brackets inside one another than a spec may have; the value itself was read
        return
    for key, first, again in twice:
        notes.add(f"'{key}' is given twice, in lines {first} and {again}; the last was taken.")


def _python(text: str, name: str | None, problems: ProblemList, notes: Notes) -> Mapping[str, object] | None:
    try:
        tree = ast.parse(text.strip())
        ast.increment_lineno(tree, text[: len(text) - len(text.lstrip())].count("\n"))
        return _chosen(PythonProgram(tree, notes), name, problems, notes)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = "" if line is None else f" in line {line}"
        problems.add((), None, f"neither JSON nor Python{where}", hint="give a dict of plain values")
        return None


def _chosen(
    program: PythonProgram, name: str | None, problems: ProblemList, notes: Notes
) -> Mapping[str, object] | None:
    body = program.tree.body
    calls, dicts = program.calls_of(_CALL), program.dicts()
    if name is None and not calls and len(dicts) == 1:
        name = next(iter(dicts))
    if name in dicts:
        if len(body) > 1:
            notes.add(f"Read from the dict '{name}' alone; nothing else of the text was carried over or run.")
        return _literal(program, dicts[name], problems)
    if calls and (name is None or _CALL_NAME.fullmatch(name)):
        call = _chosen_call(calls, name, problems)
        return None if call is None else _arguments(program, call, problems, notes)
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return _literal(program, body[0].value, problems)
    known = [*dicts, *(f"{_CALL}#{position + 1}" for position in range(len(calls)))]
    allowed = ", ".join(known) or "none, it assigns no dict to a name"
    hint = None if name is None else near_miss(name, known)
    wrong = "which dict is meant?" if name is None else f"no dict '{name}'"
    problems.add((), None, wrong, allowed=allowed, hint=hint)
    return None


def _chosen_call(calls: Sequence[ast.Call], name: str | None, problems: ProblemList) -> ast.Call | None:
    match = _CALL_NAME.fullmatch(name or "")
    number = int(match[1]) if match and match[1] else None
    if number is None and len(calls) == 1:
        return calls[0]
    if number is not None and 1 <= number <= len(calls):
        return calls[number - 1]
    listed = ", ".join(f"'{_CALL}#{position + 1}' in line {call.lineno}" for position, call in enumerate(calls))
    wrong = f"{len(calls)} calls of {_CALL} in it" if number is None else f"no call '{name}'"
    problems.add((), None, wrong, allowed=listed, hint="name one of them")
    return None


def _arguments(
    program: PythonProgram, call: ast.Call, problems: ProblemList, notes: Notes
) -> Mapping[str, object] | None:
    """Return the arguments of a call of `batch_run` by name, what cannot be read as its code."""
    given: dict[str, object] = {}
    for position, node in enumerate(call.args):
        if position >= len(_ARGUMENTS) or isinstance(node, ast.Starred):
            problems.add((), None, f"line {node.lineno}: an argument without a name", came=ast.unparse(node),
                         hint="write it with its name, such as max_steps=100")  # fmt: skip
            return None
        given[_ARGUMENTS[position]] = node if position == 0 else program.value(node)
    for keyword in call.keywords:
        value = program.value(keyword.value)
        if keyword.arg is not None:
            given[keyword.arg] = value
        elif isinstance(value, Mapping):
            given.update({str(key): each for key, each in value.items()})
        else:
            problems.add((), None, f"line {keyword.value.lineno}: {COMPUTED}", came=f"**{value!r}", hint=COMPUTED_HINT)
            return None
    if "parameters" not in given:
        problems.add((), None, f"line {call.lineno}: {_CALL} is given no parameters", hint="write parameters={...}")
        return None
    notes.add(f"Read from the call of {_CALL} in line {call.lineno}; nothing of the script was run.")
    return given


def _literal(program: PythonProgram, node: ast.expr, problems: ProblemList) -> Mapping[str, object] | None:
    found = program.value(node)
    code = code_in(found)
    if code is not None:
        problems.add((), None, COMPUTED, came=code.source, hint=COMPUTED_HINT)
        return None
    return _checked(found, problems)


def _checked(found: object, problems: ProblemList) -> Mapping[str, object] | None:
    if isinstance(found, Mapping) and all(isinstance(key, str) for key in found):
        return found
    problems.add((), None, "not a dict with texts as keys", came=f"a {type(found).__name__}")
    return None
