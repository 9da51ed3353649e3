"""Lanes that work elsewhere, as one `Lanes`: bundles handed out and evened out, deaths made good, limits enforced.

Owns the policy. Knows no process and no thread: workers are started by a function it is given, and report into it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from henad_web.errors import HenadError, counted, describe
from henad_web.explore.outcomes import RunOutcome, RunStatus, StopReason
from henad_web.model.faults import one_line
from henad_web.run.bundles import Bundling, LostRuns, Pace
from henad_web.run.control import IDLE, After
from henad_web.run.cursor import rows_together
from henad_web.run.lane_messages import (
    Bundle,
    BundleLost,
    EntryRefused,
    Obeyed,
    OutcomesSent,
    RunShown,
    RunsReturned,
    WorkerDied,
    WorkerNotStarted,
    WorkerOrder,
    WorkerReady,
)
from henad_web.run.lanes import (
    BatchAdvanced,
    CommandAcknowledged,
    LaneCommand,
    LaneNotice,
    LaneReport,
    Lanes,
    RunAdvanced,
    RunEnded,
    RunLost,
    RunStarted,
    RunView,
)

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.control import Answer, Clock
    from henad_web.run.lane_messages import EndedRun, Hear, Worker, WorkerMessage
    from henad_web.run.layout import ExecutionLayout
    from henad_web.run.requests import RunRequest

__all__ = ["KILL_GRACE_S", "LOOK_S", "LanesLostError", "LanesRefusedError", "WorkerLanes", "batch_rows_of"]

LOOK_S = 0.1
"""Seconds between two looks at the ticks and limits of workers that do not report."""

KILL_GRACE_S = 1.0
"""Seconds past its limit after which a run that does not come back from a step is ended with its worker."""

DEATHS_A_LANE = 4
"""Deaths a lane in a row, before any run of theirs began, after which the lanes are given up."""


class LanesLostError(HenadError):
    """Every lane died, again and again, before it could begin a run.

    Attributes:
        deaths: How many did.
        cause: How the last one did.
    """

    def __init__(self, deaths: int, cause: str) -> None:
        self.deaths, self.cause = deaths, cause
        super().__init__(
            f"every lane died before it could begin a run, {deaths} in a row, the last one {cause}; "
            f"lanes='in_caller' steps the runs inside this process"
        )


class LanesRefusedError(HenadError):
    """Lanes that cannot do what they were made for, where nothing else can; the message says why."""


class _Lane:
    """One worker's share: the runs it has, in order, and what is known of it."""

    def __init__(self, bundling: Bundling) -> None:
        self.worker: Worker
        self.pace = Pace(bundling)
        self.runs: dict[int, RunRequest] = {}
        self.is_told_at_start = False
        self.is_ready = self.is_asked_back = self.is_asked_to_show = False
        self.overdue: list[int] | None = None
        self.shown: RunView | None = None
        self.told: set[int] = set()
        self.at: int | None = None
        self.at_since_s = 0.0
        self.tick = 0

    def at_runs(self) -> list[int]:
        """Return the runs that the worker is at, as its gauge shows: several where they are stepped together."""
        gauge = self.worker.gauge
        last, first = gauge.last_id, gauge.run_id  # in this order: it may go on meanwhile
        if first is None or first not in self.runs:
            return []
        if last is None or last == first or last not in self.runs:
            return [first]
        held = list(self.runs)
        return held[held.index(first) : held.index(last) + 1] or [first]

    def suspects(self) -> list[int]:
        """Return the runs on whose account the worker may have died: those it was at, or could not send."""
        if self.overdue is not None:
            return [run_id for run_id in self.overdue if run_id in self.runs]
        gauge, held = self.worker.gauge, list(self.runs)
        unsent = held[: held.index(gauge.ended_id) + 1] if gauge.ended_id in self.runs else []
        return (unsent if gauge.is_sending else []) or self.at_runs() or unsent


class WorkerLanes:
    """Several lanes that work elsewhere.

    A lane that dies while it is at a run, or before it could send how that ended, costs the run one retry; a run at
    which two lanes died is one that failed. The runs that a dead lane had not begun go to the others, and another
    worker takes its place. At which of several runs, stepped together or waiting to be sent, it died nobody knows: all
    are done once more, one by one and without a blame.

    Args:
        start: Starts a worker that reports to what it is given; raises `OSError` or `RuntimeError` where the system
            has no room for one more.
        count: Workers to start, at least 1.
        measure: When runs are sampled and what is kept of them.
        clock: The monotonic clock that workers' gauges are read by, seconds.
        notify: Called once there is something to hear.
        close: Ends every worker; those that still step after the given seconds where they stand.
        stand_in: Makes the lanes that step the runs where the workers cannot load the model; None where none may.
        rows_of: Tells how many replicates like a run a worker steps together.
        bundling: How many runs are handed over together.
    """

    def __init__(
        self,
        start: Callable[[Hear], Worker],
        count: int,
        *,
        measure: MeasurePlan,
        clock: Clock,
        notify: Callable[[], None],
        close: Callable[[float], None],
        stand_in: Callable[[], Lanes] | None,
        rows_of: Callable[[RunRequest], int] = lambda request: 1,
        bundling: Bundling | None = None,
    ) -> None:
        self._start, self._measure, self._clock = start, measure, clock
        self._notify, self._close, self._make_stand_in = notify, close, stand_in
        self._stand_in: Lanes | None = None
        self._inbox: deque[tuple[_Lane, WorkerMessage]] = deque()
        self._queue: deque[RunRequest] = deque()
        self._rows_of, self._rows, self._rows_config = rows_of, 1, -1
        self._room: int | None = None
        self._struck: dict[int, str] = {}
        self._alone: set[int] = set()
        self._bundling, self._lost = bundling or Bundling(), LostRuns()
        self._obeys = LaneCommand.RESUME
        self._orders: deque[tuple[LaneCommand, set[_Lane]]] = deque()
        self._barren_deaths = 0
        self._is_death_told = False
        self._lanes: list[_Lane] = []
        try:
            while len(self._lanes) < count:
                self._lanes.append(self._started())
        except BaseException:  # nobody has these lanes yet who could close them
            close(0.0)
            raise

    def submit(self, request: RunRequest) -> bool:
        """Take `request` unless the lanes have enough to do or do not run."""
        if self._obeys is not LaneCommand.RESUME:
            return False
        if self._stand_in is not None:
            return not self._queue and self._stand_in.submit(request)
        if request.run.config_id != self._rows_config:
            rows, self._rows_config = self._rows_of(request), request.run.config_id
            if rows != self._rows:
                self._rows, self._room = rows, None
        if self._room is None:  # counted once a poll: on many lanes the sum takes longer than all else
            self._room = sum(max(lane.pace.room(self._rows, len(lane.runs)), 0) for lane in self._lanes)
        if len(self._queue) >= self._room:
            return False
        self._queue.append(request)
        return True

    def poll(self, time_left_s: float | None = None) -> Sequence[LaneReport]:
        """Hear the workers, end those past their limit, hand runs out, and report."""
        self._room = None
        reports: list[LaneReport] = []
        while self._inbox:
            lane, message = self._inbox.popleft()
            reports.extend(self._heard(lane, message))
        while self._orders and not self._orders[0][1]:
            reports.append(CommandAcknowledged(self._orders.popleft()[0]))
        if self._stand_in is not None:
            return [*reports, *self._polled(self._stand_in, time_left_s)]
        self._end_overdue()
        if self._obeys is LaneCommand.RESUME:
            self._hand_out()
            self._even_out()
        for lane in self._lanes:
            reports.extend(self._shown(lane))
        return reports

    def when_quiet(self) -> Answer:
        """Return after a while as long as runs are in progress, for their ticks and limits; else idle."""
        if self._stand_in is not None:
            return self._stand_in.when_quiet()
        may_step = self._obeys is LaneCommand.RESUME or bool(self._orders)  # one that does not answer yet steps on
        return After(LOOK_S) if may_step and any(lane.runs for lane in self._lanes) else IDLE

    def command(self, command: LaneCommand) -> None:
        """Pass `command` to every worker; it is acknowledged once the last of them obeys."""
        self._obeys = command
        if command is LaneCommand.ABORT:
            self._queue.clear()
        if self._stand_in is not None:
            self._stand_in.command(command)
            return
        told = {lane for lane in self._lanes if lane.is_ready}
        self._orders.append((command, told))
        for lane in told:
            lane.worker.send(command)
            if command is LaneCommand.ABORT:
                lane.runs.clear()

    def view(self) -> RunView | None:
        """Return the first run in progress as its worker showed it last, and have it shown anew for the next call.

        Exact while the lanes are paused: each shows its run as it begins to wait.
        """
        if self._stand_in is not None:
            return self._stand_in.view()
        lane = min((lane for lane in self._lanes if lane.is_ready and lane.runs), key=_first_run, default=None)
        if lane is None:
            return None
        if not lane.is_asked_to_show and self._obeys is LaneCommand.RESUME:
            lane.is_asked_to_show = True
            lane.worker.send(WorkerOrder.SHOW)
        return lane.shown if lane.shown is not None and lane.shown.run_id in lane.runs else None

    def close(self) -> None:
        """End every worker: soon after an abort, else with time for what it does at its exit."""
        self._close(ABORT_PATIENCE_S if self._obeys is LaneCommand.ABORT else CLOSE_PATIENCE_S)
        if self._stand_in is not None:
            self._stand_in.close()

    def _started(self) -> _Lane:
        lane = _Lane(self._bundling)
        try:
            lane.worker = self._start(partial(self._hear, lane))
        except (OSError, RuntimeError) as error:  # no more files, processes or threads
            self._hear(lane, WorkerNotStarted(describe(error)))
        return lane

    def _hear(self, lane: _Lane, message: WorkerMessage) -> None:
        """Keep a worker's message for the next poll; called on any thread."""
        self._inbox.append((lane, message))
        self._notify()

    def _heard(self, lane: _Lane, message: WorkerMessage) -> Iterator[LaneReport]:
        match message:
            case WorkerReady():
                lane.is_ready = True
                if self._obeys is not LaneCommand.RESUME:
                    lane.is_told_at_start = True
                    lane.worker.send(self._obeys)
            case OutcomesSent(runs):
                yield from self._ended(lane, runs)
            case RunsReturned(run_ids):
                yield from self._taken_back(lane, run_ids)
            case RunShown(view):
                lane.is_asked_to_show, lane.shown = False, view
            case Obeyed() if lane.is_told_at_start:  # the sweep does not wait for this one
                lane.is_told_at_start = False
            case Obeyed():
                self._no_longer_awaited(lane)
            case WorkerDied(cause):
                yield from self._buried(lane, cause)
            case BundleLost(cause):
                yield from self._done_again(lane, cause)
            case LaneNotice(text):
                yield from self._told_of_death(text)
            case WorkerNotStarted(cause):
                yield from self._done_without(lane, cause)
            case EntryRefused(reason) if self._stand_in is None:
                yield from self._stood_in(reason)

    def _done_without(self, lane: _Lane, cause: str) -> Iterator[LaneReport]:
        """Go on with the lanes that are left; in the caller if there is none, unless one has died at a run."""
        if len(self._lanes) > 1:
            self._lanes.remove(lane)
            left = len(self._lanes)
            yield LaneNotice(f"there {'is' if left == 1 else 'are'} {counted(left, 'lane')}, no more: {cause}")
        elif self._struck or self._alone:
            raise LanesLostError(self._barren_deaths + 1, f"not started: {cause}")
        elif self._stand_in is None:
            yield from self._stood_in(f"there is no room for another: {cause}")

    def _stood_in(self, reason: str) -> Iterator[LaneReport]:
        """Have a lane in the caller do what the workers cannot, where one may."""
        if self._make_stand_in is None:
            raise LanesRefusedError(reason)
        for lane in reversed(self._lanes):
            yield from self._taken_back(lane, tuple(reversed(lane.runs)))
        self._stand_in = self._make_stand_in()
        if self._obeys is not LaneCommand.RESUME:
            self._stand_in.command(self._obeys)
            self._stand_in.poll()  # its answer: the command is acknowledged as the workers'
        yield LaneNotice(f"there is one lane, in the caller: {reason}")

    def _ended(self, lane: _Lane, runs: tuple[EndedRun, ...]) -> Iterator[LaneReport]:
        lane.pace.learn(runs)
        self._barren_deaths = 0
        for run in runs:
            request = lane.runs.pop(run.run_id, None)
            self._lost.end(run.run_id)
            lane.told.discard(run.run_id)
            if request is not None:  # it is gone after an abort
                yield RunEnded(run.outcome(request, self._measure))

    def _taken_back(self, lane: _Lane, run_ids: Sequence[int]) -> Iterator[LaneReport]:
        """Put runs that `lane` has not begun, latest first, before all others."""
        for run_id in run_ids:
            request = lane.runs.pop(run_id, None)
            if request is not None:
                self._queue.appendleft(request)
                if run_id in lane.told:
                    lane.told.discard(run_id)
                    yield RunLost(run_id)

    def _buried(self, lane: _Lane, cause: str) -> Iterator[LaneReport]:
        """Deal with the runs of a worker that died, and start another one."""
        suspects = lane.suspects()
        if not suspects and lane.overdue is None:
            self._barren_deaths += 1
            if self._barren_deaths >= DEATHS_A_LANE * len(self._lanes):
                raise LanesLostError(self._barren_deaths, cause)
        if len(suspects) > 1:
            self._alone.update(suspects)
            yield from self._told_of_death(f"a lane was {cause} while it was at several runs, done one by one now")
        elif suspects and (lane.overdue is not None or suspects[0] in self._struck):
            request = lane.runs.pop(suspects[0])
            yield RunEnded(self._failed(request, cause) if lane.overdue is None else self._overdue(request))
        elif suspects:
            self._struck[suspects[0]] = cause
            yield from self._told_of_death(
                f"a lane was {cause} while it was at run {suspects[0]}, which is done once more"
            )
        yield from self._taken_back(lane, tuple(reversed(lane.runs)))
        self._no_longer_awaited(lane, is_gone=True)
        if self._obeys is not LaneCommand.ABORT and self._stand_in is None:
            self._lanes[self._lanes.index(lane)] = self._started()

    def _done_again(self, lane: _Lane, cause: str) -> Iterator[LaneReport]:
        """Deal with the runs of a bundle that was lost while its lane goes on."""
        if not lane.runs:  # it was aborted
            return
        for run_id in self._lost.lose(lane.runs, cause, len(self._lanes)):
            note = f"its worker was lost whenever it was at this run, at last while it was at nothing else: {cause}"
            yield RunEnded(
                self._without_course(lane.runs.pop(run_id), RunStatus.PANICKED, StopReason.FAULT, one_line(note))
            )
        if lane.runs:
            yield from self._told_of_death(f"a worker was lost, and its runs are done again: {cause}")
        yield from self._taken_back(lane, tuple(reversed(lane.runs)))

    def _told_of_death(self, text: str) -> Iterator[LaneReport]:
        """Tell people of the first lane that died."""
        if not self._is_death_told:
            self._is_death_told = True
            yield LaneNotice(text)

    def _no_longer_awaited(self, lane: _Lane, *, is_gone: bool = False) -> None:
        """Note that `lane` obeys the oldest command told to it, as it does one after the other, or is gone."""
        for _, lanes in self._orders:
            if lane in lanes:
                lanes.discard(lane)
                if not is_gone:
                    return

    def _end_overdue(self) -> None:
        for lane in self._lanes:
            # Its run before its limit: the worker may go on to the next run meanwhile, which is not to be blamed.
            run_ids, due_s = lane.at_runs(), lane.worker.gauge.due_s
            if due_s is None or lane.overdue is not None or self._clock() < due_s + KILL_GRACE_S:
                continue
            if lane.worker.kill():
                lane.overdue = run_ids

    def _hand_out(self) -> None:
        """Send bundles to the lanes that have one bundle or less, an even share where there is not enough for all."""
        rows = self._rows
        hungry = [lane for lane in self._lanes if lane.is_ready and lane.pace.is_due(rows, len(lane.runs))]
        hungry.sort(key=lambda lane: len(lane.runs))
        for waiting, lane in zip(range(len(hungry), 0, -1), hungry, strict=True):
            share = min(lane.pace.room(rows, len(lane.runs)), -(-len(self._queue) // waiting))
            if share > 0:
                under_way = (run_id for other in self._lanes for run_id in other.runs)
                share = self._lost.together(self._queue, share, under_way)
            if share <= 0:
                return
            requests = tuple(self._queue.popleft() for _ in range(share))
            lane.runs.update((request.run.run_id, request) for request in requests)
            lane.worker.send(Bundle(requests, frozenset(self._alone & lane.runs.keys())))
            lane.is_asked_back = False

    def _even_out(self) -> None:
        """Have the lane with most runs give back those it has not begun, where another one has nothing to do."""
        if self._queue or not any(lane.is_ready and not lane.runs for lane in self._lanes):
            return
        fullest = max(self._lanes, key=lambda lane: len(lane.runs))
        if len(fullest.runs) > 1 and not fullest.is_asked_back:
            fullest.is_asked_back = True
            fullest.worker.send(WorkerOrder.GIVE_BACK)

    def _shown(self, lane: _Lane) -> Iterator[LaneReport]:
        """Report the runs that `lane` is at, or will be at first, as far as that is not told yet."""
        at = lane.at_runs()
        for run_id in at or [*lane.runs][:1]:
            if run_id not in lane.told:
                lane.told.add(run_id)
                lane.tick = 0
                yield RunStarted(lane.runs[run_id].run)
        if not at:
            return
        tick = lane.worker.gauge.tick
        if tick != lane.tick:
            lane.tick = tick
            yield RunAdvanced(at[0], tick, 0.0) if len(at) == 1 else BatchAdvanced(tuple(at), tick, 0.0)
        self._hurry(lane, at[0])

    def _hurry(self, lane: _Lane, run_id: int) -> None:
        """Have `lane` send what it holds back for company, once it is at one run for a while."""
        now = self._clock()
        if lane.at != run_id:
            lane.at, lane.at_since_s = run_id, now
        elif now - lane.at_since_s >= LOOK_S and next(iter(lane.runs)) != run_id:
            lane.at_since_s = math.inf
            lane.worker.send(WorkerOrder.SEND)

    def _polled(self, stand_in: Lanes, time_left_s: float | None) -> Sequence[LaneReport]:
        while self._queue and stand_in.submit(self._queue[0]):
            self._queue.popleft()
        return stand_in.poll(time_left_s)

    def _overdue(self, request: RunRequest) -> RunOutcome:
        seconds = repr(float(self._measure.timeout_s or 0.0)).removesuffix(".0")
        note = f"timed out after {seconds} s, in a step that did not end; its lane was ended"
        return self._without_course(request, RunStatus.TIMED_OUT, StopReason.TIMEOUT, note)

    def _failed(self, request: RunRequest, cause: str) -> RunOutcome:
        first = self._struck[request.run.run_id]
        again = "so was the one that did it once more" if cause == first else f"the one that did it once more {cause}"
        note = f"its lane was {first}, and {again}"
        return self._without_course(request, RunStatus.PANICKED, StopReason.FAULT, note)

    def _without_course(self, request: RunRequest, status: RunStatus, reason: StopReason, note: str) -> RunOutcome:
        """Return the outcome of a run that left nothing but its end."""
        reducers, series = self._measure.sampler().finish()
        return RunOutcome(
            run=request.run,
            config=request.config,
            run_key=request.run_key,
            status=status,
            stop_reason=reason,
            ticks=0,
            population=0,
            build_ms=0.0,
            wall_ms=0.0,
            reducers=reducers,
            series=series,
            note=note,
        )


def batch_rows_of(entry: ModelEntry, layout: ExecutionLayout, request: RunRequest) -> int:
    """Return how many replicates like `request` a lane of `layout` steps together."""
    return min(layout.batch_rows, rows_together(entry, request.config.params, takes_interrupts=True))


def _first_run(lane: _Lane) -> int:
    return min(lane.runs)


ABORT_PATIENCE_S = 0.03
"""Seconds that a worker has to end after an abort: its runs are dropped anyway."""

CLOSE_PATIENCE_S = 1.0
"""Seconds that an idle worker has for what models registered for the exit of its process."""
