"""Kills a sweep whose model reports its agents, again and again, and compares what it comes to with a quiet sweep.

``poe kill-tables`` does it with 1,000 agents at ten ticks over 500 runs and 50 kills; the suite does a sample.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import henad_web as hw
from tests.native.study_kills import KilledStudy, Survived
from tests.shared.toy_models import Toy, entry_of

TICKS = 10


class Trades(Toy):
    """As many agents as `value` has it, whose wealth drifts."""

    def __init__(self, params: Mapping[str, hw.ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._wealth = np.full(self.value, 100.0)

    def before_step(self) -> None:
        self._wealth += self._random.random(self.value) - 0.5

    def table(self, name: str) -> Mapping[str, Any]:
        return {"id": np.arange(self.value), "wealth": self._wealth, "is_rich": self._wealth > 100.0}


AGENTS = hw.Table("agents", {"id": "i64", "wealth": "f64", "is_rich": "bool"})
TRADES = replace(entry_of(Trades), tables=(AGENTS,))


def crowd_spec(*, runs: int, agents: int) -> hw.SweepSpec:
    """Return a sweep of `runs` runs, each of which reports `agents` agents at ten ticks."""
    return hw.SweepSpec(
        model="toy",
        fixed=(("value", agents),),
        run=hw.RunSettings(steps=TICKS - 1, replicates=runs),
        measure=hw.MeasureSettings(tables=("agents",), tables_every=1),
    )


def survived(base: Path, *, runs: int, agents: int, kills: int, seed: int) -> Survived:
    """Return what came of so many kills of the sweep in folders below `base`."""
    crowd = KilledStudy(TRADES, crowd_spec(runs=runs, agents=agents), base, seed=seed)
    return crowd.survive(kills, lambda quiet_s: (0.05, 0.1 + 3.0 * quiet_s / kills))


def main() -> None:
    """Do what the command line says and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("runs", 500), ("agents", 1000), ("kills", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        report = survived(Path(base), runs=asked.runs, agents=asked.agents, kills=asked.kills, seed=asked.seed)
        size = (Path(base) / "quiet" / "tables" / "agents.csv").stat().st_size
    rows = asked.runs * asked.agents * TICKS
    print(  # noqa: T201 - the command's answer
        f"seed {asked.seed}: {report.kills} kills of a sweep of {rows:,} rows ({size / 1e6:.0f} MB, "
        f"{report.quiet_s:.0f} s undisturbed), equal bytes; a process grew by at most {report.grown_bytes / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
