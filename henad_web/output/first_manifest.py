"""The manifest of a sweep that is about to start, and who writes it.

Owns what is filled in from the plan, the outline and the host. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET

from henad_web.explore.seeds import scheme_text, seed_formula
from henad_web.explore.spec import ExecutionSettings, SeedSettings
from henad_web.explore.spec_file import spec_document
from henad_web.output.build import BuildRecord, model_source, this_build
from henad_web.output.manifest import (
    FORMAT,
    FORMAT_VERSION,
    BlockRecord,
    ColumnsRecord,
    ExecutionRecord,
    Manifest,
    ManifestStatus,
    ModelRecord,
    PlanRecord,
    RuntimeRecord,
    SeedsRecord,
    SessionRecord,
    ShardRecord,
    Timestamps,
    rfc3339,
    seed_number,
)

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.output.search_tables import SearchTables
    from henad_web.run.options import SweepRunOptions
    from henad_web.run.outline import SweepOutline

__all__ = ["Author", "first_manifest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who writes results, for their manifest.

    Attributes:
        runtime: The machine.
        argv: Command line, empty without one.
        engine: Build of this package.
        wall_clock: Seconds since 1970, such as `time.time`.
    """

    runtime: RuntimeRecord
    wall_clock: Callable[[], float]
    argv: tuple[str, ...] = ()
    engine: BuildRecord = field(default_factory=this_build)

    def now_ms(self) -> int:
        """Return the milliseconds since 1970."""
        return int(self.wall_clock() * 1000)


def first_manifest(
    *,
    plan: Plan,
    entry: ModelEntry,
    outline: SweepOutline,
    options: SweepRunOptions,
    author: Author,
    search: SearchTables | None = None,
) -> Manifest:
    """Return the manifest of a sweep that starts now, on the clock of `author`, and has written no run yet.

    Args:
        plan: What is run.
        entry: The model.
        outline: What the probe settled.
        options: What was asked for.
        author: Who writes it.
        search: The tables of a search, None for a sweep.
    """
    started_unix_ms = author.now_ms()
    started, execution = rfc3339(started_unix_ms), _execution_record(outline, options)
    return Manifest(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        mode="sweep" if search is None else "search",
        status=ManifestStatus.RUNNING,
        engine=author.engine,
        model=_model_record(entry, plan, outline),
        spec=spec_document(plan.spec, _asked(execution)),
        spec_source=options.spec_source,
        argv=author.argv,
        plan=_plan_record(plan, outline),
        seeds=_seeds_record(plan.spec.seeds),
        columns=ColumnsRecord(
            stats=outline.stat_columns, reducers=outline.reducer_columns, tables=plan.table_kinds or UNSET
        ),
        shard=ShardRecord(index=outline.shard.index, count=outline.shard.count),
        execution=execution,
        runtime=author.runtime,
        timestamps=Timestamps(started_unix_ms=started_unix_ms, started=started),
        sessions=(_session_record(entry, outline, options, author, started),),
        results=None,
        search=None if search is None else search.standing(),
    )


def _asked(execution: ExecutionRecord) -> ExecutionSettings:
    return ExecutionSettings(
        concurrent=execution.concurrency, memory=execution.memory_budget, gpu_memory=execution.gpu_memory_budget
    )


def _session_record(
    entry: ModelEntry, outline: SweepOutline, options: SweepRunOptions, author: Author, started: str
) -> SessionRecord:
    """Return the record of a session that has written no run yet."""
    return SessionRecord(
        started=started,
        commit=author.engine.commit,
        skipped=outline.skipped,
        ran=0,
        engine=author.engine,
        host=None if options.provenance is None else {**options.provenance},
        model_source=model_source(entry),
        runtime=author.runtime,
    )


def _seeds_record(seeds: SeedSettings) -> SeedsRecord:
    return SeedsRecord(root=seed_number(seeds.root), scheme=scheme_text(seeds), formula=seed_formula(seeds))


def _model_record(entry: ModelEntry, plan: Plan, outline: SweepOutline) -> ModelRecord:
    schema = plan.schema
    return ModelRecord(
        id=schema.model,
        name=schema.name,
        backend=str(schema.backend),
        schema_hash=schema.schema_hash,
        schema=schema.document(outline.stat_columns),
        replays_exactly=UNSET if entry.metadata.replays_exactly else False,
        portable=UNSET if entry.metadata.portable else False,
    )


def _plan_record(plan: Plan, outline: SweepOutline) -> PlanRecord:
    """Return the record of `plan`. That of a search is hashed with its one config, which is no config of a run."""
    blocks = tuple(
        BlockRecord(
            design=str(block.design),
            configs=block.config_count,
            design_seed=None if block.design_seed is None else seed_number(block.design_seed),
        )
        for block in outline.blocks
    )
    return PlanRecord(
        plan_hash=plan.plan_hash,
        results_fingerprint=plan.results_fingerprint,
        configs=outline.configs,
        replicates=plan.replicates,
        runs=outline.runs,
        blocks=blocks,
    )


def _execution_record(outline: SweepOutline, options: SweepRunOptions) -> ExecutionRecord:
    """Return how a sweep of `outline` is executed, beside what was asked for."""
    layout = outline.layout
    return ExecutionRecord(
        backend=str(outline.backend),
        concurrency=options.concurrency,
        cpu_lanes=layout.cpu_lanes,
        threads_per_lane=layout.threads_per_lane,
        gpu_tracks=layout.gpu_tracks,
        projected_bytes=outline.projected_bytes,
        memory_budget=options.memory_budget,
        gpu_memory_budget=options.gpu_memory_budget,
        lane_kind=str(layout.kind) if layout.cpu_lanes else UNSET,
        why=layout.why or UNSET,
        batch_rows=layout.batch_rows if layout.batch_rows > 1 else UNSET,
    )
