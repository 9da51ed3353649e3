"""A storm of signals over `henad run` and `henad resume`: whatever comes at whatever moment, nothing is lost.

Children are forked from a warm process, or now and then started as a user does, and get one to three signals at random
moments: asked to stop, hung up on, killed, held and let go on. Then the folder is gone on with, through more signals,
until it is whole. Run at length with ``poe signal-storm --count N``; the suite does a sample.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from henad_native.cli import main as henad
from tests.native.folders import masked_in

__all__ = ["Storm"]

MODELS = "tests.native.cli_models:TOYS"
SPEC = """
model = "divides"
[run]
steps = 200
replicates = {replicates}
[measure]
stats_every = 2
[[block]]
factors = [{{ param = "value", values = [1, 2, 0, 3] }}]
"""
HENAD = "import sys; from henad_native.cli import main; sys.exit(main())"
"""What the installed command does."""

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
LANES = ((), ("--lanes", "process", "--concurrent", "2"), ("--lanes", "thread", "--concurrent", "2"))
"""Options of a command, each as likely: where its runs are stepped."""

MOST_STORMS = 3
"""Processes of one round that signals may come to, before it is let finish."""

ENDED = {0, 1, 3}
"""Exit codes of a command that saw its signals, or had finished before: this sweep has runs that fail."""


@dataclass(kw_only=True)
class Storm:
    """Rounds of signals in the folder `base`, all of them by `seed`.

    Attributes:
        replicates: Length of the sweep: four times as many runs.
        landed: Signals by name that reached a live process.
        ends: How processes ended, by exit code.
    """

    base: Path
    seed: int
    replicates: int = 40
    landed: Counter[str] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Sweep undisturbed, which says what must come of each round and how long one takes."""
        self.chance = random.Random(self.seed)
        self.spec, self.folder, whole = self.base / "spec.toml", self.base / "work", self.base / "whole"
        self.spec.write_text(SPEC.format(replicates=self.replicates))
        started = time.perf_counter()
        _waited(_child(self._run(whole), self.base / "err"))
        self.seconds = time.perf_counter() - started
        self.expected = masked_in(whole)

    def round(self, number: int) -> None:
        """Begin a sweep in a new folder, go on with it through signals, let it finish, and look at what is there."""
        self.folder = self.base / f"work {number}"
        rows: dict[bytes, bytes] = {}
        for _ in range(self.chance.randint(1, MOST_STORMS)):
            is_started = self.chance.random() < 0.15
            self._send_signals(started=is_started)
            rows |= self._checked_rows(rows)
        code = _waited(_child(self._next(), self.base / "err"))
        self._refuse(code != 3, f"the undisturbed end of round {number} has exit code {code}")
        self._checked_rows(rows)
        self._refuse(masked_in(self.folder) != self.expected, f"round {number} has other bytes")

    def _send_signals(self, *, started: bool) -> None:
        """Let one process of the round run through one to three signals."""
        err, command = self.base / "err", self._next()
        process = _process(command, err) if started else _child(command, err)
        span = self.seconds * (3.0 if started else 1.1)
        with open(os.pidfd_open(process), "rb", buffering=0) as ended:
            for _ in range(self.chance.randint(1, 3)):
                select.select([ended], [], [], self.chance.uniform(0.0, span))
                if self.chance.random() < 0.25:
                    self._send(process, signal.SIGSTOP)
                    select.select([ended], [], [], self.chance.uniform(0.0, span / 4))
                    self._send(process, signal.SIGCONT)
                else:
                    self._send(process, self.chance.choice(STOPS))
        code = _waited(process)
        self.ends[code] += 1
        text = err.read_text(errors="replace")
        is_cut = code in {-number for number in STOPS}
        self._refuse(code not in ENDED | {130} and not is_cut, f"exit code {code}: {text}")
        self._refuse("Traceback" in text, text)

    def _send(self, process: int, number: signal.Signals) -> None:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        if state != "Z":
            os.kill(process, number)
            self.landed[number.name] += 1

    def _next(self) -> list[str]:
        lanes = self.chance.choice(LANES)
        if (self.folder / "manifest.json").exists():
            return ["resume", str(self.folder), "--models", MODELS, "--quiet", *lanes]
        return [*self._run(self.folder), *lanes]

    def _run(self, folder: Path) -> list[str]:
        return ["run", str(self.spec), "--out", str(folder), "--models", MODELS, "--quiet"]

    def _checked_rows(self, before: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Return the whole rows that are there, by run id; every row there was before must be among them as it was."""
        path = self.folder / "runs.csv"
        lines = path.read_bytes().splitlines(keepends=True)[1:] if path.exists() else []
        rows = {line.partition(b",")[0]: line for line in lines if line.endswith(b"\n")}
        lost = [run_id for run_id, line in before.items() if rows.get(run_id) != line]
        self._refuse(bool(lost), f"the rows of runs {lost} were lost or run again")
        return rows

    def _refuse(self, is_wrong: bool, words: str) -> None:
        if is_wrong:
            raise AssertionError(f"seed {self.seed}, after {sum(self.landed.values())} signals: {words}")


def _child(command: list[str], err: Path) -> int:
    """Fork a process that does `command`, its output in the file `err`, and return its id."""
    process = os.fork()
    if process == 0:
        code = 99
        try:
            number = os.open(err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(number, 1)
            os.dup2(number, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
            code = henad(command)
        except BaseException as error:
            sys.stderr.write(f"Traceback: {error!r}\n")
            raise
        finally:
            os._exit(code)
    return process


def _process(command: list[str], err: Path) -> int:
    root = str(Path(__file__).parents[2])
    with err.open("wb") as stream:
        started = subprocess.Popen([sys.executable, "-c", HENAD, *command], cwd=root, stdout=stream, stderr=stream)
    started.returncode = 0  # it is waited for here, by its number
    return started.pid


def _waited(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main(arguments: list[str] | None = None) -> int:
    """Let as many signals come as `arguments` say, and print what came of them."""
    parser = argparse.ArgumentParser(prog="signal-storm", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="signals that must have landed")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args(arguments)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        storm, number = Storm(base=Path(name), seed=given.seed), 0
        while sum(storm.landed.values()) < given.count:
            storm.round(number)
            number += 1
    sys.stdout.write(f"seed {given.seed}: {number} rounds, nothing lost\n")
    sys.stdout.write(f"signals: {dict(sorted(storm.landed.items()))}; ends: {dict(sorted(storm.ends.items()))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
