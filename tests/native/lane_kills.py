"""Lanes killed at random moments: at work, between two runs, as they start. The sweep's bytes are those of a quiet one.

A kill waits until the runs in progress at the last one are written, as a run at which two lanes died is a row of its
own. Run at length with ``poe kill-lanes --kills N``; the suite does a sample.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import henad_web as hw

__all__ = ["LaneKills", "lane_processes", "until"]

PATIENCE_S = 60.0
LANES = 2
RUNS = 1500
"""Runs of a sweep: some seconds of work."""

MOST_IN_LANES = 150
"""Runs of some milliseconds that are handed to two lanes at most, two bundles each."""


def until(holds: Callable[[], bool]) -> None:
    """Wait until `holds()`, a minute at most."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def lane_processes(parent: int | None = None) -> list[int]:
    """Return the lanes' processes that `parent`, this one when None, has started and that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, father = stat.read_text().rpartition(")")[2].split()[:2]
            program = stat.with_name("cmdline").read_bytes()
            if int(father) == (parent or os.getpid()) and state != "Z" and b"henad_native.lane_start" in program:
                found.append(int(stat.parent.name))
    return sorted(found)


@dataclass(kw_only=True)
class LaneKills:
    """Sweeps whose lanes are killed, all by `seed`.

    Attributes:
        kills: Kills so far.
        sweeps: Sweeps so far.
    """

    seed: int
    kills: int = 0
    sweeps: int = 0

    def __post_init__(self) -> None:
        """Sweep undisturbed, in the caller."""
        self.chance = random.Random(self.seed)
        self.entry = hw.example_models()["sir"]
        self.spec = hw.SweepSpec(
            model="sir",
            fixed=(("grid_width", 16), ("grid_height", 16)),
            run=hw.RunSettings(steps=40, replicates=RUNS),
            measure=hw.MeasureSettings(stats_every=4),
        )
        files = hw.run_spec(self.entry, self.spec, options=hw.SweepRunOptions(lanes="in_caller")).files
        self.expected = hw.masked(files or {})

    def sweep(self, most: int) -> None:
        """Sweep once, with up to `most` kills, and compare."""
        self.sweeps += 1
        with hw.SweepRun.start(self.entry, self.spec, options=self.options()) as run:
            killed = 0
            while killed < most and self._kill_one(run):
                killed += 1
            until(lambda: run.progress().phase in ("ended", "failed"))
            last = list(iter(run.try_recv, None))[-1]
        self.kills += killed
        if not isinstance(last, hw.Finished):
            raise AssertionError(f"seed {self.seed}, after {self.kills} kills: {last}")
        if hw.masked(last.record.files or {}) != self.expected:
            raise AssertionError(f"seed {self.seed}, after {self.kills} kills: other bytes")

    def options(self) -> hw.SweepRunOptions:
        """Return where the runs are stepped."""
        return hw.SweepRunOptions(lanes="process", concurrency=LANES)

    def victims(self) -> list[int]:
        """Return the processes of which one is killed."""
        return lane_processes()

    def strike(self) -> None:
        """Kill one of the victims."""
        os.kill(self.chance.choice(self.victims()), signal.SIGKILL)

    def _kill_one(self, run: hw.SweepRun) -> bool:
        """Kill a lane at a random moment, and wait for what it may have been at; return False near the end."""
        time.sleep(self.chance.uniform(0.0, 0.3))
        until(lambda: bool(self.victims()) or not _is_going_on(run))
        progress = run.progress()
        settled = progress.runs_done + progress.runs_waiting + MOST_IN_LANES
        if settled > RUNS or not _is_going_on(run):
            return False
        with suppress(ProcessLookupError, IndexError):
            self.strike()
        until(lambda: run.progress().runs_done >= settled or not _is_going_on(run))
        return True


def _is_going_on(run: hw.SweepRun) -> bool:
    return run.progress().phase in ("planning", "running")


def main(arguments: list[str] | None = None) -> int:
    """Kill as many lanes as `arguments` say, and print what came of it."""
    parser = argparse.ArgumentParser(prog="kill-lanes", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="lanes to kill")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args(arguments)
    rounds = LaneKills(seed=given.seed)
    while rounds.kills < given.kills:
        rounds.sweep(given.kills - rounds.kills)
    sys.stdout.write(f"seed {given.seed}: {rounds.kills} lanes killed in {rounds.sweeps} sweeps, nothing lost\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
