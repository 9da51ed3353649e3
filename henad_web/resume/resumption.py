"""Which plan, rows and options a sweep goes on with, from what was asked for and what is recorded.

Owns which of the two rules where both say something. The checks are `earlier`'s; nothing is written.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from henad_web.errors import ModelMismatchError
from henad_web.explore.plan import Plan
from henad_web.explore.shards import WHOLE
from henad_web.resume.kept_runs import (
    EarlierResults,
    check_model,
    read_manifest,
    recorded_shard,
    recorded_spec,
    resumable,
)

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.model.entry import ModelEntry
    from henad_web.output.store import ResultsReader
    from henad_web.run.options import SweepRunOptions

__all__ = ["Resumption", "resumption_of"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """How a sweep goes on.

    Attributes:
        plan: All its runs.
        earlier: The rows that are kept.
        options: The options given, with the shard and the spec source that hold.
    """

    plan: Plan
    earlier: EarlierResults
    options: SweepRunOptions


def resumption_of(
    entry: ModelEntry, reader: ResultsReader, options: SweepRunOptions, spec: SweepSpec | None
) -> Resumption:
    """Return how to go on with the results that `reader` reads.

    Args:
        entry: The model.
        reader: The results.
        options: What was asked for. Without a `spec`, shard and spec source are the recorded ones unless given.
        spec: What to go on with, None for the recorded spec.

    Raises:
        ResumeError: A check failed; its class says which.
        ModelMismatchError: The results or the spec are of another model.
        OutputError: A table is damaged.
        ManifestError: The manifest cannot be read.
    """
    path, manifest = str(reader.path), read_manifest(reader)
    shard, source = options.shard, options.spec_source
    if spec is None:
        spec = recorded_spec(manifest, entry, path)
        shard, source = shard or recorded_shard(manifest), source or manifest.spec_source
    check_model(manifest, entry, path)
    if spec.model != entry.id:
        raise ModelMismatchError(spec.model, entry.id)
    shard = shard or WHOLE
    plan = Plan.of(spec, entry.schema(), allow_name_clashes=True)
    earlier = resumable(reader, plan, shard, retry_failed=options.retry_failed)
    options = dataclasses.replace(options, shard=shard, spec_source=source)
    return Resumption(plan=plan, earlier=earlier, options=options)
