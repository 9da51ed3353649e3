"""Results leave the page as a zip and come back: from this page, from native Python, whole or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

import henad_web as hw
from henad_native.site import ServedFolder
from henad_native.unpacking import unpack_results
from henad_web.results.archive import pack
from tests.browser.conftest import PageWatch
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, native_files, opened


@pytest.fixture(scope="module")
def loaded(browser: Browser, server: ServedFolder) -> Iterator[tuple[SweepPage, PageWatch]]:
    with opened(browser, server.address) as page:
        yield page


@pytest.fixture
def sweeps(loaded: tuple[SweepPage, PageWatch]) -> Iterator[SweepPage]:
    sweeps, watch = loaded
    sweeps.reset()
    yield sweeps
    assert watch.complaints == []


def choose(sweeps: SweepPage, content: bytes) -> None:
    """Choose a file of `content` where the page asks for results."""
    file = FilePayload(name="anything.zip", mimeType="application/zip", buffer=content)
    with sweeps.page.expect_file_chooser() as chooser:
        sweeps.button("Open results (zip)").click()
    chooser.value.set_files([file])


def cut(files: dict[str, bytes], runs: int) -> dict[str, bytes]:
    """Return `files` as a killed sweep leaves them after `runs` runs."""
    lines = files["runs.csv"].splitlines(keepends=True)
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    return {**files, "runs.csv": b"".join(lines[: runs + 1]), "manifest.json": manifest}


def test_results_of_native_python_open_with_rows_series_and_spec(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    choose(sweeps, pack(files))
    expect(sweeps.state).to_have_text("Opened results (complete): 4 of 4 runs.")
    expect(sweeps.rows.locator("button")).to_have_text(["3", "2", "1", "0"])
    expect(sweeps.chart_caption).to_contain_text("Run 3 · density 0.4")
    sweeps.rows.locator("button", has_text="1").click()
    expect(sweeps.chart_caption).to_contain_text("Run 1 · density 0.2")
    expect(sweeps.plan_line).to_contain_text("= 4 runs of 40 ticks")
    expect(sweeps.button("Finish the rest")).to_be_hidden()
    assert sweeps.downloaded_files() == files


def test_a_cut_native_sweep_is_finished_in_the_page_to_the_same_bytes(sweeps: SweepPage) -> None:
    files = native_files(SMALL_LIFE)
    choose(sweeps, pack(cut(files, 1)))
    expect(sweeps.state).to_have_text("Opened results (interrupted): 1 of 4 runs.")
    sweeps.button("Finish the rest").click()
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(4)
    expect(sweeps.button("Finish the rest")).to_be_hidden()
    assert hw.masked(sweeps.downloaded_files()) == hw.masked(files)


def test_a_sweep_aborted_in_the_page_is_finished_by_native_python_to_the_same_bytes(
    sweeps: SweepPage, tmp_path: Path
) -> None:
    sweeps.start(SMALL_LIFE.replace("steps = 40", "steps = 4000"))
    expect(sweeps.rows).not_to_have_count(0)
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    archive = tmp_path / "saved.zip"
    archive.write_bytes(sweeps.download().path().read_bytes())
    folder = unpack_results(archive)
    before = hw.ResultSet.open(folder)
    assert 1 <= len(before.runs) < 4
    assert before.manifest.runtime.target == "browser"
    hw.resume_directory(before.entry, folder)
    done = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
    assert hw.masked(done) == hw.masked(native_files(SMALL_LIFE.replace("steps = 40", "steps = 4000")))
    assert len(hw.ResultSet.open(folder).manifest.sessions) == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"no zip", "it is no zip or is damaged"), (pack({"notes.txt": b"x"}), "hold no manifest.json and no runs.csv")],
)
def test_what_is_no_result_set_is_refused_in_words(sweeps: SweepPage, content: bytes, sentence: str) -> None:
    choose(sweeps, content)
    expect(sweeps.state).to_contain_text("The results could not be opened: ")
    expect(sweeps.state).to_contain_text(sentence)
    sweeps.expect_enabled("Run")


SLOW_READS = """
File.prototype.arrayBuffer = function () {
  return new Promise(done => { window.release = () => Blob.prototype.arrayBuffer.call(this).then(done); });
}, true
"""


def test_results_whose_file_was_read_after_a_sweep_began_leave_the_sweep_alone(sweeps: SweepPage) -> None:
    sweeps.ask(SLOW_READS)
    choose(sweeps, pack(native_files(SMALL_LIFE)))
    sweeps.start(SMALL_LIFE.replace("steps = 40", "steps = 1_000_000"))
    sweeps.expect_phase("running")
    sweeps.ask("(window.release(), delete File.prototype.arrayBuffer)")
    expect(sweeps.page.locator("#warnings")).to_have_text(
        "The results were not opened: a sweep is running. Open them once it has ended."
    )
    expect(sweeps.rows).to_have_count(0)
    sweeps.expect_phase("running")
    sweeps.expect_enabled("Pause", "Abort")
