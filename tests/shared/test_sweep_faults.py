"""What ends a sweep or holds it: lanes that break, places that cannot be written, disks that are full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

import henad_web as hw
from henad_web.output.store import MemoryStore
from henad_web.run.lanes import (
    LaneCommand,
)
from tests.shared.hosts import ManualClock
from tests.shared.lane_bench import Bench


def test_a_lane_that_breaks_ends_the_sweep_with_what_is_written(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.end([0])
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message.startswith("while running the sweep, RuntimeError at lane_bench.py:")
    assert bench.lanes.is_closed
    assert bench.rows() == ["0"]
    assert b'"status": "failed"' in bench.store.read("manifest.json")


def test_lanes_are_closed_by_what_ends_the_sweep_as_it_is_planned(clock: ManualClock) -> None:
    bench = Bench(clock)

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.channel.listener = interrupt
    with pytest.raises(KeyboardInterrupt):
        bench.pump()
    assert bench.lanes.is_closed


class BrokenStore(MemoryStore):
    """Memory that cannot be written once it is told so."""

    is_broken = False

    def flush(self) -> None:
        if self.is_broken:
            raise hw.OutputError("the results cannot be written")
        super().flush()


def test_a_place_that_cannot_be_written_aborts_every_lane(clock: ManualClock) -> None:
    store = BrokenStore()
    bench = Bench(clock, store)
    bench.pump()
    bench.end([0])
    store.is_broken = True
    bench.end([2, 1])
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message == "the results cannot be written"
    assert bench.control.is_aborted, "the lanes were told to stop"
    assert bench.lanes.is_closed
    assert bench.written() == [0]
    assert bench.active_runs.list() == ()


def test_a_second_error_is_told_behind_the_first(clock: ManualClock) -> None:
    bench = Bench(clock, FullAt("replace", "manifest.json", after=1))
    bench.pump()
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message.endswith(": the lane is gone; and then: no room is left")
    assert b'"status": "running"' in bench.store.read("manifest.json")


def test_lanes_that_do_not_close_keep_no_manifest_at_running(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(clock)
    bench.pump()

    def close() -> None:
        raise RuntimeError("a lane would not go")

    monkeypatch.setattr(bench.lanes, "close", close)
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert ": the lane is gone; and then: " in last.message
    assert "a lane would not go" in last.message
    assert b'"status": "failed"' in bench.store.read("manifest.json")


class FullStore(MemoryStore):
    """Memory that has no room for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False

    def flush(self) -> None:
        if self.is_full:
            self._appended.clear()
            raise hw.OutputFullError("results")
        super().flush()


def test_a_full_disk_pauses_the_sweep_and_loses_nothing(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.end([0])
    warnings = [event.warning for event in bench.events if isinstance(event, hw.Warned)]
    assert [type(warning) for warning in warnings] == [hw.OutputPaused]
    assert bench.control.is_paused
    assert bench.control.is_held, "the lanes hold their runs, too"
    assert bench.lanes.commands == [LaneCommand.PAUSE]
    assert bench.written() == []
    bench.control.resume()
    bench.pump()
    assert bench.control.is_paused, "there is still no room"
    store.is_full = False
    bench.control.resume()
    bench.pump()
    bench.end([1, 2, 3, 4, 5, 6, 7])
    assert bench.written() == list(range(8))
    assert bench.rows() == [str(run_id) for run_id in range(8)]


def test_a_pause_is_complete_though_there_is_no_room_at_that_moment(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.control.pause()
    bench.end([0])
    assert bench.control.is_held
    assert not [event for event in bench.events if isinstance(event, hw.Warned)], "it is paused already"


def test_the_last_run_waits_for_room_too(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store, runs=3)
    bench.pump()
    bench.end([0, 1])
    store.is_full = True
    bench.end([2])
    store.is_full = False
    bench.pump()
    assert bench.written() == [0, 1], "nobody has said that there is room"
    bench.control.resume()
    bench.pump()
    assert bench.rows() == ["0", "1", "2"]


class FullAt(MemoryStore):
    """Memory that has no room at one call of one method that names one file: the first, or the one `after` others."""

    def __init__(self, method: str, name: str, after: int = 0) -> None:
        super().__init__()
        self._fault, self._before = (method, name), after

    def _refuse(self, *call: str) -> None:
        if call == self._fault:
            self._before -= 1
            if self._before == -1:
                raise hw.OutputFullError("no room is left")

    def create(self, name: str, header: bytes) -> None:
        self._refuse("create", name)
        super().create(name, header)

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        self._refuse("replace", name)
        return super().replacing(name, chunks)


@pytest.mark.parametrize(
    ("method", "name"), [("create", "series.csv"), ("replace", "manifest.json"), ("replace", "summary.csv")]
)
def test_a_full_disk_at_the_start_or_the_end_pauses_too(clock: ManualClock, method: str, name: str) -> None:
    bench = Bench(clock, FullAt(method, name), runs=3)
    bench.pump()
    if name == "summary.csv":
        bench.end([0, 1, 2])
    assert bench.control.is_paused
    assert isinstance(bench.events[-1], hw.Warned)
    assert str(bench.events[-1].warning).startswith("the sweep is paused, because no room is left")
    bench.control.resume()
    bench.pump()
    bench.end(sorted(bench.lanes.held))
    assert isinstance(bench.events[-1], hw.Finished)
    assert bench.rows() == ["0", "1", "2"]


def test_a_full_disk_and_an_abort_end_the_sweep_as_failed(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.end([0])
    bench.control.abort()
    bench.pump()
    assert isinstance(bench.events[-1], hw.Failed)
    assert bench.rows() == []
