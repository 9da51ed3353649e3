"""Lanes that work elsewhere, as one `Lanes`: bundles handed out and evened out, deaths made good, limits enforced.

Owns the policy. Knows no process and no thread: workers are started by a function it is given, and report into it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from henad_web.errors import HenadError, counted, describe
from henad_web.run.bundles import Bundling
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
    CommandAcknowledged,
    LaneCommand,
    LaneNotice,
    LaneReport,
    Lanes,
    RunEnded,
    RunLost,
    RunView,
)
from henad_web.run.lost_runs import LanesLostError, LostRuns, lost_outcome, timed_out_outcome
from henad_web.run.worker_lane import LOOK_S, WorkerLane

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.control import Answer, Clock
    from henad_web.run.lane_messages import EndedRun, Hear, Worker, WorkerMessage
    from henad_web.run.late_bundles import Patience
    from henad_web.run.layout import ExecutionLayout
    from henad_web.run.requests import RunRequest

__all__ = ["KILL_GRACE_S", "LanesRefusedError", "WorkerLanes", "batch_rows_of"]

KILL_GRACE_S = 1.0
"""Seconds past its limit after which a run that does not come back from a step is ended with its worker."""

DEATHS_A_LANE = 4
"""Deaths a lane in a row, before any run of theirs began, after which the lanes are given up."""


class LanesRefusedError(HenadError):
    """Lanes that cannot do what they were made for, where nothing else can; the message says why."""


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
        patience: How long a worker is waited for that has one bundle at a time; None where all tell how they end.
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
        patience: Patience | None = None,
    ) -> None:
        self._start, self._measure, self._clock = start, measure, clock
        self._notify, self._close, self._make_stand_in = notify, close, stand_in
        self._stand_in: Lanes | None = None
        self._inbox: deque[tuple[WorkerLane, WorkerMessage]] = deque()
        self._queue: deque[RunRequest] = deque()
        self._rows_of, self._rows, self._rows_config = rows_of, 1, -1
        self._room: int | None = None
        self._struck: dict[int, str] = {}
        self._alone: set[int] = set()
        self._bundling, self._lost = bundling or Bundling(), LostRuns()
        self._patience, self._late = patience, list[WorkerLane]()
        self._obeys = LaneCommand.RESUME
        self._orders: deque[tuple[LaneCommand, set[WorkerLane]]] = deque()
        self._barren_deaths = 0
        self._is_death_told = False
        self._lanes: list[WorkerLane] = []
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
        if self._patience is not None:
            reports.extend(self._done_elsewhere(self._patience))
        if self._obeys is LaneCommand.RESUME:
            self._hand_out()
            self._even_out()
        now_s = self._clock()
        for lane in self._lanes:
            reports.extend(lane.progress(now_s))
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
        if command is LaneCommand.ABORT:
            for lane in self._late:
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

    def _started(self) -> WorkerLane:
        lane = WorkerLane(self._bundling)
        try:
            lane.worker = self._start(partial(self._hear, lane))
        except (OSError, RuntimeError) as error:  # no more files, processes or threads
            self._hear(lane, WorkerNotStarted(describe(error)))
        return lane

    def _hear(self, lane: WorkerLane, message: WorkerMessage) -> None:
        """Keep a worker's message for the next poll; called on any thread."""
        lane.heard_s = self._clock()
        self._inbox.append((lane, message))
        self._notify()

    def _heard(self, lane: WorkerLane, message: WorkerMessage) -> Iterator[LaneReport]:
        match message:
            case WorkerReady():
                lane.is_ready = True
                if self._obeys is not LaneCommand.RESUME:
                    lane.is_told_at_start = True
                    lane.worker.send(self._obeys)
            case OutcomesSent(runs):
                yield from self._ended(lane, runs)
            case RunsReturned() | BundleLost() if lane in self._late:  # its runs are done again as it is
                self._late.remove(lane)
                lane.runs.clear()
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

    def _done_without(self, lane: WorkerLane, cause: str) -> Iterator[LaneReport]:
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

    def _ended(self, lane: WorkerLane, runs: tuple[EndedRun, ...]) -> Iterator[LaneReport]:
        lane.pace.learn(runs)
        self._barren_deaths = 0
        if self._patience is not None:
            self._patience.hear(lane.heard_s - lane.sent_s)
        for run in runs:
            request = lane.runs.pop(run.run_id, None)
            lane.told.discard(run.run_id)
            self._lost.end(run.run_id)
            if request is not None:  # it is gone after an abort, or where another lane was first
                self._forget(run.run_id)
                yield RunEnded(run.outcome(request, self._measure))

    def _forget(self, run_id: int) -> None:
        """Have no lane do run `run_id` any more, which has ended."""
        if self._patience is None or not self._patience.end(run_id):
            return
        self._queue = deque(request for request in self._queue if request.run.run_id != run_id)
        for lane in [lane for lane in (*self._late, *self._lanes) if run_id in lane.runs]:
            del lane.runs[run_id]
            if lane.runs:
                continue
            lane.worker.send(WorkerOrder.CLOSE)
            if lane in self._late:
                self._late.remove(lane)
            else:
                self._replace(lane)

    def _taken_back(self, lane: WorkerLane, run_ids: Sequence[int]) -> Iterator[LaneReport]:
        """Put runs that `lane` has not begun, latest first, before all others."""
        for run_id in run_ids:
            request = lane.runs.pop(run_id, None)
            if request is not None:
                self._queue.appendleft(request)
                if run_id in lane.told:
                    lane.told.discard(run_id)
                    yield RunLost(run_id)

    def _buried(self, lane: WorkerLane, cause: str) -> Iterator[LaneReport]:
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
            yield RunEnded(
                lost_outcome(request, self._measure, self._blame(request, cause))
                if lane.overdue is None
                else timed_out_outcome(request, self._measure)
            )
        elif suspects:
            self._struck[suspects[0]] = cause
            yield from self._told_of_death(
                f"a lane was {cause} while it was at run {suspects[0]}, which is done once more"
            )
        yield from self._taken_back(lane, tuple(reversed(lane.runs)))
        self._replace(lane)

    def _replace(self, lane: WorkerLane) -> None:
        """Have another worker take the place of the one of `lane`."""
        self._no_longer_awaited(lane, is_gone=True)
        if self._obeys is not LaneCommand.ABORT and self._stand_in is None:
            self._lanes[self._lanes.index(lane)] = self._started()

    def _done_elsewhere(self, patience: Patience) -> Iterator[LaneReport]:
        """Have the runs of late bundles done again, and take what comes first; the lane of each is another one's."""
        now_s = self._clock()
        for lane in sorted(self._lanes, key=lambda lane: lane.sent_s):
            if not lane.runs or not patience.is_late(lane.runs, lane.sent_s, now_s):
                continue
            if not patience.is_tried(lane.runs):
                yield LaneNotice(_late_text(lane.runs, now_s - lane.sent_s))
            if patience.try_again(lane.runs, lane.sent_s, now_s):
                lane.worker.send(WorkerOrder.RENEW)
            runs = dict(lane.runs)
            yield from self._taken_back(lane, tuple(reversed(runs)))
            lane.runs = runs
            self._late.append(lane)
            self._replace(lane)

    def _done_again(self, lane: WorkerLane, cause: str) -> Iterator[LaneReport]:
        """Deal with the runs of a bundle that was lost while its lane goes on."""
        if not lane.runs:  # it was aborted
            return
        for run_id in self._lost.lose(lane.runs, cause, len(self._lanes)):
            note = f"its worker was lost whenever it was at this run, at last while it was at nothing else: {cause}"
            request = lane.runs.pop(run_id)
            self._forget(run_id)
            yield RunEnded(lost_outcome(request, self._measure, note))
        if lane.runs:
            yield from self._told_of_death(f"a worker was lost, and its runs are done again: {cause}")
        yield from self._taken_back(lane, tuple(reversed(lane.runs)))

    def _told_of_death(self, text: str) -> Iterator[LaneReport]:
        """Tell people of the first lane that died."""
        if not self._is_death_told:
            self._is_death_told = True
            yield LaneNotice(text)

    def _no_longer_awaited(self, lane: WorkerLane, *, is_gone: bool = False) -> None:
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
            lane.sent_s = self._clock()
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

    def _polled(self, stand_in: Lanes, time_left_s: float | None) -> Sequence[LaneReport]:
        while self._queue and stand_in.submit(self._queue[0]):
            self._queue.popleft()
        return stand_in.poll(time_left_s)

    def _blame(self, request: RunRequest, cause: str) -> str:
        first = self._struck[request.run.run_id]
        again = "so was the one that did it once more" if cause == first else f"the one that did it once more {cause}"
        return f"its lane was {first}, and {again}"


def batch_rows_of(entry: ModelEntry, layout: ExecutionLayout, request: RunRequest) -> int:
    """Return how many replicates like `request` a lane of `layout` steps together."""
    return min(layout.batch_rows, rows_together(entry, request.config.params, takes_interrupts=True))


def _late_text(run_ids: Collection[int], seconds: float) -> str:
    others = f" and {len(run_ids) - 1} more" if len(run_ids) > 1 else ""
    return (
        f"run {min(run_ids)}{others} did not come back within {seconds:.0f} s and may be lost: done again, "
        f"and what comes first is taken"
    )


def _first_run(lane: WorkerLane) -> int:
    return min(lane.runs)


ABORT_PATIENCE_S = 0.03
"""Seconds that a worker has to end after an abort: its runs are dropped anyway."""

CLOSE_PATIENCE_S = 1.0
"""Seconds that an idle worker has for what models registered for the exit of its process."""
