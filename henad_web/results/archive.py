"""The files of a result set as one zip, and back with checks.

Owns the archive's form: equal files give equal archives, and nothing an archive says can write outside the folder it is
unpacked into or fill a disk. Knows nothing of what is in the files and touches no file system.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, BinaryIO

from henad_web.results.errors import ArchiveError

__all__ = ["LARGEST_BYTES", "MOST_FILES", "is_archive", "members", "pack", "unpack"]

LARGEST_BYTES = 4 << 30
"""Most bytes that an archive may unpack to unless the caller says otherwise."""

MOST_FILES = 1000
"""Most files of an archive; a result set has nine."""

_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PLAIN_FILE = 0o100644 << 16
_LEVEL = 6
_PIECE_BYTES = 1 << 20
_ENCRYPTED = 0x1
_FILE_KINDS = (0, 0o100000)
"""Kinds of a member in its mode that are a file: not said, and regular."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of `files`, name to content, in their order, with one fixed time and mode for all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _FIRST_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # The default depends on the platform that writes, and the bytes must not.
            entry.create_system = _UNIX
            entry.external_attr = _PLAIN_FILE
            archive.writestr(entry, content, compresslevel=_LEVEL)
    return buffer.getvalue()


def is_archive(head: bytes) -> bool:
    """Return whether a file that starts with `head` is a zip."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def unpack(archive: bytes | BinaryIO, *, largest_bytes: int = LARGEST_BYTES) -> dict[str, bytes]:
    """Return the files of a zip, name to content.

    One folder around all files is taken off their names.

    Args:
        archive: The zip, as bytes or as a stream that can seek.
        largest_bytes: Most bytes that its files may come to.

    Raises:
        ArchiveError: It is no zip, is damaged or encrypted, has a name that leaves the folder, a name twice, a link,
            too many files or too many bytes.
    """
    return {name: b"".join(chunks) for name, chunks in members(archive, largest_bytes=largest_bytes)}


def members(archive: bytes | BinaryIO, *, largest_bytes: int = LARGEST_BYTES) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield name and content of each file of a zip, the content in pieces, after the checks of `unpack`.

    The pieces of a file must be taken before the next file is asked for.

    Raises:
        ArchiveError: As `unpack` says; before the first file for everything that the archive's list of files tells.
    """
    stream = io.BytesIO(archive) if isinstance(archive, bytes) else archive
    with _damage_told(), zipfile.ZipFile(stream) as opened:
        entries = [entry for entry in opened.infolist() if not entry.is_dir()]
        names = _checked_names(entries, largest_bytes)
        left = largest_bytes
        for entry, name in zip(entries, names, strict=True):
            with opened.open(entry) as member:
                counted = _Counted(member, name, left)
                yield name, iter(counted)
                left = counted.left


class _Counted:
    """Reads a member in pieces and stops at a limit, whatever size the archive claims."""

    def __init__(self, member: IO[bytes], name: str, left: int) -> None:
        self._read, self._name, self.left = member.read, name, left

    def __iter__(self) -> Iterator[bytes]:
        # The caller takes the pieces outside of `members`, so damage is told here once more.
        with _damage_told():
            while piece := self._read(_PIECE_BYTES):
                self.left -= len(piece)
                if self.left < 0:
                    raise ArchiveError("its files are larger than allowed", member=self._name)
                yield piece


def _checked_names(entries: list[zipfile.ZipInfo], largest_bytes: int) -> list[str]:
    if len(entries) > MOST_FILES:
        raise ArchiveError(f"{len(entries)} files, at most {MOST_FILES} are allowed")
    size = sum(entry.file_size for entry in entries)
    if size > largest_bytes:
        raise ArchiveError(f"its files come to {size} bytes, at most {largest_bytes} are allowed")
    for entry in entries:
        _check_entry(entry)
    names = _without_folder([entry.filename for entry in entries])
    seen: set[str] = set()
    for name in names:
        # Two names that differ in case are one file on some disks.
        if name.casefold() in seen:
            raise ArchiveError("it holds a name twice", member=name)
        seen.add(name.casefold())
    return names


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    # zipfile turns the separators of other systems into slashes and cuts at a NUL; the name as stored must be plain.
    stored = entry.orig_filename
    posix, windows = PurePosixPath(stored), PureWindowsPath(stored)
    if posix.is_absolute() or windows.anchor or ".." in (*posix.parts, *windows.parts) or "\0" in stored:
        raise ArchiveError("it holds a name that leaves its folder", member=name)
    if (entry.external_attr >> 16) & 0o170000 not in _FILE_KINDS:
        raise ArchiveError("it holds something that is no plain file", member=name)
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveError("it is encrypted", member=name)


def _without_folder(names: list[str]) -> list[str]:
    parts = [PurePosixPath(name).parts for name in names]
    folders = {part[0] if len(part) > 1 else None for part in parts}
    if len(folders) == 1 and None not in folders:
        parts = [part[1:] for part in parts]
    return ["/".join(part) for part in parts]


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        raise ArchiveError(f"it is no zip or is damaged: {error}") from error
