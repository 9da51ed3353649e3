"""A sweep that takes the place of another one's results in a directory, once it has something to show.

Owns the moment. Until the first row everything is held in memory and the directory is only locked; then tables and
manifest take the place of what is there, all at once. Knows nothing of what the bytes mean but the tables' names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from henad_native.directory import DirectoryStore
from henad_web.output.names import MANIFEST, RUNS
from henad_web.output.store import FileStore, MemoryStore, Stamp

__all__ = ["OverwritingStore"]


class OverwritingStore:
    """A `henad_web.output.store.FileStore` over a directory that holds the results of a sweep.

    Args:
        directory: The directory, not opened yet.
    """

    def __init__(self, directory: DirectoryStore) -> None:
        self._directory = directory
        self._held: MemoryStore | None = MemoryStore()
        self._appended: dict[str, list[bytes]] = {}

    @property
    def path(self) -> str:
        """The directory as it was given."""
        return self._directory.path

    def check_free(self) -> None:
        """Make sure that what is there is a sweep's; raises as `DirectoryStore.check_replaceable` does."""
        self._directory.check_replaceable()

    def check_own_files(self, names: Iterable[str]) -> None:
        """Make sure that files of tables may be called `names`; raises as `DirectoryStore.check_own_files` does."""
        self._directory.check_own_files(names)

    def open(self) -> tuple[str, ...]:
        """Lock the directory; raises as `DirectoryStore.open_replaceable` does."""
        return self._directory.open_replaceable()

    def check_existing(self) -> None:
        """Make sure that the results may be gone on with; raises as `DirectoryStore.check_existing` does."""
        self._directory.check_existing()

    def open_existing(self, stamp: Stamp) -> tuple[str, ...]:
        """Lock the directory to go on with what is there: nothing is overwritten then."""
        self._held = None
        return self._directory.open_existing(stamp)

    def create(self, name: str, header: bytes) -> None:
        """Start the table `name` with `header`."""
        self._place.create(name, header)

    def adopt(self, name: str, size: int) -> None:
        """Go on with the first `size` bytes of the table `name`."""
        self._place.adopt(name, size)

    def rewriting(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Make the chunks of each of `tables` its whole content: copied rows are rows of the new sweep, too.

        Yields:
            The size of each chunk.
        """
        if self._held is None:
            yield from self._directory.rewriting(tables)
            return
        chunks = iter(tables[RUNS])
        header, first = next(chunks), next(chunks, None)
        runs = [header] if first is None else chain([header, first], chunks)
        if first is None:
            yield from self._held.rewriting({**tables, RUNS: runs})
        else:
            yield from self._taking_over(self._held, {**tables, RUNS: runs})

    def rewrite(self, tables: Mapping[str, Iterable[bytes]]) -> None:
        """Do all of `rewriting` at once."""
        for _ in self.rewriting(tables):
            pass

    def append(self, name: str, data: bytes) -> None:
        """Add `data` to the table `name` at the next `flush`."""
        if self._held is None:
            self._directory.append(name, data)
        else:
            self._appended.setdefault(name, []).append(data)

    def flush(self) -> None:
        """Hand all appended bytes to the operating system; those of the first row take everything over."""
        if self._held is None:
            self._directory.flush()
            return
        appended, self._appended = self._appended, {}
        held = (name for name in self._held.files() if name != MANIFEST)
        tables = {name: [self._held.read(name), *appended.get(name, ())] for name in held}
        for _ in self._taking_over(self._held, tables):
            pass

    def sync(self) -> None:
        """Return once everything written so far would survive a loss of power."""
        self._place.sync()

    def check_tables(self) -> None:
        """Make sure that the tables are as they were written."""
        self._place.check_tables()

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        """Make `chunks` the whole content of the file `name`, and yield the size of each."""
        return self._place.replacing(name, chunks)

    def replace(self, name: str, chunks: Iterable[bytes]) -> None:
        """Make `chunks` the whole content of the file `name`."""
        self._place.replace(name, chunks)

    def holds(self, name: str) -> bool:
        """Return whether the new sweep has a file `name`."""
        return self._place.holds(name)

    def stamp(self) -> Stamp:
        """Return the state of the files of the new sweep."""
        return self._place.stamp()

    def read(self, name: str) -> bytes:
        """Return the content of the file `name` of the new sweep."""
        return self._place.read(name)

    def reader(self, name: str) -> BinaryIO:
        """Return the same content as a stream."""
        return self._place.reader(name)

    def remove_results(self) -> None:
        """Take back all that was written; what it took the place of is gone."""
        self._place.remove_results()

    def files(self) -> dict[str, bytes] | None:
        """Return the files of a sweep that had no row, None when they are in the directory."""
        return None if self._held is None else self._held.files()

    def close(self) -> None:
        """Give the directory back."""
        self._directory.close()

    @property
    def _place(self) -> FileStore:
        return self._directory if self._held is None else self._held

    def _taking_over(self, held: MemoryStore, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        yield from self._directory.taking_over({**tables, MANIFEST: [held.read(MANIFEST)]})
        self._held = None


if TYPE_CHECKING:
    _conforms: type[FileStore] = OverwritingStore
