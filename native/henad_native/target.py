"""The native target: a thread that pumps, directories beside memory, and blocking calls.

Owns what the shared package asks of a platform. How runs are stepped and files are written is the shared package's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from henad_native.blocking import Hold, run_blocking
from henad_native.checkout import installed_build
from henad_native.directory import DirectoryStore
from henad_native.entry_transfer import refuse_sweep_of_import
from henad_native.lock import DirectoryLock
from henad_native.machine import machine_resources
from henad_native.overwriting import OverwritingStore
from henad_native.thread_lanes import thread_lanes
from henad_native.threaded import ThreadedRunner
from henad_web.errors import LockedError
from henad_web.explore.measure import MeasurePlan
from henad_web.model.entry import Backend, ModelEntry
from henad_web.output.first_manifest import Author
from henad_web.output.names import MANIFEST
from henad_web.output.store import DirectoryOutput, FileStore
from henad_web.run.control import NATIVE_SLICE_TARGET_S, Clock
from henad_web.run.lanes import InProcessLane, Lanes
from henad_web.run.layout import ExecutionLayout, LaneKind
from henad_web.run.options import Executor
from henad_web.sweep import Surroundings, Sweep
from henad_web.targets import Runner, runtime_here

__all__ = ["NATIVE_SERIES_BUDGET", "NativeDirectories", "NativeTarget"]

NATIVE_SERIES_BUDGET = 256 << 20
"""Bytes of series that the events of a native sweep carry by default."""


class NativeDirectories:
    """The folders of this machine, as `henad_web.targets.Directories` describes them."""

    def open_output(self, output: DirectoryOutput, *, force: bool = False) -> FileStore:
        """Return a store in a directory that is free, or whose results are to give way; touches nothing.

        Raises:
            OutputError: The directory holds results or is being written.
        """
        store = DirectoryStore(output.path, force=force)
        if output.overwrite and store.check_replaceable():
            return OverwritingStore(store)
        store.check_free()
        return store

    def open_results(self, path: str | os.PathLike[str], *, force: bool = False) -> FileStore:
        """Return a store of the results in the directory `path`; it is locked as a sweep begins to write.

        Raises:
            OutputError: The directory is being written or cannot be read.
        """
        store = DirectoryStore(path, force=force)
        store.check_existing()
        return store

    def holds_results(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the directory `path` has a manifest, which every sweep writes first of all."""
        return DirectoryStore(path).holds(MANIFEST)

    def is_being_written(self, path: str | os.PathLike[str]) -> bool:
        """Return whether somebody holds the lock of the directory `path`, or held it on another host to the last."""
        try:
            DirectoryLock(Path(path), time.time).check()
        except LockedError:
            return True
        return False


def _over_executor(around: Surroundings, executor: Executor) -> Surroundings:
    from henad_native.executor_lanes import over_executor  # noqa: PLC0415 - as lanes in processes

    return over_executor(around, executor)


class NativeTarget:
    """CPython on a machine with threads and files.

    Args:
        clock: Monotonic clock, seconds.
        wall_clock: Seconds since the epoch.
        series_budget: Default series budget, bytes.
        hold: Who lets a blocking call that a first Ctrl-C holds go on; None where the first one ends it.
    """

    name = "native"
    backends = frozenset(Backend)  # what cannot be stepped here is refused run by run
    directories = NativeDirectories()
    over_executor = staticmethod(_over_executor)

    def __init__(
        self,
        clock: Clock = time.perf_counter,
        wall_clock: Clock = time.time,
        series_budget: int = NATIVE_SERIES_BUDGET,
        hold: Hold | None = None,
    ) -> None:
        self._clock, self._wall_clock, self._series_budget = clock, wall_clock, series_budget
        self.blocking = partial(run_blocking, hold=hold)

    def surroundings(self) -> Surroundings:
        """Return the whole machine, and slices that keep a pause prompt.

        Raises:
            UsageError: As `refuse_sweep_of_import` says.
        """
        refuse_sweep_of_import()
        resources = machine_resources()
        author = Author(
            runtime=runtime_here(worker_threads=resources.workers, target=self.name),
            wall_clock=self._wall_clock,
            argv=tuple(sys.argv),
            engine=installed_build(),
        )
        return Surroundings(
            clock=self._clock,
            author=author,
            resources=resources,
            make_lanes=self._make_lanes,
            series_budget=self._series_budget,
            takes_interrupts=True,  # the sweep's thread is never the main one, which alone is interrupted
        )

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner whose thread has started."""
        return ThreadedRunner(sweep)

    def _make_lanes(
        self, entry: ModelEntry, measure: MeasurePlan, layout: ExecutionLayout, notify: Callable[[], None]
    ) -> Lanes:
        def in_caller() -> Lanes:
            return InProcessLane(
                entry,
                measure,
                slice_target_s=NATIVE_SLICE_TARGET_S,
                clock=self._clock,
                batch_rows=layout.batch_rows,
                takes_interrupts=True,
            )

        if layout.kind is LaneKind.PROCESS:
            from henad_native.process_lanes import process_lanes  # noqa: PLC0415 - 25 ms that most commands do without

            return process_lanes(entry, measure, layout, notify, in_caller)
        if layout.kind is LaneKind.THREAD:
            return thread_lanes(entry, measure, layout, notify, in_caller)
        return in_caller()
