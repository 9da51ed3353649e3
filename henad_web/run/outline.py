"""What a sweep is about to do, known once it has been probed.

Owns the outline as a value, and how it follows from the plan and its probe: a pure function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from henad_web.errors import counted
from henad_web.explore.conditions import condition_text
from henad_web.explore.plan_remarks import PlannedFactor, factors_in_words
from henad_web.explore.shards import WHOLE
from henad_web.explore.spec import RunOrder
from henad_web.explore.warnings import SPREADSHEET_ROWS, EndsAtStart, LongSeries, StopsAtStart
from henad_web.markup import facts_html
from henad_web.run.layout import choose_layout, is_work_decisive, layout_text, replicates_that_fit
from henad_web.run.probe import Probe
from henad_web.search.plan import SearchPlan
from henad_web.wording import amount, block_facts, byte_text, most_text, objective_text, size_text

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.plan import Plan, PlannedBlock
    from henad_web.explore.search_spec import AxisSpec, ObjectiveSpec, SearchAlgorithm
    from henad_web.explore.shards import Shard
    from henad_web.explore.warnings import PlanWarning
    from henad_web.model.entry import Backend, ModelEntry
    from henad_web.run.control import Clock
    from henad_web.run.layout import ExecutionLayout, MachineResources
    from henad_web.run.options import SweepRunOptions
    from henad_web.run.probe import ProbeReport

__all__ = ["SearchOutline", "SweepOutline", "make_outline", "make_probe", "series_rows_a_run"]

MANY_SERIES_ROWS = 10_000_000
"""Expected rows of series.csv from which the outline warns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutline:
    """What a search is about to do.

    Attributes:
        algorithm: How it chooses candidates.
        name: What a custom search calls its searcher, None for the others.
        max_evaluations: Candidates in all, those that are evaluated again included.
        batch_size: Most candidates chosen at once; the end of a generation or of the first samples cuts a batch short.
        objective: What it is for; None for a pse search and for one with several objectives.
        objectives: What an nsga2 search is for; empty for the others.
        watched_columns: The reducer columns that it is told of.
        pattern_axes: The axes of a pse search, None for the others.
        space: What varies and what it takes, for people to read.
        search_seed: Seed of its draws.
        is_portable: Whether another machine would ask for the same candidates.
    """

    algorithm: SearchAlgorithm
    name: str | None
    max_evaluations: int
    batch_size: int
    objective: ObjectiveSpec | None
    objectives: tuple[ObjectiveSpec, ...]
    watched_columns: tuple[str, ...]
    pattern_axes: tuple[AxisSpec, AxisSpec] | None
    space: tuple[PlannedFactor, ...]
    search_seed: int
    is_portable: bool

    @property
    def least_batches(self) -> int:
        """Batches that it takes at least."""
        return -(-self.max_evaluations // self.batch_size)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield what it is about to do, for people: labels and texts; what goes on has no label."""
        yield "batch size", f"{amount(self.batch_size, 'candidate')}, at least {self.least_batches:,} of them"
        if self.objective is not None:
            yield "objective", objective_text(self.objective)
        for number, objective in enumerate(self.objectives):
            yield "" if number else "objectives", objective_text(objective)
        for letter, axis in zip("xy", self.pattern_axes or (), strict=False):
            ends = "range from the first samples" if axis.min is None else f"{axis.min:g} to {axis.max:g}"
            yield f"{letter} axis", f"{axis.column}, {ends}, {amount(axis.cells, 'cell')}"
        for number, factor in enumerate(self.space):
            yield "" if number else "space", f"{factor.name}: {factor.levels}"
        yield "search seed", str(self.search_seed)
        if not self.is_portable:
            yield "portable", "no: another machine may choose other candidates, for its linear algebra differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutline:
    """The size and shape of a sweep.

    Attributes:
        model: Id of the model.
        backend: Where it steps.
        configs: Configs of the whole plan, None for a search.
        replicates: Runs of each config.
        least_replicates: Fewest runs of each where replicates are adaptive, whose runs and rows are then the most there
            may be; None where all have as many.
        runs: Runs of the whole plan, all shards together.
        blocks: The plan's blocks, in order.
        shard: The part of the plan this sweep runs.
        skipped: Runs kept from an earlier session.
        pending: Runs this session has to do.
        layout: Lanes and tracks.
        projected_bytes: Bytes of all live runs together, host or device.
        series_rows: Rows series.csv is expected to gain; stop conditions and faults may leave fewer.
        stat_columns: Columns of series.csv after the tick.
        reducer_columns: Reducer columns of runs.csv.
        dry_run: Whether the sweep only plans and probes.
        warnings: What is allowed and probably not meant.
        search: What a search is about to do, None for a sweep.
    """

    model: str
    backend: Backend
    configs: int | None
    replicates: int
    runs: int
    blocks: tuple[PlannedBlock, ...]
    shard: Shard
    skipped: int
    pending: int
    layout: ExecutionLayout
    projected_bytes: int
    series_rows: int
    stat_columns: tuple[str, ...]
    reducer_columns: tuple[str, ...]
    dry_run: bool = False
    warnings: tuple[PlanWarning, ...] = ()
    search: SearchOutline | None = None
    least_replicates: int | None = None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        most = "" if self.least_replicates is None else "up to "
        size = f"{most}{counted(self.runs, 'run')}, {self.skipped} kept, {self.pending} to run"
        return f"<SweepOutline of '{self.model}': {size}, {counted(len(self.warnings), 'warning')}>"

    def _repr_html_(self) -> str:
        return facts_html(self.headline(self.model), self.facts(), (f"warning: {each}" for each in self.warnings))

    def headline(self, name: str) -> str:
        """Return what it is about to do in one line, where its model is called `name`."""
        if self.search is not None:
            size = size_text(self.search.max_evaluations, self.replicates, self.runs, noun="evaluation")
            chosen = "" if self.search.name is None else f" '{self.search.name}'"
            return f"search of {name} ({self.model}): {self.search.algorithm}{chosen}, {size}"
        size = amount(self.runs, "run")
        if self.configs is not None:
            size = size_text(self.configs, self.replicates, self.runs, least=self.least_replicates)
        return f"sweep of {name} ({self.model}): {size}"

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield the rest, for people: labels and texts; what goes on has no label."""
        is_most = self.least_replicates is not None
        most = "up to " if is_most else ""
        if self.search is not None:
            yield from self.search.facts()
        yield from block_facts(self.blocks)
        if self.shard.count > 1:
            yield "shard", f"{self.shard}: {most_text(self.skipped + self.pending, is_most=is_most)} of them"
        if self.skipped:
            yield "resume", f"{self.skipped:,} skipped, {most}{self.pending:,} to run"
        yield "layout", layout_text(self.layout)
        yield "memory", f"{byte_text(self.projected_bytes)} projected for concurrent runs"
        rows = f"{most}{self.series_rows:,}"
        if self.series_rows > MANY_SERIES_ROWS:
            rows += "; a larger `series_every` in [measure] keeps fewer"
        yield "series rows", rows


def make_probe(
    entry: ModelEntry,
    plan: Plan,
    options: SweepRunOptions,
    resources: MachineResources,
    clock: Clock,
    *,
    pending: int,
    takes_interrupts: bool,
) -> Probe:
    """Return the probe of doing `pending` runs as `make_outline` has it; it times a run where lanes are chosen by that.

    Runs with a timeout are not timed: a step of one may never return, and nobody gives up the probe.
    """
    may_step = entry.metadata.backend == "cpu" and plan.spec.run.timeout_s is None
    is_timed = may_step and is_work_decisive(options.concurrency, resources, pending, options.lane_kind)
    most = min(_replicates_in_a_row(entry, plan, options), -(-pending // max(1, plan.config_count)))
    return Probe(
        entry,
        plan,
        timer=clock if is_timed else None,
        batch_of=lambda heap_bytes: replicates_that_fit(_memory(options, resources), heap_bytes, 1, max(1, most)),
        takes_interrupts=takes_interrupts,
    )


def make_outline(
    entry: ModelEntry,
    plan: Plan,
    probe: ProbeReport,
    measure: MeasurePlan,
    options: SweepRunOptions,
    resources: MachineResources,
    *,
    pending: int,
    skipped: int = 0,
    dry_run: bool = False,
) -> SweepOutline:
    """Return the outline of doing `pending` runs over `plan` on `resources`, where `skipped` others are kept."""
    series_rows = pending * series_rows_a_run(plan)
    search = None if plan.search_space is None else SearchPlan.over(plan)
    at_once = pending if search is None else min(pending, search.search.batch_size * plan.replicates)
    layout = _layout(entry, plan, probe, options, resources, at_once)
    return SweepOutline(
        model=entry.id,
        backend=entry.metadata.backend,
        configs=plan.config_count if search is None else None,
        replicates=plan.replicates,
        runs=plan.run_count if search is None else search.run_count,
        blocks=plan.blocks if search is None else (),
        shard=options.shard or WHOLE,
        skipped=skipped,
        pending=pending,
        layout=layout,
        projected_bytes=layout.projected_bytes(probe),
        series_rows=series_rows,
        stat_columns=measure.columns,
        reducer_columns=measure.reducer_columns,
        dry_run=dry_run,
        warnings=(*plan.warnings(), *_ends_at_start(plan, probe, measure), *_long_series(series_rows)),
        search=None if search is None else _search_outline(search),
        least_replicates=plan.least_replicates,
    )


def _search_outline(plan: SearchPlan) -> SearchOutline:
    search, space = plan.search, plan.base.search_space
    return SearchOutline(
        algorithm=search.algorithm,
        name=search.name,
        max_evaluations=search.max_evaluations,
        batch_size=search.batch_size,
        objective=search.objective,
        objectives=search.objectives,
        watched_columns=search.watched_columns,
        pattern_axes=None if search.pse is None else search.pse.axes,
        space=() if space is None else factors_in_words(space.targets, space.domains),
        search_seed=plan.search_seed,
        is_portable=search.algorithm.is_portable,
    )


def _layout(
    entry: ModelEntry,
    plan: Plan,
    probe: ProbeReport,
    options: SweepRunOptions,
    resources: MachineResources,
    pending: int,
) -> ExecutionLayout:
    """Return the layout, with as many replicates in a lane as fit: no lane is to wait for another's batch."""
    metadata = entry.metadata
    layout = choose_layout(
        options.concurrency,
        replace(resources, memory_budget=options.memory_budget, gpu_memory_budget=options.gpu_memory_budget),
        metadata.backend,
        probe,
        pending,
        inner_threads=metadata.inner_threads,
        releases_lock=metadata.releases_lock,
        kind=options.lane_kind,
    )
    lanes, most = layout.cpu_lanes, _replicates_in_a_row(entry, plan, options)
    if not lanes or probe.widest_batch == 1:
        return layout
    if most == 1 < plan.replicates and options.batches and _is_parted(plan):
        return replace(layout, why=f"{layout.why}; no replicates together in the order {RunOrder.BREADTH}")
    most = max(1, min(most, probe.widest_batch, -(-pending // lanes)))
    fitting = replicates_that_fit(_memory(options, resources), probe.heap_bytes, lanes, most)
    return replace(layout, batch_rows=fitting)


def _replicates_in_a_row(entry: ModelEntry, plan: Plan, options: SweepRunOptions) -> int:
    """Return the most runs of one config that come one after another and may be stepped together, 1 for none.

    In the order `breadth` those in between would have to wait for them, in memory, and the first replicates of all
    configs, for which that order is asked, would come later: 7 times for batches of 64 of a small epidemic.
    """
    if not options.batches or entry.batches is None or _is_parted(plan):
        return 1
    # Of adaptive replicates those of the first round: later ones are shorter at first, and may never come.
    return plan.least_replicates or -(-plan.replicates // (options.shard or WHOLE).count)


def _is_parted(plan: Plan) -> bool:
    """Return whether the replicates of a config do not come one after another."""
    return plan.spec.run.order is RunOrder.BREADTH and plan.config_count > 1


def _memory(options: SweepRunOptions, resources: MachineResources) -> int | None:
    return resources.free_memory if options.memory_budget is None else options.memory_budget


def _long_series(rows: int) -> tuple[LongSeries, ...]:
    return (LongSeries(rows),) if rows >= SPREADSHEET_ROWS else ()


def _ends_at_start(
    plan: Plan, probe: ProbeReport, measure: MeasurePlan
) -> tuple[()] | tuple[EndsAtStart] | tuple[StopsAtStart]:
    """Return a warning when the probed config takes no step, as far as that is known unrun."""
    config, stop, spec = probe.config, measure.stop, plan.spec.run.stop
    if plan.total_ticks == 0 or 0 in config.action_ticks:
        return ()
    if probe.has_ended:
        return (EndsAtStart(config.config_id),)
    if stop is None or spec is None or stop.min_tick > 0 or plan.warmup > 0 or not stop.condition()(probe.values):
        return ()
    return (StopsAtStart(condition_text(spec), config.config_id),)


def series_rows_a_run(plan: Plan) -> int:
    """Return the series rows of a run that takes all its steps: its cadence, and the last tick where that is off it."""
    cadence, steps = plan.spec.measure.series_cadence, plan.spec.run.steps
    if cadence == 0:
        return 0
    return steps // cadence + 1 + (steps % cadence > 0)
