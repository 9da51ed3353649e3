"""What the documents show works: their code runs, their specs parse, their links lead somewhere."""

from __future__ import annotations

import ast
import builtins
import os
import re
import runpy
import subprocess
import sys
import tomllib
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
import typer

import henad_web as hw
from henad_native.cli import main
from henad_native.cli.app import app
from henad_web import randomness
from henad_web.explore import spec_form
from henad_web.explore.search_spec import Aggregate, Goal, SearchAlgorithm
from henad_web.explore.spec import DesignKind, RunOrder, SeedScheme
from henad_web.explore.spec_form import keys_of
from tests.native.laws import NATIVE, ORDER, PAGE, PORTABLE, ROOT, functions_of, sources, tree_of
from tests.shared.test_generators import EXACT, MEASURED, PYTHON

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FIGURES = ROOT / "docs" / "figures"
FORMS = [form for name, form in vars(spec_form).items() if name.endswith("Form") and not name.startswith("_")]
RUNNABLE = (
    "README.md",
    "docs/analysis.md",
    "docs/models.md",
    "docs/output.md",
    "docs/plots.md",
    "docs/randomness.md",
    "docs/results.md",
    "docs/search.md",
    "docs/sensitivity.md",
)
"""Documents whose Python is whole programs; the architecture page shows fragments."""
MAPS = ("README.md", "CONTRIBUTING.md", "docs/architecture.md")
"""Documents that say where things are."""


def blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of `language` in the document at `path`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_there_are_examples_to_run() -> None:
    assert {path.name for path in EXAMPLES} >= {"own_model.py", "read_results.py", "watch_a_sweep.py"}


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_python_of_a_document_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("shown")
    monkeypatch.setitem(sys.modules, "shown", module)
    code = blocks(ROOT / name, "python")
    assert code
    for block in code:
        exec(compile(block, name, "exec"), module.__dict__)  # the documents are the project's own
    capsys.readouterr()


def test_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks(ROOT / "README.md", "python")[0], {})
    first, header, *rows = capsys.readouterr().out.splitlines()
    assert first == "9"
    assert header.startswith("config_id,block,grid_width,grid_height,infection_rate,")
    assert len([row for row in rows if row]) == 3


def test_the_shortest_model_of_the_document_is_whole_and_has_fifteen_lines(tmp_path: Path) -> None:
    shown = blocks(ROOT / "docs" / "models.md", "python")[0]
    assert len(shown.splitlines()) <= 15
    file = tmp_path / "walk.py"
    file.write_text(shown, encoding="utf-8")
    (tmp_path / "spec.toml").write_text('model = "walk"\n[run]\nsteps = 20\nreplicates = 3\n', encoding="utf-8")
    out = tmp_path / "results"
    command = ["run", str(tmp_path / "spec.toml"), "--out", str(out), "--models", str(file), "--quiet"]
    assert main(command) == 0
    assert hw.ResultSet.open(out).runs["status"].tolist() == ["ok"] * 3


def test_the_model_of_the_document_is_that_of_the_example() -> None:
    shown = next(block for block in blocks(ROOT / "docs" / "models.md", "python") if "class Elementary(" in block)
    example = (ROOT / "examples" / "own_model.py").read_text(encoding="utf-8")
    assert all(part in example for part in shown.split("\n\n\n"))


def test_the_spec_of_the_document_is_the_plan_it_says() -> None:
    (text,) = blocks(ROOT / "docs" / "spec.md", "toml")
    plan = hw.parse_spec(text).spec.plan(hw.example_models()["sir"].schema())
    assert (plan.config_count, plan.run_count) == (6, 18)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_key_of_a_spec_is_explained(form: type[msgspec.Struct]) -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    assert [key for key in keys_of(form) if not re.search(rf"[`\[ ]{key}\b", text)] == []


@pytest.mark.parametrize("vocabulary", [DesignKind, SeedScheme, RunOrder, SearchAlgorithm, Goal, Aggregate])
def test_every_word_of_a_spec_is_explained(vocabulary: type[StrEnum]) -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    assert [word for word in vocabulary if word not in text] == []


def test_every_call_on_streams_is_explained() -> None:
    text = (ROOT / "docs" / "randomness.md").read_text(encoding="utf-8")
    drawn = [name for name in vars(randomness.DesignRng) if not name.startswith("_")]
    shown = {name for name in (*randomness.__all__, *drawn) if re.search(rf"`[^`\n]*\b{name}\b|\.{name}\(", text)}
    assert {*randomness.__all__, *drawn} - shown == set()


def test_the_draws_that_are_said_to_be_equal_everywhere_are_those_that_are_measured() -> None:
    text = (ROOT / "docs" / "randomness.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:4] for line in text.splitlines() if line.startswith(("| `hw.generator`", "| `hw.py_"))]
    said = [set(re.findall(r"`(\w+)`", cell)) for row in rows for cell in row]
    measured = [{name.split(" ")[0] for name in table} for table in (EXACT, MEASURED, PYTHON, {})]
    assert said == measured


def test_every_command_is_in_the_changelog() -> None:
    command = typer.main.get_command(app)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in getattr(command, "commands") if f"`{name}`" not in changelog] == []  # noqa: B009


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_name_of_the_package_that_is_shown_exists(path: Path) -> None:
    names = set(re.findall(r"\bhw\.([A-Za-z_]\w*)", path.read_text(encoding="utf-8")))
    assert sorted(name for name in names if not hasattr(hw, name)) == []


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "plot_results"], ids=lambda path: path.name)
def test_an_example_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def words_of(svg: str) -> list[str]:
    """Return the words that a figure says; numbers along an axis depend on how much room a font leaves."""
    texts = re.findall(r"<text [^>]*>(.*?)</text>", svg, re.DOTALL)
    return sorted(word for text in texts for word in re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>", "", text)))


def test_the_figures_of_the_documents_are_those_of_the_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main_of = runpy.run_path(str(ROOT / "examples" / "plot_results.py"), run_name="drawn")["main"]
    main_of(tmp_path)
    names = [path.name for path in sorted(FIGURES.iterdir())]
    assert [path.name for path in sorted(tmp_path.iterdir())] == names
    assert [line.split(":")[0] for line in sorted(capsys.readouterr().out.splitlines())] == names
    for name in names:
        made, kept = (folder / name for folder in (tmp_path, FIGURES))
        assert words_of(made.read_text(encoding="utf-8")) == words_of(kept.read_text(encoding="utf-8"))
        assert kept.stat().st_size < 40_000
    shown = {
        name for path in DOCUMENTS for name in re.findall(r"\(figures/([^)]+)\)", path.read_text(encoding="utf-8"))
    }
    assert shown == set(names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_glossary_is_sorted_and_has_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|]+) \| ", text, re.MULTILINE)[1:]
    assert words == sorted(words, key=str.lower)
    assert len(words) == len(set(words))


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in sorted(folder.glob("[0-9]*.md")) if f"({path.name})" not in index] == []


def test_the_architecture_page_names_every_part_of_the_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = {path.relative_to(PORTABLE).parts[0] for path in sources(PORTABLE)} - {"__init__.py"}
    assert [part for part in sorted(parts) if part not in text] == []


def test_the_architecture_page_names_every_file_of_the_native_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = {path.relative_to(NATIVE).parts[0] for path in sources(NATIVE)} - {"__init__.py"}
    assert [part for part in sorted(parts) if part not in text] == []


def test_the_architecture_page_tells_the_import_order_that_is_tested() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"each part may import only those before it in: ([\w,\s]+)\.", text)
    assert tuple(re.split(r",\s+", told)) == tuple(part for part in ORDER if part != "__main__")


def defined_names() -> set[str]:
    """Return every name that a statement of the project's own Python defines or binds, and its builtins."""
    names = {*dir(builtins), "Raises"}
    for path in sources(PORTABLE, NATIVE, PAGE, ROOT / "tests", ROOT / "examples", ROOT / "benchmarks"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def named_files(text: str) -> set[str]:
    """Return what `text` names as files of the project, but for placeholders."""
    return {name for name in re.findall(r"(?<![\w./-])[\w./-]*\w\.(?:py|md|html|css)\b", text) if "NAME" not in name}


def named_paths(text: str) -> set[str]:
    """Return what `text` names as files, folders and modules by a path."""
    folders = re.findall(r"(?<![\w./-])(?:[a-z_]+/)+(?![\w*.])", text)
    modules = re.findall(r"(?<![\w./-])(?:[a-z_]+/)+[a-z_]+\b(?![\w./])", text)
    return {*named_files(text), *folders, *modules}


def is_there(name: str, *bases: Path) -> bool:
    """Return whether a file, folder or module called `name` is where a document may start to tell its path."""
    starts = (ROOT, PORTABLE, NATIVE, NATIVE.parent, ROOT / "docs", PAGE, *bases)
    return any((start / f"{name}{suffix}").exists() for start in starts for suffix in ("", ".py"))


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if path.name != "CHANGELOG.md"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_files_that_a_document_names_exist(path: Path) -> None:
    names = named_files(path.read_text(encoding="utf-8"))
    assert [name for name in sorted(names) if not is_there(name, path.parent)] == []


FOREIGN = ("AgentPy", "JavaScript", "NetLogo")
"""Names of other things that are written like classes."""

GENERATED = ("tables/", "build/mutation/", "site/", "results/first")
"""Folders that commands make, and that documents name."""


@pytest.mark.parametrize("name", MAPS)
def test_what_a_document_says_of_the_source_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    gone = [path for path in sorted(named_paths(text) - set(GENERATED)) if not is_there(path)]
    names = defined_names()
    inline = "\n".join(re.findall(r"`([^`\n]+)`", text))
    gone += [word for word in re.findall(r"(?<![\w.\"'-])[A-Z][a-z]\w+\b", inline) if word not in names]
    gone += sorted(set(re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+\b", text)) - names - set(FOREIGN))
    modules = {path.stem if path.stem != "__init__" else path.parent.name for path in sources(PORTABLE, NATIVE)}
    for module, word in re.findall(r"\b([a-z_]+)\.([A-Z][a-z]\w+)", text):
        gone += [f"{module}.{word}"] if word not in names or module not in modules | {"hw"} else []
    for dotted in re.findall(r"\bhenad_(?:web|native)(?:\.\w+)+", text):
        *steps, last = dotted.split(".")
        module = import_module(".".join(steps))
        gone += [] if hasattr(module, last) else [dotted]
    assert gone == []


@pytest.mark.parametrize(
    ("called", "kind"),
    [
        ("run", hw.SweepRun),
        ("spec", hw.SweepSpec),
        ("entry", hw.ModelEntry),
        ("state", hw.ModelState),
        ("loaded", hw.LoadedSpec),
    ],
)
def test_members_that_the_architecture_page_shows_exist(called: str, kind: type) -> None:
    (code,) = blocks(ROOT / "docs" / "architecture.md", "python")
    shown = set(re.findall(rf"\b{called}\.([a-z_]+)", code))
    assert shown
    assert sorted(name for name in shown if not hasattr(kind, name) and name not in kind.__annotations__) == []


def laws_held() -> list[tuple[int, str, str]]:
    """Return the rows of the table of laws: number, test and mutant."""
    _, laws = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("\n## Laws\n")
    rows = re.findall(r"^\| (\d+) \| `([^`]+)` \| (.+) \|$", laws, re.MULTILINE)
    assert len(rows) == laws.count("\n| ") - 1, "every row but the header is read"
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", laws, re.MULTILINE)]
    assert sorted({int(number) for number, _, _ in rows}) == numbers
    return [(int(number), test, mutant) for number, test, mutant in rows]


def test_every_law_names_tests_that_exist_and_a_mutant_each() -> None:
    for _, test, mutant in laws_held():
        path, name = test.split("::")
        assert name in {function.name for function in functions_of(ROOT / path)}, test
        assert re.match(r"`[a-z_/]+\.py` \w+|the same", mutant), mutant


def test_the_quick_task_runs_a_test_of_every_law() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    command = project["tool"]["poe"]["tasks"]["quick"]["cmd"]
    folders = tuple(word for word in command.split() if word.startswith("tests/"))
    assert {law for law, test, _ in laws_held() if test.startswith(folders)} == {law for law, _, _ in laws_held()}


def test_the_two_commands_explain_themselves() -> None:
    finished = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    assert "./dev demo" in finished.stdout
    assert "./dev test" in finished.stdout
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_an_unknown_command_of_dev_exits_with_2() -> None:
    finished = subprocess.run([ROOT / "dev", "dmeo"], capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert "usage: ./dev demo" in finished.stderr


def test_native_modules_say_what_they_own() -> None:
    short = [path.name for path in sources(NATIVE) if len(path.read_text(encoding="utf-8").split('"""')[1]) < 20]
    assert short == []
