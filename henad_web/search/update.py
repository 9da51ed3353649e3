"""What a search tells of a batch: each evaluation with what it came to, and where the search stands behind it.

Owns these values and how they follow from a searcher (reference engine, sections 10.3, 10.8 and 10.10). What is written
of them, and who is told, is not its business.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from henad_web.search.genetic import Generation, Genetic
from henad_web.search.log import RankedCandidate
from henad_web.search.nsga2 import FrontGeneration, Nsga2
from henad_web.search.pattern import ArchiveEntry, PatternAxis, Placement
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.scoring import failed_count, objective_of, objectives_of
from henad_web.search.searcher import PIECE, Candidate, Evaluation, SteadySearcher

if TYPE_CHECKING:
    from henad_web.explore.plan import Config
    from henad_web.search.plan import SearchPlan

__all__ = ["Evaluated", "ObjectiveReading", "ObjectivesReading", "PatternReading", "SearchUpdate", "Telling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveReading:
    """What an evaluation came to for an objective. The numbers may be infinite, and no number.

    Attributes:
        objective: Over its own replicates.
        pooled_objective: Over all replicates of its subject, itself or the candidate that it repeats.
        pooled_replicates: Those replicates.
    """

    objective: float
    pooled_objective: float
    pooled_replicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivesReading:
    """What an evaluation came to for several objectives, in their order. The numbers may be infinite, and no number.

    Attributes:
        objectives: Each over its own replicates.
        pooled_objectives: Each over all replicates of its subject, itself or the candidate that it repeats.
        pooled_replicates: Those replicates.
    """

    objectives: tuple[float, ...]
    pooled_objectives: tuple[float, ...]
    pooled_replicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternReading:
    """Where an evaluation landed.

    Attributes:
        placement: Its outputs and its cell; None where an axis has no finite value of it.
        is_new_cell: Whether it is the first candidate of its cell.
    """

    placement: Placement | None
    is_new_cell: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One candidate of a batch, evaluated.

    Attributes:
        candidate: The candidate.
        config: What its runs were built from.
        failed_count: Replicates with a watched value that is missing or not finite.
        replicates: Its runs.
        reading: What it came to.
    """

    candidate: Candidate
    config: Config
    failed_count: int
    replicates: int
    reading: ObjectiveReading | ObjectivesReading | PatternReading


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchUpdate:
    """A batch that was told, and where the search stands.

    Attributes:
        batch: Its number, from 0.
        evaluations: Candidates evaluated so far, this batch included.
        runs: Runs written so far for them.
        evaluated: The candidates of the batch, in order.
        best: Who leads the ranking, None for a pse search and for one with several objectives.
        generations: Generations that the batch completed.
        front_generations: Those of an nsga2 search that the batch completed.
        generation_count: Generations that are complete, of either search.
        front_size: Members of the first front of its last complete generation; None before there is one.
        landed_entries: Cells that the batch landed in, as they stand, in their order; all of them where the batch gave
            the axes their ranges.
        filled_cells: Cells that were met so far.
        axes: Both axes of a pse search once their ranges are known.
    """

    batch: int
    evaluations: int
    runs: int
    evaluated: tuple[Evaluated, ...]
    best: RankedCandidate | None = None
    generations: tuple[Generation, ...] = ()
    generation_count: int = 0
    front_generations: tuple[FrontGeneration, ...] = ()
    front_size: int | None = None
    landed_entries: tuple[ArchiveEntry, ...] = ()
    filled_cells: int = 0
    axes: tuple[PatternAxis, PatternAxis] | None = None


class Telling:
    """The tell of one batch, in pieces, and the update that comes of it.

    Args:
        plan: The search.
        searcher: Its searcher, which is told.
        batch: The candidates of the batch, in order.
        evaluations: What they came to, in the same order.
    """

    def __init__(
        self, plan: SearchPlan, searcher: SteadySearcher, batch: Sequence[Candidate], evaluations: Sequence[Evaluation]
    ) -> None:
        self._plan, self._searcher = plan, searcher
        self._batch, self._evaluations = batch, evaluations
        self._number = searcher.batch_count - 1

    def pieces(self) -> Generator[None, None, SearchUpdate]:
        """Yield after each piece, and return the update."""
        searcher = self._searcher
        generation_count = len(searcher.generations) if isinstance(searcher, Genetic | Nsga2) else 0
        had_ranges = isinstance(searcher, PatternSearch) and searcher.archive.axes is not None
        yield from searcher.telling(self._evaluations)
        evaluated = []
        for candidate, evaluation in zip(self._batch, self._evaluations, strict=True):
            evaluated.append(self._evaluated(candidate, evaluation))
            if len(evaluated) % PIECE == 0:
                yield
        update = SearchUpdate(
            batch=self._number,
            evaluations=searcher.asked_count,
            runs=searcher.asked_count * self._plan.base.replicates,
            evaluated=tuple(evaluated),
        )
        if isinstance(searcher, PatternSearch):
            return _with_archive(update, searcher, had_ranges=had_ranges)
        if isinstance(searcher, Nsga2):
            return _with_front(update, searcher.generations, searcher.generations[generation_count:])
        generations = tuple(searcher.generations) if isinstance(searcher, Genetic) else ()
        best = searcher.log.best() if isinstance(searcher, ScoredSearcher) else None
        new = generations[generation_count:]
        return replace(update, best=best, generations=new, generation_count=len(generations))

    def _evaluated(self, candidate: Candidate, evaluation: Evaluation) -> Evaluated:
        replicates = evaluation.replicates
        return Evaluated(
            candidate=candidate,
            config=self._plan.config(candidate),
            failed_count=failed_count(replicates),
            replicates=len(replicates),
            reading=self._reading(candidate, evaluation),
        )

    def _reading(
        self, candidate: Candidate, evaluation: Evaluation
    ) -> ObjectiveReading | ObjectivesReading | PatternReading:
        searcher = self._searcher
        if isinstance(searcher, PatternSearch):
            placement = searcher.archive.place(evaluation.replicates)
            cell = None if placement is None else placement.cell
            is_new = cell is not None and searcher.archive[cell].candidate_id == candidate.candidate_id
            return PatternReading(placement=placement, is_new_cell=is_new)
        if isinstance(searcher, Nsga2):
            score = searcher.log[candidate.subject_id]
            return ObjectivesReading(
                objectives=objectives_of(evaluation.replicates, searcher.log.objectives),
                pooled_objectives=score.objectives,
                pooled_replicates=len(score.replicates),
            )
        if not isinstance(searcher, ScoredSearcher):
            raise TypeError("a searcher has an objective or an archive")
        score = searcher.log[candidate.subject_id]
        return ObjectiveReading(
            objective=objective_of((watched[0] for watched in evaluation.replicates), searcher.log.objective),
            pooled_objective=score.objective,
            pooled_replicates=len(score.replicates),
        )


def _with_front(
    update: SearchUpdate, generations: Sequence[FrontGeneration], new: Sequence[FrontGeneration]
) -> SearchUpdate:
    size = generations[-1].front_size if generations else None
    return replace(update, front_generations=tuple(new), generation_count=len(generations), front_size=size)


def _with_archive(update: SearchUpdate, searcher: PatternSearch, *, had_ranges: bool) -> SearchUpdate:
    archive = searcher.archive
    readings = [each.reading for each in update.evaluated if isinstance(each.reading, PatternReading)]
    landed = {each.placement.cell for each in readings if each.placement is not None}
    is_whole = archive.axes is not None and not had_ranges
    # Entries go on counting hits; what was told stays as it was told.
    entries = tuple(replace(entry) for entry in archive.entries() if is_whole or entry.cell in landed)
    return replace(update, landed_entries=entries, filled_cells=len(archive), axes=archive.axes)
