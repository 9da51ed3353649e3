"""Optuna's studies as searchers: whatever its samplers propose is asked for, and they are told what it came to.

Owns how a space becomes distributions of optuna, and a trial a genome. The library is looked for when a study comes,
never at import.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from henad_web.errors import UsageError, counted
from henad_web.explore.levels import ContinuousDomain, Domain, WholeDomain
from henad_web.explore.search_spec import ObjectiveSpec
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Candidate, Origin, Proposal
from henad_web.search.space import SearchSpace

__all__ = ["StudySearch", "asking"]


def asking(
    study: object,
    space: SearchSpace,
    *,
    objective: ObjectiveSpec,
    max_evaluations: int,
    names: Sequence[str] | None = None,
) -> StudySearch:
    """Return a searcher that asks `study` for trials and tells it the objective of each.

    A continuous factor is a float of the study, one of whole numbers an int, one with listed levels a categorical;
    a range with steps is an int, the position of its level. A candidate without a finite objective is a trial that
    failed. The study is told batch by batch and in the order of asking.

    The same sampler with the same seed, told the same, asks the same: so an interrupted search goes on, with a new
    study made as the first one was. **Give the sampler a seed**: one without asks differently each time, which optuna
    does not tell, and no search that it drives can be gone on with.

    Args:
        study: A study of optuna with one direction, and no trials but enqueued ones.
        space: What it looks through.
        objective: What it is for; its goal is the study's direction.
        max_evaluations: Candidates that may be asked for.
        names: What the study calls each factor, ``x0``, ``x1``, … when None.

    Raises:
        UsageError: `study` is none of optuna, has trials, another direction or several; or `names` do not fit.
    """
    return StudySearch(study, space, objective, max_evaluations, names)


class _Trial(Protocol):
    number: int
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Axis:
    """One factor as the study has it.

    Attributes:
        distribution: What the study draws from.
        number: The number from 0 to 1 of a genome that a value of the study stands for.
    """

    distribution: object
    number: Callable[[Any], float]


class StudySearch(ScoredSearcher):
    """The searcher of `asking`, whose arguments it takes.

    Attributes:
        study: The study, for its own ways to look at what it found.
    """

    def __init__(
        self,
        study: object,
        space: SearchSpace,
        objective: ObjectiveSpec,
        max_evaluations: int,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(space, objective, max_evaluations, seed=0)
        self._optuna = _optuna_of(study)
        self.study: Any = study
        self._check_study()
        self._axes = _axes(self._optuna, space, names)
        self._distributions = {name: axis.distribution for name, axis in self._axes.items()}
        self._trials: dict[int, Any] = {}

    def _check_study(self) -> None:
        goal, directions = self.log.objective.goal, [direction.name.lower() for direction in self.study.directions]
        if directions != [str(goal)]:
            raise UsageError(
                f"the study is to {' and '.join(directions)}, and the objective to {goal}; "
                f'make it with optuna.create_study(direction="{goal}")'
            )
        begun = [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name != "WAITING"]
        if begun:
            raise UsageError(
                f"the study has {counted(len(begun), 'trial')} already; make a new one: a search tells its study all "
                f"from the start, also where it goes on after an interruption"
            )

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        proposals = []
        for position in range(count):
            trial = self.study.ask(self._distributions)
            self._trials[self.asked_count + position] = trial
            genome = tuple(self._number(trial, name, axis) for name, axis in self._axes.items())
            proposals.append(Proposal(genome=genome, origin=Origin.SAMPLE))
            yield
        return proposals

    @staticmethod
    def _number(trial: _Trial, name: str, axis: _Axis) -> float:
        value = trial.params[name]
        number = axis.number(value)
        if not 0.0 <= number <= 1.0:
            raise UsageError(
                f"trial {trial.number} of the study has {name} = {value!r}; allowed: what {axis.distribution} takes; "
                f"enqueue no trial outside of the space"
            )
        return number

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        for candidate in told:
            trial, objective = self._trials.pop(candidate.candidate_id), self.log[candidate.candidate_id].objective
            if math.isfinite(objective):
                self.study.tell(trial, objective)
            else:
                self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            yield


def _optuna_of(study: object) -> ModuleType:
    try:
        optuna = importlib.import_module("optuna")
    except ImportError:
        optuna = None
    if optuna is None or not isinstance(study, optuna.Study):
        came = type(study).__qualname__
        raise UsageError(
            f"asking takes a study of optuna, came {came}; make one with optuna.create_study(), which "
            f"`python -m pip install 'henad-web[optuna]'` brings"
        )
    return optuna


def _axes(optuna: ModuleType, space: SearchSpace, names: Sequence[str] | None) -> dict[str, _Axis]:
    given = [f"x{position}" for position in range(len(space))] if names is None else list(names)
    if len(set(given)) != len(given) or len(given) != len(space):
        came = f"{counted(len(given), 'name')}, {len(set(given))} of them different"
        raise UsageError(f"the space has {counted(len(space), 'factor')}, came {came}; allowed: a name for each")
    return {name: _axis(optuna.distributions, domain) for name, domain in zip(given, space.domains, strict=True)}


def _axis(kinds: ModuleType, domain: Domain) -> _Axis:
    if isinstance(domain, ContinuousDomain):
        low, high = domain.at(0.0), domain.at(1.0)
        # Halves, for a range may be longer than the largest number.
        length = high / 2 - low / 2
        return _Axis(
            kinds.FloatDistribution(low, high), lambda value: (value / 2 - low / 2) / length if length else 0.0
        )
    if isinstance(domain, WholeDomain):
        first, count = domain.low, domain.count
        return _Axis(kinds.IntDistribution(first, domain.high), lambda value: (value - first + 0.5) / count)
    count = len(domain)
    if isinstance(domain, tuple):
        levels = list(domain)
        return _Axis(kinds.CategoricalDistribution(levels), lambda value: (levels.index(value) + 0.5) / count)
    return _Axis(kinds.IntDistribution(0, count - 1), lambda position: (position + 0.5) / count)
