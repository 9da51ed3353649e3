"""manifest.json: what a folder of results is, complete enough to run it again.

Owns the fields and their order (reference engine, section 9.5), so that folders of the reference engine read here; the
form of sets of run ids, for the record of who wrote which rows; and what a manifest says of its study: the spec, and
the columns its tables must have, taken as said without a model. Fills nothing in: `first_manifest` does that for a
sweep that starts.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET, UnsetType

from henad_web.errors import ManifestError, SpecError, counted
from henad_web.explore.shards import Shard
from henad_web.explore.spec_file import SpecSource, parse_spec, parse_spec_document, spec_to_toml
from henad_web.model.schema import is_id
from henad_web.output.build import BuildRecord
from henad_web.output.names import MANIFEST
from henad_web.output.run_spans import RunSpan
from henad_web.output.tables import RunsLayout

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.output.record import Counts

__all__ = [
    "AxisRanges",
    "BlockRecord",
    "ColumnsRecord",
    "ExecutionRecord",
    "FORMAT",
    "FORMAT_VERSION",
    "LimitsRecord",
    "Manifest",
    "ManifestStatus",
    "ModelRecord",
    "PlanRecord",
    "ResultsRecord",
    "RuntimeRecord",
    "SearchStanding",
    "SeedsRecord",
    "SessionRecord",
    "ShardRecord",
    "Timestamps",
    "layout_of",
    "rfc3339",
    "seed_number",
    "spec_of",
    "spec_text",
]


FORMAT = "henad-explore"
FORMAT_VERSION = 1

_LARGEST_PLAIN = 2**63 - 1

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-fA-F]{16}\Z")]
"""16 hex digits."""

Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST_PLAIN)]
"""A whole number that tables can hold."""

Positive = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST_PLAIN)]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the tables of a manifest. Fields it does not know are ignored, so that newer folders read."""


class ManifestStatus(StrEnum):
    """How far a folder has come. `INCOMPLETE` lacks runs: a device was lost, or no shard of a merge held them."""

    RUNNING = "running"
    COMPLETE = "complete"
    ABORTED = "aborted"
    FAILED = "failed"
    INCOMPLETE = "incomplete"

    @property
    def has_ended(self) -> bool:
        """Whether the last sweep into the folder came to its end, with everything it wrote durable."""
        return self not in (ManifestStatus.RUNNING, ManifestStatus.FAILED)


class ModelRecord(_Record, frozen=True):
    """The model. `schema` is its schema's document; of its promises only those it does not make are there."""

    id: str
    name: str
    backend: str
    schema_hash: Hash
    schema: dict[str, object]
    replays_exactly: bool | UnsetType = UNSET
    portable: bool | UnsetType = UNSET


class BlockRecord(_Record, frozen=True):
    """One block of the plan; the seed is None where its design draws nothing."""

    design: str
    configs: Count
    design_seed: int | str | None = None


class PlanRecord(_Record, frozen=True):
    """Size and hashes of the plan. `configs` is None for a search."""

    plan_hash: Hash
    results_fingerprint: Hash
    configs: Count | None
    replicates: Positive
    runs: Count
    blocks: tuple[BlockRecord, ...]


class SeedsRecord(_Record, frozen=True):
    """Where the seeds of the runs come from. `formula` is a text for readers."""

    root: int | str
    scheme: str
    formula: str


class ColumnsRecord(_Record, frozen=True):
    """Stat columns of series.csv and reducer columns of runs.csv; kinds of the columns of each table kept, by id."""

    stats: tuple[str, ...]
    reducers: tuple[str, ...]
    tables: dict[str, dict[str, str]] | UnsetType = UNSET

    @property
    def own_tables(self) -> dict[str, dict[str, str]]:
        """Kinds of the columns of the model's own tables, empty where none is kept."""
        return {} if self.tables is UNSET else self.tables


class ShardRecord(_Record, frozen=True):
    """The part of the plan that the folder holds."""

    index: Count
    count: Positive


class ExecutionRecord(_Record, frozen=True):
    """How the runs were executed. Sizes in bytes; `lane_kind` and `why` are what chose the lanes.

    `batch_rows` is how many replicates a lane could step together, where that was more than one.
    """

    backend: str
    concurrency: int | str
    cpu_lanes: int
    threads_per_lane: int
    gpu_tracks: int
    projected_bytes: int
    memory_budget: int | None
    gpu_memory_budget: int | None
    lane_kind: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    batch_rows: int | UnsetType = UNSET


class LimitsRecord(_Record, frozen=True):
    """Limits of a GPU device. Sizes in bytes, the last in texels a side."""

    max_buffer_size: int
    max_storage_buffer_binding_size: int
    max_texture_dimension_2d: int


class RuntimeRecord(_Record, frozen=True):
    """What a sweep ran on. The adapter's fields are None without a GPU; `target` is ``browser`` or ``native``."""

    os: str
    arch: str
    logical_cpus: int
    worker_threads: int
    adapter: str | None = None
    adapter_backend: str | None = None
    adapter_type: str | None = None
    driver: str | None = None
    limits: LimitsRecord | None = None
    python: str | None = None
    numpy: str | None = None
    target: str | None = None


class Timestamps(_Record, frozen=True):
    """Start and end, in milliseconds since 1970 and as RFC 3339 in UTC; no end while the sweep runs."""

    started_unix_ms: int
    started: str
    finished_unix_ms: int | None = None
    finished: str | None = None


class SessionRecord(_Record, frozen=True):
    """One time that somebody wrote into the folder.

    Attributes:
        started: RFC 3339 in UTC.
        commit: Commit of the engine, None when it is not known.
        skipped: Runs kept from earlier sessions.
        ran: Runs written.
        engine: Build that wrote them.
        host: Build of the program that called it, names and values of its own choice.
        model_source: Build of the model, or names and hashes of the files of its own source.
        runtime: What it ran on.
        rows: Ids of the runs it wrote; None when it did not come to say.
    """

    started: str
    commit: str | None
    skipped: Count
    ran: Count
    engine: BuildRecord | None = None
    host: dict[str, object] | None = None
    model_source: BuildRecord | str | None = None
    runtime: RuntimeRecord | None = None
    rows: tuple[RunSpan, ...] | None = None


class ResultsRecord(_Record, frozen=True):
    """Rows of runs.csv: all, those that are ok, those with a value that is not finite, failures."""

    rows: Count
    ok: Count
    non_finite: Count
    failed: Count

    @classmethod
    def of(cls, counts: Counts) -> ResultsRecord:
        """Return the record of `counts`."""
        return cls(rows=counts.rows, ok=counts.ok, non_finite=counts.non_finite, failed=counts.failed)


class AxisRanges(_Record, frozen=True):
    """Where the axes of a search for patterns begin and end."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float


class SearchStanding(_Record, frozen=True):
    """What a search is and how far it has come.

    Attributes:
        algorithm: How it chooses candidates.
        search_hash: Two searches with one hash choose the same from the same results.
        max_evaluations: Candidates in all.
        batch_size: Most candidates of a batch.
        search_seed: Seed of its draws.
        watched_columns: The reducer columns that it is told of.
        evaluations: Candidates that it was told of.
        batch_count: Batches of them.
        best_candidate_id: Who leads the ranking, None without one.
        best_objective: What that one came to, None where it is not finite.
        filled_cells: Cells that were met, None of a search for an objective.
        axis_ranges: The axes of a search for patterns, once they are known.
        front_size: Members of the first front of the last generation that is complete, of a search for several
            objectives; left out before there is one.
    """

    algorithm: str
    search_hash: Hash
    max_evaluations: Positive
    batch_size: Positive
    search_seed: int | str
    watched_columns: tuple[str, ...]
    evaluations: Count
    batch_count: Count
    best_candidate_id: Count | None = None
    best_objective: float | None = None
    filled_cells: Count | None = None
    axis_ranges: AxisRanges | None = None
    front_size: Count | UnsetType = UNSET


class Manifest(_Record, frozen=True):
    """The whole record of a folder."""

    format: str
    format_version: int
    mode: str
    status: ManifestStatus
    engine: BuildRecord
    model: ModelRecord
    spec: dict[str, object]
    spec_source: SpecSource | None
    argv: tuple[str, ...]
    plan: PlanRecord
    seeds: SeedsRecord
    columns: ColumnsRecord
    shard: ShardRecord
    execution: ExecutionRecord
    runtime: RuntimeRecord
    timestamps: Timestamps
    sessions: tuple[SessionRecord, ...]
    results: ResultsRecord | None
    merged_shards: tuple[str, ...] | None = None
    search: SearchStanding | None = None

    def __repr__(self) -> str:
        """Return the facts on one line."""
        size = f"{counted(self.plan.runs, 'run')} planned, shard {self.shard.index}/{self.shard.count}"
        sessions = counted(len(self.sessions), "session")
        return f"<Manifest of '{self.model.id}': {self.status}, {size}, {sessions}>"

    @property
    def has_ended(self) -> bool:
        """Whether its status says that the sweep came to its end."""
        return self.status.has_ended

    @property
    def is_adaptive(self) -> bool:
        """Whether its configs have as many replicates as they needed."""
        run = self.spec.get("run")
        return isinstance(run, Mapping) and isinstance(run.get("replicates"), Mapping)

    @property
    def expected_runs(self) -> int:
        """Runs of its part of the plan; of a search and with adaptive replicates the most, until it is complete."""
        if self.search is not None and self.status is ManifestStatus.COMPLETE:
            return self.search.evaluations * self.plan.replicates
        if self.is_adaptive and self.status is ManifestStatus.COMPLETE and self.results is not None:
            return self.results.rows
        together = self.plan.replicates if self.is_adaptive else 1
        return Shard(self.shard.index, self.shard.count).run_count(self.plan.runs, together=together)

    def to_bytes(self) -> bytes:
        r"""Return the file: indented by two, one line feed at its end.

        Of a path that is not UTF-8 the bytes that are none stand as ``\udcff``.
        """
        try:
            encoded = msgspec.json.encode(self)
        except UnicodeEncodeError:
            encoded = msgspec.json.encode(_encodable(msgspec.to_builtins(self)))
        return msgspec.json.format(encoded, indent=2) + b"\n"

    @classmethod
    def read(cls, data: bytes, *, path: str | None = None) -> Manifest:
        """Return the manifest that `data` holds; a byte-order mark that an editor left does not count.

        Args:
            data: Content of the file.
            path: Where the file is, for messages.

        Raises:
            ManifestError: `data` is no manifest, or one of a format that this version does not know.
        """
        data = data.removeprefix(codecs.BOM_UTF8)
        name = MANIFEST if path is None else f"{MANIFEST} of {path}"
        try:
            format = msgspec.json.decode(data, type=_Format)
            if (format.format, format.format_version) != (FORMAT, FORMAT_VERSION):
                raise ManifestError(
                    f"{name} is of format '{format.format}', version {format.format_version}; "
                    f"allowed: '{FORMAT}', version {FORMAT_VERSION}"
                )
            manifest = msgspec.json.decode(data, type=cls)
            manifest.check()
            return manifest
        except (ValueError, RecursionError) as error:
            raise ManifestError(f"{name} cannot be read: {error}; restore it from a copy") from error

    def check(self) -> None:
        """Make sure that what the fields say together can be.

        Raises:
            ValueError: It cannot.
        """
        if self.shard.index >= self.shard.count:
            raise ValueError(f"shard {self.shard.index} of {self.shard.count} does not exist")
        for id in self.columns.own_tables:
            if not is_id(id):  # it is the name of a file
                raise ValueError(f"{id!r} is no id of a table")
        for number, session in enumerate(self.sessions, start=1):
            for span in session.rows or ():
                if span.step < 1 or not 0 <= span.first <= span.last < self.plan.runs:
                    raise ValueError(f"session {number} wrote the runs {span} of a plan of {self.plan.runs} runs")


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _encodable(field) for key, field in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, (list, tuple)) else value


class _Format(_Record, frozen=True):
    format: str
    format_version: int


def seed_number(seed: int) -> int | str:
    """Return `seed`, 0 to 2^64 - 1, as JSON keeps it: past 2^63 - 1, where readers stop, as decimal text."""
    return seed if seed <= _LARGEST_PLAIN else str(seed)


def rfc3339(unix_ms: int) -> str:
    """Return the time `unix_ms` milliseconds after 1970 as ``2024-05-01T12:00:00.000Z``."""
    moment = _EPOCH + timedelta(milliseconds=unix_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def spec_of(manifest: Manifest) -> SweepSpec:
    """Return the spec of `manifest`; where its document is of another form, the text it was loaded from.

    Raises:
        SpecError: There is neither.
    """
    try:
        return parse_spec_document(manifest.spec)
    except SpecError:
        source = manifest.spec_source
        if source is None or source.toml is None or source.tables:
            raise
        return parse_spec(source.toml, name=source.path).spec


def spec_text(manifest: Manifest) -> str:
    """Return the spec of `manifest` as a spec file; where none can be read, its document as JSON."""
    try:
        return spec_to_toml(spec_of(manifest))
    except SpecError:
        return msgspec.json.encode(manifest.spec).decode()


def layout_of(manifest: Manifest) -> RunsLayout:
    """Return the columns that the tables of `manifest` have.

    Raises:
        ManifestError: Its schema lists no parameters.
    """
    params = manifest.model.schema.get("params")
    if not isinstance(params, list):
        raise ManifestError(f"{MANIFEST}: model.schema.params is not a list of parameters")
    kinds: dict[str, str] = {}
    for position, param in enumerate(params):
        if not isinstance(param, Mapping) or not isinstance(param.get("id"), str):
            raise ManifestError(f"{MANIFEST}: model.schema.params[{position}] has no id")
        kinds[param["id"]] = str(param.get("kind"))
    return RunsLayout(param_kinds=kinds, actions=_actions_of(manifest), reducers=manifest.columns.reducers)


def _actions_of(manifest: Manifest) -> tuple[str, ...] | None:
    try:
        return tuple(action.label for action in spec_of(manifest).actions)
    except SpecError:
        return None
