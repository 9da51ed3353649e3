"""What a model refuses of a spec that was read, so that a reader is told of all at once.

Owns the question which problems of the model only follow from those of the file. Pure; reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from henad_web.errors import Place, PlanError, Problem, near_miss
from henad_web.explore.plan import Plan
from henad_web.explore.spec import SweepSpec
from henad_web.model.entry import ModelEntry

__all__ = ["plan_or_problems"]


def plan_or_problems(
    spec: SweepSpec, models: Mapping[str, ModelEntry], told: Sequence[Problem]
) -> Plan | tuple[Problem, ...]:
    """Return the plan of `spec`, or what its model refuses without what may only follow from the problems `told`.

    Args:
        spec: What could be read; defaults stand where the file is wrong.
        models: The models there are.
        told: Problems of the file, with the places of their tables and keys.
    """
    entry = models.get(spec.model)
    if entry is None:
        return _unknown_model(spec.model, models)
    try:
        return Plan.of(spec, entry.schema())
    except PlanError as error:
        places = [(problem.place.table, problem.place.key) for problem in told]
        return tuple(problem for problem in error.problems if not _may_follow(problem, places))


def _unknown_model(model: str, models: Mapping[str, ModelEntry]) -> tuple[Problem, ...]:
    if not model:  # a missing, wrong or empty key, which the file's problems tell
        return ()
    hint = near_miss(model, models) or "one of your own is given as models=, to the command as --models FILE.py"
    place = Place(key="model")
    return (Problem(place=place, wrong="no such model", came=f"'{model}'", allowed=", ".join(models), hint=hint),)


_Told = tuple[tuple[str | int, ...], str | None]


def _may_follow(problem: Problem, told: Sequence[_Told]) -> bool:
    """Whether `problem` may come of one told: of its own key, of its factor or block, of a wrong action."""
    place = problem.place
    if (place.table, place.key) in told:
        return True
    if place.table[:1] != ("block",):
        return place.key is None or any(table == place.table and key is None for table, key in told)
    if place.key in _NAMES_ACTIONS and any(table[:1] == ("action",) for table, _ in told):
        return True
    in_block = [(table, key) for table, key in told if table[:2] == place.table[:2]]
    if place.key in ("where", "design"):
        return False
    if place.key in ("file", "table_text"):
        return any(key in (None, "file", "table_text") for _, key in in_block)
    if place.table[2:3] != ("factors",):
        return bool(in_block)
    # A factor means the same whatever its block's other keys say, but for a range without a step, which some designs
    # take whole.
    lacks_step = place.key == "step" and problem.came is None
    return any(
        table[:4] == place.table[:4] or (len(table) == 2 and (key in (None, "factors") or lacks_step))
        for table, key in in_block
    )


_NAMES_ACTIONS = ("action", "where", "file", "table_text")
"""Keys of a block and its factors that may name an action."""
