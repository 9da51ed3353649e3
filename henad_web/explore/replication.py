"""The rule of adaptive replicates: which replicates each config is asked for, decided on complete rounds only.

Owns the size of rounds and what is narrow enough. The first round of a config are its `min` replicates, each later one
a quarter of those there are, rounded up, and none passes `max`. A config is settled once all replicates of a round are
told and every interval of its `until` is narrow enough, or once it has `max`. What is decided follows from the values
by replicate, whatever order they are told in. Knows no lanes and no files.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import HenadError
from henad_web.explore.cell_texts import number_text
from henad_web.explore.intervals import IntervalKind, RunningStatistics, interval_of

if TYPE_CHECKING:
    from henad_web.explore.adaptive_spec import AdaptiveReplicates, Precision

__all__ = ["NotBinaryError", "Replication", "is_narrow", "is_reached", "next_end", "round_ends"]

Values = Sequence[float | None]
"""What one replicate gave of each column of `until`; None, or no finite number, where it gave nothing."""


class NotBinaryError(HenadError):
    """A column that is to have Wilson's interval gave another value than 0 or 1.

    Attributes:
        column: The column.
        config_id: Config of the run.
        rep: Its replicate.
        value: What it gave.
    """

    def __init__(self, column: str, config_id: int, rep: int, value: float) -> None:
        self.column, self.config_id, self.rep, self.value = column, config_id, rep, value
        super().__init__(
            f"config {config_id}, rep {rep}: column '{column}' is {number_text(value)}, and Wilson's interval takes "
            f'0 or 1; run the study with interval = "{IntervalKind.STUDENT}" there into another folder, and reuse this '
            f"one"
        )


def next_end(end: int, most: int) -> int:
    """Return how many replicates a config has after the round that follows its first `end` ones."""
    return min(end + -(-end // 4), most)


def round_ends(least: int, most: int) -> Iterator[int]:
    """Yield the replicates of a config at the end of each round: 10, 13, 17, 22, … up to `most`."""
    end = least
    while end < most:
        yield end
        end = next_end(end, most)
    yield most


def is_narrow(precision: Precision, fold: RunningStatistics) -> bool:
    """Return whether the interval of the values in `fold` is as narrow as `precision` asks for.

    Fewer than two values have none that is. At a mean of 0 only an interval of no width is narrow relative to it.
    """
    interval = interval_of(precision.interval, fold, precision.confidence) if fold.count > 1 else None
    if interval is None:
        return False
    low, high = interval
    if precision.relative is None:
        return (high - low) / 2 <= (precision.half_width or 0.0)
    return (high - low) / 2 <= precision.relative * abs(fold.mean)


def is_reached(rule: AdaptiveReplicates, replicates: int, folds: Sequence[RunningStatistics]) -> bool:
    """Return whether a config with `replicates` runs, whose values are in `folds`, is at the end of a narrow round."""
    is_end = replicates in round_ends(rule.min, rule.max)
    return is_end and all(map(is_narrow, rule.until, folds))


class Replication:
    """How far each config of a study is.

    Replicates of a config that are told before an earlier one wait for it, at most those of one round.

    Args:
        rule: What decides.
        config_count: Configs of the plan.
    """

    def __init__(self, rule: AdaptiveReplicates, config_count: int) -> None:
        self._rule = rule
        self._asked = array("q", [rule.min]) * config_count
        self._told = array("q", [0]) * config_count
        self._settled = bytearray(config_count)
        self._under_way: dict[int, _ConfigValues] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The reducer columns that it is told of, in order."""
        return tuple(precision.column for precision in self._rule.until)

    def asked(self, config_id: int) -> int:
        """Return how many replicates the config is asked for so far: those before this one."""
        return self._asked[config_id]

    def missing(self, config_id: int) -> list[int]:
        """Return the replicates that the config is asked for so far and that have not been told."""
        if self._settled[config_id]:
            return []
        values = self._under_way.get(config_id, _NOTHING)
        return [rep for rep in range(values.folded, self._asked[config_id]) if rep not in values.waiting]

    def remaining(self, configs: slice) -> tuple[int, int]:
        """Return how many of `configs` are not settled, and how many more runs these may come to."""
        is_open = np.frombuffer(self._settled, np.uint8)[configs] == 0
        told = np.frombuffer(self._told, np.int64)[configs][is_open]
        return len(told), int(np.sum(self._rule.max - told))

    def most_missing(self, config_id: int) -> int:
        """Return how many more runs the config may come to: those up to `max`, unless it is settled."""
        return 0 if self._settled[config_id] else self._rule.max - self._told[config_id]

    def is_settled(self, config_id: int) -> bool:
        """Return whether the config has all the replicates that it gets."""
        return bool(self._settled[config_id])

    def tell(self, config_id: int, rep: int, values: Values) -> bool:
        """Take what replicate `rep` gave; return whether the config is asked for it, and else do nothing.

        Raises:
            NotBinaryError: Wilson's interval is asked for, and a value is neither 0 nor 1.
        """
        if rep >= self._asked[config_id]:
            return False
        for precision, value in zip(self._rule.until, values, strict=True):
            if precision.interval is IntervalKind.WILSON and _is_number(value) and value not in (0.0, 1.0):
                raise NotBinaryError(precision.column, config_id, rep, value or math.nan)
        found = self._under_way.get(config_id)
        if found is None:
            found = self._under_way[config_id] = _ConfigValues(len(self._rule.until))
        found.tell(rep, values)
        self._told[config_id] += 1
        if found.folded == self._asked[config_id]:
            self._decide(config_id, found.folds)
        return True

    def _decide(self, config_id: int, folds: Sequence[RunningStatistics]) -> None:
        asked, most = self._asked[config_id], self._rule.max
        if asked == most or all(map(is_narrow, self._rule.until, folds)):
            self._settled[config_id] = True
            del self._under_way[config_id]
        else:
            self._asked[config_id] = next_end(asked, most)


class _ConfigValues:
    """The values of one config under way: folded by replicate as far as there is no gap, the others waiting."""

    __slots__ = ("folded", "folds", "waiting")

    def __init__(self, columns: int) -> None:
        self.folded, self.folds = 0, [RunningStatistics() for _ in range(columns)]
        self.waiting: dict[int, Values] = {}

    def tell(self, rep: int, values: Values) -> None:
        self.waiting[rep] = values
        while (ready := self.waiting.pop(self.folded, None)) is not None:
            self.folded += 1
            for fold, value in zip(self.folds, ready, strict=True):
                if value is not None and math.isfinite(value):
                    fold.push(value)


_NOTHING = _ConfigValues(0)
"""Of a config of which nothing is told."""


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
