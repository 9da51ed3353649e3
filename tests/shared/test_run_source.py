"""Runs that come from a search: a batch that does not exist until the one before it is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import henad_web as hw
from henad_web.explore.hashes import run_key
from henad_web.explore.outcomes import PlannedRun
from henad_web.explore.plan import Config, Plan
from henad_web.explore.shards import WHOLE
from henad_web.run.lanes import DeviceLost
from henad_web.run.requests import RunRequest
from henad_web.run.source import PlanSource, RunSource, Turn
from tests.shared.hosts import ManualClock
from tests.shared.lane_bench import Bench
from tests.shared.test_run_order import breadth
from tests.shared.toy_models import Toy, entry_of, toy_spec

BATCH = 3


def told(batch: int, values: tuple[int, ...]) -> hw.SearchUpdate:
    """Return what the climb tells of a batch: the sum of its values, in place of evaluations."""
    return hw.SearchUpdate(batch=batch, evaluations=sum(values), runs=BATCH * (batch + 1), evaluated=())


class Climb:
    """A search whose candidates are one more than the sum of the batch before: nobody knows them any earlier."""

    def __init__(self, plan: Plan, batches: int = 3) -> None:
        self._plan, self._batches = plan, batches
        self.total_runs = BATCH * batches
        self.asked = self.told = 0
        self._configs: list[Config] = []
        self._handed_out = 0
        self._outcomes: list[hw.RunOutcome] = []
        self._next_value = 1

    @property
    def is_done(self) -> bool:
        return self.told == self._batches

    def next(self) -> RunRequest | None:
        if self._handed_out == len(self._configs):
            return None
        config = self._configs[self._handed_out]
        run = PlannedRun(self._handed_out, config.config_id, 0, 1000 + self._handed_out)
        self._handed_out += 1
        key = run_key(self._plan, config, run.seed)
        return RunRequest(run=run, run_key=key, config=config, schedule=())

    def committed(self, outcome: hw.RunOutcome) -> None:
        self._outcomes.append(outcome)

    def turn(self, *, may_ask: bool) -> Turn | None:
        if self.told < self.asked:
            return self._tell() if len(self._outcomes) == BATCH * self.asked else None
        if self.asked == self._batches or not may_ask:
            return None
        for config_id in range(len(self._configs), len(self._configs) + BATCH):
            self._configs.append(Config(config_id, 0, (self._next_value + config_id,), ()))
        self.asked += 1
        return Turn()

    def _tell(self) -> Turn:
        values = tuple(int(str(outcome.config.params[0])) for outcome in self._outcomes[-BATCH:])
        self._next_value = 1 + sum(values)
        self.told += 1
        return Turn(told(self.told - 1, values))


class SearchBench(Bench):
    """The bench, its runs those of a climb."""

    def __init__(self, clock: ManualClock, batches: int = 3) -> None:
        self.climb: Climb

        def climb_of(plan: Plan) -> RunSource:
            self.climb = Climb(plan, batches)
            return self.climb

        super().__init__(clock, source_of=climb_of)

    def news(self) -> list[int | hw.SearchUpdate]:
        """Return run ids and updates in the order they came."""
        found: list[int | hw.SearchUpdate] = []
        for event in self.events:
            match event:
                case hw.RunFinished(outcome, _):
                    found.append(outcome.run.run_id)
                case hw.SearchBatchTold(update):
                    found.append(update)
        return found

    def values(self) -> list[str]:
        """Return the value of each row of runs.csv."""
        lines = self.store.read("runs.csv").decode().splitlines()
        column = lines[0].split(",").index("value")
        return [line.split(",")[column] for line in lines[1:]]

    def finished(self) -> hw.SweepRecord:
        last = self.events[-1]
        assert isinstance(last, hw.Finished), last
        return last.record


FIRST, SECOND = told(0, (1, 2, 3)), told(1, (10, 11, 12))
THIRD = told(2, (40, 41, 42))


@pytest.fixture
def bench(clock: ManualClock) -> SearchBench:
    bench = SearchBench(clock)
    bench.pump()
    return bench


def test_a_batch_waits_for_every_run_of_the_one_before(bench: SearchBench) -> None:
    assert sorted(bench.lanes.held) == [0, 1, 2]
    bench.end([2, 0])
    assert (bench.climb.asked, sorted(bench.lanes.held)) == (1, [1]), "two lanes have nothing to do, and stay idle"
    bench.end([1])
    assert (bench.climb.asked, sorted(bench.lanes.held)) == (2, [3, 4, 5])
    bench.end([5, 4, 3, 7, 6, 8])
    assert bench.news() == [0, 1, 2, FIRST, 3, 4, 5, SECOND, 6, 7, 8, THIRD]
    assert bench.finished().report.end is hw.SweepEnd.COMPLETE
    assert bench.rows() == [str(run_id) for run_id in range(9)]


def test_rows_hold_the_values_that_the_source_knows(bench: SearchBench) -> None:
    bench.end([1, 2, 0, 4, 3, 5, 8, 7, 6])
    assert bench.values() == ["1", "2", "3", "10", "11", "12", "40", "41", "42"]
    assert bench.finished().report.outline.pending == 9


@pytest.mark.parametrize(
    "order", [[0, 1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 0, 5, 4, 3, 8, 7, 6], [1, 0, 2, 4, 5, 3, 6, 8, 7]]
)
def test_its_files_do_not_depend_on_the_order_of_finishing(clock: ManualClock, order: list[int]) -> None:
    files = []
    for ends in (range(9), order):
        bench = SearchBench(clock)
        bench.pump()
        bench.end(ends)
        found = bench.finished().files
        assert found is not None
        files.append(hw.masked(found))
    assert files[0] == files[1]


def test_a_pause_holds_the_runs_of_a_new_batch_and_not_the_search(bench: SearchBench) -> None:
    bench.end([0, 1])
    bench.control.pause()
    bench.pump()
    bench.end([2])
    assert bench.news() == [0, 1, 2, FIRST], "a batch is told while the sweep is paused"
    assert bench.climb.asked == 2, "and the next one asked for"
    assert bench.lanes.held == {}, "but none of its runs is handed out"
    bench.control.resume()
    bench.pump()
    bench.end([5, 3, 4, 6, 7, 8])
    assert bench.news()[-1] == THIRD
    assert bench.finished().report.end is hw.SweepEnd.COMPLETE


def test_a_pause_while_lanes_wait_for_a_batch_goes_on_as_if_there_had_been_none(bench: SearchBench) -> None:
    bench.end([0, 2])
    bench.control.pause()
    bench.pump()
    bench.control.resume()
    bench.pump()
    assert sorted(bench.lanes.held) == [1], "there is still nothing to hand out"
    bench.end([1, 3, 4, 5, 6, 7, 8])
    assert bench.rows() == [str(run_id) for run_id in range(9)]


def test_an_abort_while_no_run_is_there_to_hand_out_keeps_what_is_written(bench: SearchBench) -> None:
    bench.end([0, 2])
    bench.control.abort()
    bench.pump()
    assert bench.rows() == ["0"]
    assert bench.finished().report.end is hw.SweepEnd.ABORTED
    assert bench.news() == [0], "a batch that is not whole is not told"


def end_all_then(bench: SearchBench, act: Callable[[], object]) -> None:
    """End the runs under way and `act` before the sweep hears of them."""
    for run_id in sorted(bench.lanes.held):
        bench.lanes.end(run_id)
    while bench.sweep.active_runs.list():
        bench.sweep.pump()
    act()
    bench.pump()


def test_an_abort_tells_a_whole_batch_and_asks_for_no_other(bench: SearchBench) -> None:
    end_all_then(bench, bench.control.abort)
    assert bench.news() == [0, 1, 2, FIRST]
    assert bench.climb.asked == 1
    assert bench.finished().report.end is hw.SweepEnd.ABORTED


def test_a_lost_device_tells_a_whole_batch_and_asks_for_no_other(bench: SearchBench) -> None:
    bench.lanes.reports.append(DeviceLost())
    end_all_then(bench, lambda: None)
    assert bench.news() == [0, 1, 2, FIRST]
    assert bench.climb.asked == 1
    assert bench.finished().report.end is hw.SweepEnd.DEVICE_LOST


def test_a_search_whose_last_batch_is_told_is_complete_though_aborted(clock: ManualClock) -> None:
    bench = SearchBench(clock, batches=1)
    bench.pump()
    end_all_then(bench, bench.control.abort)
    assert bench.news() == [0, 1, 2, FIRST]
    assert bench.finished().report.end is hw.SweepEnd.COMPLETE


def handed_out(source: PlanSource) -> list[int]:
    found = []
    while (request := source.next()) is not None:
        assert request.config.config_id == request.run.config_id
        found.append(request.run.run_id)
    assert source.is_done
    return found


def test_a_plan_hands_out_its_shard_without_the_runs_that_are_kept() -> None:
    plan = toy_spec(1, 2, 3).plan(entry_of(Toy).schema())
    wide = breadth(toy_spec(1, 2, 3)).plan(entry_of(Toy).schema())
    kept = bytearray([1, 0, 0, 1, 1, 0])
    assert handed_out(PlanSource(plan, WHOLE)) == [0, 1, 2, 3, 4, 5]
    assert handed_out(PlanSource(wide, WHOLE)) == [0, 2, 4, 1, 3, 5]
    assert handed_out(PlanSource(wide, hw.Shard(1, 2), kept)) == [1, 5]
    for source in (PlanSource(plan, WHOLE, kept), PlanSource(wide, hw.Shard(0, 4), kept)):
        assert source.total_runs == len(handed_out(source))


def test_a_plan_whose_runs_are_all_kept_is_done_from_the_start() -> None:
    source = PlanSource(toy_spec(1).plan(entry_of(Toy).schema()), WHOLE, bytearray([1, 1]))
    assert source.is_done
    assert source.total_runs == 0
    assert source.next() is None
