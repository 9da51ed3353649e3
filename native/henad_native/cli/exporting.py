"""`henad export`: results as Parquet files, and described as an RO-Crate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import BadOption
from henad_native.cli.consoles import message_console, print_line, result_console
from henad_native.disk import check_can_be_written, rename_over, write_new
from henad_native.unpacking import is_archive_file
from henad_web.errors import OutputError
from henad_web.output.crate import is_unedited_crate
from henad_web.output.names import CRATE, PARTIAL, TABLES, own_table_name
from henad_web.results.frames import parquet_library
from henad_web.results.table_columns import ResultTable

__all__ = ["export_command", "put_file", "refuse_replaced"]

_Write = Callable[[Path], object]


def export_command(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or a zip of one.")],
    parquet: Annotated[bool, typer.Option("--parquet", help="Write every table as a Parquet file.")] = False,
    ro_crate: Annotated[
        bool, typer.Option("--ro-crate", help=f"Describe the folder as an RO-Crate, in its {CRATE}.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where the Parquet files go; else DIR-parquet, beside it."),
    ] = None,
    params: Annotated[
        bool, typer.Option("--params", help="Put the parameters of its run beside each row of long tables.")
    ] = False,
    license: Annotated[
        str | None, typer.Option("--license", metavar="URL|TEXT", help="What the results may be used for.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of such names that are there.")] = False,
) -> None:
    """Export results for other programs: --parquet writes tables, --ro-crate says what the folder is.

    The series are read and written a few megabytes at a time. Prints the files that were written.
    """
    _check_options(path, parquet=parquet, ro_crate=ro_crate, out=out, params=params, license=license)
    results = hw.ResultSet.open(path)
    writes: dict[Path, _Write] = {}
    if parquet:
        parquet_library()
        folder = _default_folder(path) if out is None else out
        writes |= {folder / f"{name}.parquet": write for name, write in _tables(results, params=params)}
    if ro_crate:
        content = results.to_ro_crate(license=license)
        writes[path / CRATE] = lambda place: write_new(place, [content])
    if not overwrite:
        refuse_replaced(writes)
    for file, write in writes.items():
        put_file(file, write)
        print_line(result_console(), str(file))


def _check_options(
    path: Path, *, parquet: bool, ro_crate: bool, out: Path | None, params: bool, license: str | None
) -> None:
    if not parquet and not ro_crate:
        raise BadOption("henad export", "nothing to write; give --parquet, --ro-crate or both")
    if not parquet and out is not None:
        raise BadOption("--out", "it is where --parquet writes, and there is no --parquet")
    if not parquet and params:
        raise BadOption("--params", "it is about the tables that --parquet writes, and there is no --parquet")
    if not ro_crate and license is not None:
        raise BadOption("--license", "it stands in what --ro-crate writes, and there is no --ro-crate")
    if ro_crate and is_archive_file(path):
        raise BadOption("--ro-crate", f"{path} is a zip, and the description stands in a folder; unpack it first")


def _default_folder(path: Path) -> Path:
    named = path if path.name not in ("", "..") else Path(os.path.abspath(path))
    return named.with_name(f"{named.stem if is_archive_file(path) else named.name}-parquet")


def _tables(results: hw.ResultSet, *, params: bool) -> Iterator[tuple[str, _Write]]:
    """Yield name and writer of each table that there is, and tell of those that are not."""
    for table in ResultTable:
        if table is not ResultTable.SERIES or results.has_series:
            yield table.value, partial(results.to_parquet, table=table.value, params=params)
    for id in results.table_ids:
        if results.holds(own_table_name(id)):
            yield f"{TABLES}/{id}", partial(results.table(id).to_parquet, params=params)
    if results.missing_line is not None:
        print_line(message_console(), f"note: {results.missing_line}")
    if results.search is not None:
        for name in results.search.table_names:
            yield name, results.search.table(name).to_parquet


def refuse_replaced(files: Iterable[Path]) -> None:
    """Refuse to replace a file that is there, but for a description that nobody has edited.

    Raises:
        OutputError: There is one.
    """
    there = [file for file in files if os.path.lexists(file) and not _is_unedited(file)]
    if there:
        more = f", and {len(there) - 1} more" if len(there) > 1 else ""
        raise OutputError(f"{there[0]} is there already{more}; --overwrite replaces such files", path=str(there[0]))


def _is_unedited(file: Path) -> bool:
    try:
        return file.name == CRATE and is_unedited_crate(file.read_bytes())
    except OSError:
        return False


def put_file(file: Path, write: _Write, *, elsewhere: str = "--out FOLDER") -> None:
    """Let `write` make the file beside its place, and move it there once it is whole.

    Args:
        file: The file.
        write: Makes it, at the place it is called with.
        elsewhere: The option that names another place.

    Raises:
        OutputError: It cannot be written; what was there is as before.
    """
    beside = file.with_name(f"{file.name}{PARTIAL}")
    try:
        check_can_be_written(file.parent)
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        write(beside)
        rename_over(beside, file)
    except OSError as error:
        cure = "describe a copy of the folder" if file.name == CRATE else f"{elsewhere} writes elsewhere"
        message = f"cannot write {file}: {error.strerror or error}; what was there is as before; {cure}"
        raise OutputError(message, path=str(file)) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
