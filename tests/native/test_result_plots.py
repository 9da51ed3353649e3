"""`results.plot`: a question asked and its answer drawn, on sweeps and searches that were run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

import henad_web as hw
from henad_web.analysis.heatmap import Heatmap
from henad_web.plots.bars import draw_comparison
from henad_web.plots.grids import draw_heatmap
from henad_web.plots.results import ResultPlots
from tests.native.folders import SIR, TARGET, record_of
from tests.native.made_answers import LONG
from tests.native.test_plots import check_texts, error_bars, legend_texts, notes
from tests.shared.plain_searches import HILLS, hills_spec

GRID = """
model = "sir"
set = { grid_width = 16, grid_height = 16 }
run = { steps = 20, replicates = 3 }
measure = { stats_every = 5 }
seeds = { root = 3 }
[[block]]
factors = [
  { param = "infection_rate", values = [0.1, 0.2, 0.4] },
  { param = "recovery_rate", values = [0.05, 0.2] },
]
"""


@cache
def grid() -> hw.ResultSet:
    return opened(hw.SweepRun.start(SIR, hw.parse_spec(GRID).spec, target=TARGET))


@cache
def searched(algorithm: str) -> hw.ResultSet:
    return opened(hw.SweepRun.start(HILLS, hills_spec(algorithm), target=TARGET))


def opened(run: hw.SweepRun) -> hw.ResultSet:
    return hw.ResultSet.from_files(record_of(run).files or {})


def tick_texts(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


def mesh_of(axes: Any) -> Any:
    """Return the cells of a heatmap."""
    (mesh,) = [each for each in axes.collections if isinstance(each, QuadMesh)]
    return mesh


def test_what_is_drawn_is_what_the_question_answers() -> None:
    table = grid().response("Infected:max", "infection_rate", by="recovery_rate", center="median", held={})
    axes: Any = grid().plot.response("Infected:max", "infection_rate", by="recovery_rate", center="median")
    drawn = [value for line in axes.lines for value in np.asarray(line.get_ydata()).tolist()]
    assert drawn == table.median.tolist()
    assert legend_texts(axes) == ["Recovery Rate", "0.05", "0.2"]
    assert axes.get_xlabel() == "Infection Rate"
    over_time = grid().plot.bands("Infected", by="recovery_rate")
    assert [line.get_label() for line in over_time.lines] == ["0.05", "0.2"]
    assert np.asarray(over_time.lines[0].get_xdata()).tolist() == [0, 5, 10, 15, 20]
    assert notes(over_time).startswith("n = 9 runs a tick; ")


def test_axes_that_are_given_are_drawn_on() -> None:
    left, right = Figure().subplots(1, 2)
    assert grid().plot.heatmap("Infected:max", "infection_rate", "recovery_rate", ax=left) is left
    assert grid().plot.sensitivity("Infected:max", ax=right) is right
    assert len(right.patches) == 4


def test_a_heatmap_has_a_cell_for_each_pair_of_levels_and_its_number() -> None:
    table = grid().heatmap("Infected:max", "infection_rate", "recovery_rate")
    axes: Any = grid().plot.heatmap("Infected:max", "infection_rate", "recovery_rate")
    mesh = mesh_of(axes)
    assert np.ma.getdata(mesh.get_array()).reshape(2, 3).tolist() == table.mean.tolist()
    assert tick_texts(axes.xaxis) == ["0.1", "0.2", "0.4"]
    assert tick_texts(axes.yaxis) == ["0.05", "0.2"]
    numbers = {text.get_position(): float(text.get_text()) for text in axes.texts if text.get_ha() == "center"}
    assert numbers == {(x, y): pytest.approx(value, rel=6e-3) for (y, x), value in np.ndenumerate(table.mean)}
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Infection Rate", "Recovery Rate")
    assert notes(axes) == "n = 3 runs a cell"
    bar = axes.figure.axes[1]
    assert bar.get_ylabel() == "Infected:max, mean"


def test_parts_of_a_heatmap_stand_where_they_are_and_empty_ones_are_left_out() -> None:
    table = grid().heatmap("Infected:max", "infection_rate", "recovery_rate", bins=4)
    axes: Any = grid().plot.heatmap("Infected:max", "infection_rate", "recovery_rate", bins=4)
    mesh = mesh_of(axes)
    assert table.x_edges is not None
    assert mesh.get_coordinates()[0, :, 0].tolist() == table.x_edges.tolist()
    assert np.ma.getmaskarray(mesh.get_array()).reshape(4, 4).tolist() == (table.n == 0).tolist()
    assert notes(axes) == "n = 3 runs a cell; 10 cells without a run"
    assert not [text for text in axes.texts if text.get_ha() == "center"]


def wide(count: int, rows: int, name: str) -> Heatmap:
    """Return a heatmap of so many levels that are called `name` and a number."""
    return replace(
        grid().heatmap("Infected:max", "infection_rate", "recovery_rate"),
        x=np.array([f"{name} {number}" for number in range(count)]),
        y=np.array([f"{name} {number}" for number in range(rows)]),
        center=np.ones((rows, count)),
        n=np.ones((rows, count), np.int64),
    )


def test_many_levels_are_written_now_and_then() -> None:
    axes: Any = draw_heatmap(wide(30, 2, "name"))
    assert axes.get_xticks().tolist() == list(range(0, 30, 3))
    assert tick_texts(axes.xaxis)[1] == "name 3"


@pytest.mark.parametrize(("count", "rows"), [(30, 12), (6, 5), (12, 40), (3, 7)])
def test_long_names_of_a_heatmap_do_not_stand_on_one_another(count: int, rows: int) -> None:
    check_texts(draw_heatmap(wide(count, rows, LONG)))


def test_a_comparison_has_both_groups_and_their_difference_with_its_interval() -> None:
    a, b = {"recovery_rate": 0.05}, {"recovery_rate": 0.2}
    table = grid().compare("Infected:max", a, b, interval="bootstrap")
    assert table.difference - table.low != pytest.approx(table.high - table.difference)
    axes: Any = grid().plot.compare("Infected:max", a, b, interval="bootstrap")
    ends = [[low, high] for (_, low), (_, high) in error_bars(axes)]
    base = table.b.mean
    assert ends == [
        [pytest.approx(group.mean - group.sd), pytest.approx(group.mean + group.sd)] for group in (table.a, table.b)
    ] + [[pytest.approx(base + table.low), pytest.approx(base + table.high)]]
    assert tick_texts(axes.xaxis) == ["Recovery Rate 0.05\n9 runs", "Recovery Rate 0.2\n9 runs", "difference\nof means"]
    (beside,) = [each for each in axes.child_axes if each.get_ylabel() == "difference"]
    axes.figure.draw_without_rendering()
    assert beside.get_ylim() == pytest.approx([end - base for end in axes.get_ylim()])
    assert notes(axes).startswith(f"difference {table.difference:.5g}, interval {table.low:.5g} to {table.high:.5g}; ")


def test_groups_of_several_factors_have_a_line_for_each_and_only_what_is_drawn_is_explained() -> None:
    rates = ((0.05, 0.1), (0.2, 0.4))
    a, b = ({"recovery_rate": recovery, "infection_rate": infection} for recovery, infection in rates)
    axes: Any = grid().plot.compare("Infected:max", a, b)
    assert tick_texts(axes.xaxis)[:2] == [
        f"Recovery Rate {recovery}\nInfection Rate {infection}\n3 runs" for recovery, infection in rates
    ]
    check_texts(axes)
    assert "a12" not in notes(axes)
    assert notes(axes).endswith("error bar of the difference: 95 % interval of the difference of means, Welch's")
    table = grid().compare("Infected:max", a, b)
    assert table.title.endswith(
        ": Recovery Rate 0.05, Infection Rate 0.1 against Recovery Rate 0.2, Infection Rate 0.4"
    )
    assert "a12: share of pairs" in table.lines[-1]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_groups_that_matplotlib_cannot_place_are_refused_in_words() -> None:
    table = grid().compare("Infected:max", {"recovery_rate": 0.05}, {"recovery_rate": 0.2})
    far = replace(table, a=replace(table.a, mean=1e308), b=replace(table.b, mean=-1e308))
    with pytest.raises(hw.UsageError, match=r"^values from -1e\+308 to 1e\+308 cannot be drawn"):
        draw_comparison(far)


def test_a_box_has_a_bar_for_each_factor_that_it_restricts() -> None:
    table = grid().prim("Infected:max > 60")
    axes: Any = grid().plot.prim("Infected:max > 60")
    assert tick_texts(axes.yaxis) == [axis.label for axis in table.box.axes]
    assert tick_texts(axes.yaxis)
    whole, inside = axes.patches[0::2], axes.patches[1::2]
    assert [patch.get_width() for patch in whole] == [1.0] * len(table.box.axes)
    for patch, low, high, name in zip(inside, table.box.low, table.box.high, table.box.factors, strict=True):
        values = grid().runs[name]
        least, span = values.min(), np.ptp(values)
        assert patch.get_x() == pytest.approx((low - least) / span)
        assert patch.get_x() + patch.get_width() == pytest.approx((high - least) / span)
        (text,) = [text for text in axes.texts if text.get_text() == f"{low:.5g} to {high:.5g}"]
        middle, half = patch.get_x() + patch.get_width() / 2, len(text.get_text()) / 120
        assert text.get_position()[0] == pytest.approx(np.clip(middle, half, 1 - half))
    shares = f"coverage {table.box.coverage:.3g}, density {table.box.density:.3g}, mass {table.box.mass:.3g}"
    assert notes(axes).startswith(f"box {table.chosen} of {len(table.runs) - 1}: {shares}; ")
    assert axes.get_title(loc="left") == "Infected:max > 60"
    assert "no factor is restricted" in notes(grid().plot.prim("Infected:max > 60", box=0))
    with pytest.raises(hw.UsageError, match="box 99"):
        grid().plot.prim("Infected:max > 60", box=99)


def test_a_search_shows_how_its_leader_got_better() -> None:
    search = searched("genetic").search
    assert search is not None
    axes: Any = searched("genetic").plot.search()
    told, best = axes.lines
    assert np.asarray(told.get_xdata()).tolist() == list(range(1, 61))
    known = search.evaluations["objective"]
    assert np.array_equal(np.asarray(told.get_ydata()), known, equal_nan=True)
    assert np.asarray(best.get_xdata()).tolist() == [batch.evaluations for batch in search.batches]
    finite = [batch.best_objective for batch in search.batches if np.isfinite(batch.best_objective or np.nan)]
    assert [value for value in np.asarray(best.get_ydata()).tolist() if np.isfinite(value)] == finite
    without = int(np.count_nonzero(~np.isfinite(known)))
    assert f"{without} evaluations without a finite value: not drawn" in notes(axes)


def test_a_search_for_two_objectives_shows_its_front() -> None:
    search = searched("nsga2").search
    assert search is not None
    axes: Any = searched("nsga2").plot.search()
    front = np.asarray(axes.lines[1].get_xydata()).tolist()
    assert sorted(map(tuple, front)) == sorted(member.objectives for member in search.front)
    assert axes.get_xlabel().replace("\n", " ") == "Height:max, median (maximize)"


def test_a_search_for_patterns_shows_the_cells_that_it_met() -> None:
    search = searched("pse").search
    assert search is not None
    axes: Any = searched("pse").plot.search()
    mesh = mesh_of(axes)
    hits = np.ma.filled(mesh.get_array(), 0.0).reshape(4, 5)
    expected = np.zeros((4, 5))
    for entry in search.archive:
        expected[entry.cell[1], entry.cell[0]] = entry.hits
    assert hits.tolist() == expected.tolist()
    assert notes(axes).startswith(f"{len(search.archive)} of 20 cells met")


def test_what_cannot_be_drawn_is_refused_in_words() -> None:
    assert repr(grid().plot) == f"<ResultPlots of {grid()!r}>"
    assert isinstance(grid().plot, ResultPlots)
    with pytest.raises(hw.UsageError, match="did you mean 'infection_rate'"):
        grid().plot.response("Infected:max", "infection_rat")
    with pytest.raises(hw.UsageError, match="the results are of a sweep, not of a search"):
        grid().plot.search()
