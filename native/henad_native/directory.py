"""Results in a directory, so that neither a killed process nor a full disk tears them.

Owns the calls to the file system: tables that only ever grow by whole records, other files replaced whole,
one writer. Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from henad_native.disk import (
    TableFile,
    check_can_be_written,
    check_characters,
    is_same_file,
    near_folder,
    rename_over,
    writing_new,
)
from henad_native.lock import DirectoryLock, LockHolder
from henad_native.staging import StagedTables, make_folder_of, own_names, result_names, sync_folders, wrong_place
from henad_web.errors import HoldsResultsError, ManifestError, OutputError, OutputFullError, TableChangedError
from henad_web.output.manifest import Manifest
from henad_web.output.names import GROWING, MANIFEST, MARKER, PARTIAL, RESULT_NAMES, RUNS, SERIES, STAGED_FILES, TABLES
from henad_web.output.store import opened_to_read
from henad_web.resume.errors import ResumeError, ResumeReason
from henad_web.wording import henad_command, models_named

if TYPE_CHECKING:
    from henad_web.output.store import FileStore, Stamp

__all__ = ["SYNC_INTERVAL_S", "DirectoryStore"]

SYNC_INTERVAL_S = 1.0
"""Least time between two waits for the disk while runs are written; what a loss of power may cost."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class DirectoryStore:
    """The files of one sweep in the directory `path`, a `henad_web.output.store.FileStore`.

    Nothing is touched before `open`. Flushing is enough for a killed process; for a loss of power the disk is
    waited for at most once in `SYNC_INTERVAL_S`, and in `sync`.

    Args:
        path: The directory; it and its parents are made when they are missing.
        clock: Monotonic clock, seconds.
        wall_clock: Seconds since 1970, for the lock's text.
        force: Take over a lock that a process on another host did not release.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        force: bool = False,
    ) -> None:
        check_characters(os.fsdecode(path))
        self._given = str(Path(path))
        self._directory = Path(os.path.abspath(path))  # the program may change its directory while the sweep runs
        self._clock = clock
        self._lock = DirectoryLock(self._directory, wall_clock, force=force)
        self._mine: os.stat_result | None = None
        self._staged = StagedTables(self._directory)
        self._is_mended = self._is_rewriting = False
        self._lines: tuple[str, ...] = ()
        self._tables: dict[str, TableFile] = {}
        self._appended: dict[str, list[bytes]] = {}
        self._synced_at = clock()

    @property
    def path(self) -> str:
        """The directory as it was given."""
        return self._given

    def check_free(self) -> None:
        """Touch nothing, and make sure that a new sweep may write here.

        Raises:
            HoldsResultsError: A file of results, a staged table or a link of such a name is there.
            LockedError: Another writer is at work.
            OutputError: The path is no directory, cannot be read or written, or cannot be made.
        """
        with self._mapped_errors():
            if os.path.lexists(self._directory):
                self._lock.check()
                self._refuse_results()
            check_can_be_written(self._directory)

    def check_own_files(self, names: Iterable[str]) -> None:
        """Touch nothing, and make sure that nothing but tables of a sweep is where those of `names` will be.

        Raises:
            OutputError: A file of somebody else's, a link or a folder is there; or it cannot be read.
        """
        with self._mapped_errors("read"):
            self._refuse_places(names)

    def open(self) -> tuple[str, ...]:
        """Make the directory and lock it for this store.

        Returns:
            A line when the lock of a writer that died was taken over.

        Raises:
            HoldsResultsError: A file of results, a staged table or a link of such a name is there.
            LockedError: Another writer is at work.
            OutputFullError: There is no room.
            OutputError: The directory cannot be made or locked.
        """
        if self._lock.is_held:
            return self._lines
        self.check_free()
        with self._mapped_errors():
            self._directory.mkdir(parents=True, exist_ok=True)
            dead = self._lock.acquire()
            try:
                self._refuse_results()  # somebody may have come and gone since the check
            except HoldsResultsError:
                self._lock.release()
                raise
            self._mine = os.stat(self._directory)
        self._lines = self._takeover(dead)
        return self._lines

    def check_existing(self) -> None:
        """Touch nothing, and make sure that the results which are there may be gone on with.

        Raises:
            LockedError: Another writer is at work.
            OutputError: The path is no directory, cannot be read, or a table in it is a link.
        """
        with self._mapped_errors("read"):
            try:
                os.listdir(self._directory)
            except FileNotFoundError as error:
                hint = near_folder(self._directory)
                message = f"there is no folder {self.path}{f'; {hint}' if hint else ''}"
                raise OutputError(message, path=self.path) from error
            self._lock.check()
            self._refuse_places(GROWING)

    def open_existing(self, stamp: Stamp) -> tuple[str, ...]:
        """Lock the directory with the results in it for this store, and finish or give up a replacement of tables.

        Returns:
            A line when the lock of a writer that died was taken over.

        Raises:
            ResumeError: Somebody has written since the files were as `stamp` says.
            LockedError: Another writer is at work.
            OutputFullError: There is no room; call again once there is.
            OutputError: The directory cannot be locked.
        """
        if not self._lock.is_held:
            self.check_existing()
            with self._mapped_errors():
                self._lines = self._takeover(self._lock.acquire())
                self._mine = os.stat(self._directory)
            if self.stamp() != stamp:
                self._lock.release()
                raise ResumeError(ResumeReason.FOLDER_CHANGED, self.path)
        self._mend()
        return self._lines

    def check_replaceable(self) -> bool:
        """Touch nothing, and return whether there are results of a sweep, which another one may take the place of.

        Raises:
            HoldsResultsError: What is there is no sweep's as a whole, so that nobody can say whose it is.
            LockedError: Another writer is at work.
            OutputError: As `check_free` says.
        """
        if not os.path.lexists(self._directory):
            return False
        with self._mapped_errors():
            self._lock.check()
            check_can_be_written(self._directory)
            return self._holds_sweep()

    def open_replaceable(self) -> tuple[str, ...]:
        """Lock the directory for this store, after the checks of `check_replaceable`; results stay as they are.

        Returns:
            A line when the lock of a writer that died was taken over.
        """
        if not self._lock.is_held:
            self.check_replaceable()
            with self._mapped_errors():
                self._lines = self._takeover(self._lock.acquire())
                self._mine = os.stat(self._directory)
        return self._lines

    def taking_over(self, files: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Let `files`, two tables and a manifest, take the place of all results that are there, and go on with them.

        Yields:
            The size of each chunk.

        Raises:
            OutputFullError: There is no room; what is there is as before, or a call is enough to finish.
            TableChangedError: The directory at the path is no longer the one that was opened.
            OutputError: The files cannot be written or replaced; readers find all of the old ones or all of these.
        """
        self._check_directory()
        self._mend()
        yield from self.rewriting(files)

    def create(self, name: str, header: bytes) -> None:
        """Start the table `name` with `header`; a table this store has started already is started over.

        Raises:
            OutputFullError: There is no room.
            OutputError: The file cannot be made, such as when it has come to exist meanwhile.
        """
        with self._mapped_errors():
            if name not in self._tables:
                make_folder_of(self._directory / name)
                self._tables[name] = TableFile(self._directory / name)
            self._tables[name].start_over()
        self._appended = {name: [header]}
        self.flush()

    def adopt(self, name: str, size: int) -> None:
        """Go on with the table `name` that is there, cut to its first `size` bytes.

        Raises:
            OutputFullError: There is no room.
            OutputError: The file cannot be opened or cut, such as when it is a link.
        """
        with self._mapped_errors():
            if name in self._tables:
                self._tables.pop(name).close()
            make_folder_of(self._directory / name)  # where it is a link, it is not followed
            self._tables[name] = TableFile(self._directory / name, size)

    def rewriting(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        """Make the chunks of each of `tables`, joined, its whole content, all of them at once, and go on with them.

        Yields:
            The size of each chunk.

        Raises:
            OutputFullError: There is no room; the tables are as before, or a call is enough to finish.
            OutputError: They cannot be written or replaced; readers find them as before or finished.
        """
        with self._mapped_errors():
            # The chunks may come from the old tables: they are asked for once, however often finishing takes.
            if not self._is_rewriting:
                yield from self._staged.writing(tables)
                self._is_rewriting = True
            for name in tables:  # an open file cannot be replaced on Windows
                if name in self._tables:
                    self._tables.pop(name).close()
            self._staged.finish()
            for name in tables:
                path = self._directory / name
                if name != MANIFEST:
                    self._tables[name] = TableFile(path, path.stat().st_size)
            self._is_rewriting = False

    def rewrite(self, tables: Mapping[str, Iterable[bytes]]) -> None:
        """Do all of `rewriting` at once; raises as it does."""
        for _ in self.rewriting(tables):
            pass

    def append(self, name: str, data: bytes) -> None:
        """Add `data`, whole records, to the table `name` at the next `flush`."""
        self._appended.setdefault(name, []).append(data)

    def flush(self) -> None:
        """Hand all appended bytes to the operating system, or none of them.

        Raises:
            OutputFullError: There is no room; the tables are as before.
            TableChangedError: As `check_tables` says, of whose checks only that of the size is made every time.
            OutputError: A table cannot be written; it is as before as far as the disk allows.
        """
        appended, self._appended = self._appended, {}
        self._refuse_changed(appended, TableFile.wrong_size)
        tables = [self._tables[name] for name in appended]
        with self._mapped_errors():
            if self._clock() - self._synced_at >= SYNC_INTERVAL_S:
                self._sync_tables()
            try:
                for table, parts in zip(tables, appended.values(), strict=True):
                    table.write(b"".join(parts))
            except OSError:
                for table in tables:
                    with suppress(OSError):  # what cannot be taken back now is taken back by the next write
                        table.take_back()
                raise
        for table in tables:
            table.commit()

    def sync(self) -> None:
        """Return once the tables and the names of the files would survive a loss of power.

        Raises:
            OutputFullError: There is no room.
            TableChangedError: As `check_tables` says.
            OutputError: The disk fails.
        """
        with self._mapped_errors():
            self._sync_tables()
            sync_folders(self._directory)

    def check_tables(self) -> None:
        """Make sure that the tables are the files they were, no longer and no shorter than written.

        Raises:
            TableChangedError: Another program has replaced, cut, deleted or added to one, or moved the directory.
        """
        self._check_directory()
        self._refuse_changed(self._tables, TableFile.strangeness)

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        """Write `chunks` beside the file `name`, wait for the disk, and let them take its place.

        Yields:
            The size of each chunk.

        Raises:
            OutputFullError: There is no room; the file is as before.
            TableChangedError: The directory at the path is no longer the one that was opened.
            OutputError: The file cannot be written or replaced; it is as before.
        """
        path = self._directory / name
        partial = self._directory / f"{name}{PARTIAL}"
        self._check_directory()
        if name == MANIFEST:
            self._staged.remove_description()
        with self._mapped_errors():
            make_folder_of(path)
            partial.unlink(missing_ok=True)
            try:
                yield from writing_new(partial, chunks)
                rename_over(partial, path)
            finally:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
            sync_folders(self._directory)

    def replace(self, name: str, chunks: Iterable[bytes]) -> None:
        """Do all of `replacing` at once; raises as it does."""
        for _ in self.replacing(name, chunks):
            pass

    def holds(self, name: str) -> bool:
        """Return whether there is a file `name`.

        Raises:
            OutputError: The system does not say.
        """
        with self._mapped_errors("read"):
            return self._staged.current(name).is_file()

    def stamp(self) -> Stamp:
        """Return size and time of change of the files of results.

        Raises:
            OutputError: The directory cannot be read.
        """
        with self._mapped_errors("read"):
            names = (RUNS, SERIES, MANIFEST, MARKER, *STAGED_FILES, *own_names(self._directory))
            paths = {name: self._directory / name for name in names}
            found = [(name, path.stat()) for name, path in paths.items() if path.exists()]
            return tuple((name, state.st_size, state.st_mtime_ns) for name, state in found)

    def read(self, name: str) -> bytes:
        """Return the content of the file `name`.

        Raises:
            OutputError: It cannot be read.
        """
        with self.reader(name) as stream:
            return stream.read()

    def reader(self, name: str) -> BinaryIO:
        """Return the content of the file `name` as a stream, which the caller closes.

        Raises:
            OutputError: It cannot be opened; every read of the stream that fails raises it, too.
        """
        with self._mapped_errors("read"):
            path = self._staged.current(name)
        return opened_to_read(path, lambda: self._mapped_errors("read"))

    def remove_results(self) -> None:
        """Delete every file of results that is there, as far as the disk allows."""
        for path in map(self._directory.joinpath, (*RESULT_NAMES, MARKER, *STAGED_FILES, *own_names(self._directory))):
            with suppress(OSError):
                path.unlink()
        with suppress(OSError):  # something else is in it, or it is not there
            (self._directory / TABLES).rmdir()

    def files(self) -> None:
        """Return None: the files are in the directory."""

    def close(self) -> None:
        """Close the tables and give the lock back. Harmless when nothing was opened."""
        tables, self._tables = self._tables, {}
        for table in tables.values():
            with suppress(OSError):
                table.close()
        self._lock.release()

    def _refuse_results(self) -> None:
        found = result_names(self._directory)
        if found:
            raise HoldsResultsError(self.path, found, resume=self._resume_command())

    def _refuse_places(self, names: Iterable[str]) -> None:
        wrong = wrong_place(self._directory, names)
        if wrong is not None:
            raise OutputError(wrong, path=self.path)

    def _resume_command(self) -> str | None:
        try:
            manifest = Manifest.read(self.read(MANIFEST) if self.holds(MANIFEST) else b"", path=self.path)
        except ManifestError:
            return None
        return henad_command("resume", self.path, models=models_named(manifest))

    def _holds_sweep(self) -> bool:
        found = result_names(self._directory)
        if not found:
            return False
        try:
            Manifest.read(self.read(MANIFEST) if self.holds(MANIFEST) else b"", path=self.path)
        except ManifestError as error:
            raise HoldsResultsError(self.path, found, wrong="and no manifest that says whose they are") from error
        folder = next((name for name in found if (self._directory / name).is_dir()), None)
        if folder is not None:
            raise HoldsResultsError(self.path, found, wrong=f"and {folder} is a folder")
        return True

    def _mend(self) -> None:
        if not self._is_mended:  # only once: what is staged from now on is this store's own
            with self._mapped_errors():
                self._staged.finish()
                self._staged.discard()
            self._is_mended = True

    def _refuse_changed(self, names: Iterable[str], ask: Callable[[TableFile], str | None]) -> None:
        for name in names:
            with self._mapped_errors("read"):
                wrong = ask(self._tables[name])
            if wrong is not None:
                raise TableChangedError(self.path, f"{self._directory / name} {wrong}")

    def _check_directory(self) -> None:
        if self._mine is None:
            return
        with self._mapped_errors("read"):
            try:
                found = os.stat(self._directory)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise TableChangedError(self.path, f"{self._directory} is gone") from error
        if not is_same_file(self._mine, found):
            raise TableChangedError(self.path, f"{self._directory} is another folder now")

    def _sync_tables(self) -> None:
        self.check_tables()
        for table in self._tables.values():
            table.sync()
        self._synced_at = self._clock()

    def _takeover(self, dead: LockHolder | None) -> tuple[str, ...]:
        return () if dead is None else (f"took over {self._directory} from {dead}, which died",)

    @contextmanager
    def _mapped_errors(self, verb: str = "write") -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = error.filename if isinstance(error.filename, str) else self.path
            words = error.strerror or str(error)
            if error.errno in _FULL:
                message = f"no room left to write {where} ({words})"
                raise OutputFullError(message, path=self.path) from error
            message = f"cannot {verb} {where}: {words}; nothing already written there was lost"
            raise OutputError(message, path=self.path) from error


if TYPE_CHECKING:
    _conforms: type[FileStore] = DirectoryStore
