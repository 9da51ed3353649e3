"""What a plan tells about its blocks: what each factor takes, levels that stand twice, configs that are there twice.

Owns these texts and counts. Nothing here changes a plan, and what takes long is left out: a plan is looked at with
every letter that is typed into an editor.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.designs import Column, float_bits, value_at
from henad_web.explore.factors import Target
from henad_web.explore.levels import ContinuousDomain, DecimalLevels, Domain, SteppedLevels, WholeDomain, single
from henad_web.explore.spec import DesignKind
from henad_web.explore.warnings import RepeatedConfigs, RepeatedLevel
from henad_web.model.params import ParamValue
from henad_web.randomness import mix_seed

if TYPE_CHECKING:
    from henad_web.explore.blocks import ResolvedBlock

__all__ = ["PlannedFactor", "factors_in_words", "planned_factors", "repeated_configs", "repeated_levels"]

_FEW = 5
"""Levels that are shown one by one."""

_MOST_COMPARED = 1 << 14
"""Configs of a block, or levels of a range, that are compared with each other, some milliseconds.

Of more configs only what must repeat counts, of more levels those that are nearest to each other."""

_MEANT_TO_DIFFER = (DesignKind.ZIP, DesignKind.RANDOM, DesignKind.LHS, DesignKind.SOBOL)
"""Designs whose configs are compared. Those of a factorial repeat with its levels, those of a saltelli or morris design
by their arrangement, and a table was written row by row."""


@dataclass(frozen=True, slots=True)
class PlannedFactor:
    """What varies in a block.

    Attributes:
        name: Parameter id, or ``action.NAME``.
        levels: What it takes, in words: ``0, 0.3, 0.6, 0.9``, ``0 to 1`` or ``1, 2, ..., 1000: 1000 levels``.
    """

    name: str
    levels: str


def planned_factors(block: ResolvedBlock) -> tuple[PlannedFactor, ...]:
    """Return what varies in `block`; nothing for a table, whose text says it."""
    return () if block.kind is DesignKind.TABLE else factors_in_words(block.targets, block.design.domains)


def factors_in_words(targets: Sequence[Target], domains: Sequence[Domain]) -> tuple[PlannedFactor, ...]:
    """Return what varies where each of `targets` takes its one of `domains`."""
    pairs = zip(targets, domains, strict=True)
    return tuple(PlannedFactor(target.column, _levels_text(target, domain)) for target, domain in pairs)


def _levels_text(target: Target, domain: Domain) -> str:
    if isinstance(domain, ContinuousDomain):
        ends = (domain.low, domain.high) if domain.is_double else (single(domain.low), single(domain.high))
        return " to ".join(_value_text(target, end) for end in ends)
    if isinstance(domain, WholeDomain):
        return f"{domain.low} to {domain.high}"
    count = len(domain)
    if count <= _FEW:
        return ", ".join(_value_text(target, domain[position]) for position in range(count))
    first, second, last = (_value_text(target, domain[position]) for position in (0, 1, count - 1))
    return f"{first}, {second}, ..., {last}: {count} levels"


def _value_text(target: Target, value: ParamValue) -> str:
    text = target.text(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def repeated_levels(position: int, block: ResolvedBlock) -> Iterator[RepeatedLevel]:
    """Yield a warning for each factor of the block at `position` with a level that stands more than once.

    The factors of a zip go through their levels together, and a table's rows are its configs: both may repeat levels.
    """
    if block.kind in (DesignKind.ZIP, DesignKind.TABLE):
        return
    for target, domain in zip(block.targets, block.design.domains, strict=True):
        repeated = _repeated_in(domain)
        if repeated:
            (value, times), *more = repeated
            is_least = not isinstance(domain, tuple) and _values_of(domain) > _MOST_COMPARED
            yield RepeatedLevel(position, target.column, _value_text(target, value), times, len(more), is_least)


def _repeated_in(domain: Domain) -> list[tuple[ParamValue, int]]:
    if not isinstance(domain, tuple | SteppedLevels | DecimalLevels):
        return []
    levels = domain if isinstance(domain, tuple) else _nearest_levels(domain)
    return [(value, times) for value, times in Counter(levels).items() if times > 1]


def _nearest_levels(domain: SteppedLevels | DecimalLevels) -> Sequence[float]:
    """Return the levels to compare: none where a step is no shorter than the distance of two numbers."""
    if domain.are_distinct:
        return ()
    count = len(domain)
    # Numbers stand furthest apart, and steps nearest to each other, where both are largest.
    end = count if abs(domain[count - 1]) >= abs(domain[0]) else min(count, _MOST_COMPARED)
    return [domain[position] for position in range(max(end - _MOST_COMPARED, 0), end)]


def repeated_configs(position: int, block: ResolvedBlock) -> RepeatedConfigs | None:
    """Return how many configs of the block at `position` have the values of an earlier one, None when none is known."""
    count = block.design.config_count
    if block.kind not in _MEANT_TO_DIFFER:
        return None
    if count > _MOST_COMPARED:
        most = math.prod(_values_of(domain) for domain in block.design.domains)
        return RepeatedConfigs(position, count, int(count - most), is_least=True) if most < count else None
    keys = np.zeros(count, np.uint64)
    for factor, (domain, column) in enumerate(zip(block.design.domains, block.design.columns(0, count), strict=True)):
        # Odd factors without a pattern: that two configs of other values meet is as likely as for random numbers.
        keys += _codes(domain, column) * np.array(mix_seed(factor) | 1, np.uint64)
    repeated = count - len(np.unique(keys))
    return RepeatedConfigs(position, count, repeated, is_least=False) if repeated else None


def _values_of(domain: Domain) -> float:
    if isinstance(domain, ContinuousDomain):
        return math.inf
    return domain.count if isinstance(domain, WholeDomain) else len(domain)


def _codes(domain: Domain, column: Column) -> NDArray[np.uint64]:
    """Return a number for each entry of `column`, the same for equal values and for these only."""
    if isinstance(domain, tuple | SteppedLevels | DecimalLevels):
        entries, positions = np.unique(column, return_inverse=True)
        first: dict[ParamValue, int] = {}
        codes = [first.setdefault(value_at(domain, entry), code) for code, entry in enumerate(entries)]
        return np.array(codes, np.uint64)[positions]
    if column.dtype.kind == "f":
        return float_bits(column)
    return column.astype(np.uint64)
