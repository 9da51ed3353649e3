"""The tables of a search: which there are, their columns, and the bytes of their rows.

What a search is told of a batch is rows of evaluations.csv and batches.csv, and of generations.csv where it breeds; at
its end best.csv has the ranking, or the front of several objectives, or archive.csv the cells that were met. Owns the
order of their columns, whose names are `explore.columns`', and what the manifest says of a search. All of it follows
from runs.csv and the spec, so that a resume makes these files afresh. Opens no file.

What searches for one objective, for several and for patterns have of their own is a `_Kind` each: another one is a
class more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from henad_web.explore.cell_texts import csv_line, number_text
from henad_web.explore.columns import (
    ARCHIVE_LEADING,
    ARCHIVE_OUTPUTS,
    BATCH_ARCHIVE,
    BATCH_BEST,
    BATCH_FRONT,
    BATCH_LEADING,
    BEST_LEADING,
    BEST_MEMBER,
    BEST_OBJECTIVE,
    BEST_SCORE,
    EVALUATION_LEADING,
    EVALUATION_OBJECTIVES,
    EVALUATION_PLACE,
    EVALUATION_SCORE,
    FRONT_GENERATION_EACH,
    FRONT_GENERATION_LEADING,
    GENERATION,
    each_column,
)
from henad_web.explore.search_spec import SearchAlgorithm, SearchSpec
from henad_web.output.manifest import AxisRanges, SearchStanding, seed_number
from henad_web.output.names import ARCHIVE, BATCHES, BEST, EVALUATIONS, GENERATIONS
from henad_web.output.record import SearchReport
from henad_web.output.tables import RunsLayout, config_texts
from henad_web.search.genetic import Genetic
from henad_web.search.log import RankedCandidate
from henad_web.search.nsga2 import Nsga2, RankedMember
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import PIECE
from henad_web.search.update import ObjectiveReading, ObjectivesReading, PatternReading

if TYPE_CHECKING:
    from henad_web.search.genetic import Generation
    from henad_web.search.nsga2 import FrontGeneration
    from henad_web.search.pattern import ArchiveEntry, PatternAxis
    from henad_web.search.plan import SearchPlan
    from henad_web.search.searcher import SteadySearcher
    from henad_web.search.update import Evaluated, SearchUpdate

__all__ = ["SearchFile", "SearchTables", "archive_cells", "member_cells", "ranking_cells", "search_files"]


@dataclass(frozen=True, slots=True)
class SearchFile:
    """One file of a search beside those of every sweep.

    Attributes:
        name: Name of the file.
        header: Its columns.
    """

    name: str
    header: tuple[str, ...]

    @property
    def first_line(self) -> bytes:
        """Its header as bytes."""
        return csv_line(self.header)


def search_files(search: SearchSpec, configs: Sequence[str]) -> tuple[SearchFile, ...]:
    """Return the files of `search` in the order of a record: those that grow, then the one that is made at its end.

    Args:
        search: The search.
        configs: The columns that tell a config, as `RunsLayout.configs` has them.
    """
    columns = _kind_of(search).columns(search)
    evaluations = SearchFile(EVALUATIONS, (*EVALUATION_LEADING, *configs, *columns.evaluation))
    batches = SearchFile(BATCHES, (*BATCH_LEADING, *columns.batch))
    generations = (SearchFile(GENERATIONS, columns.generation),) if columns.generation else ()
    leading, trailing = columns.outcome
    return evaluations, batches, *generations, SearchFile(columns.outcome_name, (*leading, *configs, *trailing))


class SearchTables:
    """Makes the bytes of the tables of one search, and what its manifest says of it.

    Args:
        plan: The search.
        searcher: What chooses its candidates; read, never told.

    Attributes:
        plan: The search.
        growing: First line of each table that grows with its batches, by the name of the file.
        outcome: The file that is made at its end.
    """

    def __init__(self, plan: SearchPlan, searcher: SteadySearcher) -> None:
        self.plan = plan
        files = search_files(plan.search, RunsLayout.of_plan(plan.base, ()).configs)
        *growing, self.outcome = files
        self.growing = {file.name: file.first_line for file in growing}
        self._kind: _Kind = _kind_of(plan.search)(plan, searcher)
        self._last: SearchUpdate | None = None

    def rows(self, update: SearchUpdate) -> Generator[None, None, Mapping[str, bytes]]:
        """Yield after each piece, and return the rows that `update` adds to each table, in the order to write them.

        The row of its batch comes last: once it is there, so are the others.
        """
        evaluations = []
        for number, evaluated in enumerate(update.evaluated, start=1):
            evaluations.append(self._evaluation(update.batch, evaluated))
            if number % PIECE == 0:
                yield
        batch = [update.batch, update.evaluations, update.runs]
        rows = {EVALUATIONS: b"".join(evaluations), GENERATIONS: self._kind.generation_rows(update)}
        rows[BATCHES] = csv_line([*map(str, batch), *self._kind.batch_cells(update)])
        return {name: content for name, content in rows.items() if content}

    def written(self, update: SearchUpdate) -> None:
        """Take `update` for what the tables hold now."""
        self._last = update

    def outcome_rows(self) -> Generator[bytes, None, SearchReport]:
        """Yield the file that is made at the end, piece by piece, and return what it says, for a record."""
        yield self.outcome.first_line
        return (yield from self._kind.outcome_rows())

    def standing(self) -> SearchStanding:
        """Return what the manifest says of the search, as far as its tables go."""
        plan, last = self.plan, self._last
        best, axes = (None, None) if last is None else (last.best, last.axes)
        # A negative zero is one no more once runs.csv is read back.
        objective = None if best is None or not math.isfinite(best.objective) else best.objective + 0.0
        return SearchStanding(
            algorithm=str(plan.search.algorithm),
            search_hash=plan.search_hash,
            max_evaluations=plan.search.max_evaluations,
            batch_size=plan.search.batch_size,
            search_seed=seed_number(plan.search_seed),
            watched_columns=plan.search.watched_columns,
            evaluations=0 if last is None else last.evaluations,
            batch_count=0 if last is None else last.batch + 1,
            best_candidate_id=None if best is None else best.candidate_id,
            best_objective=objective,
            filled_cells=self._kind.filled_cells(last),
            axis_ranges=None if axes is None else _ranges(*axes),
            front_size=UNSET if last is None or last.front_size is None else last.front_size,
        )

    def _evaluation(self, batch: int, evaluated: Evaluated) -> bytes:
        candidate = evaluated.candidate
        first, second, *_ = (*candidate.parents, None, None)
        leading = (
            *(candidate.candidate_id, batch, candidate.origin, first, second, candidate.reevaluated_id),
            *(candidate.replicate_offset, evaluated.replicates),
        )
        config = config_texts(self.plan.base.schema.params, evaluated.config)
        return csv_line([*map(_optional, leading), *config, *self._kind.evaluation_cells(evaluated)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Columns of the tables of some searches beside those of all.

    Attributes:
        evaluation: Of evaluations.csv, behind the config.
        batch: Of batches.csv, behind those of every search.
        outcome_name: The file that is made at the end.
        outcome: Its columns before and behind the config.
        generation: Of generations.csv; empty where there is none.
    """

    evaluation: tuple[str, ...]
    batch: tuple[str, ...]
    outcome_name: str
    outcome: tuple[tuple[str, ...], tuple[str, ...]]
    generation: tuple[str, ...] = ()


class _Kind(ABC):
    """What the tables of some searches hold beside what those of all have."""

    @staticmethod
    @abstractmethod
    def columns(search: SearchSpec) -> _Columns:
        """Return the columns that those of `search` have."""

    @abstractmethod
    def evaluation_cells(self, evaluated: Evaluated) -> list[str]:
        """Return the cells of `_Columns.evaluation`."""

    @abstractmethod
    def batch_cells(self, update: SearchUpdate) -> list[str]:
        """Return the cells of `_Columns.batch`."""

    def generation_rows(self, update: SearchUpdate) -> bytes:
        """Return the rows of the generations that `update` completed."""
        return b""

    @abstractmethod
    def outcome_rows(self) -> Generator[bytes, None, SearchReport]:
        """Yield the rows of the file that is made at the end, a few at a time, and return what they say."""

    def filled_cells(self, last: SearchUpdate | None) -> int | None:
        """Return the cells that were met by the batch told `last`; None where there are no cells."""
        return None


class _Objective(_Kind):
    """Searches for an objective, whose candidates have a ranking."""

    @staticmethod
    def columns(search: SearchSpec) -> _Columns:
        return _Columns(
            evaluation=EVALUATION_SCORE,
            batch=BATCH_BEST,
            outcome_name=BEST,
            outcome=(BEST_LEADING, BEST_SCORE),
            generation=GENERATION if search.algorithm is SearchAlgorithm.GENETIC else (),
        )

    def __init__(self, plan: SearchPlan, searcher: SteadySearcher) -> None:
        if not isinstance(searcher, ScoredSearcher):
            raise TypeError("a search for an objective has a ranking")
        self._plan, self._searcher = plan, searcher

    def evaluation_cells(self, evaluated: Evaluated) -> list[str]:
        reading = evaluated.reading
        if not isinstance(reading, ObjectiveReading):
            raise TypeError("a search for an objective is told one")
        scores = number_text(reading.objective), number_text(reading.pooled_objective)
        return [str(evaluated.failed_count), *scores, str(reading.pooled_replicates)]

    def batch_cells(self, update: SearchUpdate) -> list[str]:
        best = update.best
        return ["", ""] if best is None else [str(best.candidate_id), number_text(best.objective)]

    def outcome_rows(self) -> Generator[bytes, None, SearchReport]:
        ranking, lines = list[RankedCandidate](), list[bytes]()
        for entry in self._searcher.log.leaders():
            ranking.append(entry)
            lines.append(self._row(len(ranking), entry))
            if len(lines) == PIECE:
                yield b"".join(lines)
                lines.clear()
        yield b"".join(lines)
        generations = self._searcher.generations if isinstance(self._searcher, Genetic) else ()
        return SearchReport(ranking=tuple(ranking), generations=tuple(generations))

    def _row(self, rank: int, entry: RankedCandidate) -> bytes:
        config = self._plan.config_of(entry.candidate_id, self._searcher.log[entry.candidate_id].genome)
        return csv_line(ranking_cells(rank, entry, config_texts(self._plan.base.schema.params, config)))

    def generation_rows(self, update: SearchUpdate) -> bytes:
        return b"".join(map(_generation, update.generations))


class _Objectives(_Kind):
    """Searches for several objectives, whose candidates have fronts."""

    def __init__(self, plan: SearchPlan, searcher: SteadySearcher) -> None:
        if not isinstance(searcher, Nsga2):
            raise TypeError("a search for several objectives has a front")
        self._plan, self._searcher = plan, searcher

    @staticmethod
    def columns(search: SearchSpec) -> _Columns:
        watched = search.watched_columns
        failed, *_, replicates = EVALUATION_SCORE
        scores = [column for name in EVALUATION_OBJECTIVES for column in each_column(name, watched)]
        bounds = [column for name in FRONT_GENERATION_EACH for column in each_column(name, watched)]
        return _Columns(
            evaluation=(failed, *scores, replicates),
            batch=BATCH_FRONT,
            outcome_name=BEST,
            outcome=(BEST_LEADING, (*each_column(BEST_OBJECTIVE, watched), *BEST_MEMBER)),
            generation=(*FRONT_GENERATION_LEADING, *bounds),
        )

    def evaluation_cells(self, evaluated: Evaluated) -> list[str]:
        reading = evaluated.reading
        if not isinstance(reading, ObjectivesReading):
            raise TypeError("a search for several objectives is told them")
        scores = map(number_text, (*reading.objectives, *reading.pooled_objectives))
        return [str(evaluated.failed_count), *scores, str(reading.pooled_replicates)]

    def batch_cells(self, update: SearchUpdate) -> list[str]:
        return [_optional(update.front_size)]

    def generation_rows(self, update: SearchUpdate) -> bytes:
        return b"".join(map(_front_generation, update.front_generations))

    def outcome_rows(self) -> Generator[bytes, None, SearchReport]:
        pieces = self._searcher.finding_front()
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                front: tuple[RankedMember, ...] = end.value
                break
            yield b""
        for start in range(0, len(front), PIECE):
            members = enumerate(front[start : start + PIECE], start=start + 1)
            yield b"".join(self._row(rank, member) for rank, member in members)
        return SearchReport(front=front, front_generations=tuple(self._searcher.generations))

    def _row(self, rank: int, member: RankedMember) -> bytes:
        config = self._plan.config_of(member.candidate_id, self._searcher.log[member.candidate_id].genome)
        return csv_line(member_cells(rank, member, config_texts(self._plan.base.schema.params, config)))


class _Patterns(_Kind):
    """Searches for patterns, whose candidates land in cells."""

    @staticmethod
    def columns(search: SearchSpec) -> _Columns:
        return _Columns(
            evaluation=EVALUATION_PLACE,
            batch=BATCH_ARCHIVE,
            outcome_name=ARCHIVE,
            outcome=(ARCHIVE_LEADING, ARCHIVE_OUTPUTS),
        )

    def __init__(self, plan: SearchPlan, searcher: SteadySearcher) -> None:
        if not isinstance(searcher, PatternSearch):
            raise TypeError("a search for patterns has an archive")
        self._plan, self._searcher = plan, searcher

    def evaluation_cells(self, evaluated: Evaluated) -> list[str]:
        reading = evaluated.reading
        if not isinstance(reading, PatternReading):
            raise TypeError("a search for patterns is told a place")
        place, cells = reading.placement, [str(evaluated.failed_count)]
        if place is not None:
            cells += [number_text(place.x), number_text(place.y)]
            if place.cell is not None:
                cells += [*map(str, place.cell), _word(place.is_outside), _word(reading.is_new_cell)]
        return [*cells, *[""] * (len(EVALUATION_PLACE) - len(cells))]

    def batch_cells(self, update: SearchUpdate) -> list[str]:
        return [str(update.filled_cells)]

    def outcome_rows(self) -> Generator[bytes, None, SearchReport]:
        entries, axes, lines = self._searcher.archive.entries(), self._searcher.archive.axes, list[bytes]()
        if axes is not None:
            for entry in entries:
                lines.append(self._row(entry, axes))
                if len(lines) == PIECE:
                    yield b"".join(lines)
                    lines.clear()
        yield b"".join(lines)
        return SearchReport(archive=entries)

    def _row(self, entry: ArchiveEntry, axes: tuple[PatternAxis, PatternAxis]) -> bytes:
        config = self._plan.config_of(entry.candidate_id, entry.genome)
        return csv_line(archive_cells(entry, axes, config_texts(self._plan.base.schema.params, config)))

    def filled_cells(self, last: SearchUpdate | None) -> int:
        return 0 if last is None else last.filled_cells


def ranking_cells(rank: int, entry: RankedCandidate, config: Sequence[str]) -> list[str]:
    """Return the cells of best.csv for `entry`, whose rank from 1 is `rank` and whose config has the texts `config`."""
    counts = entry.replicate_count, entry.failed_count, entry.evaluations, entry.first_batch
    return [str(rank), str(entry.candidate_id), *config, number_text(entry.objective), *map(str, counts)]


def member_cells(rank: int, member: RankedMember, config: Sequence[str]) -> list[str]:
    """Return the cells of best.csv for `member` of a front; otherwise as `ranking_cells`."""
    numbers = map(number_text, (*member.objectives, member.distance))
    counts = member.replicate_count, member.failed_count, member.evaluations, member.first_batch
    return [str(rank), str(member.candidate_id), *config, *numbers, *map(str, counts)]


def archive_cells(entry: ArchiveEntry, axes: tuple[PatternAxis, PatternAxis], config: Sequence[str]) -> list[str]:
    """Return the cells of archive.csv for `entry`, a cell of `axes`, whose exemplar has the texts `config`."""
    bounds = [bound for axis, at in zip(axes, entry.cell, strict=True) for bound in axis.bounds(at)]
    leading = [*map(str, entry.cell), *map(number_text, bounds), str(entry.hits), str(entry.candidate_id)]
    return [*leading, *config, number_text(entry.x), number_text(entry.y)]


def _kind_of(search: SearchSpec) -> type[_Objective] | type[_Objectives] | type[_Patterns]:
    if search.algorithm is SearchAlgorithm.PSE:
        return _Patterns
    return _Objectives if search.algorithm is SearchAlgorithm.NSGA2 else _Objective


def _generation(generation: Generation) -> bytes:
    fitness = generation.best, generation.median, generation.worst
    return csv_line([str(generation.number), *map(number_text, fitness)])


def _front_generation(generation: FrontGeneration) -> bytes:
    counts = generation.number, generation.members, generation.front_size
    bounds = *generation.best, *generation.median, *generation.worst
    return csv_line([*map(str, counts), *map(number_text, bounds)])


def _ranges(x_axis: PatternAxis, y_axis: PatternAxis) -> AxisRanges:
    return AxisRanges(x_min=x_axis.low, x_max=x_axis.high, y_min=y_axis.low, y_max=y_axis.high)


def _optional(value: object) -> str:
    return "" if value is None else str(value)


def _word(flag: bool) -> str:
    return "true" if flag else "false"
