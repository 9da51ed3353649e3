"""The pytest hooks that give every test of `tests/shared` a twin that runs inside Chromium.

This module owns the option ``--host``, the twins and the order of the session: first what runs on CPython, then the
tests that drive pages, then the twins. The twins' session starts with the first test: all others run meanwhile.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.pyodide_host.chromium import chromium_path
from tests.pyodide_host.session import BrowserSession

__all__ = [
    "ChromiumTest",
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_pycollect_makeitem",
    "pytest_runtest_makereport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "tests" / "shared"
PAGES = ROOT / "tests" / "browser"
SETTLED_INSIDE = {"skip", "skipif", "xfail", "usefixtures", "parametrize"}
SESSION = pytest.StashKey[BrowserSession]()


class ChromiumTest(pytest.Item):
    """A shared test inside the browser: it waits for the reports made there and passes them on as its own."""

    def __init__(self, *, original: pytest.Item, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.original_id = original.nodeid
        self._place = original.reportinfo()
        self.reports: dict[str, dict[str, Any]] = {}
        for mark in original.own_markers:
            if mark.name not in SETTLED_INSIDE:
                self.add_marker(getattr(pytest.mark, mark.name)(*mark.args, **mark.kwargs))

    @classmethod
    def twin_of(cls, original: pytest.Item, collector: pytest.Collector) -> ChromiumTest:
        """Return the twin of a test that `collector` holds, called like it with ``[chromium]`` behind."""
        name = f"{original.name}[chromium]"
        # Given as text, the id is read as pytest reads those of its cache: --lf and --ff find twins again.
        twin: ChromiumTest = cls.from_parent(
            collector, name=name, nodeid=f"{collector.nodeid}::{name}", original=original
        )
        return twin

    def setup(self) -> None:
        """Wait for the reports; without them the test is an error that says why."""
        outcome = self.config.stash[SESSION].wait(self.original_id)
        if outcome.error is not None:
            pytest.fail(outcome.error, pytrace=False)
        self.reports = outcome.reports

    def runtest(self) -> None:
        """Do nothing: the test already ran, inside."""

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the place of the test's source."""
        path, line, name = self._place
        return path, line, f"{name}[chromium]"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("henad-web")
    group.addoption(
        "--host", choices=("cpython", "chromium", "both"), default="both", help="where tests/shared runs (both)"
    )
    group.addoption(
        "--stall", type=float, default=120.0, metavar="SECONDS", help="silence after which Chromium is given up (120)"
    )


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> Generator[None, Any, Any]:
    """Put a twin behind every test of `tests/shared`."""
    made = yield
    if not isinstance(made, list) or not collector.path.is_relative_to(SHARED):
        return made
    host = collector.config.getoption("--host")
    tests = [test for test in made if isinstance(test, pytest.Function)]
    twins = [ChromiumTest.twin_of(test, collector) for test in tests]
    if host == "cpython":
        return made
    return twins if host == "chromium" else [*made, *twins]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the session: CPython, then pages, then the twins, which run meanwhile."""
    items.sort(key=lambda item: 2 if isinstance(item, ChromiumTest) else int(item.path.is_relative_to(PAGES)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to start without a Chromium when a test needs one.

    Raises:
        pytest.UsageError: If it is missing.
    """
    if any(isinstance(item, ChromiumTest) or item.path.is_relative_to(PAGES) for item in session.items):
        chromium_path()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Start the browser's session."""
    wanted = [item.original_id for item in session.items if isinstance(item, ChromiumTest)]
    if not wanted or session.config.option.collectonly or session.testsfailed:
        return
    stall_s = session.config.getoption("--stall")
    browser = BrowserSession(ROOT, wanted, chromium=chromium_path(), stall_s=stall_s)
    session.config.stash[SESSION] = browser
    browser.start()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
    """Pass the browser's report on; a failure of the host itself keeps pytest's own."""
    if not isinstance(item, ChromiumTest) or call.excinfo is not None or call.when not in item.reports:
        return None
    data = item.reports[call.when]
    report = item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
    assert isinstance(report, pytest.TestReport)
    report.nodeid, report.location = item.nodeid, item.location
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the browser's session."""
    browser = session.config.stash.get(SESSION, None)
    if browser is not None:
        browser.close()
