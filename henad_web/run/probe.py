"""Tries a plan before anything is written: which columns there are, how large a run is, whether it builds, how long.

What a model that builds says wrongly of itself is told by each run, as its row; here it only counts for nothing. One
build a call of `advance`, so that a frame is never held for more than one. Steps a model only where its time is asked
for: what was built for a slice, a pilot a whole run. Writes nothing.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from henad_web.errors import ProbeError, StateValueError, StatsShapeError
from henad_web.model.faults import Blame, Fault, Phase
from henad_web.model.schema import are_declared
from henad_web.model.state import checked_count, has_ended
from henad_web.run.control import NATIVE_SLICE_TARGET_S
from henad_web.run.cursor import RunCursor, build_state, rows_together
from henad_web.run.requests import RunRequest

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Config, Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.model.state import BatchState, ModelState
    from henad_web.run.control import Clock
    from henad_web.run.outline import SweepOutline

__all__ = [
    "MAX_PROBED_CONFIGS",
    "Pilot",
    "Probe",
    "ProbeReport",
    "TIMED_S",
    "pilot_run",
]

MAX_PROBED_CONFIGS = 8
"""Configs tried, in plan order, before a sweep is given up as one that cannot be built."""

TIMED_S = 3 * NATIVE_SLICE_TARGET_S
"""Seconds for which a built config is stepped where its time is asked for, in slices as of a run."""

COMPILED_S = 2.0
"""Seconds up to which a first step is taken for one that compiles: a second step is then timed, too.

After a longer one nothing more is stepped, of no other config either: a run that long is worth a lane of its own.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """What one built config told.

    Attributes:
        config: Which config it was.
        seed: The seed it was built with.
        columns: Names of the stat columns of its sample at tick 0; the declared statistics where the sample was not
            of them.
        heap_bytes: Host memory of a run, bytes.
        population: Its population at tick 0.
        parallel_jobs: Independent jobs of one step, None when the model does not say.
        demand_bytes: Device memory of a run, bytes; 0 for a CPU model.
        values: Its sample at tick 0, before any action, a number a column.
        is_sound: Whether all it said of itself is what a run takes.
        has_ended: Whether the model says at tick 0, before any action, that it has ended.
        run_s: Seconds a run is guessed to take, None where none was timed.
        batch_rows: Replicates of the config that are worth stepping together, 1 for none.
        widest_batch: The most that any config tried wants of them.
    """

    config: Config
    seed: int
    columns: tuple[str, ...]
    heap_bytes: int
    population: int
    parallel_jobs: int | None
    demand_bytes: int = 0
    values: tuple[float, ...] = ()
    is_sound: bool = True
    has_ended: bool = False
    run_s: float | None = None
    batch_rows: int = 1
    widest_batch: int = 1

    def sized_for(self, other: ProbeReport) -> ProbeReport:
        """Return this report with the size of `other` where that one takes more memory, host and device together."""
        widest = max(self.widest_batch, other.widest_batch)
        if other.heap_bytes + other.demand_bytes <= self.heap_bytes + self.demand_bytes:
            return replace(self, widest_batch=widest)
        return replace(
            self,
            heap_bytes=other.heap_bytes,
            population=other.population,
            parallel_jobs=other.parallel_jobs,
            demand_bytes=other.demand_bytes,
            batch_rows=other.batch_rows,
            widest_batch=widest,
        )


class Probe:
    """Probes a plan, one build at a time.

    Args:
        entry: The model.
        plan: What is to be run.
        timer: Monotonic clock, seconds, to guess how long a run takes; None leaves what was built unstepped.
        batch_of: Tells from the bytes of one how many replicates the layout lets be stepped together, where a run is
            timed: it is timed as part of such a batch.
        takes_interrupts: Whether an interrupt is the model's fault too, as `Blame` has it.
    """

    def __init__(
        self,
        entry: ModelEntry,
        plan: Plan,
        *,
        timer: Clock | None = None,
        batch_of: Callable[[int], int] = lambda heap_bytes: 1,
        takes_interrupts: bool = False,
    ) -> None:
        self._entry, self._plan, self._timer, self._takes_interrupts = entry, plan, timer, takes_interrupts
        self._batch_of, self._is_slow = batch_of, False
        self._report: ProbeReport | None = None
        self._timing: Iterator[None] = iter(())
        self._run_times: list[float] = []
        self._times_to_faults: list[float] = []
        self._faults: list[tuple[int, str]] = []
        self._configs = self._order()

    def advance(self, *, hurry: bool = False) -> ProbeReport | None:
        """Build one more config, or time it for a slice; return the report once it is complete.

        The time of a run is the mean of those of the configs timed; where all of them failed, of those to their faults.

        Args:
            hurry: Settle for the first config that builds, as an aborted sweep does.

        Raises:
            ProbeError: None of the configs tried could be built.
        """
        if not hurry or self._report is None:
            if next(self._timing, self) is None:
                return None
            config = next(self._configs, None)
            if config is not None:
                self._try(config)
                return None
        if self._report is None:
            raise ProbeError(self._faults)
        times = self._run_times or self._times_to_faults
        return replace(self._report, run_s=sum(times) / len(times) if times else None)

    def run_to_end(self) -> ProbeReport:
        """Build all that is needed at once and return the report; raises as `advance` does."""
        while (report := self.advance()) is None:
            pass
        return report

    def _order(self) -> Iterator[Config]:
        """Yield configs until one has built and is sound, then the last one for its footprint."""
        configs = self._plan.configs
        for config_id in range(min(len(configs), MAX_PROBED_CONFIGS)):
            if self._report is None or not self._report.is_sound:
                yield configs[config_id]
        if self._report is not None:
            last = configs[-1]
            if (self._report.config.params, self._report.seed) != (last.params, self._seed(last)):
                yield last

    def _seed(self, config: Config) -> int:
        """Return the seed of the first run of `config`."""
        return self._plan.run(config.config_id * self._plan.replicates).seed

    def _try(self, config: Config) -> None:
        probed, report = self._probe(config), self._report
        if isinstance(probed, Fault):
            if report is None:  # once a config has built, the fault of another is a run's affair
                self._faults.append((config.config_id, probed.text))
        elif report is None or (probed.is_sound and not report.is_sound):
            self._report = probed
        else:
            self._report = report.sized_for(probed)

    def _probe(self, config: Config) -> ProbeReport | Fault:
        seed, takes_interrupts, timer = self._seed(config), self._takes_interrupts, self._timer
        started = 0.0 if timer is None else timer()
        state = build_state(self._entry, config.params, seed, takes_interrupts=takes_interrupts)
        if isinstance(state, Fault):
            return state
        build_s = 0.0 if timer is None else timer() - started
        with Blame(Phase.BUILDING, self._entry.source_file, takes_interrupts=takes_interrupts) as blame:
            columns, values = _sample(_stats_of(state), self._plan.schema.stat_labels)
            sizes = _sizes(state)
            heap_bytes, population, jobs = sizes or (0, 0, None)
            report = ProbeReport(
                config=config,
                seed=seed,
                columns=columns,
                heap_bytes=heap_bytes,
                population=population,
                parallel_jobs=jobs,
                values=values or (math.nan,) * len(columns),
                is_sound=sizes is not None and len(values) == len(columns),
            )
        if blame.fault is not None:
            return blame.fault
        rows = rows_together(self._entry, config.params, takes_interrupts=takes_interrupts)
        if timer is not None and not self._is_slow:
            together = min(self._batch_of(heap_bytes), int(rows if build_s <= 0.0 else min(rows, TIMED_S / build_s)))
            self._timing = self._time(config, state, timer, build_s, together)
        is_over = False
        with Blame(Phase.STEPPING, self._entry.source_file, takes_interrupts=takes_interrupts):  # the run tells of it
            is_over = has_ended(state)
        return replace(report, batch_rows=rows, widest_batch=rows, has_ended=is_over)

    def _time(
        self, config: Config, state: ModelState, timer: Clock, build_s: float, together: int
    ) -> Generator[None, None, None]:
        """Guess the time of a run: of its share in a batch of `together` where that many are built in time, else alone.

        Args:
            config: Which config.
            state: One of it, built.
            timer: The clock.
            build_s: Seconds its build took.
            together: Replicates of a batch; one that fails is done one by one, and timed so.
        """
        if together > 1:
            first = config.config_id * self._plan.replicates
            seeds = [self._plan.run(run_id).seed for run_id in range(first, first + together)]
            started = timer()
            with Blame(Phase.BUILDING, self._entry.source_file, takes_interrupts=self._takes_interrupts) as blame:
                rows = self._entry.build_many(config.params, seeds)
            built_s = timer() - started
            yield
            if blame.error is None:
                stepped_s, is_failed = yield from self._stepped(rows, timer)
                if not is_failed:
                    self._run_times.append((built_s + stepped_s) / together)
                    return
        stepped_s, is_failed = yield from self._stepped(state, timer)
        (self._times_to_faults if is_failed else self._run_times).append(build_s + stepped_s)

    def _stepped(self, state: ModelState | BatchState, timer: Clock) -> Generator[None, None, tuple[float, bool]]:
        """Step and sample `state`, a slice a turn; return the seconds all its ticks take by that, and False.

        At a fault return the seconds to it, and True.
        """
        total, every = self._plan.total_ticks, self._plan.spec.measure.stats_every
        readings = [(0, 0.0)]
        tick, elapsed = readings[-1]
        while tick < total and elapsed < (COMPILED_S if tick == 1 else TIMED_S):
            with Blame(Phase.STEPPING, self._entry.source_file, takes_interrupts=self._takes_interrupts) as blame:
                started, slice_end = timer() - elapsed, elapsed + NATIVE_SLICE_TARGET_S
                while tick < total and elapsed < slice_end:
                    steps = min(max(1, tick), total - tick, every - tick % every)
                    state.step(steps)
                    tick += steps
                    if tick % every == 0:
                        state.stats()
                    elapsed = timer() - started
                    readings.append((tick, elapsed))
            if blame.error is not None:
                return timer() - started, True
            self._is_slow = self._is_slow or elapsed >= COMPILED_S
            yield
        return elapsed + (total - tick) * _pace(readings), False


def _pace(readings: list[tuple[int, float]]) -> float:
    """Return the seconds a step from the ticks and times read: over all steps or the later half, the faster one.

    The first steps may compile or fill a cache; and other programs hold up now these, now those.
    """
    tick, elapsed = readings[-1]
    if tick == 0:
        return 0.0
    half_tick, half_s = next(reading for reading in reversed(readings) if 2 * reading[0] <= tick)
    return min(elapsed / tick, (elapsed - half_s) / (tick - half_tick))


def _stats_of(state: ModelState) -> object:
    """Return the sample of `state`, None where it says itself that it has none of the right form."""
    try:
        return state.stats()
    except StatsShapeError:
        return None


def _sample(stats: object, labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the columns of a sample and its values; the declared `labels` and no values where it is not of them."""
    if isinstance(stats, Mapping):
        columns, values = tuple(stats), tuple(map(_number, stats.values()))
        if len(columns) == len(values) and are_declared(columns, labels):
            return columns, values
    return labels, ()


def _sizes(state: ModelState) -> tuple[int, int, int | None] | None:
    """Return bytes, population and jobs of `state`, None when one of them is no count."""
    jobs = state.parallel_jobs
    try:
        return (
            checked_count("heap_bytes", state.heap_bytes),
            checked_count("population", state.population),
            None if jobs is None else checked_count("parallel_jobs", jobs),
        )
    except StateValueError:
        return None


def _number(value: object) -> float:
    # What is no number is told by the run whose sample it is, not by the probe.
    try:
        return float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        return math.nan


@dataclass(frozen=True, slots=True)
class Pilot:
    """What one run of a plan took, from which the time of all of them is guessed.

    Attributes:
        outcome: The run.
    """

    outcome: RunOutcome

    @property
    def seconds(self) -> float:
        """Seconds it was built, stepped and sampled for."""
        return (self.outcome.build_ms + self.outcome.wall_ms) / 1000.0

    def estimated_s(self, outline: SweepOutline) -> float:
        """Return the seconds that the pending runs of `outline` take if each is like this one."""
        lanes = max(1, outline.layout.cpu_lanes + outline.layout.gpu_tracks)
        return self.seconds * -(-outline.pending // lanes)


def pilot_run(entry: ModelEntry, plan: Plan, measure: MeasurePlan, clock: Clock) -> Pilot:
    """Run the first run of `plan` to its end and return what it took; the call lasts as long.

    Args:
        entry: The model.
        plan: What would be run.
        measure: Its measuring.
        clock: Monotonic clock, seconds.
    """
    cursor = RunCursor(entry, measure, RunRequest.of(plan, plan.run(0)), clock)
    while (outcome := cursor.advance(_PILOT_STEPS)) is None:
        pass
    return Pilot(outcome)


_PILOT_STEPS = 64
"""Steps between two looks at whether a pilot has ended."""
