"""Standard streams that cannot be written: no command fails over them silently, and no sweep fails at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pytest

from henad_native.cli import main
from tests.native.folders import masked_in
from tests.native.test_cli_going_on import TOYS, spec_at

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


class Folders:
    """A spec, and results of it, for every command."""

    def __init__(self, base: Path) -> None:
        self.base, self.spec = base, spec_at(base)
        self.whole, self.cut = base / "whole", base / "cut"
        main(["run", self.spec, "--out", str(self.whole), "--models", TOYS, "--quiet"])
        main(["run", self.spec, "--out", str(self.cut), "--models", TOYS, "--quiet"])
        rows = (self.cut / "runs.csv").read_bytes().splitlines(keepends=True)
        (self.cut / "runs.csv").write_bytes(b"".join(rows[:3]))

    def command(self, name: str) -> list[str]:
        models = ["--models", TOYS]
        return {
            "run": ["run", self.spec, "--out", str(self.base / "new"), *models],
            "resume": ["resume", str(self.cut), *models],
            "merge": ["merge", str(self.whole), "--out", str(self.base / "merged")],
            "plan": ["plan", self.spec, *models],
            "plan --runs": ["plan", self.spec, "--runs", "-", *models],
            "models": ["models", *models],
            "models --json": ["models", "--json"],
            "verify": ["verify", str(self.whole), *models],
            "export": ["export", str(self.whole), "--ro-crate"],
            "import": ["import", str(self.batch())],
            "schema": ["schema"],
            "--version": ["--version"],
            "--help": ["--help"],
        }[name]

    def batch(self) -> Path:
        path = self.base / "batch.py"
        path.write_text('{"value": [1, 2]}\n')
        return path

    def written(self, name: str) -> Path:
        return {"run": self.base / "new", "resume": self.cut, "merge": self.base / "merged"}[name]


FOLDER_COMMANDS = ["run", "resume", "merge"]
OTHERS = [
    "plan",
    "plan --runs",
    "models",
    "models --json",
    "verify",
    "export",
    "import",
    "schema",
    "--version",
    "--help",
]


@pytest.fixture
def folders(fast_path: Path, quick_disk: None, capsys: pytest.CaptureFixture[str]) -> Folders:
    made = Folders(fast_path)
    capsys.readouterr()
    return made


def gone_reader() -> TextIO:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


def closed_stream() -> TextIO:
    stream = open(os.devnull, "w")  # noqa: SIM115 - it is closed at once
    stream.close()
    return stream


STREAMS: dict[str, tuple[Callable[[], TextIO | None], str | None]] = {
    "full": (lambda: FULL.open("w"), "No space left on device"),
    "never open": (lambda: None, "it is closed"),
    "closed": (closed_stream, "it is closed"),
    "gone": (gone_reader, None),
}


class Failing:
    """Makes streams of one kind: a command that is through with one has silenced it."""

    def __init__(self, kind: str) -> None:
        self._make, self.words = STREAMS[kind]
        self.made: list[TextIO] = []

    def stream(self) -> TextIO | None:
        stream = self._make()
        self.made += [] if stream is None else [stream]
        return stream


@pytest.fixture
def failing(request: pytest.FixtureRequest) -> Iterator[Failing]:
    failing = Failing(request.param)
    yield failing
    for stream in failing.made:
        stream.close()


@pytest.mark.parametrize("failing", STREAMS, indirect=True)
@pytest.mark.parametrize("name", [*FOLDER_COMMANDS, *OTHERS])
def test_standard_output_that_fails_is_told_on_standard_error(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, failing: Failing, name: str
) -> None:
    words = failing.words
    told = io.StringIO()
    monkeypatch.setattr(sys, "stdout", failing.stream())
    monkeypatch.setattr(sys, "stderr", told)
    code = main(folders.command(name))
    monkeypatch.undo()
    lines = [line for line in told.getvalue().splitlines() if line.startswith("error:")]
    assert lines == ([] if words is None else [f"error: standard output could not be written: {words}"])
    assert "Traceback" not in told.getvalue()
    if name in FOLDER_COMMANDS:
        assert code == 0
        assert masked_in(folders.written(name)) == masked_in(folders.whole)
    else:
        assert code == (0 if words is None else 1)


@pytest.mark.parametrize("failing", STREAMS, indirect=True)
@pytest.mark.parametrize("name", FOLDER_COMMANDS)
def test_standard_error_that_fails_stops_no_sweep_and_is_told_at_the_end(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, failing: Failing, name: str
) -> None:
    words = failing.words
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    monkeypatch.setattr(sys, "stderr", failing.stream())
    code = main(folders.command(name))
    monkeypatch.undo()
    assert code == 0
    assert masked_in(folders.written(name)) == masked_in(folders.whole)
    last = printed.getvalue().splitlines()[-1]
    sentence = f"error: standard error could not be written: {words}; progress, warnings and failures are missing there"
    assert (last == sentence) == (words is not None and name != "merge"), "a merge without a warning says nothing there"


@pytest.mark.parametrize("failing", STREAMS, indirect=True)
def test_an_error_that_cannot_be_told_still_has_its_exit_code(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, failing: Failing
) -> None:
    lost = 1 if failing.words else 0
    for arguments, code in (
        (["run", "missing.toml", "--out", str(folders.base / "none")], 1),
        (["run", folders.spec, "--no-such-option"], 2),
        (["import", str(folders.batch())], lost),  # its note was lost
    ):
        monkeypatch.setattr(sys, "stderr", failing.stream())
        assert main(arguments) == code


@pytest.mark.parametrize("failing", STREAMS, indirect=True)
def test_with_both_streams_gone_the_folder_and_the_exit_code_tell(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, failing: Failing
) -> None:
    for arguments, code in ((folders.command("run"), 0), (["schema"], 1 if failing.words else 0)):
        monkeypatch.setattr(sys, "stdout", failing.stream())
        monkeypatch.setattr(sys, "stderr", failing.stream())
        assert main(arguments) == code
    monkeypatch.undo()
    assert masked_in(folders.written("run")) == masked_in(folders.whole)


def test_letters_that_a_stream_has_no_code_for_are_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    narrow = io.TextIOWrapper(content, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    monkeypatch.setattr(sys, "stderr", narrow)
    assert main(["models", "änts"]) == 2
    narrow.flush()
    assert b"no model '\\xe4nts'" in content.getvalue()


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `command` of bash in `folder`, where ``henad`` is this one."""
    text = f'set -o pipefail; henad() {{ "{sys.executable}" -m henad_web "$@"; }}; {command}'
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    environment.pop("PYTHONUNBUFFERED", None)  # what is held back is what fails again at the interpreter's end
    return subprocess.run(["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True)


def noisy_model(folder: Path) -> Path:
    path = folder / "noisy.py"
    path.write_text(
        """
import os
from tests.shared.toy_models import Divides, entry_of


class Noisy(Divides):
    def before_step(self):
        for number in (0, 1, 2):
            os.write(number, b"noise")
        super().before_step()


NOISY = entry_of(Noisy, id="divides")
"""
    )
    return path


def test_a_process_says_so_too_and_the_interpreter_adds_nothing(folders: Folders) -> None:
    run = f"henad run {folders.spec} --models {TOYS}"
    told = "error: standard output could not be written: No space left on device\n"
    for command in ("schema", "--version"):
        full = shell(f"henad {command} > /dev/full", folders.base)
        assert (full.returncode, full.stderr) == (1, told)
    head = shell("henad schema | head -n 1", folders.base)
    assert (head.returncode, head.stdout, head.stderr) == (0, "{\n", "")
    quiet = shell(f"{run} --out one > /dev/full 2> /dev/full", folders.base)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    # The model writes to the numbers of the standard streams, as a library in C does: into no table.
    noisy = run.replace(TOYS, str(noisy_model(folders.base)))
    closed = shell(f"{noisy} --out two <&- >&- 2>&-", folders.base)
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, "", "")
    piped = shell(f"{run} --out three 2>&1 | true", folders.base)
    assert (piped.returncode, piped.stderr) == (0, "")
    for name in ("one", "two", "three"):
        assert masked_in(folders.base / name) == masked_in(folders.whole)
