"""The source of a model of one's own: every module of its package or folder that it imports, named when it changes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_native.cli import main
from henad_web.output.build import files_of_source, model_source
from tests.native.test_cli_models import MODEL

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands in no other study, forgotten with its modules after each test."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("COLUMNS", "1000")
    yield tmp_path
    forget()


def forget() -> None:
    """Forget every module that was loaded from a study, as a new process has."""
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        if name.startswith(("ants", "nest")) or "ants.py" in str(getattr(module, "__file__", "")):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def model(path: Path, imports: str = "", step: str = "") -> Path:
    """Write a model that imports at its top, and runs `step` in each step."""
    text = MODEL.format(imports=imports, models='ANTS = entry("ants")')
    return write(path, text.replace("        self.tick += n\n", f"        self.tick += n\n        {step}\n"))


def names(entry: hw.ModelEntry) -> list[str]:
    source = model_source(entry)
    assert source is not None
    return [name for name, _ in files_of_source(source)]


def entry_at(name: str) -> hw.ModelEntry:
    forget()
    entry = importlib.import_module(name).ANTS
    assert isinstance(entry, hw.ModelEntry)
    return entry


def test_a_model_of_one_file_is_its_file(study: Path) -> None:
    model(study / "ants.py")
    write(study / "ants_unused.py", "")
    assert names(entry_at("ants")) == ["ants.py"]


def test_the_folder_counts_where_there_is_no_package(study: Path) -> None:
    model(study / "ants.py", "import ants_rules\nfrom nest import walls")
    write(study / "ants_rules.py", "import ants_deeper\n")
    write(study / "ants_deeper.py", "")
    write(study / "nest" / "walls.py", "")
    assert names(entry_at("ants")) == ["ants.py", "ants_deeper.py", "ants_rules.py", "nest/walls.py"]


@pytest.mark.parametrize("with_init", [True, False])
def test_the_outermost_package_counts_and_what_stands_beside_it_does_not(study: Path, with_init: bool) -> None:
    model(study / "nest" / "inner" / "ants.py", "from .. import rules\nimport ants_beside\nimport json")
    write(study / "nest" / "rules.py", "")
    write(study / "ants_beside.py", "")
    for folder in ("nest", "nest/inner") if with_init else ():
        write(study / folder / "__init__.py", "")
    inits = ["__init__.py", "inner/__init__.py"] if with_init else []
    assert names(entry_at("nest.inner.ants")) == ["inner/ants.py", *inits, "rules.py"]


def test_a_package_may_be_the_model(study: Path) -> None:
    model(study / "nest" / "__init__.py", "from nest import rules")
    write(study / "nest" / "rules.py", "")
    assert names(entry_at("nest")) == ["__init__.py", "rules.py"]


def test_installed_packages_environments_and_scripts_are_not_the_model(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, environment = study / "lib" / "site-packages", study / "env"
    monkeypatch.setattr(sys, "path", [str(library), str(environment), *sys.path])
    monkeypatch.setattr(sys, "prefix", str(environment))
    write(library / "ants_installed.py", "")
    write(environment / "ants_environment.py", "")
    model(study / "ants.py", "import ants_installed, ants_environment, json")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(write(study / "script.py", "")))
    monkeypatch.setitem(sys.modules, "__mp_main__", sys.modules["__main__"])  # as importing multiprocessing leaves it
    monkeypatch.setattr(sys.modules["json"], "__file__", str(write(study / "json.py", "")))
    assert names(entry_at("ants")) == ["ants.py"]
    model(library / "nest" / "ants.py", "from nest import rules")
    write(library / "nest" / "rules.py", "")
    assert names(entry_at("nest.ants")) == ["ants.py", "rules.py"]


def test_files_known_before_keep_the_hash_they_had(study: Path) -> None:
    model(study / "ants.py")
    entry = entry_at("ants")
    known = model_source(entry)
    write(study / "ants.py", "changed while it ran")
    assert model_source(entry, known) == known != model_source(entry)


@pytest.mark.parametrize("name", ["/etc/hostname", "../ants_beside.py", "a\0b.py", "", "n" * 300, "."])
def test_a_recorded_name_that_leads_elsewhere_is_passed_over(study: Path, name: str) -> None:
    model(study / "ants.py")
    assert model_source(entry_at("ants"), names=[name, "ants.py"]) == model_source(entry_at("ants"))


def go_on_after(study: Path, change: str, *, reuse: bool = False) -> None:
    """Run, change the file `change`, and go on."""
    (study / "spec.toml").write_text('model = "ants"\nrun = { steps = 3, replicates = 2 }\n')
    spec, out, models = str(study / "spec.toml"), study / "out", ["--models", str(study / "ants.py"), "--quiet"]
    forget()
    assert main(["run", spec, "--out", str(out), *models]) == 0
    write(study / change, (study / change).read_text() + "# changed\n")
    (out / "runs.csv").write_bytes(b"".join((out / "runs.csv").read_bytes().splitlines(keepends=True)[:2]))
    forget()
    if reuse:
        assert main(["run", spec, "--out", str(study / "new"), "--reuse", str(out), *models]) == 0
    else:
        assert main(["resume", str(out), *models]) == 0


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("change", ["ants.py", "ants_rules.py", "ants_later.py", "ants_unused.py"])
def test_a_change_warns_and_names_the_file(study: Path, capsys: Captured, change: str, reuse: bool) -> None:
    model(study / "ants.py", "import ants_rules", "import ants_later")
    for name in ("ants_rules.py", "ants_later.py", "ants_unused.py"):
        write(study / name, "")
    go_on_after(study, change, reuse=reuse)
    lines = [line for line in capsys.readouterr().err.splitlines() if "build of the model" in line]
    if change == "ants_unused.py":
        assert lines == [], "nothing imports it"
        return
    (line,) = lines
    assert line.startswith(f"warning: earlier rows come from another build of the model: {change} ")
    assert line.count(".py ") == 2


def test_a_verification_names_the_file_that_has_changed(study: Path, capsys: Captured) -> None:
    model(study / "ants.py", "import ants_rules")
    write(study / "ants_rules.py", "")
    (study / "spec.toml").write_text('model = "ants"\nrun = { steps = 3 }\n')
    forget()
    models = ["--models", str(study / "ants.py")]
    assert main(["run", str(study / "spec.toml"), "--out", str(study / "out"), *models]) == 0
    for changed in (False, True):
        if changed:
            write(study / "ants_rules.py", "FASTER = 1\n")
        forget()
        capsys.readouterr()
        assert main(["verify", str(study / "out"), *models]) == 0
        notes = [line for line in capsys.readouterr().out.splitlines() if "note: " in line]
        start = "  note: earlier rows come from another build of the model: ants_rules.py "
        assert [note.startswith(start) for note in notes] == [True] * changed


def test_what_runs_import_is_in_the_record_at_the_end(study: Path) -> None:
    model(study / "ants.py", "", "import ants_later")
    write(study / "ants_later.py", "")
    (study / "spec.toml").write_text('model = "ants"\nrun = { steps = 3 }\n')
    forget()
    assert main(["run", str(study / "spec.toml"), "--out", str(study / "out"), "--models", str(study / "ants.py")]) == 0
    (session,) = msgspec.json.decode((study / "out" / "manifest.json").read_bytes())["sessions"]
    assert [name for name, _ in files_of_source(session["model_source"])] == ["ants.py", "ants_later.py"]
