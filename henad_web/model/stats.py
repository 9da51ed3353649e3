"""What a statistic is: the name of a number a model reports, and the colour it is drawn in."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["LONGEST_NAME", "Rgb", "Rgba", "Stat", "are_declared", "name_problem"]

LONGEST_NAME = 200
"""Letters of the longest name of a statistic, an option or an action: a table's column, read by people."""

Rgb = tuple[int, int, int]
Rgba = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stat:
    """One statistic.

    Attributes:
        label: Name of its column.
        color: Red, green, blue and opacity, each 0 to 255.
    """

    label: str
    color: Rgba


def name_problem(name: str) -> str | None:
    """Return what is wrong with `name` as the name of a column, an option or an action; None when nothing is.

    Line feeds and tabs are allowed, since tables quote them; other control characters and halves of surrogate pairs
    are not.
    """
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters; allowed: up to {LONGEST_NAME}"
    for character in name:
        if unicodedata.category(character) in _UNUSABLE and character not in "\n\t":
            return f"holds the character U+{ord(character):04X}; allowed: letters, signs, spaces, line feeds and tabs"
    return None


_UNUSABLE = ("Cc", "Cs")
"""Unicode's categories of control characters and of halves of surrogate pairs."""


def are_declared(columns: Iterable[object], labels: Sequence[str]) -> bool:
    """Return whether `columns` are those of the statistics declared as `labels`, in any order.

    A statistic of several columns, such as a vector, calls each of them its label, a point and more.
    """
    found: set[str] = set()
    for column in columns:
        if not isinstance(column, str) or name_problem(column) is not None:
            return False
        owner = next((label for label in labels if column == label), None)
        owner = owner or next((label for label in labels if column.startswith(f"{label}.")), None)
        if owner is None:
            return False
        found.add(owner)
    return len(found) == len(labels)
