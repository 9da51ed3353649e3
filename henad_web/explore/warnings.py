"""Warnings of a plan: things that are allowed and probably not meant."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "SPREADSHEET_ROWS",
    "ActionAfterEnd",
    "LongSeries",
    "NoTime",
    "PlanWarning",
    "RepeatedConfigs",
    "RepeatedLevel",
    "RoundedValue",
    "SparseSamples",
    "StopsAtStart",
]

SPREADSHEET_ROWS = 1_048_576
"""Rows that common spreadsheets hold, the header included; they drop the rest without a word."""


@dataclass(frozen=True, slots=True)
class ActionAfterEnd:
    """An action scheduled past the last tick of some configs, where it never fires.

    Attributes:
        name: Name of the action.
        latest_tick: Latest tick any config schedules it at.
        last_tick: Last tick of every run, ``warmup + steps``.
        config_count: Number of configs in which it never fires.
    """

    name: str
    latest_tick: int
    last_tick: int
    config_count: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        configs = "1 config" if self.config_count == 1 else f"{self.config_count} configs"
        return (
            f"action '{self.name}' is scheduled as late as tick {self.latest_tick}, but runs end at tick "
            f"{self.last_tick}: in {configs} it never fires"
        )


@dataclass(frozen=True, slots=True)
class StopsAtStart:
    """A stop condition that holds before the first step of the config that was probed.

    Attributes:
        condition: The condition as text.
        config_id: The config; others may start the same.
    """

    condition: str
    config_id: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return (
            f"the stop condition '{self.condition}' holds at tick 0 of config {self.config_id} already: such a run "
            f"takes no step; a `min_tick` of 1 or more lets it start"
        )


@dataclass(frozen=True, slots=True)
class LongSeries:
    """A series.csv of more rows than a spreadsheet holds.

    Attributes:
        rows: Rows expected, the header aside.
    """

    rows: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return (
            f"series.csv may have {self.rows} rows; spreadsheets show the first {SPREADSHEET_ROWS - 1} and drop the "
            f"rest: read it with a program, or raise `series_every`"
        )


@dataclass(frozen=True, slots=True)
class RoundedValue:
    """A value that the precision of its parameter does not hold as it is written.

    Attributes:
        param: Id of the parameter.
        written: The decimal that the spec writes, such as ``123456789``.
        used: The value that the model gets, such as ``123456792``.
        shown: The same as tables show it, by the fewest digits that tell it from its neighbours: ``123456790``.
        more: How many other values of the parameter are rounded, too.
    """

    param: str
    written: str
    used: str
    shown: str
    more: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        shown = "" if self.shown == self.used else f", which tables show as {self.shown}"
        values = "1 more value is" if self.more == 1 else f"{self.more} more values are"
        more = f"; {values} rounded, too" if self.more else ""
        return (
            f"parameter '{self.param}': its precision does not hold {self.written}, so {self.used} is used{shown}{more}"
        )


@dataclass(frozen=True, slots=True)
class RepeatedLevel:
    """A level that a factor lists more than once, also as two decimals that become one value.

    Attributes:
        block: Position of the block, from 0.
        factor: Parameter id, or ``action.NAME``.
        value: The level, as tables show it.
        times: How often it stands.
        more: How many other levels of the factor stand more than once.
        is_least: Whether there may be more of them.
    """

    block: int
    factor: str
    value: str
    times: int
    more: int
    is_least: bool = False

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        levels = "1 more level does" if self.more == 1 else f"{self.more} more levels do"
        least = "at least " if self.is_least else ""
        more = f"; {least}{levels} so, too" if self.more else ""
        return (
            f"block {self.block}: '{self.factor}' has the level {self.value} {self.times} times, and its configs are "
            f"made as often{more}"
        )


@dataclass(frozen=True, slots=True)
class RepeatedConfigs:
    """Configs of a block with the values of an earlier one.

    Attributes:
        block: Position of the block, from 0.
        config_count: Configs of the block.
        repeated: How many of them have the values of an earlier one.
        is_least: Whether there may be more of them.
    """

    block: int
    config_count: int
    repeated: int
    is_least: bool

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        least = "at least " if self.is_least else ""
        have = "has" if self.repeated == 1 else "have"
        repeated = f"{least}{self.repeated} of its {self.config_count} configs {have}"
        return f"block {self.block}: {repeated} the values of an earlier one"


@dataclass(frozen=True, slots=True)
class SparseSamples:
    """A cadence longer than the runs, which leaves only the first and the last sample.

    Attributes:
        stats_every: Ticks between samples.
        steps: Measured ticks of a run.
    """

    stats_every: int
    steps: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return (
            f"`stats_every` is {self.stats_every}, but runs take {self.steps} steps: only the first and the last tick "
            f"are sampled"
        )


@dataclass(frozen=True, slots=True)
class NoTime:
    """A timeout of 0 seconds, which ends every run at its first look at the clock."""

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return "`timeout_s` is 0: every run ends as timed_out almost at once; leave it out for no timeout"


PlanWarning = (
    ActionAfterEnd | StopsAtStart | LongSeries | RoundedValue | RepeatedLevel | RepeatedConfigs | SparseSamples | NoTime
)
"""What is told before the first run."""
