"""What an action is, and when actions fire in a run.

An action at tick 0 fires before the first step; a later one right after the step that reaches its tick, before the
sample of that tick. One past the last tick never fires.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Action", "Schedule", "ScheduledAction", "schedule_of"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done to a running model.

    Attributes:
        id: Name in specs.
        label: Name shown to people.
    """

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class ScheduledAction:
    """One firing of an action.

    Attributes:
        tick: Tick it is due at, from 0.
        id: Id of the action.
        name: Name of this firing in the spec; the action's id unless the spec gives one.
    """

    tick: int
    id: str
    name: str


Schedule = tuple[ScheduledAction, ...]
"""Actions of one run by tick; those of one tick in the order they were given."""


def schedule_of(actions: Iterable[ScheduledAction]) -> Schedule:
    """Return `actions` sorted by tick, those of one tick in the order given."""
    return tuple(sorted(actions, key=lambda action: action.tick))
