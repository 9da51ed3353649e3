"""What a parameter is: its kind, bounds and default, and how a text or a Python value becomes one of its values.

A value in canonical form is a float that single precision holds exactly (f32), an int (u32), a bool, or the name of
an option (choice). This module never decides what a value does to a model.
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np

from henad_web.errors import ModelDefinitionError, ParamError, near_miss
from henad_web.model.f32 import f32_from_text, f32_text

__all__ = ["Apply", "Format", "Param", "ParamKind", "ParamValue", "boolean", "choice", "f32", "u32"]

ParamValue = float | int | bool | str
"""A canonical value: float for f32, int for u32, bool for bool, the option's name for choice."""

_Number = TypeVar("_Number", int, float)
_U32_MAX = 2**32 - 1
_BEYOND_EVERY_KIND = 2**128
"""From here on integers are infinite in single precision; Python writes none of thousands of digits."""
_UNSIGNED = re.compile(r"\+?[0-9]+")


class ParamKind(StrEnum):
    """The type of a parameter's values."""

    F32 = "f32"
    U32 = "u32"
    BOOL = "bool"
    CHOICE = "choice"


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
    """One parameter of a model. Made by `f32`, `u32`, `boolean` and `choice`.

    Attributes:
        id: Name in specs and files.
        label: Name shown to people.
        kind: Type of its values.
        default: Canonical default value.
        min: Smallest value, included; None for bool and choice.
        max: Largest value, included; None for bool and choice.
        step: Step of a slider (f32 only), None for none.
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
        low, high = self.min, self.max
        if self.kind is ParamKind.F32 and low is not None and high is not None:
            return f"{f32_text(low)} to {f32_text(high)}"
        return f"{low} to {high}"

    def parse(self, text: str) -> ParamValue:
        """Return the canonical value that `text` stands for; blanks around it do not count.

        Raises:
            ParamError: `text` is not of the parameter's kind, or its value is out of range.
        """
        stripped = text.strip()
        if self.kind is ParamKind.F32:
            return self._parse_f32(stripped)
        if self.kind is ParamKind.U32:
            return self._parse_u32(stripped)
        if self.kind is ParamKind.BOOL:
            return self._parse_bool(stripped)
        return self._parse_choice(stripped)

    def coerce(self, value: object) -> ParamValue:
        """Return `value`, a Python or numpy value, in canonical form.

        A text goes through `parse`, a float through its shortest text (so that 0.05 is the single-precision 0.05), a
        whole number is taken as an f32, a u32 or the index of an option.

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
            if self.kind is not ParamKind.BOOL:
                return self._of_integer(operator.index(value))
        elif isinstance(value, numbers.Real) and self.kind is ParamKind.F32:
            return self._parse_f32(repr(float(value)))
        came = str(value).lower() if flag is not None else repr(value)
        raise self._error(_WRONG_KIND[self.kind], came, self._hint_for(value))

    def text(self, value: ParamValue) -> str:
        """Return the canonical `value` as text: the shortest number that reads back, true/false, or the option."""
        if self.kind is ParamKind.F32:
            return f32_text(float(value))
        if self.kind is ParamKind.BOOL:
            return "true" if value else "false"
        return str(value)

    def _of_integer(self, number: int) -> ParamValue:
        if abs(number) >= _BEYOND_EVERY_KIND:
            raise self._error("out of range", f"about {'-' if number < 0 else ''}2^{number.bit_length() - 1}")
        if self.kind is ParamKind.U32:
            return self._in_range(number, str(number))
        return self.parse(str(number))

    def _parse_f32(self, text: str) -> float:
        number = f32_from_text(text)
        if number is None:
            point = text.replace(",", ".")
            hint = f"did you mean '{point}'?" if f32_from_text(point) is not None else None
            raise self._error("not a number", repr(text), hint)
        return self._in_range(number, text)

    def _parse_u32(self, text: str) -> int:
        if not _UNSIGNED.fullmatch(text):
            number = f32_from_text(text)
            whole = number is not None and number >= 0 and number.is_integer()
            hint = f"write {int(number)}" if whole and number is not None else None
            raise self._error("not a whole number", repr(text), hint)
        if len(text) > 20:
            raise self._error("out of range", text)
        return self._in_range(int(text), text)

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
        low, high = self.min, self.max
        # Not a number lies nowhere, and bounds are finite; an integer too large for a float must not become one.
        if low is None or high is None or not low <= number <= high:
            raise self._error("out of range", came)
        return number

    def _hint_for(self, value: object) -> str | None:
        if self.kind is ParamKind.U32 and isinstance(value, numbers.Real) and float(value).is_integer():
            return f"write {int(float(value))}"
        return None

    def _error(self, wrong: str, came: str, hint: str | None = None) -> ParamError:
        return ParamError(self.id, wrong, came=came, allowed=self.allowed, hint=hint)


_WRONG_KIND = {
    ParamKind.F32: "not a number",
    ParamKind.U32: "not a whole number",
    ParamKind.BOOL: "neither true nor false",
    ParamKind.CHOICE: "neither an option nor its index",
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
        ModelDefinitionError: The bounds are not finite or reversed, or `default` lies outside them.
    """
    single = [f32_from_text(repr(float(number))) for number in (default, min, max)]
    value, low, high = (math.nan if number is None else number for number in single)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ModelDefinitionError(f"parameter '{id}': bounds {min} to {max} are not finite in single precision")
    return _bounded(
        Param(
            id=id,
            label=label,
            kind=ParamKind.F32,
            default=value,
            min=low,
            max=high,
            step=step,
            apply=apply,
            format=format,
        )
    )


def u32(id: str, label: str, default: int, min: int, max: int, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a whole-number parameter between `min` and `max`, both included and within 0 to 2^32 - 1.

    Raises:
        ModelDefinitionError: The bounds are reversed or do not fit, or `default` lies outside them.
    """
    if min < 0 or max > _U32_MAX:
        raise ModelDefinitionError(f"parameter '{id}': bounds {min} to {max} are not within 0 to {_U32_MAX}")
    return _bounded(Param(id=id, label=label, kind=ParamKind.U32, default=default, min=min, max=max, apply=apply))


def boolean(id: str, label: str, default: bool, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a true-or-false parameter."""
    return Param(id=id, label=label, kind=ParamKind.BOOL, default=default, apply=apply)


def choice(id: str, label: str, options: Sequence[str], default: int = 0, *, apply: Apply = Apply.LIVE) -> Param:
    """Declare a parameter that is one of `options`; `default` is the index of one.

    Raises:
        ModelDefinitionError: An option is empty, has blanks at an end, reads as an unsigned integer (it would be
            mistaken for an index) or is given twice; or `default` is not the index of an option.
    """
    names = tuple(options)
    for position, option in enumerate(names):
        wrong = _option_fault(option, names[:position])
        if wrong:
            raise ModelDefinitionError(f"parameter '{id}': option {option!r} {wrong}")
    if not 0 <= default < len(names):
        raise ModelDefinitionError(
            f"parameter '{id}': default {default} is not the index of one of {len(names)} options"
        )
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
        raise ModelDefinitionError(f"parameter '{param.id}': default {default} is not within {low} to {high}")
    return param


def _as_flag(value: object) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None
