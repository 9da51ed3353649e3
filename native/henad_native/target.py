"""The native target: a thread that pumps, directories beside memory, and blocking calls.

Owns what the shared package asks of a platform. How runs are stepped and files are written is the shared package's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from henad_native.blocking import run_blocking
from henad_native.checkout import installed_build
from henad_native.directory import DirectoryStore
from henad_native.threaded import ThreadedRunner
from henad_web.channel import SweepEvent
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.spec import SweepSpec
from henad_web.handle import SweepProgress
from henad_web.model.entry import ModelEntry
from henad_web.output.places import DirectoryOutput, OutputPlace
from henad_web.output.record import SweepRecord
from henad_web.output.store import FileStore, MemoryStore
from henad_web.run.lanes import InProcessLane, Lanes
from henad_web.run.layout import ExecutionLayout, MachineResources
from henad_web.run.options import SweepRunOptions
from henad_web.run.pause_clock import Clock
from henad_web.run.slices import NATIVE_SLICE_TARGET_S
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

    def check_output(self, output: OutputPlace) -> None:
        """Refuse a directory that is not free, touching nothing.

        Raises:
            OutputError: The directory holds results or is being written.
        """
        if isinstance(output, DirectoryOutput):
            DirectoryStore(output.path).check_free()

    def open_output(self, output: OutputPlace) -> FileStore:
        """Return a store in memory or in a directory that is free; the sweep makes and locks it as it begins to write.

        Raises:
            OutputError: The directory holds results or is being written.
        """
        store = DirectoryStore(output.path) if isinstance(output, DirectoryOutput) else MemoryStore()
        store.check_free()
        return store

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
        )

    def make_runner(self, sweep: Sweep) -> Runner:
        """Return a runner whose thread has started."""
        return ThreadedRunner(sweep)

    def run_spec(
        self,
        entry: ModelEntry,
        spec: SweepSpec,
        *,
        output: OutputPlace,
        options: SweepRunOptions,
        progress: Callable[[SweepEvent | SweepProgress], None] | None,
    ) -> SweepRecord:
        """Run a sweep to its end and return its record.

        Raises:
            SweepFailedError: The sweep ended on its own error.
            SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
        """
        return run_blocking(entry, spec, output=output, options=options, progress=progress, target=self)

    def _make_lanes(
        self, entry: ModelEntry, measure: MeasurePlan, layout: ExecutionLayout, timeout_s: float | None
    ) -> Lanes:
        return InProcessLane(
            entry, measure, timeout_s=timeout_s, slice_target_s=NATIVE_SLICE_TARGET_S, clock=self.clock
        )
