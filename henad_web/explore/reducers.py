"""Reducers: how the samples of one column become one number of a run's row.

Owns the kinds and their text. Folding samples is `folds`' business, which columns exist is `measure`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from henad_web.explore.comparisons import Comparison, parse_comparison
from henad_web.model.decimals import f64_text

__all__ = [
    "DEFAULT_KINDS",
    "KIND_FORMS",
    "Kind",
    "Reduction",
    "parse_kind",
]

KIND_FORMS = "final, min, max, mean, argmax, argmin, first<=NUMBER, mean@START..END"

_WINDOW = re.compile(r"mean@\s*0*(\d{1,99})\s*\.\.\s*0*(\d{1,99})", re.ASCII)
_LAST_TICK = 2**64 - 1


class Kind(StrEnum):
    """The family of a reducer."""

    FINAL = "final"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    ARGMAX = "argmax"
    ARGMIN = "argmin"
    FIRST = "first"
    WINDOW = "mean@"


DEFAULT_KINDS = (Kind.FINAL, Kind.MIN, Kind.MAX, Kind.MEAN)
"""Kinds every column gets unless a spec turns them off, in the order of their columns."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reducer's kind with its numbers.

    Attributes:
        kind: The family.
        comparison: Comparator of `Kind.FIRST`, else None.
        threshold: Number of `Kind.FIRST`, finite.
        start: First tick of `Kind.WINDOW`, included.
        end: Last tick of `Kind.WINDOW`, included, not below `start`.
    """

    kind: Kind
    comparison: Comparison | None = None
    threshold: float = 0.0
    start: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """The canonical text: what files call it and what hashes see."""
        if self.kind is Kind.FIRST and self.comparison is not None:
            return f"first{self.comparison}{f64_text(self.threshold)}"
        if self.kind is Kind.WINDOW:
            return f"mean@{self.start}..{self.end}"
        return self.kind.value


def parse_kind(text: str) -> Reduction:
    """Return the reduction that `text` spells.

    Raises:
        ValueError: `text` is no kind, its number is not finite, or its window is reversed.
    """
    trimmed = text.strip()
    if trimmed.startswith("first"):
        before, comparison, threshold = parse_comparison(trimmed)
        if before != "first":
            raise ValueError("'first' is followed by a comparator and a number, such as first<=10")
        return Reduction(Kind.FIRST, comparison=comparison, threshold=threshold)
    if trimmed.startswith("mean@"):
        return _parse_window(trimmed)
    if trimmed in (Kind.FIRST, Kind.WINDOW) or trimmed not in list(Kind):
        raise ValueError("the word is not one of them")
    return Reduction(Kind(trimmed))


def _parse_window(text: str) -> Reduction:
    window = _WINDOW.fullmatch(text)
    if window is None:
        raise ValueError("'mean@' is followed by two whole ticks, such as mean@200..600")
    start, end = int(window[1]), int(window[2])
    if max(start, end) > _LAST_TICK:
        raise ValueError("a tick of the window is above 2^64 - 1")
    if start > end:
        raise ValueError(f"the window is reversed: {start} is after {end}")
    return Reduction(Kind.WINDOW, start=start, end=end)
