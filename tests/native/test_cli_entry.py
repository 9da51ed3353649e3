"""The ways into the command: what installs it, what starts it, what completes it, which version it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from henad_native.cli import main
from henad_web.version import VERSION
from tests.native.laws import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLS = re.findall(r"python -m pip install (\S+)", README)


def test_the_version_is_told_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr() == (f"henad-web {VERSION}\n", "")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the README's own line installed this clone into, its dependencies left where they are."""
    (place,) = INSTALLS
    target = tmp_path_factory.mktemp("installed")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, place], cwd=ROOT, check=True, capture_output=True)
    return target


def run(installed: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `command` where this clone is nowhere on the path and `installed` is."""
    return subprocess.run(
        command,
        cwd=installed,
        env={**os.environ, "PYTHONPATH": str(installed), **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_readme_s_line_installs_the_command_and_the_module(installed: Path) -> None:
    shown = [run(installed, [sys.executable, "-P", "-m", "henad_web", "--version"])]
    shown.append(run(installed, [str(installed / "bin" / "henad"), "--version"]))
    assert [finished.stdout for finished in shown] == [f"henad-web {VERSION}\n"] * 2
    code = "import henad_web; print(henad_web.__file__)"
    where = run(installed, [sys.executable, "-P", "-c", code]).stdout.strip()
    assert where == str(installed / "henad_web" / "__init__.py")


def test_the_extras_that_are_named_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    documents = [README, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]
    named = {name for text in documents for name in re.findall(r'"\.\[(\w+)\]"', text)}
    assert {"data", "designs", "site"} <= named <= set(extras)


@pytest.mark.parametrize(("typed", "offered"), [("henad re", "resume"), ("henad run --over", "--overwrite")])
def test_a_shell_completes_commands_and_options(installed: Path, typed: str, offered: str) -> None:
    command = [str(installed / "bin" / "henad")]
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    finished = run(installed, command, _HENAD_COMPLETE="complete_bash", **words)
    assert offered in finished.stdout.split()


def test_the_script_of_the_completion_is_shown(installed: Path) -> None:
    henad = installed / "bin" / "henad"
    shown = run(installed, ["bash", "-c", f'"{henad}" --show-completion'])
    assert "_henad_completion()" in shown.stdout
