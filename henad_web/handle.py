"""The handle on a sweep that runs beside a host's own loop: the same calls on every target.

Owns starting (plan, checks, wiring) and what the host reads and commands. Decides nothing about a result, and leaves
the question of who pumps to its target.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from henad_web.channel import Failed, Finished, SweepEvent, SweepPhase
from henad_web.explore.shards import WHOLE
from henad_web.explore.spec import SweepSpec, spec_of
from henad_web.explore.spec_file import LoadedSpec
from henad_web.model.entry import checked_entry
from henad_web.notebook import show_live, standing_html
from henad_web.output.record import SweepEnd
from henad_web.output.store import MemoryStore, OutputPlace, checked_output, checked_path
from henad_web.results.recognition import usual_names
from henad_web.resume.kept_runs import KeptRuns, reused_runs
from henad_web.resume.resumption import resumption_of
from henad_web.run.active_runs import ActiveRun
from henad_web.run.lanes import RunView
from henad_web.run.options import SweepRunOptions, check_search_options, given_options, given_spec
from henad_web.run.search_source import SearchSource
from henad_web.search.plan import SearchPlan
from henad_web.sweep import Sweep, SweepSetup
from henad_web.targets import Runner, Target, check_served, current, needed, opened_output, surroundings_of

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import EntryGiven, ModelEntry
    from henad_web.output.store import FileStore
    from henad_web.run.control import SweepControl
    from henad_web.search.custom import SearcherFactory

__all__ = ["SweepProgress", "SweepRun", "new_setup", "remaining_time", "resumed_setup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepProgress:
    """A sweep as it stands.

    Attributes:
        phase: Stage it has reached.
        end: How it ended, None before and after a failure.
        runs_total: Runs this sweep executes; the whole plan's until it is planned. With adaptive replicates it falls
            whenever a config needs no more.
        runs_skipped: Runs kept from an earlier session.
        runs_done: Runs written.
        runs_waiting: Finished runs that wait for an earlier one; 0 once over.
        runs_failed: Written runs that ended on a fault or a timeout.
        elapsed: Seconds run, pauses left out.
        remaining: Seconds left at the pace so far, None before the first written run and once over.
        active_runs: Runs in progress, by run id.
        fraction: Share done, 0 to 1, of planning before the runs or of the summary behind them; None while runs are
            under way and once over.
        is_planned: Whether it is planned and probed, so that runs can start.
        total_is_most: Whether `runs_total` is the most there may be, and `remaining` with it.
    """

    phase: SweepPhase
    end: SweepEnd | None
    runs_total: int
    runs_skipped: int
    runs_done: int
    runs_waiting: int
    runs_failed: int
    elapsed: float
    remaining: float | None
    active_runs: tuple[ActiveRun, ...]
    fraction: float | None = None
    is_planned: bool = True
    total_is_most: bool = False

    @property
    def runs_stepped(self) -> float:
        """Runs done and waiting and the stepped shares of those in progress, 0 to `runs_total`: for a bar."""
        return min(runs_stepped(self.runs_done + self.runs_waiting, self.active_runs), self.runs_total)


class SweepRun:
    """A running sweep. Made by `start`; leaving its ``with`` block, or `close`, aborts it and waits for its files."""

    def __init__(self, plan: Plan, sweep: Sweep, runner: Runner) -> None:
        self._plan, self._sweep, self._runner = plan, sweep, runner
        self._is_ended = False
        self._finalizer = weakref.finalize(self, _abandon, sweep.control, runner)

    @classmethod
    def start(
        cls,
        entry: EntryGiven,
        spec: SweepSpec | LoadedSpec,
        output: OutputPlace | None = None,
        options: SweepRunOptions | None = None,
        *,
        searcher: SearcherFactory | None = None,
        target: Target | None = None,
    ) -> SweepRun:
        """Plan `spec` and start it, writing its files to `output`.

        Planning happens before this returns; the probe and the runs happen after it.

        Args:
            entry: The model the spec names.
            spec: The study. One that was loaded brings its source, and its ``[execution]`` where `options` are at
                their defaults.
            output: Where the files go, memory when None.
            options: Settings that change no result.
            searcher: What makes the searcher of a custom search, from its plan; None for every other study.
            target: The platform, the current one when None.

        Raises:
            ModelMismatchError: The spec names another model.
            PlanError: The model refuses the spec.
            NeedsNativeError: This target cannot step the model or write to `output`.
            UsageError: `output` is no place for results, such as a bare path, `spec` is no spec, or `searcher` does not
                fit it.
            OutputError: `output` holds results, is being written or cannot be made; nothing in it was touched.

        Example:
            >>> import henad_web as hw
            >>> density = hw.FactorSpec(param="density", levels=hw.ValueLevels(values=(0.2, 0.6)))
            >>> blocks = (hw.BlockSpec(factors=(density,)),)
            >>> size = {"grid_width": 32, "grid_height": 32}
            >>> spec = hw.SweepSpec(model="game_of_life", fixed=size, run=hw.RunSettings(steps=50), blocks=blocks)
            >>> with hw.SweepRun.start(hw.example_models()["game_of_life"], spec) as run:
            ...     while not run.is_ended:
            ...         run.update(1 / 60)  # a frame: steps the sweep in a page, does nothing where a thread does
            ...         match run.try_recv():
            ...             case hw.RunFinished(outcome):
            ...                 print(outcome.run.run_id, outcome.status, outcome.ticks)
            ...             case hw.Finished(record):
            ...                 files = sorted(record.files)
            0 ok 50
            1 ok 50
            >>> files
            ['manifest.json', 'runs.csv', 'series.csv', 'summary.csv']
        """
        target = current() if target is None else target
        return cls._run(new_setup(entry, spec, checked_output(output), options, target, searcher), target)

    @classmethod
    def resume_directory(
        cls,
        entry: EntryGiven,
        path: str | os.PathLike[str],
        options: SweepRunOptions | None = None,
        *,
        spec: SweepSpec | LoadedSpec | None = None,
        searcher: SearcherFactory | None = None,
        target: Target | None = None,
    ) -> SweepRun:
        """Go on with the results in the directory `path`: its rows are kept, and what they lack is run.

        The finished folder is the one an uninterrupted sweep leaves. Runs that timed out are done again, runs that
        failed with ``options.retry_failed``. Every check is made before anything is written.

        Args:
            entry: The model of the results.
            path: Directory of results, whole or interrupted at any moment.
            options: Settings that change no result; shard and spec source are the recorded ones unless given.
            spec: A spec that differs from the recorded one in nothing but more replicates and the timeout; None for
                the recorded one.
            searcher: What makes the searcher of a custom search, as it was given at the start.
            target: The platform, the current one when None.

        Raises:
            NeedsNativeError: This target has no directories.
            ResumeError: A check failed; its reason says which. With `ResumeReason.NO_RESULTS`, start a sweep there.
            LockedError: Somebody writes there.
            ManifestError: The manifest cannot be read.
            ModelMismatchError: The results are of another model.
        """
        target = current() if target is None else target

        def open_results(options: SweepRunOptions) -> FileStore:
            directories = needed(target.directories, "going on with a directory")
            return directories.open_results(checked_path(path, "the path of results"), force=options.force)

        return cls._run(resumed_setup(entry, spec, options, target, open_results, searcher), target)

    @classmethod
    def resume_files(
        cls,
        entry: EntryGiven,
        files: Mapping[str, bytes],
        options: SweepRunOptions | None = None,
        *,
        spec: SweepSpec | LoadedSpec | None = None,
        searcher: SearcherFactory | None = None,
        target: Target | None = None,
    ) -> SweepRun:
        """Go on with the results in `files`, content by name, in memory; `resume_directory` says how.

        Args:
            entry: The model of the results.
            files: Files of a result set, known by content; they stay as they are.
            options: Settings that change no result.
            spec: A spec with more replicates or another timeout; None for the recorded one.
            searcher: What makes the searcher of a custom search, as it was given at the start.
            target: The platform, the current one when None.

        Raises:
            MissingFileError: There is no manifest.
            DuplicateFileError: Two files are the same part.
            ResumeError: A check failed; its reason says which.
            ManifestError: The manifest cannot be read.
            ModelMismatchError: The results are of another model.
        """
        target = current() if target is None else target

        def open_files(_options: SweepRunOptions) -> FileStore:
            return MemoryStore(usual_names(files))

        return cls._run(resumed_setup(entry, spec, options, target, open_files, searcher), target)

    @classmethod
    def _run(cls, setup: SweepSetup, target: Target) -> SweepRun:
        sweep = Sweep(setup)
        return cls(setup.plan, sweep, target.make_runner(sweep))

    def __repr__(self) -> str:
        """Return the facts on one line."""
        progress = self.progress()
        runs = f"{progress.runs_done} of {progress.runs_total} runs, {progress.runs_failed} failed"
        return f"<SweepRun of '{self._plan.schema.model}': {progress.end or progress.phase}, {runs}>"

    def _repr_html_(self) -> str:
        return standing_html(self.progress())

    def _ipython_display_(self) -> None:
        show_live(self)

    @property
    def plan(self) -> Plan:
        """The plan: every config, run, seed and key; of a search what its candidates share, in one config."""
        return self._plan

    @property
    def search_plan(self) -> SearchPlan | None:
        """The plan of a search, None for a sweep."""
        return self._sweep.search_plan

    @property
    def is_paused(self) -> bool:
        """Whether the sweep is paused. Each run may still take the slice it is in; `is_held` tells when none does."""
        return self._sweep.control.is_paused

    @property
    def is_held(self) -> bool:
        """Whether a pause is complete: every lane has acknowledged it, and no run moves until it is resumed."""
        return self._sweep.control.is_held

    @property
    def is_ended(self) -> bool:
        """Whether the last event, `Finished` or `Failed`, has been received."""
        return self._is_ended

    def pause(self) -> None:
        """Hold every run at its next slice; the clock stands still. Does nothing when ended, paused or aborted."""
        if not self._is_ended and self._sweep.control.pause():
            self._runner.notify()

    def resume(self) -> None:
        """Let a paused sweep go on; does nothing otherwise."""
        if self._sweep.control.resume():
            self._runner.notify()

    def abort(self) -> None:
        """End the sweep at its next slice, paused runs included. What is written stays."""
        self._sweep.control.abort()
        self._runner.notify()

    def update(self, dt: float, *, budget_s: float | None = None) -> None:
        """Lend the sweep a frame; does nothing where it runs on its own thread.

        Args:
            dt: Seconds since the last frame, finite and not negative.
            budget_s: Seconds of work this call may do, None for a frame's 6 ms.

        Raises:
            UsageError: `dt` is out of range, or the call comes from inside a wake callback.
        """
        self._runner.update(dt, budget_s)

    def try_recv(self) -> SweepEvent | None:
        """Return the next event, None when none is waiting."""
        event = self._sweep.channel.try_recv()
        if isinstance(event, (Finished, Failed)):
            self._is_ended = True
            self._finalizer.detach()  # nothing is left to be abandoned
        return event

    async def events(self) -> AsyncIterator[SweepEvent]:
        """Yield the events to the last, giving the event loop its turns; pumps the sweep where frames would."""
        while not self._is_ended:
            event = self.try_recv()
            if event is None:
                await self._runner.turn()
            else:
                yield event

    def progress(self) -> SweepProgress:
        """Return the sweep as it stands."""
        sweep = self._sweep
        active_runs, counters = sweep.active_runs.list(), sweep.channel.counters
        is_over = counters.final_phase is not None
        waiting = 0 if is_over else sweep.active_runs.waiting_count
        planned = self._plan if self.search_plan is None else self.search_plan
        total = planned.run_count if counters.runs_total is None else counters.runs_total
        elapsed = sweep.control.clock.elapsed(counters.ended_at)
        remaining = None
        if counters.runs_done > 0 and not is_over:
            remaining = remaining_time(elapsed, total, counters.runs_done + waiting, active_runs)
        return SweepProgress(
            phase=self._phase(counters.final_phase, counters.runs_total),
            end=counters.end,
            runs_total=total,
            runs_skipped=counters.runs_skipped,
            runs_done=counters.runs_done,
            runs_waiting=waiting,
            runs_failed=counters.runs_failed,
            elapsed=elapsed,
            remaining=remaining,
            active_runs=active_runs,
            fraction=counters.fraction,
            is_planned=counters.runs_total is not None,
            total_is_most=self._plan.spec.run.adaptive is not None and counters.end is not SweepEnd.COMPLETE,
        )

    def view(self) -> RunView | None:
        """Return a run in progress, to draw, None where there is none to show; looking never changes a result.

        A lane outside the caller is asked to show its run for the next call, so the first one may have none; what it
        showed last is returned. While the sweep is held it is the run as it stands.
        """
        return self._runner.view()

    def close(self) -> None:
        """Abort the sweep unless it is over, then wait for its files. Events stay to be received.

        Raises:
            UsageError: The call comes from inside a wake callback.
        """
        if not self._sweep.is_over:
            self.abort()
        self._runner.close()

    def __enter__(self) -> SweepRun:
        """Return the handle."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the sweep."""
        self.close()

    def _phase(self, final_phase: SweepPhase | None, runs_total: int | None) -> SweepPhase:
        if final_phase is not None:
            return final_phase
        if self.is_paused:
            return SweepPhase.PAUSED
        return SweepPhase.PLANNING if runs_total is None else SweepPhase.RUNNING


def runs_stepped(runs_finished: int, active_runs: tuple[ActiveRun, ...]) -> float:
    """Return the `runs_finished` runs and, of each run in progress, the share of its ticks it has stepped."""
    return runs_finished + sum(active.fraction for active in active_runs)


def remaining_time(
    elapsed: float, runs_total: int, runs_finished: int, active_runs: tuple[ActiveRun, ...]
) -> float | None:
    """Return the seconds left for `runs_total` runs, at the pace of `elapsed` seconds so far.

    The pace counts what `runs_stepped` counts: ``elapsed * max(total - done, 0) / done``. None before any
    progress, and for a time no float can hold.
    """
    done = runs_stepped(runs_finished, active_runs)
    if done <= 0:
        return None
    try:
        left = elapsed * max(runs_total - done, 0.0) / done
    except OverflowError:
        return None
    return left if left < _LONGEST_S else None


_LONGEST_S = float(1 << 64)
"""Seconds past which a time left is not told: the longest duration of the reference."""


def new_setup(
    entry: EntryGiven,
    spec: SweepSpec | LoadedSpec,
    output: OutputPlace,
    options: SweepRunOptions | None,
    target: Target,
    searcher: SearcherFactory | None = None,
) -> SweepSetup:
    """Return what a sweep of `spec` into `output` is made of; raises as `SweepRun.start` does."""
    entry = checked_entry(entry)
    _, options = given_spec(spec, options)
    check_served(target, entry, options)
    plan = _planned(entry, spec)
    check_search_options(plan, options)
    is_search = plan.search_space is not None or searcher is not None
    searched = SearchSource(SearchPlan.over(plan, factory=searcher)) if is_search else None
    store, kept = opened_output(target, output, options), _reused(plan, options, target)
    around = surroundings_of(target, options)
    return SweepSetup.of(entry, plan, store, options, around, kept=kept, searched=searched)


def resumed_setup(
    entry: EntryGiven,
    spec: SweepSpec | LoadedSpec | None,
    options: SweepRunOptions | None,
    target: Target,
    open_results: Callable[[SweepRunOptions], FileStore],
    searcher: SearcherFactory | None = None,
) -> SweepSetup:
    """Return what a sweep that goes on with results is made of; raises as `SweepRun.resume_directory` does.

    Args:
        entry: The model of the results.
        spec: What to go on with, None for what is recorded.
        options: Settings that change no result.
        target: The platform.
        open_results: Gives the store of the results, by the options.
        searcher: What makes the searcher of a custom search.
    """
    entry, options = checked_entry(entry), given_options(options)
    if spec is not None:
        spec, options = given_spec(spec, options)
    check_served(target, entry, options)
    store = open_results(options)
    found = resumption_of(entry, store, options, spec, searcher)
    return SweepSetup.of(entry, found.plan, store, found.options, surroundings_of(target, options), kept=found.kept)


def _planned(entry: ModelEntry, given: SweepSpec | LoadedSpec) -> Plan:
    """Return the plan of a spec; one that a loaded spec brings is taken where it is of this spec and this model."""
    spec, plan = spec_of(given), given.plan if isinstance(given, LoadedSpec) else None
    if plan is not None and plan.spec is spec and plan.schema == entry.schema():
        return plan
    return spec.plan(entry.schema())


def _reused(plan: Plan, options: SweepRunOptions, target: Target) -> KeptRuns | None:
    """Return the rows that `options` have copied from other results, None for none."""
    if options.reuse is None:
        return None
    directories = needed(target.directories, "the reuse of a folder")
    reader = directories.open_results(options.reuse, force=options.force)
    return reused_runs(reader, plan, options.shard or WHOLE, retry_failed=options.retry_failed)


def _abandon(control: SweepControl, runner: Runner) -> None:
    """End a sweep whose handle was dropped."""
    control.abort()
    runner.notify()
