"""Runs laid out over the factors of a full grid or config by config, and the tables as columns, without any library."""

from __future__ import annotations

import numpy as np
import pytest

import henad_web as hw
from henad_web.results.run_grid import GridKind, GridVariable, RunGrid
from henad_web.results.table_columns import ResultTable, blocks_of, checked_table, columns_of, joined
from tests.shared.hosts import Host


class Paced(hw.Model, id="paced"):
    """Counts by `rate` a tick, and once more at each nudge."""

    rate = hw.f32(1.0, min=0.0, max=9.0)
    mode = hw.choice(["slow", "fast", "odd"])
    depth = hw.u32(3, min=0, max=9)

    @hw.stat
    def Total(self) -> float:
        return float(self.total)

    @hw.action
    def nudge(self) -> None:
        self.total += 1.0

    def setup(self) -> None:
        self.total = 0.0

    def step_once(self) -> None:
        self.total += self.rate * (10 if self.mode == "fast" else 1)


SETTINGS = """
model = "paced"
run = { steps = 4, replicates = 2 }
measure = { stats_every = 2, default_reducers = false, reducers = [{ column = "Total", kinds = ["final"] }] }
"""
GRID = (
    '[[block]]\nfactors = [{ param = "mode", values = ["slow", "fast"] }, { param = "rate", values = [0.4, 0.2, 3] }]\n'
)
ONE = '[[block]]\nfactors = [{ param = "rate", values = [0.2] }, { param = "mode", values = ["fast", "slow"] }]\n'
TWO = '[[block]]\nfactors = [{ param = "rate", values = [0.4] }, { param = "mode", values = ["fast", "slow"] }]\n'
NUDGED = """
[[action]]
id = "nudge"
tick = 1

[[block]]
factors = [{ param = "rate", values = [1, 2] }, { action = "nudge", values = [3, 1] }]
"""


def results_of(host: Host, text: str) -> hw.ResultSet:
    return hw.ResultSet.from_files(host.files(Paced.entry(), hw.parse_spec(SETTINGS + text).spec))


def laid_out(results: hw.ResultSet) -> dict[str, GridVariable]:
    grid = RunGrid(results)
    return {found.name: found for part in (grid.coordinates(), grid.variables()) for found in part}


def renamed(host: Host, name: bytes, other: bytes) -> hw.ResultSet:
    """Return results in which what is called `name` is called `other`, as no new study may."""
    files = host.files(Paced.entry(), hw.parse_spec(SETTINGS + GRID).spec)
    return hw.ResultSet.from_files({file: content.replace(name, other) for file, content in files.items()})


def first_runs(host: Host, text: str, kept: int) -> hw.ResultSet:
    """Return results as an abort behind `kept` runs would have left them."""
    files = host.files(Paced.entry(), hw.parse_spec(SETTINGS + text).spec)
    rows = files["runs.csv"].splitlines(keepends=True)[: kept + 1]
    return hw.ResultSet.from_files({**files, "runs.csv": b"".join(rows)})


def test_the_factors_of_a_factorial_block_are_axes_in_the_order_of_the_table(stepped: Host) -> None:
    results = results_of(stepped, GRID)
    found = laid_out(results)
    assert RunGrid(results).kind is GridKind.FACTORS
    assert found["rate"].values.tolist() == [0.2, 0.4, 3.0]
    assert found["mode"].values.tolist() == ["slow", "fast"]
    assert found["Total"].dims == ("rate", "mode", "replicate", "tick")
    assert found["Total"].values.shape == (3, 2, 2, 3)
    assert found["Total:final"].dims == ("rate", "mode", "replicate")
    assert found["config"].values.tolist() == [[1, 4], [0, 3], [2, 5]]
    for row in results.runs:
        at = (
            np.flatnonzero(found["rate"].values == row.params["rate"])[0],
            ["slow", "fast"].index(str(row.params["mode"])),
        )
        assert found["run_id"].values[(*at, row.run.rep)] == row.run.run_id
        assert found["Total:final"].values[(*at, row.run.rep)] == row.reducers["Total:final"]
        series = results.series(row.run.run_id)
        assert found["Total"].values[(*at, row.run.rep)].tolist() == series["Total"].tolist()
    assert found["tick"].values.tolist() == [0, 2, 4]


def test_what_no_factor_varies_has_no_axis_and_a_name_of_every_table_goes_before(stepped: Host) -> None:
    assert laid_out(results_of(stepped, GRID))["depth"].dims == ()
    found = laid_out(renamed(stepped, b"depth", b"status"))
    assert (found["param.status"].dims, found["param.status"].values.tolist()) == ((), 3)
    assert found["param.status"].param == "status"
    assert found["status"].values.tolist() == [[["ok"] * 2] * 2] * 3


@pytest.mark.parametrize("name", ["config", "tick", "replicate", "run_id"])
def test_a_factor_may_be_called_like_an_axis(stepped: Host, name: str) -> None:
    found = laid_out(renamed(stepped, b"rate", name.encode()))
    assert found["Total"].dims == (f"param.{name}", "mode", "replicate", "tick")
    assert found[f"param.{name}"].values.tolist() == [0.2, 0.4, 3.0]
    assert found[f"param.{name}"].param == name


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        (GRID, ("rate", "mode")),
        (ONE + TWO, ("rate", "mode")),
        (ONE + ONE, ("config",)),  # each combination twice
        (ONE + TWO + TWO, ("config",)),  # one of them twice
        (GRID + "where = \"rate < 1 or mode == 'slow'\"\n", ("config",)),  # a hole
        (GRID + 'where = "rate < 1"\n', ("rate", "mode")),  # a smaller grid
        (GRID + 'design = "random"\nsamples = 6\n', ("config",)),
        ('[[block]]\nfactors = [{ param = "rate", values = [3, 1, 2] }]\n', ("rate",)),
        ('[[block]]\nfactors = [{ param = "rate", values = [3] }]\n', ("config",)),
        (NUDGED, ("rate", "action.nudge")),
    ],
)
def test_a_full_grid_has_each_combination_once(stepped: Host, text: str, axes: tuple[str, ...]) -> None:
    grid = RunGrid(results_of(stepped, text))
    assert grid.axes == axes
    assert (grid.kind is GridKind.FACTORS) == (axes != ("config",))


def test_options_stand_in_the_order_in_which_they_are_met_and_numbers_in_their_own(stepped: Host) -> None:
    text = '[[block]]\nfactors = [{ param = "mode", values = ["slow", "fast", "odd"] }]\n'
    found = laid_out(results_of(stepped, text))
    assert found["mode"].values.tolist() == ["slow", "fast", "odd"]
    assert found["config"].values.tolist() == [0, 1, 2]
    assert found["Total:final"].values[:, 0].tolist() == [4.0, 40.0, 4.0]


def test_candidates_of_a_search_are_no_grid_whatever_they_are(stepped: Host) -> None:
    text = """
[search]
algorithm = "random"
max_evaluations = 3
batch_size = 3
objective = { column = "Total:final", goal = "maximize" }
space = [{ param = "rate", range = { min = 0, max = 9 } }]
"""
    results = results_of(stepped, text)
    assert len(set(results.runs["rate"].tolist())) == 3
    assert RunGrid(results).axes == ("config",)


def test_configs_that_are_no_grid_are_one_axis_with_their_parameters(stepped: Host) -> None:
    found = laid_out(results_of(stepped, ONE + ONE))
    assert found["config"].values.tolist() == [0, 1, 2, 3]
    assert found["mode"].dims == ("config",)
    assert found["mode"].values.tolist() == ["fast", "slow", "fast", "slow"]
    assert found["block"].values.tolist() == [0, 0, 1, 1]
    assert found["Total"].dims == ("config", "replicate", "tick")


@pytest.mark.parametrize("kept", range(13))
def test_of_one_factorial_block_runs_may_miss_and_are_nan(stepped: Host, kept: int) -> None:
    results = first_runs(stepped, GRID, kept)
    found = laid_out(results)
    assert int(np.isfinite(found["Total:final"].values).sum()) == kept
    assert int(np.isfinite(found["Total"].values).sum()) == 3 * kept
    assert int((found["run_id"].values >= 0).sum()) == kept
    if kept > 2:
        assert RunGrid(results).axes == (("rate",) if kept <= 6 else ("rate", "mode"))


def test_of_another_study_that_misses_runs_the_grid_must_be_whole(stepped: Host) -> None:
    assert [RunGrid(first_runs(stepped, ONE + TWO, kept)).axes for kept in (4, 5, 6, 7, 8)] == [
        ("mode",),
        ("config",),
        ("config",),
        ("rate", "mode"),
        ("rate", "mode"),
    ]


def test_a_shard_has_the_axes_of_the_whole(stepped: Host) -> None:
    files = stepped.files(
        Paced.entry(), hw.parse_spec(SETTINGS.replace("replicates = 2", "replicates = 1") + GRID).spec
    )
    header, *rows = files["runs.csv"].splitlines(keepends=True)
    found = laid_out(hw.ResultSet.from_files({**files, "runs.csv": b"".join([header, *rows[1::2]])}))
    assert found["config"].values.tolist() == [[1, -1], [-1, 3], [-1, 5]]


def test_series_have_the_run_beside_each_sample_and_its_parameters_on_request(stepped: Host) -> None:
    results = results_of(stepped, NUDGED)
    plain = columns_of(results, ResultTable.SERIES)
    assert list(plain) == ["run_id", "config_id", "rep", "tick", "Total"]
    whole = columns_of(results, ResultTable.SERIES, params=True)
    names = ["rate", "mode", "depth", "action.nudge"]
    assert list(whole) == ["run_id", "config_id", "rep", "tick", *names, "Total"]
    for position, run_id in enumerate(whole["run_id"].tolist()):
        row = results.runs.run(run_id)
        assert [whole[name][position] for name in names[:3]] == list(row.params.values())
        assert whole["action.nudge"][position] == row.action_ticks["nudge"]
        assert (whole["config_id"][position], whole["rep"][position]) == (row.run.config_id, row.run.rep)
    series = [results.series(run_id)["Total"] for run_id in results.runs["run_id"]]
    assert plain["Total"].tolist() == np.concatenate(series).tolist()


def test_samples_of_runs_without_a_row_are_left_out(stepped: Host) -> None:
    results = first_runs(stepped, GRID, 5)
    assert set(columns_of(results, ResultTable.SERIES)["run_id"].tolist()) == set(range(5))
    assert results.series_row_count == 15
    none = first_runs(stepped, GRID, 0)
    assert columns_of(none, ResultTable.SERIES, params=True)["Total"].shape == (0,)


def test_the_blocks_of_a_table_are_the_table(stepped: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("henad_web.results.series._BLOCK_BYTES", 60)
    results = results_of(stepped, GRID)
    blocks = list(blocks_of(results, ResultTable.SERIES, params=True))
    assert len(blocks) > 3
    assert len(blocks[0]["tick"]) == 0
    again = joined(blocks, 36)
    for name, column in columns_of(results, ResultTable.SERIES, params=True).items():
        assert again[name].tolist() == column.tolist()


def test_columns_of_one_name_are_kept_apart_and_that_of_every_table_keeps_it(stepped: Host) -> None:
    results = renamed(stepped, b"depth", b"status")
    runs, summary = columns_of(results, ResultTable.RUNS), columns_of(results, ResultTable.SUMMARY)
    assert runs["param.status"].tolist() == [3] * 12
    assert runs["status"].tolist() == ["ok"] * 12
    assert len(runs) == len(results.runs.columns)
    assert summary["status"].tolist() == [3] * 6
    assert list(summary) == list(results.summary.columns)
    clash = renamed(stepped, b"Total", b"rate")
    assert list(columns_of(clash, ResultTable.SERIES, params=True))[-1] == "stat.rate"
    assert list(columns_of(clash, ResultTable.SERIES))[-1] == "rate"
    counted = columns_of(renamed(stepped, b"depth", b"failed"), ResultTable.SUMMARY)
    assert counted["param.failed"].tolist() == [3] * 6
    assert counted["failed"].tolist() == [0] * 6


def test_the_summary_is_there_without_its_file(stepped: Host) -> None:
    files = stepped.files(Paced.entry(), hw.parse_spec(SETTINGS + GRID).spec)
    whole = columns_of(hw.ResultSet.from_files(files), ResultTable.SUMMARY)
    del files["summary.csv"]
    made = columns_of(hw.ResultSet.from_files(files), ResultTable.SUMMARY)
    assert {name: column.tolist() for name, column in whole.items()} == {
        name: column.tolist() for name, column in made.items()
    }
    assert whole["runs"].tolist() == [2] * 6


@pytest.mark.parametrize("table", ["sumary", "agents", "", 3, None])
def test_a_table_that_is_none_is_refused_with_those_there_are(stepped: Host, table: object) -> None:
    results = results_of(stepped, GRID)
    with pytest.raises(hw.UsageError, match=r"^no table .*; allowed: 'runs', 'summary', 'series'") as caught:
        checked_table(results, table)
    assert ("did you mean 'summary'?" in str(caught.value)) == (table == "sumary")
