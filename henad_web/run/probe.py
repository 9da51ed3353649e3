"""Builds a few configs before anything is written: which columns there are, how large a run is, whether it builds.

One build a call of `advance`, so that a frame is never held for more than one. Writes nothing, keeps no state.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from henad_web.errors import ProbeError
from henad_web.model.faults import FAULTS, Fault, Phase, fault_of
from henad_web.run.building import build_state

if TYPE_CHECKING:
    from henad_web.explore.outcomes import PlannedRun
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.model.params import ParamValue

__all__ = ["MAX_PROBED_CONFIGS", "Probe", "ProbeReport"]

MAX_PROBED_CONFIGS = 8
"""Configs tried, in plan order, before a sweep is given up as one that cannot be built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """What one built config told.

    Attributes:
        params: Its values, one a parameter in schema order.
        seed: The seed it was built with.
        columns: Names of the stat columns of its sample at tick 0.
        heap_bytes: Host memory of a run, bytes; the larger of the first and the last config.
        population: Its population at tick 0.
        parallel_jobs: Independent jobs of one step, None when the model does not say.
        config_id: Which config it was.
        values: Its sample at tick 0, before any action, a number a column.
    """

    params: tuple[ParamValue, ...]
    seed: int
    columns: tuple[str, ...]
    heap_bytes: int
    population: int
    parallel_jobs: int | None
    config_id: int = 0
    values: tuple[float, ...] = ()

    @property
    def demand_bytes(self) -> int:
        """Device memory of a run, bytes; 0 for a CPU model."""
        return 0


class Probe:
    """Probes a plan, one build at a time."""

    def __init__(self, entry: ModelEntry, plan: Plan) -> None:
        self._entry, self._plan = entry, plan
        self._report: ProbeReport | None = None
        self._faults: list[tuple[int, str]] = []
        self._config_ids = self._order()

    def advance(self, *, hurry: bool = False) -> ProbeReport | None:
        """Build one more config; return the report once it is complete.

        Args:
            hurry: Settle for the first config that builds, as an aborted sweep does.

        Raises:
            ProbeError: None of the configs tried could be built.
        """
        if hurry and self._report is not None:
            return self._report
        config_id = next(self._config_ids, None)
        if config_id is None:
            if self._report is None:
                raise ProbeError(self._faults)
            return self._report
        self._try(config_id)
        return None

    def run_to_end(self) -> ProbeReport:
        """Build all that is needed at once and return the report; raises as `advance` does."""
        while (report := self.advance()) is None:
            pass
        return report

    def _order(self) -> Iterator[int]:
        """Yield configs until one has built, then the last one for its footprint."""
        count = self._plan.config_count
        for config_id in range(min(count, MAX_PROBED_CONFIGS)):
            if self._report is None:
                yield config_id
        if self._report is not None and not self._is_probed(count - 1):
            yield count - 1

    def _first_run(self, config_id: int) -> PlannedRun:
        return self._plan.run(config_id * self._plan.replicates)

    def _is_probed(self, config_id: int) -> bool:
        report, run = self._report, self._first_run(config_id)
        params = self._plan.configs[config_id].params
        return report is not None and (report.params, report.seed) == (params, run.seed)

    def _try(self, config_id: int) -> None:
        probed = self._probe(config_id)
        if self._report is None:
            if isinstance(probed, Fault):
                self._faults.append((config_id, probed.text))
            else:
                self._report = probed
        elif not isinstance(probed, Fault):  # a fault of the last config is a run's affair, not the probe's
            self._report = replace(self._report, heap_bytes=max(self._report.heap_bytes, probed.heap_bytes))

    def _probe(self, config_id: int) -> ProbeReport | Fault:
        params, seed = self._plan.configs[config_id].params, self._first_run(config_id).seed
        state = build_state(self._entry, params, seed)
        if isinstance(state, Fault):
            return state
        try:
            stats = state.stats()
            return ProbeReport(
                params=params,
                seed=seed,
                columns=tuple(stats),
                heap_bytes=int(state.heap_bytes),
                population=int(state.population),
                parallel_jobs=state.parallel_jobs,
                config_id=config_id,
                values=tuple(map(_number, stats.values())),
            )
        except FAULTS as error:
            return fault_of(Phase.BUILDING, error, self._entry.source_file)


def _number(value: object) -> float:
    # What is no number is told by the run whose sample it is, not by the probe.
    return float(value) if isinstance(value, numbers.Real) else math.nan
