"""The few calls to the file system that more than one part of directory output makes.

Owns writing a new file to its last byte, renaming where a scanner may hold a file for a moment, and making names
durable. Knows nothing of results.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["BINARY", "NO_LINKS", "rename_over", "sync_directory", "write_all", "write_new"]

BINARY = getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY | NO_LINKS
_CHUNK_BYTES = 1 << 20

_HELD_ON_WINDOWS = frozenset({5, 32})
"""Refusals of a rename there while a scanner or an indexer has the file open: access denied, sharing violation."""

_RENAME_WAITS_S = tuple(0.01 * 2**attempt for attempt in range(7))


def write_all(file: int, data: bytes) -> None:
    """Write all of `data` to `file`, in as many pieces as it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def write_new(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to a file at `path` that must not exist, and wait for the disk."""
    file = os.open(path, _NEW, 0o666)
    try:
        held: list[bytes] = []
        held_bytes = 0
        for chunk in chunks:
            held.append(chunk)
            held_bytes += len(chunk)
            if held_bytes >= _CHUNK_BYTES:
                write_all(file, b"".join(held))
                held, held_bytes = [], 0
        write_all(file, b"".join(held))
        os.fsync(file)
    finally:
        os.close(file)


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
