"""Searches made by chance: whichever way one is done, and wherever it is cut, its files are the same.

``poe fuzz-searches --cases N`` does many; the suite does a sample. A search is done whole in memory first, in this
thread; then run by run, in a folder, on lanes in threads and processes, paused and aborted anywhere, cut at any byte
and gone on with, in memory, in folders and from zips. What a resume refuses leaves its folder as it is.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import henad_web as hw
from henad_native.unpacking import unpack_results
from henad_web.explore.search_spec import DISTRIBUTION_INDICES
from henad_web.explore.spec import LevelSpec
from henad_web.results.archive import pack
from tests.native.folders import TARGET, files_in, hash_of, record_of, resume, sweep
from tests.native.rough_models import ROUGH

__all__ = ["ALGORITHMS", "SearchFuzzer"]

ALGORITHMS = tuple(each for each in hw.SearchAlgorithm if each is not hw.SearchAlgorithm.CUSTOM)
"""Those of the package; one of a program's own needs the program."""

Files = dict[str, bytes]
COLUMNS = ("Height:max", "Depth:final", "Height:mean")
SWEPT = ("runs.csv", "series.csv", "summary.csv", "manifest.json")


def _study(chance: random.Random) -> hw.SweepSpec:
    """Return a search of `ROUGH`."""
    algorithm = chance.choice(ALGORITHMS)
    steps, stats_every = chance.randrange(1, 5), chance.choice([1, 1, 2])
    stop = hw.StopSpec(column="Height", comparison=">=", threshold=chance.choice([0.5, -10.0]), min_tick=1)
    tables = ("crowd",) if chance.random() < 0.3 else ()
    budget = chance.choice([1, 2, 5, 17, 30, 30, 60])
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(
            steps=steps,
            replicates=chance.randrange(1, 4),
            warmup=chance.choice([0, 0, 2]),
            stop=stop if chance.random() < 0.3 else None,
        ),
        measure=hw.MeasureSettings(
            stats_every=stats_every,
            series_every=chance.choice([0, stats_every, 2 * stats_every]),
            default_reducers=False,
            reducers=tuple(hw.ReducerSpec(column=name, kind=kind) for name, kind in (c.split(":") for c in COLUMNS)),
            tables=tables,
            tables_every=chance.choice([None, stats_every]) if tables and stats_every <= steps else None,
        ),
        seeds=hw.SeedSettings(
            root=chance.choice([0, 2**64 - 1, chance.randrange(2**64)]), scheme=chance.choice(list(hw.SeedScheme))
        ),
        actions=(hw.ActionSpec(id="mark", tick=chance.randrange(4)),),
        search=hw.SearchSpec(
            algorithm=algorithm,
            max_evaluations=budget,
            batch_size=chance.choice([1, 2, 3, 5, 8, 20, 100]),
            space=_space(chance, is_listed=algorithm is not hw.SearchAlgorithm.CMA_ES),
            **_purpose(chance, algorithm),
            **_settings(chance, algorithm),
        ),
    )


def _space(chance: random.Random, *, is_listed: bool) -> tuple[hw.FactorSpec, ...]:
    """Return up to three factors, at times of one config in all."""
    low = chance.randrange(40)
    ranges: list[tuple[str, LevelSpec]] = [
        ("value", hw.RangeLevels(min=low, max=low + chance.choice([1, 3, 40]))),
        ("share", hw.RangeLevels(min=0.25, max=chance.choice([0.26, 0.9]))),
        ("fine", hw.RangeLevels(min=-1.5, max=chance.choice([-1.4999999999999998, 4.0]))),
    ]
    listed: list[tuple[str, LevelSpec]] = [
        ("value", hw.ValueLevels(values=tuple(chance.sample(range(60), chance.randrange(1, 5))))),
        ("value", hw.RangeLevels(min=low, max=low + 30, step=chance.choice([3, 7, 30]))),
        ("share", hw.RangeLevels(min=0.0, max=1.0, step=0.25)),
        ("mode", hw.AllLevels()),
        ("flag", hw.ValueLevels(values=chance.choice([(True,), (False, True)]))),
        ("fine", hw.ValueLevels(values=(0.1, 0.30000000000000004))),
    ]
    chosen = chance.sample(ranges + (listed if is_listed else []), chance.randrange(1, 4))
    space = [hw.FactorSpec(param=name, levels=levels) for name, levels in dict(chosen).items()]
    if chance.random() < 0.4:
        ticks: list[LevelSpec] = [hw.RangeLevels(min=0, max=4)]
        if is_listed:
            ticks.append(hw.ValueLevels(values=(0, 9)))
        space.append(hw.FactorSpec(action="mark", levels=chance.choice(ticks)))
    return tuple(space)


def _purpose(chance: random.Random, algorithm: hw.SearchAlgorithm) -> dict[str, Any]:
    if algorithm is hw.SearchAlgorithm.PSE:
        return {}
    count = chance.randrange(2, 4) if algorithm is hw.SearchAlgorithm.NSGA2 else 1
    objectives = tuple(
        hw.ObjectiveSpec(column=column, goal=chance.choice(list(hw.Goal)), aggregate=chance.choice(list(hw.Aggregate)))
        for column in chance.sample(COLUMNS, count)
    )
    return {"objective": objectives[0]} if count == 1 else {"objectives": objectives}


def _settings(chance: random.Random, algorithm: hw.SearchAlgorithm) -> dict[str, Any]:
    population, scale = chance.choice([2, 3, 8]), chance.choice([1e-9, 0.1, 50.0])
    match algorithm:
        case hw.SearchAlgorithm.HILL_CLIMB:
            settings: Any = hw.HillClimbSettings(
                mutation_scale=scale, patience=chance.choice([1, 2, 5]), reevaluate=chance.random() < 0.5
            )
        case hw.SearchAlgorithm.GENETIC:
            population = chance.choice([1, population])
            settings = hw.GeneticSettings(
                population=population,
                elite_count=chance.randrange(population),
                tournament_size=chance.choice([1, 3]),
                crossover_rate=chance.choice([0.0, 0.5, 1.0]),
                mutation_rate=chance.choice([0.0, 0.02, 1.0]),
                mutation_scale=scale,
                reevaluate_fraction=chance.choice([0.0, 0.25, 1.0]),
            )
        case hw.SearchAlgorithm.NSGA2:
            settings = hw.Nsga2Settings(
                population=population,
                crossover_rate=chance.choice([0.0, 0.5, 1.0]),
                crossover_index=chance.choice(DISTRIBUTION_INDICES),
                mutation_rate=chance.choice([None, 0.0, 1.0]),
                mutation_index=chance.choice(DISTRIBUTION_INDICES),
            )
        case hw.SearchAlgorithm.CMA_ES:
            settings = hw.CmaEsSettings(population=chance.choice([None, 4, 9]), sigma=chance.choice([1e-12, 0.3, 1.0]))
        case hw.SearchAlgorithm.PSE:
            ends: list[dict[str, float]] = [{}, {"min": -5.0, "max": 30.0}, {"min": -1e308, "max": 1e308}]
            x_axis, y_axis = (
                hw.AxisSpec(column=column, cells=chance.choice([1, 4, 1000]), **chance.choice(ends))
                for column in chance.choices(COLUMNS, k=2)
            )
            settings = hw.PseSettings(
                x_axis=x_axis,
                y_axis=y_axis,
                initial_samples=chance.choice([1, 4, 50]),
                mutation_scale=scale,
                aggregate=chance.choice(list(hw.Aggregate)),
            )
        case _:
            return {}
    return {algorithm.value: settings}


def _changed(spec: hw.SweepSpec, chance: random.Random) -> hw.SweepSpec:
    """Return `spec` with something else than its timeout changed."""
    search = spec.search
    assert search is not None
    replicates = spec.run.replicates
    assert isinstance(replicates, int)
    changes: list[tuple[str, Any]] = [
        ("run", msgspec.structs.replace(spec.run, replicates=replicates + 1)),
        ("run", msgspec.structs.replace(spec.run, steps=spec.run.steps + 1)),
        ("seeds", msgspec.structs.replace(spec.seeds, root=spec.seeds.root ^ 1)),
        ("search", msgspec.structs.replace(search, max_evaluations=search.max_evaluations + 1)),
        ("search", msgspec.structs.replace(search, batch_size=search.batch_size + 1)),
        ("search", None),
    ]
    name, value = chance.choice(changes)
    return msgspec.structs.replace(spec, **{name: value})


@dataclass(kw_only=True)
class SearchFuzzer:
    """Cases that follow from `seed`.

    Attributes:
        base: Folder to work in.
        processes_every: Every so many cases are also done on lanes in processes, whose start takes long.
    """

    base: Path
    seed: int
    processes_every: int = 20

    def run(self, cases: int, first: int = 0) -> None:
        """Do `cases` searches, from the one with the number `first`.

        Raises:
            AssertionError: One has other files on a way; the message says which.
        """
        for case in range(first, first + cases):
            self._case(case)

    def study(self, case: int) -> hw.SweepSpec:
        """Return the search of the case with the number `case`."""
        return _study(random.Random(f"{self.seed} {case}"))

    def _case(self, case: int) -> None:
        chance = random.Random(f"{self.seed} {case} ways")
        spec, folder = self.study(case), self.base / "case"
        way = "in memory"
        try:
            expected = hw.masked(record_of(hw.SweepRun.start(ROUGH, spec, target=TARGET)).files or {})
            ways: dict[str, Callable[[], Mapping[str, bytes]]] = {
                "run by run": lambda: _in_memory(spec, batches=False),
                "whole": lambda: self._whole(folder / "whole", spec),
                "read again": lambda: _read_again(spec),
                "interrupted": lambda: _interrupted(spec, chance),
                "cut": lambda: self._cut(folder, chance),
                "cut twice": lambda: self._cut(folder, chance),
                "threads": lambda: _on_lanes(spec, "thread", chance.randrange(2, 6)),
                "refused": lambda: self._refused(folder / "whole", spec, chance),
            }
            if case % self.processes_every == self.processes_every - 1:
                ways["processes"] = lambda: _on_lanes(spec, "process", chance.randrange(1, 4))
            for way in ways:
                found = ways[way]()
                others = [name for name in {**expected, **found} if found.get(name) != expected.get(name)]
                assert not others, f"other {', '.join(others)}"
        except Exception as error:
            text = hw.spec_to_toml(spec)
            raise AssertionError(f"seed {self.seed}, case {case}, {way}: {error!r}\n{text}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _whole(self, folder: Path, spec: hw.SweepSpec) -> Files:
        sweep(ROUGH, spec, folder)
        return hw.masked(files_in(folder))

    def _cut(self, folder: Path, chance: random.Random) -> Files:
        """Cut some of the files anywhere, or delete them, and go on, from a zip at times."""
        files = {name: content for name, content in files_in(folder / "whole").items() if name != ".lock"}
        if chance.random() < 0.7:
            files["manifest.json"] = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
        tables = [name for name in files if name.endswith(".csv")]
        for name in chance.sample(tables, chance.randrange(1, len(tables) + 1)):
            files[name] = files[name][: chance.randrange(len(files[name]) + 1)]
            if chance.random() < 0.1 and name != "runs.csv":
                del files[name]
        cut = folder / "cut"
        shutil.rmtree(cut, ignore_errors=True)
        place = chance.choice(["memory", "zip", "folder"]) if "runs.csv" in files else "folder"
        if place == "memory":
            return hw.masked(record_of(hw.SweepRun.resume_files(ROUGH, files, target=TARGET)).files or {})
        if place == "zip":
            cut.with_suffix(".zip").write_bytes(pack(files))
            unpack_results(cut.with_suffix(".zip"))
        else:
            for name, content in files.items():
                (cut / name).parent.mkdir(parents=True, exist_ok=True)
                (cut / name).write_bytes(content)
        if chance.random() < 0.5:
            with resume(ROUGH, cut) as run:  # left where it is, without a word
                _pump(run, chance.randrange(200))
        record_of(resume(ROUGH, cut))
        return hw.masked(files_in(cut))

    def _refused(self, folder: Path, spec: hw.SweepSpec, chance: random.Random) -> Files:
        """Ask for another search, and for what no search has; return what is there behind the refusal."""
        before = hash_of(folder)
        asked: list[tuple[hw.SweepSpec | None, dict[str, Any]]] = [
            (_changed(spec, chance), {}),
            (None, {"shard": hw.Shard(0, 2)}),
            (None, {"retry_failed": True}),
        ]
        for other, options in asked:
            try:
                resume(ROUGH, folder, other, **options).close()
            except hw.HenadError:
                continue
            raise AssertionError(f"not refused: {options or hw.spec_to_toml(other or spec)}")
        assert hash_of(folder) == before, "a refusal changed the folder"
        return hw.masked(files_in(folder))


def _in_memory(spec: hw.SweepSpec, **options: Any) -> Files:
    chosen = hw.SweepRunOptions(**options)
    return hw.masked(record_of(hw.SweepRun.start(ROUGH, spec, options=chosen, target=TARGET)).files or {})


def _read_again(spec: hw.SweepSpec) -> Files:
    """Do the spec that the text of `spec` is read as."""
    return _in_memory(hw.parse_spec(hw.spec_to_toml(spec)).spec)


def _pump(run: hw.SweepRun, pumps: int) -> None:
    for _ in range(pumps):
        if run.is_ended:
            return
        run.update(0.0, budget_s=0.0)
        run.try_recv()


def _interrupted(spec: hw.SweepSpec, chance: random.Random) -> Files:
    """Pause, go on and abort at any pump, again and again, each time going on with the record; then to the end."""
    run = hw.SweepRun.start(ROUGH, spec, target=TARGET)
    for _ in range(chance.randrange(1, 4)):
        _pump(run, chance.randrange(150))
        run.pause()
        _pump(run, chance.randrange(60))
        if chance.random() < 0.5:
            run.resume()
            _pump(run, chance.randrange(60))
        if run.is_ended:
            return _in_memory(spec)
        run.abort()
        files = record_of(run).files
        assert files is not None
        run = hw.SweepRun.resume_files(ROUGH, files, target=TARGET)
    return hw.masked(record_of(run).files or {})


def _on_lanes(spec: hw.SweepSpec, lanes: str, count: int) -> Files:
    return hw.masked(hw.run_spec(ROUGH, spec, options=hw.SweepRunOptions(lanes=lanes, concurrency=count)).files or {})


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        SearchFuzzer(base=Path(base), seed=asked.seed).run(asked.cases, asked.first)
    print(f"seed {asked.seed}: {asked.cases} searches, equal files on every way")  # noqa: T201 - the command's answer


if __name__ == "__main__":
    main()
