"""How many runs go to a lane that works elsewhere at once, and what becomes of bundles that are lost on the way.

Owns both rules, as pure bookkeeping: which lane gets which runs is `WorkerLanes`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.errors import HenadError

if TYPE_CHECKING:
    from henad_web.run.lane_messages import EndedRun
    from henad_web.run.requests import RunRequest

__all__ = ["BUNDLE_S", "Bundling", "LOSSES_A_LANE", "LostRuns", "MAX_BUNDLE", "Pace", "WorkersLostError"]

BUNDLE_S = 0.05
"""Seconds of work in one bundle: to hand one over and hear of it takes 0.3 ms of the sweep's side, 20 us a run."""

MAX_BUNDLE = 256
"""Most runs in a bundle."""

LOSSES_A_LANE = 8
"""Bundles a lane lost in a row after which the lanes are given up: twice what it takes to give a run up."""


class WorkersLostError(HenadError):
    """Bundle after bundle was lost, and none came back.

    Attributes:
        losses: How many in a row.
        cause: How the last one was.
    """

    def __init__(self, losses: int, cause: str) -> None:
        self.losses, self.cause = losses, cause
        super().__init__(
            f"the workers of the executor were lost {losses} times in a row, and no run came back; the last time: "
            f"{cause}; their logs may say why. What is written is kept and can be resumed"
        )


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


class LostRuns:
    """Runs whose bundle was lost together with the worker that had it.

    Such a bundle goes out again as it was; what was lost twice goes one run at a time; and a run that was lost so goes
    once more with nothing else under way, so that it is not blamed for the loss of another. Lost even then, it is given
    up.
    """

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._in_a_row = 0

    def lose(self, run_ids: Iterable[int], cause: str, lanes: int) -> list[int]:
        """Count the loss of a bundle of `run_ids` and return those to give up.

        Raises:
            WorkersLostError: `LOSSES_A_LANE` times `lanes` bundles were lost in a row.
        """
        self._in_a_row += 1
        if self._in_a_row >= LOSSES_A_LANE * lanes:
            raise WorkersLostError(self._in_a_row, cause)
        given_up = []
        for run_id in run_ids:
            times = self._times[run_id] = self._times.get(run_id, 0) + 1
            if times > _BY_ITSELF:
                given_up.append(run_id)
                del self._times[run_id]
        return given_up

    def end(self, run_id: int) -> None:
        """Forget the losses of `run_id`, which has ended."""
        self._times.pop(run_id, None)
        self._in_a_row = 0

    def together(self, queue: Sequence[RunRequest], share: int, under_way: Iterable[int]) -> int:
        """Return how many of the first `share` runs of `queue` may go in one bundle now.

        Args:
            queue: Runs to hand out, at least `share`.
            share: Runs that there is room for, at least 1.
            under_way: Ids of the runs that lanes have.
        """
        times = self._times
        if not times:
            return share
        has_run = False
        for run_id in under_way:
            has_run = True
            if times.get(run_id, 0) >= _BY_ITSELF:
                return 0
        first = times.get(queue[0].run.run_id, 0)
        if first >= _ONE_BY_ONE:
            return 0 if first >= _BY_ITSELF and has_run else 1
        runs = (times.get(queue[place].run.run_id, 0) for place in range(share))
        return next((place for place, lost in enumerate(runs) if lost >= _ONE_BY_ONE), share)


_ONE_BY_ONE = 2
_BY_ITSELF = 3
