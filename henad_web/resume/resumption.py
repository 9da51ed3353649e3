"""How a sweep goes on: its plan, the runs it keeps and its options, and the manifest it begins with.

Owns which of the two rules where something is asked for and something recorded, and what becomes of earlier sessions.
The checks are those of `checks`; nothing is written.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec.structs import replace

from henad_web.errors import ModelMismatchError
from henad_web.explore.plan import Plan
from henad_web.explore.shards import WHOLE
from henad_web.explore.spec_file import parse_spec_document
from henad_web.output.build import BuildRecord, files_of_source, model_source
from henad_web.output.manifest import Manifest, SessionRecord
from henad_web.output.run_spans import RunSpan, SpanBuilder, ids_in
from henad_web.resume.checks import check_mode, check_model, read_manifest, recorded_shard
from henad_web.resume.kept_runs import KeptRuns, resumed_runs
from henad_web.resume.searched_runs import searched_runs
from henad_web.run.options import check_search_options
from henad_web.search.plan import SearchPlan

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import ResultsReader
    from henad_web.run.options import SweepRunOptions
    from henad_web.search.custom import SearcherFactory

__all__ = ["Resumption", "continued_manifest", "resumption_of"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """How a sweep goes on.

    Attributes:
        plan: All its runs.
        kept: The runs that are kept.
        options: The options given, with the shard and the spec source that hold.
    """

    plan: Plan
    kept: KeptRuns
    options: SweepRunOptions


def resumption_of(
    entry: ModelEntry,
    reader: ResultsReader,
    options: SweepRunOptions,
    spec: SweepSpec | None,
    searcher: SearcherFactory | None = None,
) -> Resumption:
    """Return how to go on with the results that `reader` reads.

    Args:
        entry: The model.
        reader: The results.
        options: What was asked for. Without a `spec`, shard and spec source are the recorded ones unless given.
        spec: What to go on with, None for the recorded spec.
        searcher: What makes the searcher of a custom search.

    Raises:
        ResumeError: A check failed; its reason says which.
        UsageError: A search is asked for what it cannot have, such as a shard, or its `searcher` is wrong.
        ModelMismatchError: The results or the spec are of another model.
        OutputError: A table is damaged.
        ManifestError: The manifest cannot be read.
    """
    manifest = read_manifest(reader)
    shard, source = options.shard, options.spec_source
    if spec is not None:
        check_mode(manifest, spec, str(reader.path))
    check_model(manifest, entry, str(reader.path))
    if spec is None:
        spec = parse_spec_document(manifest.spec)
        check_mode(manifest, spec, str(reader.path))
        shard, source = shard or recorded_shard(manifest), source or manifest.spec_source
    if spec.model != entry.id:
        raise ModelMismatchError(spec.model, entry.id)
    shard = shard or WHOLE
    plan = Plan.of(spec, entry.schema(), allow_name_clashes=True)
    options = dataclasses.replace(options, shard=shard, spec_source=source)
    check_search_options(plan, options)
    if plan.search_space is None and searcher is None:
        kept = resumed_runs(reader, manifest, plan, shard, retry_failed=options.retry_failed)
    else:
        kept = searched_runs(reader, manifest, SearchPlan.over(plan, factory=searcher))
    return Resumption(plan=plan, kept=kept, options=options)


def continued_manifest(manifest: Manifest, kept: KeptRuns, entry: ModelEntry) -> Manifest:
    """Return the first `manifest` of a sweep with what is recorded with the runs it keeps.

    Its own folder says when the sweep was started, and of which sessions and shards it is. Other results bring nothing
    of that along: their sessions are not this sweep's. The files of the model that a session recorded are read now.
    """
    before, (*_, session) = kept.manifest, manifest.sessions
    if not isinstance(session.model_source, BuildRecord):
        names = [name for earlier in before.sessions for name in _file_names(earlier.model_source)]
        session = replace(session, model_source=model_source(entry, session.model_source, names))
    if not kept.tables.is_own:
        return replace(manifest, sessions=(session,))
    started = replace(
        manifest.timestamps, started=before.timestamps.started, started_unix_ms=before.timestamps.started_unix_ms
    )
    return replace(
        manifest,
        timestamps=started,
        sessions=(*_sessions_before(kept, manifest.plan.replicates), session),
        merged_shards=before.merged_shards,
        search=before.search,
    )


def _file_names(source: BuildRecord | str | None) -> list[str]:
    return [name for name, _ in files_of_source(source)] if isinstance(source, str) else []


def _sessions_before(kept: KeptRuns, replicates: int) -> tuple[SessionRecord, ...]:
    """Return the recorded sessions, their run ids those of the plan that goes on."""
    recorded = kept.manifest
    sessions = list(recorded.sessions)
    if sessions and not recorded.has_ended:
        # A session that was killed or failed has of its rows those that are kept; what it said of them is not sure.
        sessions[-1] = replace(sessions[-1], ran=max(kept.count - sessions[-1].skipped, 0))
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
