"""Every algorithm by its name: the one place that knows them all.

An algorithm is a `Searcher` made from a space, the spec and a seed; a new one is a word of `SearchAlgorithm`, its
settings in `SETTINGS`, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable

from henad_web.errors import UsageError
from henad_web.explore.search_spec import (
    CmaEsSettings,
    GeneticSettings,
    HillClimbSettings,
    Nsga2Settings,
    ObjectiveSpec,
    PseSettings,
    SearchAlgorithm,
    SearchSpec,
)
from henad_web.search.cma_es import CmaEs
from henad_web.search.genetic import Genetic
from henad_web.search.hill_climb import HillClimb
from henad_web.search.nsga2 import Nsga2
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import RandomSearch
from henad_web.search.searcher import SteadySearcher
from henad_web.search.space import SearchSpace

__all__ = ["searcher_of"]


def searcher_of(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    """Return the searcher that `spec` describes, at its start.

    Args:
        spec: The search, its settings checked.
        space: What it looks through.
        seed: Seed of its draws, 0 to 2^64 - 1; `henad_web.explore.seeds.search_seed` of a spec's root.

    Raises:
        UsageError: The spec lacks what its algorithm needs.
    """
    if spec.algorithm is SearchAlgorithm.CUSTOM:
        raise UsageError(
            f"a custom search is done by a searcher of your program, '{spec.name}'; "
            f"give what makes it: SweepRun.start(…, searcher=…), and the same where it is gone on with"
        )
    return _SEARCHERS[spec.algorithm](spec, space, seed)


def _random(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    return RandomSearch(space, _objective(spec), spec.max_evaluations, seed)


def _hill_climb(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    settings = spec.hill_climb or HillClimbSettings()
    return HillClimb(space, _objective(spec), settings, spec.max_evaluations, seed)


def _genetic(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    return Genetic(space, _objective(spec), spec.genetic or GeneticSettings(), spec.max_evaluations, seed)


def _pse(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    if not isinstance(spec.pse, PseSettings):
        raise UsageError("a pse search needs its axes, SearchSpec(pse=PseSettings(x_axis=…, y_axis=…))")
    return PatternSearch(space, spec.pse, spec.max_evaluations, seed)


def _cma_es(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    return CmaEs(space, _objective(spec), spec.cma_es or CmaEsSettings(), spec.max_evaluations, seed)


def _nsga2(spec: SearchSpec, space: SearchSpace, seed: int) -> SteadySearcher:
    if len(spec.objectives) < 2:
        raise UsageError("an nsga2 search needs two objectives or more, SearchSpec(objectives=(ObjectiveSpec(…), …))")
    return Nsga2(space, spec.objectives, spec.nsga2 or Nsga2Settings(), spec.max_evaluations, seed)


_SEARCHERS: dict[SearchAlgorithm, Callable[[SearchSpec, SearchSpace, int], SteadySearcher]] = {
    SearchAlgorithm.RANDOM: _random,
    SearchAlgorithm.HILL_CLIMB: _hill_climb,
    SearchAlgorithm.GENETIC: _genetic,
    SearchAlgorithm.PSE: _pse,
    SearchAlgorithm.CMA_ES: _cma_es,
    SearchAlgorithm.NSGA2: _nsga2,
}


def _objective(spec: SearchSpec) -> ObjectiveSpec:
    if spec.objective is None:
        raise UsageError(f"a {spec.algorithm} search needs an objective, SearchSpec(objective=ObjectiveSpec(…))")
    return spec.objective
