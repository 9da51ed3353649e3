"""Results leave the page as a zip and come back: from this page, from native Python, whole or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import henad_web as hw
from henad_native.unpacking import unpack_results
from henad_web.results.archive import pack, unpack
from henad_web.results.recognition import usual_names
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, native_files


def listen_to_state(sweeps: SweepPage) -> None:
    """Gather in ``window.heard`` what the line of the state says from now on."""
    sweeps.ask(
        "((state) => { window.hearing?.disconnect(); window.heard = '';"
        " window.hearing = new MutationObserver(() => { window.heard += state.textContent });"
        " window.hearing.observe(state, { childList: true }) })(document.getElementById('state'))"
    )


def cut(files: dict[str, bytes], runs: int) -> dict[str, bytes]:
    """Return `files` as a killed sweep leaves them after `runs` runs."""
    lines = files["runs.csv"].splitlines(keepends=True)
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    return {**files, "runs.csv": b"".join(lines[: runs + 1]), "manifest.json": manifest}


def test_results_of_native_python_open_with_rows_series_and_spec(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    listen_to_state(sweeps)
    sweeps.open_zip(pack(files))
    expect(sweeps.state).to_have_text("Opened results (complete): 4 of 4 runs.")
    assert sweeps.ask("window.heard") == "Reading the results.Opened results (complete): 4 of 4 runs."
    expect(sweeps.rows.locator("button")).to_have_text(["3", "2", "1", "0"])
    expect(sweeps.chart_caption).to_contain_text("Run 3 · density 0.4")
    sweeps.rows.locator("button", has_text="1").click()
    expect(sweeps.chart_caption).to_contain_text("Run 1 · density 0.2")
    expect(sweeps.plan_line).to_contain_text("= 4 runs of 40 ticks")
    expect(sweeps.button("Finish the rest")).to_be_hidden()
    assert sweeps.downloaded_files() == files


def test_a_cut_native_sweep_is_finished_in_the_page_to_the_same_bytes(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    sweeps.open_zip(pack(cut(files, 1)))
    expect(sweeps.state).to_have_text("Opened results (interrupted): 1 of 4 runs.")
    expect(sweeps.progress).to_have_text("1 of 4 runs")
    expect(sweeps.page.locator("#elapsed")).to_be_empty()
    expect(sweeps.page.locator("#layout")).to_be_empty()
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(4)
    expect(sweeps.button("Finish the rest")).to_be_hidden()
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(files)


def test_a_sweep_aborted_in_the_page_is_finished_by_native_python_to_the_same_bytes(
    sweeps: SweepPage, tmp_path: Path
) -> None:
    study = SMALL_LIFE.replace("steps = 40", "steps = 40000")  # long enough to be aborted before the last run
    sweeps.start(study)
    expect(sweeps.rows).not_to_have_count(0)
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    archive = tmp_path / "saved.zip"
    archive.write_bytes(sweeps.download().path().read_bytes())
    folder = unpack_results(archive)
    before = hw.ResultSet.open(folder)
    assert 1 <= len(before.runs) < 4
    assert before.manifest.runtime.target == "browser"
    hw.resume_sweep(before.entry, folder)
    done = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
    assert hw.masked(done) == hw.masked(native_files(study))
    assert len(hw.ResultSet.open(folder).manifest.sessions) == 2


SEARCH = (
    SMALL_LIFE[: SMALL_LIFE.index("[[block]]")]
    + """
[search]
algorithm = "random"
max_evaluations = 6
batch_size = 3
objective = { column = "Alive:max", goal = "maximize" }
space = [{ param = "density", range = { min = 0.1, max = 0.9 } }]
"""
)


def test_a_search_of_the_page_is_read_and_verified_by_native_python_and_opens_again(
    sweeps: SweepPage, tmp_path: Path
) -> None:
    sweeps.start(SEARCH)
    sweeps.expect_phase("ended")
    archive = tmp_path / "saved.zip"
    archive.write_bytes(sweeps.download().path().read_bytes())
    results = hw.ResultSet.open(archive)
    assert results.search is not None
    best, *_ = results.search.ranking
    assert len(results.search.batches) == 2
    assert hw.verify(archive, runs=12).is_equal
    assert hw.ResultSet.open(unpack_results(archive)).search is not None
    sweeps.open_zip(archive.read_bytes())
    expect(sweeps.state).to_contain_text(
        "Opened results (complete): 12 of 12 runs. 6 evaluations; "
        f"best: candidate {best.candidate_id} with {best.objective:.6g} over 2 runs, candidate "
    )
    expect(sweeps.rows).to_have_count(12)
    assert sweeps.downloaded_files() == usual_names(unpack(archive.read_bytes()))


def test_a_cut_native_search_is_finished_in_the_page_to_the_same_bytes(sweeps: SweepPage) -> None:
    files = native_files(SEARCH)
    sweeps.open_zip(pack(cut(files, 7)))
    expect(sweeps.state).to_contain_text("Opened results (interrupted): 7 of 12 runs. 6 evaluations; best: ")
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(12)
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(files)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"no zip", "it is no zip or is damaged"), (pack({"notes.txt": b"x"}), "hold no manifest.json and no runs.csv")],
)
def test_what_is_no_result_set_is_refused_in_words(sweeps: SweepPage, content: bytes, sentence: str) -> None:
    sweeps.open_zip(content)
    expect(sweeps.state).to_contain_text("The results could not be opened: ")
    expect(sweeps.state).to_contain_text(sentence)
    sweeps.expect_enabled("Run")


def test_a_zip_without_series_says_so_and_shows_its_rows(sweeps: SweepPage) -> None:
    text = SMALL_LIFE.replace("steps = 40", "steps = 10000")  # long enough to be paused before the last run
    files = native_files(text)
    del files["series.csv"]
    sweeps.open_zip(pack(files))
    expect(sweeps.state).to_have_text("Opened results (complete): 4 of 4 runs.")
    expect(sweeps.page.locator("#warnings li")).to_have_count(1)
    expect(sweeps.page.locator("#warnings")).to_contain_text("There is no series.csv: ")
    expect(sweeps.rows).to_have_count(4)
    expect(sweeps.chart_caption).to_have_text(
        "Run 3 · density 0.4 · replicate 1: there is no series.csv among the results."
    )
    listen_to_state(sweeps)
    sweeps.button("Finish the rest").click()
    sweeps.button("Pause").click()
    sweeps.expect_phase("paused")
    sweeps.rows.locator("button", has_text="3").click()
    expect(sweeps.chart_caption).to_contain_text("there is no series.csv among the results.")
    sweeps.button("Resume").click()
    sweeps.expect_phase("ended")
    expect(sweeps.rows.locator("button")).to_have_text(["3", "2", "1", "0"])
    expect(sweeps.page.locator("#rows-count")).to_have_text("4")
    assert sweeps.ask("window.heard").startswith("Checking the runs that are there.Planning: ")
    expect(sweeps.chart_caption).to_have_text("Run 3 · density 0.4 · replicate 1")
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(native_files(text))


MANY_ZEROS = b"0" * (70 << 20)


def test_a_zip_that_unpacks_to_too_much_is_refused_in_words(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    sweeps.open_zip(pack({**files, "series.csv": files["series.csv"] + MANY_ZEROS}))
    expect(sweeps.state).to_contain_text("The results could not be opened: ")
    expect(sweeps.state).to_contain_text("300 for each byte of the archive")
    sweeps.expect_enabled("Run")


def test_what_is_no_part_of_results_does_not_count(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    sweeps.open_zip(pack({**files, "anything.bin": MANY_ZEROS}))
    expect(sweeps.state).to_have_text("Opened results (complete): 4 of 4 runs.")
    assert sweeps.downloaded_files() == files


def test_a_zip_whose_newest_series_is_damaged_is_refused_and_leaves_the_page_as_it_was(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    files["series.csv"] = files["series.csv"].rstrip().rpartition(b",")[0] + b",alive\n"
    sweeps.open_zip(pack(files))
    expect(sweeps.state).to_contain_text("The results could not be opened: series.csv")
    expect(sweeps.state).to_contain_text("alive")
    expect(sweeps.page.get_by_role("alert")).to_be_hidden()
    sweeps.expect_enabled("Run")


SLOW_READS = """
File.prototype.arrayBuffer = function () {
  return new Promise(done => { window.release = () => Blob.prototype.arrayBuffer.call(this).then(done); });
}, true
"""


def test_results_whose_file_was_read_after_a_sweep_began_leave_the_sweep_alone(sweeps: SweepPage) -> None:
    sweeps.ask(SLOW_READS)
    sweeps.open_zip(pack(native_files(SMALL_LIFE)))
    sweeps.start(SMALL_LIFE.replace("steps = 40", "steps = 1_000_000"))
    sweeps.expect_phase("running")
    sweeps.ask("(window.release(), delete File.prototype.arrayBuffer)")
    expect(sweeps.page.locator("#warnings")).to_have_text(
        "The results were not opened: a sweep is running. Open them once it has ended."
    )
    expect(sweeps.rows).to_have_count(0)
    sweeps.expect_phase("running")
    sweeps.expect_enabled("Pause", "Abort")
