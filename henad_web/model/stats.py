"""What a statistic is: the name of a number a model reports, and the colour it is drawn in."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rgb", "Rgba", "Stat"]

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
