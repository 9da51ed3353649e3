"""Which file of a result set is which, told by content: names are free, since browsers and people rename.

Owns the recognition and the rule that a part is there once. Reads no further than a header line, the manifest apart.
Names count for the model's own tables alone, which stand in a folder of theirs.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

import msgspec

from henad_web.errors import ManifestError, TableDamagedError
from henad_web.explore.columns import (
    ARCHIVE_LEADING,
    BATCH_LEADING,
    BEST_LEADING,
    EVALUATION_LEADING,
    FRONT_GENERATION_LEADING,
    GENERATION,
    LEADING,
    SERIES_LEADING,
    SUMMARY_LEADING,
)
from henad_web.output.manifest import FORMAT, ColumnsRecord, Manifest
from henad_web.output.names import (
    ARCHIVE,
    BATCHES,
    BEST,
    EVALUATIONS,
    GENERATIONS,
    MANIFEST,
    RESULT_NAMES,
    RUNS,
    SERIES,
    SUMMARY,
    TABLES,
)
from henad_web.output.own_tables import own_files
from henad_web.output.records import RecordReader
from henad_web.output.store import checked_files
from henad_web.output.tables import series_header
from henad_web.results.errors import DuplicateFileError, MissingFileError

__all__ = ["Opener", "HEAD_BYTES", "ResultFiles", "may_be_part", "openers_of", "recognise", "usual_names"]

Opener = Callable[[], BinaryIO]
"""Opens one file from its start; the caller closes it."""

REQUIRED = (MANIFEST, RUNS)
"""Parts of every result set, but for the table of runs of one whose writer died before it made it."""

HEAD_BYTES = 64
"""Bytes at the start of a file that tell which part it may be."""

_KNOWN_BY_NAME = (RUNS, SERIES)
"""Parts that a file of this name is whatever its header, where nothing else is: its reader tells what is wrong."""

_FIRST_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (RUNS, LEADING[:2]),
    (SERIES, SERIES_LEADING),
    (SUMMARY, SUMMARY_LEADING),
    (EVALUATIONS, EVALUATION_LEADING[:2]),
    (BATCHES, BATCH_LEADING[:2]),
    (GENERATIONS, GENERATION[:2]),
    (GENERATIONS, FRONT_GENERATION_LEADING[:2]),
    (BEST, BEST_LEADING),
    (ARCHIVE, ARCHIVE_LEADING[:2]),
)
"""How each table's header begins, one way or another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFiles:
    """The parts of one result set.

    Attributes:
        parts: Opener of each part by its usual name; always that of the manifest.
        sources: Name of the file that each part is.
        ignored: Names of files that are no part.
        names: Names of all files.
        path: Directory or archive they come from, None for memory.
    """

    parts: Mapping[str, Opener]
    sources: Mapping[str, str]
    ignored: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    path: str | None = None

    def check_runs(self) -> None:
        """Make sure that there is a table of runs.

        Raises:
            MissingFileError: There is none.
        """
        if RUNS not in self.parts:
            raise MissingFileError([RUNS], self.names, self.path)

    def read(self, part: str) -> bytes:
        """Return the whole content of `part`."""
        with self.parts[part]() as stream:
            return stream.read()


def openers_of(files: Mapping[str, bytes]) -> dict[str, Opener]:
    """Return openers of `files`, name to content.

    Raises:
        UsageError: `files` is something else.
    """
    return {name: _opener(content) for name, content in checked_files(files).items()}


def _opener(content: bytes) -> Opener:
    return lambda: io.BytesIO(content)


def usual_names(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the parts of the result set in `files`, content by usual name; whatever else is there is left out.

    Raises:
        DuplicateFileError: Two files are the same part.
        MissingFileError: There is no manifest.
    """
    found = recognise(openers_of(files))
    own = sorted(part for part in found.parts if part not in RESULT_NAMES)
    return {part: found.read(part) for part in (*RESULT_NAMES, *own) if part in found.parts}


def recognise(files: Mapping[str, Opener], *, path: str | None = None, prefer_names: bool = False) -> ResultFiles:
    """Return which of `files` is which part.

    Args:
        files: Opener of each file by name.
        path: Where they come from, for messages and the result.
        prefer_names: Whether, of several files that could be one part, the one with its usual name is it: so in a
            directory, where a copy may lie beside it.

    Raises:
        DuplicateFileError: Two files are the same part.
        MissingFileError: There is no manifest.
    """
    candidates: dict[str, list[str]] = {}
    undecided: list[tuple[str, tuple[str, ...]]] = []
    for name, opener in files.items():
        if _own_name(name) is not None:
            continue
        kinds = _kinds(name, opener)
        if len(kinds) == 1:
            candidates.setdefault(kinds[0], []).append(name)
        elif kinds:
            undecided.append((name, kinds))
    named_only = [(name, (PurePath(name).name,)) for name in files if _is_known_by_name(name)]
    for name, kinds in (*undecided, *named_only):
        # The torn start of a header says little; a part that is still missing is what it must be.
        missing = [kind for kind in kinds if kind not in candidates]
        named = [kind for kind in missing if kind == PurePath(name).name]
        if named or missing:
            candidates.setdefault((named or missing)[0], []).append(name)
    _set_own_tables_apart(files, candidates)
    chosen = {part: _only(part, names, prefer_names=prefer_names) for part, names in candidates.items()}
    if MANIFEST not in chosen:
        raise MissingFileError([part for part in REQUIRED if part not in chosen], sorted(files), path)
    ignored = tuple(name for name in files if name not in chosen.values())
    parts = {part: files[name] for part, name in chosen.items()}
    return ResultFiles(parts=parts, sources=chosen, ignored=ignored, names=tuple(sorted(files)), path=path)


def _own_name(name: str) -> str | None:
    """Return the usual name of a file in the folder of the model's own tables, None for a file elsewhere."""
    path = PurePath(name)
    return f"{TABLES}/{path.name}" if path.parent.name == TABLES else None


def _set_own_tables_apart(files: Mapping[str, Opener], candidates: dict[str, list[str]]) -> None:
    """Find the model's own tables that the manifest lists, by their folder or, in none, by their whole header.

    They begin as series.csv does.
    """
    manifests = candidates.get(MANIFEST, [])
    columns = _listed_columns(files[manifests[0]]) if len(manifests) == 1 else None
    own = () if columns is None else own_files(columns)
    if columns is None or not own:
        return
    known = {file.name for file in own}
    for name in files:
        usual = _own_name(name)
        if usual in known:
            candidates.setdefault(usual, []).append(name)
    for name in list(candidates.get(SERIES, ())):
        header = _header_of(name, files[name])
        alike = [file.name for file in own if file.header == header]
        named = [part for part in alike if PurePath(part).name == PurePath(name).name]
        if named or (alike and header != series_header(columns.stats)):
            candidates[SERIES].remove(name)
            free = [part for part in alike if part not in candidates]
            candidates.setdefault((named or free or alike)[0], []).append(name)
    if not candidates.get(SERIES, [SERIES]):
        del candidates[SERIES]


def _listed_columns(manifest: Opener) -> ColumnsRecord | None:
    with manifest() as stream:
        try:
            return Manifest.read(stream.read()).columns
        except ManifestError:  # whoever reads it tells what is wrong
            return None


def _header_of(name: str, opener: Opener) -> tuple[str, ...]:
    with opener() as stream:
        try:
            first = next(iter(RecordReader(stream, name)), None)
            return () if first is None else tuple(first.fields)
        except TableDamagedError:
            return ()


def _only(part: str, names: list[str], *, prefer_names: bool) -> str:
    if len(names) == 1:
        return names[0]
    if prefer_names and part in names:
        return part
    raise DuplicateFileError(part, names)


def may_be_part(name: str, head: bytes) -> bool:
    """Return whether a file called `name` that starts with `head`, its first `HEAD_BYTES`, may be a part."""
    return _is_json(head) or bool(_table_kinds(name, head)) or _is_known_by_name(name)


def _is_known_by_name(name: str) -> bool:
    return PurePath(name).name in _KNOWN_BY_NAME


def _is_json(head: bytes) -> bool:
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def _kinds(name: str, opener: Opener) -> tuple[str, ...]:
    with opener() as stream:
        head = stream.read(HEAD_BYTES)
        if _is_json(head):
            return _json_kinds(name, head.removeprefix(codecs.BOM_UTF8) + stream.read())
    return _table_kinds(name, head)


def _table_kinds(name: str, head: bytes) -> tuple[str, ...]:
    head = head.removeprefix(codecs.BOM_UTF8)
    usual = PurePath(name).name
    if not head:
        return (usual,) if usual in RESULT_NAMES else ()
    line, newline, _ = head.partition(b"\n")
    # Names of columns that begin a header are plain words, so that quotes around them can be taken off unread.
    line = line.rstrip(b"\r").replace(b'"', b"")
    whole = bool(newline) or len(head) + len(codecs.BOM_UTF8) >= HEAD_BYTES
    begins = [(part, ",".join(names).encode()) for part, names in _FIRST_NAMES]
    starts = tuple(part for part, begin in begins if (line + b",").startswith(begin + b","))
    if starts:
        return starts
    if usual == MANIFEST:  # whatever is wrong in it, it is what its name says
        return (MANIFEST,)
    if whole:
        # A table of series whose tick column was renamed is one with a wrong header.
        return (SERIES,) if line.startswith(f"{SERIES_LEADING[0]},".encode()) else ()
    torn = tuple(dict.fromkeys(part for part, begin in begins if begin.startswith(line.rstrip(b","))))
    return (usual,) if usual in torn else torn


def _json_kinds(name: str, content: bytes) -> tuple[str, ...]:
    try:
        document = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return (MANIFEST,) if PurePath(name).name == MANIFEST else ()
    is_ours = isinstance(document, dict) and document.get("format") == FORMAT
    return (MANIFEST,) if is_ours or PurePath(name).name == MANIFEST else ()
