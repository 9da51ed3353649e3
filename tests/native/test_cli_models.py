"""`--models`: a file or a module, from any folder, and what is said of one that cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main

MODEL = """
import henad_web as hw
{imports}

class State:
    heap_bytes, parallel_jobs, population, grid = 10, None, 1, None

    def __init__(self, params, seed):
        self.tick = 0

    def step(self, n=1):
        self.tick += n

    def stats(self):
        return {{"Ticks": float(self.tick)}}

    def act(self, action):
        return False

    def set_param(self, id, value):
        return False


def entry(id):
    metadata = hw.ModelMetadata(backend=hw.Backend.CPU, palette=((0, 0, 0),), topology=hw.Topology.AGENTS)
    return hw.ModelEntry(id=id, name=id, description="", params=(), stats=(hw.Stat("Ticks", (1, 2, 3, 255)),),
                         actions=(), metadata=metadata, factory=State)

{models}
"""
Captured = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("own_modules")


def write(path: Path, models: str = 'ONE = entry("one")', imports: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MODEL.format(models=models, imports=imports))
    return path


def ids(models: str, capsys: Captured) -> list[str]:
    """Return the ids of the models that the command line finds at `models`."""
    assert main(["models", "--json", "--models", models]) == 0
    return [document["id"] for document in json.loads(capsys.readouterr().out)]


def refusal(models: str, capsys: Captured) -> str:
    """Return what is said of `models`, which cannot be used."""
    assert main(["models", "--models", models]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("text", ["studies/mine.py", "./studies/mine.py", "{here}/studies/mine.py", "studies.mine"])
@pytest.mark.parametrize("name", ["", ":ONE", ":make"])
def test_a_file_is_named_by_its_path_or_as_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, text: str, name: str
) -> None:
    write(tmp_path / "studies" / "mine.py", 'ONE = entry("one")\ndef make():\n    return ONE')
    monkeypatch.chdir(tmp_path)
    assert ids(f"{text.format(here=tmp_path)}{name}", capsys) == ["one"]


def test_a_file_may_import_its_neighbours_when_it_is_loaded_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "neighbour_of_mine.py").write_text("NAME = 'one'\n")
    (tmp_path / "later_of_mine.py").write_text("NAME = 'two'\n")
    lazy = "ONE = entry(neighbour_of_mine.NAME)\ndef make():\n    import later_of_mine\n    return entry('two')"
    file = write(tmp_path / "mine.py", lazy, "import neighbour_of_mine")
    assert ids(str(file), capsys) == ["one"]
    assert ids(f"{file}:make", capsys) == ["two"]


def test_a_file_of_a_package_is_part_of_it(tmp_path: Path, capsys: Captured) -> None:
    package = tmp_path / "package_of_mine" / "inner"
    file = write(package / "mine.py", "ONE = entry(NAME)", "from ..names import NAME")
    (package / "__init__.py").write_text("from .mine import ONE\n")
    (package.parent / "__init__.py").write_text("")
    (package.parent / "names.py").write_text("NAME = 'one'\n")
    assert ids(str(file), capsys) == ["one"]
    assert ids(str(package), capsys) == ["one"]


def test_files_of_one_name_and_of_a_known_module_are_told_apart(tmp_path: Path, capsys: Captured) -> None:
    for folder in ("one", "two"):
        write(tmp_path / folder / "mine.py", f'MODEL = entry("{folder}")')
    write(tmp_path / "json.py", 'MODEL = entry("three")')
    write(tmp_path / "sys.py", 'MODEL = entry("four")')
    found = [ids(str(tmp_path / name), capsys) for name in ("one/mine.py", "two/mine.py", "json.py", "sys.py")]
    assert found == [["one"], ["two"], ["three"], ["four"]]


CLASSES = """
import henad_web as hw
from base_of_mine import Base

class One(Base):
    '''Counts.'''

    value = hw.stat()

    def setup(self):
        self.value = 0

    def step_once(self):
        self.value = self.tick
"""


def test_a_class_is_a_model_and_its_base_is_none(tmp_path: Path, capsys: Captured) -> None:
    imported = "import henad_web as hw\nclass Base(hw.Model, abstract=True):\n    pass\n"
    (tmp_path / "base_of_mine.py").write_text(imported)
    held = {
        "one": (CLASSES, ["one"]),
        "named": (f"{CLASSES}\nONE = One.entry()\nALL = hw.ModelSet([One])\n", ["one"]),
        "two": (f"{CLASSES}\nclass Two(One):\n    '''Too.'''\n", ["one", "two"]),
    }
    for name, (text, found) in held.items():
        (tmp_path / f"{name}_of_mine.py").write_text(text)
        assert ids(str(tmp_path / f"{name}_of_mine.py"), capsys) == found
    assert ids(f"{tmp_path / 'two_of_mine.py'}:Two", capsys) == ["two"]
    assert "no hw.Model" in refusal(str(tmp_path / "base_of_mine.py"), capsys)
    assert "model class Base: it is abstract" in refusal(f"{tmp_path / 'base_of_mine.py'}:Base", capsys)
    (tmp_path / "wrong.py").write_text(CLASSES.replace("step_once", "setp_once"))
    assert "model class One: it has no step;" in refusal(str(tmp_path / "wrong.py"), capsys)


def test_models_of_installed_packages_need_not_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "base_of_mine.py").write_text("import henad_web as hw\nBase = hw.Model\n")
    (tmp_path / "packaged_one.py").write_text(CLASSES)
    facts = tmp_path / "packaged_one-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: packaged-one\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[henad_web.models]\none = packaged_one:One\ntwo = packaged_one:Two\n")
    assert main(["models", "--json"]) == 0
    told = capsys.readouterr()
    assert [document["id"] for document in json.loads(told.out)] == ["sir", "game_of_life", "one"]
    wrong = "AttributeError: module 'packaged_one' has no attribute 'Two'"
    assert told.err == f"warning: the models 'two' of packaged-one 1.0 are skipped: {wrong}\n"
    (facts / "entry_points.txt").write_text("[henad_web.models]\none = packaged_one:One\n")
    (tmp_path / "spec.toml").write_text('model = "one"\n[run]\nsteps = 5\nreplicates = 2\n')
    out = str(tmp_path / "out")
    assert main(["run", str(tmp_path / "spec.toml"), "--out", out, "--quiet", "--concurrent", "2"]) == 0
    assert main(["verify", out]) == 0
    assert hw.ResultSet.open(out, models=hw.installed_models()).replay(1).stats() == {"value": 0}


def test_a_set_goes_before_the_entries_in_it_and_several_entries_are_one(tmp_path: Path, capsys: Captured) -> None:
    both = 'ONE, TWO = entry("one"), entry("two")\n'
    assert ids(str(write(tmp_path / "a.py", f"{both}ALL = hw.ModelSet([ONE, TWO])\nSAME = ALL")), capsys) == [
        "one",
        "two",
    ]
    file = write(tmp_path / "b.py", both)
    assert ids(str(file), capsys) == ["one", "two"]
    assert main(["models", "two", "--models", str(file)]) == 0
    assert capsys.readouterr().out.startswith("two (two)")


@pytest.mark.parametrize(
    ("models", "names"),
    [
        ('ONE = hw.ModelSet([entry("one")])\nTWO = hw.ModelSet([entry("one")])\n', ["ONE", "TWO"]),
        ('ONE, TWO = entry("one"), entry("one")\n', ["ONE", "TWO"]),
        ('ONE = entry("one")\nTWO = hw.ModelSet([entry("two")])\n', ["ONE", "TWO"]),
    ],
)
def test_what_cannot_be_one_set_is_listed(models: str, names: list[str], tmp_path: Path, capsys: Captured) -> None:
    file = write(tmp_path / "c.py", models)
    assert main(["models", "--models", str(file)]) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("--models")]
    assert named == [f"--models {file}:{name}" for name in names]
    assert main(["models", "one", "--models", str(file)]) == 2
    assert f"'{file}' holds several: ONE, TWO; choose one with {file}:ONE" in capsys.readouterr().err


def test_a_file_that_is_no_python_file_is_told_as_such(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "drift.toml").write_text('model = "drift"\n')
    assert f"{tmp_path}/drift.toml is not a .py file" in refusal(f"{tmp_path}/drift.toml", capsys)


@pytest.mark.parametrize(
    ("file", "name", "words"),
    [
        ("mine.py", ":ONR", "there is no ONR; it holds ONE; did you mean 'ONE'?"),
        ("mine.py", ":State", "is a class; a ModelSet, a ModelEntry or a hw.Model is needed"),
        ("mine.py", ":MODEL.ONE", "there is no file"),
        ("mines.py", "", "mines.py; did you mean 'mine.py'?"),
        ("none/mine.py", "", "there is no file"),
        ("empty.py", "", "holds no ModelSet, no ModelEntry and no hw.Model"),
        ("syntax.py", "", "SyntaxError: "),
        ("fails.py", "", "ZeroDivisionError at fails.py:2: "),
        ("exits.py", "", "SystemExit at exits.py:1: enough"),
        ("cancels.py", "", "CancelledError at cancels.py:2: "),
        ("groups.py", "", "BaseExceptionGroup at groups.py:1: two (1 sub-exception)"),
        ("imports.py", "", "ModuleNotFoundError at imports.py:1: No module named 'nowhere_at_all'"),
        ("mine.py", ":breaks", "ZeroDivisionError at mine.py:"),
        (
            "declares.py",
            "",
            "ModelDefinitionError at declares.py:4: the parameter hw.u32(…) lacks max; needed: hw.u32(",
        ),
        ("stepless.py", "", "ModelDefinitionError at stepless.py:2: model class Walk: it has no step; "),
        ("wrong.py", "", "the factory State(params) does not take them: too many positional arguments"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, file: str, name: str, words: str
) -> None:
    write(tmp_path / "mine.py", 'ONE = entry("one")\ndef breaks():\n    return 1 // 0')
    wrong = (tmp_path / "mine.py").read_text().replace("params, seed", "params")
    for other, text in (
        ("empty.py", ""),
        ("syntax.py", "def"),
        ("fails.py", "\n1 // 0\n"),
        ("exits.py", "raise SystemExit('enough')"),
        ("cancels.py", "import asyncio\nraise asyncio.CancelledError"),
        ("groups.py", "raise BaseExceptionGroup('two', [KeyboardInterrupt()])"),
        ("imports.py", "import nowhere_at_all"),
        (
            "declares.py",
            "import henad_web as hw\nclass Walk(hw.Model):\n    place = hw.stat()\n    n = hw.u32(4, min=1)",
        ),
        ("stepless.py", "import henad_web as hw\nclass Walk(hw.Model):\n    place = hw.stat()\n"),
        ("wrong.py", wrong),
    ):
        (tmp_path / other).write_text(text)
    monkeypatch.chdir(tmp_path)
    line = refusal(f"{file}{name}", capsys)
    assert line.startswith("error: --models: ")
    assert words in line


def test_a_module_that_is_not_there_hints_at_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "; a file is named with its path, such as studies/mine.py" in refusal("studies.mine", capsys)


def test_a_spec_runs_with_a_model_of_a_file_from_any_folder(tmp_path: Path) -> None:
    file = write(tmp_path / "models" / "mine.py")
    (tmp_path / "spec.toml").write_text('model = "one"\nrun = { steps = 3 }\n')
    (tmp_path / "elsewhere").mkdir()
    arguments = ["run", "../spec.toml", "--out", "out", "--models", "../models/mine.py"]
    henad = [sys.executable, "-c", "import sys; from henad_native.cli import main; sys.exit(main())"]
    subprocess.run([*henad, *arguments], cwd=tmp_path / "elsewhere", check=True, capture_output=True)
    subprocess.run(
        [*henad, "verify", str(tmp_path / "elsewhere" / "out"), "--models", str(file)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


def test_describe_takes_an_id_a_module_and_a_file(tmp_path: Path, capsys: Captured) -> None:
    file = write(tmp_path / "own.py")
    for words in (["sir"], ["henad_web.models.sir:SIR"], [str(file)], ["one", "--models", str(file)]):
        assert main(["describe", *words]) == 0
        heading = capsys.readouterr().out.partition("\n")[0]
        name = "SIR Epidemic" if "sir" in words[0] else "one"
        assert heading == f"# {name}: description by the ODD protocol"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sri"], "MODEL: no model 'sri'; known: sir, game_of_life; did you mean 'sir'?"),
        (["own.py"], "MODEL: 'own.py' holds one, two; choose one, such as `henad describe one --models own.py`"),
        (["tow", "--models", "own.py"], "MODEL: no model 'tow'; known: one, two; did you mean 'two'?"),
        (["own.py", "--models", "own.py"], "MODEL: no model 'own.py'; known: one, two"),
        (["nowhere.py"], "--models: there is no file"),
    ],
)
def test_describe_says_which_model_it_does_not_find(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    write(tmp_path / "own.py", 'BOTH = hw.ModelSet([entry("one"), entry("two")])')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    assert main(["describe", *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err
