"""Shards of one sweep merged into the folder that the whole sweep would have left (reference engine, section 9.9).

Owns the checks of the inputs, the merged tables and the merged manifest. Every check comes before anything is written.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from henad_web.errors import UsageError, counted
from henad_web.explore.cell_texts import csv_line
from henad_web.explore.replication import Replication
from henad_web.explore.shards import Shard
from henad_web.explore.spec_file import parse_spec_document
from henad_web.output.manifest import (
    Manifest,
    ManifestStatus,
    PlanRecord,
    ResultsRecord,
    ShardRecord,
    Timestamps,
    layout_of,
    rfc3339,
)
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY
from henad_web.output.own_tables import own_file_names, own_files, read_own_tables
from henad_web.output.record import Counts
from henad_web.output.records import canonical_records
from henad_web.output.summary import summary_table
from henad_web.output.table_index import SeriesCadence, read_indexes
from henad_web.output.table_rows import rows_at, whole_tables
from henad_web.output.tables import series_header
from henad_web.resume.checks import recorded_shard, recorded_tables
from henad_web.resume.errors import MergeError, MergeReason
from henad_web.resume.kept_runs import whole_series
from henad_web.resume.provenance import ProvenanceWarning, merge_warnings
from henad_web.resume.told_rows import tell_rows

if TYPE_CHECKING:
    from henad_web.output.first_manifest import Author
    from henad_web.output.store import FileStore, ResultsReader
    from henad_web.output.table_index import Ints, RunsIndex
    from henad_web.output.table_rows import TableRows

__all__ = ["FIRST_MISSING", "MergeReport", "MissingRuns", "merge_shards"]

FIRST_MISSING = 5
"""Missing runs that are named."""


@dataclass(frozen=True, slots=True)
class MissingRuns:
    """Merged shards that lack runs of their plan: how many, and the ids of the first few."""

    count: int
    first: tuple[int, ...]

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        ids = ", ".join(map(str, self.first))
        more = " and more" if self.count > len(self.first) else ""
        missing = f"{counted(self.count, 'run')} of the plan {'is' if self.count == 1 else 'are'} missing: {ids}{more}"
        return f"{missing}; resume the merged folder to run {'it' if self.count == 1 else 'them'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What a merge made.

    Attributes:
        counts: Rows of the merged runs.csv.
        missing: Runs of the plan that no input has.
        first_missing: Ids of the first of them, at most `FIRST_MISSING`.
        output_dir: Where the files are, None in memory.
        warnings: What there is to say: runs that are missing, builds and platforms that differ between the shards.
    """

    counts: Counts
    missing: int
    first_missing: tuple[int, ...]
    output_dir: str | None
    warnings: tuple[MissingRuns | ProvenanceWarning, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShardRows:
    """One input of a merge.

    Attributes:
        reader: Where its files are read.
        manifest: Its manifest.
        rows: Its rows whose series is whole.
        runs_header: Columns of runs.csv.
        headers: Columns of the other tables, by the name of the file.
    """

    reader: ResultsReader
    manifest: Manifest
    rows: TableRows
    runs_header: tuple[str, ...]
    headers: Mapping[str, tuple[str, ...]]


def merge_shards(readers: Sequence[ResultsReader], store: FileStore, author: Author) -> MergeReport:
    """Merge the shards that `readers` read into `store`, which is free; `author` signs the manifest.

    Raises:
        MergeError: They cannot be merged; nothing was written.
        OutputError: An input cannot be read, or the place cannot be written; what was written is taken back.
        UsageError: There are no inputs.
    """
    if not readers:
        raise UsageError("a merge of no folders; give at least one")
    started_ms = author.now_ms()
    shards, told = _checked_shards(readers)
    manifest = _merged_manifest(shards, author, started_ms)
    missing = _missing(shards, manifest.plan, told)
    counts = _total([shard.rows.counts for shard in shards])
    store.check_own_files(own_file_names(manifest.columns.own_tables))
    store.open()
    is_merged = False
    try:
        store.rewrite({name: _merged(shards, name) for name in (RUNS, *shards[0].headers)})
        with store.reader(RUNS) as runs:
            store.replace(SUMMARY, summary_table(runs, parse_spec_document(manifest.spec).run.adaptive))
        store.sync()
        store.replace(MANIFEST, [_ended(manifest, counts, len(missing), author).to_bytes()])
        is_merged = True
    finally:
        if not is_merged:
            store.remove_results()
        store.close()
    first = tuple(missing[:FIRST_MISSING].tolist())
    portable = manifest.model.portable is not False
    changes = merge_warnings([(shard.manifest, shard.rows.run_ids.tolist()) for shard in shards], portable=portable)
    warnings = (*([MissingRuns(len(missing), first)] if first else []), *changes)
    return MergeReport(
        counts=counts, missing=len(missing), first_missing=first, output_dir=store.path, warnings=warnings
    )


def _merged(shards: Sequence[ShardRows], name: str) -> Iterator[bytes]:
    """Yield the table `name` of all shards: their rows by run id, each as it stands."""
    held = [shard.rows for shard in shards]
    owners = np.repeat(np.arange(len(shards)), [len(rows.run_ids) for rows in held])
    order = np.argsort(np.concatenate([rows.run_ids for rows in held]), kind="stable")
    found = [rows.stretches(name) for rows in held]
    starts = np.concatenate([stretches.starts for stretches in found])[order].tolist()
    ends = np.concatenate([stretches.ends for stretches in found])[order].tolist()
    headers = [shard.runs_header if name == RUNS else shard.headers[name] for shard in shards]
    yield csv_line(next(filter(None, headers)))
    with ExitStack() as stack:
        streams = [
            stack.enter_context(shard.reader.reader(name)) if shard.reader.holds(name) else io.BytesIO()
            for shard in shards
        ]
        for owner, start, end in zip(owners[order].tolist(), starts, ends, strict=True):
            stream = streams[owner]
            if end > start:
                stream.seek(start)
                rows = stream.read(end - start)
                yield rows if found[owner].is_canonical else canonical_records(rows, name)


def _missing(shards: Sequence[ShardRows], plan: PlanRecord, told: Replication | None) -> Ints:
    if told is not None:
        configs = range(plan.runs // plan.replicates)
        found = (config_id * plan.replicates + rep for config_id in configs for rep in told.missing(config_id))
        return np.fromiter(found, np.int64)
    is_there = np.zeros(plan.runs, np.bool_)
    for shard in shards:
        is_there[shard.rows.run_ids] = True
    return np.flatnonzero(~is_there).astype(np.int64)


def _total(counts: Sequence[Counts]) -> Counts:
    return Counts(
        rows=sum(count.rows for count in counts),
        ok=sum(count.ok for count in counts),
        non_finite=sum(count.non_finite for count in counts),
        failed=sum(count.failed for count in counts),
    )


def _merged_manifest(shards: Sequence[ShardRows], author: Author, started_ms: int) -> Manifest:
    """Return the manifest of the merged folder at its start, the same in whatever order the shards are given."""
    first = min(shards, key=lambda shard: shard.manifest.shard.index).manifest
    whole = Shard(0, 1)
    return replace(
        first,
        engine=author.engine,
        argv=author.argv,
        runtime=author.runtime,
        shard=ShardRecord(index=whole.index, count=whole.count),
        timestamps=Timestamps(started_unix_ms=started_ms, started=rfc3339(started_ms)),
        sessions=tuple(session for shard in shards for session in shard.manifest.sessions),
        merged_shards=tuple(str(shard.reader.path) for shard in shards),
    )


def _ended(manifest: Manifest, counts: Counts, missing: int, author: Author) -> Manifest:
    finished_ms = author.now_ms()
    return replace(
        manifest,
        status=ManifestStatus.INCOMPLETE if missing else ManifestStatus.COMPLETE,
        results=ResultsRecord.of(counts),
        timestamps=replace(manifest.timestamps, finished_unix_ms=finished_ms, finished=rfc3339(finished_ms)),
    )


def _checked_shards(readers: Sequence[ResultsReader]) -> tuple[tuple[ShardRows, ...], Replication | None]:
    """Return the rows of each of `readers`, in the order given, once every check has passed.

    What the rule of adaptive replicates knows by them comes with them; None where replicates are not adaptive.

    Raises:
        MergeError: They are not shards of one sweep, or a table is not what its manifest says.
        TableDamagedError: A table is damaged before its end.
        ManifestError: A manifest cannot be read.
    """
    manifests = [_manifest_of(reader) for reader in readers]
    _check_manifests(readers, manifests)
    adaptive, plan = parse_spec_document(manifests[0].spec).run.adaptive, manifests[0].plan
    told = None if adaptive is None else Replication(adaptive, plan.runs // plan.replicates)
    shards = tuple(_rows_of(reader, manifest, told) for reader, manifest in zip(readers, manifests, strict=True))
    if not any(shard.runs_header for shard in shards):
        raise MergeError(MergeReason.NO_ROWS, str(readers[0].path))
    return shards, told


def _manifest_of(reader: ResultsReader) -> Manifest:
    if not reader.holds(MANIFEST):
        raise MergeError(MergeReason.NO_RESULTS, str(reader.path))
    manifest = Manifest.read(reader.read(MANIFEST), path=reader.path)
    if manifest.mode != "sweep":
        raise MergeError(MergeReason.NOT_A_SWEEP, str(reader.path), found=manifest.mode)
    return manifest


def _check_manifests(readers: Sequence[ResultsReader], manifests: Sequence[Manifest]) -> None:
    first = _facts(manifests[0])
    holders: dict[int, str] = {}
    for reader, manifest in zip(readers, manifests, strict=True):
        path, other = str(reader.path), str(readers[0].path)
        for field, found in _facts(manifest).items():
            if found != first[field]:
                reason, expected = MergeReason.PLAN_DIFFERS, first[field]
                raise MergeError(reason, path, other=other, field=field, expected=expected, found=found)
        index = manifest.shard.index
        if index in holders:
            shard = str(recorded_shard(manifest))
            raise MergeError(MergeReason.SAME_SHARD, path, other=holders[index], shard=shard)
        holders[index] = path


def _facts(manifest: Manifest) -> dict[str, object]:
    """Return what all shards of a sweep share, by what it is called."""
    plan, columns = manifest.plan, manifest.columns
    return {
        "schema hash": manifest.model.schema_hash,
        "plan hash": plan.plan_hash,
        "number of replicates": plan.replicates,
        "number of runs": plan.runs,
        "number of shards": manifest.shard.count,
        "seed formula": manifest.seeds.formula,
        "stat columns": columns.stats,
        "reducer columns": columns.reducers,
        "tables of the model's own": recorded_tables(manifest),
    }


def _rows_of(reader: ResultsReader, manifest: Manifest, told: Replication | None) -> ShardRows:
    path, spec = str(reader.path), parse_spec_document(manifest.spec)
    cadence, layout, stats = SeriesCadence.of(spec), layout_of(manifest), manifest.columns.stats
    runs, series = read_indexes(reader, layout, stats, cadence)
    own = read_own_tables(reader, manifest.columns)
    headers = {SERIES: series_header(stats), **{file.name: file.header for file in own_files(manifest.columns)}}
    _check_header(path, RUNS, layout.header, runs.header)
    found = {SERIES: series.header, **{name: index.header for name, index in own.indexes.items()}}
    for name, expected in headers.items():
        _check_header(path, name, expected, found[name])
    _check_rows(runs, manifest, spec.run.runs_together, path)
    whole = whole_series(runs, series, cadence, is_ended=manifest.has_ended) & whole_tables(runs, own)
    positions = np.flatnonzero(whole).astype(np.int64)
    if told is not None:
        positions = positions[_asked_rows(told, reader, manifest, runs, positions)]
    rows = rows_at(runs, series, own, positions, runs.run_ids[positions])
    return ShardRows(reader=reader, manifest=manifest, rows=rows, runs_header=runs.header or (), headers=headers)


def _asked_rows(
    told: Replication, reader: ResultsReader, manifest: Manifest, runs: RunsIndex, positions: Ints
) -> NDArray[np.bool_]:
    """Tell `told` of the rows at `positions`, and return which of them it has asked for."""
    run_ids, replicates = runs.run_ids[positions], manifest.plan.replicates
    rows = tell_rows(told, reader, layout_of(manifest), runs, positions, run_ids, replicates)
    if rows.superfluous is not None:
        config_id, rep = divmod(rows.superfluous, replicates)
        reason, run_id = MergeReason.SUPERFLUOUS_RUN, rows.superfluous
        raise MergeError(reason, str(reader.path), run_id=run_id, config_id=config_id, rep=rep)
    return rows.asked


def _check_header(path: str, table: str, expected: tuple[str, ...], found: tuple[str, ...] | None) -> None:
    if found not in (None, expected):
        raise MergeError(MergeReason.COLUMNS_DIFFER, path, table=table, expected=expected, found=found)


def _check_rows(runs: RunsIndex, manifest: Manifest, together: int, path: str) -> None:
    replicates, shard = manifest.plan.replicates, recorded_shard(manifest)
    run_ids = runs.config_ids * replicates + runs.reps
    strange = (run_ids != runs.run_ids) | (runs.reps >= replicates) | (run_ids >= manifest.plan.runs)
    for position in np.flatnonzero(strange)[:1].tolist():
        run_id, config_id, rep = (int(ids[position]) for ids in (runs.run_ids, runs.config_ids, runs.reps))
        raise MergeError(MergeReason.RUN_ID_DIFFERS, path, run_id=run_id, config_id=config_id, rep=rep)
    outside = runs.run_ids[~shard.held(run_ids, together)]
    if len(outside):
        raise MergeError(MergeReason.RUN_OUTSIDE_SHARD, path, run_id=int(outside[0]), shard=str(shard))
    ordered = np.sort(run_ids)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise MergeError(MergeReason.DUPLICATE_RUN, path, run_id=int(twice[0]))
