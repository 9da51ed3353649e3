"""Checks that step a model and compare what it shows; each raises `Violation` or `Inapplicable`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle

import numpy as np

from henad_web.channel import Failed, Finished, RunFinished
from henad_web.explore.outcomes import RunOutcome, RunStatus
from henad_web.explore.spec import MeasureSettings, RunSettings, SweepSpec
from henad_web.handle import SweepRun
from henad_web.model.params import Apply, Param, ParamKind, ParamValue
from henad_web.model.schema import are_declared
from henad_web.model.state import BatchState, ModelState, checked_count, has_ended
from henad_web.output.masking import masked
from henad_web.run.options import SweepRunOptions
from henad_web.targets import PumpedTarget
from henad_web.testing.course import Glance, Subject, build, difference, follow, glance
from henad_web.testing.report import Inapplicable, Violation

__all__ = [
    "actions_do_something",
    "batches_change_nothing",
    "builds_and_counts",
    "builds_unseeded",
    "equal_seeds_give_equal_runs",
    "grid_is_drawable",
    "live_params_apply",
    "neighbours_change_nothing",
    "reading_changes_nothing",
    "seeds_make_a_difference",
    "slices_change_nothing",
    "statistics_are_declared",
    "sweeps",
]

_OTHER_SEEDS = 4
"""Seeds that may agree by chance before a model counts as one that draws nothing."""


def builds_and_counts(subject: Subject) -> None:
    """The model builds, steps and counts its ticks, and its counts are counts."""
    state = build(subject, subject.seed)
    checked_count("heap_bytes", state.heap_bytes)
    if state.parallel_jobs is not None:
        checked_count("parallel_jobs", state.parallel_jobs)
    if glance(state).tick != 0:
        raise Violation(f"tick is {state.tick} after the build; allowed: 0")
    follow(state, subject.ticks)


def builds_unseeded(subject: Subject) -> None:
    """The model builds and steps without a seed, always from the same start."""
    one, other = (follow(build(subject, None), subject.ticks) for _ in range(2))
    _agree(one, other, "two builds without a seed differ: {}")


def statistics_are_declared(subject: Subject) -> None:
    """Every tick reports the columns of tick 0, which are those declared."""
    entry = subject.entry
    course = follow(build(subject, subject.seed), subject.ticks)
    columns = [name for name, _ in course[0].stats]
    labels = [stat.label for stat in entry.stats]
    if not are_declared(columns, labels):
        raise Violation(f"it declares {_listed(labels)} and reports {_listed(columns)}")
    for seen in course:
        names = [name for name, _ in seen.stats]
        if names != columns:
            raise Violation(f"it reports {_listed(columns)} at tick 0 and {_listed(names)} at tick {seen.tick}")


def grid_is_drawable(subject: Subject) -> None:
    """The grid is two-dimensional, holds places of the palette, and is the caller's own."""
    state, colours = build(subject, subject.seed), len(subject.entry.metadata.palette)
    if state.grid is None:
        raise Inapplicable("it has no grid")
    for _ in range(2):
        grid = state.grid
        if not isinstance(grid, np.ndarray) or grid.ndim != 2 or grid.dtype != np.uint8:
            came = f"{grid.dtype} of shape {grid.shape}" if isinstance(grid, np.ndarray) else type(grid).__name__
            raise Violation(f"its grid is {came}; allowed: uint8 (height, width)")
        if grid.size and int(grid.max()) >= colours:
            raise Violation(f"its grid holds {int(grid.max())}, and the palette has {colours} colours")
        if grid.flags.writeable:
            before = glance(state)
            grid[...] = (grid + 1) % max(colours, 2)
            if glance(state) != before:
                raise Violation("writing to its grid changes the model; return a copy, or a read-only view")
        follow(state, subject.ticks)


def live_params_apply(subject: Subject) -> None:
    """`set_param` takes each live parameter while the model runs, and no other."""
    if not subject.entry.params:
        raise Inapplicable("it has no parameters")
    for param in subject.entry.params:
        state = build(subject, subject.seed)
        state.step(1)
        value = _another_value(param, subject.params[param.id])
        took = state.set_param(param.id, value)
        if bool(took) is not (param.apply is Apply.LIVE):
            wanted = "taken as it runs" if param.apply is Apply.LIVE else "read at the build alone"
            raise Violation(
                f"parameter '{param.id}' is declared to be {wanted}, and set_param returns {took}; "
                f"declare apply=hw.Apply.{'RELOAD' if param.apply is Apply.LIVE else 'LIVE'}, or change set_param"
            )
        follow(state, subject.ticks)


def _another_value(param: Param, value: ParamValue) -> ParamValue:
    if param.kind is ParamKind.BOOL:
        return not value
    if param.kind is ParamKind.CHOICE:
        return param.options[(param.options.index(str(value)) + 1) % len(param.options)]
    if param.min is None or param.max is None:
        return value
    return param.max if value == param.min else param.min


def actions_do_something(subject: Subject) -> None:
    """Each action is taken at some tick and changes what the model shows; an unknown one is refused."""
    state = build(subject, subject.seed)
    unknown = "".join(("not_", *(action.id for action in subject.entry.actions)))
    if state.act(unknown):
        raise Violation("act() returns true for an action that it does not declare; return False for what is unknown")
    if not subject.entry.actions:
        raise Inapplicable("it declares no actions")
    for action in subject.entry.actions:
        if not any(_acts(subject, action.id, tick) for tick in range(subject.ticks)):
            raise Violation(f"the action '{action.id}' is refused, or changes nothing that the model shows")


def _acts(subject: Subject, action_id: str, tick: int) -> bool:
    acted, alone = build(subject, subject.seed), build(subject, subject.seed)
    for state in (acted, alone):
        state.step(tick)
    if not acted.act(action_id):
        return False
    return difference(follow(acted, subject.ticks), follow(alone, subject.ticks)) is not None


def equal_seeds_give_equal_runs(subject: Subject) -> None:
    """Two runs of one seed are the same."""
    one, other = (follow(build(subject, subject.seed), subject.ticks) for _ in range(2))
    _agree(one, other, "two runs of one seed differ: {}")


def seeds_make_a_difference(subject: Subject) -> None:
    """Runs of other seeds are other runs."""
    mine = follow(build(subject, subject.seed), subject.ticks)
    for seed in range(subject.seed + 1, subject.seed + _OTHER_SEEDS):
        if difference(mine, follow(build(subject, seed), subject.ticks)) is not None:
            return
    raise Violation(f"seeds {subject.seed} to {subject.seed + _OTHER_SEEDS - 1} give one run; use the seed")


def slices_change_nothing(subject: Subject) -> None:
    """Steps may come in any portions."""
    whole = follow(build(subject, subject.seed), subject.ticks)
    for strides in ((subject.ticks,), (3, 1, 5), (2,)):
        parts = follow(build(subject, subject.seed), subject.ticks, strides=cycle(strides))
        _agree(whole, parts, f"step(1) again and again and steps of {_listed(map(str, strides))} differ: {{}}")
    state = build(subject, subject.seed)
    state.step(1)
    before = glance(state)
    state.step(0)
    if glance(state) != before:
        raise Violation("step(0) changes what the model shows")


def reading_changes_nothing(subject: Subject) -> None:
    """A run that nobody looks at goes the way of one that is read at every tick."""
    read, unread = build(subject, subject.seed), build(subject, subject.seed)
    course = follow(read, subject.ticks)
    for seen in course[1:]:
        unread.step(seen.tick - unread.tick)
    _agree(course[-1:], [glance(unread)], "a run that is read at every tick and one that is read at the end differ: {}")
    again = glance(unread)
    _agree(course[-1:], [again], "what is read twice differs: {}")


def neighbours_change_nothing(subject: Subject) -> None:
    """Two runs whose steps alternate go the ways they go alone."""
    seeds = (subject.seed, subject.seed + 1)
    alone = [follow(build(subject, seed), subject.ticks) for seed in seeds]
    states = [build(subject, seed) for seed in seeds]
    beside = [[glance(state)] for state in states]
    for _ in range(subject.ticks):
        for state, course in zip(states, beside, strict=True):
            if not has_ended(state):
                state.step(1)
                course.append(glance(state))
    for one, other in zip(alone, beside, strict=True):
        _agree(one, other, "a run beside another one differs from the same run alone: {}; is something shared?")


def batches_change_nothing(subject: Subject) -> None:
    """Each row of a batch goes the way of its run, also when other rows leave, and whatever is done to all."""
    entry = subject.entry
    if entry.batches is None:
        raise Inapplicable("it offers no batches")
    seeds = [subject.seed + row for row in range(5)]
    for action in (None, *(action.id for action in entry.actions)):
        batch = entry.build_many(subject.params, seeds)
        alone = [build(subject, seed) for seed in seeds]
        for tick in range(subject.ticks + 1):
            for row, state in enumerate(alone):
                _check_row(batch, row, state, seeds[row])
            if tick == subject.ticks // 3 and action is not None:
                took = [bool(each) for each in batch.act(action)]
                if took != [bool(state.act(action)) for state in alone]:
                    raise Violation(f"act('{action}') returns {took} in a batch, and otherwise alone")
            if tick == subject.ticks // 2:
                batch.keep(np.array([1, 2, 4], np.intp))
                alone, seeds = [alone[row] for row in (1, 2, 4)], [seeds[row] for row in (1, 2, 4)]
            batch.step(1)
            for state in alone:
                state.step(1)
        seeds = [subject.seed + row for row in range(5)]
    if entry.batch_rows(subject.params) < 1:
        raise Violation(f"it says that {entry.batch_rows(subject.params)} rows are worth a batch; allowed: at least 1")


def _check_row(batch: BatchState, row: int, state: ModelState, seed: int) -> None:
    seen, grid = glance(state), batch.grid_of(row)
    mine = Glance(
        tick=batch.tick,
        population=int(batch.populations[row]),
        stats=tuple((str(name), repr(float(column[row]))) for name, column in batch.stats().items()),
        grid=None if grid is None else (np.asarray(grid).shape, np.asarray(grid).tobytes()),
    )
    if mine.tick != seen.tick:
        raise Violation(f"the tick of a batch is {mine.tick} where that of a run is {seen.tick}")
    _agree([seen], [mine], f"seed {seed} alone and in a batch differ: {{}}")


def sweeps(subject: Subject) -> None:
    """A sweep of four replicates ends with rows that are ok, at the numbers of the model alone, batches or not."""
    spec = SweepSpec(
        model=subject.entry.id,
        fixed=tuple(subject.params.items()),
        run=RunSettings(steps=subject.ticks, replicates=4),
        measure=MeasureSettings(series_every=1),
    )
    files = []
    for batches in (True, False):
        options = SweepRunOptions(concurrency=1, batches=batches)
        with SweepRun.start(subject.entry, spec, options=options, target=PumpedTarget()) as run:
            while not run.is_ended:
                run.update(0.0, budget_s=1.0)
                while (event := run.try_recv()) is not None:
                    match event:
                        case RunFinished(outcome):
                            _check_outcome(subject, outcome)
                        case Failed(message):
                            raise Violation(f"a sweep of it fails: {message}")
                        case Finished(record):
                            files.append(masked(record.files or {}))
    if files[0] != files[1]:
        raise Violation("sweeps with and without batches differ in their files")


def _check_outcome(subject: Subject, outcome: RunOutcome) -> None:
    if outcome.status is not RunStatus.OK:
        raise Violation(f"run {outcome.run.run_id} of a sweep is {outcome.status}: {outcome.note}")
    last = follow(build(subject, outcome.run.seed), subject.ticks)[-1]
    numbers = tuple(repr(float(number)) for number in outcome.series.values[-1])
    if numbers != tuple(number for _, number in last.stats):
        raise Violation(
            f"run {outcome.run.run_id} of a sweep ends with {_listed(numbers)}, and alone with {last.stats}"
        )


def _agree(one: Sequence[Glance], other: Sequence[Glance], words: str) -> None:
    parted = difference(one, other)
    if parted is not None:
        raise Violation(words.format(parted))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"
