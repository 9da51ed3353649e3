"""Variables of another tool: their names as ids of a model's parameters, their values as levels or as a fixed value.

Owns the rules of names (one that was mapped is what it was mapped to, an id of the model is itself, one that is an id
but for its punctuation is that id, everything else is a problem with a suggestion) and the split into what is fixed and
what varies, shared by every importer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from henad_web.errors import ParamError, ProblemList, near_miss
from henad_web.explore.factors import TablePath
from henad_web.explore.spec import FactorSpec, LevelSpec, SpecValue, ValueLevels
from henad_web.importers.imported import Notes
from henad_web.model.decimals import EXACT_LIMIT, LARGEST_TOML_INTEGER
from henad_web.model.params import Param
from henad_web.model.schema import ModelSchema

__all__ = [
    "MOST_VALUES",
    "NameMap",
    "Variables",
    "levels_of",
    "single_value",
    "split_blocks",
    "whole_if_exact",
]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


class NameMap:
    """The parameters that the variables of one experiment stand for."""

    def __init__(
        self, given: Mapping[str, str], schema: ModelSchema | None, problems: ProblemList, notes: Notes
    ) -> None:
        """Take what is known.

        Args:
            given: Parameter ids by name; an empty id leaves the variable out.
            schema: The model, None when it is not known; then any name is taken.
            problems: Where problems go.
            notes: Where changed and dropped names are told.
        """
        self._given, self._schema, self._problems, self._notes = given, schema, problems, notes
        self._found: dict[str, str | None] = {}

    @property
    def _ids(self) -> tuple[str, ...]:
        return () if self._schema is None else tuple(param.id for param in self._schema.params)

    def param(self, name: str) -> Param | None:
        """Return the parameter that `name`, found before, stands for; None when the model is not known."""
        found = self._found.get(name)
        return next((param for param in self._schema.params if param.id == found), None) if self._schema else None

    def find(self, name: str, place: TablePath) -> str | None:
        """Return the id that `name` stands for; None when it is left out or, with a problem recorded, unknown."""
        if name not in self._found:
            self._found[name] = self._unique(name, self._search(name, place), place)
        return self._found[name]

    def _unique(self, name: str, found: str | None, place: TablePath) -> str | None:
        other = next((other for other, taken in self._found.items() if taken == found and taken is not None), None)
        if other is None:
            return found
        hint = f"map one of them to another parameter, or leave it out with {name}="
        self._problems.add(place, name, f"stands for parameter '{found}', and so does '{other}'", hint=hint)
        return None

    def _search(self, name: str, place: TablePath) -> str | None:
        if name in self._given:
            return self._mapped(name, self._given[name], place)
        plain = _plain(name)
        by_plain = {_plain(known): known for known in self._ids}
        if name in self._ids:
            return name
        if not plain and self._schema is None:
            self._problems.add(place, name, "a name without a letter is no id", hint=f"map it with {name}=PARAMETER")
            return None
        if self._schema is None or plain in by_plain:
            found = by_plain.get(plain, plain)
            if found != name:
                self._notes.add(f"'{name}' became '{found}'.")
            return found
        missed = near_miss(plain, by_plain)
        guess = "PARAMETER" if missed is None else by_plain[missed.split("'")[1]]
        hint = f"map it with {name}={guess}, or leave it out with {name}="
        wrong = f"model '{self._schema.model}' has no such parameter"
        self._problems.add(place, name, wrong, allowed=", ".join(self._ids), hint=hint)
        return None

    def _mapped(self, name: str, found: str, place: TablePath) -> str | None:
        if not found:
            self._notes.add(f"'{name}' was left out, as asked.")
            return None
        if self._schema is not None and found not in self._ids:
            wrong = f"mapped to '{found}', which model '{self._schema.model}' does not have"
            hint = near_miss(found, self._ids)
            self._problems.add(place, name, wrong, allowed=", ".join(self._ids), hint=hint)
            return None
        if found != name:
            self._notes.add(f"'{name}' became '{found}'.")
        return found

    def check_all_used(self) -> None:
        """Record names that were mapped and that the experiment does not have."""
        for name in self._given:
            if name not in self._found:
                hint = near_miss(name, self._found)
                allowed = ", ".join(self._found) or "none, it varies and fixes nothing"
                self._problems.add((), None, f"'{name}' is mapped, and the experiment has no such variable",
                                   allowed=allowed, hint=hint)  # fmt: skip


MOST_VALUES = 2**16
"""Most values that are written out one by one."""

Variables = list[tuple[str, LevelSpec]]
"""Parameter ids with their levels, in order."""


def levels_of(
    name: str, values: Sequence[object], names: NameMap, place: TablePath, problems: ProblemList
) -> LevelSpec:
    """Return `values` of the variable `name` as levels, whole floats as integers; problems are recorded."""
    param = names.param(name)
    found: list[SpecValue] = []
    for value in values:
        if not isinstance(value, bool | int | float | str):
            came = "nothing" if value is None else f"a {type(value).__name__}"
            hint = f"leave it out with {name}="
            problems.add(place, name, "not a value of a parameter", came=came, hint=hint)
            continue
        plain = whole_if_exact(value) if isinstance(value, float) else value
        if isinstance(plain, float) and plain.is_integer() and param is not None and param.kind.is_whole:
            plain = int(plain)
        try:
            if param is not None:
                param.coerce(plain)
        except ParamError as error:
            wrong = f"parameter '{param.id if param else name}': {error.wrong}"
            problems.add(place, name, wrong, came=error.came, allowed=error.allowed, hint=error.hint)
            continue
        found.append(plain)
    if not values:
        problems.add(place, name, "no levels", came="[]", allowed="at least one value")
    return ValueLevels(values=tuple(found))


def whole_if_exact(number: int | float) -> int | float:
    """Return a whole `number` as an integer where every number of its size is one that a double holds.

    An integer stays one as far as a spec file has such numbers.
    """
    if isinstance(number, int):
        return number if abs(number) <= LARGEST_TOML_INTEGER else float(number)
    return int(number) if number.is_integer() and abs(number) < EXACT_LIMIT else number


def single_value(levels: LevelSpec) -> SpecValue | None:
    """Return the value of `levels` when there is exactly one."""
    return levels.values[0] if isinstance(levels, ValueLevels) and len(levels.values) == 1 else None


def split_blocks(blocks: Sequence[Variables]) -> tuple[tuple[tuple[str, SpecValue], ...], list[tuple[FactorSpec, ...]]]:
    """Return what all `blocks` fix alike, and the factors of each block."""
    first = blocks[0] if blocks else []
    fixed = {
        name: value
        for name, levels in first
        if (value := single_value(levels)) is not None and all(_same(dict(block).get(name), levels) for block in blocks)
    }
    factors = [
        tuple(FactorSpec(param=name, levels=levels) for name, levels in block if name not in fixed) for block in blocks
    ]
    return tuple(fixed.items()), factors


def _same(levels: LevelSpec | None, other: LevelSpec) -> bool:
    # `1 == True` for Python, and not for a model.
    return levels == other and repr(levels) == repr(other)
