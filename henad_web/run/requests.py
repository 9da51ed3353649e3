"""One run for a lane to build and drive: what it is and what it is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.explore.outcomes import PlannedRun

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.actions import Schedule
    from henad_web.model.params import ParamValue

__all__ = ["RunRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run for a lane.

    Attributes:
        run: Which run of the plan.
        run_key: 16 hex digits that identify its results.
        params: Its config's values, one a parameter in schema order.
        schedule: Its config's actions, in the order they fire.
    """

    run: PlannedRun
    run_key: str
    params: tuple[ParamValue, ...]
    schedule: Schedule

    @classmethod
    def of(cls, plan: Plan, run: PlannedRun) -> RunRequest:
        """Return the request for `run` of `plan`."""
        config = plan.configs[run.config_id]
        return cls(run=run, run_key=plan.run_key(run), params=config.params, schedule=plan.schedule(config))
