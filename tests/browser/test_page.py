"""Laws of the page: what a visitor types, runs, sees and saves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

import henad_web as hw
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, native_files, spec_text

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOUR_FILES = {"runs.csv", "series.csv", "summary.csv", "manifest.json"}


def test_the_page_opens_with_an_example_that_can_run(open_page: Callable[[], Page]) -> None:
    sweeps = SweepPage(open_page())
    expect(sweeps.editor).to_have_value((EXAMPLES / "sir_sweep.toml").read_text("utf-8"))
    expect(sweeps.page.locator("#example option")).to_have_count(3)
    expect(sweeps.plan_line).to_have_text("12 configs × 3 replicates = 36 runs of 300 ticks")  # noqa: RUF001
    sweeps.expect_enabled("Run")
    expect(sweeps.page.locator("#download")).to_be_disabled()
    expect(sweeps.page.locator("#build")).to_have_text(re.compile(r"^Build [0-9a-f]{12}\.$"))


def test_the_fixture_gives_its_recorded_series_and_the_files_of_native_python(sweeps: SweepPage) -> None:
    sweeps.page.get_by_label("Example").select_option("sir_fixture.toml")
    expect(sweeps.plan_line).to_contain_text("= 4 runs of 20 ticks")
    sweeps.button("Run").click()
    sweeps.expect_phase("ended")
    expect(sweeps.progress).to_have_text("4 of 4 runs")
    expect(sweeps.state).to_contain_text("Finished 4 runs in")
    expect(sweeps.rows).to_have_count(4)
    expect(sweeps.rows.locator("button")).to_have_text(["3", "2", "1", "0"])

    files = sweeps.downloaded_files()
    assert set(files) == FOUR_FILES
    rows = [line.split(",") for line in files["series.csv"].decode().splitlines()]
    assert [row[-3:] for row in rows if row[0] == "0"] == [
        ["254", "2", "0"],
        ["223", "30", "3"],
        ["75", "159", "22"],
        ["0", "193", "63"],
        ["0", "135", "121"],
    ]
    assert hw.masked(files) == hw.masked(native_files((EXAMPLES / "sir_fixture.toml").read_text("utf-8")))


def test_a_typed_spec_gives_the_files_of_native_python_under_the_models_name(sweeps: SweepPage) -> None:
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    layout = "One lane in the caller, up to 2 replicates together: no other can be started here."
    expect(sweeps.page.locator("#layout")).to_have_text(layout)
    assert sweeps.download().suggested_filename == "game_of_life-sweep.zip"
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(native_files(SMALL_LIFE))


def test_a_second_sweep_starts_from_a_clean_page(sweeps: SweepPage) -> None:
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(4)
    sweeps.start(SMALL_LIFE.replace("replicates = 2", "replicates = 1"))
    expect(sweeps.progress).to_have_text("2 of 2 runs")
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(2)


def test_a_paused_sweep_moves_nothing_and_goes_on_after(sweeps: SweepPage) -> None:
    sweeps.start(spec_text("game_of_life", side=64, steps=1_000_000))
    expect(sweeps.board_caption).to_contain_text("tick")
    sweeps.expect_enabled("Pause", "Abort")
    sweeps.button("Pause").click()
    sweeps.expect_phase("paused")
    expect(sweeps.state).to_have_text("Paused. Resume goes on where the run stands.")
    sweeps.expect_enabled("Resume", "Abort")
    # One picture may still be due: it shows the tick at which the run is held.
    sweeps.let_frames_pass(20)
    held = sweeps.board_caption.inner_text()
    elapsed = sweeps.page.locator("#elapsed").inner_text()
    sweeps.let_frames_pass(40)
    expect(sweeps.board_caption).to_have_text(held)
    expect(sweeps.page.locator("#elapsed")).to_have_text(elapsed)
    sweeps.button("Resume").click()
    sweeps.expect_phase("running")
    expect(sweeps.board_caption).not_to_have_text(held)
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    sweeps.expect_enabled("Run")


def test_an_abort_keeps_the_runs_written_so_far(sweeps: SweepPage) -> None:
    text = spec_text("sir", side=32, steps=200, replicates=400)
    sweeps.start(text)
    expect(sweeps.rows).not_to_have_count(0)
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    expect(sweeps.state).to_contain_text("of 400 runs")
    files = sweeps.downloaded_files()
    assert set(files) == FOUR_FILES
    assert b'"aborted"' in files["manifest.json"]
    kept = hw.masked(files)["runs.csv"].decode().splitlines()
    whole = hw.masked(native_files(text))["runs.csv"].decode().splitlines()
    assert 1 < len(kept) < len(whole)
    assert kept == whole[: len(kept)]
    expect(sweeps.rows).to_have_count(len(kept) - 1)


def test_runs_that_fail_are_rows_with_a_note_and_counted(sweeps: SweepPage) -> None:
    sweeps.start(spec_text("sir", side=256, steps=5000, replicates=2, run_lines="timeout_s = 0.001"))
    sweeps.expect_phase("ended")
    expect(sweeps.progress).to_have_text("2 of 2 runs · 2 failed")
    expect(sweeps.rows.first).to_have_class("failed")
    expect(sweeps.rows.first).to_contain_text("timed_out")
    expect(sweeps.rows.first.locator(".note")).to_contain_text("timed out after")


def test_a_model_with_slow_steps_says_so(sweeps: SweepPage) -> None:
    sweeps.start(spec_text("sir", side=1024, steps=1000))
    expect(sweeps.pace).to_have_text(
        re.compile(r"^One step of this model takes \d+ ms, more than the 6 ms a frame; .* once a frame\.$")
    )
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")


def test_the_chart_follows_the_newest_run_until_one_is_chosen(sweeps: SweepPage) -> None:
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    expect(sweeps.chart_caption).to_have_text("Run 3 · density 0.4 · replicate 1")
    expect(sweeps.rows.first).to_have_attribute("aria-current", "true")
    follow = sweeps.button("Follow newest")
    expect(follow).to_be_hidden()
    sweeps.rows.locator("button", has_text="0").click()
    expect(sweeps.chart_caption).to_have_text("Run 0 · density 0.2 · replicate 0")
    expect(sweeps.rows.last).to_have_attribute("aria-current", "true")
    follow.click()
    expect(sweeps.chart_caption).to_contain_text("Run 3")
    expect(follow).to_be_hidden()


def test_the_board_shows_only_the_models_colours(sweeps: SweepPage) -> None:
    sweeps.start(spec_text("game_of_life", side=64, steps=1_000_000))
    expect(sweeps.board_caption).to_contain_text("64 × 64 cells")  # noqa: RUF001
    sweeps.button("Pause").click()
    sweeps.expect_phase("paused")
    colours = sweeps.ask(
        "(() => { const board = document.getElementById('board');"
        " const image = board.getContext('2d').getImageData(0, 0, board.width, board.height);"
        " return [...new Set(new Uint32Array(image.data.buffer))]; })()"
    )
    assert sorted(colours) == sorted([0xFF151515, 0xFF76E600])


def test_a_narrow_window_needs_no_sideways_scrolling(sweeps: SweepPage) -> None:
    sweeps.page.set_viewport_size({"width": 400, "height": 800})
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    assert sweeps.ask("document.documentElement.scrollWidth") <= 400
