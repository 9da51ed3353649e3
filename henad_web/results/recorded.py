"""One result set read back: manifest, rows, series, summary, and the plan and models behind them.

Owns what a result set is once its files are open. Where the files are, and whether somebody still writes them, is told
by whoever opens them. Writes nothing.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from henad_web.errors import UsageError, counted, near_miss
from henad_web.explore.outcomes import RunStatus
from henad_web.explore.plan import Config, Plan
from henad_web.model.decimals import whole_text
from henad_web.model.entry import ModelSet, ModelsGiven
from henad_web.model.schema import Schedule, ScheduledAction, schedule_of
from henad_web.models import example_models
from henad_web.models.installed import find_installed
from henad_web.output.manifest import Manifest, ManifestStatus, layout_of, spec_of
from henad_web.output.names import MANIFEST, RUNS, SERIES, SUMMARY, own_table_name
from henad_web.output.own_tables import own_files
from henad_web.output.record import Counts, non_finite_line
from henad_web.results.errors import MissingFileError, ModelChangedError
from henad_web.results.facts import results_html
from henad_web.results.own_tables import RecordedTable
from henad_web.results.recognition import Opener, ResultFiles
from henad_web.results.replays import Replay, ReplayPoint, recorded_config, replay_of
from henad_web.results.runs import RecordedRuns
from henad_web.results.search import SearchHistory, check_settings_of
from henad_web.results.series import RecordedSeries, SeriesBlock, SeriesColumns, SeriesFile
from henad_web.results.summary import RecordedSummary
from henad_web.wording import henad_command, models_named

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.model.entry import ModelEntry
    from henad_web.model.state import ModelState
    from henad_web.output.table_index import SeriesIndex

__all__ = [
    "MISSING_SERIES",
    "RecordedResults",
    "ResultStatus",
    "RunSeries",
]


MISSING_SERIES = (
    f"there is no {SERIES}: the samples of the runs are not here; restore the file, or go on with the results to have "
    f"the runs done again whose samples were kept"
)
"""What is told of results that lack their series."""

MISSING_TABLE = (
    "there is no {name}, which a table of the model's own needs; restore the file, or go on with the results to have "
    "the runs done again"
)
"""What is told of results that lack a table of the model's own."""


class ResultStatus(StrEnum):
    """How far a result set has come, as its reader sees it.

    Those of a manifest, and `INTERRUPTED` for one that says it is being written while nobody writes it.
    """

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETE = "complete"
    ABORTED = "aborted"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeries:
    """Series of some runs, as far as a budget went.

    Attributes:
        held: Series by run id, in the order of the file.
        dropped: Ids of the runs that found no room, ascending.
    """

    held: Mapping[int, RecordedSeries]
    dropped: tuple[int, ...]


class RecordedResults:
    """A result set. Made by `henad_web.ResultSet`.

    Attributes:
        path: Directory or archive it was opened from, None for memory.
        manifest: Its manifest.
        runs: Its rows.
        ignored: Names of files among those given that are no part of it.
    """

    def __init__(
        self,
        files: ResultFiles,
        *,
        models: ModelsGiven | None = None,
        series_budget: int | None = None,
        is_live: bool = False,
    ) -> None:
        """Read manifest and rows of `files`.

        Args:
            files: The parts.
            models: The models that `plan` and `replay` look the model up in; the examples when None.
            series_budget: Bytes of series kept in memory once read, counted as ``rows * (columns + 1) * 8``; None keeps
                them all. Series beyond it are read from the file each time.
            is_live: Whether somebody writes the files now.

        Raises:
            ManifestError: The manifest cannot be read, or has settings of a search that cannot be.
            MissingFileError: There is no table of runs, and no writer died that would have made it.
            ResultsError: A table is not what a sweep writes.
        """
        self._files, self._budget, self._is_live = files, series_budget, is_live
        self._models = None if models is None else ModelSet.of(models)
        self.path, self.ignored = files.path, files.ignored
        self.manifest = Manifest.read(files.read(MANIFEST), path=files.path)
        check_settings_of(self.manifest, path=files.path)
        if self.manifest.has_ended:
            files.check_runs()
        with self.reader(RUNS)() as stream:
            self.runs = RecordedRuns(stream, layout_of(self.manifest))
        self._series = SeriesFile(files.parts.get(SERIES), self.stat_columns)
        self._kept: dict[int, RecordedSeries] = {}
        self._tables: dict[str, RecordedTable] = {}

    def __repr__(self) -> str:
        """Return the facts on one line."""
        where = "memory" if self.path is None else self.path
        rows = f"{len(self.runs)} of {counted(self.expected_runs, 'run')}"
        return f"<{type(self).__name__} of '{self.manifest.model.id}' in {where}: {self.status}, {rows}>"

    def _repr_html_(self) -> str:
        return results_html(self)

    @property
    def stat_columns(self) -> tuple[str, ...]:
        """Columns of the series."""
        return self.manifest.columns.stats

    @property
    def reducer_columns(self) -> tuple[str, ...]:
        """Reducer columns of the runs."""
        return self.manifest.columns.reducers

    @property
    def status(self) -> ResultStatus:
        """How far it has come."""
        status = self.manifest.status
        if status is ManifestStatus.RUNNING and not self._is_live:
            return ResultStatus.INTERRUPTED
        return ResultStatus(status.value)

    @property
    def counts(self) -> Counts:
        """Its rows by how they ended, counted from the table and not from what the manifest says."""
        status = self.runs["status"]
        non_finite = int(np.count_nonzero(self.runs.is_non_finite))
        ok = int(np.count_nonzero(status == RunStatus.OK.value))
        return Counts(rows=len(status), ok=ok, non_finite=non_finite, failed=len(status) - ok - non_finite)

    @property
    def non_finite_line(self) -> str | None:
        """What to tell whoever looks at reducers of runs that met a value which is not finite; None without any."""
        return non_finite_line(self.counts)

    @property
    def is_complete(self) -> bool:
        """Whether every run of its part of the plan has a row, and the manifest says so."""
        return self.manifest.status is ManifestStatus.COMPLETE and len(self.runs) == self.expected_runs

    @property
    def expected_runs(self) -> int:
        """Runs of its part of the plan; with adaptive replicates, and of a search, the most until it has ended."""
        return self.manifest.expected_runs

    @property
    def has_series(self) -> bool:
        """Whether there is a series.csv; without one, whatever asks for samples raises MissingFileError."""
        return self._series.is_there

    @property
    def missing_line(self) -> str | None:
        """What to tell whoever opened results that lack a part, None when nothing is missing."""
        if not len(self.runs):
            return None
        if not self.has_series:
            return MISSING_SERIES
        missing = next((file.name for file in own_files(self.manifest.columns) if not self.holds(file.name)), None)
        return None if missing is None else MISSING_TABLE.format(name=missing)

    def holds(self, part: str) -> bool:
        """Return whether the file `part` is there, by its usual name."""
        return part in self._files.parts

    def check_holds(self, part: str) -> None:
        """Make sure that the file `part` is there.

        Raises:
            MissingFileError: It is not.
        """
        if not self.holds(part):
            raise MissingFileError([part], self._files.names, self.path)

    @property
    def is_search(self) -> bool:
        """Whether it is of a search."""
        return self.manifest.mode == "search"

    @cached_property
    def search(self) -> SearchHistory | None:
        """What a search was told, batch by batch, and what it came to; None of a sweep.

        Of one that runs, was killed or failed, that is what its tables hold of whole batches.

        Raises:
            TableDamagedError: A record of one of its tables is not one that a search writes.
            MissingFileError: It came to its end, and a table that grew is not there.
            SpecError: The manifest holds no spec that can be read.
        """
        return SearchHistory(self) if self.is_search else None

    @cached_property
    def spec(self) -> SweepSpec:
        """The study, read back from the manifest.

        Raises:
            SpecError: The manifest holds no spec that can be read.
        """
        return spec_of(self.manifest)

    @cached_property
    def entry(self) -> ModelEntry:
        """The model, looked up among `models`; without any, among the examples and in installed packages.

        Raises:
            UnknownModelError: It is not there.
        """
        id, models = self.manifest.model.id, self._models
        if models is None:
            models = example_models()
            models = models if id in models else find_installed(models).models
        return models.lookup(id)

    @property
    def schema_matches(self) -> bool:
        """Whether the model found is shaped like the one that wrote the results.

        Raises:
            UnknownModelError: The model is not known.
        """
        return self.entry.schema().schema_hash == self.manifest.model.schema_hash

    @cached_property
    def plan(self) -> Plan:
        """The plan, made again from spec and model.

        Raises:
            UnknownModelError: The model is not known.
            ModelChangedError: It is no longer shaped like the one that wrote the results.
            SpecError: The manifest holds no spec that can be read.
        """
        return Plan.of(self.spec, self.checked_entry().schema(), allow_name_clashes=True)

    @cached_property
    def summary(self) -> RecordedSummary:
        """What the replicates of each config say together: summary.csv, or what it would be for the rows so far.

        Raises:
            ResultsError: The table is not what a sweep writes.
        """
        opener = self._files.parts.get(SUMMARY) if self.manifest.has_ended else None
        adaptive = self.spec.run.adaptive if self.manifest.is_adaptive else None
        return RecordedSummary.read(opener, self.reader(RUNS), self.runs.layout, adaptive)

    @property
    def held_series_count(self) -> int:
        """Runs whose series fit the budget: the first ones, up to the run where it runs out."""
        return len(self._within(self._series_positions(), self._budget)) if self.has_series else 0

    def series(self, run_id: int) -> RecordedSeries:
        """Return the samples kept of the run `run_id`, empty where the spec keeps none.

        Raises:
            UnknownRunError: There is no row of that run.
            TableDamagedError: A record is not one that a sweep writes.
            MissingFileError: There is no series.csv.
        """
        kept = self._kept.get(run_id)
        if kept is not None:
            return kept
        if not self.runs.holds(run_id):
            self.runs.run(run_id)
        position = self._positions.get(run_id)
        series = RecordedSeries.empty(self.stat_columns) if position is None else self._series.read(position)
        if run_id in self._held:
            self._kept[run_id] = series
        return series

    def read_run_series(self, run_ids: Iterable[int], *, budget: int | None = None) -> RunSeries:
        """Return the series of `run_ids` in the order of the file, as far as `budget` bytes go.

        The run where the budget runs out is dropped, and so is every later one.

        Raises:
            UnknownRunError: One of the runs has no row.
            TableDamagedError: A record is not one that a sweep writes.
            MissingFileError: There is no series.csv.
        """
        wanted = set(run_ids)
        for run_id in sorted(wanted):
            if not self.runs.holds(run_id):
                self.runs.run(run_id)
        ids = self._series_index.run_ids
        order = [position for position in self._series_positions() if int(ids[position]) in wanted]
        kept = self._within(order, budget)
        held = {int(ids[position]): self._series.read(position) for position in kept}
        for run_id in sorted(wanted - {int(ids[position]) for position in order}):
            held[run_id] = RecordedSeries.empty(self.stat_columns)
        return RunSeries(held=held, dropped=tuple(sorted(wanted - held.keys())))

    def all_series(self) -> Iterator[tuple[int, RecordedSeries]]:
        """Yield id and series of every run that has rows there, in the order of the file, keeping none.

        Raises:
            TableDamagedError: A record is not one that a sweep writes.
            MissingFileError: There is no series.csv.
        """
        ids = self._series_index.run_ids.tolist()
        for run_id, series in zip(ids, self._series.read_stretch(0, len(ids)), strict=True):
            if self.runs.holds(run_id):
                yield run_id, series

    def series_blocks(self) -> Iterator[SeriesBlock]:
        """Yield the samples of all runs that `all_series` has, those of many runs together, a few megabytes at a time.

        Raises:
            TableDamagedError: A record is not one that a sweep writes.
            MissingFileError: There is no series.csv.
        """
        self._check_series()
        for block in self._series.read_blocks():
            yield block.only(self.runs.places(block.run_ids) >= 0)

    @property
    def series_row_count(self) -> int:
        """Samples kept of all runs; raises as `series_blocks` does."""
        index = self._series_index
        return int(index.rows[self.runs.places(index.run_ids) >= 0].sum())

    def series_columns(self, names: Sequence[str]) -> Generator[None, None, SeriesColumns]:
        """Return some stat columns of all runs, having yielded between bounded pieces of the file.

        They are kept for the next call where they fit ``series_budget``, which counts them by themselves.

        Raises:
            TableDamagedError: A record is not one that a sweep writes.
            MissingFileError: There is no series.csv.
        """
        self._check_series()
        return (yield from self._series.read_columns(names, self._budget))

    @property
    def table_ids(self) -> tuple[str, ...]:
        """Ids of the model's own tables that were kept."""
        return tuple(self.manifest.columns.own_tables)

    def table(self, id: str) -> RecordedTable:
        """Return the model's own table `id`: its rows run by run, and as tables of other libraries.

        Raises:
            UsageError: No such table was kept.
            MissingFileError: Its file is not there.
            TableDamagedError: It has other columns, or a record that is no row.
        """
        kinds = self.manifest.columns.own_tables
        if id not in kinds:
            allowed = f"allowed: {', '.join(map(repr, kinds))}" if kinds else "none was: [measure] tables asks for them"
            hint = near_miss(str(id), kinds)
            raise UsageError(f"no table {whole_text(id)} was kept; {allowed}" + (f"; {hint}" if hint else ""))
        name = own_table_name(id)
        if len(self.runs):
            self.check_holds(name)
        if id not in self._tables:  # its index takes a look at every row
            self._tables[id] = RecordedTable(id, kinds[id], self.reader(name), self)
        return self._tables[id]

    def schedule(self, run_id: int) -> Schedule:
        """Return the actions of the run `run_id` by tick.

        Raises:
            UnknownRunError: There is no row of that run.
        """
        ticks = self.runs.run(run_id).action_ticks
        return schedule_of(
            ScheduledAction(ticks[action.label], action.id, action.label) for action in self.spec.actions
        )

    def replay_of(self, run_id: int) -> Replay:
        """Return what the run `run_id` was made from.

        Raises:
            UnknownRunError: There is no row of that run.
            UnknownModelError: The model is not known.
            ModelChangedError: It is no longer shaped like the one that wrote the results.
        """
        return replay_of(self, run_id)

    def replay(self, run_id: int, at: str = ReplayPoint.START) -> ModelState:
        """Return the model of the run `run_id`.

        Args:
            run_id: The run.
            at: ``"start"`` is tick 0 before any action, to be stepped with `schedule`; ``"end"`` is the last tick of
                the row, its actions done. Of a run that failed, that is the tick before the fault.

        Raises:
            UsageError: `at` is another word.
            UnknownRunError: There is no row of that run.
            UnknownModelError: The model is not known.
            ModelChangedError: It is no longer shaped like the one that wrote the results.
        """
        return self.replay_of(run_id).state(ReplayPoint.of(at))

    def config(self, run_id: int) -> Config:
        """Return what the run `run_id` was built from, by its row.

        Raises:
            UnknownRunError: There is no row of that run.
            UnknownModelError: The model is not known.
            ModelChangedError: It is no longer shaped like the one that wrote the results.
        """
        return recorded_config(self, run_id)

    def replay_command(self, run_id: int) -> str:
        """Return the command that runs `run_id` again and compares it with its row.

        Raises:
            UnknownRunError: There is no row of that run.
        """
        self.runs.run(run_id)
        return henad_command("verify", self.path, "--run", str(run_id), models=models_named(self.manifest))

    def reader(self, part: str) -> Opener:
        """Return an opener of the file `part` as it stands; empty where there is none."""
        return self._files.parts.get(part, io.BytesIO)

    def checked_entry(self) -> ModelEntry:
        """Return the model.

        Raises:
            UnknownModelError: It is not known.
            ModelChangedError: It is no longer shaped like the one that wrote the results.
        """
        if not self.schema_matches:
            recorded = self.manifest.model.schema_hash
            raise ModelChangedError(self.manifest.model.id, recorded, self.entry.schema().schema_hash)
        return self.entry

    @property
    def _series_index(self) -> SeriesIndex:
        self._check_series()
        return self._series.index

    def _check_series(self) -> None:
        if len(self.runs):
            self.check_holds(SERIES)

    @cached_property
    def _positions(self) -> dict[int, int]:
        return self._series_index.positions

    def _series_positions(self) -> list[int]:
        # Rows of a run without a row of its own are what a killed sweep leaves; they count for nothing.
        run_ids = self._series_index.run_ids.tolist()
        return [position for position, run_id in enumerate(run_ids) if self.runs.holds(run_id)]

    @cached_property
    def _held(self) -> frozenset[int]:
        ids = self._series_index.run_ids
        return frozenset(int(ids[position]) for position in self._within(self._series_positions(), self._budget))

    def _within(self, positions: list[int], budget: int | None) -> list[int]:
        if budget is None:
            return positions
        sizes = self._series_index.rows[positions] * (len(self.stat_columns) + 1) * 8
        return positions[: int(np.searchsorted(np.cumsum(sizes), budget, side="right"))]
