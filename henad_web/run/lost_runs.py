"""What becomes of runs whose lane died, or whose bundle was lost on the way.

Owns the count of losses, and the outcomes of runs that left nothing but their end, as pure bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from henad_web.errors import HenadError
from henad_web.explore.outcomes import RunOutcome, RunStatus, StopReason
from henad_web.model.faults import one_line

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.run.requests import RunRequest

__all__ = ["LOSSES_A_LANE", "LanesLostError", "LostRuns", "WorkersLostError", "lost_outcome", "timed_out_outcome"]

LOSSES_A_LANE = 8
"""Bundles a lane lost in a row after which the lanes are given up: twice what it takes to give a run up."""


class LanesLostError(HenadError):
    """Every lane died, again and again, before it could begin a run.

    Attributes:
        deaths: How many did.
        cause: How the last one did.
    """

    def __init__(self, deaths: int, cause: str) -> None:
        self.deaths, self.cause = deaths, cause
        super().__init__(
            f"every lane died before it could begin a run, {deaths} in a row, the last one {cause}; "
            f"lanes='in_caller' steps the runs inside this process"
        )


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


def lost_outcome(request: RunRequest, measure: MeasurePlan, note: str) -> RunOutcome:
    """Return the outcome of a run that was given up with its worker; `note` says why."""
    return _without_course(request, measure, RunStatus.PANICKED, StopReason.FAULT, one_line(note))


def timed_out_outcome(request: RunRequest, measure: MeasurePlan) -> RunOutcome:
    """Return the outcome of a run that did not come back from a step by its `timeout_s`."""
    seconds = repr(float(measure.timeout_s or 0.0)).removesuffix(".0")
    note = f"timed out after {seconds} s, in a step that did not end; its lane was ended"
    return _without_course(request, measure, RunStatus.TIMED_OUT, StopReason.TIMEOUT, note)


def _without_course(
    request: RunRequest, measure: MeasurePlan, status: RunStatus, reason: StopReason, note: str
) -> RunOutcome:
    """Return the outcome of a run that left nothing but its end."""
    reducers, series = measure.sampler().finish()
    return RunOutcome(
        run=request.run,
        config=request.config,
        run_key=request.run_key,
        status=status,
        stop_reason=reason,
        ticks=0,
        population=0,
        build_ms=0.0,
        wall_ms=0.0,
        reducers=reducers,
        series=series,
        note=note,
    )
