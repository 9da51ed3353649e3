"""Searches read back: what their tables say is what the search told while it ran, whatever state it was left in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.model.params import ParamValue, f32, u32
from henad_web.results.errors import MissingFileError, ModelChangedError
from henad_web.results.search import BatchStanding, SearchHistory
from henad_web.search.pattern import ArchiveEntry
from henad_web.search.update import PatternReading
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.plain_fronts import PlainFronts, distances_of, fronts_of, objectives_of
from tests.shared.plain_searches import HILLS, REPLICATES, Hills, Outputs, PlainSearch, hills_spec
from tests.shared.toy_models import Toy, entry_of

KINDS = ("random", "hill_climb", "genetic", "pse", "nsga2")
MODELS = hw.ModelSet([HILLS])
Files = dict[str, bytes]


@dataclass
class Told:
    """A search as its events tell it, its files, and what its record says."""

    updates: list[hw.SearchUpdate] = field(default_factory=list)
    files: Files = field(default_factory=dict)
    report: hw.SearchReport | None = None

    def standings(self) -> list[BatchStanding]:
        found = []
        for update in self.updates:
            ids = {"batch": update.batch, "evaluations": update.evaluations, "runs": update.runs}
            if isinstance(update.evaluated[0].reading, PatternReading):
                found.append(BatchStanding(**ids, filled_cells=update.filled_cells))
            elif update.best is None:
                found.append(BatchStanding(**ids, front_size=update.front_size))
            else:
                best = update.best
                standing = BatchStanding(**ids, best_candidate_id=best.candidate_id, best_objective=best.objective)
                found.append(standing)
        return found

    def archive(self, batches: int) -> list[ArchiveEntry]:
        cells = {entry.cell: entry for update in self.updates[:batches] for entry in update.landed_entries}
        return [replace(cells[cell], genome=()) for cell in sorted(cells)]

    def outside(self, batches: int) -> int:
        """Count evaluations outside: those before the ranges are placed with the axes that come later."""
        *_, last = self.updates[:batches]
        if last.axes is None:
            return 0
        readings = [each.reading for update in self.updates[:batches] for each in update.evaluated]
        places = [each.placement for each in readings if isinstance(each, PatternReading) and each.placement]
        (x, y), count = last.axes, 0
        for place in places:
            count += not (x.low <= place.x <= x.high and y.low <= place.y <= y.high)
        return count


@pytest.fixture(scope="module")
def stepping() -> Iterator[Host]:
    host = Host(PumpedTarget())
    yield host
    host.close()


@pytest.fixture(scope="module")
def searches(stepping: Host) -> dict[str, Told]:
    return {kind: told(stepping, HILLS, hills_spec(kind)) for kind in KINDS}


def told(host: Host, entry: hw.ModelEntry, spec: hw.SweepSpec) -> Told:
    found = Told()
    for event in host.drain(host.start(entry, spec)):
        match event:
            case hw.SearchBatchTold(update):
                found.updates.append(update)
            case hw.Finished(record):
                assert record.files is not None
                found.files, found.report = record.files, record.search
    return found


def history_of(files: Files, models: hw.ModelSet = MODELS) -> SearchHistory:
    search = hw.ResultSet.from_files(files, models=models).search
    assert search is not None
    return search


def with_status(files: Files, status: str) -> Files:
    manifest = msgspec.json.decode(files["manifest.json"])
    search = {**manifest["search"], "evaluations": 0, "batch_count": 0, "axis_ranges": None}
    return {**files, "manifest.json": msgspec.json.encode({**manifest, "status": status, "search": search})}


def killed(files: Files, batches: int, more: int = 3) -> Files:
    """Return `files` as a search leaves them that is killed while it writes the batch behind `batches`."""
    found = with_status(files, "running")
    for name in ("best.csv", "archive.csv", "summary.csv"):
        found.pop(name, None)
    lines = {name: files[name].splitlines(keepends=True) for name in files}
    end = int(lines["batches.csv"][batches].split(b",")[1]) if batches else 0
    found["batches.csv"] = b"".join(lines["batches.csv"][: batches + 1]) + b"7,"
    found["evaluations.csv"] = b"".join(lines["evaluations.csv"][: end + 1 + more])[:-4]
    found["runs.csv"] = b"".join(lines["runs.csv"][: 1 + (end + more) * REPLICATES])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_read_back_is_what_its_events_told(searches: dict[str, Told], kind: str) -> None:
    live = searches[kind]
    history = history_of(live.files)
    assert list(history.batches) == live.standings()
    assert history.generations == tuple(each for update in live.updates for each in update.generations)
    assert history.front_generations == tuple(each for update in live.updates for each in update.front_generations)
    assert list(history.archive) == live.archive(len(live.updates))
    assert history.outside_count == live.outside(len(live.updates))
    assert history.axes == live.updates[-1].axes
    assert len(history.batches) > 10
    assert (len(history.generations) > 5, len(history.front_generations) > 5) == (kind == "genetic", kind == "nsga2")
    assert (history.outside_count > 1, len(history.archive) > 4) == (kind == "pse", kind == "pse")


@pytest.mark.parametrize("kind", KINDS)
def test_the_ranking_is_that_of_the_record(searches: dict[str, Told], kind: str) -> None:
    report = searches[kind].report
    assert report is not None
    history = history_of(searches[kind].files)
    assert (history.ranking, history.front) == (report.ranking, report.front)
    assert (len(report.ranking) > 20) == (kind not in ("pse", "nsga2"))
    assert (len(report.front) > 4) == (kind == "nsga2")


@pytest.mark.parametrize("kind", ["random", "genetic", "pse"])
def test_a_killed_search_is_read_up_to_its_last_whole_batch(searches: dict[str, Told], kind: str) -> None:
    live, plain = searches[kind], PlainSearch(kind)
    for batches in range(len(live.updates)):
        history = history_of(killed(live.files, batches))
        assert list(history.batches) == live.standings()[:batches]
        count = plain.standings[batches - 1][1] if batches else 0
        assert len(history.evaluations) == count
        if kind == "pse":
            assert list(history.archive) == live.archive(batches)
            assert history.outside_count == (live.outside(batches) if batches else 0)
            assert history.axes == (live.updates[batches - 1].axes if batches else None)
        else:
            subjects = sorted({each.subject for each in plain.told[:count]})
            ranked = plain.ranked(subjects, count)
            assert [entry.candidate_id for entry in history.ranking] == ranked
            assert [entry.objective for entry in history.ranking] == [plain.objective(id, count) for id in ranked]


def test_the_front_of_a_killed_search_is_that_of_its_whole_batches(searches: dict[str, Told]) -> None:
    live, plain = searches["nsga2"], PlainFronts("nsga2")
    for batches in range(1, len(live.updates)):
        history, count = history_of(killed(live.files, batches)), plain.standings[batches - 1][1]
        assert list(history.batches) == live.standings()[:batches]
        runs: dict[int, list[Outputs | None]] = {}
        for each in plain.told[:count]:
            runs.setdefault(each.subject, []).extend(each.runs)
        points = {id: objectives_of(found) for id, found in runs.items()}
        assert sorted(member.candidate_id for member in history.front) == fronts_of(points)[0]
        assert {member.candidate_id: member.distance for member in history.front} == pytest.approx(
            distances_of(fronts_of(points)[0], points), rel=1e-12
        )


def test_batches_whose_evaluations_were_lost_with_the_power_do_not_count(searches: dict[str, Told]) -> None:
    live = searches["random"]
    short = killed(live.files, 4, more=0)
    history = history_of({**short, "batches.csv": live.files["batches.csv"]})
    assert list(history.batches) == live.standings()[:3], "the last row of the fourth is torn"
    assert len(history.evaluations) == 15


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_at_the_end_is_made_of_a_search_without_one(searches: dict[str, Told], kind: str) -> None:
    files = searches[kind].files
    outcome = "archive" if kind == "pse" else "best"
    for other in (with_status(files, "running"), with_status(files, "failed"), files):
        rest = {name: content for name, content in other.items() if name != f"{outcome}.csv"}
        recorded, made = history_of(files).table(outcome), history_of(rest).table(outcome)
        assert len(recorded) > 4
        assert recorded.columns == made.columns
        for name, column in recorded.items():
            np.testing.assert_array_equal(column, made[name])


def test_columns_are_typed_and_know_what_is_empty(searches: dict[str, Told]) -> None:
    evaluations = history_of(searches["genetic"].files).evaluations
    assert evaluations.columns == tuple(searches["genetic"].files["evaluations.csv"].decode().split("\n")[0].split(","))
    assert list(evaluations.keys()) == list(evaluations.columns)
    kinds = {name: column.dtype.kind for name, column in evaluations.items()}
    assert {name for name, kind in kinds.items() if kind == "f"} == {"share", "objective", "pooled_objective"}
    assert (kinds["origin"], kinds["action.mark"]) == ("U", "u")
    repeated = evaluations["reevaluated_id"]
    np.testing.assert_array_equal(repeated >= 0, evaluations["origin"] == "reevaluation")
    assert repeated.min() == evaluations["second_parent_id"].min() == -1
    assert np.isnan(evaluations["objective"][evaluations["failed"] == REPLICATES]).all()
    with pytest.raises(hw.ResultsError, match=r"evaluations\.csv has no column 'Height'; its columns are candidate_id"):
        _ = evaluations["Height"]
    assert "origin" in evaluations
    assert "Height" not in evaluations


def test_a_configuration_is_reached_by_candidate(searches: dict[str, Told]) -> None:
    results = hw.ResultSet.from_files(searches["random"].files, models=MODELS)
    assert results.search is not None
    evaluations = results.search.evaluations
    for run in results.runs:
        candidate = run.run.config_id
        assert evaluations.param("share")[candidate] == run.params["share"]
        assert evaluations.action("mark")[candidate] == run.action_ticks["mark"]
    with pytest.raises(hw.ResultsError, match=r"no column 'objective'; its columns are value, share, action\.mark"):
        evaluations.param("objective")


def test_a_search_without_any_finite_objective_has_a_ranking_of_the_worst(stepping: Host) -> None:
    spec = hills_spec("random", evaluations=3)
    assert spec.search is not None
    nowhere = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(10, 6)))
    live = told(
        stepping, HILLS, msgspec.structs.replace(spec, search=msgspec.structs.replace(spec.search, space=nowhere))
    )
    history = history_of(live.files)
    assert list(history.batches) == live.standings()
    assert [(entry.candidate_id, entry.objective, entry.failed_count) for entry in history.ranking] == [
        (id, -math.inf, 2) for id in range(3)
    ]


NAMES = ("candidate_id", "batch", "replicates", "objective", "x", "hits")


class Clash(Toy):
    """Comes to its parameters, which are called like columns of the tables of searches."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self._sum = sum(float(str(params[name])) for name in NAMES)

    def stats(self) -> dict[str, float]:
        return {"Sum": self._sum, "Last": self._sum % 7}


CLASH = entry_of(
    Clash,
    stats=("Sum", "Last"),
    params=(*(u32(name, name, 1, 0, 9) for name in NAMES[:-1]), f32("hits", "Hits", 0.5, 0.0, 1.0)),
)


@pytest.mark.parametrize("kind", ["random", "pse"])
def test_parameters_called_like_columns_are_kept_apart(stepping: Host, kind: str) -> None:
    base = hills_spec(kind, evaluations=20)
    assert base.search is not None
    ends = {name: 1.0 if name == "hits" else 9 for name in NAMES}
    space = tuple(hw.FactorSpec(param=name, levels=hw.RangeLevels(min=0, max=end)) for name, end in ends.items())
    pse = hw.PseSettings(
        x_axis=hw.AxisSpec(column="Sum:max", cells=4), y_axis=hw.AxisSpec(column="Last:max", cells=4), initial_samples=7
    )
    objective = None if kind == "pse" else hw.ObjectiveSpec(column="Sum:max", goal=hw.Goal.MINIMIZE)
    search = msgspec.structs.replace(base.search, space=space, objective=objective, pse=pse if kind == "pse" else None)
    spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2, replicates=2), search=search)
    live = told(stepping, CLASH, spec)
    for files in (live.files, with_status(live.files, "running")):
        history = history_of(files, hw.ModelSet([CLASH]))
        assert history.evaluations["candidate_id"].tolist() == list(range(20))
        assert list(history.batches) == live.standings()
        assert list(history.archive) == live.archive(len(live.updates))
        assert len(history.archive) + len(history.ranking) > 5
        sums = np.sum([history.evaluations.param(name) for name in NAMES], axis=0)
        outcome = history.table("archive" if kind == "pse" else "best")
        output = outcome["x"] if kind == "pse" else outcome["pooled_objective"]
        np.testing.assert_allclose(output, sums[outcome["candidate_id"]], rtol=1e-6)


def test_a_sweep_has_no_search(stepping: Host) -> None:
    files = stepping.files(HILLS, msgspec.structs.replace(hills_spec("random"), search=None))
    assert hw.ResultSet.from_files(files, models=MODELS).search is None


def test_facts_stand_on_one_line(searches: dict[str, Told]) -> None:
    results = hw.ResultSet.from_files(searches["pse"].files)
    assert repr(results) == "<ResultSet of 'toy' in memory: complete, 120 of 120 runs>"
    assert repr(results.search) == "<SearchHistory of a pse search: 60 evaluations in 13 batches>"
    assert results.search is not None
    assert results.search.table_names == ("evaluations", "batches", "archive")
    assert repr(results.search.table("batches")) == "<SearchColumns of batches.csv: 13 rows x 4 columns>"
    with pytest.raises(hw.UsageError, match="no table 'best' of a pse search; allowed: 'evaluations', 'batches'"):
        results.search.table("best")


# --- what is damaged -------------------------------------------------------------------------------------------------


def edited(name: str, row: int, column: int, cell: str) -> Callable[[Files], Files]:
    """Return what puts `cell` into a field of a table."""

    def change(files: Files) -> Files:
        lines = [line.split(",") for line in files[name].decode().splitlines()]
        lines[row][column] = cell
        return {**files, name: "".join(",".join(line) + "\n" for line in lines).encode()}

    return change


def without_line(name: str, row: int) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        lines = files[name].splitlines(keepends=True)
        del lines[row]
        return {**files, name: b"".join(lines)}

    return change


def twice(name: str) -> Callable[[Files], Files]:
    return lambda files: {**files, name: files[name] + files[name].splitlines(keepends=True)[-1]}


DAMAGES = {
    "a header with another column": ("genetic", edited("evaluations.csv", 0, 3, "parent"), "evaluations.csv", 1),
    "a header of other parameters": ("genetic", edited("evaluations.csv", 0, 8, "valeu"), "evaluations.csv", 1),
    "a header of batches": ("genetic", edited("batches.csv", 0, 2, "rows"), "batches.csv", 1),
    "a header of generations": ("genetic", edited("generations.csv", 0, 3, "last"), "generations.csv", 1),
    "a header of the ranking": ("genetic", edited("best.csv", 0, 9, "batch"), "best.csv", 1),
    "a header of the archive": ("pse", edited("archive.csv", 0, 7, "id"), "archive.csv", 1),
    "a row with a field more": ("random", edited("evaluations.csv", 7, 0, "6,6"), "evaluations.csv", 8),
    "a row of the ranking with a field more": ("random", edited("best.csv", 7, 0, "7,7"), "best.csv", 8),
    "a number that is none": ("random", edited("evaluations.csv", 7, 12, "1.2.3"), "evaluations.csv", 8),
    "an origin that is none": ("random", edited("evaluations.csv", 7, 2, "lucky"), "evaluations.csv", 8),
    "a candidate twice": ("random", edited("evaluations.csv", 7, 0, "5"), "evaluations.csv", 8),
    "a candidate of another batch": ("random", edited("evaluations.csv", 7, 1, "3"), "evaluations.csv", 8),
    "a candidate with other replicates": ("random", edited("evaluations.csv", 7, 7, "3"), "evaluations.csv", 8),
    "a repeated candidate that comes later": ("random", edited("evaluations.csv", 7, 5, "9"), "evaluations.csv", 8),
    "a candidate that repeats itself": ("random", edited("evaluations.csv", 7, 5, "6"), "evaluations.csv", 8),
    "a row of a candidate taken out": ("random", without_line("evaluations.csv", 60), "evaluations.csv", 61),
    "a row of a candidate too many": ("random", twice("evaluations.csv"), "evaluations.csv", 62),
    "a batch taken out": ("random", without_line("batches.csv", 2), "batches.csv", 3),
    "a batch twice": ("random", twice("batches.csv"), "batches.csv", 14),
    "a batch of nobody": ("random", edited("batches.csv", 3, 1, "10"), "batches.csv", 4),
    "a batch of other runs": ("random", edited("batches.csv", 3, 2, "31"), "batches.csv", 4),
    "a generation taken out": ("genetic", without_line("generations.csv", 2), "generations.csv", 3),
    "a fitness that is none": ("genetic", edited("generations.csv", 2, 1, "high"), "generations.csv", 3),
    "a rank taken out": ("random", without_line("best.csv", 4), "best.csv", 61),
    "two ranks in another order": ("random", edited("best.csv", 4, 0, "5"), "best.csv", 5),
    "another candidate in the ranking": ("random", edited("best.csv", 4, 1, "0"), "best.csv", 5),
    "a cell taken out": ("pse", without_line("archive.csv", 1), "archive.csv", 9),
    "another cell in the archive": ("pse", edited("archive.csv", 2, 1, "3"), "archive.csv", 3),
    "a hit that is none": ("pse", edited("archive.csv", 2, 6, "-1"), "archive.csv", 3),
    "a front of another candidate": ("nsga2", edited("best.csv", 2, 1, "0"), "best.csv", 3),
    "a front size that is none": ("nsga2", edited("generations.csv", 2, 2, "few"), "generations.csv", 3),
    "a header of another objective": (
        "nsga2",
        edited("evaluations.csv", 0, 12, "objective.Depth"),
        "evaluations.csv",
        1,
    ),
    "a flag that is none": ("pse", edited("evaluations.csv", 20, 16, "maybe"), "evaluations.csv", 21),
}


def outcome_of(results: hw.ResultSet) -> None:
    """Read every table of a search."""
    search = results.search
    assert search is not None
    for name in search.table_names:
        search.table(name)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_refused_with_its_place(searches: dict[str, Told], damage: str) -> None:
    kind, change, table, record = DAMAGES[damage]
    results = hw.ResultSet.from_files(change(searches[kind].files), models=MODELS)
    with pytest.raises(hw.TableDamagedError) as caught:
        outcome_of(results)
    assert (caught.value.table, caught.value.record) == (table, record)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("random", "evaluations.csv"), ("random", "batches.csv"), ("genetic", "generations.csv")],
)
def test_a_table_that_is_missing_is_named_once_the_search_has_ended(
    searches: dict[str, Told], kind: str, name: str
) -> None:
    files = {each: content for each, content in searches[kind].files.items() if each != name}
    with pytest.raises(MissingFileError, match=f"hold no {name}"):
        _ = hw.ResultSet.from_files(files, models=MODELS).search
    started = history_of({each: with_status(files, "running")[each] for each in ("manifest.json", "runs.csv")})
    assert (len(started.evaluations), started.batches, started.ranking) == (0, (), ())


def spec_changed(files: Files, **changes: object) -> Files:
    manifest = msgspec.json.decode(files["manifest.json"])
    manifest["spec"]["search"] |= changes
    return {**files, "manifest.json": msgspec.json.encode(manifest)}


def test_settings_that_cannot_be_are_refused_when_results_are_opened(searches: dict[str, Told]) -> None:
    files = searches["pse"].files
    settings = msgspec.json.decode(files["manifest.json"])["spec"]["search"]["pse"]
    none = {**settings, "x_axis": {**settings["x_axis"], "cells": 0}}
    for change, words in (
        ({"pse": none}, "cells"),
        ({"batch_size": 0}, "batch_size"),
        ({"algorithm": "lucky"}, "lucky"),
    ):
        with pytest.raises(hw.ManifestError, match=rf"settings of a search that cannot be: .*{words}"):
            hw.ResultSet.from_files(spec_changed(files, **change))
    manifest = msgspec.json.decode(files["manifest.json"])
    del manifest["spec"]["search"]
    with pytest.raises(hw.ManifestError, match=r"of a search, and its spec has no \[search\]"):
        hw.ResultSet.from_files({**files, "manifest.json": msgspec.json.encode(manifest)})


# --- replays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["genetic", "pse"])
def test_the_run_of_a_candidate_is_replayed_from_its_row(searches: dict[str, Told], kind: str) -> None:
    results = hw.ResultSet.from_files(searches[kind].files, models=MODELS)
    for run_id in (0, 41, 119):
        row = results.runs.run(run_id)
        state = results.replay(run_id, "end")
        if row.status != "panicked":
            assert state.tick == row.ticks
            assert state.stats()["Depth"] == row.reducers["Depth:final"]
        replay = results.replay_of(run_id)
        assert replay.label == f"Search run {run_id}: candidate {run_id // 2}, replicate {row.run.rep}"
        assert results.config(run_id).config_id == run_id // 2


def test_a_row_whose_values_are_not_those_of_its_key_is_not_replayed(searches: dict[str, Told]) -> None:
    files = edited("runs.csv", 5, 6, "31")(searches["random"].files)
    results = hw.ResultSet.from_files(files, models=MODELS)
    assert results.replay(3).tick == 0
    with pytest.raises(hw.TableDamagedError, match="which its parameters, ticks and seed have") as caught:
        results.replay(4)
    assert (caught.value.table, caught.value.record, caught.value.column) == ("runs.csv", 6, "run_key")


class Still(Hills):
    """Has no share any more."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__({**params, "share": 0.5}, seed)


def test_a_model_that_has_changed_replays_a_candidate_by_the_names_of_its_columns(searches: dict[str, Told]) -> None:
    wider, other = (
        entry_of(Hills, stats=("Height", "Depth"), actions=("mark",), params=(f32(name, "Share", 0.5, 0.0, 2.0),))
        for name in ("share", "other")
    )
    results = hw.ResultSet.from_files(searches["random"].files, models=hw.ModelSet([wider]))
    assert not results.schema_matches
    row = results.runs.run(0)
    assert results.replay(0, "end").stats()["Depth"] == row.reducers["Depth:final"]
    fewer = entry_of(Still, stats=("Height", "Depth"), actions=("mark",))
    results = hw.ResultSet.from_files(searches["random"].files, models=hw.ModelSet([fewer]))
    assert results.replay(0, "end").stats()["Depth"] == row.reducers["Depth:final"]
    with pytest.raises(ModelChangedError):
        hw.ResultSet.from_files(searches["random"].files, models=hw.ModelSet([other])).replay(0)
