"""Tables replaced together, so that a reader finds all old ones or all new ones (reference engine, section 9.7).

Owns the staged files and their marker: new tables are written beside the old ones, then the marker says that they are
the tables, then they are renamed, then the marker goes. A manifest among them means that other results take the place
of all that are there: the other files of results go before anything is renamed. Knows nothing of what the bytes mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from henad_native.disk import rename_over, sync_directory, write_new, writing_new
from henad_web.output.names import MANIFEST, MARKER, RESULT_NAMES, RUNS, SERIES, STAGED

__all__ = ["StagedTables"]

_NAMES = (RUNS, SERIES, MANIFEST)


class StagedTables:
    """The staged tables of `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def is_marked(self) -> bool:
        """Whether the staged files are the tables and only their renaming is left."""
        return (self._directory / MARKER).exists()

    def current(self, name: str) -> Path:
        """Return the path at which the file `name` is to be read."""
        staged = self._staged(name)
        return staged if self.is_marked and staged.exists() else self._directory / name

    def writing(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Write `tables`, chunks by name, beside the old ones and mark them; on an error nothing has changed.

        Yields:
            The size of each chunk.

        Raises:
            OSError: They cannot be written.
        """
        self.discard()
        try:
            for name, chunks in tables.items():
                yield from writing_new(self._staged(name), chunks)
            sync_directory(self._directory)
            write_new(self._directory / MARKER, ["\n".join((*tables, "")).encode()])
        except BaseException:
            with suppress(OSError):
                self.discard()
            raise

    def finish(self) -> None:
        """Rename marked tables over the old ones; may be called again after an error, and when nothing is marked.

        Raises:
            OSError: They cannot be renamed; they are still marked.
        """
        if not self.is_marked:
            return
        sync_directory(self._directory)
        if self._staged(MANIFEST).exists():
            for name in set(RESULT_NAMES) - set(_NAMES):
                (self._directory / name).unlink(missing_ok=True)
        for name in _NAMES:
            if self._staged(name).exists():
                rename_over(self._staged(name), self._directory / name)
        sync_directory(self._directory)
        (self._directory / MARKER).unlink()
        sync_directory(self._directory)

    def discard(self) -> bool:
        """Delete staged tables, marked ones too, and return whether there were any."""
        found = [path for path in (self._directory / MARKER, *map(self._staged, _NAMES)) if path.exists()]
        for path in found:
            path.unlink()
        return bool(found)

    def _staged(self, name: str) -> Path:
        return self._directory / f"{name}{STAGED}"
