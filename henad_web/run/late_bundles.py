"""When a bundle that does not come back is done again elsewhere, and when nothing is waited for any more.

Owns the rule, as pure bookkeeping by a clock that it is told: who does the runs again is `WorkerLanes`'.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from henad_web.errors import HenadError, counted

__all__ = ["LATENESS", "MOST_TRIES", "Patience", "RENEWED_FROM", "WAY_S", "WorkersSilentError"]

WAY_S = 60.0
"""Seconds that a bundle may be out beyond what is worked at it: on its way, and until a worker is free."""

LATENESS = 4.0
"""Times the longest that a bundle was out so far, before which none is late."""

RENEWED_FROM = 4
"""Which try in a row that nothing came back before has the workers made anew, where they can be, and each after it."""

MOST_TRIES = 8
"""Tries in a row with nothing coming back: the last one is waited for 256 times as long as a first one."""


class WorkersSilentError(HenadError):
    """Bundles were handed out again and again, and nothing came back.

    Attributes:
        tries: How often in a row.
        seconds: For how long.
    """

    def __init__(self, tries: int, seconds: float) -> None:
        self.tries, self.seconds = tries, seconds
        super().__init__(
            f"no run came back from the executor for {seconds / 3600:.1f} hours, though runs were handed out again "
            f"{counted(tries, 'time')}: its scheduler may be gone, see its logs; if a run does take that long, set "
            f"timeout_s above it, and it is waited for. What is written is kept and can be resumed"
        )


class Patience:
    """How long a bundle may be out before its runs are done again.

    A run has the same outcome wherever and however often it is done, so a late one is done again, and whichever
    outcome comes first is taken. Late is a bundle that is out much longer than any before, and each time twice as long
    as the time before: counted for its runs until they have ended, and for all runs as long as nothing comes back. A
    run that lasts `n` times as long as the first bound is so done at most ``1 + log2(n + 1)`` times.

    Args:
        bundle_s: Seconds for which a worker is at a bundle, but for runs of which nothing is known.
        timeout_s: Seconds that a run takes at most, None where that is not known.
    """

    __slots__ = ("_least_s", "_longest_s", "_silent_since_s", "_tried_s", "_tries", "_tries_in_silence")

    def __init__(self, bundle_s: float, timeout_s: float | None) -> None:
        self._least_s = WAY_S + bundle_s + (timeout_s or 0.0)
        self._longest_s = 0.0
        self._tries: dict[int, int] = {}
        self._tries_in_silence = 0
        self._tried_s = self._silent_since_s = -math.inf

    def bound_s(self, run_ids: Collection[int]) -> float:
        """Return the seconds after which a bundle of `run_ids` is late."""
        tries = max([self._tries_in_silence, *(self._tries[run_id] for run_id in run_ids if run_id in self._tries)])
        return max(self._least_s, LATENESS * self._longest_s) * 2.0**tries

    def is_late(self, run_ids: Collection[int], sent_s: float, now_s: float) -> bool:
        """Return whether a bundle of `run_ids` that went out at `sent_s` is late; in silence one at a time is."""
        return now_s - max(sent_s, self._tried_s) >= self.bound_s(run_ids)

    def is_tried(self, run_ids: Collection[int]) -> bool:
        """Return whether one of `run_ids` was late before."""
        return any(run_id in self._tries for run_id in run_ids)

    def try_again(self, run_ids: Collection[int], sent_s: float, now_s: float) -> bool:
        """Note that a late bundle's runs are done again; return whether the workers are to be made anew for it.

        Raises:
            WorkersSilentError: Nothing came back after `MOST_TRIES` tries.
        """
        if self._tries_in_silence == 0:
            self._silent_since_s = sent_s
        if self._tries_in_silence >= MOST_TRIES:
            raise WorkersSilentError(MOST_TRIES, now_s - self._silent_since_s)
        self._tries_in_silence += 1
        self._tried_s = now_s
        for run_id in run_ids:
            self._tries[run_id] = self._tries.get(run_id, 0) + 1
        return self._tries_in_silence >= RENEWED_FROM

    def hear(self, seconds: float) -> None:
        """Learn that runs came back of a bundle that was out for `seconds`."""
        self._longest_s = max(self._longest_s, seconds)
        self._tries_in_silence, self._tried_s = 0, -math.inf

    def end(self, run_id: int) -> bool:
        """Forget run `run_id`, which has ended; return whether it was late before."""
        return self._tries.pop(run_id, None) is not None
