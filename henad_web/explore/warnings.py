"""Warnings of a plan: things that are allowed and probably not meant.

Owns also which values a spec writes one by one and its model does not get, because they lie between two numbers of a
parameter's precision: those of `[set]`, listed levels, ends of ranges and cells of design tables. What a range steps
over or a design draws is not written by anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import counted
from henad_web.explore.levels import ContinuousDomain, DecimalLevels, Domain, SteppedLevels
from henad_web.explore.spec import BlockSpec, RangeLevels, SpecValue, SweepSpec, ValueLevels
from henad_web.model.decimals import shown_numbers
from henad_web.model.params import ParamKind

if TYPE_CHECKING:
    from henad_web.explore.blocks import ResolvedBlock
    from henad_web.model.params import Param
    from henad_web.model.schema import ModelSchema

__all__ = [
    "ActionAfterEnd",
    "EXACT_DIGITS",
    "EndsAtStart",
    "LongSeries",
    "NoTime",
    "PlanWarning",
    "RepeatedConfigs",
    "RepeatedLevel",
    "RoundedValue",
    "SPREADSHEET_ROWS",
    "SparseSamples",
    "StopsAtStart",
    "rounded_among",
    "rounded_values",
]

EXACT_DIGITS = 15
"""A decimal of so many letters has no more digits than any double keeps."""


def rounded_values(spec: SweepSpec, schema: ModelSchema, resolved: Sequence[ResolvedBlock]) -> Iterator[RoundedValue]:
    """Yield a warning for each parameter with values that are written and rounded, in schema order.

    Args:
        spec: A spec that `schema` does not refuse.
        schema: The model.
        resolved: The blocks of `spec`, resolved.
    """
    fixed = {name: (value,) for name, value in spec.fixed}
    warnings = [
        rounded_among(param, map(_text_of, fixed[param.id]))
        for param in schema.params
        if param.kind.is_real and param.id in fixed
    ]
    for block, found in zip(spec.blocks, resolved, strict=False):
        warnings += found.rounded
        warnings += [rounded_among(param, map(_text_of, values)) for param, values in _written_in(block, found)]
    for param in schema.params:
        own = [warning for warning in warnings if warning is not None and warning.param == param.id]
        if own:
            first, more = own[0], sum(warning.more + 1 for warning in own) - 1
            yield RoundedValue(first.param, first.written, first.used, first.shown, more)


def _text_of(value: SpecValue) -> str:
    return value.strip() if isinstance(value, str) else repr(value)


def _written_in(block: BlockSpec, found: ResolvedBlock) -> Iterator[tuple[Param, Iterable[SpecValue]]]:
    if not block.factors:
        return
    for target, factor, domain in zip(found.targets, block.factors, found.design.domains, strict=True):
        if target.param is None or not target.is_real:
            continue
        if isinstance(factor.levels, ValueLevels):
            yield target.param, factor.levels.values
        elif isinstance(factor.levels, RangeLevels):
            yield target.param, _ends_of(factor.levels, domain)


def _ends_of(levels: RangeLevels, domain: Domain) -> Iterator[SpecValue]:
    yield levels.min
    lands = isinstance(domain, SteppedLevels | DecimalLevels) and domain.last == float(levels.max)
    if lands or isinstance(domain, ContinuousDomain):
        yield levels.max


def rounded_among(param: Param, written: Iterable[str]) -> RoundedValue | None:
    """Return the warning of those of `written` that `param`, an f32 or f64, does not hold; None without any.

    Args:
        param: The parameter.
        written: Decimals that it takes.
    """
    texts = tuple(dict.fromkeys(written))
    numbers = np.array(list(map(float, texts)), np.float64)
    rounded = np.zeros(len(texts), np.bool_)
    if param.kind is ParamKind.F32:
        with np.errstate(under="ignore"):
            # Two decimals that give two doubles are not the same.
            rounded = numbers != shown_numbers(numbers.astype(np.float32))
    for position, (text, number) in enumerate(zip(texts, numbers.tolist(), strict=True)):
        if len(text) > EXACT_DIGITS and not rounded[position] and repr(number) != text:
            rounded[position] = Decimal(text) != Decimal(_shown(param, text))
    positions = np.flatnonzero(rounded)
    if not len(positions):
        return None
    text = texts[positions[0]]
    used, shown = float(param.coerce(text)), _shown(param, text)
    return RoundedValue(param.id, text, str(int(used)) if used.is_integer() else shown, shown, len(positions) - 1)


def _shown(param: Param, text: str) -> str:
    return param.text(param.coerce(text))


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
        return (
            f"action '{self.name}' is scheduled as late as tick {self.latest_tick}, but runs end at tick "
            f"{self.last_tick}: in {counted(self.config_count, 'config')} it never fires"
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
class EndsAtStart:
    """A model that says of the config that was probed that it has ended before its first step.

    Attributes:
        config_id: The config; others may start the same.
    """

    config_id: int

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        return (
            f"the model has ended at tick 0 of config {self.config_id} already: such a run takes no step; look at what "
            f"has_ended() asks of the start"
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
    ActionAfterEnd
    | StopsAtStart
    | EndsAtStart
    | LongSeries
    | RoundedValue
    | RepeatedLevel
    | RepeatedConfigs
    | SparseSamples
    | NoTime
)
"""What is told before the first run."""
