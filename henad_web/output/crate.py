"""ro-crate-metadata.json: what a folder of results is, told to those who know nothing of this package.

Owns the description as an RO-Crate of the Process Run Crate profile (versions below), made of the manifest and of size
and hash of each file: the same results have the same description, byte for byte. Writes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec

from henad_web.errors import ManifestError, UsageError, counted
from henad_web.model.decimals import whole_text
from henad_web.output.build import BuildRecord, files_of_source
from henad_web.output.manifest import Manifest, ManifestStatus, SessionRecord, spec_text
from henad_web.output.names import (
    ARCHIVE,
    BATCHES,
    BEST,
    CRATE,
    EVALUATIONS,
    GENERATIONS,
    MANIFEST,
    RESULT_NAMES,
    RUNS,
    SERIES,
    SUMMARY,
    TABLE_ROWS,
)
from henad_web.output.own_tables import own_files

__all__ = ["CrateFile", "crate_of", "is_unedited_crate", "with_crate"]

_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "http://schema.org/sha256"}]
_CRATE_FORM = "https://w3id.org/ro/crate/1.1"
_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"

_NO_LICENSE = "No license is stated. Ask those who made these results before you use them."
"""What stands where the form demands a license and nobody has named one."""

_ADDRESS = re.compile(r'https?://[^\s<>"{}|\\^`]+')
"""An address on the web; a text with a space behind one is words."""

_FORMATS = {".csv": "text/csv", ".json": "application/json"}

_DESCRIPTIONS: Mapping[str, str] = {
    RUNS: "One row a run: parameters, seed, how it ended, and its reducers.",
    SERIES: "The samples kept of every run: run, tick, and the statistics.",
    SUMMARY: "One row a config: means and intervals over its runs.",
    MANIFEST: "The spec, the plan, the builds and machines, and the sessions that wrote these files.",
    EVALUATIONS: "One row a candidate of the search, and what its runs came to.",
    BATCHES: "One row a batch of candidates.",
    GENERATIONS: "One row a generation of the search.",
    BEST: "The ranking of the search.",
    ARCHIVE: "The cells that the search met.",
    TABLE_ROWS: "How many rows each run has in each table of the model's own.",
}

_OWN_TABLE = "Rows that the model reported of itself: run, tick, and the columns of the table."

_COMPLETED, _FAILED = "http://schema.org/CompletedActionStatus", "http://schema.org/FailedActionStatus"

_ERRORS: Mapping[ManifestStatus, str] = {
    ManifestStatus.ABORTED: "It was aborted before all runs were written.",
    ManifestStatus.FAILED: "An error outside every run ended it.",
    ManifestStatus.INCOMPLETE: "A device was lost before all runs were written.",
}

_SEAL = re.compile(rb'"urn:sha256:([0-9a-f]{64})"')
_NO_SEAL = f"urn:sha256:{'0' * 64}"

_PIECE_BYTES = 1 << 20

_Entity = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrateFile:
    """One file of the results.

    Attributes:
        part: Its usual name, which tells what is in it.
        name: Its path in the folder, with ``/``.
        size_bytes: Its size.
        sha256: The hash of its content, 64 hex digits.
    """

    part: str
    name: str
    size_bytes: int
    sha256: str

    @classmethod
    def read(cls, part: str, name: str, stream: BinaryIO) -> CrateFile:
        """Return the facts of the file in `stream`, read a megabyte at a time."""
        digest, size = hashlib.sha256(), 0
        while piece := stream.read(_PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
        return cls(part=part, name=name, size_bytes=size, sha256=digest.hexdigest())

    @classmethod
    def of(cls, name: str, content: bytes) -> CrateFile:
        """Return the facts of a file of the usual `name`."""
        return cls(part=name, name=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def with_crate(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the `files` of a result set, content by usual name, and their description behind them.

    Where the manifest is missing or cannot be read there is nothing to describe them by, and they come alone.
    """
    described = {name: content for name, content in files.items() if name != CRATE}
    try:
        manifest = Manifest.read(described.get(MANIFEST, b""))
    except ManifestError:
        return described
    known = (*RESULT_NAMES, *(file.name for file in own_files(manifest.columns)))
    parts = [CrateFile.of(name, described[name]) for name in known if name in described]
    return {**described, CRATE: crate_of(manifest, parts)}


def crate_of(manifest: Manifest, files: Iterable[CrateFile], *, license: str | None = None) -> bytes:
    """Return the description of `files`, the results of `manifest`.

    Args:
        manifest: What they are.
        files: The files that are described, in the order in which they are listed.
        license: What they may be used for: the address of a license, or words. None says that nobody has named one.

    Raises:
        UsageError: `license` is no text, or an empty one.
    """
    if license is not None and not (isinstance(license, str) and license.strip() and license.isprintable()):
        raise UsageError(f"license is {whole_text(license)}; allowed: the address of a license, or words on one line")
    entities = _Entities()
    results = [_reference(entities.add(_file_entity(file))) for file in files]
    spec = entities.add(_spec_entity(manifest))
    sessions = manifest.sessions or (_only_session(manifest),)
    actions = [
        _reference(entities.add(_action(entities, manifest, sessions, number, spec, results)))
        for number in range(1, len(sessions) + 1)
    ]
    profile = {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{'Search' if manifest.mode == 'search' else 'Parameter study'} of {manifest.model.name}",
        "description": _description(manifest),
        "datePublished": _iso(manifest.timestamps.finished or manifest.timestamps.started),
        "license": _license(entities, license),
        "conformsTo": _reference(entities.add(profile)),
        "hasPart": _one_or_all(results),
        "mentions": _one_or_all(actions),
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": _reference(root),
        "conformsTo": {"@id": _CRATE_FORM},
        "identifier": _NO_SEAL,
    }
    return _sealed({"@context": _CONTEXT, "@graph": [descriptor, root, *entities.found]})


def is_unedited_crate(data: bytes) -> bool:
    """Return whether `data` is a description as `crate_of` made it, and nobody has changed it since."""
    seal = _SEAL.search(data)
    return seal is not None and _digest(data[: seal.start(1)] + b"0" * 64 + data[seal.end(1) :]) == seal[1].decode()


def _sealed(document: _Entity) -> bytes:
    """Return the file, which holds its own hash: made with zeros in the place of that."""
    plain = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    return plain.replace(_NO_SEAL.encode(), f"urn:sha256:{_digest(plain)}".encode(), 1)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _Entities:
    """What a description tells of, each thing once; ids are numbered in the order in which things are met."""

    def __init__(self) -> None:
        self.found: list[_Entity] = []

    def add(self, entity: _Entity) -> _Entity:
        self.found.append(entity)
        return entity

    def numbered(self, kind: str, entity: _Entity) -> _Entity:
        """Return `entity` with an id, the one that is there already where it was told of before."""
        alike = [known for known in self.found if known["@id"].startswith(f"#{kind}-")]
        for known in alike:
            if {**known, "@id": None} == {"@id": None, **entity}:
                return known
        return self.add({"@id": f"#{kind}-{len(alike) + 1}", **entity})


def _one_or_all(values: Sequence[object]) -> object:
    """Return a single value as itself, as the form has it."""
    return values[0] if len(values) == 1 else values


def _reference(entity: _Entity) -> _Entity:
    return {"@id": entity["@id"]}


def _file_entity(file: CrateFile) -> _Entity:
    # A name that is no text is one of bytes, which an address spells.
    return {
        "@id": quote(file.name.encode(errors="surrogateescape")),
        "@type": "File",
        "name": file.name.encode(errors="backslashreplace").decode(),
        "description": _DESCRIPTIONS.get(file.part, _OWN_TABLE),
        "encodingFormat": _FORMATS[file.part[file.part.rindex(".") :]],
        "contentSize": str(file.size_bytes),
        "sha256": file.sha256,
    }


def _spec_entity(manifest: Manifest) -> _Entity:
    text = spec_text(manifest)
    return {
        "@id": "#spec",
        "@type": "CreativeWork",
        "name": "Spec of the study",
        "description": f"What was run, as a spec file of {manifest.engine.name}.",
        "identifier": f"plan hash {manifest.plan.plan_hash}",
        "encodingFormat": "application/json" if text.startswith("{") else "application/toml",
        "text": text,
    }


def _license(entities: _Entities, license: str | None) -> object:
    if license is None:
        return _NO_LICENSE
    if _ADDRESS.fullmatch(license) is None:
        return license
    return _reference(entities.add({"@id": license, "@type": "CreativeWork", "name": license}))


def _only_session(manifest: Manifest) -> SessionRecord:
    """Return the session of a manifest that lists none."""
    rows = 0 if manifest.results is None else manifest.results.rows
    return SessionRecord(
        started=manifest.timestamps.started, commit=manifest.engine.commit, skipped=0, ran=rows, engine=manifest.engine
    )


def _action(
    entities: _Entities,
    manifest: Manifest,
    sessions: tuple[SessionRecord, ...],
    number: int,
    spec: _Entity,
    results: list[_Entity],
) -> _Entity:
    session = sessions[number - 1]
    software = [
        entities.numbered("software", _engine_entity(manifest, session)),
        entities.numbered("model", _model_entity(manifest, session)),
    ]
    action = {
        "@id": f"#session-{number}",
        "@type": "CreateAction",
        "name": f"Session {number} of {len(sessions)}",
        "description": _session_text(session),
        "startTime": _iso(session.started),
        "instrument": [_reference(each) for each in software],
        "object": _reference(spec),
        "result": _one_or_all(results),
    }
    return action | _end_of(manifest, session, is_last=number == len(sessions))


def _end_of(manifest: Manifest, session: SessionRecord, *, is_last: bool) -> _Entity:
    """Return what is known of the end of `session`: of those before the last, and of shards, whether it came to one.

    Those of the reference engine, which say neither machine nor rows, do not tell.
    """
    if not is_last or manifest.merged_shards is not None:
        if session.rows is None and session.runtime is not None:
            return {"actionStatus": _FAILED, "error": "It ended before it could say which runs it wrote."}
        return {}
    end = {} if manifest.timestamps.finished is None else {"endTime": _iso(manifest.timestamps.finished)}
    if manifest.status is ManifestStatus.RUNNING:
        return end
    if manifest.status is ManifestStatus.COMPLETE:
        return {**end, "actionStatus": _COMPLETED}
    return {**end, "actionStatus": _FAILED, "error": _ERRORS[manifest.status]}


def _session_text(session: SessionRecord) -> str:
    text = f"{counted(session.ran, 'run')} written, {session.skipped} kept from earlier sessions."
    if session.runtime is None:
        return text
    runtime = session.runtime
    python = "" if runtime.python is None else f", Python {runtime.python}"
    numpy = "" if runtime.numpy is None else f", numpy {runtime.numpy}"
    return f"{text} On {runtime.os} {runtime.arch}{python}{numpy}."


def _engine_entity(manifest: Manifest, session: SessionRecord) -> _Entity:
    engine = session.engine
    if engine is None:  # as a session of the reference engine
        is_same = session.commit in (None, manifest.engine.commit)
        unknown = BuildRecord(name=manifest.engine.name, version="unknown", commit=session.commit)
        engine = manifest.engine if is_same else unknown
    return {"@type": "SoftwareApplication", **_build_fields(engine)}


def _model_entity(manifest: Manifest, session: SessionRecord) -> _Entity:
    model, source = manifest.model, session.model_source
    entity: _Entity = {
        "@type": "SoftwareSourceCode",
        "name": model.name,
        "description": f"The model '{model.id}'.",
        "version": f"schema {model.schema_hash}",
    }
    if isinstance(source, BuildRecord):
        return entity | _build_fields(source) | {"name": model.name}
    return entity | _identified([f"{name} {digest}" for name, digest in files_of_source(source or "")])


def _build_fields(build: BuildRecord) -> _Entity:
    known = [("commit", build.commit), ("source hash", build.source_hash)]
    names = [f"{what} {value}" for what, value in known if value is not None]
    return {"name": build.name, "version": build.version} | _identified(names)


def _identified(names: list[str]) -> _Entity:
    return {"identifier": _one_or_all(names)} if names else {}


def _description(manifest: Manifest) -> str:
    counts, model = manifest.results, manifest.model
    if counts is None:
        return f"Runs of the model '{model.id}', status {manifest.status}."
    text = (
        f"{counted(counts.rows, 'run')} of the model '{model.id}', status {manifest.status}: {counts.ok} ok, "
        f"{counts.non_finite} with a value that is not finite, {counts.failed} failed."
    )
    shards = manifest.merged_shards
    return text if shards is None else f"{text} Merged from {counted(len(shards), 'shard')}."


def _iso(moment: str) -> str:
    """Return a time of a manifest with its offset in digits, as the profile writes it."""
    return f"{moment[:-1]}+00:00" if moment.endswith("Z") else moment
