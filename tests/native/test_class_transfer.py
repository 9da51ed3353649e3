"""A model that is a class on its way to lanes in other processes: of a module, of the program itself, of a function.

A class of the program travels as a whole, empty at first: that it is no whole model then must not be told. Mutant seen
red: an empty body is checked like any other.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import henad_web as hw
from henad_web.run.layout import LaneKind
from tests.shared.declared_models import ForestFire, Walk, study_of

PROGRAM = """
import henad_web as hw

def make():
    class Walk(hw.Model, portable=False, id="walk_of_mine"):
        '''A walker.'''

        drift = hw.f64(0.25, min=-1, max=1)
        place = hw.stat()

        def setup(self):
            self.place = self.rng.random()

        {step}

        def has_ended(self):
            return self.place > 3.0

        @hw.stat(label="Twice")
        def twice(self):
            return 2 * self.place

        @hw.action
        def home(self):
            self.place = 0.0

    return Walk

{where}

SPEC = '''model = "walk_of_mine"
[run]
steps = 30
replicates = 6
[[action]]
id = "home"
tick = 4
[[block]]
factors = [{{ param = "drift", values = [0.25, 0.5] }}]
'''

if __name__ == "__main__":
    files = []
    for lanes, concurrency in (("process", 2), ("in_caller", 1)):
        record = hw.run_spec(
            Walk, hw.parse_spec(SPEC).spec, output=hw.MemoryOutput(),
            options=hw.SweepRunOptions(concurrency=concurrency, lanes=lanes),
        )
        assert not record.report.warnings, record.report.warnings
        assert record.report.counts.ok == 12, record.files["runs.csv"].decode()
        files.append(hw.masked(record.files))
    print(files[0] == files[1], files[0]["runs.csv"].decode().count("condition"))
"""
STEPS = {
    "once": "def step_once(self):\n            self.place += self.drift",
    "several": "def step(self, n=1):\n            self.place += self.drift * n",
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("where", ["Walk = make()", "Walk = make()\nmake = None"])
def test_a_class_of_the_program_itself_is_swept_by_other_processes(tmp_path: Path, step: str, where: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(step=STEPS[step], where=where))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("True 12\n", "")


FUNCTION = """
import random
import henad_web as hw

def make():
    def walk(params, seed):
        place, draws = 0.0, hw.py_random(seed)
        while place < 3.0:
            yield [place]
            place += draws.random() * params["drift"]

    return hw.from_function(walk, params={{"drift": hw.f64(0.25, min=0, max=1)}}, stats=["place"], id="walk_of_mine")

{where}
"""


@pytest.mark.parametrize("where", ["Walk = make()", "Walk = make()\nmake = None"])
def test_a_function_of_the_program_itself_is_swept_by_other_processes(tmp_path: Path, where: str) -> None:
    spec = PROGRAM[PROGRAM.index("SPEC") :].replace('[[action]]\nid = "home"\ntick = 4\n', "")
    program = tmp_path / "program.py"
    program.write_text((FUNCTION + spec).format(where=where))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("True 12\n", "")


@pytest.mark.parametrize("model", [ForestFire, Walk])
def test_an_entry_of_a_class_is_pickled_by_name(model: type[hw.Model]) -> None:
    pickled = pickle.dumps(model.entry())
    assert len(pickled) < 3000
    again = pickle.loads(pickled)
    assert again.schema() == model.entry().schema()
    assert again.factory is model


def masked_files(model: type[hw.Model], lanes: LaneKind) -> dict[str, bytes]:
    options = hw.SweepRunOptions(concurrency=1 if lanes is LaneKind.IN_CALLER else 2, lanes=lanes)
    files = hw.run_spec(model, study_of(model), output=hw.MemoryOutput(), options=options).files
    return hw.masked(files or {})


@pytest.mark.parametrize("model", [ForestFire, Walk])
def test_lanes_of_any_kind_give_the_same_bytes(model: type[hw.Model]) -> None:
    files = [masked_files(model, lanes) for lanes in (LaneKind.IN_CALLER, LaneKind.PROCESS, LaneKind.THREAD)]
    assert all(each == files[0] for each in files)


LOCKED = """
import threading
import henad_web as hw

class Walk(hw.Model):
    '''A walker.'''

    place = hw.stat()
    lock = threading.Lock()

    def setup(self):
        self.place = 0.0

    def step_once(self):
        self.place += 1.0

spec = hw.parse_spec('model = "walk"\\nrun = { steps = 5, replicates = 4 }').spec
record = hw.run_spec(Walk, spec, options=hw.SweepRunOptions(concurrency=2, lanes="process"))
print(record.report.counts.ok, *record.report.warnings)
"""


def test_what_cannot_be_sent_is_told_with_the_attribute_that_holds_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOCKED)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=60)
    told = "there is one lane, in the caller: model 'walk': its attribute 'lock' cannot be pickled"
    assert done.stdout.startswith(f"4 {told}")
