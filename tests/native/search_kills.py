"""Kills a search, again and again, and compares what it comes to with one that nobody disturbed.

``poe kill-searches`` does it with searches of every kind until as many kills as asked for have landed; the suite does a
sample.
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
from dataclasses import dataclass
from pathlib import Path

import msgspec

import henad_web as hw
from tests.native.folders import files_in, record_of, resume, start
from tests.shared.plain_searches import HILLS, hills_spec

KINDS = ("random", "hill_climb", "genetic", "pse")

PATIENCE_S = 600.0
"""Seconds after which a process that is left alone is taken for one that does not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What came of it: kills that landed, those of them in a process that went on, searches that came to their end."""

    kills: int
    while_going_on: int
    finished: int
    quiet_s: float


class KilledSearch:
    """A search by `algorithm` in folders below `base`, killed at moments that follow from `seed`."""

    def __init__(self, base: Path, algorithm: str, *, evaluations: int, seed: int) -> None:
        spec = hills_spec(algorithm, evaluations=evaluations, batch=7)
        self._spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, series_every=1))
        self._chance, self._finished = random.Random(seed), 0
        self._quiet, self._killed = base / "quiet", base / "killed"

    def survive(self, kills: int) -> Survived:
        """Kill the search until `kills` have landed, going on with what each leaves; compare each end with a quiet one.

        Raises:
            AssertionError: A process failed, or the bytes differ.
        """
        started = time.perf_counter()
        assert not self._child(self._quiet, None)
        quiet_s, landed, going_on = time.perf_counter() - started, 0, 0
        while landed < kills:
            is_begun = (self._killed / "manifest.json").exists()
            if self._child(self._killed, self._chance.uniform(0.0, quiet_s / 2)):
                landed, going_on = landed + 1, going_on + is_begun
            else:
                self._compare()
        self._child(self._killed, None)
        self._compare()
        return Survived(kills=landed, while_going_on=going_on, finished=self._finished, quiet_s=quiet_s)

    def _compare(self) -> None:
        """Compare the finished folder with the quiet one, and take it away."""
        quiet, killed = (hw.masked(files_in(folder)) for folder in (self._quiet, self._killed))
        assert quiet == killed, [name for name in quiet if quiet[name] != killed.get(name)]
        self._finished += 1
        shutil.rmtree(self._killed)

    def _child(self, folder: Path, after_s: float | None) -> bool:
        """Go on in `folder` in a process of its own, killed after so many seconds; return whether the kill landed."""
        pid = os.fork()
        if pid == 0:
            os._exit(self._go_on(folder))
        with open(os.pidfd_open(pid), "rb", buffering=0) as ended:
            is_over, _, _ = select.select([ended], [], [], PATIENCE_S if after_s is None else after_s)
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert status in (0, signal.SIGKILL), f"the process ended with {status}; it has said why"
        assert status == 0 or after_s is not None, f"the search has not ended in {PATIENCE_S:.0f} seconds"
        return status == signal.SIGKILL

    def _go_on(self, folder: Path) -> int:
        """Do the search in `folder`, or what is left of it, and return the exit code; tell what it failed on."""
        try:
            is_begun = (folder / "manifest.json").exists()
            record_of(resume(HILLS, folder) if is_begun else start(HILLS, self._spec, folder))
        except BaseException:
            traceback.print_exc()
            return 1
        return 0


def survived(base: Path, *, kills: int, evaluations: int, seed: int) -> Mapping[str, Survived]:
    """Return what came of a share of `kills` for each kind of search."""
    found = {}
    for position, algorithm in enumerate(KINDS):
        folder = base / algorithm
        folder.mkdir()
        search = KilledSearch(folder, algorithm, evaluations=evaluations, seed=seed + position)
        share = kills * (position + 1) // len(KINDS) - kills * position // len(KINDS)
        found[algorithm] = search.survive(share)
    return found


def main() -> None:
    """Do what the command line says and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("evaluations", 600), ("kills", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        found = survived(Path(base), kills=asked.kills, evaluations=asked.evaluations, seed=asked.seed)
    for algorithm, report in found.items():
        print(  # noqa: T201 - the command's answer
            f"{algorithm}: {report.kills} kills, {report.while_going_on} of them of a search gone on with; "
            f"{report.finished} finished with equal bytes ({report.quiet_s:.1f} s undisturbed)"
        )
    print(f"seed {asked.seed}: {sum(report.kills for report in found.values())} kills")  # noqa: T201 - as above


if __name__ == "__main__":
    main()
