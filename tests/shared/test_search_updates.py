"""A search under a sweep: batches wait for their runs, updates come in order, and lanes change nothing."""

from __future__ import annotations

import math
import random

import pytest
from msgspec import structs

import henad_web as hw
from henad_web.output.store import MemoryStore
from henad_web.run.requests import RunRequest
from henad_web.run.search_source import SearchSource
from henad_web.search import Origin
from henad_web.search.genetic import Genetic
from henad_web.search.nsga2 import Nsga2
from henad_web.search.pse import PatternSearch
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.update import ObjectiveReading, ObjectivesReading, PatternReading, SearchUpdate
from tests.shared.hosts import ManualClock
from tests.shared.lane_bench import Bench
from tests.shared.toy_models import Toy, entry_of


class Peak(Toy):
    """Is highest where its value is 30, with noise from its seed; without a height where the value is 7."""

    def stats(self) -> dict[str, float]:
        height = (self.seed or 0) % 1000 / 1000 - abs(self.value - 30)
        return {"Height": float("nan") if self.value == 7 else height, "Depth": float(self.value)}


PEAK = entry_of(Peak, stats=("Height", "Depth"))
X_AXIS = hw.AxisSpec(column="Height:max", cells=5)
Y_AXIS = hw.AxisSpec(column="Depth:max", cells=4, min=0, max=60)
SETTINGS: dict[str, hw.HillClimbSettings | hw.GeneticSettings | hw.PseSettings | hw.Nsga2Settings | None] = {
    "random": None,
    "hill_climb": hw.HillClimbSettings(reevaluate=True),
    "genetic": hw.GeneticSettings(population=4, elite_count=1),
    "pse": hw.PseSettings(x_axis=X_AXIS, y_axis=Y_AXIS, initial_samples=4),
    "nsga2": hw.Nsga2Settings(population=4),
}


def spec_of(algorithm: str, evaluations: int = 14) -> hw.SweepSpec:
    settings, height = SETTINGS[algorithm], hw.ObjectiveSpec(column="Height:max", goal=hw.Goal.MAXIMIZE)
    depth = hw.ObjectiveSpec(column="Depth:max", goal=hw.Goal.MINIMIZE)
    search = hw.SearchSpec(
        algorithm=hw.SearchAlgorithm(algorithm),
        max_evaluations=evaluations,
        batch_size=3,
        space=(hw.FactorSpec(param="value", levels=hw.RangeLevels(min=0, max=60)),),
        objective=None if algorithm in ("pse", "nsga2") else height,
        objectives=(height, depth) if algorithm == "nsga2" else (),
        **({} if settings is None else {algorithm: settings}),  # type: ignore[arg-type]
    )
    return hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2, replicates=2), search=search)


class SearchBench(Bench):
    """A search on lanes that a test drives."""

    def __init__(self, clock: ManualClock, spec: hw.SweepSpec, store: MemoryStore | None = None) -> None:
        super().__init__(clock, store, entry=PEAK, spec=spec)
        assert isinstance(self.setup.source, SearchSource)
        self.source = self.setup.source
        self.pump()

    def run(self, chance: random.Random | None = None) -> SearchBench:
        """End runs until there are no more, by their ids or by chance."""
        while self.lanes.held:
            ready = sorted(self.lanes.held)
            self.end([ready[0] if chance is None else chance.choice(ready)])
        return self

    def updates(self) -> list[SearchUpdate]:
        return [event.update for event in self.events if isinstance(event, hw.SearchBatchTold)]

    def order(self) -> list[str]:
        """Return what was told, in order: runs by their ids, batches by their numbers."""
        found = []
        for event in self.events:
            match event:
                case hw.RunFinished(outcome, _):
                    found.append(f"run {outcome.run.run_id}")
                case hw.SearchBatchTold(SearchUpdate() as update):
                    found.append(f"batch {update.batch}")
        return found

    def record(self) -> hw.SweepRecord:
        last = self.events[-1]
        assert isinstance(last, hw.Finished), last
        return last.record


@pytest.mark.parametrize("algorithm", sorted(SETTINGS))
def test_lanes_change_neither_files_nor_updates(clock: ManualClock, algorithm: str) -> None:
    quiet = SearchBench(clock, spec_of(algorithm)).run()
    busy = SearchBench(clock, spec_of(algorithm)).run(random.Random(5))
    assert quiet.updates() == busy.updates()
    assert quiet.order() == busy.order()
    files = [bench.record().files for bench in (quiet, busy)]
    assert files[0] is not None
    assert files[1] is not None
    assert hw.masked(files[0]) == hw.masked(files[1])


@pytest.mark.parametrize("algorithm", sorted(SETTINGS))
def test_a_batch_is_told_after_its_runs_and_before_those_of_the_next(clock: ManualClock, algorithm: str) -> None:
    bench = SearchBench(clock, spec_of(algorithm)).run(random.Random(1))
    expected, run_id = [], 0
    for update in bench.updates():
        for _ in range(2 * len(update.evaluated)):
            expected.append(f"run {run_id}")
            run_id += 1
        expected.append(f"batch {update.batch}")
        assert (update.evaluations, update.runs) == (run_id // 2, run_id)
    assert bench.order() == expected
    assert run_id == 28
    assert [update.batch for update in bench.updates()] == list(range(len(bench.updates())))
    assert bench.record().report.end is hw.SweepEnd.COMPLETE
    rows = bench.store.read("runs.csv").decode().splitlines()[1:]
    told = [each for update in bench.updates() for each in update.evaluated]
    values = [row.split(",")[6] for row in rows[::2]]
    assert values == [str(each.config.params[0]) for each in told]


@pytest.mark.parametrize("algorithm", ["hill_climb", "genetic"])
def test_readings_are_of_the_candidate_and_of_all_that_is_known_of_it(clock: ManualClock, algorithm: str) -> None:
    bench = SearchBench(clock, spec_of(algorithm, 30)).run()
    searcher = bench.source.searcher
    assert isinstance(searcher, ScoredSearcher)
    told = [each for update in bench.updates() for each in update.evaluated]
    assert any(each.candidate.origin is Origin.REEVALUATION for each in told)
    for each in told:
        reading = each.reading
        assert isinstance(reading, ObjectiveReading)
        assert reading.pooled_replicates == each.candidate.replicate_offset + each.replicates
        if each.candidate.origin is not Origin.REEVALUATION:
            assert reading.objective == reading.pooled_objective
        assert each.failed_count == (2 if each.config.params[0] == 7 else 0)
    assert bench.updates()[-1].best == searcher.log.best() == searcher.ranking()[0]
    if isinstance(searcher, Genetic):
        generations = [generation for update in bench.updates() for generation in update.generations]
        assert generations == searcher.generations
        assert len(generations) > 2


def test_an_nsga2_search_tells_each_objective_and_who_is_left_of_a_generation(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("nsga2", 26)).run()
    searcher, updates = bench.source.searcher, bench.updates()
    assert isinstance(searcher, Nsga2)
    assert [len(update.evaluated) for update in updates[:4]] == [3, 1, 3, 1], "no batch mixes generations"
    generations = [generation for update in updates for generation in update.front_generations]
    assert generations == searcher.generations
    assert [len(update.front_generations) for update in updates[:4]] == [0, 1, 0, 1]
    assert {(update.best, update.generations) for update in updates} == {(None, ())}
    for each in (each for update in updates for each in update.evaluated):
        reading, value = each.reading, each.config.params[0]
        assert isinstance(reading, ObjectivesReading)
        assert reading.pooled_replicates == each.candidate.replicate_offset + each.replicates
        if each.candidate.origin is not Origin.REEVALUATION:
            assert reading.objectives == reading.pooled_objectives
        assert reading.objectives[1] == value
        assert (reading.objectives[0] == -math.inf) == (value == 7)


def test_a_pse_search_tells_where_each_evaluation_landed(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("pse")).run()
    searcher, updates = bench.source.searcher, bench.updates()
    assert isinstance(searcher, PatternSearch)
    assert [len(update.evaluated) for update in updates] == [3, 1, 3, 3, 3, 1]
    waiting, fixing, *later = updates
    assert (waiting.axes, waiting.landed_entries, waiting.filled_cells) == (None, (), 0)
    for each in waiting.evaluated:
        assert isinstance(each.reading, PatternReading)
        assert each.reading.placement is not None
        assert (each.reading.placement.cell, each.reading.is_new_cell) == (None, False)
    assert fixing.axes == searcher.archive.axes
    assert sum(entry.hits for entry in fixing.landed_entries) == 4, "the batch that fixes the range tells all cells"
    for update in later:
        readings = [each.reading for each in update.evaluated if isinstance(each.reading, PatternReading)]
        cells = {reading.placement.cell for reading in readings if reading.placement is not None}
        assert [entry.cell for entry in update.landed_entries] == sorted(cells, key=str)
    assert sum(entry.hits for entry in searcher.archive.entries()) == 14
    new = [
        each.candidate.candidate_id
        for update in later
        for each in update.evaluated
        if isinstance(each.reading, PatternReading) and each.reading.is_new_cell
    ]
    assert set(new) <= {entry.candidate_id for entry in searcher.archive.entries()}
    assert updates[-1].filled_cells == len(searcher.archive)
    assert updates[-1].best is None


def test_replicates_without_a_value_are_counted(clock: ManualClock) -> None:
    spec = spec_of("random")
    assert spec.search is not None
    levels = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(7, 30)))
    some = SearchBench(clock, structs.replace(spec, search=structs.replace(spec.search, space=(levels,)))).run()
    counts = {each.config.params[0]: each.failed_count for update in some.updates() for each in update.evaluated}
    assert counts == {7: 2, 30: 0}


def test_what_was_told_of_a_cell_stays_as_it_was_told(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("pse")).run()
    _, fixing, *_ = bench.updates()
    assert sum(entry.hits for entry in fixing.landed_entries) == 4
    assert isinstance(bench.source.searcher, PatternSearch)
    assert sum(bench.source.searcher.archive[entry.cell].hits for entry in fixing.landed_entries) > 4


def test_an_abort_keeps_what_is_written_and_tells_no_batch_in_part(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"))
    bench.end([0, 1, 2, 3])
    bench.control.abort()
    bench.pump()
    assert bench.order() == ["run 0", "run 1", "run 2", "run 3"]
    assert bench.record().report.end is hw.SweepEnd.ABORTED
    assert bench.rows() == ["0", "1", "2", "3"]


def test_a_pause_holds_runs_and_not_the_search(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("genetic"))
    bench.end([0, 1, 2, 3, 4])
    bench.control.pause()
    bench.pump()
    bench.end([5])
    assert bench.order()[-1] == "batch 0", "a batch is told while the sweep is paused"
    assert bench.source.searcher.batch_count == 2, "and the next one asked for"
    assert bench.lanes.held == {}, "but none of its runs is handed out"
    bench.control.resume()
    bench.pump()
    assert bench.run().updates() == SearchBench(clock, spec_of("genetic")).run().updates()


def test_a_setup_of_a_search_has_its_source(clock: ManualClock) -> None:
    bench = SearchBench(clock, spec_of("random"))
    request = next(iter(bench.lanes.held.values()))
    assert isinstance(request, RunRequest)
    planned = [event.outline for event in bench.events if isinstance(event, hw.Planned)]
    assert [(outline.configs, outline.runs, outline.pending) for outline in planned] == [(None, 28, 28)]
    assert planned[0].search is not None
    assert planned[0].search.least_batches == 5
