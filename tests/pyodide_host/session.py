"""One browser session: Chromium in a thread of its own, running the wanted tests and handing over what happens.

This module owns the thread, the page and the waiting. A page that stalls or cannot start becomes an error of every test
that has no report yet, never a hang. One that crashes, as Chromium loses a page now and then, is opened again for the
tests that are left; a test at which it crashes twice is in error.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, Playwright, async_playwright

from henad_native.site import serve_folder
from tests.pyodide_host.bundle import repository_bundle
from tests.pyodide_host.chromium import FLAGS

__all__ = ["BrowserSession", "Outcome"]

PACKAGES = ("numpy", "msgspec", "henad-web", "cmaes", "pytest", "hypothesis")
KEPT_OUTPUT_LINES = 20
BOOT_S = 180.0


BUILD = """
import pathlib, sys
from henad_native.site import build_site
build_site(pathlib.Path(sys.argv[1]), tests=True)
"""


class BrowserError(Exception):
    """The end of a browser's session before its tests were done; the message says why."""


class PageCrashedError(BrowserError):
    """Chromium has lost the page."""


@dataclass(slots=True)
class Outcome:
    """What the browser said of one test.

    Attributes:
        reports: The serialised report of each phase reached, by ``setup``, ``call``, ``teardown``.
        error: Why there is no report, or None.
        is_complete: Whether nothing more will come.
    """

    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    error: str | None = None
    is_complete: bool = False


class BrowserSession:
    """The run of one set of tests in one page.

    Args:
        root: Root of the repository.
        wanted: Node ids of the tests to run.
        chromium: Path of Chromium.
        stall_s: Seconds without any message, once Python has started, after which the page counts as stalled.
    """

    def __init__(self, root: Path, wanted: Sequence[str], *, chromium: str, stall_s: float) -> None:
        self._root, self._wanted, self._chromium, self._stall_s = root, tuple(wanted), chromium, stall_s
        self._outcomes = {node_id: Outcome() for node_id in self._wanted}
        self._changed = threading.Condition()
        self._running = ""
        self._crashed: set[str] = set()
        self._output: list[str] = []
        self._stop = threading.Event()
        self._message: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._thread = threading.Thread(target=self._run, name="chromium", daemon=True)

    def start(self) -> None:
        """Start Chromium and the tests in it."""
        self._thread.start()

    def close(self) -> None:
        """End the page, whatever it is doing, and wait for Chromium to be gone."""
        self._stop.set()
        self._thread.join()

    def wait(self, node_id: str) -> Outcome:
        """Wait until everything about a test is known; return it."""
        outcome = self._outcomes[node_id]
        with self._changed:
            self._changed.wait_for(lambda: outcome.is_complete)
        return outcome

    def _run(self) -> None:
        reason = "the browser's session ended without a report of this test"
        try:
            asyncio.run(self._drive())
        except Exception as error:  # whatever ended the thread is the reason each waiting test shows
            reason = f"{type(error).__name__}: {error}"
        running = f"\nrunning at that time: {self._running}" if self._running else ""
        output = "".join(f"\n  {line}" for line in self._output)
        self._give_up(self._wanted, f"{reason}{running}" + (f"\nlast output of the page:{output}" if output else ""))

    async def _drive(self) -> None:
        with tempfile.TemporaryDirectory(prefix="henad-web-shared-") as scratch:
            site = Path(scratch) / "site"
            await _build(site)
            with serve_folder(site) as served:
                async with async_playwright() as playwright:
                    while left := [name for name, outcome in self._outcomes.items() if not outcome.is_complete]:
                        self._add_harness(site, left)
                        if not await self._crashes(playwright, f"{served.address}harness.html"):
                            return

    async def _crashes(self, playwright: Playwright, address: str) -> bool:
        """Run the tests in a new page; return whether it was lost before they were done."""
        self._message = asyncio.Queue()
        browser = await playwright.chromium.launch(executable_path=self._chromium, args=list(FLAGS))
        try:
            await self._watch(await self._open(browser, address))
        except PageCrashedError as error:
            running, self._running = self._running, ""
            if running in self._crashed:
                if not running:
                    raise
                self._give_up([running], f"{error} at this test, and once more at the second try")
            self._crashed.add(running)
            return True
        finally:
            await browser.close()
        return False

    def _add_harness(self, site: Path, wanted: Sequence[str]) -> None:
        here = Path(__file__).parent
        for name in ("harness.html", "harness.mjs"):
            shutil.copy(here / name, site / name)
        interpreter = next(site.glob("vendor/pyodide-*/pyodide.mjs")).relative_to(site)
        settings = {"interpreter": f"./{interpreter.as_posix()}", "packages": PACKAGES, "wanted": wanted}
        (site / "harness.json").write_text(json.dumps(settings))
        (site / "harness.zip").write_bytes(repository_bundle(self._root))

    async def _open(self, browser: Browser, address: str) -> Page:
        page = await browser.new_page()
        put = self._message.put_nowait
        await page.expose_function("henadMessage", lambda text: put(json.loads(text)))
        page.on("crash", lambda _: put({"kind": "crashed"}))
        page.on("pageerror", lambda error: put({"kind": "output", "text": str(error)}))
        await page.goto(address)
        return page

    async def _watch(self, page: Page) -> None:
        silent_s, patience_s = 0.0, BOOT_S
        while not self._stop.is_set():
            try:
                message = await asyncio.wait_for(self._message.get(), timeout=0.25)
            except TimeoutError:
                silent_s += 0.25
                if silent_s >= patience_s:
                    raise BrowserError(f"the page said nothing for {patience_s:.0f} s") from None
                continue
            silent_s = 0.0
            if message["kind"] == "collected":
                patience_s = self._stall_s
            if self._take(message):
                return

    def _take(self, message: dict[str, Any]) -> bool:
        """Take one message of the page; return whether it was the last."""
        match message["kind"]:
            case "report":
                self._outcomes[message["node_id"]].reports[message["when"]] = message["data"]
            case "started":
                self._running = message["node_id"]
            case "finished":
                self._running = ""
                self._complete(message["node_id"])
            case "uncollected":
                lost = [name for name in self._wanted if name.startswith(message["node_id"])]
                self._give_up(lost, f"not collected inside the browser:\n{message['text']}")
            case "collected":
                lost = sorted(set(self._wanted) - set(message["node_ids"]))
                self._give_up(lost, "collected on CPython, but no such test was collected inside the browser")
            case "output":
                self._output = [*self._output, *str(message["text"]).splitlines()][-KEPT_OUTPUT_LINES:]
            case "crashed":
                raise PageCrashedError("the page crashed")
            case "failed":
                raise BrowserError(message["text"])
            case "ended":
                return True
        return False

    def _complete(self, node_id: str) -> None:
        with self._changed:
            self._outcomes[node_id].is_complete = True
            self._changed.notify_all()

    def _give_up(self, node_ids: Sequence[str], reason: str) -> None:
        with self._changed:
            for node_id in node_ids:
                outcome = self._outcomes[node_id]
                if not outcome.is_complete:
                    outcome.error, outcome.is_complete = reason, True
            self._changed.notify_all()


async def _build(site: Path) -> None:
    """Build the site in a process of its own: its memory would count in tests that measure this one's meanwhile."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", BUILD, str(site), stderr=pipe)
    _, errors = await process.communicate()
    if process.returncode != 0:
        raise BrowserError(f"the site could not be built:\n{errors.decode(errors='replace')}")
