"""The types of adaptive replicates: between how many, until which intervals are how narrow.

Owns what such settings may be, beside their types. The rule that goes by them is `replication`'s, which columns there
are is `checks`' business.
"""

from __future__ import annotations

import math
from collections import Counter

from msgspec import structs

from henad_web.errors import ProblemList
from henad_web.explore.intervals import CONFIDENCES, USUAL, IntervalKind
from henad_web.explore.spec_table import SpecTable
from henad_web.model.decimals import whole_text

__all__ = ["AdaptiveReplicates", "Precision", "check_adaptive"]

_TABLE = ("run", "replicates")


class Precision(SpecTable, frozen=True, kw_only=True):
    """How narrow the interval of the mean of one reducer is to be.

    Attributes:
        column: A column of reducers, such as ``Infected:max``.
        half_width: Most that half its width may be, above 0, in the unit of the column; None where `relative` is given.
        relative: Most that half its width may be as a share of the mean, above 0; None where `half_width` is given.
        confidence: That of the interval: 0.9, 0.95 or 0.99.
        interval: Student's, as summary.csv has it, or Wilson's for a column of zeros and ones.
    """

    column: str
    half_width: float | None = None
    relative: float | None = None
    confidence: float = USUAL
    interval: IntervalKind = IntervalKind.STUDENT

    def __post_init__(self) -> None:
        """Make values plain, and `interval` a word.

        Raises:
            SpecError: There is no such interval, or a value is of another kind.
        """
        SpecTable.__post_init__(self)
        self.make_word("interval", IntervalKind)


class AdaptiveReplicates(SpecTable, frozen=True, kw_only=True):
    """Replicates that are added to a config in rounds until the intervals are narrow enough.

    Attributes:
        min: Replicates of the first round, at least 2.
        max: Most replicates of a config, at least `min`.
        until: What has to be narrow enough, all of it; at least one column, each once.
    """

    path = _TABLE

    min: int
    max: int
    until: tuple[Precision, ...]

    def __post_init__(self) -> None:
        """Make values plain, and one precision a tuple of it.

        Raises:
            SpecError: A value is of another kind.
        """
        if isinstance(self.until, Precision):
            structs.force_setattr(self, "until", (self.until,))
        SpecTable.__post_init__(self)


def check_adaptive(adaptive: AdaptiveReplicates, problems: ProblemList) -> None:
    """Record what settings of `adaptive` cannot be, whatever the model."""
    least, most = adaptive.min, adaptive.max
    if least < 2:
        problems.add(_TABLE, "min", "too few for an interval", came=whole_text(least), allowed="at least 2")
    if most < least:
        wrong = f"below min, which is {whole_text(least)}"
        problems.add(_TABLE, "max", wrong, came=whole_text(most), allowed="at least min")
    if not adaptive.until:
        hint = 'add one, such as { column = "Infected:max", half_width = 5 }'
        problems.add(_TABLE, "until", "no interval is to be narrow", hint=hint)
    counts = Counter(precision.column for precision in adaptive.until)
    for position, precision in enumerate(adaptive.until):
        table = (*_TABLE, "until", position)
        _check_precision(table, precision, problems)
        if counts[precision.column] > 1 and precision is not _first(adaptive, precision.column):
            came = f"'{precision.column}'"
            problems.add(table, "column", "a column given twice", came=came, hint="keep the narrower of the two")


def _first(adaptive: AdaptiveReplicates, column: str) -> Precision:
    return next(precision for precision in adaptive.until if precision.column == column)


def _check_precision(table: tuple[str | int, ...], precision: Precision, problems: ProblemList) -> None:
    given = {"half_width": precision.half_width, "relative": precision.relative}
    widths = {key: width for key, width in given.items() if width is not None}
    if len(widths) != 1:
        wrong = "a precision has exactly one of `half_width` and `relative`"
        came = " and ".join(widths) or "none of them"
        problems.add(table, "relative" if widths else None, wrong, came=came)
    for key, width in widths.items():
        if not (math.isfinite(width) and width > 0):
            problems.add(table, key, "not a width", came=repr(width), allowed="a finite number above 0")
    if precision.confidence not in CONFIDENCES:
        allowed = ", ".join(map(repr, CONFIDENCES))
        hint = "95 % is written 0.95" if precision.confidence > 1 else None
        came = repr(precision.confidence)
        problems.add(table, "confidence", "no such confidence", came=came, allowed=allowed, hint=hint)
