"""Fixtures of the tests that drive the real page: a built folder, a server on loopback, Chromium and a watched page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from henad_native.site import ServedFolder, build_site, serve_folder
from tests.browser.page_watch import PYTHON_STARTS_MS, PageWatch
from tests.browser.sweep_page import SweepPage, opened
from tests.pyodide_host.chromium import FLAGS, chromium_path

# Nothing outside this machine has an address: a page that asks for anything else is seen failing, not succeeding.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


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


@pytest.fixture(scope="module")
def loaded(
    request: pytest.FixtureRequest, browser: Browser, server: ServedFolder
) -> Iterator[tuple[SweepPage, PageWatch]]:
    """The page, loaded once for a module's tests; marked ``own_models`` they find those of `page_models` there too."""
    own_models = request.node.get_closest_marker("own_models") is not None
    with opened(browser, server.address, own_models=own_models) as page:
        yield page


@pytest.fixture
def sweeps(loaded: tuple[SweepPage, PageWatch]) -> Iterator[SweepPage]:
    """The loaded page as a new visitor finds it; the test fails if anything on it complains."""
    sweeps, watch = loaded
    sweeps.reset()
    yield sweeps
    assert watch.complaints == []
