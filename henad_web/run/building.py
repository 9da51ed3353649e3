"""Builds a model's state for a run: the one place where a lane turns values and a seed into something to step.

Faults of a model leave here as `Fault` values, never as exceptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from henad_web.errors import ModelDefinitionError
from henad_web.model.entry import Backend
from henad_web.model.faults import Blame, Fault, Phase, RefusedBuild

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry
    from henad_web.model.params import ParamValue
    from henad_web.model.state import ModelState

__all__ = ["build_state"]


def build_state(
    entry: ModelEntry, params: tuple[ParamValue, ...], seed: int, *, takes_interrupts: bool = False
) -> ModelState | Fault:
    """Build `entry` with `params` (one a parameter, in schema order) and `seed` on a CPU lane.

    Args:
        entry: The model.
        params: Its values.
        seed: Its seed.
        takes_interrupts: Whether an interrupt is the model's fault too, as `Blame` has it.

    Returns:
        The state at tick 0, or the fault that the build ended on. A GPU entry is a refused build.
    """
    with Blame(Phase.BUILDING, entry.source_file, takes_interrupts=takes_interrupts) as blame:
        if entry.metadata.backend is Backend.GPU:
            raise RefusedBuild("a GPU model cannot run on a CPU lane")
        state = entry.build(params, seed)
        if state is None:
            raise ModelDefinitionError(f"the factory of model '{entry.id}' returned nothing; it returns the state")
    return blame.fault or state
