"""Results as tables of other libraries: pandas, Arrow, Parquet, xarray.

Owns the shapes and what goes into their attributes. The libraries are an extra: each is imported when it is asked for,
and nothing else of the package needs one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from henad_web.errors import SpecError, UsageError
from henad_web.explore.columns import ACTION, LEADING, MEASURED
from henad_web.explore.spec_file import spec_to_toml
from henad_web.results.errors import NeedsExtraError

if TYPE_CHECKING:
    from henad_web.results.own_tables import RecordedTable
    from henad_web.results.recorded import RecordedResults
    from henad_web.results.search_columns import SearchColumns

__all__ = [
    "ArrowTable",
    "DataFrame",
    "Dataset",
    "free_name",
    "own_arrow",
    "own_frame",
    "provenance_of",
    "runs_frame",
    "search_arrow",
    "search_frame",
    "series_frame",
    "to_arrow",
    "to_dataset",
    "write_own_parquet",
    "write_parquet",
    "write_search_parquet",
]

UNITS: Mapping[str, str] = {
    "tick": "tick",
    "ticks": "tick",
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


def provenance_of(results: RecordedResults) -> dict[str, str]:
    """Return where `results` come from, as texts: study, hashes, builds, platforms, times.

    Also how many runs met a value that is not finite, which their reducers skip: those whose status is non_finite.
    """
    manifest = results.manifest
    try:
        spec = spec_to_toml(results.spec)
    except SpecError:
        spec = msgspec.json.encode(manifest.spec).decode()
    return {
        "model": manifest.model.id,
        "model_name": manifest.model.name,
        "schema_hash": manifest.model.schema_hash,
        "plan_hash": manifest.plan.plan_hash,
        "results_fingerprint": manifest.plan.results_fingerprint,
        "spec": spec,
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


def runs_frame(results: RecordedResults) -> DataFrame:
    """Return runs.csv as a `pandas.DataFrame`, its columns typed and in the order of the file.

    Raises:
        NeedsExtraError: pandas is not installed.
    """
    pandas = _library("pandas", "to_pandas")
    runs = results.runs
    arrays = [runs.at(position) for position in range(len(runs.columns))]
    frame = pandas.DataFrame(dict(enumerate(arrays)))
    frame.columns = list(runs.columns)
    # A parameter may be called like a column of every table; which of the two is meant then, nobody can tell.
    for name in _CATEGORIES:
        if runs.columns.count(name) == 1:
            frame[name] = frame[name].astype("category")
    frame.attrs = provenance_of(results)
    return frame


def series_frame(results: RecordedResults) -> DataFrame:
    """Return series.csv as a `pandas.DataFrame` in long form: run_id, config_id, rep, tick, then the stat columns.

    Raises:
        NeedsExtraError: pandas is not installed.
        TableDamagedError: A record of the table is none.
        MissingFileError: There is no series.csv.
    """
    pandas = _library("pandas", "series_frame")
    keys, values = _long_series(results)
    frame = pandas.DataFrame({**keys, **dict(zip(_stat_names(results, keys), values.T, strict=True))})
    frame.attrs = provenance_of(results)
    return frame


def to_arrow(results: RecordedResults, table: str = "runs") -> ArrowTable:
    """Return one table, ``"runs"`` or ``"series"``, as a `pyarrow.Table` with the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
        UsageError: There is no such table.
    """
    return _arrow_of(results, dict(_columns_of(results, table)))


def _arrow_of(results: RecordedResults, columns: Mapping[str, NDArray[Any]]) -> ArrowTable:
    arrow = _library("pyarrow", "to_arrow")
    return _arrow_table(results, {name: arrow.array(column) for name, column in columns.items()})


def _arrow_table(results: RecordedResults, columns: Mapping[str, _ArrowArray]) -> ArrowTable:
    arrow = _library("pyarrow", "to_arrow")
    metadata = {f"henad.{key}": value for key, value in provenance_of(results).items()}
    fields = [
        arrow.field(name, array.type, metadata={"units": UNITS[name]} if name in UNITS else None)
        for name, array in columns.items()
    ]
    return arrow.table(list(columns.values()), schema=arrow.schema(fields, metadata=metadata))


def write_parquet(results: RecordedResults, path: str | os.PathLike[str], table: str = "runs") -> None:
    """Write one table, ``"runs"`` or ``"series"``, to the Parquet file `path`, with the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
        UsageError: There is no such table.
        OSError: The file cannot be written.
    """
    content = to_arrow(results, table)
    _library("pyarrow.parquet", "to_parquet").write_table(content, os.fspath(path))


def own_frame(results: RecordedResults, table: RecordedTable) -> DataFrame:
    """Return a model's own `table` as a `pandas.DataFrame` in long form: run_id, config_id, rep, tick, its columns.

    Raises:
        NeedsExtraError: pandas is not installed.
    """
    pandas = _library("pandas", "to_pandas")
    frame = pandas.DataFrame(_joined(list(table.blocks())))
    frame.attrs = provenance_of(results)
    return frame


def own_arrow(results: RecordedResults, table: RecordedTable) -> ArrowTable:
    """Return a model's own `table` as a `pyarrow.Table` in the same form, with the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
    """
    _library("pyarrow", "to_arrow")
    return _arrow_of(results, _joined(list(table.blocks())))


def write_own_parquet(results: RecordedResults, table: RecordedTable, path: str | os.PathLike[str]) -> None:
    """Write a model's own `table` to the Parquet file `path`, some megabytes in memory at a time.

    Raises:
        NeedsExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    parquet = _library("pyarrow.parquet", "to_parquet")
    pieces = (_arrow_of(results, block) for block in table.blocks())
    first = next(pieces)
    with parquet.ParquetWriter(os.fspath(path), first.schema) as writer:
        for piece in pieces:
            writer.write_table(piece.cast(first.schema))


def _joined(blocks: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


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
    frame = pandas.DataFrame(columns)
    frame.attrs = provenance_of(results)
    return frame


def search_arrow(results: RecordedResults, table: SearchColumns) -> ArrowTable:
    """Return one `table` of a search as a `pyarrow.Table`, empty cells as nulls, the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
    """
    arrow = _library("pyarrow", "to_arrow")
    cells = {name: arrow.array(values, mask=empty) for name, values, empty in table.cells()}
    return _arrow_table(results, cells)


def write_search_parquet(results: RecordedResults, table: SearchColumns, path: str | os.PathLike[str]) -> None:
    """Write one `table` of a search to the Parquet file `path`, with the provenance in its metadata.

    Raises:
        NeedsExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    content = search_arrow(results, table)
    _library("pyarrow.parquet", "to_parquet").write_table(content, os.fspath(path))


def to_dataset(results: RecordedResults) -> Dataset:
    """Return an `xarray.Dataset`: stat columns as config x replicate x tick, reducers and rows as config x replicate.

    A run that ended early, or has no row, is NaN from there on. Parameters and action ticks are coordinates of
    ``config``, run ids and seeds of config x replicate. Units stand in the attributes of the variables, the provenance
    in those of the dataset.

    Raises:
        NeedsExtraError: xarray is not installed.
        TableDamagedError: A record of series.csv is none.
        MissingFileError: There is no series.csv.
    """
    xarray = _library("xarray", "to_xarray")
    grid = _Grid(results)
    taken: set[str] = {"config", "replicate", "tick"}
    coords = {name: _variable(dims, data, name, results) for name, dims, data in grid.coordinates(taken)}
    variables = {name: _variable(dims, data, name, results) for name, dims, data in grid.variables(taken)}
    return xarray.Dataset(variables, coords=coords, attrs=provenance_of(results))


class _Grid:
    """Rows and series laid out by config, replicate and tick."""

    def __init__(self, results: RecordedResults) -> None:
        self._results, runs = results, results.runs
        self.configs, self._first, position = np.unique(runs["config_id"], return_index=True, return_inverse=True)
        self.replicates, rep = np.unique(runs["rep"], return_inverse=True)
        self._cell = position.reshape(-1) * len(self.replicates) + rep.reshape(-1)
        self._shape = (len(self.configs), len(self.replicates))

    def coordinates(self, taken: set[str]) -> Iterator[tuple[str, tuple[str, ...], NDArray[Any]]]:
        runs = self._results.runs
        yield "config", ("config",), self.configs
        yield "replicate", ("replicate",), self.replicates
        yield free_name("block", taken), ("config",), runs["block"][self._first]
        for id in runs.param_ids:
            yield free_name(id, taken, "param"), ("config",), runs.param(id)[self._first]
        for name in runs.actions:
            yield free_name(f"{ACTION}{name}", taken), ("config",), runs.action(name)[self._first]
        for name in ("run_id", "seed", "run_key"):
            yield free_name(name, taken, "run"), ("config", "replicate"), self._spread(runs[name])

    def variables(self, taken: set[str]) -> Iterator[tuple[str, tuple[str, ...], NDArray[Any]]]:
        results, both = self._results, ("config", "replicate")
        for name in (*MEASURED, "note"):
            yield free_name(name, taken, "run"), both, self._spread(results.runs[name])
        for name in results.reducer_columns:
            yield free_name(name, taken, "reducer"), both, self._spread(results.runs.reducer(name))
        ticks, values = self._series()
        yield "tick", ("tick",), ticks
        for name, column in zip(results.stat_columns, values, strict=True):
            yield free_name(name, taken, "stat"), (*both, "tick"), column

    def _spread(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of the rows as ``(configs, replicates)``, with a filling where there is no row."""
        cells = self._shape[0] * self._shape[1]
        if column.dtype.kind == "f":
            laid = np.full(cells, np.nan, column.dtype)
        elif column.dtype.kind == "i":
            laid = np.full(cells, -1, column.dtype)
        else:
            laid = np.zeros(cells, column.dtype)
        laid[self._cell] = column
        return laid.reshape(self._shape)

    def _series(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the ticks of all series, ascending, and values ``(columns, configs, replicates, ticks)``."""
        results = self._results
        found: set[int] = set()
        for _, series in results.all_series():
            found.update(series.ticks.tolist())
        ticks = np.array(sorted(found), np.int64)
        values = np.full((len(results.stat_columns), self._shape[0] * self._shape[1], len(ticks)), np.nan)
        cells = dict(zip(results.runs["run_id"].tolist(), self._cell.tolist(), strict=True))
        for run_id, series in results.all_series():
            values[:, cells[run_id], np.searchsorted(ticks, series.ticks)] = series.values.T
        return ticks, values.reshape(len(results.stat_columns), *self._shape, len(ticks))


def _variable(dims: tuple[str, ...], data: NDArray[Any], name: str, results: RecordedResults) -> tuple[Any, ...]:
    attributes = {}
    if data.dtype.kind in "fiu" and name not in ("config", "replicate", "block", "run_id", "seed"):
        attributes["units"] = UNITS.get(name, "tick" if name.startswith(ACTION) else "1")
    for param in results.manifest.model.schema.get("params", ()):  # type: ignore[attr-defined]
        if param["id"] == name and dims == ("config",):
            attributes["long_name"] = str(param.get("label", name))
    return dims, data, attributes


def _columns_of(results: RecordedResults, table: str) -> Iterator[tuple[str, NDArray[Any]]]:
    if table == "runs":
        taken: set[str] = set()
        for position, name in enumerate(results.runs.columns):
            yield free_name(name, taken, "reducer" if position > len(LEADING) else "run"), results.runs.at(position)
    elif table == "series":
        keys, values = _long_series(results)
        yield from keys.items()
        yield from zip(_stat_names(results, keys), values.T, strict=True)
    else:
        own = results.table_ids
        hint = f"; one of the model's own is results.table({table!r})" if table in own else ""
        if results.is_search:
            hint = "; those of a search are results.search.table(NAME)"
        raise UsageError(f"no table {table!r}; allowed: 'runs' or 'series'{hint}")


def _long_series(results: RecordedResults) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    ids, ticks, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, len(results.stat_columns)))]
    for run_id, series in results.all_series():
        ids.append(np.full(len(series), run_id, np.int64))
        ticks.append(series.ticks)
        values.append(series.values)
    run_ids = np.concatenate(ids)
    runs = results.runs
    order = np.argsort(runs["run_id"])
    rows = order[np.searchsorted(runs["run_id"][order], run_ids)]
    keys = {
        "run_id": run_ids,
        "config_id": runs["config_id"][rows],
        "rep": runs["rep"][rows],
        "tick": np.concatenate(ticks),
    }
    return keys, np.concatenate(values)


def _stat_names(results: RecordedResults, keys: Mapping[str, object]) -> list[str]:
    taken = set(keys)
    return [free_name(name, taken, "stat") for name in results.stat_columns]


def free_name(name: str, taken: set[str], group: str = "run") -> str:
    """Return `name`, or ``GROUP.name`` where that is taken, and take it."""
    while name in taken:
        name = f"{group}.{name}"
    taken.add(name)
    return name


def _library(name: str, what: str) -> _Library:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NeedsExtraError(what, name.partition(".")[0]) from error
