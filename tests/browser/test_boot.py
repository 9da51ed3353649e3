"""Laws of loading: the page starts offline under its policy, from its own folder alone, on any path of any host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from henad_native.site import ServedFolder, serve_folder
from tests.browser.page_watch import PageWatch

POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self'",
    "img-src": "'self' blob:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}


def test_the_page_starts_from_its_own_origin_alone(open_page: Callable[[], Page], watch: PageWatch) -> None:
    open_page()
    assert len(watch.requested) > 10
    assert watch.complaints == []


def test_the_policy_is_the_decided_one_on_every_page(site: Path) -> None:
    pages = sorted(site.glob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text("utf-8")
        found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
        assert found, f"{page.name} has no policy"
        directives = [part.strip().partition(" ") for part in found[1].split(";")]
        assert {name: value for name, _, value in directives} == POLICY
        assert found.start() < min(text.index("<link"), text.index("<script")), f"{page.name}: policy comes too late"


def test_the_page_starts_below_a_path_of_its_host(page: Page, under_a_path: ServedFolder) -> None:
    page.goto(f"{under_a_path.address}some/where/index.html")
    expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")


@pytest.fixture
def under_a_path(site: Path, tmp_path: Path, watch: PageWatch) -> Iterator[ServedFolder]:
    """The page two folders below the root of its host."""
    shutil.copytree(site, tmp_path / "some" / "where")
    with serve_folder(tmp_path) as served:
        watch.address = f"{served.address}some/where/"
        yield served


LOST = 'Page crashed, waiting for locator("#boot")'
STARTS = """
from pathlib import Path

import pytest

@pytest.fixture
def starts():
    path = Path(__file__).with_name("starts")
    path.write_text((path.read_text() if path.exists() else "") + "x")
    return len(path.read_text())

def test_starts(starts):
    if starts <= {losses}:
        raise RuntimeError({told!r})
"""


@pytest.mark.parametrize(
    ("told", "losses", "starts", "code"),
    [
        (LOST, 0, 1, 0),
        (LOST, 1, 2, 0),
        (LOST, 2, 2, 1),
        (LOST.replace("#boot", "#state"), 1, 1, 1),
        (LOST.replace("crashed", "closed"), 1, 1, 1),
    ],
)
def test_a_page_is_started_once_more_where_it_was_lost_before_python_started_and_only_there(
    tmp_path: Path, told: str, losses: int, starts: int, code: int
) -> None:
    (tmp_path / "conftest.py").write_text("from tests.browser.conftest import pytest_runtest_protocol\n")
    (tmp_path / "test_lost.py").write_text(STARTS.format(told=told, losses=losses))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "starts").read_text()) == (code, "x" * starts), done.stdout
