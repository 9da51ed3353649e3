"""Laws of the second host: what happens to a test inside the browser is what its twin reports, and nothing hangs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.pyodide_host.chromium import chromium_path
from tests.pyodide_host.plugin import ROOT
from tests.pyodide_host.session import BrowserSession, Outcome, PageCrashedError

SAMPLE = """
import sys
import pytest
from hypothesis import given, strategies

@pytest.fixture
def broken():
    raise RuntimeError("the fixture is broken")

def test_passes():
    assert sys.platform == "emscripten"

@pytest.mark.parametrize("n", [1, 2])
def test_fails_for_two(n):
    numbers = [n]
    assert numbers == [1]

def test_skips():
    pytest.skip("not today")

def test_errors(broken):
    pass

def test_warns():
    import warnings
    warnings.warn("a warning")

class TestGroup:
    @given(strategies.integers())
    def test_draws(self, n):
        assert n + 0 == n
"""
CANNOT_BE_IMPORTED = "import no_such_module\n\ndef test_lost():\n    pass\n"
STALLS = "def test_stalls():\n    while True:\n        pass\n\ndef test_never_reached():\n    pass\n"


SHARED_FILE = "tests/shared/test_layout.py"
PHASES = {
    "test_a_sample.py::test_passes": {"setup": "passed", "call": "passed", "teardown": "passed"},
    "test_a_sample.py::test_fails_for_two[1]": {"setup": "passed", "call": "passed", "teardown": "passed"},
    "test_a_sample.py::test_fails_for_two[2]": {"setup": "passed", "call": "failed", "teardown": "passed"},
    "test_a_sample.py::test_skips": {"setup": "passed", "call": "skipped", "teardown": "passed"},
    "test_a_sample.py::test_errors": {"setup": "failed", "teardown": "passed"},
    "test_a_sample.py::test_warns": {"setup": "passed", "call": "failed", "teardown": "passed"},
    "test_a_sample.py::TestGroup::test_draws": {"setup": "passed", "call": "passed", "teardown": "passed"},
}
LOST = "test_b_lost.py::test_lost"
ABSENT = "test_c_stalls.py::test_not_there"
STALLED = "test_c_stalls.py::test_stalls"
UNREACHED = "test_c_stalls.py::test_never_reached"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What happened to each test of a small repository in one session of the browser."""
    root = tmp_path_factory.mktemp("repository")
    shared = root / "tests" / "shared"
    shared.mkdir(parents=True)
    shutil.copytree(ROOT / "tests" / "pyodide_host", root / "tests" / "pyodide_host")
    shutil.copy(ROOT / "pyproject.toml", root)
    (shared / "test_a_sample.py").write_text(SAMPLE)
    (shared / "test_b_lost.py").write_text(CANNOT_BE_IMPORTED)
    (shared / "test_c_stalls.py").write_text(STALLS)
    node_ids = [f"tests/shared/{name}" for name in [*PHASES, LOST, ABSENT, STALLED, UNREACHED]]
    session = BrowserSession(root, node_ids, chromium=chromium_path(), stall_s=10)
    session.start()
    try:
        return {node_id.removeprefix("tests/shared/"): session.wait(node_id) for node_id in node_ids}
    finally:
        session.close()


@pytest.mark.parametrize("name", PHASES)
def test_each_test_has_its_own_outcome_phase_by_phase(outcomes: dict[str, Outcome], name: str) -> None:
    outcome = outcomes[name]
    assert outcome.error is None
    assert {when: report["outcome"] for when, report in outcome.reports.items()} == PHASES[name]


def test_a_failure_shows_the_rewritten_assertion_at_its_place(outcomes: dict[str, Outcome]) -> None:
    crash = outcomes["test_a_sample.py::test_fails_for_two[2]"].reports["call"]["longrepr"]["reprcrash"]
    assert "assert [2] == [1]" in crash["message"]
    assert crash["path"].endswith("tests/shared/test_a_sample.py")


def test_a_test_that_the_browser_does_not_collect_is_an_error_that_says_why(outcomes: dict[str, Outcome]) -> None:
    assert "not collected inside the browser" in str(outcomes[LOST].error)
    assert "No module named 'no_such_module'" in str(outcomes[LOST].error)
    assert "no such test was collected inside the browser" in str(outcomes[ABSENT].error)


@pytest.mark.parametrize("name", [STALLED, UNREACHED])
def test_a_page_that_stalls_ends_every_test_left_with_the_one_that_ran(outcomes: dict[str, Outcome], name: str) -> None:
    assert "the page said nothing for 10 s" in str(outcomes[name].error)
    assert f"running at that time: tests/shared/{STALLED}" in str(outcomes[name].error)


class Crashing(BrowserSession):
    """A session whose page is lost at some tests, so many times each."""

    losses: dict[str, int]

    def _take(self, message: dict[str, Any]) -> bool:
        name = message["node_id"] if message["kind"] == "started" else ""
        is_last = super()._take(message)
        if self.losses.get(name):
            self.losses[name] -= 1
            raise PageCrashedError("the page crashed")
        return is_last


def test_a_page_that_crashes_is_opened_again_and_a_test_that_crashes_it_twice_is_in_error(tmp_path: Path) -> None:
    once, twice, behind = (f"tests/shared/test_a_crash.py::test_{name}" for name in ("once", "twice", "behind"))
    (tmp_path / "tests" / "shared").mkdir(parents=True)
    shutil.copytree(ROOT / "tests" / "pyodide_host", tmp_path / "tests" / "pyodide_host")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / once.split("::")[0]).write_text("".join(f"def test_{n}(): pass\n" for n in ("once", "twice", "behind")))
    session = Crashing(tmp_path, [once, twice, behind], chromium=chromium_path(), stall_s=10)
    session.losses = {once: 1, twice: 2}
    session.start()
    try:
        outcomes = [session.wait(name) for name in (once, twice, behind)]
    finally:
        session.close()
    assert [outcome.error for outcome in outcomes] == [
        None,
        "the page crashed at this test, and once more at the second try",
        None,
    ]
    assert all(set(outcome.reports) == {"setup", "call", "teardown"} for outcome in (outcomes[0], outcomes[2]))


@pytest.mark.parametrize(("host", "suffixes"), [("both", ["", "[chromium]"]), ("chromium", ["[chromium]"])])
def test_every_shared_test_has_a_twin_where_the_host_asks_for_one(host: str, suffixes: list[str]) -> None:
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", f"--host={host}"]
    done = subprocess.run([*collect, SHARED_FILE], cwd=ROOT, capture_output=True, text=True, check=True)
    node_ids = [line for line in done.stdout.splitlines() if line.startswith(SHARED_FILE)]
    originals = {node_id.removesuffix("[chromium]") for node_id in node_ids}
    assert len(originals) > 10
    assert sorted(node_ids) == sorted(f"{original}{suffix}" for original in originals for suffix in suffixes)


def test_the_parts_of_a_check_run_every_folder_of_tests_where_it_belongs() -> None:
    tasks = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["poe"]["tasks"]
    commands = [tasks[name].get("cmd", "").split() for name in tasks["check"]["parallel"]]
    run = [(word, *(host for host in command if "--host" in host)) for command in commands for word in command]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")}
    wanted = [("tests/browser", "--host=chromium"), ("tests/native",)]
    wanted += [("tests/shared", "--host=chromium"), ("tests/shared", "--host=cpython")]
    assert sorted(word for word in run if word[0].startswith("tests/")) == wanted
    assert folders == {folder for folder, *_ in wanted}


def test_a_missing_chromium_is_a_usage_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.UsageError, match="apt-get install chromium"):
        chromium_path()
