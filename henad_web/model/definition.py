"""Reads a model off its class, and says in words what its class lacks, has twice or has misspelled.

Everything is checked as the class is made. Knows the members a model may have by the classes it is made from.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, cast

from henad_web.errors import ModelDefinitionError
from henad_web.model.declarations import ActionMethod, Parameter, Statistic, TableMethod
from henad_web.model.params import Param
from henad_web.model.schema import Action, Stat
from henad_web.model.tables import Table

__all__ = ["Declared", "declared_by", "first_paragraph", "model_id", "refusal", "take_body"]

_CALLS: Mapping[str, int] = {
    "setup": 0,
    "step_once": 0,
    "has_ended": 0,
    "stats": 0,
    "step": 1,
    "act": 1,
    "set_param": 2,
}
"""Methods of a model that are called from outside, and with how many arguments."""

_KINDS: Mapping[type[Any], str] = {
    Parameter: "a parameter",
    Statistic: "a statistic",
    ActionMethod: "an action",
    TableMethod: "a table",
}
_OF_AN_ENTRY: tuple[tuple[type[Any], str], ...] = (
    (Param, "hw.f32(0.3, min=0, max=1)"),
    (Stat, "@hw.stat"),
    (Action, "@hw.action"),
    (Table, '@hw.table(wealth="f64")'),
)
"""What an entry holds, and how a class declares it."""

_STEPS = ("step_once", "step")
_STARTS = ("setup", *_STEPS)
_OTHERS = ("grid", "population", "heap_bytes", "parallel_jobs", "build_many", "batch_rows")
_CLOSE = 0.82
"""Likeness from which a method's name is taken for a misspelling of a member."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the bodies of a class and of those it is made from declare, by attribute, in the order of declaration."""

    params: dict[str, Parameter[Any]]
    stats: dict[str, Statistic[Any]]
    actions: dict[str, ActionMethod]
    tables: dict[str, TableMethod]


def refusal(cls: type, wrong: str) -> ModelDefinitionError:
    """Return the error of the model `cls` that has something `wrong`, with the place of its start or its step."""
    error = ModelDefinitionError(f"model class {cls.__name__}: {wrong}")
    code = next((value.__code__ for value in map(vars(cls).get, _STARTS) if isinstance(value, FunctionType)), None)
    error.place = None if code is None else (code.co_filename, code.co_firstlineno)
    return error


def model_id(name: str) -> str:
    """Return the id of a class's `name`: ``ForestFire`` is ``forest_fire``, ``SIRModel`` is ``sir_model``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.strip("_")).lower()


def declared_by(cls: type, kit: tuple[type, ...]) -> Declared:
    """Return what the model `cls` declares.

    Args:
        cls: The class.
        kit: The classes of the package that models are made from; their members are those a model may have.

    Raises:
        ModelDefinitionError: A member is missing, misspelled, there twice or of the wrong form.
    """
    kit = tuple(base for base in kit if issubclass(cls, base))
    known = {name for base in kit for name in (*_body_of(base), *vars(base).get("__annotations__", ()))}
    owners: dict[str, type] = {}
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        for name, value in _body_of(base).items():
            found[name] = value
            if base not in (*kit, object):
                owners[name] = base
    if "__init__" in owners:
        raise refusal(
            cls, "it has an __init__; write setup(self), when parameters, seed and rng are attributes already"
        )
    for name, value in _body_of(cls).items():
        of_kit = next((_body_of(base)[name] for base in kit if name in _body_of(base)), None)
        _check_declaration(cls, name, value, of_kit, known)
    _check_steps(cls, owners)
    for name, count in _CALLS.items():
        if name in owners:
            _check_call(cls, name, found[name], count)
    _check_spelling(cls, known, owners)
    if "table" in owners:
        wrong = "it has a method table, by which tables are asked for"
        raise refusal(cls, f'{wrong}; put @hw.table(wealth="f64") over a method of its own for each table')
    declared = Declared(*(_of_kind(found, kind) for kind in _KINDS))
    for name, statistic in declared.stats.items():
        if statistic.read is not None:
            _check_call(cls, name, statistic.read, 0)
    for name, action in declared.actions.items():
        _check_call(cls, name, action.do, 0)
    for name, table in declared.tables.items():
        _check_call(cls, name, table.read, 0)
    if not declared.stats:
        raise refusal(cls, "it declares no statistic; put @hw.stat over a method that returns a number")
    return declared


def take_body(cls: type) -> dict[str, object]:
    """Return what the body of `cls` holds, in order; values are no business of the class from then on.

    An attribute that the class has too, with a getter, takes three times as long to be read.
    """
    body = dict(vars(cls))
    for name, value in body.items():
        if isinstance(value, Parameter) or (isinstance(value, Statistic) and value.read is None):
            delattr(cls, name)
    return body


def _body_of(base: type) -> Mapping[str, object]:
    return cast("Mapping[str, object]", vars(base).get("_body", vars(base)))


def _of_kind(found: Mapping[str, object], kind: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if isinstance(value, kind)}


def _check_declaration(cls: type, name: str, value: object, of_kit: object, known: set[str]) -> None:
    """Refuse what is declared under a name that is taken, or in a form that only an entry has."""
    is_declared = isinstance(value, tuple(_KINDS))
    if is_declared and name in known and not isinstance(of_kit, type(value)):
        what = _KINDS[type(value)].split(" ")[1]
        raise refusal(cls, f"the {what} '{name}' has the name of a member that every model has; give it another one")
    inherited = next((_body_of(base)[name] for base in cls.__mro__[1:] if name in _body_of(base)), None)
    kind = next((kind for kind in _KINDS if isinstance(inherited, kind) and not isinstance(value, kind)), None)
    if kind is not None:
        raise refusal(cls, f"'{name}' takes the place of {_KINDS[kind]} of the same name; declare it as one again")
    if isinstance(value, tuple) and any(isinstance(part, Parameter | Statistic) for part in value):
        raise refusal(cls, f"'{name}' has a comma behind it, which makes it a tuple; take it away")
    for form, short in _OF_AN_ENTRY:
        if isinstance(value, form):
            wrong = f"'{name}' is a {form.__name__}, which belongs into an entry; a class declares it by {short}"
            raise refusal(cls, wrong)


def _check_steps(cls: type, owners: Mapping[str, type]) -> None:
    owned = [name for name in _STEPS if name in owners]
    if len(owned) > 1:
        first, second = (f"{name} (of {owners[name].__name__})" for name in owned)
        raise refusal(cls, f"it has both {first} and {second}; keep one, either does")
    if not owned:
        hint = next((hint for name in _own_methods(cls) if (hint := _miss(name, _STEPS))), None)
        wrong = "it has no step; write step_once(self), which does one step, or step(self, n=1), which does n of them"
        raise refusal(cls, f"{wrong}; {hint}" if hint else wrong)


def _check_call(cls: type, name: str, value: object, count: int) -> None:
    """Refuse a method that cannot be called with `count` arguments, or that does nothing when it is."""
    if not isinstance(value, FunctionType):
        if not callable(value) or isinstance(value, staticmethod | classmethod):
            raise refusal(cls, f"{name} is a {type(value).__name__}; it must be a method: def {name}(self, …)")
        return
    called: Callable[..., object] = inspect.unwrap(value)
    if inspect.isgeneratorfunction(called) or inspect.iscoroutinefunction(called):
        kind = "has a yield in it" if inspect.isgeneratorfunction(called) else "is async"
        raise refusal(cls, f"{name} {kind}, so calling it does nothing; write a plain method")
    signature = inspect.signature(called)
    try:
        signature.bind(*[None] * (count + 1))
    except TypeError as error:
        if not signature.parameters:
            raise refusal(cls, f"{name}() lacks self; write def {name}(self)") from None
        if name == "step" and len(signature.parameters) == 1:
            wrong = "step(self) takes no count"
            raise refusal(cls, f"{wrong}; call it step_once, or write step(self, n=1), which does n steps") from None
        wanted = ", ".join(["self", *("n", "id", "value")[:1] * count]) if count < 2 else "self, id, value"
        raise refusal(cls, f"{name}{signature} cannot be called as {name}({wanted}): {error}") from None


def _check_spelling(cls: type, known: set[str], owners: Mapping[str, type]) -> None:
    """Refuse a method whose name is nearly that of a member which the class does not have of its own."""
    missing = [name for name in (*_CALLS, *_OTHERS) if name not in owners and name not in _STEPS]
    for name in _own_methods(cls):
        hint = None if name in known or name in (*_CALLS, *_OTHERS) else _miss(name, missing)
        if hint:
            raise refusal(cls, f"it has a method {name}, which nothing calls; {hint} A helper may begin with _")


def _own_methods(cls: type) -> Iterator[str]:
    kinds = (FunctionType, property, classmethod, staticmethod)
    return (name for name, value in vars(cls).items() if isinstance(value, kinds) and not name.startswith("_"))


def _miss(name: str, known: tuple[str, ...] | list[str]) -> str | None:
    close = difflib.get_close_matches(name, known, n=1, cutoff=_CLOSE)
    return f"did you mean '{close[0]}'?" if close else None


def first_paragraph(documented: object) -> str:
    """Return the first paragraph of a class's or function's own docstring on one line, empty without one."""
    paragraph = inspect.cleandoc(documented.__doc__ or "").split("\n\n")[0]
    return " ".join(paragraph.split())
