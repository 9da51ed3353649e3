"""What a pump answers its runner: when to be called again."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["IDLE", "NOW", "After", "Answer", "Idle", "Now"]


@dataclass(frozen=True, slots=True)
class Now:
    """More work is waiting."""


@dataclass(frozen=True, slots=True)
class After:
    """Nothing to do until `seconds` have passed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to do until a command or a lane's report."""


Answer = Now | After | Idle

NOW = Now()
IDLE = Idle()
