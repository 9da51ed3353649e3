"""The end of a sweep frees the page: after many runs, failed runs, an abort, and views that break on the way."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from henad_native.site import ServedFolder
from tests.browser.page_watch import PageWatch
from tests.browser.sweep_page import SMALL_LIFE, SweepPage, spec_text, start_with

MANY_RUNS = """model = "game_of_life"
[set]
grid_width = 32
grid_height = 32
[run]
steps = 50
replicates = 200
[[block]]
factors = [{ param = "density", values = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5] }]
"""

TROUBLES = """model = "trouble"
[run]
steps = 40
replicates = 2
[[block]]
factors = [{ param = "fails_at", values = [0, 7] }]
"""


pytestmark = pytest.mark.own_models


def run_another(sweeps: SweepPage) -> None:
    """Run a sweep from start to end, as a page that nothing has happened to does."""
    sweeps.start(SMALL_LIFE)
    sweeps.expect_phase("ended")
    expect(sweeps.rows).to_have_count(4)
    sweeps.expect_enabled("Run")
    expect(sweeps.button("Open results (zip)")).to_be_enabled()
    assert set(sweeps.downloaded_files()) == {"runs.csv", "series.csv", "summary.csv", "manifest.json"}


# -- memory --------------------------------------------------------------------------------------------------------

MEASURED = """
import gc
import pyodide_js
from js import window
from pyodide.ffi import create_proxy

def measure():
    gc.collect()
    module = pyodide_js._module
    # struct mallinfo, ten integers; the eighth counts the bytes in use.
    place = module._malloc(40)
    module._mallinfo(place)
    used = module.HEAP32[place // 4 + 7]
    module._free(place)
    return f"{len(gc.get_objects())} {used} {module.HEAP8.length}"

window.measure = create_proxy(measure)
"""


@dataclass(frozen=True)
class Memory:
    """What the page holds: Python objects, bytes in use and in all of Python, bytes of JavaScript, listeners."""

    objects: int
    used: int
    whole: int
    heap: int
    listeners: int

    @classmethod
    def of(cls, page: Page) -> Memory:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        session.send("HeapProfiler.enable")
        objects, used, whole = map(int, SweepPage(page).ask("window.measure()").split())
        session.send("HeapProfiler.collectGarbage")
        metrics = {item["name"]: int(item["value"]) for item in session.send("Performance.getMetrics")["metrics"]}
        session.detach()
        return cls(objects, used, whole, metrics["JSHeapUsedSize"], metrics["JSEventListeners"])


def test_two_thousand_short_runs_leave_a_page_that_lives_in_the_memory_it_had(
    page: Page, server: ServedFolder, watch: PageWatch
) -> None:
    start_with(page, server.address, MEASURED)
    sweeps = SweepPage(page)
    sweeps.start(MANY_RUNS)
    expect(sweeps.progress).to_have_text(re.compile(r"^([5-9]\d\d|1,\d{3}) of 2,000 runs"))
    sweeps.button("Pause").click()
    sweeps.expect_phase("paused")
    early = Memory.of(page)
    # The row that is chosen here leaves the table, which the end and the way back to the newest run must bear.
    sweeps.rows.first.locator("button").click()
    chosen = sweeps.chart_caption.inner_text()
    sweeps.button("Resume").click()
    sweeps.expect_phase("ended")
    late = Memory.of(page)
    expect(sweeps.chart_caption).to_have_text(chosen)
    sweeps.button("Follow newest").click()
    expect(sweeps.chart_caption).to_contain_text("Run 1999")

    expect(sweeps.progress).to_have_text("2,000 of 2,000 runs")
    expect(sweeps.rows).to_have_count(200)
    expect(sweeps.rows.first).to_have_attribute("aria-current", "true")
    expect(page.locator("#rows-count")).to_have_text("newest 200 of 2,000; the files hold all")
    expect(page.get_by_role("alert")).to_be_hidden()
    sweeps.expect_enabled("Run")
    files = sweeps.downloaded_files()
    assert len(files["runs.csv"].splitlines()) == 2001

    # Measured: 0 objects more, 0 listeners, 100 bytes a run beside the files, 0.1 MB of heap. A handler kept for each
    # of the last 1,400 runs: 7,000 objects, 1,400 listeners, 1 MB of heap.
    written = sum(map(len, files.values()))
    assert late.objects - early.objects < 500
    assert late.listeners - early.listeners < 10
    assert late.used - early.used < written + 300_000
    assert late.whole < 1.25 * early.whole  # it grows by fifths: by one at most, for what comes and goes
    assert late.heap - early.heap < 400_000


CHOOSING = """
from types import SimpleNamespace
from gallery import Gallery
from js import window
from pyodide.ffi import create_proxy

def choosing():
    told = []
    gallery = Gallery(SimpleNamespace(show=print), told.append)

    def finish(first, last):
        for run_id in range(first, last):
            gallery.add(SimpleNamespace(run=SimpleNamespace(run_id=run_id), series=()))

    finish(0, 300)
    gallery.refresh()
    finish(300, 900)
    for run_id in (100, 99, None):
        gallery.choose(run_id)
    gallery.choose(120)
    gallery.refresh()
    for run_id in (121, 699, 700):
        gallery.choose(run_id)
    return str(told)

window.choosing = create_proxy(choosing)
"""


def test_every_row_of_the_table_can_be_chosen_however_many_runs_ended_since_it_followed(
    page: Page, server: ServedFolder, watch: PageWatch
) -> None:
    start_with(page, server.address, CHOOSING)
    assert SweepPage(page).ask("window.choosing()") == "[100, 299, 120, 700]"


# -- runs that fail, an abort ----------------------------------------------------------------------------------------


def test_failed_runs_leave_the_page_ready_for_the_next_sweep(sweeps: SweepPage) -> None:
    sweeps.start(TROUBLES)
    sweeps.expect_phase("ended")
    expect(sweeps.state).to_contain_text("Finished 4 runs in")
    expect(sweeps.state).to_contain_text("2 failed.")
    expect(sweeps.page.locator("#rows-body tr.failed")).to_have_count(2)
    expect(sweeps.rows.first).to_contain_text("panicked")
    expect(sweeps.rows.first.locator(".note")).to_contain_text("ValueError")
    expect(sweeps.rows.first.locator(".note")).to_contain_text("trouble at tick 7")
    sweeps.expect_enabled("Run")
    run_another(sweeps)


def test_an_abort_in_the_middle_of_a_run_leaves_the_page_ready_for_the_next_sweep(sweeps: SweepPage) -> None:
    sweeps.start(spec_text("game_of_life", side=64, steps=1_000_000))
    expect(sweeps.board_caption).to_contain_text("tick")
    sweeps.button("Abort").click()
    sweeps.expect_phase("aborted")
    expect(sweeps.state).to_contain_text("the files hold 0 of 1 run")
    run_another(sweeps)


# -- views that break ------------------------------------------------------------------------------------------------

BREAKS = {
    "table": ("Table", "document.getElementById('rows-body')", "insertAdjacentHTML"),
    "chart": ("Gallery", "document.getElementById('chart').getContext('2d')", "stroke"),
    "board": ("Board", "document.getElementById('board').getContext('2d')", "putImageData"),
    "download": ("Download", "document.getElementById('download')", "textContent"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_view_that_breaks_is_told_once_and_holds_up_nothing(loaded: tuple[SweepPage, PageWatch], name: str) -> None:
    sweeps, watch = loaded
    sweeps.reset()
    title, owner, member = BREAKS[name]
    broken = "() => { throw new Error('this view is broken') }"
    accessors = f"{{ configurable: true, get: () => ({broken}), set: {broken} }}"
    sweeps.ask(f"(Object.defineProperty({owner}, '{member}', {accessors}), true)")
    sweeps.start(SMALL_LIFE.replace("steps = 40", "steps = 400"))
    expect(sweeps.progress).to_have_text("4 of 4 runs")
    sweeps.expect_enabled("Run")
    alert = sweeps.page.get_by_role("alert")
    expect(alert).to_contain_text(f"{title}, a part of the page, failed: ")
    expect(alert).to_contain_text("this view is broken")
    expect(alert).to_contain_text("The sweep and the other parts go on.")
    assert (sweeps.page.locator("#boot-error-details").text_content() or "").count("Traceback") == 1
    if name != "table":
        expect(sweeps.rows).to_have_count(4)
    if name != "chart":
        expect(sweeps.chart_caption).to_have_text("Run 3 · density 0.4 · replicate 1")
    expect(sweeps.state).to_contain_text("Finished 4 runs in")
    expect(sweeps.page.locator("#download")).to_be_enabled()
    assert all("this view is broken" in complaint for complaint in watch.complaints), watch.complaints
    watch.complaints.clear()

    sweeps.ask(f"delete {owner}.{member}")
    sweeps.button("Dismiss").click()
    expect(alert).to_be_hidden()
    run_another(sweeps)
    expect(alert).to_be_hidden()
    assert watch.complaints == []


BREAKABLE = """
import henad_web as hw
from js import document

update = hw.SweepRun.update

def breakable(self, *given, **named):
    if "broken" in document.body.className:
        raise RuntimeError("the engine is broken")
    update(self, *given, **named)

hw.SweepRun.update = breakable
"""


def test_a_sweep_that_breaks_itself_is_let_go_of_and_the_next_one_runs(
    page: Page, server: ServedFolder, watch: PageWatch
) -> None:
    start_with(page, server.address, BREAKABLE)
    sweeps = SweepPage(page)
    sweeps.start(spec_text("game_of_life", side=64, steps=1_000_000))
    expect(sweeps.board_caption).to_contain_text("tick")
    sweeps.ask("document.body.classList.add('broken')")
    sweeps.expect_phase("failed")
    expect(sweeps.state).to_have_text("The sweep ended on a fault of the page.")
    expect(page.get_by_role("alert")).to_contain_text("RuntimeError: the engine is broken")
    assert (page.locator("#boot-error-details").text_content() or "").count("Traceback") == 1
    sweeps.expect_enabled("Run")
    assert all("the engine is broken" in complaint for complaint in watch.complaints), watch.complaints
    watch.complaints.clear()
    sweeps.ask("document.body.classList.remove('broken')")
    page.keyboard.press("Escape")
    run_another(sweeps)


def test_the_alert_is_dismissed_by_its_button_or_escape_and_focus_returns(
    loaded: tuple[SweepPage, PageWatch],
) -> None:
    sweeps, watch = loaded
    sweeps.reset()
    alert, dismiss = sweeps.page.get_by_role("alert"), sweeps.button("Dismiss")
    broken = "document.getElementById('plan-line')"
    for key in ("Enter", "Escape"):
        sweeps.ask(f"{broken}.toggleAttribute = () => {{ throw new Error('this view is broken') }}, true")
        sweeps.editor.fill(SMALL_LIFE + f"# {key}\n")
        expect(alert).to_contain_text("Something in the page went wrong")
        expect(sweeps.editor).to_be_focused()
        sweeps.ask(f"delete {broken}.toggleAttribute")
        dismiss.focus()
        sweeps.page.keyboard.press(key)
        expect(alert).to_be_hidden()
        expect(sweeps.editor).to_be_focused()
    assert [complaint for complaint in watch.complaints if "this view is broken" not in complaint] == []
    watch.complaints.clear()
