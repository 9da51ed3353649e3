"""How a search ends and what holds it: aborts, faults, places without room, and how little a pump does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

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


def test_an_abort_leaves_the_front_of_what_was_told(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("nsga2"))
    bench.end(range(6))
    bench.control.abort()
    bench.pump()
    report = bench.record().search
    assert report is not None
    assert {member.candidate_id for member in report.front} <= {0, 1, 2}
    assert [lines(bench, name) for name in TABLES] == [3, 1, 0, len(report.front)]
    assert "front_size" not in standing(bench), "no generation is complete"


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


def test_no_room_at_any_moment_loses_nothing_and_writes_nothing_twice(clock: ManualClock) -> None:
    spec = spec_of("genetic", evaluations=7)
    quiet = SearchBench(clock, spec).run()
    expected = hw.masked(quiet.record().files or {})
    at = 0
    while True:
        store = FullAt(at)
        bench = SearchBench(clock, spec, store)
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
    assert at > 25, "every call was tried"


class FullBatches(MemoryStore):
    """Memory that has no room for the rows of a batch while it is told so."""

    is_full = True

    def flush(self) -> None:
        if self.is_full and "batches.csv" in self._appended:
            self._appended.clear()
            raise hw.OutputFullError("no room is left")
        super().flush()


def test_a_batch_without_room_waits_until_somebody_says_that_there_is_some(clock: ManualClock) -> None:
    store = FullBatches()
    bench = SearchBench(clock, spec_of("genetic"), store)
    bench.end(range(6))
    assert bench.control.is_held, "the lanes hold their runs, too"
    store.is_full = False
    bench.pump()
    assert bench.order() == [f"run {run_id}" for run_id in range(6)], "nobody has said that there is room"
    assert bench.source.searcher.batch_count == 1, "and no other batch is asked for"
    bench.control.resume()
    bench.pump()
    assert bench.order()[-1] == "batch 0"
    assert lines(bench, "evaluations.csv") == 3
    assert bench.run().order() == SearchBench(clock, spec_of("genetic")).run().order()


def test_a_batch_without_room_and_an_abort_end_the_search_as_failed(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"), FullBatches())
    bench.end(range(6))
    bench.control.abort()
    bench.pump()
    assert isinstance(bench.events[-1], hw.Failed)
    assert (standing(bench)["evaluations"], lines(bench, "evaluations.csv")) == (0, 0)
    assert len(bench.rows()) == 6, "its runs are there for whoever goes on"
