"""A module that begins a sweep, or a check, as it is imported: it is swept in other processes, which never import it.

To pickle something by name waits for the end of its module's import, which waits for the sweep. Mutants seen red, each
as a process that does not end in time: `_by_name` pickles plainly; a half imported module is looked for where a model
arrives; sweeps are not refused in a process that received a model.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """
import henad_web as hw

class Walk(hw.Model):
    '''A walker.'''

    drift = hw.f64(0.25, min=0, max=1)
    place = hw.stat()

    def setup(self):
        self.place = 0.0

    def step_once(self):
        self.place += self.drift
"""
SWEEP = """
spec = hw.parse_spec('model = "walk"\\nrun = { steps = 5, replicates = 4 }').spec
record = hw.run_spec(Walk, spec, options=hw.SweepRunOptions(lanes="process", concurrency=2))
print(record.report.counts.ok, [str(warning) for warning in record.report.warnings])
"""
CHECK = """
from henad_native.other_process import follow_elsewhere
from henad_web.testing import check_model

report = check_model(Walk, other_process=follow_elsewhere)
print("other_process" in report.passed)
"""
SPEC = 'model = "walk"\nrun = { steps = 5, replicates = 4 }\n'
OWN_FILE = {"study.py": MODEL + SWEEP}
PACKAGE = {
    "study/__init__.py": "import study.sweep",
    "study/walk.py": MODEL,
    "study/sweep.py": "from study.walk import *\n" + SWEEP,
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("files", [OWN_FILE, PACKAGE, {"study.py": "import walk", "walk.py": MODEL + SWEEP}])
def test_a_module_is_swept_in_processes_while_it_is_imported(tmp_path: Path, files: dict[str, str]) -> None:
    done = run(write(tmp_path, files), "-c", "import study")
    assert (done.stdout, done.stderr) == ("4 []\n", "")


def test_a_model_of_another_module_goes_by_name_meanwhile(tmp_path: Path) -> None:
    write(tmp_path, {"study.py": "from walk import *\n" + SWEEP, "walk.py": f"print('imported')\n{MODEL}"})
    done = run(tmp_path, "-c", "import study")
    printed = sorted(done.stdout.splitlines())
    assert printed[:3] == ["4 []", "imported", "imported"]  # here and in a process; another may come too late for a run
    assert set(printed[3:]) <= {"imported"}
    assert not done.stderr


def test_a_command_imports_it_once_and_steps_here_what_processes_would_begin_anew(tmp_path: Path) -> None:
    write(tmp_path, {**OWN_FILE, "spec.toml": SPEC})
    command = ["-m", "henad_web", "run", "spec.toml", "--models", "study.py", "--out", "out", "--lanes", "process"]
    done = run(tmp_path, *command)
    assert done.returncode == 0
    assert done.stdout.count("4 []") == 1
    told = "the module study begins a sweep as it is imported, and every process that steps runs imports it; put what"
    assert f"{told} begins it under `if __name__ == '__main__':`" in " ".join((done.stdout + done.stderr).split())
    for command in (["verify", "out"], ["models"], ["resume", "out"]):
        assert run(tmp_path, "-m", "henad_web", *command, "--models", "study.py").returncode == 0


def test_a_check_of_a_module_that_checks_itself_ends(tmp_path: Path) -> None:
    done = run(write(tmp_path, {"study.py": MODEL + CHECK}), "-c", "import study")
    assert (done.stdout, done.stderr) == ("True\n", "")
