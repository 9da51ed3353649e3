"""Follows a recorded search by the values of its runs, and compares all that its tables say with what comes of that.

A search is told what runs.csv holds, batch by batch, and so asks for the same again: each row must be of the run that
it asks for, and each table hold what follows. Runs no model. Of a search that was cut off in its course, what a table
lacks at its end is no difference.
"""

from __future__ import annotations

import io
import math
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from henad_web.explore.columns import LEADING
from henad_web.explore.outcomes import RunStatus
from henad_web.model.params import ParamKind
from henad_web.output.names import MANIFEST, RUNS
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.search_tables import SearchTables
from henad_web.output.tables import config_texts
from henad_web.results.differences import Difference, TableDifference, is_equal
from henad_web.results.search_columns import read_rows
from henad_web.run.search_source import SearchSource

if TYPE_CHECKING:
    from henad_web.output.search_tables import SearchFile
    from henad_web.results.recorded import RecordedResults
    from henad_web.run.requests import RunRequest
    from henad_web.search.plan import SearchPlan
    from henad_web.search.searcher import Watched
    from henad_web.search.update import SearchUpdate

__all__ = ["SearchCheck"]

_MOST_DIFFERENCES = 1000
"""Differences past which a search is followed no further: a value that is another one changes all that comes later."""

_FROM_THE_START = ("algorithm", "search_hash", "max_evaluations", "batch_size", "search_seed", "watched_columns")
"""What a manifest says of a search from its start on; the other fields say where it stands at its end."""


class SearchCheck:
    """One search that is followed.

    Args:
        results: The results.
        plan: The search, made again from their spec.

    Attributes:
        cells: Cells compared.
        batches: Batches followed.
        differences: Cells of runs.csv that are not those of the runs that the search asks for.
        table_differences: Cells of its tables, and of its manifest, that do not follow from runs.csv.

    Raises:
        TableDamagedError: A record of a table is none.
        MissingFileError: A table is not there.
    """

    def __init__(self, results: RecordedResults, plan: SearchPlan) -> None:
        self._results, self._plan, self._source = results, plan, SearchSource(plan)
        self._tables, self._has_ended = SearchTables(plan, self._source.searcher), results.manifest.has_ended
        self._texts = {param.id for param in plan.base.schema.params if param.kind is ParamKind.TEXT}
        files = () if results.search is None else results.search.files
        self._headers = {file.name: file.header for file in files}
        self._recorded = {file.name: self._rows_of(file) for file in files}
        self._watched = [results.runs.reducer(column) for column in plan.search.watched_columns]
        self.cells = self.batches = 0
        self.differences: list[Difference] = []
        self.table_differences: list[TableDifference] = []
        self._is_cut = False

    def pieces(self) -> Generator[None, None, None]:
        """Yield after each piece of some milliseconds."""
        with self._results.reader(RUNS)() as stream:
            yield from self._follow(islice(RecordReader(stream, RUNS), 1, 1 + len(self._results.runs)))
        self._compare_standing()
        if self._has_ended and not self._is_cut:
            yield from self._compare_outcome()

    def remarks(self) -> Iterator[str]:
        """Yield what was not compared, and why a difference may be no fault."""
        if self._is_cut:
            yield "the search was followed no further, since it would ask for other runs than those that are recorded"
        algorithm = self._plan.search.algorithm
        if not algorithm.is_portable:
            yield f"a {algorithm} search may choose other candidates on another machine than the one that ran it"

    def _rows_of(self, file: SearchFile) -> Iterator[tuple[int, list[str]]]:
        """Return the rows of a table, each with the number of its record."""
        with self._results.reader(file.name)() as stream:
            return enumerate(read_rows(stream, file), start=2)

    def _follow(self, rows: Iterator[TableRecord]) -> Generator[None, None, None]:
        """Tell the search of the runs that there are `rows` of, and compare its tables batch by batch."""
        while True:
            request = self._source.next()
            if request is None:
                turn = self._source.turn(may_ask=True)
                if turn is None:
                    break
                if turn.update is not None:
                    yield from self._compare_batch(turn.update)
            elif (row := next(rows, None)) is None:
                return
            else:
                self._compare_row(row.fields, request)
                self._source.hear(self._watched_at(request.run.run_id))
            if self._is_cut:
                return
            yield
        for row in rows:
            self.differences.append(Difference(int(row.fields[0]), RUNS, LEADING[0], None, row.fields[0], None))

    def _compare_batch(self, update: SearchUpdate) -> Generator[None, None, None]:
        for name, content in (yield from self._tables.rows(update)).items():
            self._compare(name, content)
        self._tables.written(update)
        self.batches += 1
        self._is_cut = len(self.differences) + len(self.table_differences) > _MOST_DIFFERENCES

    def _compare_row(self, row: Sequence[str], request: RunRequest) -> None:
        """Compare what a row is of with the run that the search asks for."""
        run, config = request.run, request.config
        ids = run.run_id, run.config_id, config.block, run.rep, run.seed, request.run_key
        expected = [*map(str, ids), *config_texts(self._plan.base.schema.params, config)]
        names = (*LEADING, *self._results.runs.layout.configs)
        for name, recorded, text in zip(names, row, expected, strict=False):
            self.cells += 1
            if not is_equal(recorded, text, is_text=name in self._texts):
                self.differences.append(Difference(run.run_id, RUNS, name, None, recorded, text))
        self._is_cut = row[0] != str(run.run_id)

    def _watched_at(self, row: int) -> Watched:
        if RunStatus(self._results.runs["status"][row]).is_failure:
            return (None,) * len(self._watched)
        values = (float(column[row]) for column in self._watched)
        return tuple(None if math.isnan(value) else value for value in values)

    def _compare(self, name: str, content: bytes) -> None:
        """Compare the next records of the table `name` with `content`, those that follow from the runs."""
        header = self._headers[name]
        for record in RecordReader(io.BytesIO(content), name):
            expected, (number, found) = record.fields, next(self._recorded[name], (None, None))
            if found is None:
                if self._has_ended:
                    self.table_differences.append(TableDifference(name, None, header[0], None, expected[0]))
                continue
            for column, cell, other in zip(header, found, expected, strict=True):
                self.cells += 1
                if not is_equal(cell, other, is_text=column in self._texts):
                    self.table_differences.append(TableDifference(name, number, column, cell, other))

    def _compare_outcome(self) -> Generator[None, None, None]:
        """Compare the file that was made at the end, and find records that follow from no run."""
        pieces = self._tables.outcome_rows()
        next(pieces)  # the header, which reading has looked at
        for piece in pieces:
            self._compare(self._tables.outcome.name, piece)
            yield
        for name, rows in self._recorded.items():
            column = self._headers[name][0]
            for number, row in rows:
                self.table_differences.append(TableDifference(name, number, column, row[0], None))

    def _compare_standing(self) -> None:
        recorded = msgspec.to_builtins(self._results.manifest.search) or {}
        for name, expected in msgspec.to_builtins(self._tables.standing()).items():
            if name in _FROM_THE_START or (self._has_ended and not self._is_cut):
                self.cells += 1
                cell = recorded.get(name)
                if str(cell) != str(expected):
                    texts = (msgspec.json.encode(value).decode() for value in (cell, expected))
                    self.table_differences.append(TableDifference(MANIFEST, None, f"search.{name}", *texts))
