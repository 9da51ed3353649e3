"""How long answers take: of 100,000 runs, and of 10 million samples that were read once.

Run with ``poe bench-analysis``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

import henad_web as hw
from henad_web.analysis.pieces import Analysis, Pieces

CONFIGS, SAMPLES, REPEATS = 1000, 100, 5

Question = Callable[[hw.ResultSet], Pieces[object]]

QUESTIONS: dict[str, Question] = {
    "response, 1,000 levels": lambda of: of.response.pieces("level:max", "rate"),
    "response, 20 parts": lambda of: of.response.pieces("level:max", "rate", bins=20),
    "response of medians, by another factor": lambda of: of.response.pieces(
        "level:max", "rate", by="size", center="median"
    ),
    "response, bootstrap": lambda of: of.response.pieces("level:max", "rate", bins=20, interval="bootstrap"),
    "heatmap, 20 x 20": lambda of: of.heatmap.pieces("level:max", "rate", "size", bins=20),
    "summary of three reducers, by config": lambda of: of.summarize.pieces(),
    "summary, all runs together": lambda of: of.summarize.pieces("level:max", by=()),
    "comparison of halves": lambda of: of.compare.pieces("level:max", {"half": False}, {"half": True}),
    "series at a tick": lambda of: of.response.pieces("level", "rate", at=SAMPLES // 2),
    "band": lambda of: of.bands.pieces("level"),
    "bands, 10 groups": lambda of: of.bands.pieces("level", by="size"),
    "bands of medians, 10 groups": lambda of: of.bands.pieces("level", by="size", center="median"),
}


class Walk(hw.Model):
    """A number that goes up and down."""

    rate = hw.f64(0.5, min=0.0, max=1.0)
    size = hw.u32(1, min=0, max=9)
    half = hw.boolean(False)

    def setup(self) -> None:
        """Start at `size`."""
        self.population = 1
        self.at = float(self.size)
        self._draws = iter(self.rng.random(SAMPLES).tolist())

    def step_once(self) -> None:
        """Go up with the probability `rate`, down otherwise."""
        self.at += 1.0 if next(self._draws) < self.rate else -1.0

    @hw.stat
    def level(self) -> float:
        """Where it is."""
        return self.at


def study(runs: int) -> hw.SweepSpec:
    """Return a study of `runs` runs with `SAMPLES` samples each."""
    configs = min(CONFIGS, runs)
    return hw.parse_spec(
        f"""
        model = "walk"
        run = {{ steps = {SAMPLES - 1}, replicates = {runs // configs} }}
        measure = {{ stats_every = 1, series_every = 1, default_reducers = false, reducers = [
            {{ column = "level", kinds = ["max", "mean", "final"] }}
        ] }}
        [[block]]
        design = "lhs"
        samples = {configs}
        factors = [
            {{ param = "rate", range = {{ min = 0.0, max = 1.0 }} }},
            {{ param = "size", range = {{ min = 0, max = 9 }} }},
            {{ param = "half", levels = "all" }},
        ]
        """
    ).spec


def figures(results: hw.ResultSet, repeats: int = REPEATS) -> Iterator[tuple[str, float, float, int]]:
    """Yield each question with the median of its processor time, its longest piece in milliseconds, and its pieces."""
    for name, question in QUESTIONS.items():
        seconds, longest, pieces = [], [], 0
        for _ in range(repeats + 1):
            analysis, times, is_answered = Analysis(question(results)), [], False
            while not is_answered:
                started = time.process_time()
                is_answered = analysis.advance()
                times.append(time.process_time() - started)
            seconds.append(sum(times))
            longest.append(max(times))
            pieces = len(times)
        yield name, statistics.median(seconds[1:]), 1000 * statistics.median(longest[1:]), pieces


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    runs = parser.parse_args().runs
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        hw.run_spec(Walk, study(runs), output=hw.DirectoryOutput(f"{folder}/study"))
        print(f"{runs:,} runs of {SAMPLES} samples made in {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        results = hw.ResultSet.open(f"{folder}/study", models=Walk)
        print(f"runs read in {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        results.bands("level")
        print(f"samples read and a first band made in {time.perf_counter() - started:.1f} s")
        for name, seconds, longest, pieces in figures(results):
            print(f"{name:40} {seconds:7.3f} s  {pieces:6} pieces, the longest {longest:6.1f} ms")
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most")


if __name__ == "__main__":
    main()
