"""The files of a result set as one zip, and back with checks.

Owns the archive's form and its limits: equal files give equal archives, and nothing an archive says can write outside
the folder it is unpacked into, fill a disk or take memory without end. Touches no file system.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, BinaryIO

from henad_web.results.errors import ArchiveError
from henad_web.results.recognition import HEAD_BYTES, may_be_part

__all__ = ["DEFAULT_LIMITS", "ArchiveLimits", "is_archive", "members", "pack", "unpack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """What an archive may unpack to. Only members that look like a part of a result set count; others are skipped.

    Attributes:
        total_bytes: Most bytes that its files may come to.
        ratio: Most bytes that its files may come to for each byte of the archive. Tables of results come to 5 to 100,
            the worst that deflate can do is 1032.
        free_bytes: Bytes for which the ratio is not asked.
        files: Most members, skipped ones included; a result set has nine.
    """

    total_bytes: int = 4 << 30
    ratio: int = 300
    free_bytes: int = 64 << 20
    files: int = 1000

    def check(self, archive_bytes: int, files: int, size: int) -> None:
        """Make sure that an archive of `archive_bytes` may have so many `files` that come to `size` bytes.

        Raises:
            ArchiveError: They are too many, or come to too much.
        """
        if files > self.files:
            raise ArchiveError(f"{files} files, at most {self.files} are allowed")
        most = min(self.total_bytes, max(self.free_bytes, self.ratio * archive_bytes))
        if size > most:
            why = "" if most == self.total_bytes else f", {self.ratio} for each byte of the archive"
            raise ArchiveError(f"its files come to {size} bytes, at most {most} are allowed{why}")


DEFAULT_LIMITS = ArchiveLimits()

_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PLAIN_FILE = 0o100644 << 16
_LEVEL = 6
_PIECE_BYTES = 1 << 20
_ENCRYPTED = 0x1
_FILE_KINDS = (0, 0o100000)
"""Kinds of a member in its mode that are a file: not said, and regular."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of packing that every platform unpacks, in memory that does not grow with what a member says."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of `files`, name to content, in their order, with one fixed time and mode for all.

    Raises:
        ArchiveError: A name holds what no text encodes, such as a file name of a system that is not UTF-8.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            try:
                name.encode()
            except UnicodeEncodeError as error:
                raise ArchiveError("a name in it is no UTF-8", member=ascii(name)) from error
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


def unpack(archive: bytes | BinaryIO, *, limits: ArchiveLimits = DEFAULT_LIMITS) -> dict[str, bytes]:
    """Return those files of a zip that may be a part of a result set, name to content.

    One folder around all files is taken off their names.

    Args:
        archive: The zip, as bytes or as a stream that can seek.
        limits: How much it may unpack to.

    Raises:
        ArchiveError: It is no zip, is damaged or encrypted, is packed in a way that not every platform knows, has a
            name that leaves the folder, a name twice or none, a link, too many files or too many bytes.
    """
    files = {}
    for name, pieces in members(archive, limits=limits):
        content = io.BytesIO()
        content.writelines(pieces)
        files[name] = content.getvalue()
    return files


def members(
    archive: bytes | BinaryIO, *, limits: ArchiveLimits = DEFAULT_LIMITS
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield name and content of each file of a zip that may be a part of a result set, the content in pieces.

    Of any other file no more than its first bytes is read. The pieces of a file must be taken before the next file is
    asked for.

    Raises:
        ArchiveError: As `unpack` says; before the first file for everything that the archive's list of files tells.
    """
    stream = io.BytesIO(archive) if isinstance(archive, bytes) else archive
    archive_bytes = stream.seek(0, io.SEEK_END)
    with _damage_told(), zipfile.ZipFile(stream) as opened:
        listed = [entry for entry in opened.infolist() if not entry.filename.endswith("/")]
        limits.check(archive_bytes, len(listed), 0)
        entries = _checked_entries(listed)
        parts = {name: entry for name, entry in entries.items() if may_be_part(name, _head_of(opened, entry))}
        limits.check(archive_bytes, len(parts), sum(entry.file_size for entry in parts.values()))
        for name, entry in parts.items():
            with opened.open(entry) as member:
                yield name, _pieces(member)


def _head_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as member:
        return member.read(HEAD_BYTES)


def _pieces(member: IO[bytes]) -> Iterator[bytes]:
    # A member gives no more bytes than the list of files says, and is damaged when it holds more. The caller takes the
    # pieces outside of `members`, so damage is told here once more.
    with _damage_told():
        while piece := member.read(_PIECE_BYTES):
            yield piece


def _checked_entries(entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Return the files of an archive by name, one folder around all of them taken off, once each is harmless."""
    for entry in entries:
        _check_entry(entry)
    names = _without_folder([entry.filename for entry in entries])
    seen: set[str] = set()
    for name in names:
        # Two names that differ in case are one file on some disks.
        if name.casefold() in seen:
            raise ArchiveError("it holds a name twice", member=name)
        seen.add(name.casefold())
    return dict(zip(names, entries, strict=True))


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    # zipfile turns the separators of other systems into slashes and cuts at a NUL; the name as stored must be plain.
    stored = entry.orig_filename
    posix, windows = PurePosixPath(stored), PureWindowsPath(stored)
    if not posix.parts:
        raise ArchiveError("it holds a file without a name", member=stored)
    if posix.is_absolute() or windows.anchor or ".." in (*posix.parts, *windows.parts) or "\0" in stored:
        raise ArchiveError("it holds a name that leaves its folder", member=name)
    if (entry.external_attr >> 16) & 0o170000 not in _FILE_KINDS:
        raise ArchiveError("it holds something that is no plain file", member=name)
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveError("it is encrypted", member=name)
    if entry.compress_type not in _METHODS:
        wrong = f"it is packed by method {entry.compress_type}; allowed: stored (0) or deflate (8)"
        raise ArchiveError(wrong, member=name)


def _without_folder(names: list[str]) -> list[str]:
    parts = [PurePosixPath(name).parts for name in names]
    folders = {part[0] if len(part) > 1 else None for part in parts}
    if len(folders) == 1 and None not in folders:
        parts = [part[1:] for part in parts]
    return ["/".join(part) for part in parts]


_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OverflowError)
"""What unpacking raises of bytes that are no zip; RuntimeError holds NotImplementedError, ValueError Unicode's."""


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise ArchiveError(f"it is no zip or is damaged: {error}") from error
