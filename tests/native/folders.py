"""Folders of results for tests: sweeps into them, resumes of them, and what is in them byte for byte.

Sweeps here are pumped by the caller on the native target's stores and lanes, so that a test may fork.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

import henad_web as hw
from henad_native.target import NativeTarget
from henad_web.output.manifest import Manifest
from henad_web.output.own_tables import own_files
from henad_web.pumped import PumpedRunner
from henad_web.sweep import Sweep
from henad_web.targets import Runner
from tests.shared.toy_models import Divides, Toy, entry_of

SIR = hw.example_models()["sir"]
SMALL_SIR = hw.parse_spec(
    """
model = "sir"
[set]
grid_width = 16
grid_height = 16
[run]
steps = 30
replicates = 2
[measure]
stats_every = 3
series_every = 6
[seeds]
root = 8
[[action]]
id = "seed_outbreak"
tick = 12
[[block]]
design = "zip"
factors = [
  { param = "infection_rate", values = [0.2, 0.4, 0.6] },
  { action = "seed_outbreak", values = [6, 12, 18] },
]
"""
).spec
"""Six runs: three configs of a small epidemic whose outbreak's tick varies too."""

AT_LENGTH = os.environ.get("HENAD_KILL_AT_LENGTH") == "1"
"""Whether to try each call to the file system and each byte, as ``poe kill-folders`` does, or a sample of them."""

TOY = entry_of(Toy)
DIVIDES = entry_of(Divides)


def toy_spec(values: tuple[int, ...] = (1, 2, 3), *, replicates: int = 2, steps: int = 4) -> hw.SweepSpec:
    """Return a spec of a toy: one config a value, a series of every second tick."""
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=values))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=steps, replicates=replicates),
        measure=hw.MeasureSettings(stats_every=1, series_every=2),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )


def with_run(spec: hw.SweepSpec, **changes: object) -> hw.SweepSpec:
    """Return `spec` with other settings of its runs."""
    return msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, **changes))


class StillTarget(NativeTarget):
    """The native target with sweeps that move only when pumped."""

    def make_runner(self, sweep: Sweep) -> Runner:
        return PumpedRunner(sweep, self.surroundings().clock, frame_budget_s=10.0)


TARGET = StillTarget()


def events_of(run: hw.SweepRun) -> Iterator[hw.SweepEvent]:
    """Pump `run` and yield its events to the last."""
    while not run.is_ended:
        event = run.try_recv()
        if event is None:
            run.update(0.0)
        else:
            yield event


def record_of(run: hw.SweepRun) -> hw.SweepRecord:
    """Pump `run` to its end and return its record."""
    for last in events_of(run):  # they hold series and tables: none is kept
        assert not (isinstance(last, hw.Warned) and isinstance(last.warning, hw.OutputPaused)), last
    assert isinstance(last, hw.Finished), last
    return last.record


def ran_ids(run: hw.SweepRun) -> list[int]:
    """Pump `run` to its end and return the ids of the runs it wrote."""
    return [event.outcome.run.run_id for event in events_of(run) if isinstance(event, hw.RunFinished)]


def start(entry: hw.ModelEntry, spec: hw.SweepSpec, directory: Path, **options: object) -> hw.SweepRun:
    """Start a sweep into `directory`."""
    chosen = hw.SweepRunOptions(**options)  # type: ignore[arg-type]
    return hw.SweepRun.start(entry, spec, hw.DirectoryOutput(directory), chosen, target=TARGET)


def sweep(entry: hw.ModelEntry, spec: hw.SweepSpec, directory: Path, **options: object) -> hw.SweepRecord:
    """Sweep `spec` into `directory`."""
    return record_of(start(entry, spec, directory, **options))


def resume(entry: hw.ModelEntry, directory: Path, spec: hw.SweepSpec | None = None, **options: object) -> hw.SweepRun:
    """Resume the results in `directory`."""
    chosen = hw.SweepRunOptions(**options)  # type: ignore[arg-type]
    return hw.SweepRun.resume_directory(entry, directory, chosen, spec=spec, target=TARGET)


def files_in(directory: Path) -> dict[str, bytes]:
    """Return the content of every file in `directory` by name, those of tables of a model's own with their folder."""
    paths = sorted(path for path in directory.rglob("*") if not path.is_dir())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def masked_in(directory: Path) -> dict[str, bytes]:
    """Return the comparable form of a folder at rest: the four files, a lock, and tables of the model's own."""
    files = files_in(directory)
    own = {file.name for file in own_files(manifest_of(directory).columns)}
    assert set(files) == {"runs.csv", "series.csv", "summary.csv", "manifest.json", ".lock"} | own
    return hw.masked(files)


def hash_of(directory: Path) -> str:
    """Return a hash over names, contents and times of change of all files in `directory`."""
    digest = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        state = path.lstat()
        digest.update(f"{path.relative_to(directory)} {state.st_mtime_ns} {state.st_size}\n".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def sessions_of(directory: Path) -> list[tuple[int, int]]:
    """Return what each recorded session skipped and ran."""
    return [(session.skipped, session.ran) for session in manifest_of(directory).sessions]


def manifest_of(directory: Path) -> Manifest:
    """Return the manifest in `directory`."""
    return Manifest.read((directory / "manifest.json").read_bytes())
