"""A plug-in of pytest: ``pytest --henad-model MODEL`` makes a test of each rule that a model is to keep.

Nothing of the package is imported unless a model is named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from henad_web.testing import Check, ModelReport

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]

_HELP = "check a henad-web model, a test a rule: an id, MODULE:NAME, or a file; may be repeated"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the line of a configuration file."""
    group = parser.getgroup("henad-web")
    group.addoption("--henad-model", action="append", default=[], metavar="MODEL", help=_HELP)
    parser.addini("henad_models", f"{_HELP}, a line each", type="linelist", default=[])


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests of each model that is named, behind all others."""
    for name in (*config.getini("henad_models"), *config.getoption("--henad-model")):
        items += _ModelRules.from_parent(session, name=name).collect()


class _ModelRules(pytest.Collector):
    """The rules of one model, a test each; the model is checked once, when the first of them runs."""

    found: ModelReport | None = None

    def collect(self) -> list[pytest.Item]:
        """Return a test for each rule."""
        testing = importlib.import_module("henad_web.testing")
        rules: list[pytest.Item] = []
        for check in testing.Check:
            rule = _Rule.from_parent(self, name=str(check))
            rule.check, rule.rules = check, self
            rules.append(rule)
        return rules

    def report(self) -> ModelReport:
        """Return what the checks found."""
        if self.found is None:
            entry = importlib.import_module("henad_native.cli.model_sets").load_entry(self.name, None)
            elsewhere = importlib.import_module("henad_native.other_process").follow_elsewhere
            self.found = importlib.import_module("henad_web.testing").check_model(entry, other_process=elsewhere)
        return self.found


class _Rule(pytest.Item):
    """One rule of a model."""

    check: Check
    rules: _ModelRules

    def runtest(self) -> None:
        """Fail with the words of the report where the rule is broken."""
        report = self.rules.report()
        for skip in report.skipped:
            if skip.check is self.check:
                pytest.skip(skip.reason)
        for failure in report.failures:
            if failure.check is self.check:
                pytest.fail(f"{failure.words}\nthe rule: {self.check.rule}", pytrace=False)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Return what a report calls the test."""
        return self.name, None, f"{self.rules.name}: {self.name}"
