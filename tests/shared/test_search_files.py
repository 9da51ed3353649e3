"""The files of a search, cell by cell, against searches done in the plainest way."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.explore.cell_texts import number_text
from tests.shared.hosts import Host
from tests.shared.plain_searches import (
    HILLS,
    REPLICATES,
    Evaluated,
    PlainSearch,
    Values,
    hills_spec,
    median_of,
    values_of,
)

KINDS = ("random", "genetic", "pse")
CONFIG = "value,share,action.mark"


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))


def table(header: str, rows: Iterable[Sequence[object]]) -> list[list[str]]:
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    return [header.split(","), *texts]


def config_cells(values: Values) -> tuple[str, ...]:
    value, share, tick = values
    return str(value), np.format_float_positional(np.float32(share), unique=True, trim="-"), str(tick)


def failed_count(each: Evaluated, columns: int) -> int:
    return sum(run is None or None in run[:columns] for run in each.runs)


def evaluations_of(plain: PlainSearch) -> list[list[str]]:
    rows: list[list[object]] = []
    ends = {number: count for number, count, _ in plain.standings}
    for each in plain.told:
        first, second = (*each.parents, None, None)[:2]
        row: list[object] = [each.id, each.batch, each.origin, first, second, each.again, each.offset, REPLICATES]
        row += config_cells(values_of(each.genome))
        if plain.algorithm == "pse":
            row += [failed_count(each, 2), *plain.places[each.id]]
        else:
            pooled = plain.objective(each.subject, ends[each.batch])
            row += [failed_count(each, 1), number_text(median_of(each.runs)), number_text(pooled)]
            row += [each.offset + REPLICATES]
        rows.append(row)
    reading = "failed,x,y,x_index,y_index,outside,new_cell"
    if plain.algorithm != "pse":
        reading = "failed,objective,pooled_objective,pooled_replicates"
    leading = "candidate_id,batch,origin,first_parent_id,second_parent_id,reevaluated_id,replicate_offset,replicates"
    return table(f"{leading},{CONFIG},{reading}", rows)


def batches_of(plain: PlainSearch) -> list[list[str]]:
    rows: list[list[object]] = []
    for number, count, filled in plain.standings:
        row: list[object] = [number, count, count * REPLICATES]
        if plain.algorithm == "pse":
            rows.append([*row, filled])
        else:
            best = plain.ranked(sorted({each.subject for each in plain.told[:count]}), count)[0]
            rows.append([*row, best, number_text(plain.objective(best, count))])
    standing = "filled_cells" if plain.algorithm == "pse" else "best_candidate_id,best_objective"
    return table(f"batch,evaluations,runs,{standing}", rows)


def best_of(plain: PlainSearch) -> list[list[str]]:
    rows = []
    for rank, subject in enumerate(plain.ranked(sorted({each.subject for each in plain.told})), start=1):
        mine = [each for each in plain.told if each.subject == subject]
        failed = sum(failed_count(each, 1) for each in mine)
        scores = number_text(plain.objective(subject)), REPLICATES * len(mine), failed, len(mine), mine[0].batch
        rows.append((rank, subject, *config_cells(values_of(mine[0].genome)), *scores))
    scored = "pooled_objective,pooled_replicates,pooled_failed,evaluations,first_batch"
    return table(f"rank,candidate_id,{CONFIG},{scored}", rows)


def archive_of(plain: PlainSearch) -> list[list[str]]:
    assert plain.x_range is not None
    rows = []
    for (x, y), ids in sorted(plain.cells.items()):
        bounds = []
        for index, (low, high), count in ((x, plain.x_range, 5), (y, (5.0, 45.0), 4)):
            width = (high - low) / count
            bounds += [low + index * width, high if index == count - 1 else low + (index + 1) * width]
        exemplar = plain.told[ids[0]]
        place = plain.places[exemplar.id][:2]
        cells = (x, y, *map(number_text, bounds), len(ids), exemplar.id)
        rows.append((*cells, *config_cells(values_of(exemplar.genome)), *place))
    return table(f"x_index,y_index,x_min,x_max,y_min,y_max,hits,candidate_id,{CONFIG},x,y", rows)


def run_rows_of(plain: PlainSearch) -> list[list[str]]:
    """Return ids, values, status and reducers of each row of runs.csv."""
    rows: list[list[object]] = []
    for each in plain.told:
        for position, run in enumerate(each.runs):
            status = "panicked" if run is None else "ok" if None not in run else "non_finite"
            # A run that fails at its first step has been sampled before, which the search must not take for a value.
            found = ["0", "0"] if run is None else ["" if number is None else number_text(number) for number in run]
            ids = [REPLICATES * each.id + position, each.id, 0, each.offset + position]
            rows.append([*ids, *config_cells(values_of(each.genome)), status, *found])
    return table(f"run_id,config_id,block,rep,{CONFIG},status,Height:max,Depth:final", rows)


def expected_files(plain: PlainSearch) -> dict[str, list[list[str]]]:
    """Return the tables of a search beside those of every sweep, in the order of a record."""
    files = {"evaluations.csv": evaluations_of(plain), "batches.csv": batches_of(plain)}
    if plain.algorithm == "genetic":
        rows = [(number, *map(number_text, each)) for number, each in enumerate(plain.generations)]
        files["generations.csv"] = table("generation,best,median,worst", rows)
    return files | ({"archive.csv": archive_of(plain)} if plain.algorithm == "pse" else {"best.csv": best_of(plain)})


@pytest.mark.parametrize("algorithm", KINDS)
def test_every_file_is_that_of_the_plainest_search(host: Host, algorithm: str) -> None:
    plain, files = PlainSearch(algorithm), host.files(HILLS, hills_spec(algorithm))
    expected = expected_files(plain)
    assert list(files) == ["runs.csv", "series.csv", "summary.csv", "manifest.json", *expected]
    for name, rows in expected.items():
        assert rows_of(files[name]) == rows, name
    rows = rows_of(files["runs.csv"])
    columns = [rows[0].index(name) for name in run_rows_of(plain)[0]]
    assert [[row[column] for column in columns] for row in rows] == run_rows_of(plain)
    assert [row[0] for row in rows_of(files["summary.csv"])[1:]] == [str(each.id) for each in plain.told]
    assert len(plain.told) == 60


@pytest.mark.parametrize("algorithm", KINDS)
def test_the_manifest_says_what_the_search_is_and_where_it_stands(stepped: Host, algorithm: str) -> None:
    plain = PlainSearch(algorithm)
    run = stepped.start(HILLS, hills_spec(algorithm))
    record, plan = stepped.record(run), run.search_plan
    assert plan is not None
    assert record.files is not None
    manifest = msgspec.json.decode(record.files["manifest.json"])
    assert (manifest["mode"], manifest["status"]) == ("search", "complete")
    assert manifest["plan"] == {
        "plan_hash": plan.base.plan_hash,
        "results_fingerprint": plan.base.results_fingerprint,
        "configs": None,
        "replicates": 2,
        "runs": 120,
        "blocks": [],
    }
    best = None if algorithm == "pse" else plain.ranked(sorted({each.subject for each in plain.told}))[0]
    ranges = None if plain.x_range is None else dict(zip(("x_min", "x_max"), plain.x_range, strict=True))
    expected = {
        "algorithm": algorithm,
        "search_hash": plan.search_hash,
        "max_evaluations": 60,
        "batch_size": 5,
        "search_seed": str(plan.search_seed) if plan.search_seed >= 2**63 else plan.search_seed,
        "watched_columns": ["Height:max", "Depth:final"][: 2 if algorithm == "pse" else 1],
        "evaluations": 60,
        "batch_count": len(plain.standings),
        "best_candidate_id": best,
        "best_objective": None if best is None else plain.objective(best),
        "filled_cells": len(plain.cells) if algorithm == "pse" else None,
        "axis_ranges": None if ranges is None else {**ranges, "y_min": 5.0, "y_max": 45.0},
    }
    assert list(manifest["search"].items()) == list(expected.items())


@pytest.mark.parametrize("algorithm", KINDS)
def test_the_record_has_what_the_search_came_to(stepped: Host, algorithm: str) -> None:
    plain, report = PlainSearch(algorithm), stepped.record(stepped.start(HILLS, hills_spec(algorithm))).search
    assert report is not None
    ranking = [] if algorithm == "pse" else plain.ranked(sorted({each.subject for each in plain.told}))
    assert [entry.candidate_id for entry in report.ranking] == ranking
    assert [(each.best, each.median, each.worst) for each in report.generations] == plain.generations
    assert [(entry.cell, entry.candidate_id, entry.hits) for entry in report.archive] == [
        (cell, ids[0], len(ids)) for cell, ids in sorted(plain.cells.items())
    ]


def test_an_objective_that_is_not_finite_is_an_empty_cell_and_null(stepped: Host) -> None:
    spec = hills_spec("random", evaluations=3)
    assert spec.search is not None
    nowhere = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(10, 6)))
    spec = msgspec.structs.replace(spec, search=msgspec.structs.replace(spec.search, space=(nowhere,)))
    files = stepped.files(HILLS, spec)
    assert [row[-3:] for row in rows_of(files["evaluations.csv"])[1:]] == [["", "", "2"]] * 3
    assert rows_of(files["batches.csv"])[1:] == [["0", "3", "6", "0", ""]]
    found = msgspec.json.decode(files["manifest.json"])["search"]
    assert (found["best_candidate_id"], found["best_objective"]) == (0, None)


def test_progress_counts_the_runs_of_the_whole_budget(stepped: Host) -> None:
    run = stepped.start(HILLS, hills_spec("genetic"))
    assert run.progress().runs_total == 120, "before it is planned"
    assert stepped.record(run).report.outline.search is not None
    assert (run.progress().runs_total, run.progress().runs_done) == (120, 120)


def test_a_sweep_is_no_search(stepped: Host) -> None:
    spec = msgspec.structs.replace(hills_spec("random"), search=None)
    run = stepped.start(HILLS, spec)
    record = stepped.record(run)
    assert (run.search_plan, record.search) == (None, None)
    assert record.manifest is not None
    assert record.manifest.search is None
