"""The part that runs inside the browser: one pytest session over the wanted tests, each report sent as it is made.

What only a browser has is handed in by `harness.mjs`, so this module imports pytest alone.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

__all__ = ["run_tests"]

Send = Callable[[str], object]
Breathe = Callable[[], object]


def run_tests(wanted: Iterable[str], send: Send, breathe: Breathe) -> int:
    """Run tests and send what happens to them.

    Args:
        wanted: Their node ids.
        send: Sends one message, a JSON text, to the host.
        breathe: Lets the page's event loop turn once; called between tests.

    Returns:
        Pytest's exit code.
    """
    node_ids = list(wanted)
    files = sorted({node_id.partition("::")[0] for node_id in node_ids})
    options = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-qq", "--tb=no", "--no-summary"]
    options.append("--continue-on-collection-errors")
    return int(pytest.main([*options, *files], plugins=[_Reporter(node_ids, send, breathe)]))


class _Reporter:
    """Selects the wanted tests and sends what happens to them."""

    def __init__(self, wanted: Iterable[str], send: Send, breathe: Breathe) -> None:
        self._wanted = frozenset(wanted)
        self._send, self._breathe = send, breathe
        self._config: Any = None

    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config
        # Not at the top: pytest wants to rewrite hypothesis before anyone has imported it.
        importlib.import_module("tests.pyodide_host.profile").load_profile()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._wanted]
        self._say("collected", node_ids=[item.nodeid for item in items])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say("uncollected", node_id=report.nodeid, text=str(report.longrepr))

    def pytest_internalerror(self, excrepr: object) -> None:
        self._say("output", text=str(excrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._say("started", node_id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._say("report", node_id=report.nodeid, when=report.when, data=data)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._say("finished", node_id=nodeid)
        self._breathe()

    def _say(self, kind: str, **fields: object) -> None:
        self._send(json.dumps({"kind": kind, **fields}, default=str))
