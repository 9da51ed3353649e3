"""The native target: a thread that pumps, directories beside memory, and blocking calls.

Owns what the shared package asks of a platform. How runs are stepped and files are written is the shared package's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from henad_native.blocking import run_blocking
from henad_native.checkout import installed_build
from henad_native.directory import DirectoryStore
from henad_native.lock import DirectoryLock
from henad_native.overwriting import OverwritingStore
from henad_native.threaded import ThreadedRunner
from henad_web.channel import SweepEvent, SweepWarning
from henad_web.errors import LockedError, UsageError
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.spec import SweepSpec
from henad_web.explore.spec_file import LoadedSpec
from henad_web.handle import SweepProgress, SweepRun
from henad_web.model.entry import ModelEntry, ModelsGiven
from henad_web.output.names import MANIFEST
from henad_web.output.record import SweepRecord
from henad_web.output.store import DirectoryOutput, FileStore, MemoryStore, OutputPlace
from henad_web.result_set import ResultSet
from henad_web.results.verifying import VerifyReport, verify_results
from henad_web.resume.merging import MergeContext, MergeReport, merge_shards
from henad_web.run.control import NATIVE_SLICE_TARGET_S, Clock
from henad_web.run.lanes import InProcessLane, Lanes
from henad_web.run.layout import ExecutionLayout, MachineResources
from henad_web.run.options import SweepRunOptions
from henad_web.sweep import Surroundings, Sweep
from henad_web.targets import Runner, runtime_here

__all__ = ["NATIVE_SERIES_BUDGET", "NativeTarget"]

NATIVE_SERIES_BUDGET = 256 << 20
"""Bytes of series that the events of a native sweep carry by default."""


class NativeTarget:
    """CPython on a machine with threads and files.

    Args:
        clock: Monotonic clock, seconds.
        wall_clock: Seconds since the epoch.
        series_budget: Default series budget, bytes.
    """

    name = "native"

    def __init__(
        self,
        clock: Clock = time.perf_counter,
        wall_clock: Clock = time.time,
        series_budget: int = NATIVE_SERIES_BUDGET,
    ) -> None:
        self.clock, self.wall_clock, self.series_budget = clock, wall_clock, series_budget

    def check(self, entry: ModelEntry, options: SweepRunOptions) -> None:
        """Accept every entry and option: what cannot be stepped here is refused run by run."""

    def check_output(self, output: OutputPlace, *, force: bool = False) -> None:
        """Refuse a directory that is not free, touching nothing.

        Raises:
            OutputError: The directory holds results or is being written.
        """
        self.open_output(output, force=force)

    def open_output(self, output: OutputPlace, *, force: bool = False) -> FileStore:
        """Return a store in memory or in a directory that is free; the sweep makes and locks it as it begins to write.

        Raises:
            OutputError: The directory holds results or is being written.
        """
        if not isinstance(output, DirectoryOutput):
            return MemoryStore()
        store = DirectoryStore(output.path, force=force)
        if output.overwrite and store.check_replaceable():
            return OverwritingStore(store)
        store.check_free()
        return store

    def holds_results(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the directory `path` has a manifest, which every sweep writes first of all."""
        return DirectoryStore(path).holds(MANIFEST)

    def open_results(self, path: str | os.PathLike[str], *, force: bool = False) -> FileStore:
        """Return a store of the results in the directory `path`; it is locked as a sweep begins to write.

        Raises:
            OutputError: The directory is being written or cannot be read.
        """
        store = DirectoryStore(path, force=force)
        store.check_existing()
        return store

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
            MergeError: They cannot be merged; nothing was written.
            OutputError: A directory is being written, cannot be read, or is no place for the result.
        """
        store = self.open_output(DirectoryOutput(output_dir), force=force)
        readers = [self.open_results(path, force=force) for path in inputs]
        around = self.surroundings()
        context = MergeContext(
            engine=around.engine, runtime=around.runtime, argv=around.argv, wall_clock=around.wall_clock
        )
        report = merge_shards(readers, store, context)
        if progress is not None:
            for warning in report.warnings:
                progress(warning)
        return report

    def surroundings(self) -> Surroundings:
        """Return one lane inside the sweep's own thread, with slices that keep a pause prompt."""
        return Surroundings(
            clock=self.clock,
            wall_clock=self.wall_clock,
            resources=MachineResources(workers=1, can_spawn=False),
            runtime=runtime_here(worker_threads=1, target=self.name),
            argv=tuple(sys.argv),
            make_lanes=self._make_lanes,
            engine=installed_build(),
            takes_interrupts=True,  # the sweep's thread is never the main one, which alone is interrupted
        )

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner whose thread has started."""
        return ThreadedRunner(sweep)

    def run_spec(
        self,
        entry: ModelEntry,
        spec: SweepSpec | LoadedSpec | None,
        *,
        output: OutputPlace,
        options: SweepRunOptions,
        progress: Callable[[SweepEvent | SweepProgress], None] | None,
        resume: bool = False,
    ) -> SweepRecord:
        """Run a sweep to its end and return its record.

        Raises:
            SweepFailedError: The sweep ended on its own error.
            SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
        """

        def start(options: SweepRunOptions) -> SweepRun:
            goes_on = resume and isinstance(output, DirectoryOutput) and self.holds_results(output.path)
            if isinstance(output, DirectoryOutput) and (goes_on or spec is None):
                return SweepRun.resume_directory(entry, output.path, options, spec=spec, target=self)
            if spec is None:
                raise UsageError("results in memory cannot be resumed; name a directory, or give a spec")
            return SweepRun.start(entry, spec, output=output, options=options, target=self)

        return run_blocking(start, options=options, progress=progress)

    def is_being_written(self, path: str) -> bool:
        """Return whether somebody holds the lock of the directory `path`, or held it on another host to the last."""
        try:
            DirectoryLock(Path(path), self.wall_clock).check()
        except LockedError:
            return True
        return False

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
            ResultsError: They cannot be read.
        """
        return verify_results(ResultSet.open(path, models=models, target=self), runs=runs, run_ids=run_ids)

    def _make_lanes(
        self,
        entry: ModelEntry,
        measure: MeasurePlan,
        layout: ExecutionLayout,
        timeout_s: float | None,
        notify: Callable[[], None],
    ) -> Lanes:
        return InProcessLane(
            entry,
            measure,
            timeout_s=timeout_s,
            slice_target_s=NATIVE_SLICE_TARGET_S,
            clock=self.clock,
            takes_interrupts=True,
        )
