"""Which builds and platforms wrote the rows of a folder, and what to say when they differ.

Owns the comparison of builds and of platforms. It only ever warns: no result is refused for who made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from henad_web.output.build import BuildRecord, files_of_source
from henad_web.output.manifest import Manifest, ManifestStatus, RuntimeRecord, SessionRecord
from henad_web.output.run_spans import ids_in, span_text

__all__ = [
    "BuildChanged",
    "BuildRole",
    "PlatformChanged",
    "ProvenanceWarning",
    "build_warnings",
    "merge_warnings",
    "platform_text",
    "rows_by_platform",
    "same_build",
]


class BuildRole(StrEnum):
    """Whose build a warning is about: this package's, or the model's own source."""

    ENGINE = "engine"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class BuildChanged:
    """Rows of one folder come from different builds.

    Attributes:
        role: Whose build.
        recorded: Build that wrote rows before, in words.
        current: Build that writes rows now, in words.
        between_shards: Whether the two wrote different shards of a merge.
    """

    role: BuildRole
    recorded: str
    current: str
    between_shards: bool = False

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        where = "other shards come" if self.between_shards else "earlier rows come"
        return f"{where} from another build of the {self.role}: {self.recorded}, now {self.current}"


@dataclass(frozen=True, slots=True)
class PlatformChanged:
    """Rows of one folder come from different platforms.

    Attributes:
        recorded: Platform that wrote rows before, in words.
        current: Platform that writes rows now, in words.
        portable: Whether the model, and the search, promise equal results on both.
        rows: Where one does not: the rows of each platform, ``(platform, run ids in words)``; empty otherwise.
        subject: Which does not: ``model`` or ``search``.
    """

    recorded: str
    current: str
    portable: bool
    rows: tuple[tuple[str, str], ...] = ()
    subject: str = "model"

    def __str__(self) -> str:
        """Return the warning as a sentence."""
        text = f"earlier rows come from another platform: {self.recorded}, now {self.current}"
        if self.portable:
            return f"{text}; the model is portable, so results do not depend on it"
        rows = "; ".join(f"runs {ids} from {platform}" for platform, ids in self.rows)
        text = f"{text}; the {self.subject} is not portable, so its results may differ between them"
        return f"{text}: {rows}" if rows else text


ProvenanceWarning = BuildChanged | PlatformChanged


def build_warnings(
    sessions: Sequence[SessionRecord],
    current: SessionRecord,
    *,
    status: ManifestStatus = ManifestStatus.COMPLETE,
    portable: bool = True,
    search_portable: bool = True,
    run_ids: Iterable[int] = (),
) -> tuple[ProvenanceWarning, ...]:
    """Return what to warn of when the session `current` adds rows to a folder that `sessions` wrote.

    Args:
        sessions: Recorded sessions in order. One that wrote no runs does not count, except the last of a folder left
            running or failed, which may have.
        current: The session that begins.
        status: Status of the folder as found.
        portable: Whether the model promises equal results on every platform.
        search_portable: Whether a search would choose the same candidates on every platform.
        run_ids: Ids of the rows that are kept; named by platform when either does not.
    """
    wrote = _that_wrote(sessions, status)
    warnings: list[ProvenanceWarning] = []
    for role in BuildRole:
        other = next((session for session in wrote if not _same(role, session, current)), None)
        if other is not None:
            warnings.append(BuildChanged(role, *_build_texts(role, other, current)))
    here = platform_text(current.runtime)
    elsewhere = next((text for text in map(_platform_of, wrote) if text is not None and text != here), None)
    if elsewhere is not None and here is not None:
        is_portable, subject = portable and search_portable, "search" if portable else "model"
        rows = () if is_portable else tuple(rows_by_platform(wrote, run_ids).items())
        warnings.append(PlatformChanged(elsewhere, here, is_portable, rows, subject))
    return tuple(warnings)


def merge_warnings(
    shards: Sequence[tuple[Manifest, Sequence[int]]], *, portable: bool = True
) -> tuple[ProvenanceWarning, ...]:
    """Return what to warn of when `shards`, each a manifest and its run ids, become one folder.

    One warning a role and one for the platforms at most, comparing the first shard with the first that differs.
    """
    wrote = [_that_wrote(manifest.sessions, manifest.status) for manifest, _ in shards]
    sessions = [session for group in wrote for session in group]
    warnings: list[ProvenanceWarning] = []
    for role in BuildRole:
        other = next((session for session in sessions[1:] if not _same(role, sessions[0], session)), None)
        if other is not None:
            texts = _build_texts(role, sessions[0], other)
            warnings.append(BuildChanged(role, *texts, between_shards=True))
    platforms = list(dict.fromkeys(text for text in map(_platform_of, sessions) if text is not None))
    if len(platforms) > 1:
        rows: dict[str, list[str]] = {}
        for group, (_, run_ids) in zip(wrote, shards, strict=True):
            for platform, ids in ({} if portable else rows_by_platform(group, run_ids)).items():
                rows.setdefault(platform, []).append(ids)
        joined = tuple((platform, ", ".join(ids)) for platform, ids in rows.items())
        warnings.append(PlatformChanged(platforms[0], platforms[1], portable, joined))
    return tuple(warnings)


def rows_by_platform(sessions: Sequence[SessionRecord], run_ids: Iterable[int]) -> dict[str, str]:
    """Return, for each platform that wrote some of `run_ids`, which ones, in words.

    A later session that wrote a run again is the one its row comes from. Rows that no session claims are those of the
    sessions that were killed before they could say; where these ran on several platforms, all of them are named.
    """
    writer: dict[int, str] = {}
    silent: list[str] = []
    for session in sessions:
        platform = _platform_of(session) or "an unknown platform"
        if session.rows is None:
            silent.append(platform)
        else:
            writer.update(dict.fromkeys(ids_in(session.rows), platform))
    unclaimed = " or ".join(dict.fromkeys(silent)) or "an unknown platform"
    found: dict[str, list[int]] = {}
    for run_id in run_ids:
        found.setdefault(writer.get(run_id, unclaimed), []).append(run_id)
    return {platform: span_text(ids) for platform, ids in found.items()}


def same_build(first: BuildRecord | None, second: BuildRecord | None) -> bool:
    """Return whether two records are of one build.

    Name and version agree; two clean commits are then compared by commit, anything else by the hash of the sources.
    Two builds that say neither are never the same.
    """
    if first is None or second is None or (first.name, first.version) != (second.name, second.version):
        return False
    if first.commit and second.commit and first.dirty is False and second.dirty is False:
        return first.commit == second.commit
    return first.source_hash is not None and first.source_hash == second.source_hash


def platform_text(runtime: RuntimeRecord | None) -> str | None:
    """Return what of a machine can change a result of a model that is not portable, in words; None when unknown."""
    if runtime is None:
        return None
    target = f"{runtime.target}, " if runtime.target else ""
    numpy = f", numpy {runtime.numpy}" if runtime.numpy else ""
    return f"{runtime.os} {runtime.arch} ({target}{_python_text(runtime)}{numpy})"


def _python_text(runtime: RuntimeRecord) -> str:
    # A patch of the interpreter changes no arithmetic.
    return "Python " + ".".join(runtime.python.split(".")[:2]) if runtime.python else "no Python"


def _platform_of(session: SessionRecord) -> str | None:
    return platform_text(session.runtime)


def _that_wrote(sessions: Sequence[SessionRecord], status: ManifestStatus) -> list[SessionRecord]:
    # One that did not end may have written more than it came to say.
    last = -1 if status.has_ended else len(sessions) - 1
    return [session for position, session in enumerate(sessions) if session.ran > 0 or position == last]


def _same(role: BuildRole, first: SessionRecord, second: SessionRecord) -> bool:
    if role is BuildRole.ENGINE:
        return same_build(first.engine, second.engine)
    mine, other = first.model_source, second.model_source
    # Folders written before a model's source was recorded say nothing about it.
    if mine is None or other is None:
        return True
    if isinstance(mine, BuildRecord) and isinstance(other, BuildRecord):
        return same_build(mine, other)
    if isinstance(mine, str) and isinstance(other, str):
        return not _changed_files(mine, other)
    return mine == other


def _changed_files(first: str, second: str) -> list[tuple[str, str]]:
    """Return what each of two sources of a model says of the files in which they differ.

    A file that one of them lacks says nothing: code imported only now and then. What is really new is imported by a
    file that has changed.
    """
    mine, other = files_of_source(first), files_of_source(second)
    if not mine or not other:
        return [] if first == second else [(first, second)]
    if 1 in (len(mine), len(other)):  # the module alone, and in earlier records by its last name alone
        (name, digest), (other_name, other_digest) = mine[0], other[0]
        is_same_name = name.rpartition("/")[2] == other_name.rpartition("/")[2]
        is_same = is_same_name and digest == other_digest
        return [] if is_same else [(f"{name} {digest}", f"{other_name} {other_digest}")]
    there = dict(other)
    return [(f"{name} {digest}", f"{name} {there[name]}") for name, digest in mine if there.get(name, digest) != digest]


def _build_texts(role: BuildRole, first: SessionRecord, second: SessionRecord) -> tuple[str, str]:
    """Return the builds of two sessions that differ, in words; of a model's own source only the files that changed."""
    mine, other = first.model_source, second.model_source
    if role is BuildRole.MODEL and isinstance(mine, str) and isinstance(other, str):
        changed = _changed_files(mine, other)
        return ", ".join(before for before, _ in changed), ", ".join(now for _, now in changed)
    return _build_text(role, first), _build_text(role, second)


def _build_text(role: BuildRole, session: SessionRecord) -> str:
    build: Mapping[str, object] | BuildRecord | str | None
    build = session.engine if role is BuildRole.ENGINE else session.model_source
    if not isinstance(build, BuildRecord):
        return build or "an unidentified build"
    commit = build.commit and f"commit {build.commit[:12]}{' with changes' if build.dirty else ''}"
    source = build.source_hash and f"sources {build.source_hash}"
    details = [detail for detail in (commit, source) if detail]
    return f"{build.name} {build.version} ({', '.join(details) or 'unidentified'})"
