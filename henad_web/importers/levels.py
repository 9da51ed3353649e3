"""Values of another tool as levels of a factor, or as a fixed value.

Owns the split into what is fixed and what varies, shared by every importer.
"""

from __future__ import annotations

from collections.abc import Sequence

from henad_web.errors import ParamError, ProblemList
from henad_web.explore.numbers import EXACT_LIMIT, LARGEST_TOML_INTEGER
from henad_web.explore.spec import FactorSpec, LevelSpec, SpecValue, ValueLevels
from henad_web.importers.names import NameMap, Place

__all__ = ["MOST_VALUES", "Variables", "levels_of", "single_value", "split_blocks", "whole_if_exact"]

MOST_VALUES = 2**16
"""Most values that are written out one by one."""

Variables = list[tuple[str, LevelSpec]]
"""Parameter ids with their levels, in order."""


def levels_of(name: str, values: Sequence[object], names: NameMap, place: Place, problems: ProblemList) -> LevelSpec:
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
