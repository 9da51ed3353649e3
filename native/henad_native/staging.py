"""Tables replaced together, so that a reader finds all old ones or all new ones (reference engine, section 9.7).

Owns the staged files and their marker: new tables are written beside the old ones, then the marker says that they are
the tables, then they are renamed, then the marker goes. A manifest among them means that other results take the place
of all that are there: the other files of results go before anything is renamed. Owns too which files of a directory are
results, those in its folder of the model's own tables among them, and that their description goes when they become
others. Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from henad_native.disk import rename_over, sync_directory, write_new, writing_new
from henad_web.explore.columns import SERIES_LEADING
from henad_web.output.crate import is_unedited_crate
from henad_web.output.names import (
    CRATE,
    MANIFEST,
    MARKER,
    RESULT_NAMES,
    RUNS,
    SERIES,
    STAGED,
    STAGED_NAMES,
    TABLE_ROWS,
    TABLES,
)

__all__ = ["StagedTables", "make_folder_of", "own_names", "result_names", "sync_folders", "wrong_place"]

_ALWAYS = (RUNS, SERIES, MANIFEST)
"""What there is of any results."""


def result_names(directory: Path) -> list[str]:
    """Return the names of the files of results in `directory`, staged ones too.

    Raises:
        OSError: The directory cannot be read.
    """
    names = sorted(os.listdir(directory)) if os.path.lexists(directory) else []
    return [name for name in names if name in RESULT_NAMES or name.endswith(STAGED)] + own_names(directory)


def own_names(directory: Path) -> list[str]:
    """Return the files of a model's own tables in `directory`, staged ones too, each with its folder.

    They are known by how they begin: a folder of that name may hold anything else, which is nobody's to touch.

    Raises:
        OSError: One cannot be read.
    """
    folder = directory / TABLES
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(f"{TABLES}/{path.name}" for path in folder.iterdir() if _is_own(path))


def _is_own(path: Path) -> bool:
    if path.name.endswith(f".csv{STAGED}"):
        return True
    if not path.name.endswith(".csv") or path.is_symlink() or not path.is_file():
        return False
    begin = f"{SERIES_LEADING[0]}," if path.name == PurePath(TABLE_ROWS).name else f"{','.join(SERIES_LEADING)},"
    with path.open("rb") as stream:  # another program may have saved it, with a mark and quotes
        head = stream.read(2 * len(begin)).removeprefix(codecs.BOM_UTF8).replace(b'"', b"")[: len(begin)]
    return bool(head) and begin.encode().startswith(head)


def wrong_place(directory: Path, names: Iterable[str]) -> str | None:
    """Return why one of `names` cannot be a file of results in `directory` as things stand there, None where all can.

    An empty table beside a manifest is one that a killed sweep had begun.

    Raises:
        OSError: One cannot be read.
    """
    for path in map(directory.joinpath, names):
        folder = path.parent
        if folder.is_symlink() and folder != directory:
            return f"{folder} is a link, which is never followed"
        if folder.exists() and not folder.is_dir():
            return f"{folder} is no folder; take it out of the results"
        if path.is_symlink():
            return f"{path} is a link, which is never followed"
        if path.exists() and not path.is_file():
            return f"{path} is no file; take it out of the results"
        is_begun = path.exists() and not path.stat().st_size and (directory / MANIFEST).exists()
        if folder != directory and path.exists() and not (is_begun or _is_own(path)):
            return f"{path} is no table of a sweep, and one is to stand there; move it away, or choose another folder"
    return None


def make_folder_of(path: Path) -> None:
    """Make the folder of the model's own tables where `path` is in it and it is missing, its name durable.

    Raises:
        OSError: It cannot be made, or is a link.
    """
    folder = path.parent
    if folder.name != TABLES:
        return
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "is a link, which is never followed", str(folder))
    if not folder.is_dir():
        folder.mkdir()
        sync_directory(folder.parent)


def sync_folders(directory: Path) -> None:
    """Return once the names of all files of results in `directory` would survive a loss of power.

    Raises:
        OSError: The disk fails.
    """
    if (directory / TABLES).is_dir():
        sync_directory(directory / TABLES)
    sync_directory(directory)


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
                make_folder_of(self._directory / name)
                yield from writing_new(self._staged(name), chunks)
            sync_folders(self._directory)
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
        sync_folders(self._directory)
        staged = self._staged_names()
        if self._staged(MANIFEST).exists():
            self.remove_description()
            # What an earlier call has renamed already is no old file: the marker names every new one.
            for name in {*RESULT_NAMES, *result_names(self._directory)} - set(_ALWAYS) - self._marked_names():
                if not name.endswith(STAGED):
                    (self._directory / name).unlink(missing_ok=True)
        for name in sorted(
            staged, key=lambda name: name == MANIFEST
        ):  # it says that there is nothing left to take away
            rename_over(self._staged(name), self._directory / name)
        sync_folders(self._directory)
        (self._directory / MARKER).unlink()
        sync_directory(self._directory)

    def remove_description(self) -> None:
        """Remove the RO-Crate of results that now become others; one that somebody has edited is theirs, and stays."""
        path = self._directory / CRATE
        with suppress(OSError):
            if is_unedited_crate(path.read_bytes()):
                path.unlink()

    def _staged_names(self) -> list[str]:
        return [name for name in (*STAGED_NAMES, *self._own_staged()) if self._staged(name).exists()]

    def _own_staged(self) -> list[str]:
        return [name.removesuffix(STAGED) for name in own_names(self._directory) if name.endswith(STAGED)]

    def _marked_names(self) -> set[str]:
        return set((self._directory / MARKER).read_text(encoding="utf-8", errors="replace").split("\n"))

    def discard(self) -> bool:
        """Delete staged tables, marked ones too, and return whether there were any."""
        names = (*STAGED_NAMES, *self._own_staged())
        found = [path for path in (self._directory / MARKER, *map(self._staged, names)) if path.exists()]
        for path in found:
            path.unlink()
        return bool(found)

    def _staged(self, name: str) -> Path:
        return self._directory / f"{name}{STAGED}"
