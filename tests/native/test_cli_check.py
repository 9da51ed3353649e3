"""`henad check` and the plug-in of pytest: what the kit says, from a shell, with another process beside it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from henad_native.cli import main
from henad_web.testing import Check
from henad_web.testing.hygiene import DISTRIBUTIONS

MODEL = """
import hashlib, os, sys
import henad_web as hw

class Walk(hw.Model):
    stride = hw.u32(3, min=1, max=9)
    place = hw.stat()

    def setup(self):
        self.place = 0
        self.prepare()

    def prepare(self):
        pass

    def step_once(self):
        self.place += int(self.rng.integers(self.stride))

class Texts(Walk, id="texts"):
    def prepare(self):
        self.place = sum(n * (ord(name[0]) - 96) for n, name in enumerate({{"a1", "b2", "c3", "d4", "e5", "f6", "g7"}}))

class Dies(Walk, id="dies"):
    def prepare(self):
        if "henad_native.other_process" in sys.modules and "henad_native.cli" not in sys.modules:
            print("last words", file=sys.stderr)
            os._exit(9)

class Prints(Walk, id="prints"):
    def prepare(self):
        print("what a model prints")
{more}
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "walks.py").write_text(MODEL.format(more=""))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("walks", None)


def test_a_model_that_keeps_all_rules(folder: Path, capsys: Captured) -> None:
    assert main(["check", "walk", "--models", "walks.py"]) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert head == "model 'walk': 15 rules kept, 0 broken, 3 not checked"
    assert [line.partition(":")[0].strip() for line in rest] == ["grid", "actions", "batches", "fingerprint"]


def test_json_has_the_same_and_the_fingerprint_of_another_target_is_compared(folder: Path, capsys: Captured) -> None:
    command = ["check", "walk", "--models", "walks.py", "--json"]
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["model"], report["failures"], len(report["fingerprint"])) == ("walk", [], 16)
    assert len(report["passed"]) + len(report["skipped"]) == len(Check)
    assert main([*command, "--fingerprint", report["fingerprint"]]) == 0
    assert main([*command, "--fingerprint", "0123456789abcdef"]) == 1
    assert [each["check"] for each in json.loads(capsys.readouterr().out.partition("\n}\n")[2])["failures"]] == [
        "portable"
    ]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("texts", "does it go through a set of texts, or use an address?"),
        ("dies", "other_process: another process that follows it ends with code 9: last words"),
    ],
)
def test_what_only_another_process_shows(model: str, said: str, folder: Path, capsys: Captured) -> None:
    assert main(["check", model, "--models", "walks.py"]) == 1
    out = capsys.readouterr().out
    assert said in out
    assert "1 broken" in out


def test_what_a_model_prints_is_no_fingerprint(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "prints", "--models", "walks.py"]) == 0


def test_values_and_exemptions_are_taken(folder: Path, capsys: Captured) -> None:
    command = ["check", "walk", "--models", "walks.py", "--set", "stride=1"]
    assert main(command) == 1
    assert "seed_sensitivity: seeds 1 to 4 give one run; use the seed" in capsys.readouterr().out
    assert (
        main([*command, "--exempt", "seed_sensitivity=a stride of 1 draws zeros", "--ticks", "9", "--seed", "5"]) == 0
    )
    assert "seed_sensitivity: not checked, exempt: a stride of 1 draws zeros" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "stride"], "--set: 'stride' has no =; write NAME=VALUE"),
        (["--set", "stride=12"], "stride"),
        (["--exempt", "grit=x"], "did you mean 'grid'?"),
        (["--ticks", "3"], "ticks is 3; allowed: a whole number, at least 8"),
    ],
)
def test_a_wrong_command_line_checks_nothing(words: list[str], said: str, folder: Path, capsys: Captured) -> None:
    assert main(["check", "walk", "--models", "walks.py", *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err


def test_the_document_says_every_rule() -> None:
    document = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", document, re.MULTILINE))
    assert {rule: words for rule, words in said.items() if rule in list(Check)} == {
        check: check.rule for check in Check
    }


def test_a_distribution_that_the_document_calls_unequal_is_caught() -> None:
    document = (Path(__file__).parents[2] / "docs" / "randomness.md").read_text(encoding="utf-8")
    row = next(line for line in document.splitlines() if line.startswith("| `hw.generator` |"))
    equal, rounded, unequal = (set(re.findall(r"`(\w+)`", cell)) for cell in row.split("|")[2:5])
    assert rounded | unequal <= set(DISTRIBUTIONS.values())
    assert not equal & set(DISTRIBUTIONS.values())


def pytest_run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_plug_in_makes_a_test_of_each_rule(folder: Path) -> None:
    (folder / "test_own.py").write_text("def test_own():\n    pass\n")
    code, out = pytest_run(folder, "--henad-model", "walks.py:Walk")
    assert code == 0, out
    assert "16 passed, 3 skipped" in out
    code, out = pytest_run(folder, "--henad-model", "walks.py:Walk", "--henad-model", "walks.py:Texts")
    assert code == 1, out
    assert "1 failed" in out
    assert "the rule: it goes the same way in another process" in out


def test_the_plug_in_reads_models_from_a_configuration_file(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nhenad_models =\n    walks.py:Walk\n")
    code, out = pytest_run(folder)
    assert code == 0, out
    assert "15 passed, 3 skipped" in out


def test_without_a_model_the_plug_in_imports_nothing(folder: Path) -> None:
    (folder / "test_own.py").write_text("import sys\n\ndef test_own():\n    assert 'henad_web' not in sys.modules\n")
    code, out = pytest_run(folder)
    assert code == 0, out
    assert "1 passed" in out
