"""Kills a sweep whose model reports its agents, again and again, and compares what it comes to with a quiet sweep.

``poe kill-tables`` does it with 1,000 agents at ten ticks over 500 runs and 50 kills; the suite does a sample.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import henad_web as hw
from tests.native.folders import files_in, record_of, resume, start
from tests.shared.toy_models import Toy, entry_of

TICKS = 10

PATIENCE_S = 600.0
"""Seconds after which a process that is left alone is taken for one that does not end."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What came of it: kills that landed, how far a process grew, bytes of the table, seconds undisturbed."""

    kills: int
    grown_bytes: int
    table_bytes: int
    quiet_s: float


class Crowd:
    """The sweep `spec` in folders below `base`, killed at moments that follow from `seed`."""

    def __init__(self, base: Path, spec: hw.SweepSpec, *, seed: int) -> None:
        self._spec, self._chance = spec, random.Random(seed)
        self._quiet, self._killed, self._grown = base / "quiet", base / "killed", 0

    def survive(self, kills: int) -> Survived:
        """Kill the sweep until `kills` have landed, going on with what each leaves; compare the end with a quiet one.

        Raises:
            AssertionError: A process failed, or the bytes differ.
        """
        started = time.perf_counter()
        assert not self._child(self._quiet, None)
        quiet_s, landed = time.perf_counter() - started, 0
        while landed < kills:
            if self._child(self._killed, self._chance.uniform(0.05, 0.1 + 3.0 * quiet_s / kills)):
                landed += 1
            else:
                self._compare()
        self._child(self._killed, None)
        self._compare()
        size = (self._quiet / "tables" / "agents.csv").stat().st_size
        return Survived(kills=landed, grown_bytes=self._grown, table_bytes=size, quiet_s=quiet_s)

    def _compare(self) -> None:
        """Compare the finished folder with the quiet one, and take it away."""
        quiet, killed = (hw.masked(files_in(folder)) for folder in (self._quiet, self._killed))
        assert [name for name in quiet if quiet[name] != killed.get(name)] == []
        shutil.rmtree(self._killed)

    def _child(self, folder: Path, after_s: float | None) -> bool:
        """Go on in `folder` in a process of its own, killed after so many seconds; return whether the kill landed."""
        held = _anonymous_bytes()  # a fork begins with as much, and its peak counts that
        pid = os.fork()
        if pid == 0:
            os._exit(self._go_on(folder))
        with open(os.pidfd_open(pid), "rb", buffering=0) as ended:
            is_over, _, _ = select.select([ended], [], [], PATIENCE_S if after_s is None else after_s)
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        self._grown = max(self._grown, usage.ru_maxrss * 1024 - held)
        assert status in (0, signal.SIGKILL), f"the process ended with {status}; it has said why"
        assert status == 0 or after_s is not None, f"the sweep has not ended in {PATIENCE_S:.0f} seconds"
        return status == signal.SIGKILL

    def _go_on(self, folder: Path) -> int:
        """Do the sweep in `folder`, or what is left of it, and return the exit code; tell what it failed on."""
        try:
            is_begun = (folder / "manifest.json").exists()
            record_of(resume(TRADES, folder) if is_begun else start(TRADES, self._spec, folder))
        except BaseException:
            traceback.print_exc()
            return 1
        return 0


def _anonymous_bytes() -> int:
    """Return the memory of this process that stands for no file."""
    _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGESIZE")


def main() -> None:
    """Do what the command line says and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("runs", 500), ("agents", 1000), ("kills", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        spec = crowd_spec(runs=asked.runs, agents=asked.agents)
        report = Crowd(Path(base), spec, seed=asked.seed).survive(asked.kills)
    rows = asked.runs * asked.agents * TICKS
    print(  # noqa: T201 - the command's answer
        f"seed {asked.seed}: {report.kills} kills of a sweep of {rows:,} rows ({report.table_bytes / 1e6:.0f} MB, "
        f"{report.quiet_s:.0f} s undisturbed), equal bytes; a process grew by at most {report.grown_bytes / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
