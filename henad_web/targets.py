"""What a target is, the browser's target, and the package's one question about where it runs.

A target is the seam between the shared package and a platform. It fills in:

- `name`: ``browser`` or ``native``.
- `backends`: what its lanes step.
- `surroundings`: clocks, resources, who writes, and the lanes.
- `make_runner`: whoever calls `Sweep.pump`.
- `directories`: folders of results; None where there are no files, as in a page.
- `blocking`: a sweep inside one call; None where a call must not block, as in a page.
- `over_executor`: what a sweep borrows where an executor's workers step its runs; None where there are none, as in a
  page.

What needs a part that a target lacks is refused by `needed`, and nowhere else.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from henad_web.errors import NeedsNativeError, UsageError
from henad_web.model.entry import Backend
from henad_web.output.first_manifest import Author
from henad_web.output.manifest import RuntimeRecord
from henad_web.output.store import DirectoryOutput, FileStore, MemoryStore, OutputPlace
from henad_web.pumped import PumpedRunner
from henad_web.run.control import FRAME_SLICE_TARGET_S, Clock
from henad_web.run.lanes import InProcessLane, Lanes, RunView
from henad_web.run.layout import ExecutionLayout, MachineResources
from henad_web.sweep import Surroundings, Sweep

if TYPE_CHECKING:
    from henad_web.channel import SweepEvent
    from henad_web.explore.measure import MeasurePlan
    from henad_web.handle import SweepProgress, SweepRun
    from henad_web.model.entry import ModelEntry
    from henad_web.output.record import SweepRecord
    from henad_web.run.options import Executor, SweepRunOptions

__all__ = [
    "BROWSER_SERIES_BUDGET",
    "Blocking",
    "Directories",
    "PumpedTarget",
    "Runner",
    "Target",
    "check_served",
    "current",
    "needed",
    "opened_output",
    "surroundings_of",
]

BROWSER_SERIES_BUDGET = 64 << 20
"""Bytes of series that the events of a sweep in a page carry by default."""


class Runner(Protocol):
    """Whoever pumps a sweep. The same calls on every target; `update` does nothing where a thread pumps."""

    def update(self, dt: float, budget_s: float | None = None) -> None:
        """Lend the sweep a frame: `dt` seconds since the last one, at most `budget_s` seconds of work."""

    def notify(self) -> None:
        """Tell the runner that a command has come, or a lane's report."""

    def view(self) -> RunView | None:
        """Return the run in progress, to draw."""

    def close(self) -> None:
        """Wait for the end of a sweep that has been told to abort or is over."""

    async def turn(self) -> None:
        """Return once something may have happened."""


class Directories(Protocol):
    """The folders of results of a target that has files."""

    def open_output(self, output: DirectoryOutput, *, force: bool = False) -> FileStore:
        """Return a store in a directory that is free, touching nothing; a sweep makes and locks it as it begins.

        Args:
            output: The directory.
            force: Take over a lock that a process on another host did not give back.

        Raises:
            OutputError: It holds results or is being written.
        """

    def open_results(self, path: str | os.PathLike[str], *, force: bool = False) -> FileStore:
        """Return a store of the results in the directory `path`, not locked yet.

        Raises:
            OutputError: The directory is being written or cannot be read.
        """

    def holds_results(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the directory `path` holds results that can be gone on with."""

    def is_being_written(self, path: str | os.PathLike[str]) -> bool:
        """Return whether a writer that lives, here or perhaps on another host, holds the directory `path`."""


class Blocking(Protocol):
    """Runs sweeps inside one call, for hosts that may block."""

    def __call__(
        self,
        start: Callable[[SweepRunOptions], SweepRun],
        *,
        options: SweepRunOptions,
        progress: Callable[[SweepEvent | SweepProgress], None] | None,
    ) -> SweepRecord:
        """Start a sweep, or go on with one, follow it to its end and return its record.

        Args:
            start: Starts it with the options it is given.
            options: Settings that change no result.
            progress: Hears the news, None for nobody.

        Raises:
            SweepFailedError: The sweep ended on its own error.
            SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
            HenadError: Whatever `start` raises.
        """


class Target(Protocol):
    """A platform, as the shared package sees it; the module's docstring lists what each member is for."""

    @property
    def name(self) -> str:
        """``browser`` or ``native``."""

    @property
    def backends(self) -> frozenset[Backend]:
        """What its lanes step; a model for another backend is refused before anything runs."""

    @property
    def directories(self) -> Directories | None:
        """Folders of results, None where there are no files."""

    @property
    def blocking(self) -> Blocking | None:
        """Sweeps inside one call, None where a call must not block."""

    @property
    def over_executor(self) -> Callable[[Surroundings, Executor], Surroundings] | None:
        """Surroundings with an executor's lanes instead of this platform's, None where there are no executors."""

    def surroundings(self) -> Surroundings:
        """Return what a sweep borrows."""

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner that has taken charge of `sweep`."""


class PumpedTarget:
    """A host that lends its frames and has neither threads nor files: a browser's page.

    Args:
        clock: Monotonic clock, seconds.
        wall_clock: Seconds since the epoch.
        series_budget: Default series budget, bytes.
    """

    name = "browser"
    backends = frozenset({Backend.CPU})
    directories = None
    blocking = None
    over_executor = None

    def __init__(
        self,
        clock: Clock = time.perf_counter,
        wall_clock: Clock = time.time,
        series_budget: int = BROWSER_SERIES_BUDGET,
    ) -> None:
        self._clock, self._wall_clock, self._series_budget = clock, wall_clock, series_budget

    def surroundings(self) -> Surroundings:
        """Return one lane inside the caller, with slices that fit a frame."""
        return Surroundings(
            clock=self._clock,
            author=Author(runtime=runtime_here(worker_threads=1, target=self.name), wall_clock=self._wall_clock),
            resources=MachineResources(workers=1, can_spawn=False),
            make_lanes=self._make_lanes,
            series_budget=self._series_budget,
        )

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner that pumps from `update`."""
        return PumpedRunner(sweep, self._clock)

    def _make_lanes(
        self, entry: ModelEntry, measure: MeasurePlan, layout: ExecutionLayout, notify: Callable[[], None]
    ) -> Lanes:
        return InProcessLane(
            entry,
            measure,
            slice_target_s=FRAME_SLICE_TARGET_S,
            clock=self._clock,
            batch_rows=layout.batch_rows,
        )


_Part = TypeVar("_Part")


def needed(part: _Part | None, what: str, *, instead: str = "run it with native Python") -> _Part:
    """Return the `part` of a target that `what` needs, or the truth of what it needs.

    Raises:
        NeedsNativeError: It is None or False; the message says to do `instead`.
    """
    if not part:
        raise NeedsNativeError(what, instead=instead)
    return part


def check_served(target: Target, entry: ModelEntry, options: SweepRunOptions) -> None:
    """Refuse what `target` cannot run, before anything is planned.

    Raises:
        NeedsNativeError: `entry` steps on a backend that is not there, or `options` name a shard and there is nowhere
            to merge it, or an executor and there is none.
        UsageError: `options` have an executor and `entry` does not step on the CPU.
    """
    backend = entry.metadata.backend
    needed(backend in target.backends, f"a {backend.upper()} sweep")
    if options.shard is not None:
        needed(target.directories, f"shard {options.shard} of a sweep")
    if options.executor is not None:
        needed(target.over_executor, "an executor")
        if backend is not Backend.CPU:
            raise UsageError(f"'{entry.id}' is a {backend.upper()} model; an executor's workers step CPU models")


def surroundings_of(target: Target, options: SweepRunOptions) -> Surroundings:
    """Return what `target` lends a sweep with `options`, which it serves."""
    around = target.surroundings()
    if options.executor is None:
        return around
    return needed(target.over_executor, "an executor")(around, options.executor)


def opened_output(target: Target, output: OutputPlace, options: SweepRunOptions) -> FileStore:
    """Return a store for `output`, touching nothing; raises as `Directories.open_output` does.

    Raises:
        NeedsNativeError: It is a directory, and there are none.
    """
    if not isinstance(output, DirectoryOutput):
        return MemoryStore()
    instead = "use MemoryOutput() and take the record's files"
    directories = needed(target.directories, "writing to a directory", instead=instead)
    return directories.open_output(output, force=options.force)


def runtime_here(*, worker_threads: int, target: str) -> RuntimeRecord:
    """Return the manifest's record of the machine that the target called `target` runs on."""
    return RuntimeRecord(
        os=platform.system().lower(),
        arch=platform.machine(),
        logical_cpus=os.cpu_count() or 1,
        worker_threads=worker_threads,
        python=platform.python_version(),
        numpy=np.__version__,
        target=target,
    )


def current() -> Target:
    """Return the target of this process: the one place of the package that asks where it runs."""
    if sys.platform == "emscripten":  # noqa: TID251 - the one place
        return PumpedTarget()
    from henad_native.target import NativeTarget  # noqa: PLC0415 - never imported in a browser

    return NativeTarget()
