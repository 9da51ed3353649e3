"""What a run shows from outside, tick by tick, and where two that ought to be equal part.

Only the members of the protocol are read, as a sweep reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from henad_web.model.entry import ModelEntry
from henad_web.model.fnv import Fnv1a64
from henad_web.model.params import ParamValue
from henad_web.model.state import ModelState, checked_count, has_ended, shown_value
from henad_web.testing.report import Violation

__all__ = ["Glance", "Subject", "build", "difference", "fingerprint", "follow", "glance", "resized"]

_SIDE, _AGENTS = 128, 256
_SIZES = {
    "grid_width": _SIDE,
    "grid_height": _SIDE,
    "width": _SIDE,
    "height": _SIDE,
    "num_agents": _AGENTS,
    "n": _AGENTS,
}
"""Most of each that a check takes; a model is checked no larger than its defaults."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model as it is checked.

    Attributes:
        entry: The model.
        params: A canonical value for each parameter.
        seed: Seed of the run that others are compared with.
        ticks: Length of a run.
    """

    entry: ModelEntry
    params: Mapping[str, ParamValue]
    seed: int
    ticks: int


@dataclass(frozen=True, slots=True)
class Glance:
    """What a run shows at one tick.

    Attributes:
        tick: The tick.
        population: Cells, agents or nodes.
        stats: Columns and numbers, as text: what is no number equals itself.
        grid: Shape and bytes of the grid, None without one.
    """

    tick: int
    population: int
    stats: tuple[tuple[str, str], ...]
    grid: tuple[tuple[int, ...], bytes] | None


def resized(entry: ModelEntry, given: Mapping[str, object]) -> dict[str, ParamValue]:
    """Return a value for each parameter: those `given`, else the defaults with sizes cut to what a check takes.

    Raises:
        ParamError: A parameter that is given is unknown, or its value not allowed.
    """
    schema = entry.schema()
    values = dict(zip((param.id for param in schema.params), schema.values(given), strict=True))
    for param in schema.params:
        most = _SIZES.get(param.id)
        if most is not None and param.id not in given and param.kind.is_whole and int(values[param.id]) > most:
            values[param.id] = max(most, int(param.min or 0))
    return values


def build(subject: Subject, seed: int | None) -> ModelState:
    """Return the model of `subject` at tick 0."""
    state: ModelState | None = subject.entry.build(subject.params, seed)
    if state is None:
        raise Violation("the factory returns nothing; it returns the state")
    return state


def glance(state: ModelState) -> Glance:
    """Return what `state` shows now."""
    stats, grid = state.stats(), state.grid
    if not isinstance(stats, Mapping):
        raise Violation(f"stats() returns {shown_value(stats)}; allowed: a dict")
    try:
        numbers = tuple((str(name), repr(float(number))) for name, number in stats.items())
    except (TypeError, ValueError, OverflowError) as error:
        raise Violation(f"stats() holds what is no number at tick {state.tick}: {error}") from error
    return Glance(
        tick=checked_count("tick", state.tick),
        population=checked_count("population", state.population),
        stats=numbers,
        grid=None if grid is None else (np.asarray(grid).shape, np.asarray(grid).tobytes()),
    )


def follow(state: ModelState, ticks: int, *, strides: Iterable[int] = repeat(1)) -> list[Glance]:
    """Step `state` to `ticks`, or its own end, by `strides` and return what it shows on the way."""
    seen = [glance(state)]
    for stride in strides:
        steps = min(stride, ticks - seen[-1].tick)
        if steps <= 0 or has_ended(state):
            break
        state.step(steps)
        seen.append(glance(state))
        if seen[-1].tick != seen[-2].tick + steps and not has_ended(state):
            raise Violation(f"tick is {seen[-1].tick} after {steps} steps from tick {seen[-2].tick}")
    return seen


def difference(one: Sequence[Glance], other: Sequence[Glance]) -> str | None:
    """Return where the courses `one` and `other` first part at a tick that both show, None when they do not."""
    by_tick = {seen.tick: seen for seen in other}
    for mine in one:
        theirs = by_tick.get(mine.tick)
        if theirs is not None and theirs != mine:
            return f"at tick {mine.tick} {_parted(mine, theirs)}"
    return None


def _parted(mine: Glance, theirs: Glance) -> str:
    if mine.stats != theirs.stats:
        names = [name for name, _ in mine.stats]
        if names != [name for name, _ in theirs.stats]:
            return f"the columns are {', '.join(names)} and {', '.join(name for name, _ in theirs.stats)}"
        pairs = zip(mine.stats, theirs.stats, strict=True)
        name, one, other = next((name, one, other) for (name, one), (_, other) in pairs if one != other)
        return f"{name} is {one} and {other}"
    if mine.population != theirs.population:
        return f"population is {mine.population} and {theirs.population}"
    return "the grids differ"


def fingerprint(course: Iterable[Glance]) -> str:
    """Return the hash of a course, 16 hexadecimal digits."""
    total = Fnv1a64()
    for seen in course:
        total.u64(seen.tick).u64(seen.population)
        for name, number in seen.stats:
            total.text(name).text(number)
        if seen.grid is not None:
            shape, data = seen.grid
            total.text(repr(shape)).bytes(data)
    return total.hex()
