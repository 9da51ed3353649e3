"""Workers of executors killed, and connections to a scheduler cut, at random moments of sweeps: no byte is another.

Run at length with ``poe kill-executors --kills N``, shared out between the kinds of executors; the suite does a sample.
What an executor loses without a word, as Parsl a task whose worker is killed as it takes that up, or Dask one that is
submitted as a connection ends, is done again after a second here, not after a minute.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import henad_web as hw
from henad_native import executor_lanes
from henad_native.executor_lanes import RenewedExecutor
from henad_web.errors import counted
from henad_web.run import late_bundles
from henad_web.run.late_bundles import Patience
from tests.native.executor_pools import KINDS, Pool, pool, processes
from tests.native.lane_kills import LaneKills

__all__ = ["ExecutorKills", "kills_of"]

WORKERS = 2

SHORT_SPAN_S = 0.1
"""Seconds of a span here: one that lasts 4 s is most of a sweep."""

SHORT_WAY_S = 1.0
"""Seconds that a span may be on its way here."""


@dataclass(kw_only=True)
class ExecutorKills(LaneKills):
    """Sweeps whose workers are lost, all by `seed`.

    Attributes:
        pool: Who has the workers.
        cuts: Whether connections are cut, too.
        strikes: What was done to them, and how often.
        again: Runs that were done again, as their spans were late.
    """

    pool: Pool
    cuts: bool = True
    strikes: Counter[str] = field(default_factory=Counter)
    again: int = 0

    def options(self) -> hw.SweepRunOptions:
        """Return where the runs are stepped."""
        return hw.SweepRunOptions(executor=self.pool.executor, concurrency=WORKERS)

    def victims(self) -> list[int]:
        """Return the workers' processes."""
        return self.pool.workers()

    def strike(self) -> None:
        """Kill a worker, or cut all of them off."""
        if self.cuts and self.pool.cut is not None and self.chance.random() < 0.4:
            self.strikes["cut"] += 1
            self.pool.cut()
        else:
            super().strike()
            self.strikes["killed"] += 1


@contextmanager
def kills_of(kind: str, seed: int, *, cuts: bool = True) -> Iterator[ExecutorKills]:
    """Lend sweeps over an executor of the `kind`, whose spans are short and not waited for long."""
    with (
        patch.object(executor_lanes, "SPAN_S", SHORT_SPAN_S),
        patch.object(late_bundles, "WAY_S", SHORT_WAY_S),
        patch.object(late_bundles, "LATENESS", 1.5),
        _lasting(kind) as made,
    ):
        rounds = ExecutorKills(seed=seed, pool=made, cuts=cuts)
        try_again = Patience.try_again

        def count(patience: Patience, run_ids: Collection[int], sent_s: float, now_s: float) -> bool:
            rounds.again += len(run_ids)
            return try_again(patience, run_ids, sent_s, now_s)

        with patch.object(Patience, "try_again", count):
            yield rounds


@contextmanager
def _lasting(kind: str) -> Iterator[Pool]:
    """Lend a pool that outlives its workers."""
    if kind != "processes":
        with pool(kind, WORKERS) as made:
            yield made
        return
    renewed = RenewedExecutor(lambda: processes(WORKERS))
    try:
        yield Pool(executor=renewed, workers=lambda: [*(getattr(renewed.executor, "_processes", None) or ())])
    finally:
        renewed.close()


def main(arguments: list[str] | None = None) -> int:
    """Strike as often as `arguments` say, and print what came of it."""
    parser = argparse.ArgumentParser(prog="kill-executors", description=__doc__)
    parser.add_argument("--kills", type=int, default=99, help="strikes, shared out between the kinds")
    parser.add_argument("--kind", choices=KINDS, action="append", help="a kind of executors; all when left out")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args(arguments)
    kinds = given.kind or KINDS
    for kind in kinds:
        started = time.monotonic()
        with kills_of(kind, given.seed) as rounds:
            while rounds.kills < given.kills / len(kinds):
                rounds.sweep(round(given.kills / len(kinds) - rounds.kills + 0.5))
            strikes = ", ".join(f"{number} {what}" for what, number in rounds.strikes.items())
        took = f"in {rounds.sweeps} sweeps, {time.monotonic() - started:.0f} s"
        again = f"{counted(rounds.again, 'run')} of late spans done again"
        sys.stdout.write(f"seed {given.seed}, {kind}: {strikes} {took}; {again}, nothing lost\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
