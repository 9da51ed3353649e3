"""Earlier results that a sweep goes on from: its own folder on a resume, another sweep's on an extension.

Owns reading a folder and every check before anything is written (reference engine, section 9.8). Writes nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from henad_web.errors import ModelMismatchError
from henad_web.explore.plan_hash import run_keys
from henad_web.explore.shards import Shard
from henad_web.explore.spec_file import parse_spec_document
from henad_web.output.table_rows import KeptRows, TableEnds, kept_rows, rows_to_keep, whole_series
from henad_web.output.manifest import Manifest
from henad_web.output.names import MANIFEST, RUNS, SERIES
from henad_web.resume.errors import (
    ColumnsChangedError,
    DuplicateRunError,
    ModeChangedError,
    NoResultsError,
    PlanChangedError,
    ReplicatesLoweredError,
    RunKeyChangedError,
    RunOutsideShardError,
    SchemaChangedError,
    ShardChangedError,
    UnplannedRunError,
)
from henad_web.output.table_index import RunsIndex, SeriesCadence, SeriesIndex, index_runs, index_series
from henad_web.output.tables import RunsLayout, check_header, series_header
from henad_web.output.written_spec import layout_of

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.spec import SweepSpec
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import ResultsReader, Stamp
    from henad_web.output.table_index import Ints

__all__ = [
    "EarlierResults",
    "cadence_of",
    "check_model",
    "read_indexes",
    "read_manifest",
    "recorded_indexes",
    "recorded_shard",
    "recorded_spec",
    "resumable",
    "reusable",
]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EarlierResults:
    """Rows that a sweep keeps instead of running them again.

    Attributes:
        reader: Where the rows stand.
        manifest: What is recorded there.
        kept: The rows.
        ends: Where its tables can be cut to go on with them as they are; None when they are written anew.
        is_own: Whether the rows stand in the folder that the sweep writes to.
        stamp: State of the files when they were read.
    """

    reader: ResultsReader
    manifest: Manifest
    kept: KeptRows
    ends: TableEnds | None
    is_own: bool
    stamp: Stamp

    def check_columns(self, stats: tuple[str, ...], reducers: tuple[str, ...]) -> None:
        """Make sure that the rows have the columns `stats` and `reducers` of the sweep.

        Raises:
            ColumnsChangedError: They have others.
        """
        columns, path = self.manifest.columns, str(self.reader.path)
        for table, recorded, current in ((SERIES, columns.stats, stats), (RUNS, columns.reducers, reducers)):
            if recorded != current:
                raise ColumnsChangedError(path, table, recorded, current)


def read_manifest(reader: ResultsReader) -> Manifest:
    """Return the manifest of the results that `reader` reads.

    Raises:
        NoResultsError: There is none.
        ManifestError: It cannot be read.
        ModeChangedError: It is that of a search.
    """
    if not reader.holds(MANIFEST):
        raise NoResultsError(str(reader.path))
    manifest = Manifest.read(reader.read(MANIFEST), path=reader.path)
    if manifest.mode != "sweep":
        raise ModeChangedError(str(reader.path), manifest.mode, "sweep")
    return manifest


def recorded_spec(manifest: Manifest, entry: ModelEntry, path: str) -> SweepSpec:
    """Return the spec that `manifest` records, once it is clear that `entry` is the model it was made for.

    Raises:
        ModelMismatchError: The results are of another model.
        SchemaChangedError: The model has changed since.
        SpecError: The recorded spec cannot be read.
    """
    check_model(manifest, entry, path)
    return parse_spec_document(manifest.spec)


def check_model(manifest: Manifest, entry: ModelEntry, path: str) -> None:
    """Make sure that `manifest` is of the model `entry` as it is now; raises as `recorded_spec` does."""
    if manifest.model.id != entry.id:
        raise ModelMismatchError(manifest.model.id, entry.id)
    current = entry.schema().schema_hash
    if manifest.model.schema_hash != current:
        raise SchemaChangedError(path, entry.id, manifest.model.schema_hash, current)


def recorded_shard(manifest: Manifest) -> Shard:
    """Return the part of the plan that `manifest` says its folder holds."""
    return Shard(manifest.shard.index, manifest.shard.count)


def resumable(reader: ResultsReader, plan: Plan, shard: Shard, *, retry_failed: bool) -> EarlierResults:
    """Return what a resume of `plan` keeps of the results that `reader` reads, after every check.

    Raises:
        ResumeError: A check failed; its class says which.
        TableDamagedError: A table is damaged before its end.
        ManifestError: The manifest cannot be read.
    """
    path, stamp = str(reader.path), reader.stamp()
    manifest = read_manifest(reader)
    _check_plan(manifest, plan, shard, path)
    runs, series = _checked_indexes(reader, manifest, plan)
    run_ids = _mapped_ids(runs, plan, shard, path)
    _check_keys(runs, run_ids, plan, path)
    whole, group = whole_series(runs, series, cadence_of(plan.spec), is_ended=manifest.has_ended)
    rows = np.flatnonzero(rows_to_keep(runs, whole, retry_failed=retry_failed)).astype(np.int64)
    kept, ends = kept_rows(runs, series, group, rows, run_ids[rows])
    return EarlierResults(
        reader=reader,
        manifest=manifest,
        kept=kept,
        ends=ends,
        is_own=True,
        stamp=stamp,
    )


def reusable(reader: ResultsReader, plan: Plan, shard: Shard, *, retry_failed: bool) -> EarlierResults:
    """Return the rows of other results whose run keys are those of runs of `plan` in `shard`.

    Raises:
        ResumeError: The results are not of a sweep, or have a table that is not theirs.
        TableDamagedError: A table is damaged before its end.
        ManifestError: The manifest cannot be read.
    """
    stamp = reader.stamp()
    manifest = read_manifest(reader)
    spec = parse_spec_document(manifest.spec)
    cadence = cadence_of(spec)
    runs, series = recorded_indexes(reader, manifest, cadence)
    whole, group = whole_series(runs, series, cadence, is_ended=manifest.has_ended)
    usable = np.flatnonzero(rows_to_keep(runs, whole, retry_failed=retry_failed))
    row_of = dict(zip(runs.keys[usable].tolist(), usable.tolist(), strict=True))
    run_ids = np.arange(shard.index, plan.run_count if row_of else 0, shard.count, dtype=np.int64)
    keyed = zip(run_keys(plan, run_ids).tolist(), run_ids.tolist(), strict=True)
    found = [(row_of[key], run_id) for key, run_id in keyed if key in row_of]
    pairs = np.array(found, np.int64).reshape(len(found), 2)
    kept, _ = kept_rows(runs, series, group, pairs[:, 0], pairs[:, 1])
    return EarlierResults(
        reader=reader,
        manifest=manifest,
        kept=kept,
        ends=None,
        is_own=False,
        stamp=stamp,
    )


def cadence_of(spec: SweepSpec) -> SeriesCadence:
    """Return which ticks of the runs of `spec` have a row in series.csv."""
    run, measure = spec.run, spec.measure
    return SeriesCadence(
        warmup=run.warmup,
        stats_every=measure.stats_every,
        series_every=measure.series_cadence,
        total=run.warmup + run.steps,
    )


def _check_plan(manifest: Manifest, plan: Plan, shard: Shard, path: str) -> None:
    if manifest.plan.plan_hash != plan.plan_hash:
        raise PlanChangedError(path, manifest.plan.plan_hash, plan.plan_hash)
    if recorded_shard(manifest) != shard:
        raise ShardChangedError(path, str(recorded_shard(manifest)), str(shard))
    if manifest.plan.replicates > plan.replicates:
        raise ReplicatesLoweredError(path, manifest.plan.replicates, plan.replicates)


def read_indexes(
    reader: ResultsReader, layout: RunsLayout, stats: Sequence[str], cadence: SeriesCadence
) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of the tables that `reader` reads; a table that is missing has no rows.

    Neither has one whose header is another one than `layout` and `stats` say: that is the caller's to refuse.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    with _opened(reader, RUNS) as stream:
        runs = index_runs(stream, layout)
    with _opened(reader, SERIES) as stream:
        return runs, index_series(stream, series_header(stats), cadence)


def recorded_indexes(
    reader: ResultsReader, manifest: Manifest, cadence: SeriesCadence
) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of the tables that `reader` reads, whose headers are those that `manifest` tells.

    Raises:
        TableDamagedError: A header is another one, or a record other than a torn last one is no row.
    """
    layout, stats = layout_of(manifest), manifest.columns.stats
    runs, series = read_indexes(reader, layout, stats, cadence)
    if runs.header is not None:
        layout.checked(runs.header)
    if series.header is not None:
        check_header(SERIES, series.header, series_header(stats))
    return runs, series


@contextmanager
def _opened(reader: ResultsReader, name: str) -> Iterator[BinaryIO]:
    if not reader.holds(name):
        yield io.BytesIO()
        return
    with reader.reader(name) as stream:
        yield stream


def _checked_indexes(reader: ResultsReader, manifest: Manifest, plan: Plan) -> tuple[RunsIndex, SeriesIndex]:
    path, stats = str(reader.path), manifest.columns.stats
    layout = RunsLayout.of_plan(plan, manifest.columns.reducers)
    runs, series = read_indexes(reader, layout, stats, cadence_of(plan.spec))
    if runs.header not in (None, layout.header):
        raise ColumnsChangedError(path, RUNS, layout.header, runs.header)
    if series.header not in (None, series_header(stats)):
        raise ColumnsChangedError(path, SERIES, series_header(stats), series.header)
    return runs, series


def _mapped_ids(runs: RunsIndex, plan: Plan, shard: Shard, path: str) -> Ints:
    """Return the id that `plan` gives the run of each row, told by its config and replicate."""
    configs, replicates = plan.config_count, plan.replicates
    unknown = np.flatnonzero((runs.config_ids >= configs) | (runs.reps >= replicates))
    if len(unknown):
        run_id, config_id, rep = (int(ids[unknown[0]]) for ids in (runs.run_ids, runs.config_ids, runs.reps))
        raise UnplannedRunError(path, run_id, config_id, rep, configs=configs, replicates=replicates)
    run_ids = runs.config_ids * replicates + runs.reps
    outside = np.flatnonzero(run_ids % shard.count != shard.index)
    if len(outside):
        raise RunOutsideShardError(path, int(run_ids[outside[0]]), str(shard))
    for ids in (run_ids, runs.run_ids):
        ordered = np.sort(ids)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if len(twice):
            raise DuplicateRunError(path, int(ordered[twice[0]]))
    return run_ids


def _check_keys(runs: RunsIndex, run_ids: Ints, plan: Plan, path: str) -> None:
    current = run_keys(plan, run_ids)
    changed = np.flatnonzero(current != runs.keys)
    if len(changed):
        run_id, recorded, planned = (int(column[changed[0]]) for column in (run_ids, runs.keys, current))
        raise RunKeyChangedError(path, run_id, f"{recorded:016x}", f"{planned:016x}")
