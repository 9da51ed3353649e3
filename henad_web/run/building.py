"""Builds a model's state for a run: the one place where a lane turns values and a seed into something to step.

Faults of a model leave here as `Fault` values, never as exceptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from henad_web.model.entry import Backend
from henad_web.model.faults import FAULTS, Fault, Phase, RefusedBuild, fault_of

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry
    from henad_web.model.params import ParamValue
    from henad_web.model.state import ModelState

__all__ = ["build_state"]


def build_state(entry: ModelEntry, params: tuple[ParamValue, ...], seed: int) -> ModelState | Fault:
    """Build `entry` with `params` (one a parameter, in schema order) and `seed` on a CPU lane.

    Returns:
        The state at tick 0, or the fault that the build ended on. A GPU entry is a refused build.
    """
    try:
        if entry.metadata.backend is Backend.GPU:
            raise RefusedBuild("a GPU model cannot run on a CPU lane")
        return entry.build(params, seed)
    except FAULTS as error:
        return fault_of(Phase.BUILDING, error, entry.source_file)
