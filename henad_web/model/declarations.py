"""What a model declares in the body of its class: parameters, statistics, actions and tables, each where it is used.

A parameter is declared as `params` has it, without the id and the label, which follow from the attribute's name; with
them the same calls make the `Param` of an entry that is put together by hand. Owns the declarations alone: `definition`
reads them off a class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar, cast, overload

from henad_web.errors import ModelDefinitionError
from henad_web.model import params
from henad_web.model.decimals import whole_text
from henad_web.model.params import Apply, Format, Param
from henad_web.model.schema import Action, Rgb, Rgba, Stat, is_color
from henad_web.model.tables import Table

__all__ = [
    "COLORS",
    "ActionMethod",
    "Parameter",
    "Statistic",
    "TableMethod",
    "action",
    "boolean",
    "choice",
    "f32",
    "f64",
    "i64",
    "shown_name",
    "stat",
    "table",
    "text",
    "u32",
]

V = TypeVar("V")
W = TypeVar("W")

COLORS: tuple[Rgb, ...] = (
    (0x00, 0xE6, 0x76),
    (0xF4, 0x43, 0x36),
    (0x42, 0xA5, 0xF5),
    (0xFF, 0xB3, 0x00),
    (0xAB, 0x47, 0xBC),
    (0x26, 0xC6, 0xDA),
    (0xFF, 0x70, 0x43),
    (0x9C, 0xCC, 0x65),
)
"""Colours of statistics that name none, by position; the first six are those of cells, too."""


def shown_name(name: str) -> str:
    """Return the attribute `name` as people read it: ``grid_width`` is ``Grid width``."""
    words = name.strip("_").replace("_", " ")
    return words[:1].upper() + words[1:]


class Parameter(Generic[V]):
    """A parameter in the body of a class; of an instance, its value.

    Args:
        make: Returns the parameter with an id and a label.
    """

    def __init__(self, make: Callable[[str, str], Param]) -> None:
        self._make = make

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object, owner: type) -> Self | V:
        """Return the declaration, of the class; an instance holds the value itself."""
        if instance is None:
            return self
        raise AttributeError("a parameter has no value before the model is built")

    def param(self, id: str) -> Param:
        """Return the parameter under its `id`.

        Raises:
            ModelDefinitionError: Its bounds, its default or its options cannot be used.
        """
        return self._make(id, shown_name(id))


class Statistic(Generic[V]):
    """A statistic in the body of a class; of an instance, its value at the tick reached.

    Args:
        read: Returns the value from the model; None where the model assigns it to the attribute.
        label: Its column, the attribute's name when None.
        color: Red, green and blue, or with opacity, each 0 to 255; chosen by position when None.
    """

    def __init__(
        self, read: Callable[[Any], V] | None = None, label: str | None = None, color: Rgb | Rgba | None = None
    ) -> None:
        self.read = read
        self._label, self._color = label, color
        self.__doc__ = read.__doc__ if read is not None else None

    def __call__(self, read: Callable[[Any], W]) -> Statistic[W]:
        """Return this statistic, read by the method `read`: ``@hw.stat(label="Infected")``."""
        return Statistic(read, self._label, self._color)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object, owner: type) -> Self | V:
        """Return the declaration, of the class, or the value, of an instance."""
        if instance is None:
            return self
        if self.read is None:
            raise AttributeError("a statistic that is no method has no value before the model assigns one")
        return self.read(instance)

    def stat(self, name: str, position: int) -> Stat:
        """Return what a schema holds of it, declared as `name` in the `position`, from 0."""
        color = self._color or COLORS[position % len(COLORS)]
        if not is_color(color, 3) and not is_color(color, 4):
            allowed = "red, green and blue each 0 to 255, color=(0, 230, 118)"
            raise ModelDefinitionError(f"statistic '{name}': its color is {whole_text(color)}; allowed: {allowed}")
        return Stat(self._label or name, color if len(color) == 4 else (*color, 0xFF))

    def reader(self, name: str) -> Callable[[Any], object]:
        """Return the function that gives the value from a model, declared as `name`."""
        return self.read or attrgetter(name)


@overload
def stat(read: Callable[[Any], V], /) -> Statistic[V]: ...
@overload
def stat(*, label: str | None = None, color: Rgb | Rgba | None = None) -> Statistic[float]: ...
def stat(
    read: Callable[[Any], Any] | None = None, /, *, label: str | None = None, color: Rgb | Rgba | None = None
) -> Statistic[Any]:
    """Declare a statistic of a model: ``@hw.stat`` over a method that returns a number, which is then read as a value.

    Without a method, ``infected = hw.stat()``, it is an attribute that the model assigns in `setup` and as it steps.

    Args:
        read: The method.
        label: Name of its column, that of the method or attribute when None.
        color: Red, green and blue, or with opacity, each 0 to 255; one of eight by position when None.
    """
    return Statistic(read, label, color)


class ActionMethod:
    """An action in the body of a class; of an instance, the method that does it.

    Args:
        do: Does it; False refuses it, anything else is done.
        label: Name shown to people, made from the method's name when None.
    """

    def __init__(self, do: Callable[[Any], object], label: str | None = None) -> None:
        self.do = do
        self._label = label
        self.__doc__ = do.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Callable[[], object]: ...
    def __get__(self, instance: object, owner: type) -> Self | Callable[[], object]:
        """Return the declaration, of the class, or the bound method, of an instance."""
        return self if instance is None else cast("Callable[[], object]", self.do.__get__(instance, owner))

    def action(self, id: str) -> Action:
        """Return what a schema holds of it under its `id`."""
        return Action(id, self._label or shown_name(id))


@overload
def action(do: Callable[[Any], object], /) -> ActionMethod: ...
@overload
def action(*, label: str | None = None) -> Callable[[Callable[[Any], object]], ActionMethod]: ...
def action(
    do: Callable[[Any], object] | None = None, /, *, label: str | None = None
) -> ActionMethod | Callable[[Callable[[Any], object]], ActionMethod]:
    """Declare an action of a model: ``@hw.action`` over a method without arguments, whose name is the action's id.

    Args:
        do: The method. When it returns False, the model refuses the action; it is noted in the run's row.
        label: Name shown to people, made from the method's name when None.
    """
    return ActionMethod(do, label) if do is not None else lambda method: ActionMethod(method, label)


class TableMethod:
    """A table in the body of a class; of an instance, the method that returns its columns.

    Args:
        read: Returns the columns at the tick reached.
        columns: Kind of each column by name.
    """

    def __init__(self, read: Callable[[Any], Mapping[str, Any]], columns: Mapping[str, str]) -> None:
        self.read = read
        self._columns = dict(columns)
        self.__doc__ = read.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Callable[[], Mapping[str, Any]]: ...
    def __get__(self, instance: object, owner: type) -> Self | Callable[[], Mapping[str, Any]]:
        """Return the declaration, of the class, or the bound method, of an instance."""
        return self if instance is None else cast("Callable[[], Mapping[str, Any]]", self.read.__get__(instance, owner))

    def table(self, id: str) -> Table:
        """Return what a schema holds of it under its `id`.

        Raises:
            ModelDefinitionError: Its id, a column or a kind cannot be used.
        """
        return Table(id, self._columns)


def table(
    columns: Mapping[str, str] | None = None, /, **kinds: str
) -> Callable[[Callable[[Any], Mapping[str, Any]]], TableMethod]:
    """Declare a table of a model: ``@hw.table(wealth="f64")`` over a method that returns its columns.

    The method's name is the table's id. It is called only for a spec that asks for the table, and returns for the tick
    reached a mapping of every column to an array ``(rows,)``, all of one length.

    Args:
        columns: Kind of each column by name: ``f64``, ``f32``, ``i64``, ``bool`` or ``text``; for names that are no
            words.
        **kinds: The same by keyword.

    Raises:
        ModelDefinitionError: It stands over a method without its columns; when the class is made, also where a column
            or a kind cannot be used.
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise ModelDefinitionError('a table says its columns: @hw.table(id="i64", wealth="f64") over its method')
    return lambda read: TableMethod(read, {**(columns or {}), **kinds})


def _declared(
    make: Callable[..., Param], arguments: tuple[Any, ...], options: dict[str, Any], *, is_text: bool = False
) -> Param | Parameter[Any]:
    """Return the parameter that `make` makes where an id is given, its declaration in a class without one."""
    has_id_first = bool(arguments) and isinstance(arguments[0], str)
    if is_text and len(arguments) == 1 and "default" not in options:
        has_id_first = False  # the only text is the default
    if "id" in options or has_id_first or (len(arguments) > 1 and isinstance(arguments[1], str)):
        _check_arguments(make, inspect.signature(make), arguments, options)
        return make(*arguments, **options)
    _check_arguments(make, _signature_in_class(make), arguments, options)
    label = options.pop("label", None)
    options.setdefault("apply", Apply.RELOAD)
    return Parameter(lambda id, shown: make(id, shown if label is None else label, *arguments, **options))


def _check_arguments(
    make: Callable[..., Param], signature: inspect.Signature, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Refuse wrong arguments at their line, in words."""
    needed = [name for name, each in signature.parameters.items() if each.default is each.empty]
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        missing = [name for name in needed[len(arguments) :] if name not in options]
        wrong = f"lacks {', '.join(missing)}" if missing else str(error)
        form = f"hw.{make.__name__}({', '.join(needed)})"
        raise ModelDefinitionError(f"the parameter hw.{make.__name__}(…) {wrong}; needed: {form}") from None


def _signature_in_class(make: Callable[..., Param]) -> inspect.Signature:
    """Return the signature of `make` in the body of a class, where the attribute's name is the id."""
    signature = inspect.signature(make)
    label = inspect.Parameter("label", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
    own = [each for name, each in signature.parameters.items() if name not in ("id", "label")]
    own = [each.replace(default=Apply.RELOAD) if each.name == "apply" else each for each in own]
    at = next(position for position, each in enumerate(own) if each.kind is inspect.Parameter.KEYWORD_ONLY)
    return signature.replace(parameters=[*own[:at], label, *own[at:]], return_annotation="Parameter")


F = TypeVar("F", bound=Callable[..., Any])


def _shown_as(make: Callable[..., Param]) -> Callable[[F], F]:
    """Have `help` show the form in a class, which is most people's."""

    def with_signature(declare: F) -> F:
        vars(declare)["__signature__"] = _signature_in_class(make)
        return declare

    return with_signature


@overload
def f32(
    id: str,
    label: str,
    default: float,
    min: float,
    max: float,
    *,
    step: float | None = None,
    apply: Apply = Apply.LIVE,
    format: Format = Format.PLAIN,
) -> Param: ...
@overload
def f32(
    default: float,
    min: float,
    max: float,
    *,
    label: str | None = None,
    step: float | None = None,
    apply: Apply = Apply.RELOAD,
    format: Format = Format.PLAIN,
) -> Parameter[float]: ...
@_shown_as(params.f32)
def f32(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a single-precision parameter between `min` and `max`, both included.

    In the body of a class, ``rate = hw.f32(0.3, min=0, max=1)``, its id is the attribute's name; with an id and a label
    it is that of an entry.

    Raises:
        ModelDefinitionError: A number is none, the bounds are not finite or reversed, or `default` lies outside them;
            in a class when the class is made.
    """
    return _declared(params.f32, arguments, options)


@overload
def f64(
    id: str,
    label: str,
    default: float,
    min: float,
    max: float,
    *,
    step: float | None = None,
    apply: Apply = Apply.LIVE,
    format: Format = Format.PLAIN,
) -> Param: ...
@overload
def f64(
    default: float,
    min: float,
    max: float,
    *,
    label: str | None = None,
    step: float | None = None,
    apply: Apply = Apply.RELOAD,
    format: Format = Format.PLAIN,
) -> Parameter[float]: ...
@_shown_as(params.f64)
def f64(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a double-precision parameter between `min` and `max`, both included, as `f32` does.

    Raises:
        ModelDefinitionError: As `f32`.
    """
    return _declared(params.f64, arguments, options)


@overload
def u32(id: str, label: str, default: int, min: int, max: int, *, apply: Apply = Apply.LIVE) -> Param: ...
@overload
def u32(
    default: int, min: int, max: int, *, label: str | None = None, apply: Apply = Apply.RELOAD
) -> Parameter[int]: ...
@_shown_as(params.u32)
def u32(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a whole-number parameter between `min` and `max`, both included and within 0 to 2^32 - 1, as `f32` does.

    Raises:
        ModelDefinitionError: A number is not whole, the bounds are reversed or do not fit, or `default` lies outside.
    """
    return _declared(params.u32, arguments, options)


@overload
def i64(id: str, label: str, default: int, min: int, max: int, *, apply: Apply = Apply.LIVE) -> Param: ...
@overload
def i64(
    default: int, min: int, max: int, *, label: str | None = None, apply: Apply = Apply.RELOAD
) -> Parameter[int]: ...
@_shown_as(params.i64)
def i64(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a whole-number parameter between `min` and `max`, both included, within -2^63 to 2^63 - 1, as `f32` does.

    Raises:
        ModelDefinitionError: As `u32`.
    """
    return _declared(params.i64, arguments, options)


@overload
def boolean(id: str, label: str, default: bool, *, apply: Apply = Apply.LIVE) -> Param: ...
@overload
def boolean(default: bool, *, label: str | None = None, apply: Apply = Apply.RELOAD) -> Parameter[bool]: ...
@_shown_as(params.boolean)
def boolean(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a true-or-false parameter, as `f32` does.

    Raises:
        ModelDefinitionError: `default` is neither.
    """
    return _declared(params.boolean, arguments, options)


@overload
def choice(id: str, label: str, options: Sequence[str], default: int = 0, *, apply: Apply = Apply.LIVE) -> Param: ...
@overload
def choice(
    options: Sequence[str], default: int = 0, *, label: str | None = None, apply: Apply = Apply.RELOAD
) -> Parameter[str]: ...
@_shown_as(params.choice)
def choice(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a parameter that is one of `options`, as `f32` does; `default` is the index of one.

    Raises:
        ModelDefinitionError: `options` is no sequence of texts; an option is empty, has blanks at an end, reads as an
            unsigned integer (it would be mistaken for an index) or is given twice; or `default` is no index of one.
    """
    return _declared(params.choice, arguments, options)


@overload
def text(id: str, label: str, default: str, *, apply: Apply = Apply.LIVE) -> Param: ...
@overload
def text(default: str, *, label: str | None = None, apply: Apply = Apply.RELOAD) -> Parameter[str]: ...
@_shown_as(params.text)
def text(*arguments: Any, **options: Any) -> Param | Parameter[Any]:
    """Declare a parameter that is a text of one line, such as a rule, a name or a path, as `f32` does.

    Raises:
        ModelDefinitionError: `default` is not 1 to 200 characters without control characters and blanks at its ends.
    """
    return _declared(params.text, arguments, options, is_text=True)
