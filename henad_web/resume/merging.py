"""Shards of one sweep merged into the folder that the whole sweep would have left (reference engine, section 9.9).

Owns the checks of the inputs, the merged tables and the merged manifest. Every check comes before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from henad_web.errors import UsageError
from henad_web.explore.shards import Shard
from henad_web.output.manifest import (
    Manifest,
    ManifestStatus,
    ResultsRecord,
    RuntimeRecord,
    ShardRecord,
    Timestamps,
    rfc3339,
)
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY
from henad_web.output.numbers import csv_line
from henad_web.output.record import Counts
from henad_web.output.records import canonical_records
from henad_web.output.summary import summary_table
from henad_web.resume.provenance import ProvenanceWarning, merge_warnings
from henad_web.resume.shard_checks import ShardRows, checked_shards

if TYPE_CHECKING:
    from henad_web.output.build import BuildRecord
    from henad_web.output.table_rows import KeptRows
    from henad_web.output.store import FileStore, ResultsReader
    from henad_web.output.table_index import Ints

__all__ = ["FIRST_MISSING", "MergeContext", "MergeReport", "MissingRuns", "merge_shards"]

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
        return f"{self.count} runs of the plan are missing: {ids}{more}; resume the merged folder to run them"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeContext:
    """Who merges: the build, the machine, the command line and the clock, seconds since 1970, for the manifest."""

    engine: BuildRecord
    runtime: RuntimeRecord
    argv: tuple[str, ...]
    wall_clock: Callable[[], float]


def merge_shards(readers: Sequence[ResultsReader], store: FileStore, context: MergeContext) -> MergeReport:
    """Merge the shards that `readers` read into `store`, which is free.

    Raises:
        MergeError: They cannot be merged; nothing was written.
        OutputError: An input cannot be read, or the place cannot be written; what was written is taken back.
        UsageError: There are no inputs.
    """
    if not readers:
        raise UsageError("a merge of no folders; give at least one")
    started = context.wall_clock()
    shards = checked_shards(readers)
    manifest = _merged_manifest(shards, context, started)
    missing = _missing(shards, manifest.plan.runs)
    counts = _total([shard.kept.counts for shard in shards])
    store.open()
    is_merged = False
    try:
        store.rewrite({RUNS: _merged(shards, RUNS), SERIES: _merged(shards, SERIES)})
        with store.reader(RUNS) as runs:
            store.replace(SUMMARY, summary_table(runs))
        store.sync()
        store.replace(MANIFEST, [_ended(manifest, counts, len(missing), context).to_bytes()])
        is_merged = True
    finally:
        if not is_merged:
            store.remove_results()
        store.close()
    first = tuple(missing[:FIRST_MISSING].tolist())
    portable = manifest.model.portable is not False
    told = merge_warnings([(shard.manifest, shard.kept.run_ids.tolist()) for shard in shards], portable=portable)
    warnings = (*([MissingRuns(len(missing), first)] if first else []), *told)
    return MergeReport(
        counts=counts, missing=len(missing), first_missing=first, output_dir=store.path, warnings=warnings
    )


def _merged(shards: Sequence[ShardRows], name: str) -> Iterator[bytes]:
    """Yield the table `name` of all shards: their rows by run id, each as it stands."""
    kept = [shard.kept for shard in shards]
    owners = np.repeat(np.arange(len(shards)), [len(rows.run_ids) for rows in kept])
    order = np.argsort(np.concatenate([rows.run_ids for rows in kept]), kind="stable")
    spans = [_spans(rows, name) for rows in kept]
    starts, ends = (np.concatenate([span[side] for span in spans])[order].tolist() for side in (0, 1))
    are_canonical = [rows.runs_are_canonical if name == RUNS else rows.series_are_canonical for rows in kept]
    headers = [shard.runs_header if name == RUNS else shard.series_header for shard in shards]
    yield csv_line(next(filter(None, headers)))
    with ExitStack() as stack:
        streams = [
            stack.enter_context(shard.reader.reader(name)) if shard.reader.holds(name) else None for shard in shards
        ]
        for owner, start, end in zip(owners[order].tolist(), starts, ends, strict=True):
            stream = streams[owner]
            if stream is not None and end > start:
                stream.seek(start)
                rows = stream.read(end - start)
                yield rows if are_canonical[owner] else canonical_records(rows, name)


def _spans(rows: KeptRows, name: str) -> tuple[Ints, Ints]:
    return (rows.run_starts, rows.run_ends) if name == RUNS else (rows.series_starts, rows.series_ends)


def _missing(shards: Sequence[ShardRows], run_count: int) -> Ints:
    is_there = np.zeros(run_count, np.bool_)
    for shard in shards:
        is_there[shard.kept.run_ids] = True
    return np.flatnonzero(~is_there).astype(np.int64)


def _total(counts: Sequence[Counts]) -> Counts:
    return Counts(
        rows=sum(count.rows for count in counts),
        ok=sum(count.ok for count in counts),
        non_finite=sum(count.non_finite for count in counts),
        failed=sum(count.failed for count in counts),
    )


def _merged_manifest(shards: Sequence[ShardRows], context: MergeContext, started: float) -> Manifest:
    """Return the manifest of the merged folder at its start, the same in whatever order the shards are given."""
    first = min(shards, key=lambda shard: shard.manifest.shard.index).manifest
    started_ms = int(started * 1000)
    whole = Shard(0, 1)
    return replace(
        first,
        engine=context.engine,
        argv=context.argv,
        runtime=context.runtime,
        shard=ShardRecord(index=whole.index, count=whole.count),
        timestamps=Timestamps(started_unix_ms=started_ms, started=rfc3339(started_ms)),
        sessions=tuple(session for shard in shards for session in shard.manifest.sessions),
        merged_shards=tuple(str(shard.reader.path) for shard in shards),
    )


def _ended(manifest: Manifest, counts: Counts, missing: int, context: MergeContext) -> Manifest:
    finished_ms = int(context.wall_clock() * 1000)
    return replace(
        manifest,
        status=ManifestStatus.INCOMPLETE if missing else ManifestStatus.COMPLETE,
        results=ResultsRecord(rows=counts.rows, ok=counts.ok, non_finite=counts.non_finite, failed=counts.failed),
        timestamps=replace(manifest.timestamps, finished_unix_ms=finished_ms, finished=rfc3339(finished_ms)),
    )
