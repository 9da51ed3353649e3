"""The files of a search for several objectives, cell by cell, against one done in the plainest way."""

from __future__ import annotations

import msgspec

import henad_web as hw
from henad_web.explore.cell_texts import number_text
from tests.shared.hosts import Host
from tests.shared.plain_fronts import PlainFronts, objectives_of
from tests.shared.plain_searches import HILLS, REPLICATES, hills_spec, values_of
from tests.shared.test_search_files import CONFIG, config_cells, failed_count, rows_of, run_rows_of, table

OBJECTIVES = ("Height:max", "Depth:final")


def each(*names: str) -> str:
    return ",".join(f"{name}.{column}" for name in names for column in OBJECTIVES)


def evaluations_of(plain: PlainFronts) -> list[list[str]]:
    rows: list[list[object]] = []
    ends = {number: count for number, count, _ in plain.standings}
    for told in plain.told:
        first, second = (*told.parents, None, None)[:2]
        row: list[object] = [told.id, told.batch, told.origin, first, second, told.again, told.offset, REPLICATES]
        numbers = *objectives_of(list(told.runs)), *plain.point(told.subject, ends[told.batch])
        row += [*config_cells(values_of(told.genome)), failed_count(told, 2), *map(number_text, numbers)]
        rows.append([*row, told.offset + REPLICATES])
    leading = "candidate_id,batch,origin,first_parent_id,second_parent_id,reevaluated_id,replicate_offset,replicates"
    header = f"{leading},{CONFIG},failed,{each('objective', 'pooled_objective')},pooled_replicates"
    return table(header, rows)


def best_of(plain: PlainFronts) -> list[list[str]]:
    rows = []
    for rank, (subject, distance) in enumerate(plain.front(), start=1):
        mine = [told for told in plain.told if told.subject == subject]
        failed = sum(failed_count(told, 2) for told in mine)
        numbers = map(number_text, (*plain.point(subject), distance))
        counts = REPLICATES * len(mine), failed, len(mine), mine[0].batch
        rows.append((rank, subject, *config_cells(values_of(mine[0].genome)), *numbers, *counts))
    scored = "crowding_distance,pooled_replicates,pooled_failed,evaluations,first_batch"
    return table(f"rank,candidate_id,{CONFIG},{each('pooled_objective')},{scored}", rows)


def expected_files(plain: PlainFronts) -> dict[str, list[list[str]]]:
    """Return the tables of the search beside those of every sweep, in the order of a record."""
    standings = zip(plain.standings, plain.sizes, strict=True)
    batches = [(number, count, count * REPLICATES, size) for (number, count, _), size in standings]
    generations = [
        (number, members, size, *map(number_text, bounds)) for number, (members, size, bounds) in enumerate(plain.rows)
    ]
    return {
        "evaluations.csv": evaluations_of(plain),
        "batches.csv": table("batch,evaluations,runs,front_size", batches),
        "generations.csv": table(f"generation,members,front_size,{each('best', 'median', 'worst')}", generations),
        "best.csv": best_of(plain),
    }


def test_every_file_is_that_of_the_plainest_search(host: Host) -> None:
    plain, files = PlainFronts("nsga2", 96), host.files(HILLS, hills_spec("nsga2", 96))
    expected = expected_files(plain)
    assert list(files) == ["runs.csv", "series.csv", "summary.csv", "manifest.json", *expected]
    for name, rows in expected.items():
        assert rows_of(files[name]) == rows, name
    rows = rows_of(files["runs.csv"])
    columns = [rows[0].index(name) for name in run_rows_of(plain)[0]]
    assert [[row[column] for column in columns] for row in rows] == run_rows_of(plain)
    assert len(plain.told) == 96
    assert {told.origin for told in plain.told} == {"random", "crossover", "mutation", "reevaluation"}
    assert len(plain.front()) > 3


def test_the_record_and_the_manifest_say_where_the_search_stands(stepped: Host) -> None:
    plain, run = PlainFronts("nsga2"), stepped.start(HILLS, hills_spec("nsga2"))
    record = stepped.record(run)
    report = record.search
    assert report is not None
    assert [(member.candidate_id, member.distance) for member in report.front] == plain.front()
    assert {member.front for member in report.front} == {0}
    sizes = [(generation.members, generation.front_size) for generation in report.front_generations]
    assert sizes == [(members, size) for members, size, _ in plain.rows]
    counts = f"{len(report.front)} candidates, {len(sizes)} generations"
    assert (report.ranking, report.generations, repr(report)) == ((), (), f"<SearchReport: {counts}>")
    assert record.files is not None
    standing = msgspec.json.decode(record.files["manifest.json"])["search"]
    assert standing["watched_columns"] == list(OBJECTIVES)
    assert standing["front_size"] == plain.rows[-1][1]
    assert (standing["best_candidate_id"], standing["best_objective"], standing["filled_cells"]) == (None, None, None)


def test_the_tables_are_known_whatever_they_are_called(stepped: Host) -> None:
    record = stepped.record(stepped.start(HILLS, hills_spec("nsga2", 20)))
    assert record.files is not None
    renamed = {f"copy of {name}": content for name, content in record.files.items()}
    results = hw.ResultSet.from_files(renamed)
    assert results.ignored == ()
