"""How sweeps begin and end: what a pause holds, which end counts, and that opening and ending go piece by piece.

Mutants that this file was seen to catch: an abort that is looked at before the last row, a run listed behind its
build, a pause that holds the probe, a hash or a summary made in one pump, a summary that is given up on an abort.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

import henad_web as hw
from henad_web.explore.plan import Plan
from henad_web.model.params import ParamValue
from henad_web.output import writer
from henad_web.output.store import MemoryStore
from henad_web.output.summary import PIECE_CELLS, summary_table
from henad_web.run.control import IDLE, NOW
from henad_web.run.lanes import DeviceLost
from henad_web.run.probe import Probe
from henad_web.sweep import Sweep, SweepSetup
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host, ManualClock
from tests.shared.lane_bench import Bench
from tests.shared.toy_models import Toy, entry_of, toy_spec


def test_an_abort_behind_the_last_row_still_ends_complete(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    bench.lanes.end(2)
    bench.lanes.end(1)
    bench.lanes.end(0)
    while len(bench.written()) < 3:
        assert bench.sweep.pump() == NOW
        bench.events.extend(iter(bench.channel.try_recv, None))
    bench.control.abort()
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.COMPLETE
    assert b'"status": "complete"' in bench.store.read("manifest.json")


def test_a_lost_device_leaves_the_finished_prefix_and_a_resume_completes_it(clock: ManualClock, stepped: Host) -> None:
    bench = Bench(clock)
    bench.pump()
    for run_id in (2, 0):
        bench.lanes.end(run_id)
    bench.lanes.reports.append(DeviceLost())
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.DEVICE_LOST
    assert bench.rows() == ["0"]
    assert b'"status": "incomplete"' in bench.store.read("manifest.json")
    assert last.record.files is not None
    run = hw.SweepRun.resume_files(bench.entry, last.record.files, target=stepped.target)
    record = stepped.record(run)
    assert record.report.end is hw.SweepEnd.COMPLETE
    assert record.report.counts.rows == 8


def test_all_rows_written_are_complete_even_without_the_device(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    for run_id in (1, 2, 0):
        bench.lanes.end(run_id)
    bench.lanes.reports.append(DeviceLost())
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.COMPLETE


def sweep_of(
    entry: hw.ModelEntry, spec: hw.SweepSpec, clock: ManualClock, store: MemoryStore | None = None, **options: Any
) -> Sweep:
    target = PumpedTarget(clock=clock, wall_clock=lambda: 1.75e9)
    store, given = MemoryStore() if store is None else store, hw.SweepRunOptions(**options)
    return Sweep(SweepSetup.of(entry, spec.plan(entry.schema()), store, given, target.surroundings()))


def events_of(sweep: Sweep) -> list[hw.SweepEvent]:
    return list(iter(sweep.channel.try_recv, None))


def test_a_run_is_listed_from_before_its_build(clock: ManualClock) -> None:
    listed: list[list[int]] = []

    class Watched(Toy):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            listed.append([active.run.run_id for active in sweep.active_runs.list()])

    sweep = sweep_of(entry_of(Watched), toy_spec(1), clock)
    while not sweep.is_over:
        sweep.pump()
    assert listed == [[], [0], [1]], "the probe's build is nobody's run"


def test_a_pause_holds_runs_alone(clock: ManualClock) -> None:
    built: list[int] = []

    class Built(Toy):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            built.append(self.value)

    sweep = sweep_of(entry_of(Built), toy_spec(1, 2), clock)
    sweep.control.pause()
    while sweep.pump() == NOW:
        pass
    assert built == [1, 2], "the probe's two builds and none of a run"
    assert [type(event) for event in events_of(sweep)] == [hw.Planned]
    assert sweep.control.is_paused
    assert sweep.active_runs.list() == ()
    sweep.control.resume()
    while not sweep.is_over:
        sweep.pump()
    assert isinstance(events_of(sweep)[-1], hw.Finished)


def test_a_sweep_paused_behind_its_last_row_ends_with_its_files(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    for run_id in (0, 1, 2):
        bench.lanes.end(run_id)
    bench.control.pause()
    bench.pump()
    assert isinstance(bench.events[-1], hw.Finished)


class Sized(Toy):
    """Takes as much memory as its value says, and has jobs and a population of its own."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.heap_bytes, self.population, self.parallel_jobs = self.value, 1000 - self.value, self.value + 1


@pytest.mark.parametrize(("values", "larger"), [((5, 9), 9), ((9, 5), 9), ((9, 1, 5), 9)])
def test_sizing_takes_the_whole_report_of_the_larger_config(values: tuple[int, ...], larger: int) -> None:
    plan = toy_spec(*values).plan(entry_of(Sized).schema())
    report = Probe(entry_of(Sized), plan).run_to_end()
    assert (report.heap_bytes, report.population, report.parallel_jobs) == (larger, 1000 - larger, larger + 1)
    assert report.config.params == (values[0],)


def test_the_recorded_spec_carries_the_options_of_execution(stepped: Host) -> None:
    plain = stepped.record(stepped.start(entry_of(Toy), toy_spec(1)))
    given = stepped.record(stepped.start(entry_of(Toy), toy_spec(1), concurrency=2, memory_budget=1 << 30))
    assert plain.manifest is not None
    assert given.manifest is not None
    assert "execution" not in plain.manifest.spec
    assert given.manifest.spec["execution"] == {"concurrent": 2, "memory": 1 << 30}
    assert plain.files is not None
    assert given.files is not None
    assert hw.masked(given.files) == hw.masked(plain.files), "it changes no result"
    models = hw.ModelSet([entry_of(Toy)])
    specs = [hw.ResultSet.from_files(files, models=models).spec for files in (given.files, plain.files)]
    assert specs[0] == specs[1]


@pytest.mark.parametrize(("status", "ran"), [("running", 2), ("failed", 2), ("aborted", 4)])
def test_a_session_that_did_not_end_is_said_to_have_run_the_rows_that_are_kept(
    stepped: Host, status: str, ran: int
) -> None:
    entry = entry_of(Toy)
    files = stepped.files(entry, toy_spec(1, 2))
    cut = b"".join(files["runs.csv"].splitlines(keepends=True)[:3])
    manifest = files["manifest.json"].replace(b'"status": "complete"', f'"status": "{status}"'.encode())
    run = hw.SweepRun.resume_files(entry, {**files, "runs.csv": cut, "manifest.json": manifest}, target=stepped.target)
    record = stepped.record(run)
    assert record.manifest is not None
    assert [(session.skipped, session.ran) for session in record.manifest.sessions] == [(0, ran), (2, 2)]


def many(configs: int, **run: Any) -> hw.SweepSpec:
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=0, **run),
        blocks=(
            hw.BlockSpec(
                factors=(hw.FactorSpec(param="value", levels=hw.RangeLevels(min=0, max=configs - 1, step=1)),)
            ),
        ),
    )


@pytest.fixture
def slow_hash(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make the hash of every plan in ten pieces, and note each one made."""
    made: list[float] = []

    def hashing(self: Plan) -> Iterator[float]:
        for piece in range(1, 11):
            made.append(piece / 10)
            yield piece / 10

    monkeypatch.setattr(Plan, "hashing", hashing)
    return made


def test_a_pump_makes_one_piece_of_the_hash_and_says_how_far_it_is(
    stepped: Host, slow_hash: list[float], clock: ManualClock
) -> None:
    sweep = sweep_of(entry_of(Toy), toy_spec(1), clock)
    shares = []
    while sweep.channel.counters.runs_total is None:
        before = len(slow_hash)
        assert sweep.pump() == NOW
        assert len(slow_hash) - before <= 1
        shares.append(sweep.channel.counters.fraction)
    assert [share for share in shares if share] == slow_hash[:9]
    assert sweep.channel.counters.fraction is None, "the runs have begun"


def test_an_abort_before_the_hash_is_made_writes_nothing(stepped: Host, slow_hash: list[float]) -> None:
    run = stepped.start(entry_of(Toy), toy_spec(1))
    run.abort()
    record = stepped.record(run)
    assert slow_hash == [0.1]
    assert (record.report.end, record.report.counts.rows) == (hw.SweepEnd.ABORTED, 0)
    assert (record.manifest, record.files, record.report.output_dir) == (None, {}, None)
    assert run.progress().phase is hw.SweepPhase.ENDED


class Reads(io.BytesIO):
    """A table that counts the bytes which are read of it."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        Reads.taken += len(data)
        return data

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(size)


class Watched(MemoryStore):
    """A store whose tables count what is read of them."""

    def reader(self, name: str) -> Reads:
        return Reads(self._files[name])


@pytest.mark.parametrize("replicates", [1, 600])
def test_a_pump_reads_no_more_of_the_table_than_a_piece_of_the_summary_takes(
    clock: ManualClock, replicates: int
) -> None:
    """600 replicates of one config are as many pieces as 600 configs: no row of the summary takes a pump of its own."""
    store = Watched()
    sweep = sweep_of(entry_of(Toy), many(600 // replicates, replicates=replicates), clock, store)
    while sweep.channel.counters.runs_done < 600:
        sweep.pump()
    assert not sweep.is_over
    header, row, *_ = store.read("runs.csv").splitlines()
    a_piece = (PIECE_CELLS // (header.count(b",") + 1) + 1) * (len(row) + 10) + io.DEFAULT_BUFFER_SIZE
    shares = []
    while not sweep.is_over:
        before = Reads.taken
        sweep.pump()
        assert Reads.taken - before <= a_piece
        shares.append(sweep.channel.counters.fraction)
    assert shares[-1] is None
    told = [share for share in shares[:-1] if share is not None]
    assert len(told) >= 3
    assert told == sorted(told)
    assert all(0 < share < 1 for share in told)


@pytest.mark.parametrize("command", ["abort", "pause"])
def test_a_command_while_the_summary_is_made_takes_nothing_back(clock: ManualClock, command: str) -> None:
    entry, spec = entry_of(Toy), many(600)
    whole = sweep_of(entry, spec, clock)
    while not whole.is_over:
        whole.pump()
    sweep = sweep_of(entry, spec, clock)
    while sweep.channel.counters.fraction is None or sweep.channel.counters.runs_done == 0:
        sweep.pump()
    getattr(sweep.control, command)()
    while not sweep.is_over:
        assert sweep.pump() in (NOW, IDLE)
    ended = [sweeps[-1] for sweeps in (events_of(sweep), events_of(whole))]
    files = [event.record.files for event in ended if isinstance(event, hw.Finished)]
    assert len(files) == 2
    assert files[0] is not None
    assert files[1] is not None
    assert hw.masked(files[0]) == hw.masked(files[1])


@pytest.mark.parametrize("replicates", [1, 7, 200])
def test_pieces_of_the_summary_make_the_table_of_one_pass(stepped: Host, replicates: int) -> None:
    files = stepped.files(entry_of(Toy), many(700 // replicates, replicates=replicates))
    pieces = list(summary_table(io.BytesIO(files["runs.csv"])))
    assert len(pieces) > 3
    assert b"".join(pieces) == files["summary.csv"]
    rows = list(csv.DictReader(io.StringIO(files["summary.csv"].decode())))
    assert [int(row["runs"]) for row in rows] == [replicates] * (700 // replicates)
    assert [int(row["config_id"]) for row in rows] == list(range(700 // replicates))


class Copies(MemoryStore):
    """A store that counts the chunks which are copied into new tables."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks = 0

    def rewriting(self, tables: Mapping[str, Iterable[bytes]]) -> Iterator[int]:
        for size in super().rewriting(tables):
            self.chunks += 1
            yield size


def test_rows_are_brought_into_plan_order_some_at_a_time(clock: ManualClock) -> None:
    store = Copies()
    sweep = sweep_of(entry_of(Toy), many(600, replicates=2, order=hw.RunOrder.BREADTH), clock, store)
    while sweep.channel.counters.runs_done < 1200:
        sweep.pump()
    copied, shares = [], []
    while not sweep.is_over:
        before = store.chunks
        sweep.pump()
        copied.append(store.chunks - before)
        shares.append(sweep.channel.counters.fraction)
    assert sum(copied) >= 1200
    assert max(copied) <= 256
    told = [share for share in shares if share is not None]
    assert told == sorted(told)
    assert 0 < told[0] < 0.5 < told[-1] < 1
    ids = [line.split(b",")[0] for line in store.read("runs.csv").splitlines()[1:]]
    assert ids == [b"%d" % run_id for run_id in range(1200)]
    series = [line.split(b",")[0] for line in store.read("series.csv").splitlines()[1:]]
    assert series == ids


def test_the_share_that_is_copied_never_passes_1_where_rows_get_longer_ids(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PIECE_BYTES", 1)
    entry, host = entry_of(Toy), Host(PumpedTarget(clock, clock))
    files = host.files(entry, many(9))
    run = hw.SweepRun.resume_files(entry, files, spec=many(9, replicates=1000), target=host.target)
    shares = []
    while run.progress().phase is hw.SweepPhase.PLANNING:
        run.update(0.1, budget_s=0.0)
        shares.append(run.progress().fraction or 0.0)
    run.abort()
    assert max(shares) == 1.0


def test_rows_that_get_other_ids_are_copied_some_at_a_time(clock: ManualClock) -> None:
    entry, few, more = entry_of(Toy), many(600), many(600, replicates=2)
    before = sweep_of(entry, few, clock)
    while not before.is_over:
        before.pump()
    (last,) = events_of(before)[-1:]
    assert isinstance(last, hw.Finished)
    run = hw.SweepRun.resume_files(
        entry, last.record.files or {}, spec=more, target=PumpedTarget(clock=clock, wall_clock=lambda: 1.75e9)
    )
    shares = []
    while run.progress().phase is hw.SweepPhase.PLANNING:
        run.update(0.1, budget_s=0.0)
        shares.append(run.progress().fraction)
    told = [share for share in shares if share not in (None, 1.0)]
    assert len(told) >= 2
    assert told == sorted(told)
    while not run.is_ended:
        run.update(0.1, budget_s=0.0)
        event = run.try_recv()
    assert isinstance(event, hw.Finished)
    whole = sweep_of(entry, more, clock)
    while not whole.is_over:
        whole.pump()
    (end,) = events_of(whole)[-1:]
    assert isinstance(end, hw.Finished)
    assert hw.masked(event.record.files or {}) == hw.masked(end.record.files or {})
