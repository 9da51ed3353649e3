"""How many runs go to a lane that works elsewhere at once.

Owns the rule, as pure bookkeeping: which lane gets which runs is `WorkerLanes`'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from henad_web.run.lane_messages import EndedRun

__all__ = ["BUNDLE_S", "Bundling", "MAX_BUNDLE", "Pace"]

BUNDLE_S = 0.05
"""Seconds of work in one bundle: to hand one over and hear of it takes 0.3 ms of the sweep's side, 20 us a run."""

MAX_BUNDLE = 256
"""Most runs in a bundle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundling:
    """How runs are bundled.

    Attributes:
        seconds: Work in one bundle.
        most: Most runs in one, at least 1.
        ahead: Bundles that a lane has at a time: with 2, one waits at the lane while another is worked at.
    """

    seconds: float = BUNDLE_S
    most: int = MAX_BUNDLE
    ahead: int = 2


class Pace:
    """What one lane takes for a run, and so how many are worth handing over together.

    Args:
        bundling: How runs are bundled.
    """

    __slots__ = ("_bundling", "_run_s")

    def __init__(self, bundling: Bundling) -> None:
        self._bundling = bundling
        self._run_s: float | None = None

    def bundle(self, rows: int) -> int:
        """Return the runs worth handing over together, where `rows` of them are stepped together."""
        if self._run_s is None:
            return min(rows, self._bundling.most)
        return min(max(rows, int(self._bundling.seconds / self._run_s)), self._bundling.most)

    def room(self, rows: int, held: int) -> int:
        """Return the runs that a lane which has `held` can take: one bundle alone until its pace is known."""
        return self.bundle(rows) * (1 if self._run_s is None else self._bundling.ahead) - held

    def is_due(self, rows: int, held: int) -> bool:
        """Return whether a lane which has `held` runs is to get the next bundle."""
        return self.room(rows, held) > 0 and held <= self.bundle(rows) * (self._bundling.ahead - 1)

    def learn(self, runs: Sequence[EndedRun]) -> None:
        """Learn from runs that ended: at once where they were slower, by halves where they were faster."""
        seconds, most = self._bundling.seconds, self._bundling.most
        spent_s = sum(run.build_ms + run.wall_ms for run in runs) / 1000.0
        run_s = max(spent_s / len(runs), seconds / most)
        self._run_s = max(run_s, (seconds if self._run_s is None else self._run_s) / 2.0)
