"""Kills a study at random moments, again and again, and compares what it comes to with one that nobody disturbed.

Owns the processes that are killed and what is asked of their folders; which studies is `table_kills`' and
`search_kills`' business.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import henad_web as hw
from tests.native.folders import files_in, record_of, resume, start

__all__ = ["KilledStudy", "Survived"]

PATIENCE_S = 600.0
"""Seconds after which a process that is left alone is taken for one that does not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What came of it.

    Attributes:
        kills: Kills that landed.
        while_going_on: Those of them in a process that went on with what another one had left.
        finished: Studies that came to their end, with the bytes of the quiet one.
        grown_bytes: How far a process grew at most.
        quiet_s: Seconds that the study takes undisturbed.
    """

    kills: int
    while_going_on: int
    finished: int
    grown_bytes: int
    quiet_s: float


class KilledStudy:
    """A study in the folders ``quiet`` and ``killed`` of `base`, killed at moments that follow from `seed`."""

    def __init__(self, entry: hw.ModelEntry, spec: hw.SweepSpec, base: Path, *, seed: int) -> None:
        self._entry, self._spec, self._chance = entry, spec, random.Random(seed)
        self._quiet, self._killed = base / "quiet", base / "killed"
        self._finished = self._grown = 0

    def survive(self, kills: int, between: Callable[[float], tuple[float, float]]) -> Survived:
        """Kill it until `kills` have landed, going on with what each leaves; compare each end with the quiet one.

        Args:
            kills: How many.
            between: The seconds after which a process is killed, at least and at most, by those it takes undisturbed.

        Raises:
            AssertionError: A process failed, or the bytes differ.
        """
        started = time.perf_counter()
        assert not self._child(self._quiet, None)
        quiet_s, landed, going_on = time.perf_counter() - started, 0, 0
        while landed < kills:
            is_begun = (self._killed / "manifest.json").exists()
            if self._child(self._killed, self._chance.uniform(*between(quiet_s))):
                landed, going_on = landed + 1, going_on + is_begun
            else:
                self._compare()
        self._child(self._killed, None)
        self._compare()
        counts = {"kills": landed, "while_going_on": going_on, "finished": self._finished}
        return Survived(**counts, grown_bytes=self._grown, quiet_s=quiet_s)

    def _compare(self) -> None:
        """Compare the finished folder with the quiet one, and take it away."""
        quiet, killed = (hw.masked(files_in(folder)) for folder in (self._quiet, self._killed))
        assert [name for name in {**quiet, **killed} if quiet.get(name) != killed.get(name)] == []
        self._finished += 1
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
        assert status == 0 or after_s is not None, f"the study has not ended in {PATIENCE_S:.0f} seconds"
        return status == signal.SIGKILL

    def _go_on(self, folder: Path) -> int:
        """Do the study in `folder`, or what is left of it, and return the exit code; tell what it failed on."""
        try:
            is_begun = (folder / "manifest.json").exists()
            record_of(resume(self._entry, folder) if is_begun else start(self._entry, self._spec, folder))
        except BaseException:
            traceback.print_exc()
            return 1
        return 0


def _anonymous_bytes() -> int:
    """Return the memory of this process that stands for no file."""
    _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGESIZE")
