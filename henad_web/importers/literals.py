"""A dict of another tool, given as JSON or as a Python literal.

Owns the reading. Nothing is evaluated: a call, a name or an operator in the text is refused.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping

from henad_web.errors import ProblemList, near_miss

__all__ = ["read_mapping"]

_MAX_LETTERS = 1_000_000


def read_mapping(text: str, name: str | None, problems: ProblemList) -> Mapping[str, object] | None:
    """Return the dict that `text` writes; None with a problem recorded.

    Args:
        text: JSON, a Python dict, or Python statements that assign dicts to names.
        name: Which of several assigned dicts is meant.
        problems: Where problems go.
    """
    if len(text) > _MAX_LETTERS:
        problems.add((), None, f"more than {_MAX_LETTERS} letters", hint="give only the dict")
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return _python(text, name, problems)
    return _checked(found, problems)


def _python(text: str, name: str | None, problems: ProblemList) -> Mapping[str, object] | None:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = "" if line is None else f" in line {line}"
        problems.add((), None, f"neither JSON nor Python{where}", hint="give a dict of plain values")
        return None
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return _literal(body[0].value, problems)
    dicts = {
        target.id: statement.value
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    chosen = next(iter(dicts), None) if name is None and len(dicts) == 1 else name
    if chosen not in dicts:
        allowed = ", ".join(dicts) or "none, it assigns no dict to a name"
        hint = None if name is None else near_miss(name, dicts)
        wrong = "which dict is meant?" if name is None else f"no dict '{name}'"
        problems.add((), None, wrong, allowed=allowed, hint=hint)
        return None
    return _literal(dicts[str(chosen)], problems)


def _literal(node: ast.expr, problems: ProblemList) -> Mapping[str, object] | None:
    try:
        return _checked(ast.literal_eval(node), problems)
    except (ValueError, TypeError, RecursionError, MemoryError):
        called = [ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Call | ast.Name | ast.Attribute)]
        came = called[0] if called else None
        hint = "write its values out; code in the text is never run"
        problems.add((), None, "something that has to be computed", came=came, hint=hint)
        return None


def _checked(found: object, problems: ProblemList) -> Mapping[str, object] | None:
    if isinstance(found, Mapping) and all(isinstance(key, str) for key in found):
        return found
    problems.add((), None, "not a dict with texts as keys", came=f"a {type(found).__name__}")
    return None
