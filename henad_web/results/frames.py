"""Results as tables of other libraries: pandas, Arrow, Parquet, xarray.

Owns their shapes and what goes into their attributes. The libraries are an extra: each is imported when it is asked
for, and nothing else of the package needs one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from numpy.typing import NDArray

from henad_web.explore.columns import ACTION, SUMMARY_TICKS
from henad_web.output.manifest import spec_text
from henad_web.results.errors import NeedsExtraError
from henad_web.results.run_grid import GridKind, GridVariable, RunGrid
from henad_web.results.table_columns import Columns, ResultTable, blocks_of, checked_table, columns_of, joined

if TYPE_CHECKING:
    from henad_web.results.own_tables import RecordedTable
    from henad_web.results.recorded import RecordedResults
    from henad_web.results.search_columns import SearchColumns

__all__ = [
    "ArrowTable",
    "DataFrame",
    "Dataset",
    "own_arrow",
    "own_frame",
    "parquet_library",
    "provenance_of",
    "search_arrow",
    "search_frame",
    "to_arrow",
    "to_dataset",
    "to_frame",
    "write_own_parquet",
    "write_parquet",
    "write_search_parquet",
]

UNITS: Mapping[str, str] = {
    "tick": "tick",
    "ticks": "tick",
    SUMMARY_TICKS: "tick",
    "population": "1",
    "build_ms": "ms",
    "wall_ms": "ms",
    "steps_per_s": "1/s",
}
"""Units of the columns that every table has. Models declare none for their own: those are pure numbers, ``1``."""

DataFrame: TypeAlias = Any
"""A `pandas.DataFrame`; the extra's libraries are unknown to the type checker."""

ArrowTable: TypeAlias = Any
"""A `pyarrow.Table`."""

Dataset: TypeAlias = Any
"""An `xarray.Dataset`."""

_Library: TypeAlias = Any

_ArrowArray: TypeAlias = Any

_NULLABLE = {"i": "Int64", "b": "boolean"}
"""Types of pandas whose values may be missing, by the kind of a numpy type."""

_CATEGORIES = ("status", "stop_reason")

_WITHOUT_UNIT = ("config", "replicate", "block", "run_id", "seed")


def provenance_of(results: RecordedResults) -> dict[str, str]:
    """Return where `results` come from, as texts: study, hashes, builds, platforms, times.

    Also how many runs met a value that is not finite, which their reducers skip: those whose status is non_finite.
    """
    manifest = results.manifest
    return {
        "model": manifest.model.id,
        "model_name": manifest.model.name,
        "schema_hash": manifest.model.schema_hash,
        "plan_hash": manifest.plan.plan_hash,
        "results_fingerprint": manifest.plan.results_fingerprint,
        "spec": spec_text(manifest),
        "seed_root": str(manifest.seeds.root),
        "seed_scheme": manifest.seeds.scheme,
        "status": results.status.value,
        "non_finite_runs": str(results.counts.non_finite),
        "shard": f"{manifest.shard.index}/{manifest.shard.count}",
        "engine": msgspec.json.encode(manifest.engine).decode(),
        "sessions": msgspec.json.encode(manifest.sessions).decode(),
        "started": manifest.timestamps.started,
        "finished": manifest.timestamps.finished or "",
    }


def to_frame(results: RecordedResults, table: str = "runs", *, params: bool = False) -> DataFrame:
    """Return one table as a `pandas.DataFrame`; see `henad_web.ResultSet.to_pandas`."""
    pandas, which = _library("pandas", "to_pandas"), checked_table(results, table)
    # The columns of series are made for the frame, the others are those that the results keep.
    frame = _frame(results, columns_of(results, which, params=params), copy=which is not ResultTable.SERIES)
    if which is ResultTable.RUNS:
        for name in _CATEGORIES:
            frame[name] = pandas.Categorical(frame[name])
    return frame


def _frame(results: RecordedResults, columns: Columns, *, copy: bool = False) -> DataFrame:
    frame = _library("pandas", "to_pandas").DataFrame(columns, copy=copy)
    # Of objects without a row pandas does not tell that they are texts.
    frame = frame.astype({name: str for name, column in columns.items() if column.dtype.kind == "O" and not len(frame)})
    frame.attrs = provenance_of(results)
    return frame


def to_arrow(results: RecordedResults, table: str = "runs", *, params: bool = False) -> ArrowTable:
    """Return one table as a `pyarrow.Table`; see `henad_web.ResultSet.to_arrow`."""
    arrow = _library("pyarrow", "to_arrow")
    return arrow.concat_tables(_pieces(results, blocks_of(results, checked_table(results, table), params=params)))


def write_parquet(
    results: RecordedResults, path: str | os.PathLike[str], table: str = "runs", *, params: bool = False
) -> None:
    """Write one table to the Parquet file `path`; see `henad_web.ResultSet.to_parquet`."""
    blocks = blocks_of(results, checked_table(results, table), params=params)
    _write(_pieces(results, blocks), path)


def own_frame(results: RecordedResults, table: RecordedTable, *, params: bool = False) -> DataFrame:
    """Return a model's own `table` as a `pandas.DataFrame`; see `RecordedTable.to_pandas`."""
    _library("pandas", "to_pandas")
    return _frame(results, joined(table.blocks(params=params), len(table)))


def own_arrow(results: RecordedResults, table: RecordedTable, *, params: bool = False) -> ArrowTable:
    """Return a model's own `table` as a `pyarrow.Table`; see `RecordedTable.to_arrow`."""
    return _library("pyarrow", "to_arrow").concat_tables(_pieces(results, table.blocks(params=params)))


def write_own_parquet(
    results: RecordedResults, table: RecordedTable, path: str | os.PathLike[str], *, params: bool = False
) -> None:
    """Write a model's own `table` to the Parquet file `path`; see `RecordedTable.to_parquet`."""
    _write(_pieces(results, table.blocks(params=params)), path)


def search_frame(results: RecordedResults, table: SearchColumns) -> DataFrame:
    """Return one `table` of a search as a `pandas.DataFrame`, empty cells as missing values.

    Raises:
        NeedsExtraError: pandas is not installed.
    """
    pandas = _library("pandas", "to_pandas")
    columns = {}
    for name, values, empty in table.cells():
        columns[name] = values
        if empty is not None:
            columns[name] = pandas.array(values, _NULLABLE[values.dtype.kind])
            columns[name][empty] = pandas.NA
    return _frame(results, columns, copy=True)


def search_arrow(results: RecordedResults, table: SearchColumns) -> ArrowTable:
    """Return one `table` of a search as a `pyarrow.Table`, empty cells as nulls, the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
    """
    arrow = _library("pyarrow", "to_arrow")
    return _arrow_table(results, {name: arrow.array(values, mask=empty) for name, values, empty in table.cells()})


def write_search_parquet(results: RecordedResults, table: SearchColumns, path: str | os.PathLike[str]) -> None:
    """Write one `table` of a search to the Parquet file `path`, with the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    _write(iter([search_arrow(results, table)]), path)


def _pieces(results: RecordedResults, blocks: Iterable[Columns]) -> Iterator[ArrowTable]:
    """Yield each of `blocks` as an Arrow table, all of one type."""
    arrow = _library("pyarrow", "to_arrow")
    schema = None
    for block in blocks:
        arrays = {name: arrow.array(column, _arrow_type(arrow, column)) for name, column in block.items()}
        schema = schema or _schema(results, arrays)
        yield arrow.table(list(arrays.values()), schema=schema)


def _arrow_type(arrow: _Library, column: NDArray[Any]) -> object:
    # A block without a row would not tell that its objects are texts.
    return arrow.string() if column.dtype.kind in "UO" else None


def _arrow_table(results: RecordedResults, arrays: Mapping[str, _ArrowArray]) -> ArrowTable:
    arrow = _library("pyarrow", "to_arrow")
    return arrow.table(list(arrays.values()), schema=_schema(results, arrays))


def _schema(results: RecordedResults, arrays: Mapping[str, _ArrowArray]) -> object:
    arrow = _library("pyarrow", "to_arrow")
    metadata = {f"henad.{key}": value for key, value in provenance_of(results).items()}
    fields = [
        arrow.field(name, array.type, metadata={"units": UNITS[name]} if name in UNITS else None)
        for name, array in arrays.items()
    ]
    return arrow.schema(fields, metadata=metadata)


def _write(pieces: Iterator[ArrowTable], path: str | os.PathLike[str]) -> None:
    library, first = parquet_library(), next(pieces)
    # Given a path, the library takes what stands before a colon for the name of a protocol.
    with open(path, "wb") as file:
        try:
            with library.ParquetWriter(file, first.schema) as writer:
                for piece in chain([first], pieces):
                    if piece.num_rows:
                        writer.write_table(piece)
            file.flush()
        except BaseException:
            # The library ends a file in any case: it would read as a whole one with fewer rows.
            _remove(path)
            raise


def _remove(path: str | os.PathLike[str]) -> None:
    """Remove the file at `path`, behind links if need be; what is no file, such as a device, stays."""
    place = os.path.realpath(path)
    if os.path.isfile(place):
        os.unlink(place)


def parquet_library() -> _Library:
    """Return the library that writes Parquet files, for those who want to know that it is there before they begin.

    Raises:
        NeedsExtraError: pyarrow is not installed.
    """
    return _library("pyarrow.parquet", "to_parquet")


def to_dataset(results: RecordedResults) -> Dataset:
    """Return an `xarray.Dataset`; see `henad_web.ResultSet.to_xarray`."""
    xarray = _library("xarray", "to_xarray")
    grid = RunGrid(results)
    layout = {"layout": grid.kind.value, "factors": ", ".join(grid.axes) if grid.kind is GridKind.FACTORS else ""}
    coords = {found.name: _variable(found, results) for found in grid.coordinates()}
    variables = {found.name: _variable(found, results) for found in grid.variables()}
    return xarray.Dataset(variables, coords=coords, attrs=provenance_of(results) | layout)


def _variable(found: GridVariable, results: RecordedResults) -> tuple[Any, ...]:
    attributes, actions = {}, {f"{ACTION}{name}" for name in results.runs.actions}
    if found.values.dtype.kind in "fiu" and found.name not in _WITHOUT_UNIT:
        attributes["units"] = UNITS.get(found.name, "tick" if found.name in actions else "1")
    for param in results.manifest.model.schema.get("params", ()):  # type: ignore[attr-defined]
        if param["id"] == found.param:
            attributes["long_name"] = str(param.get("label", found.param))
    return found.dims, found.values, attributes


def _library(name: str, what: str) -> _Library:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NeedsExtraError(what, name.partition(".")[0]) from error
