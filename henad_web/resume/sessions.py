"""What a sweep that keeps rows writes at its start and at its end: tables in plan order, and earlier sessions.

Owns the making of tables from rows that are there, and the sessions of a manifest. Has no store written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from msgspec.structs import replace

from henad_web.output.row_copies import Places, copy_rows, copy_series
from henad_web.resume.kept_runs import cadence_of, recorded_indexes
from henad_web.output.table_rows import KeptRows, kept_rows, whole_series
from henad_web.output.manifest import Manifest, ManifestStatus, SessionRecord
from henad_web.output.names import RUNS, SERIES
from henad_web.output.spans import RunSpan, SpanBuilder, ids_in

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.resume.kept_runs import EarlierResults
    from henad_web.output.store import ResultsReader

__all__ = ["continued_manifest", "kept_tables", "ordered_rows", "plan_places"]

Tables = dict[str, Iterable[bytes]]


def plan_places(plan: Plan) -> Places:
    """Return where the runs of `plan` stand in it."""
    first_configs = tuple(block.first_config for block in plan.blocks)
    return Places(replicates=plan.replicates, first_configs=first_configs)


def kept_tables(reader: ResultsReader, kept: KeptRows, headers: tuple[bytes, bytes], places: Places | None) -> Tables:
    """Return runs.csv and series.csv, as chunks that are read when they are asked for, of the rows `kept` of `reader`.

    Args:
        reader: Where the rows stand.
        kept: The rows, in the order they are to have.
        headers: First lines of both tables.
        places: The plan whose ids they get, None to leave ids as they are.
    """
    return {
        RUNS: _table(reader, RUNS, headers[0], lambda stream: copy_rows(stream, kept, places)),
        SERIES: _table(reader, SERIES, headers[1], lambda stream: copy_series(stream, kept)),
    }


def ordered_rows(reader: ResultsReader, plan: Plan, manifest: Manifest) -> KeptRows:
    """Return the rows of the tables that `reader` reads, those of `manifest`, in the order of `plan`."""
    cadence = cadence_of(plan.spec)
    runs, series = recorded_indexes(reader, manifest, cadence)
    _, group = whole_series(runs, series, cadence)
    kept, _ = kept_rows(runs, series, group, np.arange(len(runs.run_ids)), runs.run_ids)
    return kept


def _table(
    reader: ResultsReader, name: str, header: bytes, copy: Callable[[BinaryIO], Iterator[bytes]]
) -> Iterator[bytes]:
    yield header
    if reader.holds(name):
        with reader.reader(name) as stream:
            yield from copy(stream)


def continued_manifest(manifest: Manifest, earlier: EarlierResults) -> Manifest:
    """Return the opening `manifest` of a sweep with what its own folder already says of sessions, shards and its start.

    Rows of another folder bring nothing along: that folder's sessions are not this one's.
    """
    if not earlier.is_own:
        return manifest
    before = earlier.manifest
    started = replace(
        manifest.timestamps, started=before.timestamps.started, started_unix_ms=before.timestamps.started_unix_ms
    )
    return replace(
        manifest,
        timestamps=started,
        sessions=(*_sessions_before(earlier, manifest.plan.replicates), *manifest.sessions),
        merged_shards=before.merged_shards,
    )


def _sessions_before(earlier: EarlierResults, replicates: int) -> tuple[SessionRecord, ...]:
    """Return the recorded sessions, their run ids those of the plan that goes on."""
    recorded = earlier.manifest
    sessions = list(recorded.sessions)
    if sessions and recorded.status in (ManifestStatus.RUNNING, ManifestStatus.FAILED):
        # A session that was killed or failed has of its rows those that are kept; what it said of them is not sure.
        sessions[-1] = replace(sessions[-1], ran=max(earlier.kept.counts.rows - sessions[-1].skipped, 0))
    old = recorded.plan.replicates
    if old == replicates:
        return tuple(sessions)
    return tuple(replace(session, rows=_renumbered(session.rows, old, replicates)) for session in sessions)


def _renumbered(spans: tuple[RunSpan, ...] | None, old: int, new: int) -> tuple[RunSpan, ...] | None:
    if spans is None:
        return None
    builder = SpanBuilder()
    for run_id in ids_in(spans):
        config_id, rep = divmod(run_id, old)
        builder.add(config_id * new + rep)
    return builder.spans()
