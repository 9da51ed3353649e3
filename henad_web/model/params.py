"""What a parameter is: its kind, bounds and default, and how a text or a Python value becomes one of its values.

A value in canonical form is a float that single precision holds exactly (f32), any finite float (f64), an int (u32,
i64), a bool, the name of an option (choice) or a text. This module never decides what a value does to a model.
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real
from typing import TypeVar

import numpy as np

from henad_web.errors import ModelDefinitionError, ParamError, near_miss
from henad_web.model.decimals import (
    LARGEST_DOUBLE,
    f32_from_text,
    f32_text,
    f64_from_text,
    f64_text,
    whole_text,
)

__all__ = [
    "MAX_TEXT_LENGTH",
    "Apply",
    "Format",
    "Param",
    "ParamKind",
    "ParamValue",
    "boolean",
    "choice",
    "f32",
    "f64",
    "i64",
    "text",
    "u32",
]

ParamValue = float | int | bool | str
"""A canonical value: float for f32 and f64, int for u32 and i64, bool for bool, str for choice and text."""

_Number = TypeVar("_Number", int, float)
_U32_MAX = 2**32 - 1
_I64_MIN, _I64_MAX = -(2**63), 2**63 - 1
_UNSIGNED = re.compile(r"\+?[0-9]+")
_SIGNED = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS = 19
"""Digits of the longest whole number of any kind; more are not even read as one."""

_READABLE_LENGTH = 24
"""Longest shortest text of a double with an exponent."""

MAX_TEXT_LENGTH = 200
"""Most characters of a text: tables of a million rows hold it in fixed width."""

_NOT_ONE_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class ParamKind(StrEnum):
    """The type of a parameter's values."""

    F32 = "f32"
    U32 = "u32"
    BOOL = "bool"
    CHOICE = "choice"
    F64 = "f64"
    I64 = "i64"
    TEXT = "text"

    @property
    def is_real(self) -> bool:
        """Whether its values are floats."""
        return self in (ParamKind.F32, ParamKind.F64)

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self in (ParamKind.U32, ParamKind.I64)

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which have bounds and an order."""
        return self.is_real or self.is_whole


class Apply(StrEnum):
    """When a changed value takes effect: `LIVE` between two ticks, `RELOAD` only when the model is built anew."""

    LIVE = "live"
    RELOAD = "reload"


class Format(StrEnum):
    """How a value is shown. A percentage is a matter of display only; the value stays a fraction."""

    PLAIN = "plain"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One parameter of a model. Made by `f32`, `u32`, `f64`, `i64`, `boolean`, `choice` and `text`.

    Attributes:
        id: Name in specs and files.
        label: Name shown to people.
        kind: Type of its values.
        default: Canonical default value.
        min: Smallest value, included; None for kinds that are no numbers.
        max: Largest value, included; None for kinds that are no numbers.
        step: Step of a slider (f32 and f64 only), None for none.
        options: Names of a choice's options in order, empty for other kinds.
        apply: When a changed value takes effect.
        format: How a value is shown.
    """

    id: str
    label: str
    kind: ParamKind
    default: ParamValue
    min: float | int | None = None
    max: float | int | None = None
    step: float | None = None
    options: tuple[str, ...] = ()
    apply: Apply = Apply.LIVE
    format: Format = Format.PLAIN

    @property
    def allowed(self) -> str:
        """What a value may be, in words: ``0 to 1``, ``true or false``, ``one of a, b``."""
        if self.kind is ParamKind.BOOL:
            return "true or false"
        if self.kind is ParamKind.CHOICE:
            return f"one of {', '.join(self.options)}"
        if self.min is None or self.max is None:
            return f"a text of 1 to {MAX_TEXT_LENGTH} characters in one line, no blanks at its ends"
        return f"{self._bound_text(self.min)} to {self._bound_text(self.max)}"

    def _bound_text(self, bound: float | int) -> str:
        # A bound such as 1e300 has 301 digits, which nobody reads in a message.
        text = self.text(bound)
        return text if len(text) <= _READABLE_LENGTH or self.kind is not ParamKind.F64 else repr(bound)

    def parse(self, text: str) -> ParamValue:
        """Return the canonical value that `text` stands for; blanks around it do not count, and a text has none.

        Raises:
            ParamError: `text` is not of the parameter's kind, or its value is out of range.
        """
        if self.kind is ParamKind.TEXT:
            return self._checked_text(text)
        stripped = text.strip()
        if self.kind.is_real:
            return self._parse_real(stripped)
        if self.kind.is_whole:
            return self._parse_whole(stripped)
        return self._parse_bool(stripped) if self.kind is ParamKind.BOOL else self._parse_choice(stripped)

    def coerce(self, value: object) -> ParamValue:
        """Return `value`, a Python or numpy value, in canonical form.

        A text goes through `parse`, a float through its shortest text (so that 0.05 is the single-precision 0.05), a
        whole number is taken as any number or as the index of an option. A number is no text: ``8`` and ``8.0`` are
        one number and two texts.

        Raises:
            ParamError: `value` is of another kind or out of range.
        """
        if isinstance(value, str):
            return self.parse(value)
        flag = _as_flag(value)
        if flag is not None:
            if self.kind is ParamKind.BOOL:
                return flag
        elif isinstance(value, numbers.Integral):
            if self.kind not in (ParamKind.BOOL, ParamKind.TEXT):
                return self._of_integer(operator.index(value))
        elif isinstance(value, numbers.Real) and self.kind.is_real:
            return self._parse_real(repr(float(value)))
        raise self._error(_WRONG_KIND[self.kind], _came(value), self._hint_for(value))

    def text(self, value: ParamValue) -> str:
        """Return the canonical `value` as text: the shortest number that reads back, true/false, or the option."""
        if self.kind is ParamKind.F32:
            return f32_text(float(value))
        if self.kind is ParamKind.F64:
            return f64_text(float(value))
        if self.kind is ParamKind.BOOL:
            return "true" if value else "false"
        return str(value)

    def _of_integer(self, number: int) -> ParamValue:
        if abs(number) > LARGEST_DOUBLE:
            raise self._error("out of range", _came(number))
        if self.kind.is_whole:
            return self._in_range(number, str(number))
        return self.parse(str(number))

    def _parse_real(self, text: str) -> float:
        read = f32_from_text if self.kind is ParamKind.F32 else f64_from_text
        number = read(text)
        if number is None:
            point = text.replace(",", ".")
            hint = f"did you mean '{point}'?" if self._holds(read(point)) else None
            raise self._error("not a number", repr(text), hint)
        return self._in_range(number, text)

    def _parse_whole(self, text: str) -> int:
        is_signed = self.kind is ParamKind.I64
        if not (_SIGNED if is_signed else _UNSIGNED).fullmatch(text):
            hint = self._whole_hint(f64_from_text(text))
            raise self._error("not a whole number", repr(text), hint)
        digits = text.lstrip("+-").lstrip("0") or "0"
        if len(digits) > _MOST_DIGITS:
            raise self._error("out of range", text)
        return self._in_range(-int(digits) if text.startswith("-") else int(digits), text)

    def _checked_text(self, text: str) -> str:
        wrong = _text_fault(text)
        if wrong is not None:
            came = repr(text if len(text) <= MAX_TEXT_LENGTH else f"{text[:40]}...")
            raise self._error(wrong, came)
        return text

    def _parse_bool(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise self._error("neither true nor false", repr(text), near_miss(text, ("true", "false")))
        return text == "true"

    def _parse_choice(self, text: str) -> str:
        if text in self.options:
            return text
        if _UNSIGNED.fullmatch(text) and len(text) <= 20 and int(text) < len(self.options):
            return self.options[int(text)]
        raise self._error("no such option", repr(text), near_miss(text, self.options))

    def _in_range(self, number: _Number, came: str) -> _Number:
        if not self._holds(number):
            raise self._error("out of range", came)
        return number

    def _holds(self, number: float | int | None) -> bool:
        low, high = self.min, self.max
        # Not a number lies nowhere, and bounds are finite; an integer too large for a float must not become one.
        return number is not None and low is not None and high is not None and low <= number <= high

    def _hint_for(self, value: object) -> str | None:
        if not isinstance(value, numbers.Real):
            return None
        if self.kind is ParamKind.TEXT:
            return f'write "{_came(value)}" in quotes'
        return self._whole_hint(float(value)) if self.kind.is_whole else None

    def _whole_hint(self, number: float | None) -> str | None:
        # What is out of range is not proposed.
        fits = number is not None and number.is_integer() and self._holds(int(number))
        return f"write {int(number)}" if fits and number is not None else None

    def _error(self, wrong: str, came: str, hint: str | None = None) -> ParamError:
        return ParamError(self.id, wrong, came=came, allowed=self.allowed, hint=hint)


_WRONG_KIND = {
    ParamKind.F32: "not a number",
    ParamKind.U32: "not a whole number",
    ParamKind.BOOL: "neither true nor false",
    ParamKind.CHOICE: "neither an option nor its index",
    ParamKind.F64: "not a number",
    ParamKind.I64: "not a whole number",
    ParamKind.TEXT: "not a text",
}


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
) -> Param:
    """Declare a single-precision parameter between `min` and `max`, both included.

    Raises:
        ModelDefinitionError: A number is none, the bounds are not finite or reversed, or `default` lies outside them.
    """
    return _real(ParamKind.F32, id, label, (default, min, max), step, apply, format)


def u32(id: str, label: str, default: int, min: int, max: int, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a whole-number parameter between `min` and `max`, both included and within 0 to 2^32 - 1.

    Raises:
        ModelDefinitionError: A number is not whole, the bounds are reversed or do not fit, or `default` lies outside.
    """
    return _whole(ParamKind.U32, id, label, (default, min, max), (0, _U32_MAX), apply)


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
) -> Param:
    """Declare a double-precision parameter between `min` and `max`, both included.

    Raises:
        ModelDefinitionError: A number is none, the bounds are not finite or reversed, or `default` lies outside them.
    """
    return _real(ParamKind.F64, id, label, (default, min, max), step, apply, format)


def i64(id: str, label: str, default: int, min: int, max: int, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a whole-number parameter between `min` and `max`, both included and within -2^63 to 2^63 - 1.

    Raises:
        ModelDefinitionError: A number is not whole, the bounds are reversed or do not fit, or `default` lies outside.
    """
    return _whole(ParamKind.I64, id, label, (default, min, max), (_I64_MIN, _I64_MAX), apply)


def _real(
    kind: ParamKind,
    id: str,
    label: str,
    numbers: tuple[float, float, float],
    step: float | None,
    apply: Apply,
    format: Format,
) -> Param:
    try:
        doubles = [float(number) + 0.0 for number in numbers]
    except (TypeError, ValueError, OverflowError) as error:
        wrong = "default, min and max are not all numbers that double precision holds"
        raise _refused(id, wrong) from error
    if step is not None and (not isinstance(step, Real) or not 0 < step <= LARGEST_DOUBLE):
        raise _refused(id, f"step is {whole_text(step)}; allowed: a finite number above 0, or None")
    default, low, high = map(_nearest_single, doubles) if kind is ParamKind.F32 else doubles
    if not (math.isfinite(low) and math.isfinite(high)):
        where = " in single precision" if kind is ParamKind.F32 else ""
        raise _refused(id, f"bounds {numbers[1]} to {numbers[2]} are not finite{where}")
    return _bounded(
        Param(id=id, label=label, kind=kind, default=default, min=low, max=high, step=step, apply=apply, format=format)
    )


def _nearest_single(number: float) -> float:
    # By its shortest text, as every other way of giving a value.
    single = f32_from_text(repr(number))
    return math.nan if single is None else single


def _whole(
    kind: ParamKind, id: str, label: str, numbers: tuple[int, int, int], widest: tuple[int, int], apply: Apply
) -> Param:
    try:
        default, low, high = map(operator.index, numbers)
    except TypeError as error:
        shown = ", ".join(map(whole_text, numbers))
        raise _refused(id, f"not all of {shown} are whole numbers") from error
    if low < widest[0] or high > widest[1]:
        raise _refused(id, f"bounds {whole_text(low)} to {whole_text(high)} are not within {widest[0]} to {widest[1]}")
    return _bounded(Param(id=id, label=label, kind=kind, default=default, min=low, max=high, apply=apply))


def text(id: str, label: str, default: str, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a parameter that is a text of one line, such as a rule, a name or a path.

    A text survives every file a study is written to, and so it is 1 to `MAX_TEXT_LENGTH` characters without control
    characters, and without blanks at its ends, which readers of tables take off. The empty text is none: in a table of
    one column it would be a blank line, and in others a value that is not there.

    Raises:
        ModelDefinitionError: `default` is no such text.
    """
    wrong = _text_fault(default) if isinstance(default, str) else "not a text"
    if wrong is not None:
        raise _refused(id, f"default {whole_text(default)} is {wrong}")
    return Param(id=id, label=label, kind=ParamKind.TEXT, default=default, apply=apply)


def _text_fault(text: str) -> str | None:
    if not text:
        return "an empty text"
    if _HALF_CHARACTER.search(text):
        return "a text with half of a surrogate pair, which is no character"
    if _NOT_ONE_LINE.search(text):
        return "a text with a line break or another control character"
    if text != text.strip():
        return "a text with blanks at an end"
    return f"a text of {len(text)} characters" if len(text) > MAX_TEXT_LENGTH else None


def boolean(id: str, label: str, default: bool, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a true-or-false parameter.

    Raises:
        ModelDefinitionError: `default` is neither.
    """
    if _as_flag(default) is None:
        raise _refused(id, f"default is {whole_text(default)}; allowed: True or False")
    return Param(id=id, label=label, kind=ParamKind.BOOL, default=default, apply=apply)


def choice(id: str, label: str, options: Sequence[str], default: int = 0, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a parameter that is one of `options`; `default` is the index of one.

    Raises:
        ModelDefinitionError: `options` is no sequence of texts; an option is empty, has blanks at an end, reads as an
            unsigned integer (it would be mistaken for an index) or is given twice; or `default` is no index of one.
    """
    is_listed = isinstance(options, Sequence) and not isinstance(options, (str, bytes))
    if not is_listed or not all(isinstance(option, str) for option in options):
        raise _refused(id, f"options are {whole_text(options)}; allowed: a tuple of texts")
    names = tuple(options)
    if isinstance(default, bool) or not isinstance(default, int):
        raise _refused(id, f"default is {whole_text(default)}; allowed: the index of an option")
    for position, option in enumerate(names):
        wrong = _option_fault(option, names[:position])
        if wrong:
            raise _refused(id, f"option {option!r} {wrong}")
    if not 0 <= default < len(names):
        raise _refused(id, f"default {whole_text(default)} is not the index of one of {len(names)} options")
    return Param(id=id, label=label, kind=ParamKind.CHOICE, default=names[default], options=names, apply=apply)


def _option_fault(option: str, earlier: Sequence[str]) -> str | None:
    if not option or option != option.strip():
        return "is empty or has blanks at an end"
    if _UNSIGNED.fullmatch(option):
        return "reads as an index"
    return "is given twice" if option in earlier else None


def _bounded(param: Param) -> Param:
    low, high, default = param.min, param.max, param.default
    if low is None or high is None or isinstance(default, str) or not low <= default <= high:
        raise _refused(param.id, f"default {whole_text(default)} is not within {low} to {high}")
    return param


def _refused(id: object, wrong: str) -> ModelDefinitionError:
    return ModelDefinitionError(f"parameter '{id if isinstance(id, str) else whole_text(id)}': {wrong}")


def _came(value: object) -> str:
    if _as_flag(value) is not None:
        return str(value).lower()
    if isinstance(value, numbers.Integral):
        return whole_text(operator.index(value))
    return str(value) if isinstance(value, numbers.Real) else whole_text(value)


def _as_flag(value: object) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None
