"""Laws of a page without frames: a hidden tab goes on and says so, and a page that cannot start says that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from henad_native.site import ServedFolder
from tests.browser.page_watch import PageWatch
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, spec_text

NO_FRAMES = "window.requestAnimationFrame = () => 0;"
HIDDEN = "Object.defineProperty(document, 'hidden', { get: () => true });"


@pytest.mark.parametrize(
    ("scripts", "words"),
    [
        ((NO_FRAMES, HIDDEN), "This tab is in the background"),
        ((NO_FRAMES,), "The browser draws no frames"),
    ],
    ids=["hidden", "no frames"],
)
def test_a_sweep_goes_on_without_frames_and_says_so(
    page: Page, open_page: Callable[[], Page], scripts: tuple[str, ...], words: str
) -> None:
    for script in scripts:
        page.add_init_script(script)
    sweeps = SweepPage(open_page())
    sweeps.start(spec_text("game_of_life", side=64, steps=1_000_000))
    expect(sweeps.pace).to_contain_text(words)
    before = sweeps.board_caption.inner_text()
    expect(sweeps.board_caption).not_to_have_text(before)
    sweeps.button("Pause").click()
    sweeps.expect_phase("paused")
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")


def test_a_hidden_tab_reaches_the_end(page: Page, open_page: Callable[[], Page]) -> None:
    page.add_init_script(NO_FRAMES)
    page.add_init_script(HIDDEN)
    sweeps = SweepPage(open_page())
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(4)


@pytest.mark.parametrize("file", ["pyodide.asm.wasm", "core.js"])
def test_a_page_that_cannot_load_says_so_in_words(
    page: Page, server: ServedFolder, watch: PageWatch, file: str
) -> None:
    page.route(f"**/{file}", lambda route: route.abort())
    page.goto(server.address)
    expect(page.get_by_role("alert")).to_contain_text("Python could not be started.")
    expect(page.locator("#boot-text")).to_have_text("Loading failed.")
    watch.complaints.clear()


def test_a_page_without_numpy_says_what_is_missing(page: Page, server: ServedFolder, watch: PageWatch) -> None:
    page.route("**/numpy-*.whl", lambda route: route.abort())
    page.goto(server.address)
    expect(page.get_by_role("alert")).to_contain_text("No module named 'numpy'")
    watch.complaints.clear()


def test_loading_is_told_before_python_runs(page: Page, server: ServedFolder, watch: PageWatch) -> None:
    page.route("**/pyodide.asm.wasm", lambda route: None)
    page.goto(server.address)
    expect(page.locator("#boot")).to_have_attribute("data-stage", "python")
    expect(page.locator("#boot-text")).to_contain_text("Starting Python")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    watch.complaints.clear()
