"""What a target is, the browser's target, and the package's one question about where it runs.

A target is the seam between the shared package and a platform. It fills in:

- `name`: ``browser`` or ``native``.
- `series_budget`: bytes of series the events of a sweep carry unless the host says otherwise.
- `check`: refuses an entry or options this target cannot serve, before anything runs.
- `check_output`: refuses a place that is not free, touching nothing.
- `open_output`: a store for a `MemoryOutput` or a `DirectoryOutput`, refused likewise.
- `open_results`: a store of results that are there, to go on with or to read; `holds_results` says whether there are.
- `merge`: shards merged into one folder.
- `surroundings`: clocks, resources, the machine's record and the lanes.
- `make_runner`: whoever calls `Sweep.pump`.
- `run_spec`: a blocking run, for hosts that may block.
- `is_being_written`: whether somebody writes a directory of results now.
- `verify`: a blocking rerun of some recorded runs.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from henad_web.errors import NeedsNativeError
from henad_web.model.entry import Backend
from henad_web.output.manifest import RuntimeRecord
from henad_web.output.store import DirectoryOutput, FileStore, MemoryStore, OutputPlace
from henad_web.pumped import PumpedRunner
from henad_web.run.control import FRAME_SLICE_TARGET_S, Clock
from henad_web.run.lanes import InProcessLane, Lanes, RunView
from henad_web.run.layout import ExecutionLayout, MachineResources
from henad_web.sweep import Surroundings, Sweep

if TYPE_CHECKING:
    from henad_web.channel import SweepWarning
    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.spec import SweepSpec
    from henad_web.explore.spec_file import LoadedSpec
    from henad_web.model.entry import ModelEntry, ModelsGiven
    from henad_web.output.record import SweepRecord
    from henad_web.results.verifying import VerifyReport
    from henad_web.resume.merging import MergeReport
    from henad_web.run.options import SweepRunOptions

__all__ = ["BROWSER_SERIES_BUDGET", "PumpedTarget", "Runner", "Target", "current"]

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


class Target(Protocol):
    """A platform, as the shared package sees it; the module's docstring lists what each member is for."""

    @property
    def name(self) -> str:
        """``browser`` or ``native``."""

    @property
    def clock(self) -> Clock:
        """Monotonic clock, seconds."""

    @property
    def series_budget(self) -> int:
        """Default series budget of the events, bytes."""

    def check(self, entry: ModelEntry, options: SweepRunOptions) -> None:
        """Refuse what this target cannot run.

        Raises:
            NeedsNativeError: The entry or the options need another target.
        """

    def check_output(self, output: OutputPlace, *, force: bool = False) -> None:
        """Refuse an `output` that `open_output` would refuse, touching nothing.

        Raises:
            NeedsNativeError: This target has no such place.
            OutputError: The place holds results or is being written.
        """

    def open_output(self, output: OutputPlace, *, force: bool = False) -> FileStore:
        """Return a store for `output`.

        Args:
            output: The place.
            force: Take over a lock that a process on another host did not give back.

        Raises:
            NeedsNativeError: This target has no such place.
            OutputError: The place holds results, is being written or cannot be made.
        """

    def holds_results(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the directory `path` holds results that can be gone on with."""

    def open_results(self, path: str | os.PathLike[str], *, force: bool = False) -> FileStore:
        """Return a store of the results in the directory `path`, not locked yet.

        Raises:
            NeedsNativeError: This target has no directories.
            OutputError: The directory is being written or cannot be read.
        """

    def merge(
        self,
        inputs: Sequence[str | os.PathLike[str]],
        output_dir: str | os.PathLike[str],
        *,
        progress: Callable[[SweepWarning], None] | None,
        force: bool,
    ) -> MergeReport:
        """Merge the shards in the directories `inputs` into the new directory `output_dir`.

        Raises:
            NeedsNativeError: This target has no directories.
            OutputError: They cannot be merged; nothing was written.
        """

    def surroundings(self) -> Surroundings:
        """Return what a sweep borrows."""

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner that has taken charge of `sweep`."""

    def run_spec(
        self,
        entry: ModelEntry,
        spec: SweepSpec | LoadedSpec | None,
        *,
        output: OutputPlace,
        options: SweepRunOptions,
        progress: Callable[..., None] | None,
        resume: bool = False,
    ) -> SweepRecord:
        """Run a sweep to its end and return its record.

        Args:
            entry: The model.
            spec: The study; None for the one recorded in `output`, which is then gone on with.
            output: Where the files go.
            options: Settings that change no result.
            progress: Hears the news, None for nobody.
            resume: Go on with results that are there.

        Raises:
            NeedsNativeError: This target must not block.
        """

    def is_being_written(self, path: str) -> bool:
        """Return whether a writer that lives, here or perhaps on another host, holds the directory `path`."""

    def verify(
        self,
        path: str | os.PathLike[str],
        *,
        runs: int,
        models: ModelsGiven | None,
        run_ids: Sequence[int] | None,
    ) -> VerifyReport:
        """Rerun some runs of the results at `path` and return what differs.

        Raises:
            NeedsNativeError: This target must not block.
        """


class PumpedTarget:
    """A host that lends its frames and has neither threads nor files: a browser's page.

    Args:
        clock: Monotonic clock, seconds.
        wall_clock: Seconds since the epoch.
        series_budget: Default series budget, bytes.
    """

    name = "browser"

    def __init__(
        self,
        clock: Clock = time.perf_counter,
        wall_clock: Clock = time.time,
        series_budget: int = BROWSER_SERIES_BUDGET,
    ) -> None:
        self.clock, self.wall_clock, self.series_budget = clock, wall_clock, series_budget

    def check(self, entry: ModelEntry, options: SweepRunOptions) -> None:
        """Refuse a GPU model, a shard and the reuse of a folder.

        Raises:
            NeedsNativeError: `entry` steps on a GPU, or `options` names a shard or a folder.
        """
        if entry.metadata.backend is Backend.GPU:
            raise NeedsNativeError("a GPU sweep")
        if options.shard is not None:
            raise NeedsNativeError(f"shard {options.shard} of a sweep")
        if options.reuse is not None:
            raise NeedsNativeError("the reuse of a folder")

    def check_output(self, output: OutputPlace, *, force: bool = False) -> None:
        """Refuse a directory.

        Raises:
            NeedsNativeError: `output` is a directory.
        """
        if isinstance(output, DirectoryOutput):
            raise NeedsNativeError("writing to a directory", instead="use MemoryOutput() and take the record's files")

    def open_output(self, output: OutputPlace, *, force: bool = False) -> FileStore:
        """Return a store in memory.

        Raises:
            NeedsNativeError: `output` is a directory.
        """
        self.check_output(output)
        return MemoryStore()

    def holds_results(self, path: str | os.PathLike[str]) -> bool:
        """Refuse: there are no directories; raises as `open_results` does."""
        raise NeedsNativeError("a directory of results")

    def open_results(self, path: str | os.PathLike[str], *, force: bool = False) -> FileStore:
        """Refuse: there are no directories.

        Raises:
            NeedsNativeError: Always.
        """
        raise NeedsNativeError("going on with a directory")

    def merge(
        self,
        inputs: Sequence[str | os.PathLike[str]],
        output_dir: str | os.PathLike[str],
        *,
        progress: Callable[[SweepWarning], None] | None,
        force: bool,
    ) -> MergeReport:
        """Refuse: there are no directories.

        Raises:
            NeedsNativeError: Always.
        """
        raise NeedsNativeError("a merge of directories")

    def surroundings(self) -> Surroundings:
        """Return one lane inside the caller, with slices that fit a frame."""
        return Surroundings(
            clock=self.clock,
            wall_clock=self.wall_clock,
            resources=MachineResources(workers=1, can_spawn=False),
            runtime=runtime_here(worker_threads=1, target=self.name),
            argv=(),
            make_lanes=self._make_lanes,
        )

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner that pumps from `update`."""
        return PumpedRunner(sweep, self.clock)

    def run_spec(
        self,
        entry: ModelEntry,
        spec: SweepSpec | LoadedSpec | None,
        *,
        output: OutputPlace,
        options: SweepRunOptions,
        progress: Callable[..., None] | None,
        resume: bool = False,
    ) -> SweepRecord:
        """Refuse: a page must not block.

        Raises:
            NeedsNativeError: Always.
        """
        raise NeedsNativeError("a blocking run", instead="use SweepRun.start and update, or `async for` its events")

    def is_being_written(self, path: str) -> bool:
        """Return False: nobody else can write to a page's own files."""
        return False

    def verify(
        self,
        path: str | os.PathLike[str],
        *,
        runs: int,
        models: ModelsGiven | None,
        run_ids: Sequence[int] | None,
    ) -> VerifyReport:
        """Refuse: a page must not block.

        Raises:
            NeedsNativeError: Always.
        """
        raise NeedsNativeError("a blocking verification", instead="use Verification(results) and its advance")

    def _make_lanes(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        layout: ExecutionLayout,
        timeout_s: float | None,
        notify: Callable[[], None],
    ) -> Lanes:
        return InProcessLane(entry, measure, timeout_s=timeout_s, slice_target_s=FRAME_SLICE_TARGET_S, clock=self.clock)


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
