"""Whether a sweep can go on with results that are there.

Owns every check of a resume (reference engine, section 9.8); all come before anything is written. Chooses no rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import ModelMismatchError, counted
from henad_web.explore.hashes import run_keys
from henad_web.explore.shards import Shard
from henad_web.explore.spec_file import parse_spec_document
from henad_web.output.manifest import Manifest
from henad_web.output.names import MANIFEST, RUNS, SERIES
from henad_web.output.own_tables import OwnTables, own_files, read_own_tables
from henad_web.output.table_index import RunsIndex, SeriesCadence, SeriesIndex, read_indexes
from henad_web.output.tables import RunsLayout, series_header
from henad_web.resume.errors import ResumeError, ResumeReason

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.spec import SweepSpec
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import Ints
    from henad_web.resume.told_rows import ToldRows
    from henad_web.search.plan import SearchPlan

__all__ = [
    "check_mode",
    "check_model",
    "check_plan",
    "check_run_keys",
    "check_search",
    "check_superfluous",
    "checked_indexes",
    "checked_own_tables",
    "planned_ids",
    "planned_tables",
    "read_manifest",
    "recorded_shard",
    "recorded_tables",
]


def read_manifest(reader: ResultsReader) -> Manifest:
    """Return the manifest of the results that `reader` reads.

    Raises:
        ResumeError: There is none.
        ManifestError: It cannot be read.
    """
    if not reader.holds(MANIFEST):
        raise ResumeError(ResumeReason.NO_RESULTS, str(reader.path))
    return Manifest.read(reader.read(MANIFEST), path=reader.path)


def check_mode(manifest: Manifest, spec: SweepSpec, path: str) -> None:
    """Make sure that `manifest` is of a search if `spec` is one, and otherwise of a sweep.

    Raises:
        ResumeError: It is of the other one.
    """
    current = "sweep" if spec.search is None else "search"
    if manifest.mode != current:
        raise ResumeError(ResumeReason.MODE_CHANGED, path, recorded=manifest.mode, current=current)


def check_model(manifest: Manifest, entry: ModelEntry, path: str) -> None:
    """Make sure that `manifest` is of the model `entry` as it is now.

    Raises:
        ModelMismatchError: The results are of another model.
        ResumeError: The model has changed since.
    """
    if manifest.model.id != entry.id:
        raise ModelMismatchError(manifest.model.id, entry.id)
    current = entry.schema().schema_hash
    if manifest.model.schema_hash != current:
        recorded = manifest.model.schema_hash
        raise ResumeError(ResumeReason.SCHEMA_CHANGED, path, recorded=recorded, current=current, model=entry.id)


def recorded_shard(manifest: Manifest) -> Shard:
    """Return the part of the plan that `manifest` says its folder holds."""
    return Shard(manifest.shard.index, manifest.shard.count)


def check_plan(manifest: Manifest, plan: Plan, shard: Shard, path: str) -> None:
    """Make sure that `manifest` is of the runs of `plan` in `shard`, or of fewer replicates of them.

    Raises:
        ResumeError: It is of others.
    """
    told, held = manifest.plan, recorded_shard(manifest)
    if told.plan_hash != plan.plan_hash:
        raise ResumeError(ResumeReason.PLAN_CHANGED, path, recorded=told.plan_hash, current=plan.plan_hash)
    _check_tables(manifest, plan, path)
    if held != shard:
        raise ResumeError(ResumeReason.SHARD_CHANGED, path, recorded=str(held), current=str(shard))
    if told.replicates > plan.replicates:
        reason = ResumeReason.REPLICATES_LOWERED
        raise ResumeError(reason, path, recorded=told.replicates, current=plan.replicates)


def check_search(manifest: Manifest, search: SearchPlan, path: str) -> None:
    """Make sure that `manifest` is of `search`.

    Raises:
        ResumeError: It is of another one.
    """
    recorded = None if manifest.search is None else manifest.search.search_hash
    if recorded != search.search_hash:
        raise ResumeError(ResumeReason.SEARCH_CHANGED, path, recorded=recorded, current=search.search_hash)
    _check_tables(manifest, search.base, path)


def _check_tables(manifest: Manifest, plan: Plan, path: str) -> None:
    recorded, current = recorded_tables(manifest), planned_tables(plan)
    if recorded != current:
        raise ResumeError(ResumeReason.TABLES_CHANGED, path, recorded=recorded, current=current)


def planned_tables(plan: Plan) -> tuple[str, ...]:
    """Return what of its model's own tables `plan` keeps, and when: no hash holds it, since no other result has it."""
    return _table_texts(plan.table_kinds, plan.spec.measure.tables_every)


def recorded_tables(manifest: Manifest) -> tuple[str, ...]:
    """Return the same of the rows of `manifest`."""
    kinds = manifest.columns.own_tables
    return _table_texts(kinds, parse_spec_document(manifest.spec).measure.tables_every if kinds else None)


def _table_texts(tables: Mapping[str, Mapping[str, str]], every: int | None) -> tuple[str, ...]:
    columns = [f"{id}.{name} {kind}" for id, kinds in tables.items() for name, kind in kinds.items()]
    when = "at the end" if every is None else f"every {counted(every, 'tick')}"
    return (*columns, when) if columns else ()


def checked_indexes(reader: ResultsReader, manifest: Manifest, plan: Plan) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of the tables that `reader` reads, whose columns are those of `plan`.

    Raises:
        ResumeError: A table has other columns.
        TableDamagedError: A table is damaged before its end.
    """
    stats = manifest.columns.stats
    layout = RunsLayout.of_plan(plan, manifest.columns.reducers)
    runs, series = read_indexes(reader, layout, stats, SeriesCadence.of(plan.spec))
    headers = ((RUNS, layout.header, runs.header), (SERIES, series_header(stats), series.header))
    for table, recorded, current in headers:
        if current not in (None, recorded):
            reason, path = ResumeReason.COLUMNS_CHANGED, str(reader.path)
            raise ResumeError(reason, path, recorded=recorded, current=current, table=table)
    return runs, series


def checked_own_tables(reader: ResultsReader, manifest: Manifest) -> OwnTables:
    """Return the indexes of the model's own tables that `reader` reads, whose columns are those of `manifest`.

    Raises:
        ResumeError: A table has other columns.
        TableDamagedError: A table is damaged before its end.
    """
    own = read_own_tables(reader, manifest.columns)
    for file in own_files(manifest.columns):
        current = own.indexes[file.name].header
        if current not in (None, file.header):
            reason, path = ResumeReason.COLUMNS_CHANGED, str(reader.path)
            raise ResumeError(reason, path, recorded=file.header, current=current, table=file.name)
    return own


def planned_ids(runs: RunsIndex, plan: Plan, shard: Shard, path: str) -> Ints:
    """Return the id that `plan` gives the run of each row, told by its config and replicate.

    Raises:
        ResumeError: A row is of no run of `plan` in `shard`, or of one that another row is of.
    """
    configs, replicates = plan.config_count, plan.replicates
    unknown = np.flatnonzero((runs.config_ids >= configs) | (runs.reps >= replicates))
    if len(unknown):
        run_id, config_id, rep = (int(ids[unknown[0]]) for ids in (runs.run_ids, runs.config_ids, runs.reps))
        planned = f"{configs} configs x {replicates} replicates"
        raise ResumeError(
            ResumeReason.UNPLANNED_RUN, path, current=planned, run_id=run_id, config_id=config_id, rep=rep
        )
    run_ids = runs.config_ids * replicates + runs.reps
    outside = np.flatnonzero(~shard.held(run_ids, plan.spec.run.runs_together))
    if len(outside):
        run_id = int(run_ids[outside[0]])
        raise ResumeError(ResumeReason.RUN_OUTSIDE_SHARD, path, run_id=run_id, shard=str(shard))
    for ids in (run_ids, runs.run_ids):
        ordered = np.sort(ids)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if len(twice):
            raise ResumeError(ResumeReason.DUPLICATE_RUN, path, run_id=int(ordered[twice[0]]))
    return run_ids


def check_superfluous(rows: ToldRows, plan: Plan, path: str) -> None:
    """Make sure that `rows` are of replicates that the rule of `plan` asks for.

    Raises:
        ResumeError: One is behind the last round of its config.
    """
    if rows.superfluous is not None:
        config_id, rep = divmod(rows.superfluous, plan.replicates)
        reason, run_id = ResumeReason.SUPERFLUOUS_RUN, rows.superfluous
        raise ResumeError(reason, path, run_id=run_id, config_id=config_id, rep=rep)


def check_run_keys(runs: RunsIndex, run_ids: Ints, plan: Plan, path: str) -> None:
    """Make sure that the rows `runs` have the keys that `plan` gives the runs `run_ids`.

    Raises:
        ResumeError: One has another.
    """
    current = run_keys(plan, run_ids)
    changed = np.flatnonzero(current != runs.keys)
    if len(changed):
        run_id, recorded, planned = (int(column[changed[0]]) for column in (run_ids, runs.keys, current))
        raise ResumeError(
            ResumeReason.RUN_KEY_CHANGED,
            path,
            recorded=f"{recorded:016x}",
            current=f"{planned:016x}",
            run_id=run_id,
        )
