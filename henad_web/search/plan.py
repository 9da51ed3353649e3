"""A search over a model: its base plan, space, seed and hash, and the config and the runs of any candidate.

Owns what turns candidates into runs (reference engine, sections 5.3, 5.4 and 10.2). What runs them is the business of a
source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from henad_web.errors import UsageError, counted
from henad_web.explore import hashes
from henad_web.explore.outcomes import PlannedRun
from henad_web.explore.plan import Config, Plan
from henad_web.explore.search_spec import (
    AxisSpec,
    CmaEsSettings,
    GeneticSettings,
    HillClimbSettings,
    Nsga2Settings,
    ObjectiveSpec,
    PseSettings,
    SearchAlgorithm,
    SearchSpec,
)
from henad_web.explore.seeds import run_seed, search_seed
from henad_web.explore.spec import FactorSpec, RangeLevels, SweepSpec, ValueLevels
from henad_web.model.decimals import f64_text
from henad_web.model.fnv import Fnv1a64
from henad_web.model.schema import ModelSchema
from henad_web.search.algorithms import searcher_of
from henad_web.search.custom import CustomSearch, SearcherFactory
from henad_web.search.searcher import Candidate, SteadySearcher
from henad_web.search.space import Genome, SearchSpace

__all__ = ["SearchPlan"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchPlan:
    """Everything of a search that is fixed before it chooses anything. Made by `SearchPlan.of`.

    Attributes:
        base: The plan of what every candidate shares: one config of fixed values, schedule, measuring.
        search: The search.
        space: What it looks through.
        factory: What makes the searcher of a custom search; None for the others, and where it is only planned.
    """

    base: Plan
    search: SearchSpec
    space: SearchSpace
    factory: SearcherFactory | None = None

    @classmethod
    def of(cls, spec: SweepSpec, schema: ModelSchema) -> SearchPlan:
        """Return the plan of the search that `spec` describes over the model of `schema`.

        Raises:
            UsageError: `spec` is no search.
            ModelMismatchError: The spec is for another model.
            PlanError: The model refuses the spec; every problem is in it.
        """
        return cls.over(Plan.of(spec, schema))

    @classmethod
    def over(cls, base: Plan, *, factory: SearcherFactory | None = None) -> SearchPlan:
        """Return the search whose base is `base`; `factory` makes the searcher of a custom one.

        Raises:
            UsageError: The plan is that of a sweep, or a `factory` comes with a search that is not custom.
        """
        if base.spec.search is None or base.search_space is None:
            raise UsageError("the spec is no search; allowed: one with a [search] table, SweepSpec(search=…)")
        if factory is not None and base.spec.search.algorithm is not SearchAlgorithm.CUSTOM:
            came = f'came one and algorithm = "{base.spec.search.algorithm}"'
            raise UsageError(f'a searcher of your program does a custom search, {came}; write algorithm = "custom"')
        return cls(base=base, search=base.spec.search, space=SearchSpace(base.search_space.domains), factory=factory)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        size = f"{counted(self.search.max_evaluations, 'evaluation')} x {counted(self.base.replicates, 'replicate')}"
        return f"<SearchPlan of '{self.base.schema.model}': {self.search.algorithm}, {size}>"

    @property
    def run_count(self) -> int:
        """Runs of all candidates that it may ask for."""
        return self.search.max_evaluations * self.base.replicates

    @property
    def search_seed(self) -> int:
        """Seed of the algorithm's draws, from the spec's root."""
        return search_seed(self.base.spec.seeds.root)

    def searcher(self) -> SteadySearcher:
        """Return the searcher at its start.

        Raises:
            UsageError: It is a custom search, and there is no factory, or one that fails.
        """
        if self.factory is not None:
            return CustomSearch(self, self.factory)
        return searcher_of(self.search, self.space, self.search_seed)

    def config(self, candidate: Candidate) -> Config:
        """Return what the runs of `candidate` are built from; its id is the candidate's."""
        return self.config_of(candidate.candidate_id, candidate.genome)

    def config_of(self, candidate_id: int, genome: Genome) -> Config:
        """Return what `genome` stands for as the config of the candidate `candidate_id`."""
        if self.base.search_space is None:
            raise UsageError("the plan is that of a sweep")
        base = self.base.configs[0]
        params, ticks = list(base.params), list(base.action_ticks)
        values = self.space.values(genome)
        for target, value in zip(self.base.search_space.targets, values, strict=True):
            if target.param is None:
                ticks[target.slot] = int(value)
            else:
                params[target.slot] = value
        return replace(base, config_id=candidate_id, params=tuple(params), action_ticks=tuple(ticks))

    def runs(self, candidate: Candidate) -> tuple[PlannedRun, ...]:
        """Return the runs of `candidate`, one a replicate.

        A candidate that is evaluated again takes the replicates after those it has, and in the independent scheme the
        seeds of the candidate that it repeats.
        """
        seeds, count = self.base.spec.seeds, self.base.replicates
        return tuple(
            PlannedRun(
                candidate.candidate_id * count + position,
                candidate.candidate_id,
                candidate.replicate_offset + position,
                run_seed(seeds.scheme, seeds.root, candidate.subject_id, candidate.replicate_offset + position),
            )
            for position in range(count)
        )

    def run_key(self, candidate: Candidate, run: PlannedRun) -> str:
        """Return the 16 hex digits that name the results of `run`, one of `candidate`, the same in any plan."""
        return hashes.run_key(self.base, self.config(candidate), run.seed)

    @cached_property
    def search_hash(self) -> str:
        """Hash of the whole search, 16 hex digits; two searches with one hash choose the same from the same results."""
        search = self.search
        fnv = Fnv1a64().text("henad.search.1").u64(int(self.base.plan_hash, 16)).u64(self.base.replicates)
        fnv.text(search.algorithm).u64(search.max_evaluations).u64(search.batch_size)
        if search.objective is None:
            fnv.byte(0)
        else:
            _write_objective(fnv.byte(1), search.objective)
        if search.algorithm is SearchAlgorithm.NSGA2:
            fnv.u64(len(search.objectives))
            for objective in search.objectives:
                _write_objective(fnv, objective)
        fnv.u64(len(search.space))
        for factor in search.space:
            _write_factor(fnv, factor)
        _write_settings(fnv, search)
        if search.name is not None:
            fnv.text(search.name)
        return fnv.hex()


def _write_objective(fnv: Fnv1a64, objective: ObjectiveSpec) -> None:
    fnv.text(objective.column).text(objective.goal).text(objective.aggregate)


def _write_factor(fnv: Fnv1a64, factor: FactorSpec) -> None:
    fnv.byte(0 if factor.action is None else 1).text((factor.param if factor.action is None else factor.action) or "")
    levels = factor.levels
    if isinstance(levels, ValueLevels):
        fnv.byte(0).u64(len(levels.values))
        for value in levels.values:
            fnv.text(_value_text(value))
    elif isinstance(levels, RangeLevels):
        fnv.byte(1).f64(float(levels.min)).f64(float(levels.max))
        fnv.byte(0) if levels.step is None else fnv.byte(1).f64(float(levels.step))
    else:
        fnv.byte(2)


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f64_text(value) if isinstance(value, float) else str(value)


def _write_settings(fnv: Fnv1a64, search: SearchSpec) -> None:
    settings = search.settings
    if isinstance(settings, HillClimbSettings):
        fnv.f64(float(settings.mutation_scale)).u64(settings.patience).byte(int(settings.reevaluate))
    elif isinstance(settings, GeneticSettings):
        fnv.u64(settings.population).u64(settings.elite_count).u64(settings.tournament_size)
        for share in (settings.crossover_rate, settings.mutation_rate):
            fnv.f64(float(share))
        fnv.f64(float(settings.mutation_scale)).f64(float(settings.reevaluate_fraction))
    elif isinstance(settings, Nsga2Settings):
        fnv.u64(settings.population).f64(float(settings.crossover_rate)).u64(settings.crossover_index)
        fnv.f64(float(settings.mutation_rate_over(len(search.space)))).u64(settings.mutation_index)
    elif isinstance(settings, PseSettings):
        for axis in settings.axes:
            _write_axis(fnv, axis)
        fnv.u64(settings.initial_samples).f64(float(settings.mutation_scale)).text(settings.aggregate)
    elif isinstance(settings, CmaEsSettings):
        # No population is 0: the number that the library chooses follows from the factors.
        fnv.u64(settings.population or 0).f64(float(settings.sigma))


def _write_axis(fnv: Fnv1a64, axis: AxisSpec) -> None:
    fnv.text(axis.column)
    for end in (axis.min, axis.max):
        fnv.f64(math.nan if end is None else float(end))
    fnv.u64(axis.cells)
