"""What the editor's text means: a spec bound to its model, or the problems that keep it from being one.

Owns no element of the page; reads nothing but the text.
"""

from __future__ import annotations

from dataclasses import dataclass

import henad_web as hw
from henad_web.errors import HenadError, Place, Problem, SpecError
from henad_web.explore.libraries import is_installed, libraries_of
from henad_web.explore.plan import Config

__all__ = ["Reading", "Study", "problem_texts", "read_spec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A spec that can run: as loaded, the model it names, and its plan."""

    loaded: hw.LoadedSpec
    entry: hw.ModelEntry
    plan: hw.Plan

    @property
    def factors(self) -> tuple[str, ...]:
        """What varies, in the order it first appears: parameter ids and action names."""
        spec = self.loaded.spec
        varied = [factor for block in spec.blocks for factor in block.factors]
        varied += () if spec.search is None else spec.search.space
        named = [factor.param or factor.action for factor in varied]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def level(self, config: Config, factor: str) -> str:
        """Return what `config` gives `factor`, a parameter or an action's tick, as runs.csv has it."""
        schema = self.plan.schema
        if any(param.id == factor for param in schema.params):
            return schema.param(factor).text(config.params[schema.index(factor)])
        names = [action.name or action.id for action in self.loaded.spec.actions]
        return str(config.action_ticks[names.index(factor)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What reading a text gave: a `study` with its `warnings`, or the `problems` found.

    `lacking` are the libraries that a plan of the text needs and that are not loaded.
    """

    study: Study | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def read_spec(text: str, models: hw.ModelSet) -> Reading:
    """Read `text` as a sweep spec of one of `models`, running nothing. Wrong input never raises."""
    try:
        loaded = hw.parse_spec(text, models=models)
    except SpecError as error:
        return Reading(problems=error.problems, lacking=_lacking(text))
    except HenadError as error:
        return Reading(problems=(Problem(place=Place(), wrong=str(error)),))
    entry = models[loaded.spec.model]
    plan = loaded.plan or loaded.spec.plan(entry.schema())
    study = Study(loaded=loaded, entry=entry, plan=plan)
    return Reading(study=study, warnings=tuple(str(warning) for warning in plan.warnings()))


def _lacking(text: str) -> tuple[str, ...]:
    try:
        spec = hw.parse_spec(text).spec
    except HenadError:
        return ()
    return tuple(name for name in libraries_of(spec) if not is_installed(name))


def problem_texts(problem: Problem) -> tuple[str, str]:
    """Return the place of a problem and the rest of its sentence, such as ``line 7, [run] replicates``."""
    place = str(problem.place)
    return place, str(problem).removeprefix(f"{place}: ")
