"""What the checks of a model are, and what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from henad_web.errors import HenadError, counted

__all__ = ["Check", "CheckFailure", "CheckSkip", "Inapplicable", "ModelReport", "Violation"]


class Check(StrEnum):
    """One rule that a model keeps, causes before what follows from them; `rule` says it."""

    BUILD = "build"
    CLOCKS = "clocks"
    GLOBALS = "globals"
    UNSEEDED = "unseeded"
    STATS = "stats"
    GRID = "grid"
    PARAMS = "params"
    ACTIONS = "actions"
    SAME_SEED = "same_seed"
    SEED_SENSITIVITY = "seed_sensitivity"
    SLICES = "slices"
    CADENCE = "cadence"
    NEIGHBOURS = "neighbours"
    BATCHES = "batches"
    PORTABLE = "portable"
    PICKLING = "pickling"
    OTHER_PROCESS = "other_process"
    SWEEP = "sweep"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return _RULES[self]


_RULES = {
    Check.BUILD: "it builds, steps and counts its ticks",
    Check.UNSEEDED: "it builds and steps without a seed, at its defaults",
    Check.STATS: "its statistics are those declared, numbers, in the same order at every tick",
    Check.GRID: "its grid is a byte a cell, each with a colour of the palette, and writing to it changes nothing",
    Check.PARAMS: "a live parameter can be changed as it runs, every other one cannot",
    Check.ACTIONS: "each action it declares does something, and one it does not know is refused",
    Check.SAME_SEED: "equal seeds give equal runs",
    Check.SEED_SENSITIVITY: "unequal seeds give unequal runs",
    Check.SLICES: "step(n) is n times step(1), and step(0) nothing",
    Check.CADENCE: "reading statistics, population and grid changes nothing",
    Check.NEIGHBOURS: "a run goes the same way beside another one",
    Check.BATCHES: "a run goes the same way in a batch",
    Check.GLOBALS: "it leaves global generators, settings and variables of its module as they were",
    Check.CLOCKS: "it asks for no time, no random numbers of the system and none of a global generator",
    Check.PORTABLE: "it uses nothing that differs between targets, or declares portable=False",
    Check.PICKLING: "it can be sent to another process, where it is the same",
    Check.OTHER_PROCESS: "it goes the same way in another process, with other hashes of texts",
    Check.SWEEP: "a sweep of it ends with rows that say ok and hold what it reports",
}


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A rule that the model breaks.

    Attributes:
        check: Which.
        words: How it shows.
    """

    check: Check
    words: str


@dataclass(frozen=True, slots=True)
class CheckSkip:
    """A rule that was not checked.

    Attributes:
        check: Which.
        reason: Why.
    """

    check: Check
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What came of the checks of one model.

    Attributes:
        model: Its id.
        passed: Rules that it keeps, as far as was seen.
        failures: Rules that it breaks.
        skipped: Rules that were not checked.
        fingerprint: Hash of the course that was compared, 16 hexadecimal digits: equal on every target where the model
            is portable. None for a model that could not be followed.
    """

    model: str
    passed: tuple[Check, ...]
    failures: tuple[CheckFailure, ...]
    skipped: tuple[CheckSkip, ...]
    fingerprint: str | None

    @property
    def is_ok(self) -> bool:
        """Whether no rule was seen broken."""
        return not self.failures

    def __str__(self) -> str:
        """Return the report in words, a line a rule that is broken or was not checked."""
        head = f"model '{self.model}': {counted(len(self.passed), 'rule')} kept"
        head += f", {len(self.failures)} broken, {len(self.skipped)} not checked"
        broken = (f"  {failure.check}: {failure.words} (the rule: {failure.check.rule})" for failure in self.failures)
        skipped = (f"  {skip.check}: not checked, {skip.reason}" for skip in self.skipped)
        return "\n".join((head, *broken, *skipped))


class Violation(HenadError):
    """A check saw its rule broken; the message says how."""


class Inapplicable(HenadError):
    """A check does not apply; the message says why."""
