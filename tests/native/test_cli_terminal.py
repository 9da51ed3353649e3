"""`henad run` on a terminal: the first Ctrl-C holds the sweep, Enter lets it go on, the second one ends it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
RESULTS = {"manifest.json", "runs.csv", "series.csv", "summary.csv"}
SPEC = """
model = "toy"
[run]
steps = {steps}
replicates = {replicates}
[measure]
stats_every = 10
[set]
value = 1
"""


class Terminal:
    """A command at a terminal of its own, to which a test types."""

    def __init__(self, *arguments: str) -> None:
        self._screen, inner = pty.openpty()
        self.command = subprocess.Popen(
            [sys.executable, "-m", "henad_web", *arguments],
            cwd=ROOT,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)
        self.shown = ""

    def until_shown(self, text: str) -> None:
        """Wait until `text` is on the screen, from here on."""
        start, deadline = len(self.shown), time.monotonic() + PATIENCE_S
        while text not in self.shown[start:]:
            assert time.monotonic() < deadline, self.shown[-2000:]
            assert self.command.returncode is None, self.shown[-2000:]
            self._look()

    def _look(self) -> None:
        if select.select([self._screen], [], [], 0.1)[0]:
            try:
                self.shown += os.read(self._screen, 65536).decode(errors="replace")
            except OSError:  # the command has gone, and with it its side of the terminal
                self.command.wait(PATIENCE_S)

    def press(self, key: str) -> None:
        os.write(self._screen, key.encode())

    def ended(self) -> int:
        """Wait for the end of the command, and return its exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.command.poll() is None:
            assert time.monotonic() < deadline, self.shown[-2000:]
            self._look()
        return self.command.returncode

    def close(self) -> None:
        self.command.kill()
        self.command.wait()
        os.close(self._screen)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def started(terminals: list[Terminal], tmp_path: Path, lanes: str, steps: int, replicates: int) -> Terminal:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.format(steps=steps, replicates=replicates))
    models = f"{ROOT / 'tests/native/lane_models.py'}:slow"
    options = ("--lanes", lanes, "--concurrent", "2", "--models", models)
    terminals.append(Terminal("run", str(spec), "--out", str(tmp_path / "out"), *options))
    return terminals[-1]


CTRL_C = "\x03"


@pytest.mark.parametrize("lanes", ["process", "in_caller"])
def test_a_first_ctrl_c_holds_the_sweep_and_enter_lets_it_go_on(
    lanes: str, tmp_path: Path, terminals: list[Terminal]
) -> None:
    terminal = started(terminals, tmp_path, lanes, steps=600, replicates=4)
    terminal.until_shown("run 1 · tick" if lanes == "process" else "run 0 · tick")
    terminal.press("\n")
    terminal.press(CTRL_C)
    terminal.until_shown("paused: Enter goes on, Ctrl-C ends the sweep and keeps what is written")
    terminal.until_shown("paused · ")
    terminal.press("\n")
    assert terminal.ended() == 0
    assert json.loads((tmp_path / "out/manifest.json").read_bytes())["status"] == "complete"


def test_a_second_ctrl_c_ends_the_sweep_with_its_files(tmp_path: Path, terminals: list[Terminal]) -> None:
    terminal = started(terminals, tmp_path, "process", steps=1_000_000, replicates=4)
    terminal.until_shown("run 1 · tick")
    terminal.press(CTRL_C)
    terminal.until_shown("paused: Enter goes on")
    terminal.press(CTRL_C)
    assert terminal.ended() == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} >= RESULTS
    assert json.loads((tmp_path / "out/manifest.json").read_bytes())["status"] == "aborted"
    assert "go on with" in terminal.shown
    assert "Traceback" not in terminal.shown, "no lane hears of it"


POOL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def make():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
"""


@pytest.mark.parametrize(("key", "code", "status"), [("\n", 0, "complete"), (CTRL_C, 1, "aborted")])
def test_over_an_executor_ctrl_c_holds_the_sweep_and_then_ends_it(
    key: str, code: int, status: str, tmp_path: Path, terminals: list[Terminal]
) -> None:
    (tmp_path / "pools.py").write_text(POOL)
    (tmp_path / "spec.toml").write_text(SPEC.format(steps=50, replicates=100))
    options = (
        "--executor",
        f"{tmp_path / 'pools.py'}:make",
        "--models",
        f"{ROOT / 'tests/native/lane_models.py'}:slow",
    )
    terminals.append(Terminal("run", str(tmp_path / "spec.toml"), "--out", str(tmp_path / "out"), *options))
    terminal = terminals[-1]
    terminal.until_shown("run 3 · tick 0")
    terminal.press(CTRL_C)
    terminal.until_shown("paused: Enter goes on")
    terminal.press(key)
    assert terminal.ended() == code
    assert {path.name for path in (tmp_path / "out").iterdir()} >= RESULTS
    assert json.loads((tmp_path / "out/manifest.json").read_bytes())["status"] == status
    assert "Traceback" not in terminal.shown, "no worker hears of it"
