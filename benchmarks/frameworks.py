"""The same epidemic in other frameworks: their environments, their races, and whether it is the same epidemic.

Owns who races with how many runs and what is compared. The programs themselves are in `benchmarks/rivals/`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rivals.race import INITIAL, SIDE, STEPS
from henad_web.errors import counted

__all__ = ["ENTRANTS", "Entrant", "Lap", "RaceError", "difference", "python_of", "race", "times_as_many"]

PROGRAMS = Path(__file__).with_name("rivals")
ENVIRONMENTS = Path(__file__).parents[1] / "build" / "bench"
PATIENCE_S = 600.0
ALIKE = 0.1
"""Share by which the mean peaks of two implementations may differ: that of single runs varies by 3 % of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One implementation.

    Attributes:
        name: What it is called in the table.
        program: Its file in `benchmarks/rivals/`.
        requirement: What pip installs for it into an environment of its own, None for this project.
        runs: How many runs are timed on how many processes: enough for two seconds and more.
    """

    name: str
    program: str
    requirement: str | None
    runs: dict[int, int]


ENTRANTS = (
    Entrant(name="henad", program="henad_sir.py", requirement=None, runs={1: 300, 2: 600}),
    Entrant(name="Mesa batch_run", program="mesa_sir.py", requirement="mesa>=3,<4", runs={1: 4, 2: 16}),
    Entrant(name="AgentPy", program="agentpy_sir.py", requirement="agentpy", runs={1: 4}),
    Entrant(name="CellPyLib", program="cellpylib_sir.py", requirement="cellpylib", runs={1: 1}),
    Entrant(name="numba", program="numba_sir.py", requirement="numba", runs={1: 500}),
    Entrant(name="mesa-frames", program="mesa_frames_sir.py", requirement="mesa-frames", runs={1: 20}),
)


class RaceError(Exception):
    """An implementation that cannot be installed or run, in one line."""


@dataclass(frozen=True, slots=True)
class Lap:
    """One timing.

    Attributes:
        version: Version of the package.
        run_s: Seconds a run.
        run_cpu_s: Seconds of processor time a run, all processes together.
        infected: The infected of each run, before the first step and behind each.
    """

    version: str
    run_s: float
    run_cpu_s: float
    infected: list[list[int]]

    @property
    def peak(self) -> float:
        """Most infected of a run, the mean over runs."""
        return statistics.fmean(map(max, self.infected))


def _make(home: Path) -> None:
    venv.create(home, clear=True, with_pip=True)


def _install(python: Path, requirement: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)


def python_of(
    entrant: Entrant,
    folder: Path = ENVIRONMENTS,
    make: Callable[[Path], None] = _make,
    install: Callable[[Path, str], None] = _install,
) -> Path:
    """Return the interpreter that `entrant` runs in; its environment is made in `folder` the first time.

    Raises:
        RaceError: Its package cannot be installed.
    """
    if entrant.requirement is None:
        return Path(sys.executable)
    home = folder / entrant.program.rpartition("_")[0]
    python, made = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"), home / "requirement.txt"
    if made.exists() and made.read_text("utf-8") == entrant.requirement:
        return python
    try:
        make(home)
        install(python, entrant.requirement)
    except (OSError, subprocess.SubprocessError) as error:
        raise RaceError(f"{entrant.name} cannot be installed: {_last_line(error)}") from error
    made.write_text(entrant.requirement, "utf-8")
    return python


def race(entrant: Entrant, python: Path, processes: int) -> Lap:
    """Time the runs of `entrant` on `processes` processes, in a program of its own.

    Raises:
        RaceError: The program fails or takes longer than ten minutes.
    """
    runs = entrant.runs[processes]
    command = [str(python), str(PROGRAMS / entrant.program), str(runs), str(processes)]
    threads = {"POLARS_MAX_THREADS": str(processes), "OMP_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=PATIENCE_S, env={**os.environ, **threads}
        )
        told = json.loads(ended.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise RaceError(f"{entrant.name} on {counted(processes, 'core')} failed: {_last_line(error)}") from error
    return Lap(told["version"], told["seconds"] / runs, told["cpu_s"] / runs, told["infected"])


def difference(lap: Lap, ours: Lap) -> str | None:
    """Return in words what makes the epidemic of `lap` another one than `ours`, None when nothing does."""
    if any(len(run) != STEPS + 1 for run in lap.infected):
        return f"not every run has {STEPS + 1} counts"
    started = statistics.fmean(run[0] for run in lap.infected)
    expected = SIDE * SIDE * INITIAL
    if abs(started - expected) > 0.5 * expected:
        return f"{started:.0f} cells are infected at the start, not about {expected:.0f}"
    if abs(lap.peak - ours.peak) > ALIKE * ours.peak:
        return f"{lap.peak:.0f} are infected at the peak, not about {ours.peak:.0f}"
    return None


def times_as_many(ours: Sequence[float], theirs: Iterable[float]) -> float:
    """Return how many of our runs go into one of theirs: the median of what each round gives."""
    return statistics.median(their / our for our, their in zip(ours, theirs, strict=True))


def _last_line(error: BaseException) -> str:
    lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
