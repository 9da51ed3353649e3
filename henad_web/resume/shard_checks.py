"""Whether folders are shards of one sweep, and which of their rows a merge takes.

Owns every check of the inputs of a merge (reference engine, section 9.9). Writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import MergeError
from henad_web.explore.spec_file import parse_spec_document
from henad_web.resume.kept_runs import cadence_of, read_indexes, recorded_shard
from henad_web.output.table_rows import kept_rows, whole_series
from henad_web.output.manifest import Manifest
from henad_web.output.names import MANIFEST, RUNS, SERIES
from henad_web.resume.errors import (
    ColumnsDifferError,
    MergedRowError,
    NotASweepError,
    PlanDiffersError,
    RunIdDiffersError,
    SameShardError,
)
from henad_web.output.tables import series_header
from henad_web.output.written_spec import layout_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from henad_web.output.table_rows import KeptRows
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import RunsIndex

__all__ = ["ShardRows", "checked_shards"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShardRows:
    """One input of a merge.

    Attributes:
        reader: Where its files are read.
        manifest: Its manifest.
        kept: Its rows whose series is whole.
        runs_header: Columns of runs.csv.
        series_header: Columns of series.csv.
    """

    reader: ResultsReader
    manifest: Manifest
    kept: KeptRows
    runs_header: tuple[str, ...]
    series_header: tuple[str, ...]


def checked_shards(readers: Sequence[ResultsReader]) -> tuple[ShardRows, ...]:
    """Return the rows of each of `readers`, in the order given, once every check has passed.

    Raises:
        MergeError: They are not shards of one sweep, or a table is not what its manifest says.
        TableDamagedError: A table is damaged before its end.
        ManifestError: A manifest cannot be read.
    """
    manifests = [_manifest_of(reader) for reader in readers]
    _check_manifests(readers, manifests)
    shards = tuple(_rows_of(reader, manifest) for reader, manifest in zip(readers, manifests, strict=True))
    # A shard without a whole header says nothing of its columns.
    headers = [shard.runs_header for shard in shards if shard.runs_header]
    for reader, shard in zip(readers, shards, strict=True):
        if shard.runs_header and shard.runs_header != headers[0]:
            raise ColumnsDifferError(str(reader.path), RUNS, expected=headers[0], found=shard.runs_header)
    if not headers:
        raise MergeError(str(readers[0].path), "none of the folders has a row", instead="resume them first")
    return shards


def _manifest_of(reader: ResultsReader) -> Manifest:
    if not reader.holds(MANIFEST):
        raise NotASweepError(str(reader.path), None)
    manifest = Manifest.read(reader.read(MANIFEST), path=reader.path)
    if manifest.mode != "sweep":
        raise NotASweepError(str(reader.path), manifest.mode)
    return manifest


def _check_manifests(readers: Sequence[ResultsReader], manifests: Sequence[Manifest]) -> None:
    first = _facts(manifests[0])
    holders: dict[int, str] = {}
    for reader, manifest in zip(readers, manifests, strict=True):
        path, other = str(reader.path), str(readers[0].path)
        for field, found in _facts(manifest).items():
            if found != first[field]:
                raise PlanDiffersError(path, other, field, expected=first[field], found=found)
        index = manifest.shard.index
        if index in holders:
            raise SameShardError(path, holders[index], str(recorded_shard(manifest)))
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
    }


def _rows_of(reader: ResultsReader, manifest: Manifest) -> ShardRows:
    path, cadence = str(reader.path), cadence_of(parse_spec_document(manifest.spec))
    layout, stats = layout_of(manifest), manifest.columns.stats
    runs, series = read_indexes(reader, layout, stats, cadence)
    headers = ((RUNS, layout.header, runs.header), (SERIES, series_header(stats), series.header))
    for table, expected, found in headers:
        if found not in (None, expected):
            raise ColumnsDifferError(path, table, expected=expected, found=found or ())
    _check_rows(runs, manifest, path)
    whole, group = whole_series(runs, series, cadence, is_ended=manifest.has_ended)
    rows = np.flatnonzero(whole).astype(np.int64)
    kept, _ = kept_rows(runs, series, group, rows, runs.run_ids[rows])
    return ShardRows(
        reader=reader, manifest=manifest, kept=kept, runs_header=runs.header or (), series_header=series_header(stats)
    )


def _check_rows(runs: RunsIndex, manifest: Manifest, path: str) -> None:
    replicates, shard = manifest.plan.replicates, recorded_shard(manifest)
    run_ids = runs.config_ids * replicates + runs.reps
    strange = (run_ids != runs.run_ids) | (runs.reps >= replicates) | (run_ids >= manifest.plan.runs)
    for place in np.flatnonzero(strange)[:1].tolist():
        run_id, config_id, rep = (int(ids[place]) for ids in (runs.run_ids, runs.config_ids, runs.reps))
        raise RunIdDiffersError(path, run_id, config_id, rep)
    _refuse_first(runs.run_ids[run_ids % shard.count != shard.index], path, f"is not one of shard {shard}")
    ordered = np.sort(run_ids)
    _refuse_first(ordered[1:][ordered[1:] == ordered[:-1]], path, "is there twice")


def _refuse_first(run_ids: NDArray[np.int64], path: str, wrong: str) -> None:
    if len(run_ids):
        raise MergedRowError(path, int(run_ids[0]), wrong)
