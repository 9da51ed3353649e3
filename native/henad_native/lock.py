"""The lock of a directory of results: one writer at a time.

Owns ``.lock``. The operating system's lock on it decides whether a writer lives; its text says who that is or
was, and stays after the writer has gone. Knows nothing of what else is in the directory.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from henad_web.errors import LockedError
from henad_web.output.manifest import rfc3339
from henad_web.output.names import LOCK

__all__ = ["DirectoryLock", "LockHolder"]

_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK})
_LARGEST_TEXT = 65536


class LockHolder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds or held a lock.

    Attributes:
        pid: Process id on its host.
        host: Name of the host.
        started: When it took the lock, RFC 3339 in UTC.
        released: When it gave the lock back, None while it has not.
    """

    pid: int
    host: str
    started: str
    released: str | None = None

    def __str__(self) -> str:
        """Return the holder in words."""
        return f"process {self.pid} on {self.host} since {self.started}"


class DirectoryLock:
    """The lock of `directory`, not taken yet.

    Args:
        directory: Directory of the results; it must exist to be locked.
        wall_clock: Seconds since 1970.
        force: Take over a lock that a process on another host did not release.
    """

    def __init__(self, directory: Path, wall_clock: Callable[[], float], *, force: bool = False) -> None:
        self._directory, self._wall_clock, self._force = directory, wall_clock, force
        self._lock: FileLock | None = None
        self._file: int | None = None
        self._me: LockHolder | None = None
        self._previous: LockHolder | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._me is not None

    def check(self) -> None:
        """Make sure the lock could be taken, changing nothing on the disk.

        Raises:
            LockedError: Somebody holds it, or held it on another host and did not release it.
        """
        if not self._path.is_file():
            return
        if not os.access(self._path, os.W_OK):
            # Nobody can take a lock that may not be written: its text is all there is to go by.
            holder = _holder_in(_read(self._path))
            if holder is not None and holder.released is None and not self._force:
                raise LockedError(str(self._directory), str(holder))
            return
        probe = self._new_lock(None)
        if self._acquire(probe):
            probe.release()
        self._refuse_other_host(_holder_in(_read(self._path)))

    def acquire(self) -> LockHolder | None:
        """Take the lock.

        Returns:
            The writer that died on this host without giving it back, None when there was none.

        Raises:
            LockedError: Somebody holds it, or held it on another host and did not release it.
            OSError: The lock file cannot be made or written.
        """
        lock = self._new_lock(self._take)
        if not self._acquire(lock):
            self._take(None)
        self._lock = lock
        return self._previous

    def release(self) -> None:
        """Give the lock back and say so in its file. Does nothing when it is not held."""
        if self._me is None:
            return
        me, self._me = self._me, None
        with suppress(OSError):  # the words are for people; the lock itself is what counts
            self._write(msgspec.structs.replace(me, released=self._now()))
        if self._lock is not None:
            self._lock.release()
        self._lock = self._file = None

    @property
    def _path(self) -> Path:
        return self._directory / LOCK

    def _new_lock(self, on_acquired: Callable[[int], None] | None) -> FileLock:
        # Another thread than the one that took the lock may have to give it back.
        return FileLock(self._path, timeout=0, thread_local=False, preserve_lock_file=True, on_acquired=on_acquired)

    def _acquire(self, lock: FileLock) -> bool:
        """Acquire `lock`; return whether the file system has locks at all."""
        try:
            lock.acquire()
        except Timeout:
            holder = _holder_in(_read(self._path))
            raise LockedError(str(self._directory), str(holder or "another process")) from None
        except NotImplementedError:
            return False
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            return False
        return True

    def _take(self, file: int | None) -> None:
        self._file = file
        previous = _holder_in(_read(self._path) if file is None else os.read(file, _LARGEST_TEXT))
        self._refuse_other_host(previous)
        self._previous = previous if previous is not None and previous.released is None else None
        me = LockHolder(pid=os.getpid(), host=socket.gethostname(), started=self._now())
        self._write(me)
        self._me = me

    def _refuse_other_host(self, holder: LockHolder | None) -> None:
        if holder is None or holder.released is not None or self._force:
            return
        if holder.host != socket.gethostname():
            whose = f"{holder}, which never gave it back (--force takes it over)"
            raise LockedError(str(self._directory), whose)

    def _write(self, holder: LockHolder) -> None:
        text = msgspec.json.encode(holder) + b"\n"
        if self._file is None:
            self._path.write_bytes(text)
            return
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, text)

    def _now(self) -> str:
        return rfc3339(int(self._wall_clock() * 1000))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # Windows refuses to read what another process has locked
        return b""


def _holder_in(text: bytes) -> LockHolder | None:
    try:
        return msgspec.json.decode(text, type=LockHolder)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
