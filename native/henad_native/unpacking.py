"""A zip of results, such as the page saves, made a directory that a sweep can go on in.

Owns the order in which its files are written. The checks of an archive are `henad_web.results.archive`'s, the calls to
the file system the directory store's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from henad_native.directory import DirectoryStore
from henad_web.errors import ResultsError
from henad_web.output.manifest import Manifest
from henad_web.output.names import MANIFEST
from henad_web.results.archive import DEFAULT_LIMITS, ArchiveLimits, is_archive, members
from henad_web.results.recognition import ResultFiles, openers_of, recognise

__all__ = ["default_directory", "is_archive_file", "unpack_results"]

_HEAD_BYTES = 64


def is_archive_file(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a zip at `path`."""
    try:
        with Path(path).open("rb") as stream:
            return is_archive(stream.read(4))
    except OSError:
        return False


def default_directory(archive: str | os.PathLike[str]) -> Path:
    """Return the directory beside `archive` that is called like it, without ``.zip``."""
    path = Path(archive)
    return path.with_suffix("") if path.suffix else path.with_name(f"{path.name}-results")


def unpack_results(
    archive: str | os.PathLike[str],
    directory: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    limits: ArchiveLimits = DEFAULT_LIMITS,
) -> Path:
    """Write the result set in the zip `archive` into `directory`, under the usual names, and return the directory.

    Nothing is written before the archive is known to hold a result set; the manifest is written last, so that a
    directory with one is whole.

    Args:
        archive: The zip; other files in it are left out.
        directory: A new directory or one without results; that of `default_directory` when None.
        force: Take over a lock that a process on another host did not give back.
        limits: How much the zip may unpack to.

    Raises:
        ArchiveError: The archive is damaged or could do harm.
        MissingFileError: It holds no manifest.
        DuplicateFileError: Two of its files are the same part.
        ManifestError: Its manifest cannot be read.
        HoldsResultsError: The directory holds results already.
        OutputError: The directory cannot be written, or is being written.
    """
    where = default_directory(archive) if directory is None else Path(directory)
    found = _recognised(archive, limits)
    Manifest.read(found.read(MANIFEST), path=str(archive))
    parts = {name: part for part, name in found.sources.items()}
    store = DirectoryStore(where, force=force)
    try:
        store.open()
        try:
            for name, chunks in _members(archive, limits):
                if parts.get(name, MANIFEST) != MANIFEST:
                    store.replace(parts[name], chunks)
            store.replace(MANIFEST, [found.read(MANIFEST)])
        except BaseException:
            # A part of a result set is none; what was there before is nothing of ours.
            store.remove_results()
            raise
    finally:
        store.close()
    return where


def _recognised(archive: str | os.PathLike[str], limits: ArchiveLimits) -> ResultFiles:
    heads: dict[str, bytes] = {}
    for name, chunks in _members(archive, limits):
        head = next(chunks, b"")
        is_table = not head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
        heads[name] = head[:_HEAD_BYTES] if is_table else b"".join([head, *chunks])
    return recognise(openers_of(heads), path=str(archive))


def _members(archive: str | os.PathLike[str], limits: ArchiveLimits) -> Iterator[tuple[str, Iterator[bytes]]]:
    try:
        with Path(archive).open("rb") as stream:
            yield from members(stream, limits=limits)
    except OSError as error:
        raise ResultsError(f"{archive} cannot be read: {error.strerror or error}") from error
