"""What is installed from a wheel is the whole project: both packages, the page's sources and the example specs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.native.laws import PAGE, ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel of this tree, as an installer lays it out."""
    dist, target = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def python(installed: Path, *arguments: str) -> str:
    """Return what Python prints for `arguments`, the installed wheel before anything else on its path."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", *arguments]
    finished = subprocess.run(command, cwd=installed, env=environment, check=True, capture_output=True, text=True)
    return finished.stdout.strip()


def test_both_packages_import_from_the_wheel(installed: Path) -> None:
    code = "import henad_web, henad_native; print(henad_web.__file__); print(henad_native.__file__)"
    files = [Path(line) for line in python(installed, "-c", code).splitlines()]
    assert files == [installed / "henad_web" / "__init__.py", installed / "henad_native" / "__init__.py"]


def test_the_wheel_says_that_it_is_typed(installed: Path) -> None:
    assert (installed / "henad_web" / "py.typed").is_file()
    assert (installed / "henad_native" / "py.typed").is_file()


def test_the_page_s_sources_are_found_inside_the_wheel(installed: Path) -> None:
    code = "from henad_native.site.build import web_folder; print(web_folder())"
    web = Path(python(installed, "-c", code))
    assert web == installed / "henad_native" / "site" / "web"
    ours = {path.relative_to(PAGE) for path in PAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.relative_to(web) for path in web.rglob("*") if path.is_file()} == ours


def test_the_example_specs_are_beside_the_page_s_sources(installed: Path) -> None:
    specs = {path.name for path in (installed / "henad_native" / "site" / "examples").glob("*.toml")}
    assert specs == {path.name for path in (ROOT / "examples").glob("*.toml")}
    assert "sir_sweep.toml" in specs


def test_the_wheel_installs_nothing_but_the_two_packages(installed: Path) -> None:
    folders = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert folders == {"henad_web", "henad_native"}


def test_the_command_of_the_wheel_lists_the_models(installed: Path) -> None:
    code = "import sys; from henad_native.cli import main; sys.exit(main(['models', '--json']))"
    printed = python(installed, "-c", code)
    assert '"id": "sir"' in printed
    assert '"id": "game_of_life"' in printed
