"""What a search was told and came to, read back from its tables.

Owns what those tables say together. evaluations.csv has nearly all of it, whatever state the search was left in: a
batch counts once batches.csv has its row, the ranking and the archive follow from the rows of such batches, and the
file that is made at the end must agree. Ranges of axes come from the first samples, as they did while the search ran.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ManifestError, SpecError, TableDamagedError, UsageError, counted, near_miss
from henad_web.explore.columns import (
    ARCHIVE_LEADING,
    ARCHIVE_OUTPUTS,
    BATCH_ARCHIVE,
    BATCH_BEST,
    BATCH_FRONT,
    BATCH_LEADING,
    BEST_LEADING,
    EVALUATION_LEADING,
    EVALUATION_OBJECTIVES,
    EVALUATION_SCORE,
    FRONT_GENERATION_EACH,
    FRONT_GENERATION_LEADING,
    GENERATION,
    each_column,
)
from henad_web.explore.search_spec import Goal, PseSettings
from henad_web.explore.spec_file import parse_spec_document
from henad_web.markup import facts_html
from henad_web.model.decimals import whole_text
from henad_web.output.manifest import Manifest
from henad_web.output.names import BATCHES, EVALUATIONS, GENERATIONS, MANIFEST
from henad_web.output.search_tables import archive_cells, member_cells, ranking_cells, search_files
from henad_web.results.facts import search_facts
from henad_web.results.search_columns import SearchColumns, read_rows
from henad_web.search.fronts import first_front, ranked
from henad_web.search.genetic import Generation
from henad_web.search.log import RankedCandidate
from henad_web.search.nsga2 import FrontGeneration, RankedMember
from henad_web.search.pattern import Archive, ArchiveEntry, PatternAxis, Placement
from henad_web.search.pse import initial_count
from henad_web.search.scoring import rank_of
from henad_web.search.searcher import drained

if TYPE_CHECKING:
    from henad_web.results.recorded import RecordedResults

__all__ = ["BatchStanding", "SearchHistory", "check_settings_of"]

Axes = tuple[PatternAxis, PatternAxis]

_REEVALUATED = EVALUATION_LEADING[5]
_SUFFIX = ".csv"
_FIRST_RECORD = 2
"""Record of a table that is its first row: the header is the first."""


def check_settings_of(manifest: Manifest, *, path: str | None) -> None:
    """Make sure that the search of `manifest`, if it is one, has settings that can be.

    Raises:
        ManifestError: It has not.
    """
    if manifest.mode != "search":
        return
    name = MANIFEST if path is None else f"{MANIFEST} of {path}"
    try:
        spec = parse_spec_document(manifest.spec)
    except SpecError as error:
        # Whatever else is wrong with a spec keeps nobody from reading rows.
        if all(problem.place.table[:1] == ("search",) for problem in error.problems):
            raise ManifestError(f"{name} has settings of a search that cannot be: {error}") from error
        return
    if spec.search is None:
        raise ManifestError(f"{name} says that it is of a search, and its spec has no [search]; restore it from a copy")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStanding:
    """Where a search stood behind one of its batches.

    Attributes:
        batch: Its number, from 0.
        evaluations: Candidates evaluated so far.
        runs: Runs written for them.
        best_candidate_id: Who led the ranking, None unless there is one objective.
        best_objective: What that one came to; infinite where it had no finite value.
        front_size: Members of the first front of its last complete generation, of several objectives; None before one.
        filled_cells: Cells that were met so far, None of a search for objectives.
    """

    batch: int
    evaluations: int
    runs: int
    best_candidate_id: int | None = None
    best_objective: float | None = None
    front_size: int | None = None
    filled_cells: int | None = None


@dataclass(slots=True, kw_only=True)
class _Subject:
    """What is known of one candidate, its repetitions included; fields as those of `RankedMember`."""

    candidate_id: int
    first_batch: int
    objectives: tuple[float, ...] = ()
    replicate_count: int = 0
    failed_count: int = 0
    evaluations: int = 0

    def counts(self) -> dict[str, int]:
        """Return what an entry of a ranking has beside its objectives."""
        return {
            "candidate_id": self.candidate_id,
            "first_batch": self.first_batch,
            "replicate_count": self.replicate_count,
            "failed_count": self.failed_count,
            "evaluations": self.evaluations,
        }


class SearchHistory:
    """A search read back, as far as its batches are whole. Made by `RecordedResults.search`.

    Attributes:
        settings: The search as the spec has it.
        files: Its tables: their names and columns.
        evaluations: evaluations.csv: a row a candidate, in the order of asking.
        batches: Where it stood behind each batch.
        generations: The generations that were complete, in order; empty unless it breeds some for one objective.
        front_generations: The same of several objectives.
        ranking: Every candidate, the best first; empty unless it has one objective. An objective that is not finite is
            the worst there is.
        front: Those that none of all candidates dominates, the least crowded first; empty unless it has several
            objectives.
        archive: The cells that were met, by x and then y; empty unless it looks for patterns. Genomes are in no table
            and empty here.
        outside_count: Evaluations outside the range of an axis, in a cell at its end.
        axes: Both axes of a search for patterns, None while their ranges wait for the first samples.
    """

    def __init__(self, results: RecordedResults) -> None:
        """Read the tables of `results`; raises what `RecordedResults.search` does."""
        search = results.spec.search
        if search is None:
            raise UsageError("the results are of a sweep; allowed: those of a search")
        self.settings, self._results = search, results
        self.files = search_files(search, results.runs.layout.configs)
        self._files = {file.name: file for file in self.files}
        *growing, self._outcome = self.files
        if results.manifest.has_ended:
            for file in growing:
                results.check_holds(file.name)
        self._tables, self._told_rows = self._read_batches()
        self.batches = tuple(self._standings())
        self.generations: tuple[Generation, ...] = ()
        self.front_generations: tuple[FrontGeneration, ...] = ()
        self._read_generations()
        self.ranking = () if search.objective is None else tuple(self._ranked(search.objective.goal))
        self.front = self._first_front() if search.objectives else ()
        self.axes, self.archive, self.outside_count = (None, (), 0) if search.pse is None else self._placed(search.pse)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        size = f"{counted(len(self.evaluations), 'evaluation')} in {len(self.batches)} batches"
        return f"<SearchHistory of a {self.settings.algorithm} search: {size}>"

    def _repr_html_(self) -> str:
        title = f"{self.settings.algorithm} search: {counted(len(self.evaluations), 'evaluation', grouped=True)}"
        return facts_html(title, search_facts(self))

    @property
    def evaluations(self) -> SearchColumns:
        """The table evaluations.csv, a row a candidate in the order of asking."""
        return self._tables[EVALUATIONS]

    @property
    def table_names(self) -> tuple[str, ...]:
        """What `table` takes: the names of the files of this search, without their ending."""
        return tuple(name.removesuffix(_SUFFIX) for name in self._files)

    def table(self, name: str) -> SearchColumns:
        """Return one table as columns: ``"evaluations"``, ``"batches"``, ``"generations"``, ``"best"``, ``"archive"``.

        The last two are the files that are made at the end, and before it what they would be by now.

        Raises:
            UsageError: A search of this kind has no such table.
            TableDamagedError: It is not one that a search writes.
        """
        if name not in self.table_names:
            hint = near_miss(str(name), self.table_names)
            wrong = f"no table {whole_text(name)} of a {self.settings.algorithm} search"
            allowed = f"allowed: {', '.join(map(repr, self.table_names))}"
            raise UsageError("; ".join(filter(None, [wrong, allowed, hint])))
        file = self._files[f"{name}{_SUFFIX}"]
        if file.name not in self._tables:
            self._tables[file.name] = self._read_outcome()
        return self._tables[file.name]

    def _rows(self, name: str) -> list[list[str]]:
        with self._results.reader(name)() as stream:
            return read_rows(stream, self._files[name])

    def _columns(self, name: str, rows: Sequence[Sequence[str]]) -> SearchColumns:
        return SearchColumns(self._files[name], rows, self._results)

    def _read_batches(self) -> tuple[dict[str, SearchColumns], list[list[str]]]:
        """Return batches.csv and evaluations.csv as far as batches are whole, and the rows of the latter."""
        manifest = self._results.manifest
        # A search that runs writes the row of a batch last, so it is read first.
        rows = {name: self._rows(name) for name in (BATCHES, EVALUATIONS)}
        batches = self._columns(BATCHES, rows[BATCHES])
        _check_batches(batches, manifest.plan.replicates)
        ends, found = batches[BATCH_LEADING[1]], len(rows[EVALUATIONS])
        if manifest.has_ended:
            _check_count(EVALUATIONS, found, int(ends[-1]) if len(ends) else 0, BATCHES)
        told = int(np.searchsorted(ends, found, side="right"))
        count = int(ends[told - 1]) if told else 0
        evaluations = self._columns(EVALUATIONS, rows[EVALUATIONS][:count])
        _check_evaluations(evaluations, np.diff(ends[:told], prepend=0), manifest.plan.replicates)
        tables = {BATCHES: self._columns(BATCHES, rows[BATCHES][:told]), EVALUATIONS: evaluations}
        return tables, rows[EVALUATIONS][:count]

    def _standings(self) -> Iterator[BatchStanding]:
        batches = self._tables[BATCHES]
        columns = [batches[name].tolist() for name in BATCH_LEADING]
        for position, (batch, evaluations, runs) in enumerate(zip(*columns, strict=True)):
            standing = BatchStanding(batch=batch, evaluations=evaluations, runs=runs)
            if self.settings.objectives:
                size = int(batches[BATCH_FRONT[0]][position])
                yield replace(standing, front_size=None if size < 0 else size)
            elif self.settings.pse is not None:
                yield replace(standing, filled_cells=int(batches[BATCH_ARCHIVE[0]][position]))
            elif self.settings.objective is not None:
                best, objective = (batches[name][position].item() for name in BATCH_BEST)
                objective = _known(objective, self.settings.objective.goal)
                yield replace(standing, best_candidate_id=None if best < 0 else best, best_objective=objective)

    def _read_generations(self) -> None:
        if GENERATIONS not in self._files:
            return
        table = self._tables[GENERATIONS] = self._columns(GENERATIONS, self._rows(GENERATIONS))
        _check_column(table, GENERATION[0], np.arange(len(table)))
        if not self.settings.objectives:
            fitness = [self._objectives(table, (name,)) for name in GENERATION[1:]]
            rows = zip(*fitness, strict=True)
            self.generations = tuple(Generation(number, *sum(row, ())) for number, row in enumerate(rows))
            return
        counts = [table[name].tolist() for name in FRONT_GENERATION_LEADING]
        watched = self.settings.watched_columns
        bounds = [self._objectives(table, each_column(name, watched)) for name in FRONT_GENERATION_EACH]
        self.front_generations = tuple(
            FrontGeneration(number=number, members=members, front_size=size, best=best, median=median, worst=worst)
            for number, members, size, best, median, worst in zip(*counts, *bounds, strict=True)
        )

    def _objectives(self, table: SearchColumns, columns: Sequence[str]) -> list[tuple[float, ...]]:
        """Return, row by row, what `columns` of `table`, one an objective, hold."""
        objectives = zip((table[name].tolist() for name in columns), self.settings.all_objectives, strict=True)
        known = [[_known(value, objective.goal) for value in values] for values, objective in objectives]
        return list(zip(*known, strict=True))

    def _subjects(self) -> dict[int, _Subject]:
        """Return what is known of each candidate that repeats none, by its id."""
        evaluations, failed, replicates = self.evaluations, EVALUATION_SCORE[0], EVALUATION_SCORE[-1]
        pooled = self._objectives(evaluations, self._pooled_columns)
        names = (EVALUATION_LEADING[0], EVALUATION_LEADING[1], _REEVALUATED, failed, replicates)
        found: dict[int, _Subject] = {}
        columns = [evaluations[name].tolist() for name in names]
        for candidate_id, batch, repeated, failures, runs, objectives in zip(*columns, pooled, strict=True):
            id = candidate_id if repeated < 0 else repeated
            subject = found.setdefault(id, _Subject(candidate_id=id, first_batch=batch))
            subject.objectives, subject.replicate_count = objectives, runs
            subject.failed_count += failures
            subject.evaluations += 1
        return found

    @property
    def _pooled_columns(self) -> tuple[str, ...]:
        name = EVALUATION_OBJECTIVES[1]
        return each_column(name, self.settings.watched_columns) if self.settings.objectives else (name,)

    def _ranked(self, goal: Goal) -> list[RankedCandidate]:
        subjects = sorted(
            self._subjects().values(), key=lambda each: (rank_of(each.objectives[0], goal), each.candidate_id)
        )
        return [RankedCandidate(objective=each.objectives[0], **each.counts()) for each in subjects]

    def _first_front(self) -> tuple[RankedMember, ...]:
        subjects = list(self._subjects().values())
        goals = [objective.goal for objective in self.settings.objectives]
        costs = np.array([list(map(rank_of, each.objectives, goals)) for each in subjects]).reshape(-1, len(goals))
        members = drained(first_front(costs))
        ranking = drained(ranked(costs[members]))
        front = [(subjects[members[place]], place) for place in ranking.order.tolist()]
        return tuple(
            RankedMember(objectives=each.objectives, front=0, distance=float(ranking.distances[place]), **each.counts())
            for each, place in front
        )

    def _placed(self, settings: PseSettings) -> tuple[Axes | None, tuple[ArchiveEntry, ...], int]:
        """Return the axes, the archive and how many evaluations were outside the axes."""
        archive, first = Archive(settings), initial_count(settings, self.settings.max_evaluations)
        places = [self.evaluations[name].tolist() for name in ARCHIVE_OUTPUTS]
        landed = {id: Placement(x, y) for id, (x, y) in enumerate(zip(*places, strict=True)) if not math.isnan(x + y)}
        if archive.axes is None and len(self.evaluations) >= first:
            archive.set_ranges([placement for id, placement in landed.items() if id < first])
        if archive.axes is None:
            return None, (), 0
        outside = 0
        for id, placement in landed.items():
            located = archive.located(placement)
            archive.file(id, (), located)
            outside += located.is_outside
        return archive.axes, archive.entries(), outside

    def _read_outcome(self) -> SearchColumns:
        """Return the file that is made at the end: as it is, or what it would be by now."""
        name, made = self._outcome.name, list(self._outcome_rows())
        if not self._results.manifest.has_ended or not self._results.holds(name):
            return self._columns(name, made)
        table, expected = self._columns(name, self._rows(name)), self._columns(name, made)
        _check_count(name, len(table), len(expected), EVALUATIONS)
        for column in BEST_LEADING if self.settings.pse is None else ARCHIVE_LEADING[:2]:
            _check_column(table, column, expected[column])
        return table

    def _outcome_rows(self) -> Iterator[list[str]]:
        first, count = len(EVALUATION_LEADING), len(self._results.runs.layout.configs)

        def config(candidate_id: int) -> list[str]:
            return self._told_rows[candidate_id][first : first + count]

        for rank, entry in enumerate(self.ranking, start=1):
            yield ranking_cells(rank, entry, config(entry.candidate_id))
        for rank, member in enumerate(self.front, start=1):
            yield member_cells(rank, member, config(member.candidate_id))
        if self.axes is not None:
            for cell in self.archive:
                yield archive_cells(cell, self.axes, config(cell.candidate_id))


def _known(objective: float, goal: Goal) -> float:
    """Return `objective` as a search takes it: an empty cell is the worst there is."""
    if not math.isnan(objective):
        return objective
    return -math.inf if goal is Goal.MAXIMIZE else math.inf


def _check_batches(table: SearchColumns, replicates: int) -> None:
    number, evaluations, runs = BATCH_LEADING
    _check_column(table, number, np.arange(len(table)))
    ends = table[evaluations]
    short = np.flatnonzero(np.diff(ends, prepend=0) < 1)
    if len(short):
        first = int(short[0])
        before = int(ends[first - 1]) if first else 0
        _refuse(table, evaluations, first, f"more than {before}")
    _check_column(table, runs, ends * replicates)


def _check_evaluations(table: SearchColumns, sizes: NDArray[np.int64], replicates: int) -> None:
    """Make sure that the ids, batches and repetitions of evaluations.csv are those of batches of `sizes`."""
    number, batch = EVALUATION_LEADING[:2]
    ids = np.arange(len(table))
    _check_column(table, number, ids)
    _check_column(table, batch, np.repeat(np.arange(len(sizes)), sizes.astype(np.intp)))
    _check_column(table, EVALUATION_LEADING[-1], np.full(len(table), replicates))
    repeated = table[_REEVALUATED]
    is_first = repeated < 0
    wrong = np.flatnonzero(~is_first & ((repeated >= ids) | ~is_first[np.minimum(repeated, ids)]))
    if len(wrong):
        _refuse(table, _REEVALUATED, int(wrong[0]), "an earlier candidate that repeats none, or nothing")


def _check_column(table: SearchColumns, name: str, expected: NDArray[Any]) -> None:
    wrong = np.flatnonzero(table[name] != expected)
    if len(wrong):
        _refuse(table, name, int(wrong[0]), str(expected[wrong[0]]))


def _refuse(table: SearchColumns, name: str, row: int, expected: str) -> None:
    raise TableDamagedError(table.table, row + _FIRST_RECORD, name, came=str(table[name][row]), expected=expected)


def _check_count(table: str, found: int, expected: int, by: str) -> None:
    if found != expected:
        record = min(found, expected) + _FIRST_RECORD
        rows = f"{counted(expected, 'row')} in all, by {by}"
        raise TableDamagedError(table, record, came=counted(found, "row"), expected=rows)
