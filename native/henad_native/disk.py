"""Files of directory output as the file system sees them.

Owns tables that grow and notice when another program changes them, writing a new file to its last byte, renaming where
a scanner may hold a file for a moment, making names durable, and the near miss of a folder. Knows nothing of results.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from henad_web.errors import OutputError, near_miss

__all__ = [
    "TableFile",
    "check_can_be_written",
    "check_characters",
    "is_same_file",
    "near_folder",
    "rename_over",
    "sync_directory",
    "write_new",
    "writing_new",
]

_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_LINKS
_EXISTING = os.O_WRONLY | _BINARY | _NO_LINKS
_CHUNK_BYTES = 1 << 20

_HELD_ON_WINDOWS = frozenset({5, 32})
"""Refusals of a rename there while a scanner or an indexer has the file open: access denied, sharing violation."""

_RENAME_WAITS_S = tuple(0.01 * 2**attempt for attempt in range(7))


class TableFile:
    """A file that grows. Its first `_size` bytes are committed; up to `_end` there may be more."""

    def __init__(self, path: Path, size: int | None = None) -> None:
        """Make the file at `path`, or with a `size` take the one that is there and cut it."""
        self._path = path
        self._file = os.open(path, _NEW if size is None else _EXISTING, 0o666)
        self._size = self._end = size or 0
        self._is_synced = True
        if size is not None and os.fstat(self._file).st_size != size:
            self._is_synced = False
            self.take_back()
        os.lseek(self._file, self._size, os.SEEK_SET)

    def write(self, data: bytes) -> None:
        """Write `data` behind what is committed."""
        if self._end != self._size:
            self.take_back()
        self._end, self._is_synced = self._size + len(data), False
        _write_all(self._file, data)

    def commit(self) -> None:
        """Count what was written as committed."""
        self._size = self._end

    def take_back(self) -> None:
        """Cut the file to what is committed."""
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)
        self._end = self._size

    def start_over(self) -> None:
        """Make the file empty."""
        self._size = 0
        self.take_back()

    def sync(self) -> None:
        """Wait for the disk, unless nothing was written since the last time."""
        if not self._is_synced:
            os.fsync(self._file)
            self._is_synced = True

    def strangeness(self) -> str | None:
        """Return what another program has done to the file, None when it is as it was written.

        An editor that saves by renaming leaves this file open and without a name; whatever goes into it is lost.
        """
        try:
            found = os.stat(self._path, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return "is gone"
        if not is_same_file(os.fstat(self._file), found):
            return "was replaced by another file"
        return self.wrong_size()

    def wrong_size(self) -> str | None:
        """Return how the size differs from what was written, None when it does not.

        Asked before every write: one behind the end of a file that was cut would fill the hole with zeros.
        """
        size = os.fstat(self._file).st_size
        return None if self._size <= size <= self._end else f"has {size} bytes where {self._size} were written"

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def is_same_file(first: os.stat_result, second: os.stat_result) -> bool:
    """Return whether both are of one file or directory, whatever it is called now."""
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def writing_new(path: Path, chunks: Iterable[bytes]) -> Iterator[int]:
    """Write `chunks` to a file at `path` that must not exist, yield the size of each, and wait for the disk."""
    file = os.open(path, _NEW, 0o666)
    try:
        held: list[bytes] = []
        held_bytes = 0
        for chunk in chunks:
            held.append(chunk)
            held_bytes += len(chunk)
            if held_bytes >= _CHUNK_BYTES:
                _write_all(file, b"".join(held))
                held, held_bytes = [], 0
            yield len(chunk)
        _write_all(file, b"".join(held))
        os.fsync(file)
    finally:
        os.close(file)


def write_new(path: Path, chunks: Iterable[bytes]) -> None:
    """Do all of `writing_new` at once."""
    for _ in writing_new(path, chunks):
        pass


def near_folder(path: Path) -> str | None:
    """Return the folder beside `path`, which is not there, that is probably meant, in words; None when none is near."""
    try:
        return near_miss(path.name, [other.name for other in path.parent.iterdir() if other.is_dir()])
    except OSError:
        return None


def rename_over(source: Path, target: Path, wait: Callable[[float], None] = time.sleep) -> None:
    """Let `source` take the place of `target`.

    Windows refuses that while another program has the file open, as virus scanners have for moments: tried again for
    a little over a second.

    Raises:
        OSError: It is refused for another reason, or to the last.
    """
    for seconds in (*_RENAME_WAITS_S, None):
        try:
            os.replace(source, target)
        except PermissionError as error:
            if seconds is None or getattr(error, "winerror", None) not in _HELD_ON_WINDOWS:
                raise
            wait(seconds)
        else:
            return


def sync_directory(directory: Path) -> None:
    """Return once the names in `directory` would survive a loss of power; Windows neither needs nor offers that."""
    if os.name == "nt":
        return
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def check_can_be_written(directory: Path) -> None:
    """Refuse a directory in which nothing can be made, or which itself cannot be made, before anything is run.

    Raises:
        OSError: It is such a one.
    """
    nearest = directory
    while True:
        try:
            os.lstat(nearest)
            break
        except (FileNotFoundError, NotADirectoryError):
            nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))


def check_characters(path: str) -> None:
    """Refuse, with an `OutputError`, a path that no file system takes."""
    if "\0" in path:
        raise OutputError(f"the path {path!r} holds a null character; no path may", path=path)
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        wrong = "holds half of a surrogate pair, which is no character"
        raise OutputError(f"the path {path!r} {wrong}", path=ascii(path)[1:-1]) from error
