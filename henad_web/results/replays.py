"""What a recorded run was made from, and its model made again.

Owns what a replay is and where it stands: it steps as a run does, by the cursor of a run, and compares nothing. A row
tells all of it: parameters by the name of their column, ticks of actions, seed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.errors import ResultsError, TableDamagedError, UsageError, near_miss
from henad_web.explore import hashes
from henad_web.explore.columns import LEADING
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.plan import Config
from henad_web.output.names import RUNS
from henad_web.run.cursor import RunCursor
from henad_web.run.requests import RunRequest

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry
    from henad_web.model.state import ModelState
    from henad_web.results.recorded import RecordedResults

__all__ = ["Replay", "ReplayPoint", "recorded_config", "recorded_request", "replay_of"]


class ReplayPoint(StrEnum):
    """Where a replayed model stands: at tick 0 before any action, or at the last tick of its run."""

    START = "start"
    END = "end"

    @classmethod
    def of(cls, text: str) -> ReplayPoint:
        """Return the point called `text`.

        Raises:
            UsageError: There is no such point.
        """
        try:
            return cls(text)
        except ValueError:
            hint = near_miss(str(text), list(cls))
            wrong = f"a replay at {text!r}; allowed: {' or '.join(cls)}"
            raise UsageError(f"{wrong}; {hint}" if hint else wrong) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What one run was made from.

    Attributes:
        entry: The model.
        request: The run, its config and its actions by tick. Those of tick 0 fire before the first step, any other
            right after the step that reaches its tick.
        measure: When it was sampled and when it was to end; nothing is kept.
        ticks: Tick at which the run ended.
        label: The run in words.
    """

    entry: ModelEntry
    request: RunRequest
    measure: MeasurePlan
    ticks: int
    label: str

    def state(self, at: ReplayPoint = ReplayPoint.END) -> ModelState:
        """Return the model at `at`; whatever it raises while it is built or stepped is the caller's to see.

        Raises:
            ResultsError: The model does not come as far as the row says, and raises nothing that tells why.
        """
        cursor, outcome = RunCursor(self.entry, self.measure, self.request, time.perf_counter), None
        cursor.build()
        tick = 0 if at is ReplayPoint.START else self.ticks
        while at is ReplayPoint.END and (outcome := cursor.advance(tick - cursor.tick)) is None and cursor.tick < tick:
            pass
        state = cursor.state
        if state is None or cursor.tick < tick:
            note = "" if outcome is None else f": {outcome.note}"
            raise cursor.error or ResultsError(f"{self.label} did not come to tick {tick} again{note}")
        return state


def recorded_config(results: RecordedResults, run_id: int) -> Config:
    """Return what the run `run_id` of `results` was built from, by its row.

    Raises:
        UnknownRunError: There is no row of that run.
        UnknownModelError: The model is not known.
        ModelChangedError: It is no longer shaped like the one that wrote the results; of a search, it has parameters
            that the row has not.
        ParamError: The row has a value that the model does not allow.
    """
    row = results.runs.run(run_id)
    schema, given = results.entry.schema(), row.params
    if not results.schema_matches:
        ids = [param.id for param in schema.params]
        if not results.is_search or any(id not in given for id in ids):
            results.checked_entry()
        given = {id: given[id] for id in ids}
    return Config(row.run.config_id, row.block, schema.values(given), tuple(row.action_ticks.values()))


def recorded_request(results: RecordedResults, run_id: int) -> RunRequest:
    """Return the run `run_id` of `results` as its row has it; raises as `recorded_config` does."""
    row, config = results.runs.run(run_id), recorded_config(results, run_id)
    return RunRequest(run=row.run, run_key=row.run_key, config=config, schedule=results.schedule(run_id))


def replay_of(results: RecordedResults, run_id: int) -> Replay:
    """Return what the run `run_id` of `results` was made from.

    The run of a search follows from nothing but its row. So its key must be that of the row's values, and a model that
    has changed since may do it again as long as it has the same parameters.

    Raises:
        UnknownRunError: There is no row of that run.
        UnknownModelError: The model is not known.
        ModelChangedError: As `recorded_config` says.
        TableDamagedError: The key of a run of a search is not that of its values.
    """
    request = recorded_request(results, run_id)
    if results.is_search and results.schema_matches:
        _check_key(results, request)
    kind, word = ("Search", "candidate") if results.is_search else ("Sweep", "config")
    return Replay(
        entry=results.entry,
        request=request,
        measure=MeasurePlan.unkept(results.spec, results.stat_columns),
        ticks=results.runs.run(run_id).ticks,
        label=f"{kind} run {run_id}: {word} {request.run.config_id}, replicate {request.run.rep}",
    )


def _check_key(results: RecordedResults, request: RunRequest) -> None:
    run = request.run
    key = hashes.run_key(results.plan, request.config, run.seed)
    if key != request.run_key:
        record, expected = results.runs.record_of(run.run_id), f"{key}, which its parameters, ticks and seed have"
        raise TableDamagedError(RUNS, record, LEADING[-1], came=request.run_key, expected=expected)
