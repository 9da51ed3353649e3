"""Studies with tables of their model's own, made by chance: whichever way one is done, its files are the same.

``poe fuzz-tables --cases N`` does many; the suite does a sample. A study is done whole in memory first, run by run in
this process; then with its replicates stepped together, in shards that are merged, cut anywhere and gone on with,
with fewer replicates at first, with runs of another folder, from a zip, and on lanes in processes.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

import henad_web as hw
from henad_native.unpacking import unpack_results
from henad_web.results.archive import pack
from tests.native.folders import TARGET, files_in, masked_in, record_of, resume, sweep, with_run
from tests.shared.table_models import HERD, HerdRows, UntoldRows, batched, herd_spec

__all__ = ["TableFuzzer", "study"]

Files = dict[str, bytes]


def study(chance: random.Random) -> hw.SweepSpec:
    """Return a sweep of herds, some of which fail, stop early or report nothing."""
    stats_every, steps = chance.choice([1, 1, 2, 3]), chance.randrange(1, 9)
    cadences = [None, *(stats_every * factor for factor in (1, 2, 4) if stats_every * factor <= steps)]
    column = chance.choice([None, None, "Ticks"])
    stop = column and hw.StopSpec(column=column, comparison=">=", threshold=chance.randrange(6), min_tick=2)
    spec = herd_spec(
        tuple(chance.sample(range(5), chance.randrange(1, 4))),
        tables=tuple(chance.choice([("agents",), ("edges",), ("agents", "edges"), ("edges", "agents")])),
        every=chance.choice(cadences),
        steps=steps,
        replicates=chance.randrange(1, 5),
        order=chance.choice(["depth", "breadth"]),
        warmup=chance.choice([0, 0, 2, 5]),
        stop=stop,
    )
    measure = msgspec.structs.replace(
        spec.measure, stats_every=stats_every, series_every=chance.choice([0, stats_every, 2 * stats_every])
    )
    return msgspec.structs.replace(spec, measure=measure, seeds=hw.SeedSettings(root=chance.randrange(2**32)))


@dataclass(kw_only=True)
class TableFuzzer:
    """Cases that follow from `seed`.

    Attributes:
        base: Folder to work in.
        lanes_every: Every so many cases are also done on lanes in processes, whose start takes long.
    """

    base: Path
    seed: int
    lanes_every: int = 10

    def run(self, cases: int) -> None:
        """Do `cases` studies.

        Raises:
            AssertionError: One has other files on a way; the message says which.
        """
        for case in range(cases):
            self._case(case)

    def _case(self, case: int) -> None:
        chance = random.Random(f"{self.seed} {case}")
        spec, folder = study(chance), self.base / "case"
        expected = hw.masked(record_of(hw.SweepRun.start(HERD, spec, target=TARGET)).files or {})
        ways: dict[str, Callable[[], Files]] = {
            "whole": lambda: self._whole(folder / "whole", spec),
            "batched": lambda: self._batched(spec, chance.choice([HerdRows, UntoldRows])),
            "merged": lambda: self._merged(folder, spec, chance.randrange(2, 5)),
            "cut": lambda: self._cut(folder, spec, chance),
            "more replicates": lambda: self._raised(folder / "raised", spec, chance),
            "reused": lambda: self._reused(folder, spec, chance),
        }
        if case % self.lanes_every == 0:
            ways["lanes"] = lambda: self._on_lanes(spec, chance.randrange(1, 4))
        way = "in memory"
        try:
            for way in ways:
                found = ways[way]()
                others = [name for name in {**expected, **found} if found.get(name) != expected.get(name)]
                assert not others, f"other {', '.join(others)}"
        except Exception as error:
            raise AssertionError(f"seed {self.seed}, case {case}, {way}: {error}\n{hw.spec_to_toml(spec)}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _whole(self, folder: Path, spec: hw.SweepSpec) -> Files:
        sweep(HERD, spec, folder)
        results = hw.ResultSet.open(folder, models=HERD)
        report = hw.verify_results(results, runs=len(results.runs))
        assert report.is_equal, str(report)
        for id in results.table_ids:
            table = results.table(id)
            one_by_one = {run_id: len(table.run(run_id)) for run_id in results.runs["run_id"].tolist()}
            together = {run_id: len(rows) for run_id, rows in table.runs()}
            assert len(table) == sum(together.values()), "other numbers of rows"
            assert together == {run_id: rows for run_id, rows in one_by_one.items() if rows}, "other rows of runs"
        return masked_in(folder)

    def _batched(self, spec: hw.SweepSpec, rows: type[HerdRows]) -> Files:
        return hw.masked(record_of(hw.SweepRun.start(batched(rows), spec, target=TARGET)).files or {})

    def _merged(self, folder: Path, spec: hw.SweepSpec, count: int) -> Files:
        shards = [folder / f"shard-{index}" for index in range(count)]
        for index, shard in enumerate(shards):
            sweep(HERD, spec, shard, shard=hw.Shard(index, count))
        hw.merge(shards, folder / "merged")
        return masked_in(folder / "merged")

    def _cut(self, folder: Path, spec: hw.SweepSpec, chance: random.Random) -> Files:
        """Cut some of the files anywhere, or delete them, and go on, from a zip at times."""
        files = {name: content for name, content in files_in(folder / "whole").items() if name != ".lock"}
        if chance.random() < 0.7:
            files["manifest.json"] = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
        tables = [name for name in files if name.endswith(".csv") and name != "summary.csv"]
        for name in chance.sample(tables, chance.randrange(1, len(tables) + 1)):
            size = chance.randrange(len(files[name]) + 1)
            files[name] = files[name][:size]
            if chance.random() < 0.05:
                del files[name]
        if chance.random() < 0.5 and "runs.csv" in files:
            (folder / "cut.zip").write_bytes(pack(files))
            unpack_results(folder / "cut.zip")
        else:
            for name, content in files.items():
                (folder / "cut" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "cut" / name).write_bytes(content)
        record_of(resume(HERD, folder / "cut"))
        return masked_in(folder / "cut")

    def _raised(self, folder: Path, spec: hw.SweepSpec, chance: random.Random) -> Files:
        sweep(HERD, with_run(spec, replicates=chance.randrange(1, spec.run.most_replicates + 1)), folder)
        record_of(resume(HERD, folder, spec))
        return masked_in(folder)

    def _reused(self, folder: Path, spec: hw.SweepSpec, chance: random.Random) -> Files:
        (block,) = spec.blocks
        values = hw.ValueLevels(values=tuple(chance.sample(range(5), 3)))
        (factor,) = block.factors
        factor = msgspec.structs.replace(factor, levels=values)
        other = msgspec.structs.replace(spec, blocks=(msgspec.structs.replace(block, factors=(factor,)),))
        sweep(HERD, other, folder / "other")
        sweep(HERD, spec, folder / "reusing", reuse=folder / "other")
        return masked_in(folder / "reusing")

    def _on_lanes(self, spec: hw.SweepSpec, lanes: int) -> Files:
        options = hw.SweepRunOptions(lanes="process", concurrency=lanes)
        return hw.masked(hw.run_spec(HERD, spec, options=options).files or {})


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        TableFuzzer(base=Path(base), seed=asked.seed).run(asked.cases)
    print(f"seed {asked.seed}: {asked.cases} studies, equal files on every way")  # noqa: T201 - the command's answer


if __name__ == "__main__":
    main()
