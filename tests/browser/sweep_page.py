"""The sweep page as a visitor uses it: type a spec, press a button, read what stands there.

Everything goes through elements, because the page's policy refuses strings that become code. What must be asked of the
browser itself goes through its debugging protocol.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Download, FilePayload, Locator, Page, ViewportSize, expect

import henad_web as hw
from henad_web.output.crate import with_crate
from henad_web.output.names import CRATE
from tests.browser.page_watch import PYTHON_STARTS_MS, PageWatch

__all__ = ["SMALL_LIFE", "SweepPage", "native_files", "opened", "spec_text", "start_with"]

SIZE: ViewportSize = {"width": 1280, "height": 900}

SMALL_LIFE = """model = "game_of_life"
[set]
grid_width = 32
grid_height = 32
[run]
steps = 40
replicates = 2
[measure]
stats_every = 4
[seeds]
root = 3
[[block]]
factors = [{ param = "density", values = [0.2, 0.4] }]
"""


def spec_text(model: str, *, side: int, steps: int, replicates: int = 1, run_lines: str = "") -> str:
    """Return a spec of one config on a square grid."""
    return f"""model = "{model}"
[set]
grid_width = {side}
grid_height = {side}
[run]
steps = {steps}
replicates = {replicates}
{run_lines}
[measure]
stats_every = 100
"""


def native_files(text: str, models: hw.ModelSet | None = None) -> dict[str, bytes]:
    """Return the files that native Python makes of the spec `text` of one of `models`, else of the examples."""
    models = hw.example_models() if models is None else models
    loaded = hw.parse_spec(text, models=models)
    entry = models[loaded.spec.model]
    options = hw.SweepRunOptions.from_loaded(loaded)
    record = hw.run_spec(entry, loaded.spec, output=hw.MemoryOutput(), options=options)
    assert record.files is not None
    return dict(record.files)


OWN_MODELS = Path(__file__).with_name("page_models.py")

START = """
import asyncio
from startup import boot
tasks = {asyncio.ensure_future(boot("application", "Application"))}
"""


def start_with(page: Page, address: str, code: str) -> None:
    """Open the page at `address`, the Python `code` run in it before it starts, and wait until it is ready."""
    page.route("**/main.py", lambda route: route.fulfill(body=code + START, content_type="text/plain"))
    page.goto(address)
    expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")


@contextmanager
def opened(browser: Browser, address: str, *, own_models: bool = False) -> Iterator[tuple[SweepPage, PageWatch]]:
    """Open the page once, for many tests: loading it takes longer than most of them.

    With `own_models` it offers those of `page_models` too, in place of the examples alone.
    """
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(PYTHON_STARTS_MS)
    expect.set_options(timeout=PYTHON_STARTS_MS)
    page, watch = context.new_page(), PageWatch(address)
    watch.follow(page)
    start_with(
        page, address, f"{OWN_MODELS.read_text('utf-8')}\nhw.example_models = lambda: MODELS\n" if own_models else ""
    )
    yield SweepPage(page), watch
    context.close()


class SweepPage:
    """The page, ready to be used."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.editor = page.get_by_label("Sweep spec, TOML")
        self.plan_line, self.problems = page.locator("#plan-line"), page.locator("#problems")
        self.state, self.pace = page.locator("#state"), page.locator("#pace")
        self.progress, self.rows = page.locator("#progress-text"), page.locator("#rows-body tr")
        self.board_caption, self.chart_caption = page.locator("#board-caption"), page.locator("#chart-caption")

    def reset(self) -> None:
        """End what a test before has left running, and show the first example as it is."""
        if self.button("Abort").is_enabled():
            self.button("Abort").click()
        expect(self.button("Abort")).to_be_disabled()
        self.page.set_viewport_size(SIZE)
        self.page.get_by_label("Example").select_option("sir_sweep.toml")
        if self.button("Restore").is_enabled():
            self.button("Restore").click()
        expect(self.button("Run")).to_be_enabled()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def write_spec(self, text: str) -> None:
        """Type `text` over what the editor holds, and wait until it has been read."""
        self.editor.fill("")
        expect(self.plan_line).to_contain_text("to solve")
        self.editor.fill(text)

    def start(self, text: str) -> None:
        """Type the spec `text` and run it."""
        self.write_spec(text)
        expect(self.plan_line).to_contain_text("=")
        self.button("Run").click()

    def expect_phase(self, phase: str) -> None:
        expect(self.state).to_have_attribute("data-phase", phase)

    def expect_enabled(self, *names: str) -> None:
        """Check that of the four controls exactly `names` can be pressed."""
        for name in ("Run", "Pause", "Resume", "Abort"):
            expect(self.button(name)).to_be_enabled(enabled=name in names)

    def open_zip(self, content: bytes) -> None:
        """Choose a file of `content` where the page asks for results."""
        file = FilePayload(name="anything.zip", mimeType="application/zip", buffer=content)
        with self.page.expect_file_chooser() as chooser:
            self.button("Open results (zip)").click()
        chooser.value.set_files([file])

    def download(self) -> Download:
        with self.page.expect_download() as waiting:
            self.page.locator("#download").click()
        return waiting.value

    def downloaded_files(self) -> dict[str, bytes]:
        """Return the results in the zip that the download button saves, once they are described as anywhere."""
        with zipfile.ZipFile(io.BytesIO(self.download().path().read_bytes())) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        results = {name: content for name, content in files.items() if name != CRATE}
        assert files == with_crate(results)
        return results

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, asked for through the debugging protocol."""
        session = self.page.context.new_cdp_session(self.page)
        answer = session.send(
            "Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True}
        )
        session.detach()
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def let_frames_pass(self, count: int) -> None:
        """Wait until the page has drawn `count` more frames."""
        self.ask(
            f"new Promise(done => {{ let left = {count};"
            " const frame = () => left-- ? requestAnimationFrame(frame) : done(true); frame(); })"
        )
