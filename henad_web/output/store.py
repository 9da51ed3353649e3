"""Where the bytes of the files go: what a caller asks for, and the seam between a sweep's output and a target.

Owns both and the store in memory. Knows nothing of what the bytes mean, or of any file system.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from henad_web.errors import UsageError
from henad_web.model.decimals import whole_text
from henad_web.output.names import RESULT_NAMES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "DirectoryOutput",
    "FileStore",
    "MemoryOutput",
    "MemoryStore",
    "OutputPlace",
    "ResultsReader",
    "Stamp",
    "checked_files",
    "checked_output",
]


@dataclass(frozen=True, slots=True)
class MemoryOutput:
    """Keep the files in memory; the record of the sweep carries them."""


@dataclass(frozen=True, slots=True)
class DirectoryOutput:
    """Write the files into the directory `path`, made if it is missing. It must hold no results yet.

    With `overwrite` it may hold those of another sweep. They stay as they are until the new one has its first row, and
    give way to it then all at once; a sweep that never has one leaves them, and its record carries its files. Other
    files stay in any case.

    Raises:
        UsageError: `path` is no path, or an empty one.
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    overwrite: bool = False

    def __post_init__(self) -> None:
        """Refuse what no file system could take for a path."""
        checked_path(self.path, "the path of DirectoryOutput")


def checked_path(path: object, what: str) -> str | os.PathLike[str]:
    """Return `path` where a call takes one; messages call it `what`.

    Raises:
        UsageError: It is no path, or an empty one.
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(path, (str, os.PathLike)) or not isinstance(text, str):
        raise UsageError(f"{what} is {whole_text(path)}; allowed: text or a pathlib.Path")
    if not text:
        raise UsageError(f"{what} is empty; name a folder, '.' for the one you are in")
    return path


OutputPlace = MemoryOutput | DirectoryOutput


def checked_output(output: object) -> OutputPlace:
    """Return what `output` asks for, memory when None.

    Raises:
        UsageError: It is something else, such as a bare path, whose results would not go where it says.
    """
    if output is None:
        return MemoryOutput()
    if isinstance(output, (MemoryOutput, DirectoryOutput)):
        return output
    instead = f"DirectoryOutput({output!r})" if isinstance(output, (str, os.PathLike)) else "MemoryOutput()"
    raise UsageError(f"output is {whole_text(output)}; allowed: MemoryOutput() or DirectoryOutput(path); use {instead}")


def checked_files(files: object) -> dict[str, bytes]:
    """Return `files`, content by name, as a dict of its own.

    Raises:
        UsageError: It is something else, such as the path of a folder.
    """
    allowed = "allowed: a mapping of names to bytes, such as the `files` of a record"
    if not isinstance(files, Mapping):
        instead = "; a folder or a zip is opened by ResultSet.open" if isinstance(files, (str, os.PathLike)) else ""
        raise UsageError(f"the files of results are {_shown(files)}; {allowed}{instead}")
    for name, content in files.items():
        if not isinstance(name, str) or not isinstance(content, (bytes, bytearray, memoryview)):
            raise UsageError(f"the file {_shown(name)} of results holds {_shown(content)}; {allowed}")
    return {name: bytes(content) for name, content in files.items()}


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) and len(value) <= _SHOWN_LENGTH else f"a {type(value).__name__}"


_SHOWN_LENGTH = 80


class _ToldFile(io.RawIOBase):
    """A file whose every read that fails is told as its opening would be: a disk may break in the middle."""

    def __init__(self, path: Path, told: Callable[[], AbstractContextManager[None]]) -> None:
        self._path, self._told = path, told
        self._file = path.open("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        with self._told(), self._named():
            return self._file.readinto(buffer)

    def readall(self) -> bytes:
        with self._told(), self._named():
            return self._file.readall()

    def close(self) -> None:
        self._file.close()
        super().close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # of a read, the system says no name
            error.filename = str(self._path)
            raise


def opened_to_read(path: Path, told: Callable[[], AbstractContextManager[None]]) -> BinaryIO:
    """Return the file at `path`, opened to be read, where a block of `told` maps the errors of the system."""
    with told():
        return io.BufferedReader(_ToldFile(path, told))


Stamp = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of each file of results: a change of any shows that somebody wrote."""


class ResultsReader(Protocol):
    """Results that are there, to be read. While tables are being replaced, the new ones are read."""

    @property
    def path(self) -> str | None:
        """The directory, None in memory."""

    def holds(self, name: str) -> bool:
        """Return whether there is a file `name`."""

    def read(self, name: str) -> bytes:
        """Return the content of the file `name` as last flushed or replaced."""

    def reader(self, name: str) -> BinaryIO:
        """Return the same content as a stream, which the caller closes."""

    def stamp(self) -> Stamp:
        """Return the state of the files."""


class FileStore(ResultsReader, Protocol):
    """A place for named files, some of which grow.

    The rules every store keeps:

    - `flush` is all or nothing: when it fails, every table holds what the last successful one left, and what
      was appended since is forgotten.
    - `replace` is all or nothing: a reader finds the old file or the new one.
    - So is `rewrite`, for several tables at once.
    - Every method may be called again after it raised `OutputFullError`, and then does what it would have
      done.
    - Any other failure of the place is an `OutputError` with its cause chained.
    """

    def check_free(self) -> None:
        """Touch nothing, and make sure that a new sweep may write here.

        Raises:
            HoldsResultsError: There are results already.
            LockedError: Another writer is at work.
        """

    def check_own_files(self, names: Iterable[str]) -> None:
        """Touch nothing, and make sure that files of a model's own tables may be called `names` here.

        Raises:
            OutputError: Something else has the place of one.
        """

    def open(self) -> tuple[str, ...]:
        """Take the place for this writer alone, after the checks of `check_free`.

        Returns:
            Lines about what was found and dealt with, for the user.
        """

    def check_existing(self) -> None:
        """Touch nothing, and make sure that results which are there may be gone on with.

        Raises:
            LockedError: Another writer is at work.
            OutputError: There is no such place, or a table is a link.
        """

    def open_existing(self, stamp: Stamp) -> tuple[str, ...]:
        """Take the place with the results in it for this writer alone, after the checks of `check_existing`.

        A replacement of tables that was cut is finished, or given up where it had not begun.

        Args:
            stamp: State of the files as they were read.

        Returns:
            Lines about what was found and dealt with, for the user.

        Raises:
            ResumeError: Somebody has written since (`ResumeReason.FOLDER_CHANGED`).
        """

    def create(self, name: str, header: bytes) -> None:
        """Start the table `name` with `header`."""

    def adopt(self, name: str, size: int) -> None:
        """Go on with the table `name` that is there, cut to its first `size` bytes."""

    def rewriting(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Do what `rewrite` does, and yield the size of each chunk; the tables are replaced behind the last."""

    def rewrite(self, tables: Mapping[str, Iterable[bytes]]) -> None:
        """Make the chunks of each of `tables`, joined, its whole content, and go on with them.

        The chunks may be read from the tables that are replaced.
        """

    def append(self, name: str, data: bytes) -> None:
        """Add `data`, whole records, to the table `name` at the next `flush`."""

    def flush(self) -> None:
        """Hand all appended bytes to the operating system, table by table in the order first appended to."""

    def sync(self) -> None:
        """Return once everything written so far would survive a loss of power, after `check_tables`."""

    def check_tables(self) -> None:
        """Make sure that the tables are as they were written.

        Raises:
            TableChangedError: Another program has changed them.
        """

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        """Do what `replace` does, and yield the size of each chunk; the file is replaced behind the last."""

    def replace(self, name: str, chunks: Iterable[bytes]) -> None:
        """Make `chunks`, joined, the whole content of the file `name`."""

    def remove_results(self) -> None:
        """Take back all that was written here."""

    def files(self) -> dict[str, bytes] | None:
        """Return every file by name in the order of a record, None where they are on a disk."""

    def close(self) -> None:
        """Give the place back. Nothing may be called afterwards but `files` and `close`."""


class MemoryStore:
    """Files in memory.

    Args:
        files: Content by name of results that are there already.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = {name: bytearray(content) for name, content in (files or {}).items()}
        self._appended: dict[str, list[bytes]] = {}

    @property
    def path(self) -> None:
        """None: there is no directory."""
        return None

    def check_free(self) -> None:
        """Do nothing: memory of its own is always free."""

    def check_own_files(self, names: Iterable[str]) -> None:
        """Do nothing: whatever is in this memory is of results."""

    def open(self) -> tuple[str, ...]:
        """Return no lines: there is nothing to be found."""
        return ()

    def check_existing(self) -> None:
        """Do nothing: nobody else reaches this memory."""

    def open_existing(self, stamp: Stamp) -> tuple[str, ...]:
        """Return no lines."""
        return ()

    def create(self, name: str, header: bytes) -> None:
        """Start the table `name` with `header`."""
        self._files[name] = bytearray(header)

    def adopt(self, name: str, size: int) -> None:
        """Go on with the first `size` bytes of the table `name`."""
        del self._files[name][size:]

    def rewriting(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Make the chunks of each of `tables`, joined, its whole content, a chunk at a time."""
        made: dict[str, bytearray] = {}
        for name, chunks in tables.items():
            content = made[name] = bytearray()
            for chunk in chunks:
                content += chunk
                yield len(chunk)
        self._files |= made

    def rewrite(self, tables: Mapping[str, Iterable[bytes]]) -> None:
        """Make the chunks of each of `tables`, joined, its whole content."""
        for _ in self.rewriting(tables):
            pass

    def append(self, name: str, data: bytes) -> None:
        """Add `data` to the table `name` at the next `flush`."""
        self._appended.setdefault(name, []).append(data)

    def flush(self) -> None:
        """Make what was appended part of the tables."""
        for name, parts in self._appended.items():
            self._files[name] += b"".join(parts)
        self._appended.clear()

    def sync(self) -> None:
        """Do nothing: memory survives no loss of power."""

    def check_tables(self) -> None:
        """Do nothing: nobody else reaches this memory."""

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        """Make `chunks`, joined, the whole content of the file `name`, a chunk at a time."""
        content = bytearray()
        for chunk in chunks:
            content += chunk
            yield len(chunk)
        self._files[name] = content

    def replace(self, name: str, chunks: Iterable[bytes]) -> None:
        """Make `chunks`, joined, the whole content of the file `name`."""
        for _ in self.replacing(name, chunks):
            pass

    def holds(self, name: str) -> bool:
        """Return whether there is a file `name`."""
        return name in self._files

    def stamp(self) -> Stamp:
        """Return the sizes of the files."""
        return tuple((name, len(content), 0) for name, content in self._files.items())

    def read(self, name: str) -> bytes:
        """Return the content of the file `name`."""
        return bytes(self._files[name])

    def reader(self, name: str) -> BinaryIO:
        """Return the content of the file `name` as a stream."""
        return io.BytesIO(self._files[name])

    def remove_results(self) -> None:
        """Forget every file."""
        self._files.clear()

    def files(self) -> dict[str, bytes]:
        """Return every file by name, in the order of a record."""
        order = {name: position for position, name in enumerate(RESULT_NAMES)}
        names = sorted(self._files, key=lambda name: order.get(name, len(order)))
        return {name: bytes(self._files[name]) for name in names}

    def close(self) -> None:
        """Do nothing: the files stay until the store is dropped."""


if TYPE_CHECKING:
    _conforms: type[FileStore] = MemoryStore
