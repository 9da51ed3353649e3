"""Studies that the examples do not show: values that are not there, wide parameters, plans that take a while."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import henad_web as hw
from henad_web.results.archive import pack
from tests.browser.page_models import MODELS
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, native_files

GAPS = """model = "trouble"
[run]
steps = 40
replicates = 2
[measure]
stats_every = 10
[[block]]
factors = [{ param = "gap_at", values = [0, 15] }]
"""

WIDE = """model = "wide"
[set]
share = -0.4
[run]
steps = 4
replicates = 2
[[block]]
factors = [
  { param = "level", values = [-1234567.891, 0.1, 1e-7] },
  { param = "offset", values = [-9007199254740993, 7] },
  { param = "rule", values = ["B3/S23", "a, \\"b\\" <i>"] },
]
"""

HUGE = """model = "trouble"
[run]
steps = 1
[[block]]
factors = [
  { param = "fails_at", range = { min = 0, max = 999 } },
  { param = "gap_at", range = { min = 0, max = 999 } },
]
"""

REPORTS = """model = "reporting"
[run]
steps = 6
replicates = 3
[measure]
stats_every = 2
tables = ["present"]
tables_every = 2
[[block]]
factors = [{ param = "gap_at", values = [0, 5] }]
"""

GAP_LINE = (
    "† 2 of 4 runs met a value that is not finite (status non_finite): the reducers skip such samples, so that a final "
    "value may come from before it; the note of the run says where it began."
)


pytestmark = pytest.mark.own_models


def expect_gaps(sweeps: SweepPage) -> None:
    """Check that the runs whose values come from before a gap are counted once and marked, and no others."""
    expect(sweeps.page.locator("#warnings li")).to_have_text([GAP_LINE])
    expect(sweeps.rows).to_have_count(4)
    expect(sweeps.rows.filter(has_text="non_finite")).to_have_count(2)
    expect(sweeps.page.locator("#rows-body tr.gap")).to_have_count(2)
    expect(sweeps.rows.nth(0).get_by_role("cell", name="10†", exact=True)).to_have_count(1)
    expect(sweeps.rows.nth(3).get_by_role("cell", name="40", exact=True)).not_to_have_count(0)
    assert "†" not in sweeps.rows.nth(3).inner_text()


def test_runs_whose_values_come_from_before_a_gap_are_marked_and_counted(sweeps: SweepPage) -> None:
    sweeps.start(GAPS)
    sweeps.expect_phase("ended")
    expect_gaps(sweeps)
    archive = pack(sweeps.downloaded_files())
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    expect(sweeps.page.locator("#warnings li")).to_have_count(0)
    sweeps.open_zip(archive)
    expect(sweeps.state).to_have_text("Opened results (complete): 4 of 4 runs.")
    expect_gaps(sweeps)


def test_a_study_of_negative_double_and_text_parameters_goes_through_the_page(sweeps: SweepPage) -> None:
    native = native_files(WIDE, MODELS)
    sweeps.start(WIDE)
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(24)
    first, last = sweeps.rows.nth(23), sweeps.rows.nth(0)
    for row, values in ((first, ["-1234567.891", "-9007199254740993", "B3/S23"]), (last, ["0.0000001", "7"])):
        for value in values:
            expect(row.get_by_role("cell", name=value, exact=True)).not_to_have_count(0)
    expect(last).to_contain_text('a, "b" <i>')
    expect(sweeps.chart_caption).to_have_text('Run 23 · level 0.0000001, offset 7, rule a, "b" <i> · replicate 1')
    files = sweeps.downloaded_files()
    assert hw.masked(files) == hw.masked(native)

    rows = files["runs.csv"].splitlines(keepends=True)
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    sweeps.open_zip(pack({**files, "runs.csv": b"".join(rows[:10]), "manifest.json": manifest}))
    expect(sweeps.state).to_have_text("Opened results (interrupted): 9 of 24 runs.")
    expect(sweeps.plan_line).to_contain_text("= 24 runs of 4 ticks")
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(native)


def test_tables_of_the_model_s_own_leave_the_page_in_its_zip_and_come_back_to_be_gone_on_with(
    sweeps: SweepPage,
) -> None:
    native = native_files(REPORTS, MODELS)
    sweeps.start(REPORTS)
    sweeps.expect_phase("ended")
    expect(sweeps.page.locator("#download")).to_contain_text("(6 files, ")
    files = sweeps.downloaded_files()
    assert hw.masked(files) == hw.masked(native)
    assert files["tables/rows.csv"] == b"run_id,present\n0,12\n1,12\n2,12\n3,12\n4,12\n5,12\n"
    assert hw.ResultSet.from_files(files, models=MODELS).table("present").run(0)["name"].tolist()[-1] == '"5",\n1,2,x'

    records = files["tables/rows.csv"].splitlines(keepends=True)
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    sweeps.open_zip(pack({**files, "tables/rows.csv": b"".join(records[:-2]), "manifest.json": manifest}))
    expect(sweeps.state).to_have_text("Opened results (interrupted): 6 of 6 runs.")
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(native)

    sweeps.open_zip(pack({name: content for name, content in files.items() if name != "tables/present.csv"}))
    expect(sweeps.page.locator("#warnings")).to_contain_text("There is no tables/present.csv, which a table of the")
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(native)


def test_planning_a_million_runs_shows_how_far_it_is_and_can_be_aborted(sweeps: SweepPage) -> None:
    sweeps.start(HUGE)
    expect(sweeps.progress).to_have_text(re.compile(r"^0 of 1,000,000 runs · planning \d+ %$"))
    expect(sweeps.state).to_have_text("Planning: fixing every run.")
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    expect(sweeps.state).to_contain_text("before anything was written.")
    expect(sweeps.page.locator("#download")).to_be_disabled()
    sweeps.expect_enabled("Run")


SEARCH = (
    SMALL_LIFE[: SMALL_LIFE.index("[[block]]")]
    + """
[search]
algorithm = "genetic"
max_evaluations = 12
batch_size = 3
objective = { column = "Alive:max", goal = "maximize" }
space = [{ param = "density", range = { min = 0.1, max = 0.9 } }]
genetic = { population = 4 }
"""
)


def test_a_search_runs_to_the_files_of_native_python(sweeps: SweepPage) -> None:
    sweeps.write_spec(SEARCH)
    size = "genetic search: 12 evaluations \N{MULTIPLICATION SIGN} 2 replicates = 24 runs of 40 ticks"
    expect(sweeps.plan_line).to_have_text(size)
    sweeps.button("Run").click()
    sweeps.expect_phase("ended")
    expect(sweeps.progress).to_contain_text("24 of 24 runs")
    files = sweeps.downloaded_files()
    assert hw.masked(files) == hw.masked(native_files(SEARCH))
    assert len(files["evaluations.csv"].splitlines()) == 13
