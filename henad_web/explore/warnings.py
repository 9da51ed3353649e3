"""Warnings of a plan: things that are allowed and probably not meant."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SPREADSHEET_ROWS", "ActionAfterEnd", "LongSeries", "PlanWarning", "RoundedValue", "StopsAtStart"]

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


PlanWarning = ActionAfterEnd | StopsAtStart | LongSeries | RoundedValue
"""What is told before the first run."""
