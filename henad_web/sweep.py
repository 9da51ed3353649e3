"""One sweep as a state machine: probing, opening, running, ending, ended.

`pump()` does one bounded piece of work and answers when to be called again. Nothing here knows where it runs, who calls
it or how long a frame is; it never blocks and reads time only from the clock it is given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.channel import OutputNotice, OutputPaused, SweepChannel, SweepWarning
from henad_web.errors import HenadError, OutputFullError, SweepFailedError, describe
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.shards import WHOLE
from henad_web.model.faults import FAULTS, Phase, fault_of
from henad_web.output.first_manifest import Author, first_manifest
from henad_web.output.own_tables import own_file_names
from henad_web.output.record import Counts, SweepEnd, SweepRecord, SweepReport
from henad_web.output.search_tables import SearchTables
from henad_web.output.writer import ResultsWriter
from henad_web.resume.provenance import build_warnings
from henad_web.resume.resumption import continued_manifest
from henad_web.run.active_runs import ActiveRuns
from henad_web.run.adaptive_source import planned_source
from henad_web.run.control import IDLE, NOW, Answer, SweepControl
from henad_web.run.lanes import Lanes, RunView
from henad_web.run.options import OnFull
from henad_web.run.outline import SweepOutline, make_outline, make_probe
from henad_web.run.search_source import SearchSource
from henad_web.run.source import RunSource
from henad_web.running import RunningStage
from henad_web.search.plan import SearchPlan

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import FileStore
    from henad_web.resume.kept_runs import KeptRuns
    from henad_web.run.control import Clock
    from henad_web.run.layout import ExecutionLayout, MachineResources
    from henad_web.run.options import SweepRunOptions
    from henad_web.run.probe import Probe, ProbeReport

__all__ = ["Surroundings", "Sweep", "SweepSetup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a target lends a sweep.

    Attributes:
        clock: Monotonic clock, seconds.
        author: Who writes the results.
        resources: What lanes can be spread over.
        make_lanes: Makes the lanes for a model, its measuring and a layout; given what lanes that work elsewhere call
            once there is something to hear.
        series_budget: Bytes of series that the events carry unless the options say otherwise.
        takes_interrupts: Whether the sweep is pumped where no interrupt of the user arrives: what interrupts there is
            the model's doing, a fault like any other.
    """

    clock: Clock
    author: Author
    resources: MachineResources
    make_lanes: Callable[[ModelEntry, MeasurePlan, ExecutionLayout, Callable[[], None]], Lanes]
    series_budget: int
    takes_interrupts: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SweepSetup:
    """What a sweep is made of once every check has passed; nothing is probed or written yet.

    Attributes:
        entry: The model.
        plan: What to run.
        store: Where the files go; checked to be free already.
        options: Settings that change no result.
        around: What the target lends.
        kept: Runs that are kept instead of being done again, None for none.
        source: Where the runs come from.
        search: The tables of a search, None for a sweep.
    """

    entry: ModelEntry
    plan: Plan
    store: FileStore
    options: SweepRunOptions
    around: Surroundings
    kept: KeptRuns | None
    source: RunSource
    search: SearchTables | None = None

    @classmethod
    def of(
        cls,
        entry: ModelEntry,
        plan: Plan,
        store: FileStore,
        options: SweepRunOptions,
        around: Surroundings,
        *,
        kept: KeptRuns | None = None,
        searched: SearchSource | None = None,
    ) -> SweepSetup:
        """Return that of the runs of `plan` that `options` ask for, beside those that are `kept`.

        Those of a search come from `kept`, which told it of the runs there are, else from `searched`, at its start.

        Raises:
            OutputError: Something else has the place of a file of its model's own tables.
        """
        store.check_own_files(own_file_names(table.id for table in plan.tables))
        if plan.search_space is None:
            flags = None if kept is None else kept.tables.rows.flags(plan.run_count)
            told = None if kept is None else kept.told
            source: RunSource = planned_source(plan, options.shard or WHOLE, flags, told)
            search = None
        else:
            begun = searched if kept is None else kept.source
            source = begun = begun or SearchSource(SearchPlan.over(plan))
            search = SearchTables(begun.plan, begun.searcher)
        return cls(
            entry=entry,
            plan=plan,
            store=store,
            options=options,
            around=around,
            kept=kept,
            source=source,
            search=search,
        )

    def probe(self) -> Probe:
        """Return the probe of the plan, not begun."""
        return make_probe(
            self.entry,
            self.plan,
            self.options,
            self.around.resources,
            self.around.clock,
            pending=self.source.total_runs,
            takes_interrupts=self.around.takes_interrupts,
        )

    def measured(self, probe: ProbeReport) -> MeasurePlan:
        """Return how runs are measured, now that their columns are known.

        Raises:
            PlanError: A reducer or the stop condition names no column.
            ResumeError: The rows that are kept have other columns.
        """
        measure = MeasurePlan.bind(self.plan, probe.columns)
        if self.kept is not None:
            self.kept.check_columns(measure.columns, measure.reducer_columns)
        return measure

    def outline(self, probe: ProbeReport, measure: MeasurePlan, *, dry_run: bool = False) -> SweepOutline:
        """Return the outline of the sweep."""
        return make_outline(
            self.entry,
            self.plan,
            probe,
            measure,
            self.options,
            self.around.resources,
            pending=self.source.total_runs,
            skipped=0 if self.kept is None else self.kept.count,
            dry_run=dry_run,
        )


class Sweep:
    """Runs a plan, one bounded piece of work a pump.

    Args:
        setup: What it is made of.

    Attributes:
        channel: Where events go.
        control: Pause, resume and abort, set by the host.
        active_runs: Table of runs in progress, read by the host.
        notify: Called from any thread when a pump is due, as a lane that works elsewhere has reported; the runner's.
    """

    def __init__(self, setup: SweepSetup) -> None:
        options, around = setup.options, setup.around
        budget = around.series_budget if options.series_budget is None else options.series_budget
        self.channel = SweepChannel(series_budget=budget, wake=options.wake, clock=around.clock)
        self.control, self.active_runs = SweepControl(around.clock), ActiveRuns()
        # Only the channel may keep its handle alive.
        self._setup = dataclasses.replace(setup, options=dataclasses.replace(options, wake=None))
        self.notify: Callable[[], None] = lambda: None
        self._probe = setup.probe()
        self._probed: ProbeReport | None = None
        self._opening: _Opening | None = None
        self._writer: ResultsWriter | None = None
        self._runs: RunningStage | None = None
        self._end: SweepEnd | None = None
        self._keeping: Iterator[float] | None = None
        self._found: tuple[str, ...] = ()
        self._ending: Iterator[float] | None = None

    @property
    def search_plan(self) -> SearchPlan | None:
        """The plan of a search, None for a sweep."""
        return None if self._setup.search is None else self._setup.search.plan

    @property
    def is_over(self) -> bool:
        """Whether the last event has been sent."""
        return self.channel.counters.final_phase is not None

    def pump(self, time_left_s: float | None = None) -> Answer:
        """Do one bounded piece of work: a build, a slice, a written run, a piece of the plan's hash or of the summary.

        Args:
            time_left_s: Seconds the caller can spare for a slice, None for no limit; passed by less than one step.

        Returns:
            When to pump again. An error outside every run ends the sweep with `Failed`; none is raised. What no
            program may swallow, such as an interrupt, ends it likewise and is raised on: a step it cut in half can
            not be gone on with.
        """
        if self.is_over:
            return IDLE
        try:
            return self._advance(time_left_s)
        except OutputFullError as error:  # whatever was being written is written again once there is room
            self._keeping = self._ending = None
            if self.control.is_aborted or self._setup.options.on_full is OnFull.FAIL:
                self._fail(error)
                return IDLE
            if self.control.pause():
                self.channel.warned(OutputPaused(str(error)))
            return IDLE if self._runs is None or self._end is not None else NOW  # its lanes are to be told
        except FAULTS as error:
            self._fail(error)
        except BaseException as error:
            self._fail(error)
            raise
        return IDLE

    def view(self) -> RunView | None:
        """Return the run in progress of a lane inside the caller, to draw; looking changes nothing."""
        return None if self._runs is None or self.is_over else self._runs.lanes.view()

    def _advance(self, time_left_s: float | None) -> Answer:
        """Go on with the stage that is reached. A pause holds runs alone."""
        if self._runs is not None:
            return self._running(self._runs, time_left_s)
        if self._opening is not None:
            return self._open(self._opening)
        if self._probed is not None:
            self._opening = self._outlined(self._probed)
        else:
            self._probed = self._probe.advance(hurry=self.control.is_aborted)
        return NOW

    def _outlined(self, probe: ProbeReport) -> _Opening:
        setup = self._setup
        measure = setup.measured(probe)
        return _Opening(measure, setup.outline(probe, measure), setup.plan.hashing())

    def _open(self, opening: _Opening) -> Answer:
        """Hash the plan piece by piece, then begin to write; an abort before that leaves nothing behind."""
        if self._writer is None:
            share = next(opening.hashing, 1.0)
            self.channel.advanced(share)
            if share < 1.0:
                return self._leave_unwritten(opening.outline) if self.control.is_aborted else NOW
            self._writer = self._writer_of(opening.outline)
        if self._keeping is None:
            self._found = self._writer.begin()
            self._keeping = self._writer.keeping()
        kept_share = next(self._keeping, None)
        if kept_share is not None:
            self.channel.advanced(kept_share)
            return NOW
        self._begin(opening, self._writer)
        return NOW

    def _begin(self, opening: _Opening, writer: ResultsWriter) -> None:
        setup, outline = self._setup, opening.outline
        lanes = setup.around.make_lanes(setup.entry, opening.measure, outline.layout, lambda: self.notify())
        # Before anything that may raise: whatever ends the sweep from here on closes the lanes.
        self._runs = RunningStage(
            setup.source,
            setup.plan.total_ticks,
            outline,
            writer,
            lanes,
            channel=self.channel,
            control=self.control,
            active_runs=self.active_runs,
        )
        self.channel.planned(outline)
        for warning in (*map(OutputNotice, self._found), *outline.warnings, *self._kept_warnings(writer)):
            self.channel.warned(warning)

    def _kept_warnings(self, writer: ResultsWriter) -> tuple[SweepWarning, ...]:
        """Return what is to be said of the rows that are kept: how many were copied, and who wrote them."""
        setup, kept, search = self._setup, self._setup.kept, self._setup.plan.spec.search
        if kept is None:
            return ()
        text = f"{kept.count} of {setup.plan.run_count} runs are copied from {kept.tables.reader.path}"
        notices = () if kept.tables.is_own else (OutputNotice(text),)
        if not kept.count:
            return notices
        changes = build_warnings(
            kept.manifest.sessions,
            writer.manifest.sessions[-1],
            status=kept.manifest.status,
            portable=setup.entry.metadata.portable,
            search_portable=search is None or search.algorithm.is_portable,
            run_ids=kept.tables.rows.written_ids.tolist(),
        )
        return (*notices, *changes)

    def _writer_of(self, outline: SweepOutline) -> ResultsWriter:
        setup, author, kept = self._setup, self._setup.around.author, self._setup.kept
        plan, entry = setup.plan, setup.entry
        manifest = first_manifest(
            plan=plan, entry=entry, outline=outline, options=setup.options, author=author, search=setup.search
        )
        return ResultsWriter(
            setup.store,
            plan=plan,
            entry=entry,
            manifest=manifest if kept is None else continued_manifest(manifest, kept, entry),
            wall_clock=author.wall_clock,
            kept=None if kept is None else kept.tables,
            search=setup.search,
        )

    def _running(self, runs: RunningStage, time_left_s: float | None) -> Answer:
        if self._end is None:
            answer = runs.pump(time_left_s)
            if not isinstance(answer, SweepEnd):
                return answer
            runs.close()
            self._end = answer
        return self._finish(runs, self._end)

    def _finish(self, runs: RunningStage, end: SweepEnd) -> Answer:
        """Write the summary piece by piece, then the manifest; an abort meanwhile takes nothing back."""
        if self._ending is None:
            self._ending = runs.writer.finishing(end)
        share = next(self._ending, None)
        if share is not None:
            self.channel.advanced(share)
            return NOW
        self._hand_over(runs.outline, end, runs.writer)
        return IDLE

    def _leave_unwritten(self, outline: SweepOutline) -> Answer:
        self._hand_over(outline, SweepEnd.ABORTED, None)
        return IDLE

    def _hand_over(self, outline: SweepOutline, end: SweepEnd, writer: ResultsWriter | None) -> None:
        report = SweepReport(
            end=end,
            counts=Counts() if writer is None else writer.counts,
            elapsed=self.control.clock.elapsed(),
            output_dir=None if writer is None else self._setup.store.path,
            outline=outline,
            warnings=self.channel.warnings,
        )
        manifest = None if writer is None else writer.manifest
        search = None if writer is None else writer.search_report
        record = SweepRecord(report=report, manifest=manifest, files=self._setup.store.files(), search=search)
        self._setup.store.close()
        self.channel.finish(record)

    def _fail(self, error: BaseException) -> None:
        """End the sweep on `error`: what is written stays, and the manifest says failed if it can still be written.

        Does nothing after the last event, which nothing follows.
        """
        if self.is_over:
            return
        self.control.abort()
        if not isinstance(error, HenadError):
            error = SweepFailedError(fault_of(Phase.SWEEPING, error, None).text)
        ends = (
            *(() if self._runs is None else (self._runs.close,)),
            *(() if self._writer is None else (self._writer.fail,)),
            self._setup.store.close,
        )
        try:
            for end in ends:
                try:
                    end()
                except FAULTS as second:  # the first error is the one to tell
                    error.add_note(f"and then: {describe(second)}")
        finally:
            self.channel.fail(error)


@dataclass(frozen=True, slots=True)
class _Opening:
    """The stage between the probe and the first run: what it settled, and the plan's hash in the making."""

    measure: MeasurePlan
    outline: SweepOutline
    hashing: Iterator[float]
