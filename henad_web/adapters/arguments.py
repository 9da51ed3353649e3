"""Parameters of a model that is written as the arguments of a class: from a signature, and from what is said of them.

Owns what a kind, its bounds and its default follow from. Knows no library.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from henad_web.errors import ModelDefinitionError, near_miss
from henad_web.explore.columns import FILE_COLUMNS, SERIES_LEADING
from henad_web.model import params as kinds
from henad_web.model.decimals import whole_text
from henad_web.model.declarations import Parameter, shown_name
from henad_web.model.definition import model_id
from henad_web.model.params import Apply, Param

__all__ = ["Argument", "arguments_of", "free_name", "given_param", "signature_of"]

_WIDEST = 1e300
"""Bound of a number that is given none: the distance between two of them is finite, too."""

_FORMS = "hw.f64(0.5, min=0, max=1), the bounds (0, 1), another default, or a slider of Mesa's"


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter, and the `name` of the argument that it is of the class."""

    name: str
    param: Param


def free_name(name: str, taken: Iterable[str], group: str) -> str:
    """Return `name`, or ``GROUP_name`` where it is that of a file column or among those `taken`."""
    is_free = name not in (*FILE_COLUMNS, *SERIES_LEADING) and name not in taken
    return name if is_free else f"{group}_{name}"


def signature_of(cls: type) -> inspect.Signature:
    """Return the signature by which `cls` is called, with annotations that are evaluated where they can be."""
    try:
        return inspect.signature(cls, eval_str=True)
    except NameError:  # an annotation that only type checkers see
        return inspect.signature(cls)


def arguments_of(signature: inspect.Signature, given: Mapping[str, object], own: Sequence[str]) -> tuple[Argument, ...]:
    """Return the parameters that the arguments of `signature` are.

    An argument whose default is no value of a parameter (None, say) is none unless it is `given`: the class goes on
    with its default.

    Args:
        signature: What the class is called with.
        given: What is said of arguments, by name.
        own: Arguments that the adapter fills itself, such as the seed.

    Raises:
        ModelDefinitionError: An argument has neither a default nor something given, or what is given is not understood
            or of no argument.
    """
    arguments = {
        name: each for name, each in signature.parameters.items() if name not in own and each.kind not in _REST
    }
    takes_more = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values())
    for name in given:
        if name in own:
            raise ModelDefinitionError(f"params names '{name}', which every run brings by itself; leave it out")
        if name not in arguments and not takes_more:
            hint = near_miss(name, arguments)
            allowed = f"{', '.join(arguments) or 'none'}{f'; {hint}' if hint else ''}"
            raise ModelDefinitionError(f"params names '{name}', which the class does not take; allowed: {allowed}")
    found = {name: _param(name, each, given) for name, each in arguments.items()}
    found |= {name: given_param(name, form) for name, form in given.items() if name not in arguments}
    return tuple(Argument(name, param) for name, param in found.items() if param is not None)


_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _param(name: str, argument: inspect.Parameter, given: Mapping[str, object]) -> Param | None:
    if name in given:
        return given_param(name, given[name], argument)
    if argument.default is inspect.Parameter.empty:
        form = f'params={{"{name}": hw.f64(0.5, min=0, max=1)}}'
        raise ModelDefinitionError(f"the argument '{name}' has no default and params does not name it; write {form}")
    try:
        return _usual(name, argument.default, argument.annotation)
    except ModelDefinitionError:
        return None


def given_param(name: str, form: object, argument: inspect.Parameter | None = None) -> Param:
    """Return the parameter of the argument `name` by the `form` it is given in.

    Raises:
        ModelDefinitionError: The form is not understood, or needs a default that `argument` does not have.
    """
    annotation = None if argument is None else argument.annotation
    if isinstance(form, Parameter):
        return form.param(_id(name))
    if isinstance(form, (bool, int, float, str)):
        return _usual(name, form, annotation)
    if isinstance(form, tuple) and len(form) == 2 and all(isinstance(end, (int, float)) for end in form):
        if argument is None or type(argument.default) not in (int, float):
            wrong = f"params has bounds for '{name}', whose default is no number"
            raise ModelDefinitionError(f"{wrong}; write hw.f64(DEFAULT, min={form[0]}, max={form[1]})")
        return _usual(name, argument.default, annotation, form)
    said = dict(form) if isinstance(form, Mapping) else dict(getattr(form, "__dict__", {}))
    if said.get("value") is None:
        raise ModelDefinitionError(f"params has {whole_text(form)} for '{name}'; allowed: {_FORMS}")
    bounds = (said["min"], said["max"]) if said.get("min") is not None and said.get("max") is not None else None
    return _usual(name, said["value"], annotation, bounds, said.get("values") or (), said.get("label"))


def _usual(
    name: str,
    default: object,
    annotation: object,
    bounds: tuple[float, float] | None = None,
    options: Sequence[object] = (),
    label: str | None = None,
) -> Param:
    """Return the parameter of the kind that `default` has, or that what else is known asks for."""
    id = _id(name)
    named: tuple[str, str] = (id, label or shown_name(id))
    texts = [option for option in options or get_args(annotation) if isinstance(option, str)]
    if isinstance(default, str) and default in texts:
        return kinds.choice(*named, texts, texts.index(default), apply=Apply.RELOAD)
    if isinstance(default, str):
        return kinds.text(*named, default, apply=Apply.RELOAD)
    if isinstance(default, bool):
        return kinds.boolean(*named, default, apply=Apply.RELOAD)
    if not isinstance(default, (int, float)):
        raise ModelDefinitionError(f"the default {whole_text(default)} of '{name}' is no value of a parameter")
    if float in (annotation, type(default), *map(type, bounds or ())):
        low, high = bounds or (-_WIDEST, _WIDEST)
        return kinds.f64(*named, default, low, high, apply=Apply.RELOAD)
    least, most = bounds or (-(2**63), 2**63 - 1)
    return kinds.i64(*named, int(default), int(least), int(most), apply=Apply.RELOAD)


def _id(name: str) -> str:
    return free_name(model_id(name), (), "param")
