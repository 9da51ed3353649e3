"""The tables of a spec that a sweep and a search share: their common base, levels, factors.

Immutable values and nothing else: no reading of files (`spec_file`), no checking against a model (`plan`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

import msgspec
import numpy as np
from msgspec import structs

from henad_web.errors import Place, Problem, SpecError, near_miss
from henad_web.explore.spec_kinds import fractional_fields, kind_of, wrong_kinds
from henad_web.model.decimals import whole_text

__all__ = [
    "AllLevels",
    "FactorSpec",
    "LevelSpec",
    "RangeLevels",
    "SpecTable",
    "SpecValue",
    "ValueLevels",
]

SpecValue = int | float | bool | str
"""A value as a spec gives it, before a parameter's own type is known."""


_MOST_SHOWN = 12


def _shown(value: object) -> str:
    """Return `value` as its `repr` shows it, long texts and tuples cut."""
    if isinstance(value, str) and len(value) > 5 * _MOST_SHOWN:
        return f"{value[: 5 * _MOST_SHOWN]!r}… ({len(value)} letters)"
    if isinstance(value, tuple):
        more = f", … {len(value)} in all" if len(value) > _MOST_SHOWN else "," if len(value) == 1 else ""
        return f"({', '.join(map(_shown, value[:_MOST_SHOWN]))}{more})"
    return whole_text(value)


class SpecTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the spec's tables. Numpy's scalars and arrays, lists and ranges become Python's own values and tuples.

    Attributes:
        path: Place of the table in a file, where there is one.
    """

    path: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Make every value plain, which is all that hashes and files can hold.

        Raises:
            SpecError: A value is of another kind than its field.
        """
        for name in self.__struct_fields__:
            value = getattr(self, name)
            plain = _plain_value(value)
            if plain is not value:
                structs.force_setattr(self, name, plain)
        problems = wrong_kinds(self, self.path)
        if problems:
            raise SpecError(problems)
        for name in fractional_fields(type(self)):
            if isinstance(getattr(self, name), int):
                structs.force_setattr(self, name, float(getattr(self, name)))

    def __repr__(self) -> str:
        """Return the fields that are not at their default, on one line; what is long is cut."""
        names, last = self.__struct_fields__, self.__struct_defaults__
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True))
        given = {name: getattr(self, name) for name in names}
        shown = [
            f"{name}={_shown(value)}" for name, value in given.items() if value != defaults.get(name, msgspec.UNSET)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def make_word(self, name: str, words: type[StrEnum]) -> None:
        """Make the text at field `name` one of `words`: code compares these by identity.

        Raises:
            SpecError: It is none of them.
        """
        value = getattr(self, name)
        if not isinstance(value, str) or value not in list(words):
            problem = Problem(
                place=Place(key=name),
                wrong="no such word",
                came=repr(value) if isinstance(value, str) else kind_of(value),
                allowed=", ".join(f"'{word}'" for word in words),
                hint=near_miss(str(value), list(words)),
            )
            raise SpecError([problem])
        structs.force_setattr(self, name, words(value))


def _plain_value(value: object) -> object:
    if isinstance(value, np.ndarray):
        return _plain_value(value.tolist())
    if isinstance(value, list | tuple | range):
        return tuple(map(_plain_value, value))
    return value.item() if isinstance(value, np.generic) else value


class ValueLevels(SpecTable, frozen=True, kw_only=True):
    """Levels listed one by one, in order; a single value, also a text, is one level."""

    values: tuple[SpecValue, ...]

    def __post_init__(self) -> None:
        """Make values plain, and one value a list of one: a text is never taken apart into its letters."""
        plain = _plain_value(self.values)
        structs.force_setattr(self, "values", plain if isinstance(plain, tuple) else (plain,))
        SpecTable.__post_init__(self)


class RangeLevels(SpecTable, frozen=True, kw_only=True):
    """Levels from `min` to `max`, both included, `step` apart.

    `step` None leaves it to the design or the kind: 1 for whole numbers, the whole domain in a sampled design.
    """

    min: float | int
    max: float | int
    step: float | int | None = None


class AllLevels(SpecTable, frozen=True, kw_only=True):
    """Every option of a choice, or false then true of a bool."""


LevelSpec = ValueLevels | RangeLevels | AllLevels


class FactorSpec(SpecTable, frozen=True, kw_only=True):
    """One thing that varies: exactly one of `param` (a parameter id) and `action` (an action's name) is set."""

    levels: ValueLevels | RangeLevels | AllLevels
    param: str | None = None
    action: str | None = None
