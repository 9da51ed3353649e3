"""How a search ends and what holds it: aborts, faults, places without room, and how little a pump does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pytest

import henad_web as hw
from henad_web.output.store import MemoryStore
from tests.shared.hosts import ManualClock
from tests.shared.test_search_updates import SearchBench, spec_of

TABLES = ("evaluations.csv", "batches.csv", "generations.csv", "best.csv")


def lines(bench: SearchBench, name: str) -> int:
    """Return the rows of a table."""
    return len(bench.store.read(name).splitlines()) - 1


def standing(bench: SearchBench) -> dict[str, object]:
    manifest = msgspec.json.decode(bench.store.read("manifest.json"))
    return {"status": manifest["status"], **manifest["search"]}


def test_an_abort_in_the_first_batch_leaves_tables_without_rows(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"))
    bench.end([0, 1, 2, 3])
    bench.control.abort()
    bench.pump()
    assert [lines(bench, name) for name in TABLES] == [0, 0, 0, 0]
    found = standing(bench)
    assert (found["status"], found["evaluations"], found["batch_count"]) == ("aborted", 0, 0)
    assert (found["best_candidate_id"], bench.record().search) == (None, hw.SearchReport())


def test_an_abort_keeps_the_batches_told_and_ranks_them(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"))
    bench.end(range(9))
    bench.control.abort()
    bench.pump()
    assert bench.rows() == [str(run_id) for run_id in range(9)], "two runs of the second batch, a candidate and a half"
    assert [lines(bench, name) for name in TABLES] == [4, 2, 1, 4]
    found = standing(bench)
    assert (found["status"], found["evaluations"], found["batch_count"]) == ("aborted", 4, 2)
    report = bench.record().search
    assert report is not None
    assert found["best_candidate_id"] == report.ranking[0].candidate_id


def test_an_archive_without_a_range_has_no_rows(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("pse"))
    bench.end(range(6))
    bench.control.abort()
    bench.pump()
    assert (lines(bench, "evaluations.csv"), lines(bench, "archive.csv")) == (3, 0)
    found = standing(bench)
    assert (found["filled_cells"], found["axis_ranges"]) == (0, None)


def test_a_search_that_ends_on_a_fault_keeps_its_standing(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"))
    bench.end(range(7))
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    assert isinstance(bench.events[-1], hw.Failed)
    found = standing(bench)
    assert (found["status"], found["evaluations"], found["batch_count"]) == ("failed", 3, 1)
    assert lines(bench, "evaluations.csv") == 3
    assert "best.csv" not in bench.store.files()


class FullAt(MemoryStore):
    """Memory that has no room at one of all its calls that may lack it."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left, self.refused = at, 0

    def _refuse(self) -> None:
        self.left -= 1
        if self.left == -1:
            self.refused += 1
            self._appended.clear()
            raise hw.OutputFullError("no room is left")

    def create(self, name: str, header: bytes) -> None:
        self._refuse()
        super().create(name, header)

    def flush(self) -> None:
        self._refuse()
        super().flush()

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        for size in super().replacing(name, chunks):
            self._refuse()
            yield size


@pytest.mark.parametrize("algorithm", ["genetic", "pse"])
def test_no_room_at_any_moment_loses_nothing_and_writes_nothing_twice(clock: ManualClock, algorithm: str) -> None:
    quiet = SearchBench(clock, spec_of(algorithm)).run()
    expected = hw.masked(quiet.record().files or {})
    at = 0
    while True:
        store = FullAt(at)
        bench = SearchBench(clock, spec_of(algorithm), store)
        while not isinstance(bench.events[-1], hw.Finished):
            if bench.control.is_paused:
                bench.control.resume()
                bench.pump()
            else:
                bench.end([min(bench.lanes.held)])
        assert hw.masked(bench.record().files or {}) == expected, at
        assert bench.order() == quiet.order()
        if not store.refused:
            break
        at += 1
    assert at > 40, "every call was tried"
