"""Models of installed packages are found by their entry points; what cannot be used is named and skipped.

Mutants seen red: an error of an import goes through; a model whose id is taken replaces the one there.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.models.installed import GROUP, SkippedModelWarning, find_installed
from tests.shared.hosts import Host

MODULE = """
import henad_web as hw

class Counter(hw.Model{keywords}):
    '''Counts.'''

    value = hw.stat()

    def setup(self):
        self.value = 0

    def step_once(self):
        self.value += 1

def make():
    return hw.ModelSet([Counter])

ENTRY = Counter.entry()
NUMBER = 7
"""


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Install packages into a folder of the test, and forget what it imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(folder: Path, name: str, points: str, text: str = MODULE, keywords: str = "") -> None:
    """Make the distribution `name` 1.0 in `folder`: a module, and what an installer writes beside it."""
    (folder / f"{name}.py").write_text(text.replace("{keywords}", keywords))
    facts = folder / f"{name}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.mark.parametrize("attribute", ["Counter", "ENTRY", "make"])
def test_a_model_of_an_installed_package_is_found(tmp_path: Path, attribute: str) -> None:
    assert list(hw.installed_models()) == []
    install(tmp_path, "counting", f"count = counting:{attribute}")
    models = hw.installed_models()
    assert list(models) == ["counter"]
    assert "counter" not in hw.example_models()
    state = models["counter"].build()
    state.step(3)
    assert state.stats() == {"value": 3}


BROKEN = {
    "import": ("import no_such_module_of_mine", "ModuleNotFoundError: No module named 'no_such_module_of_mine'"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "syntax": ("class", "SyntaxError: invalid syntax"),
    "missing": ("x = 1", "AttributeError: module 'broken' has no attribute 'THING'"),
    "no model": ("THING = 7", "7 is no model; a ModelSet, a ModelEntry or a hw.Model is needed"),
    "wrong class": ("import henad_web as hw\nclass THING(hw.Model):\n    x = 1", "model class THING: it has no step;"),
    "wrong function": ("def THING(): return 1 // 0", "ZeroDivisionError: "),
}


@pytest.mark.parametrize(("text", "wrong"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_package_is_named_and_skipped(tmp_path: Path, text: str, wrong: str) -> None:
    install(tmp_path, "broken", "things = broken:THING", text)
    install(tmp_path, "counting", "count = counting:Counter")
    with pytest.warns(SkippedModelWarning) as told:
        models = hw.installed_models()
    assert list(models) == ["counter"]
    (warning,) = told
    assert str(warning.message).startswith(f"the models 'things' of broken 1.0 are skipped: {wrong}")


def test_a_model_whose_id_is_taken_is_skipped(tmp_path: Path) -> None:
    install(tmp_path, "counting", "count = counting:Counter")
    install(tmp_path, "other", "more = other:make\nagain = other:ENTRY")
    install(tmp_path, "third", "sir = third:Counter", keywords=", id='sir'")
    found = find_installed(hw.example_models())
    assert list(found.models) == ["sir", "game_of_life", "counter"]
    assert found.models["counter"].source_module == "counting"
    assert found.problems == (
        "the model 'counter' of other 1.0 is skipped: there is one of that id",
        "the model 'counter' of other 1.0 is skipped: there is one of that id",
        "the model 'sir' of third 1.0 is skipped: there is one of that id",
    )
    assert found.models["sir"] == hw.example_models()["sir"]


def test_results_find_the_model_of_an_installed_package(tmp_path: Path, host: Host) -> None:
    install(tmp_path, "counting", "count = counting:Counter")
    spec = hw.SweepSpec(model="counter", run=hw.RunSettings(steps=3))
    results = hw.ResultSet.from_files(host.files(hw.installed_models()["counter"], spec))
    assert results.replay(0, at="end").stats() == {"value": 3}
    assert hw.verify_results(results).is_equal


def test_nothing_is_said_where_nothing_is_wrong(tmp_path: Path) -> None:
    install(tmp_path, "counting", "count = counting:Counter")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(hw.installed_models()) == 1
