"""Whatever moment a process is killed at, and whatever byte its tables end on, a resume gives the uninterrupted folder.

Children are forked from this process, which is warm and has no threads, and are killed with SIGKILL: at a random moment
by their parent, or by themselves at a random call to the file system, in the middle of a write. The seed of the
choices is printed; ``HENAD_KILL_SEED`` sets it. The suite does a sample of what ``poe kill-folders`` does at length.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_native import directory, disk
from tests.native.folders import (
    AT_LENGTH,
    DIVIDES,
    TARGET,
    TOY,
    files_in,
    masked_in,
    ran_ids,
    record_of,
    resume,
    start,
    sweep,
    toy_spec,
    with_run,
)
from tests.shared.adaptive_studies import CHANCE, chance_spec

pytestmark = pytest.mark.usefixtures("quick_disk")

KILLS = 200 if AT_LENGTH else 20
"""Kills that must have landed, over all scenarios."""

SPEC = toy_spec((1, 0, 2))
MORE = with_run(SPEC, replicates=3)
Act = Callable[[], object]


class Deadly:
    """Stands for `os`; kills its own process at call number `dies_at`, half-way through where that is a write."""

    def __init__(self, dies_at: int) -> None:
        self.calls, self.dies_at = 0, dies_at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in ("write", "fsync", "replace", "open", "ftruncate", "close"):
            return real

        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls == self.dies_at:
                if name == "write":
                    os.write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments)

        return call

    def install(self) -> None:
        for module in (directory, disk):
            module.os = self  # type: ignore[attr-defined]


def child_of(act: Act, dies_at: int, after_s: float | None) -> bool:
    """Fork, have the child `act`, and kill it; return whether the kill came before the child had finished."""
    pid = os.fork()
    if pid == 0:
        try:
            Deadly(dies_at).install()
            act()
        finally:
            os._exit(0)
    if after_s is not None:
        with open(os.pidfd_open(pid), "rb", buffering=0) as ended:
            select.select([ended], [], [], after_s)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def calls_of(act: Act) -> int:
    """Return how many calls to the file system `act` makes, which is done here."""
    counting = Deadly(-1)
    before = directory.os, disk.os  # type: ignore[attr-defined]
    try:
        counting.install()
        act()
    finally:
        directory.os, disk.os = before  # type: ignore[attr-defined]
    return counting.calls


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One thing a process may be killed in.

    Attributes:
        prepare: Makes the folder it begins with, if any.
        act: Does it.
        finish: Goes on with whatever a kill left.
        expect: Makes the folder that must come of it.
    """

    prepare: Callable[[Path], object]
    act: Act
    finish: Act
    expect: Callable[[Path], object]


class Scenario:
    """A scene of the folders ``work`` and `base`, ready to be killed in."""

    def __init__(self, name: str, base: Path, make: Callable[[Path, Path], Scene] | None = None) -> None:
        base.mkdir(exist_ok=True)
        self.name, self.before, self.folder = name, base / "before", base / "work"
        self.scene = (make or SCENES[name])(self.folder, base)
        self.scene.prepare(self.before)
        self.scene.expect(base / "expected")
        self.expected = masked_in(base / "expected")
        self.put_back()
        started = time.perf_counter()
        self.calls = calls_of(self.scene.act)
        self.seconds = time.perf_counter() - started
        assert masked_in(self.folder) == self.expected

    def put_back(self) -> None:
        """Make the folder what it is before anything happens."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.before.exists():
            shutil.copytree(self.before, self.folder)

    def kill(self, chance: random.Random) -> int:
        """Kill the act once, and perhaps what goes on with it, finish it, and compare; return the kills that landed."""
        self.put_back()
        kills = 0
        for act in (self.scene.act, self.scene.finish, self.scene.finish):
            at_a_moment = chance.random() < 0.5
            after_s = chance.uniform(0.0, self.seconds * 1.2) if at_a_moment else None
            kills += child_of(act, -1 if at_a_moment else chance.randint(1, self.calls), after_s)
            if chance.random() < 0.5:
                break
        self.finish()
        return kills

    def kill_at_calls(self) -> None:
        """Kill the act at each of its calls to the file system, or at a sample of them, and finish it each time."""
        assert self.calls > 40
        for dies_at in range(self.calls, 0, -1 if AT_LENGTH else -(self.calls // 10)):
            self.put_back()
            assert child_of(self.scene.act, dies_at, None), f"not killed at call {dies_at}"
            self.finish()

    def finish(self) -> None:
        """Go on with what a kill left, and compare."""
        self.scene.finish()
        assert masked_in(self.folder) == self.expected


def new_sweep(folder: Path, base: Path) -> Scene:
    def finish() -> None:
        is_begun = (folder / "manifest.json").exists()
        record_of(resume(DIVIDES, folder) if is_begun else start(DIVIDES, SPEC, folder))

    return Scene(prepare=nothing, act=finish, finish=finish, expect=partial(sweep, DIVIDES, SPEC))


def raised_replicates(folder: Path, base: Path) -> Scene:
    def act() -> None:
        record_of(resume(DIVIDES, folder, MORE))

    return Scene(prepare=partial(sweep, DIVIDES, SPEC), act=act, finish=act, expect=partial(sweep, DIVIDES, MORE))


def failed_runs_tried_again(folder: Path, base: Path) -> Scene:
    def act() -> None:
        record_of(resume(DIVIDES, folder, retry_failed=True))

    whole = partial(sweep, DIVIDES, SPEC)
    return Scene(prepare=whole, act=act, finish=act, expect=whole)


def reused_runs(folder: Path, base: Path) -> Scene:
    wider = toy_spec((3, 1, 0, 2, 4))
    sweep(DIVIDES, SPEC, base / "old")

    def finish() -> None:
        is_begun = (folder / "manifest.json").exists()
        record_of(resume(DIVIDES, folder) if is_begun else start(DIVIDES, wider, folder, reuse=base / "old"))

    return Scene(prepare=nothing, act=finish, finish=finish, expect=partial(sweep, DIVIDES, wider))


def adaptive_replicates(folder: Path, base: Path) -> Scene:
    spec = chance_spec(1, 500, 900)

    def finish() -> None:
        is_begun = (folder / "manifest.json").exists()
        record_of(resume(CHANCE, folder) if is_begun else start(CHANCE, spec, folder))

    return Scene(prepare=nothing, act=finish, finish=finish, expect=partial(sweep, CHANCE, spec))


def overwritten(folder: Path, base: Path) -> Scene:
    old = toy_spec((4, 5))

    def act() -> None:
        place = hw.DirectoryOutput(folder, overwrite=True)
        record_of(hw.SweepRun.start(DIVIDES, SPEC, place, target=TARGET))

    def finish() -> None:
        """Go on with what is there, which is all of the old results or the new ones, for whoever reads them too."""
        results = hw.ResultSet.open(folder, models=DIVIDES)
        keys = [results.plan.run_key(results.plan.run(int(run_id))) for run_id in results.runs["run_id"]]
        assert list(results.runs["run_key"]) == keys
        is_new = results.plan.plan_hash == SPEC.plan(DIVIDES.schema()).plan_hash
        if is_new:
            assert set(results.summary["value"].tolist()) <= {0, 1, 2}
            record_of(resume(DIVIDES, folder))
        else:
            assert results.is_complete
            assert "summary.csv" in files_in(folder)
            act()

    return Scene(prepare=partial(sweep, DIVIDES, old), act=act, finish=finish, expect=partial(sweep, DIVIDES, SPEC))


def nothing(_: Path) -> None:
    """Leave the folder missing."""


SCENES: dict[str, Callable[[Path, Path], Scene]] = {
    "a new sweep": new_sweep,
    "raised replicates": raised_replicates,
    "failed runs tried again": failed_runs_tried_again,
    "reused runs": reused_runs,
    "adaptive replicates": adaptive_replicates,
    "overwritten results": overwritten,
}


@pytest.mark.timeout(240)
def test_a_process_killed_at_any_moment_costs_nothing_that_a_resume_does_not_bring_back(fast_path: Path) -> None:
    seed = int(os.environ.get("HENAD_KILL_SEED") or random.SystemRandom().randrange(2**32))
    print(f"HENAD_KILL_SEED={seed}")  # noqa: T201 - pytest shows it beside a failure
    chance = random.Random(seed)
    scenarios = [Scenario(name, fast_path / str(number)) for number, name in enumerate(SCENES)]
    kills = 0
    while kills < KILLS:
        scenario = chance.choice(scenarios)
        print(f"{kills} kills, then {scenario.name}")  # noqa: T201 - the last line is the one that failed
        kills += scenario.kill(chance)


@pytest.mark.parametrize("name", ["raised replicates", "reused runs", "overwritten results"])
def test_every_call_to_the_file_system_may_be_the_last(fast_path: Path, name: str) -> None:
    Scenario(name, fast_path).kill_at_calls()


def leave_running(folder: Path) -> None:
    """Let the manifest say what that of a killed process does: once it says that a sweep ended, nothing can be lost."""
    manifest = (folder / "manifest.json").read_text()
    assert '"status": "complete"' in manifest
    (folder / "manifest.json").write_text(manifest.replace('"status": "complete"', '"status": "running"'))


@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
@pytest.mark.parametrize("model", ["ok", "failing"])
def test_a_table_cut_at_any_byte_of_its_last_two_rows_is_made_whole(fast_path: Path, name: str, model: str) -> None:
    entry, spec = (TOY, toy_spec()) if model == "ok" else (DIVIDES, toy_spec((1, 2, 0)))
    sweep(entry, spec, fast_path / "whole")
    expected = masked_in(fast_path / "whole")
    content = (fast_path / "whole" / name).read_bytes()
    second, last = map(len, content.splitlines(keepends=True)[-2:])
    sizes = range(len(content) - 1, len(content) - last - second - 1, -1)
    for size in sizes if AT_LENGTH else sorted({*sizes[::8], len(content) - last, sizes[-1]}):
        folder = fast_path / "cut"
        shutil.copytree(fast_path / "whole", folder)
        (folder / name).write_bytes(content[:size])
        leave_running(folder)
        ran = ran_ids(resume(entry, folder))
        assert masked_in(folder) == expected, f"{name} cut to {size} bytes"
        assert ran in ([5], [4, 5])
        shutil.rmtree(folder)
