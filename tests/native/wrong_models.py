"""Wrong models made by chance: what they return, raise and do; and what must hold of a sweep of each all the same.

A case is a number. `python -m tests.native.wrong_models --cases 5000` (`poe fuzz-models`) runs many and stops at the
first that does not hold; the suite runs a few. Nothing here waits or asks the time.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import henad_web as hw
from henad_web.errors import StatsShapeError
from henad_web.model.params import ParamValue
from henad_web.results.verifying import verify_results
from tests.native.folders import TARGET
from tests.shared.toy_models import entry_of

SERIES_RUNS = 3


class Foreign(BaseException):
    """What a panic of foreign code derives from."""


class Mute(Exception):
    """An exception that fails to tell itself."""

    def __str__(self) -> str:
        raise Foreign


class Wordless(Exception):
    """An exception whose text is none."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value]


class Groups(dict[str, float]):
    """A dict that gives more values than names."""

    def values(self) -> Any:
        return [1.0] * (len(self) + 1)


class Shifting(dict[str, float]):
    """A dict that grows whenever it is listed."""

    def __iter__(self) -> Iterator[str]:
        self[f"More {len(self)}"] = 1.0
        return super().__iter__()


class Heavy:
    """A value that raises `error` whatever is asked of it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def _raise(self, *_: object) -> Any:
        raise self.error

    __float__ = __index__ = __bool__ = __repr__ = __eq__ = __iter__ = __len__ = __int__ = _raise
    __hash__ = None  # type: ignore[assignment]


TEXTS = [
    "",
    "no",
    "x" * 140_000,
    "\ud800",
    "\x00\x1b[0m\r\n",
    'a,"b"\n',
    "木" * 3000,
    "while stepping the simulation, X at y.py:3",
]

ERRORS: list[Callable[[random.Random], BaseException]] = [
    *(
        lambda chance, kind=kind: kind(chance.choice(TEXTS))
        for kind in (
            ValueError,
            SystemExit,
            GeneratorExit,
            KeyboardInterrupt,
            asyncio.CancelledError,
            Foreign,
            MemoryError,
            RecursionError,
            StopIteration,
            AssertionError,
            hw.OutputFullError,
            hw.HenadError,
            hw.RefusedBuild,
            Mute,
            Wordless,
            OSError,
            UserWarning,
        )
    ),
    lambda chance: ExceptionGroup("many", [ValueError(chance.choice(TEXTS)), ExceptionGroup("more", [KeyError()])]),
    lambda chance: StatsShapeError(3, expected=("A",), came=(chance.choice(TEXTS),)),
    lambda chance: type(chance.choice(["Odd name\n,", "Ä" * 999, "a b"]), (Exception,), {})(chance.choice(TEXTS)),
    lambda chance: _circular(),
    lambda chance: UnicodeDecodeError("utf-8", b"\xff", 0, 1, chance.choice(TEXTS)),
]


def _circular() -> BaseException:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    return first


def _endless() -> Iterator[int]:
    while True:
        yield 1


VALUES: list[Callable[[random.Random], Any]] = [
    lambda chance: None,
    lambda chance: chance.choice([-5, -1, 0, 2**63, 2**63 - 1, 2**64, 10**5000, True, 7.5, 7.0, 1e400, float("nan")]),
    lambda chance: chance.choice(
        [np.int64(-3), np.float32(2.5), np.array([1, 2]), np.zeros((2, 2, 2)), np.bool_(True)]
    ),
    lambda chance: chance.choice(TEXTS),
    lambda chance: chance.choice([Decimal("1.5"), Fraction(1, 3), 1j, b"bytes", object(), [], {}, (), set(), int, len]),
    lambda chance: _endless(),
    lambda chance: Heavy(chance.choice(ERRORS)(chance)),
    lambda chance: Groups(Ticks=1.0),
    lambda chance: Shifting(Ticks=1.0),
    lambda chance: {
        chance.choice([*TEXTS, "Ticks", 3, None, "Ticks.x"]): chance.choice([1.0, None, "1", np.nan, 10**400])
    },
    lambda chance: {f"Column {number}": 1.0 for number in range(chance.choice([2, 2000]))},
    lambda chance: {"Ticks": Heavy(chance.choice(ERRORS)(chance))},
    lambda chance: np.full((2, 3), np.inf),
]

PLACES = ("factory", "step", "stats", "act", "grid", "population", "tick", "heap_bytes", "parallel_jobs", "set_param")


@dataclass(frozen=True, slots=True)
class Wrong:
    """What goes wrong: in `place`, at ages from `age` on, for values in `values`: `make` returned, raised or done."""

    place: str
    age: int
    values: frozenset[int]
    make: Callable[[Any], Any]


def wrong_by(chance: random.Random, values: list[int]) -> Wrong:
    place, age = chance.choice(PLACES), chance.choice([0, 0, 1, 3, 4, 7])
    hit = frozenset(value for value in values if chance.random() < 0.7)
    seed = chance.random()

    def raised(state: Any) -> Any:
        raise chance_of(seed)[0]

    def returned(state: Any) -> Any:
        return chance_of(seed)[1]

    def chance_of(seed: float) -> tuple[BaseException, Any]:
        # Made afresh each time and alike each time: a model of one case is a pure function of its inputs.
        own = random.Random(seed)
        return own.choice(ERRORS)(own), own.choice(VALUES)(own)

    # How often grid and tick are looked at is the host's and the slices' affair: they may not change the model.
    changes = [] if place in ("grid", "tick") else [_loses_its_tick, _moves_its_tick, _breaks_its_class]
    done = chance.choice([_recurses, _warns, _yields, *changes])
    return Wrong(place, age, hit, chance.choice([raised, raised, returned, returned, done]))


def _recurses(state: Any) -> Any:
    return _recurses(state)


def _loses_its_tick(state: Any) -> Any:
    state.counts = False
    del state.shown_tick


def _moves_its_tick(state: Any) -> Any:
    state.shown_tick += 1


def _warns(state: Any) -> Any:
    warnings.warn("as a model may", stacklevel=1)


def _breaks_its_class(state: Any) -> Any:
    state.__class__ = type("Other", (), {})


def _yields(state: Any) -> Any:
    return (number for number in range(3))


def model_of(wrongs: list[Wrong], *, counts_behind: bool) -> type:
    """Return the class of a model that goes wrong as `wrongs` say and counts its ticks in its loop or behind it."""

    def hit(state: Any, place: str, right: Any) -> Any:
        for wrong in wrongs:
            if wrong.place == place and state.age >= wrong.age and state.value in wrong.values:
                return wrong.make(state)
        return right

    class Model:
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            self.age = self.shown_tick = 0
            self.counts = True
            self.value = int(params["value"])

        def step(self, n: int = 1) -> Any:
            result = None
            for _ in range(n):
                result = hit(self, "step", result)
                self.age += 1
                if self.counts and not counts_behind:
                    self.shown_tick += 1
            if self.counts and counts_behind:
                self.shown_tick += n
            return result

        def stats(self) -> Any:
            return hit(self, "stats", {"Ticks": float(self.age)})

        def act(self, action_id: str) -> Any:
            return hit(self, "act", self.age % 2 == 0)

        def set_param(self, id: str, value: ParamValue) -> Any:
            return hit(self, "set_param", False)

    for name, right in (
        ("grid", lambda state: np.zeros((2, 4), np.uint8)),
        ("population", lambda state: 8 + state.age),
        ("tick", lambda state: state.shown_tick),
        ("heap_bytes", lambda state: 1000),
        ("parallel_jobs", lambda state: None),
    ):
        setattr(Model, name, property(lambda self, name=name, right=right: hit(self, name, right(self))))  # type: ignore[misc]
    return Model


def factory_of(wrongs: list[Wrong], model: type) -> Callable[[Mapping[str, ParamValue], int | None], Any]:
    def factory(params: Mapping[str, ParamValue], seed: int | None) -> Any:
        state = model(params, seed)
        for wrong in wrongs:
            if wrong.place == "factory" and state.value in wrong.values:
                if isinstance(params, dict):
                    params.clear()
                return wrong.make(state)
        return state

    return factory


@dataclass(frozen=True, slots=True)
class Case:
    """One study of a wrong model."""

    entry: hw.ModelEntry
    spec: hw.SweepSpec


def _drawn(chance: random.Random) -> tuple[list[int], list[Wrong]]:
    values = chance.sample(range(20), chance.randint(1, 4))
    return values, [wrong_by(chance, values) for _ in range(chance.choice([1, 1, 1, 2, 3]))]


def wrongs_of(number: int) -> list[Wrong]:
    """Return what goes wrong in case `number`."""
    return _drawn(random.Random(number))[1]


def case_of(number: int) -> Case:
    """Return the case `number`; the same each time."""
    chance = random.Random(number)
    values, wrongs = _drawn(chance)
    model = model_of(wrongs, counts_behind=chance.random() < 0.5)
    every = chance.choice([1, 2, 3, 5])
    actions = tuple(
        hw.ActionSpec(id="mark", tick=chance.randint(0, 12), name=f"mark_{place}")
        for place in range(chance.choice([0, 0, 1, 3]))
    )
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=5.0) if chance.random() < 0.2 else None
    spec = hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(
            steps=chance.choice([0, 1, 9, 12, 40]),
            warmup=chance.choice([0, 0, 2]),
            replicates=chance.choice([1, 2]),
            order=chance.choice([hw.RunOrder.DEPTH, hw.RunOrder.DEPTH, hw.RunOrder.BREADTH]),
            stop=stop,
        ),
        measure=hw.MeasureSettings(stats_every=every, series_every=chance.choice([0, None, every * 2])),
        actions=actions,
        blocks=(hw.BlockSpec(factors=(hw.FactorSpec(param="value", levels=hw.ValueLevels(values=tuple(values))),)),),
    )
    entry = entry_of(factory_of(wrongs, model), actions=("mark",))
    # Without a module of its own: to look for the files of one takes longer than all else that a case does.
    return Case(replace(entry, source_module="nowhere"), spec)


def ended(run: hw.SweepRun, chance: random.Random) -> hw.Finished | hw.Failed:
    """Pump `run` to its last event, looking at it now and then."""
    last: hw.SweepEvent | None = None
    while not run.is_ended:
        event = run.try_recv()
        if event is None:
            run.update(0.0, budget_s=chance.choice([0.0, 0.001]))
            if chance.random() < 0.3:
                run.view()
            run.progress()
        else:
            last = event
    assert isinstance(last, (hw.Finished, hw.Failed)), last
    return last


def check(number: int, folder: Path) -> str:
    """Sweep case `number`, read, verify, resume and merge it, and return how it went: ``refused`` or ``written``.

    Raises:
        AssertionError: Something does not hold.
    """
    chance, case = random.Random(number), case_of(number)
    options = hw.SweepRunOptions()
    whole = ended(hw.SweepRun.start(case.entry, case.spec, hw.MemoryOutput(), options, target=TARGET), chance)
    path = folder / "whole"
    again = ended(hw.SweepRun.start(case.entry, case.spec, hw.DirectoryOutput(path), options, target=TARGET), chance)
    if isinstance(whole, hw.Failed):
        assert whole.message.startswith("none of the "), whole.message
        assert isinstance(again, hw.Failed)
        assert not path.exists(), "nothing was written"
        return "refused"
    files = whole.record.files
    assert files is not None
    form = hw.masked(files)
    assert isinstance(again, hw.Finished), again
    assert masked_at(path) == form, "a directory holds what memory holds"
    _check_reading(case, files, path)
    _check_going_on(case, files, form, path, chance)
    _check_merging(case, form, folder, chance)
    return "written"


def masked_at(path: Path) -> dict[str, bytes]:
    return hw.masked({file.name: file.read_bytes() for file in path.iterdir() if not file.name.startswith(".")})


def _check_reading(case: Case, files: dict[str, bytes], path: Path) -> None:
    models = hw.ModelSet([case.entry])
    for results in (hw.ResultSet.from_files(files, models=models), hw.ResultSet.open(path, models=models)):
        planned = case.spec.plan(case.entry.schema()).run_count
        assert results.runs["run_id"].tolist() == list(range(planned)), "every planned run has a row"
        for run_id in range(min(planned, SERIES_RUNS)):
            results.series(run_id)
        assert len(results.summary) > 0
        with suppress(KeyboardInterrupt):  # here, on the main thread, it is taken for the user's
            report = verify_results(results, runs=planned)
            assert report.is_equal, str(report)


def _check_going_on(
    case: Case, files: dict[str, bytes], form: dict[str, bytes], path: Path, chance: random.Random
) -> None:
    rows = files["runs.csv"].splitlines(keepends=True)
    cut = b"".join(rows[: chance.randint(0, len(rows))]) + rows[-1][: chance.randint(0, 20)]
    running = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    for left in (files, {**files, "runs.csv": cut, "manifest.json": running}):
        last = ended(hw.SweepRun.resume_files(case.entry, left, target=TARGET), chance)
        assert isinstance(last, hw.Finished), last
        assert last.record.files is not None
        assert hw.masked(last.record.files) == form, "a resume leaves what the whole sweep left"
    last = ended(hw.SweepRun.resume_directory(case.entry, path, target=TARGET), chance)
    assert isinstance(last, hw.Finished), last
    assert masked_at(path) == form


def _check_merging(case: Case, form: dict[str, bytes], folder: Path, chance: random.Random) -> None:
    if case.spec.plan(case.entry.schema()).run_count < 2:
        return
    shards = [folder / f"shard-{index}" for index in range(2)]
    for index, shard in enumerate(shards):
        options = hw.SweepRunOptions(shard=hw.Shard(index, 2))
        run = hw.SweepRun.start(case.entry, case.spec, hw.DirectoryOutput(shard), options, target=TARGET)
        assert isinstance(ended(run, chance), hw.Finished)
    hw.merge(shards, folder / "merged")
    assert masked_at(folder / "merged") == form, "shards make the whole"


def main() -> int:
    """Run many cases and return 1 at the first that does not hold, its number told."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    tally = {"refused": 0, "written": 0}
    memory = Path("/dev/shm")
    for number in range(chosen.first, chosen.first + chosen.cases):
        folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        try:
            tally[check(number, folder)] += 1
        except BaseException:
            sys.stderr.write(f"case {number} does not hold\n")
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    told = ", ".join(f"{count} {how}" for how, count in tally.items())
    sys.stdout.write(f"{chosen.cases} cases from {chosen.first} on: {told}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
