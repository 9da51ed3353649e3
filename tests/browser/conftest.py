"""Fixtures of the tests that drive the real page: a built folder, a server on loopback, Chromium and a watched page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from henad_native.site import ServedFolder, build_site, serve_folder
from tests.pyodide_host.chromium import FLAGS, chromium_path

__all__ = ["PageWatch"]

# Nothing outside this machine has an address: a page that asks for anything else is seen failing, not succeeding.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PYTHON_STARTS_MS = 60_000.0


@dataclass(slots=True)
class PageWatch:
    """What a page did that it must not do.

    Attributes:
        address: The only origin that it may ask, with a final slash.
        complaints: Errors on its console, exceptions nobody caught, requests that failed or left the origin.
        requested: Every address asked for, in order.
    """

    address: str
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        """Record what `page` does from now on."""
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"not caught: {error}"))
        page.on("crash", lambda _: self.complaints.append("the page crashed"))
        page.on("request", lambda request: self._request(request.url))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url} {request.failure}"))

    def _console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.complaints.append(f"console: {text}")

    def _request(self, url: str) -> None:
        self.requested.append(url)
        if not url.startswith((self.address, f"blob:{self.address}")):
            self.complaints.append(f"left the origin: {url}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Function, nextitem: pytest.Item | None) -> bool:
    """Run a test once more whose renderer Chromium lost before Python had started: nothing of ours ran in it yet.

    Seen once in some thousand starts, on a tree that passed before and after. A page that crashes later fails.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed and _is_lost_start(str(report.longrepr)) for report in reports):
        item._initrequest()  # fixtures of its own anew
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _is_lost_start(told: str) -> bool:
    return "Page crashed" in told and 'waiting for locator("#boot")' in told


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `build_site` makes it."""
    return build_site(tmp_path_factory.mktemp("page") / "site").folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[ServedFolder]:
    """The page being served on loopback."""
    with serve_folder(site) as served:
        yield served


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, able to reach this machine only."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=[*FLAGS, OFFLINE])
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile: no cache, no storage."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PYTHON_STARTS_MS)
    expect.set_options(timeout=PYTHON_STARTS_MS)
    yield context
    context.close()


@pytest.fixture
def watch(server: ServedFolder) -> PageWatch:
    """What the test's pages did that they must not do."""
    return PageWatch(server.address)


@pytest.fixture
def page(context: BrowserContext, watch: PageWatch) -> Iterator[Page]:
    """A blank page; the test fails if anything on it logs an error or asks another origin."""
    page = context.new_page()
    watch.follow(page)
    yield page
    assert watch.complaints == []


@pytest.fixture
def open_page(page: Page, server: ServedFolder) -> Callable[[], Page]:
    """A function that opens the start page and waits until Python is ready."""

    def open_start_page() -> Page:
        page.goto(server.address)
        expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")
        return page

    return open_start_page
