"""What a terminal shows of a search: where it stands while it runs, then the ranking or the cells that it met."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

import henad_web as hw
from henad_native.cli import main
from henad_native.cli.display import BarDisplay, QuietDisplay
from henad_native.cli.running import Narrator
from henad_native.cli.search_summary import MAX_CANDIDATES, coverage_lines, ranking_table
from henad_web.run.outline import SearchOutline
from henad_web.search.pattern import ArchiveEntry
from henad_web.wording import search_standing_text
from tests.native.folders import TARGET
from tests.shared.plain_searches import HILLS, hills_spec

MODELS = "tests.shared.plain_searches:HILLS"


@pytest.fixture
def searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[list[str], Path]]:
    """Return what `henad run` of a search prints, line by line, and its folder."""

    def run(algorithm: str) -> tuple[list[str], Path]:
        spec, out = tmp_path / "search.toml", tmp_path / algorithm
        spec.write_text(hw.spec_to_toml(hills_spec(algorithm)), encoding="utf-8")
        assert main(["run", str(spec), "--out", str(out), "--models", MODELS]) in (0, 3)
        return capsys.readouterr().out.splitlines(), out

    return run


class Remembers(QuietDisplay):
    """Keeps where a search stood each time it was to be shown."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.standings: list[str] = []

    def show(self, progress: hw.SweepProgress, standing: str = "") -> None:
        self.standings.append(standing)


def outline_of(algorithm: str) -> SearchOutline:
    outline = hw.plan_spec(HILLS, hills_spec(algorithm), target=TARGET).search
    assert outline is not None
    return outline


def test_the_ranking_shows_the_leaders_by_what_was_varied(searched: Callable[[str], tuple[list[str], Path]]) -> None:
    lines, out = searched("genetic")
    assert "ranking: maximize the median of Height:max" in lines
    best = list(csv.DictReader((out / "best.csv").read_text(encoding="utf-8").splitlines()))
    (start,) = [number for number, line in enumerate(lines) if line.lstrip().startswith("rank ")]
    (end,) = [number for number, line in enumerate(lines) if line.lstrip().startswith("and ")]
    assert lines[start].split()[:4] == ["rank", "candidate", "value", "share"]
    leaders = [line.split() for line in lines[start + 2 : end] if line.strip()]
    assert [row[:3] for row in leaders] == [
        [each["rank"], each["candidate_id"], each["value"]] for each in best[:MAX_CANDIDATES]
    ]
    assert any(f"and {len(best) - MAX_CANDIDATES} more candidates in best.csv" in line for line in lines)
    assert any(line.startswith("  generations.csv") for line in lines)


def test_the_front_shows_each_objective(searched: Callable[[str], tuple[list[str], Path]]) -> None:
    lines, out = searched("nsga2")
    assert "front: maximize the median of Height:max, minimize the mean of Depth:final" in lines
    best = list(csv.DictReader((out / "best.csv").read_text(encoding="utf-8").splitlines()))
    (start,) = [number for number, line in enumerate(lines) if line.lstrip().startswith("rank ")]
    titles = lines[start].split()
    assert titles[:4] == ["rank", "candidate", "value", "share"]
    assert titles[5:7] == ["Height:max", "Depth:final"]
    assert "crowding" in titles
    leaders = [line.split() for line in lines[start + 2 : start + 2 + min(len(best), MAX_CANDIDATES)]]
    assert [row[1] for row in leaders] == [each["candidate_id"] for each in best[:MAX_CANDIDATES]]


def test_the_cells_that_were_met_are_a_map(searched: Callable[[str], tuple[list[str], Path]]) -> None:
    lines, out = searched("pse")
    met = {
        (int(row["x_index"]), int(row["y_index"])): int(row["hits"])
        for row in csv.DictReader((out / "archive.csv").read_text(encoding="utf-8").splitlines())
    }
    (first,) = [number for number, line in enumerate(lines) if line.startswith("archive: ")]
    assert lines[first] == f"archive: {len(met)} of 20 cells met ({100 * len(met) / 20:.1f} %)"
    drawn = lines[first + 1 : first + 5]
    for y, line in enumerate(reversed(drawn)):
        marks = [met.get((x, y)) for x in range(5)]
        assert line == "  " + "".join("." if hits is None else str(hits) if hits < 10 else "+" for hits in marks)
    assert lines[first + 5].startswith("  to the right Height:max, upwards Depth:final;")


def test_axes_with_more_cells_than_a_terminal_has_columns_are_counted_alone() -> None:
    entry = ArchiveEntry(cell=(0, 0), candidate_id=0, genome=(0.5,), x=0.0, y=0.0)
    axes = hw.AxisSpec(column="a", cells=65), hw.AxisSpec(column="b", cells=2)
    assert list(coverage_lines([entry], axes)) == ["archive: 1 of 130 cells met (0.8 %)"]


def test_a_ranking_of_nobody_is_not_shown() -> None:
    assert ranking_table("rank,candidate_id,pooled_objective\n", outline_of("random")) is None


@pytest.mark.parametrize("algorithm", ["genetic", "pse", "random", "nsga2"])
def test_a_search_is_followed_batch_by_batch(algorithm: str) -> None:
    shown, expected = Remembers(Console(file=io.StringIO())), [""]
    narrator = Narrator(shown, lambda outline: None)
    run = hw.SweepRun.start(HILLS, hills_spec(algorithm), target=TARGET)
    narrator(run.progress())
    while not run.is_ended:
        run.update(0.0, budget_s=0.01)
        while (event := run.try_recv()) is not None:
            narrator(event)
            if isinstance(event, hw.SearchBatchTold):
                assert isinstance(event.update, hw.SearchUpdate)
                expected.append(search_standing_text(outline_of(algorithm), event.update))
                narrator(run.progress())
    assert shown.standings == expected
    standings = expected[1:]
    assert standings[0].startswith("5 of 60 evaluations")
    assert standings[-1].startswith("60 of 60 evaluations · ")
    assert ("in its front" in standings[-1]) == (algorithm == "nsga2")


def test_a_search_that_was_told_nothing_has_its_budget_alone() -> None:
    assert search_standing_text(outline_of("genetic"), None) == "0 of 60 evaluations"


def test_the_bar_and_lines_show_where_a_search_stands() -> None:
    written = io.StringIO()
    with BarDisplay(Console(file=written, force_terminal=True, width=200)) as display:
        display.show(hw.SweepRun.start(HILLS, hills_spec("random"), target=TARGET).progress(), "5 of 60 evaluations")
    assert "0 of 120 runs · trying the model · 5 of 60 evaluations" in written.getvalue()
