"""Takes a seeded sample of mutants and tells which of them no test notices.

    poe mutate --sample 200 --seed 1 henad_web/run henad_web/sweep.py

Everything happens in copies below ``build/mutation``; the working tree is only read. A mutant is run against the tests
that execute its line, the quickest first, until one fails. Results are kept by the text of their module: a run that was
stopped goes on where it was, one after a change repeats what the change concerns.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import coverage

# Whatever is loaded here is loaded once for all: each mutant is a fork. The package itself must not be.
import hypothesis  # noqa: F401
import msgspec  # noqa: F401
import numpy
import pytest

from tests.mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutation"
USUAL = (
    *("henad_web/run", "henad_web/output", "henad_web/resume", "henad_web/explore"),
    *("henad_web/sweep.py", "henad_web/handle.py"),
)
TESTS = ("tests/shared", "tests/native")
LEFT_OUT = (
    *("test_kill", "test_signal_storm", "test_damaged_folders", "test_wrong_models", "test_resume_folders"),
    *("test_full_disk", "test_memory", "test_site_", "test_pyodide_host", "test_benchmarks"),
    *("test_docs", "test_laws", "test_cli_serve", "test_cli_streams"),
)
"""Tests that tell no mutant in reasonable time: storms and fuzzers, pages and processes, readers of the source."""

BUDGET_S = 20.0
"""Seconds of tests, as measured without a mutant, that one mutant may take; the quickest are taken."""

CLOSE_TESTS = 30
"""Tests that are tried first, those that execute the fewest lines: they are in few files, and mostly find it."""

MAX_BYTES = 4 << 30
"""Memory of one mutant: a loop that never ends may also never stop to grow."""


def copy_to(folder: Path) -> None:
    """Make `folder` a copy of what git knows of the working tree, and of what it does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    shutil.rmtree(folder, ignore_errors=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def enter(folder: Path) -> None:
    """Make this process, a fork, one that sees the copy in `folder` and nothing of the working tree."""
    os.setsid()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, MAX_BYTES))
    paths = [str(folder), str(folder / "native")]
    sys.path[:] = [*paths, *(path for path in sys.path if path not in ("", str(ROOT), str(ROOT / "native")))]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "henad_web", "henad_native")]:
        del sys.modules[name]


def silence() -> None:
    """Send what this process says nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def pytest_arguments(names: Sequence[str]) -> list[str]:
    quiet = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "-p", "no:timeout"]
    # hypothesis is loaded before pytest could rewrite it, which is as well.
    return [*quiet, "--host=cpython", "-W", "ignore::pytest.PytestAssertRewriteWarning", *names]


@dataclass(frozen=True, slots=True)
class TestMap:
    """Which tests there are, how long each takes, and which lines each executes.

    Attributes:
        seconds: Of each test that passes on the copy.
        lines: Of each module and line of it, the tests that execute it: a bit each, in the order of `seconds`.
    """

    __test__ = False  # not a class of tests, whatever its name

    seconds: dict[str, float]
    lines: dict[str, dict[int, int]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests to run against `mutant`, quickest first: of its line, its statement, or its module."""
        lines = self.lines.get(mutant.path, {})
        first, last = mutant.lines
        for numbers in ([mutant.line], range(first, last + 1), lines):
            bits = 0
            for number in numbers:
                bits |= lines.get(number, 0)
            if bits:
                found = [test for place, test in enumerate(self.seconds) if bits >> place & 1]
                return sorted(found, key=lambda test: (self.seconds[test], test))
        return []

    def sizes(self) -> dict[str, int]:
        """Return how many lines each test executes: the fewer, the more of them it is about."""
        counts = numpy.zeros(len(self.seconds), numpy.int64)
        width = len(self.seconds) + 7 >> 3
        for lines in self.lines.values():
            for bits in lines.values():
                flags = numpy.frombuffer(bits.to_bytes(width, "little"), numpy.uint8)
                counts += numpy.unpackbits(flags, bitorder="little")[: len(counts)]
        return dict(zip(self.seconds, counts.tolist(), strict=True))


class _Recorder:
    """A plugin of pytest that tells coverage which test runs, and notes how each went."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._cover = cover

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._cover.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._cover.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


def recorded(folder: Path, target: Path) -> None:
    """Run every test in the copy in `folder` once and write the map of them to `target`; this process is a fork."""
    enter(folder)
    names = [
        str(path)
        for place in TESTS
        for path in sorted(Path(place).glob("test_*.py"))
        if not path.name.startswith(LEFT_OUT)
    ]
    cover = coverage.Coverage(data_file=None, config_file=False, source=[str(folder / "henad_web")])
    recorder = _Recorder(cover)
    cover.start()
    pytest.main([argument for argument in pytest_arguments(names) if argument != "-x"], plugins=[recorder])
    cover.stop()
    data = cover.get_data()
    seconds = {test: spent for test, spent in recorder.seconds.items() if test not in recorder.failed}
    place_of = {test: place for place, test in enumerate(seconds)}
    lines: dict[str, dict[int, str]] = {}
    for path in data.measured_files():
        found = lines[Path(path).relative_to(folder).as_posix()] = {}
        for line, tests in data.contexts_by_lineno(path).items():
            found[line] = hex(sum(1 << place_of[test] for test in tests if test in place_of))
    target.write_text(json.dumps({"seconds": seconds, "lines": lines}))


def digest_of(folder: Path) -> str:
    """Return what tells the modules of the copy in `folder` from others."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def map_of(folder: Path) -> TestMap:
    """Return the map of the tests of the copy in `folder`, made anew when any file has changed."""
    target = PLACE / f"map-{digest_of(folder)}.json"
    if not target.exists():
        for old in PLACE.glob("map-*.json"):
            old.unlink()
        say("running every test once, to see which lines each executes ...")
        pid = os.fork()
        if pid == 0:
            recorded(folder, target)
            os._exit(0)
        os.waitpid(pid, 0)
    loaded = json.loads(target.read_text())
    lines = {
        path: {int(line): int(bits, 16) for line, bits in found.items()} for path, found in loaded["lines"].items()
    }
    if not loaded["seconds"]:
        target.unlink()
        raise SystemExit("no test passes without a mutant, so none could tell one: run pytest to see what is wrong")
    return TestMap(loaded["seconds"], lines)


class _Chosen:
    """A plugin of pytest that runs the given tests alone, in the given order, and notes the first that failed."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._rank = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank), key=lambda item: self._rank[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


@dataclass(slots=True)
class Worker:
    """One copy, and the fork that runs tests in it."""

    folder: Path
    limit_s: float = 0.0
    started: float = 0.0
    left_out: int = 0
    pid: int = 0
    answer: int = -1
    mutant: Mutant | None = None
    original: bytes = b""

    def begin(self, mutant: Mutant, stages: Sequence[Sequence[str]], limit_s: float) -> None:
        """Put `mutant` into the copy and start the tests of `stages`, one after the other until one fails."""
        self.mutant, self.original = mutant, (self.folder / mutant.path).read_bytes()
        self._write(mutant.applied(self.original))
        self.started, self.limit_s = time.monotonic(), limit_s
        self.answer, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._test(stages, told)
        os.close(told)

    def _test(self, stages: Sequence[Sequence[str]], told: int) -> None:
        try:
            enter(self.folder)
            silence()
            code, chosen = 0, _Chosen(())
            for part in filter(None, stages):
                chosen = _Chosen(part)
                files = sorted({test.split("::")[0] for test in part})
                code = int(pytest.main(pytest_arguments(files), plugins=[chosen]))
                if code:
                    break
            os.write(told, json.dumps({"code": code, "test": chosen.failed}).encode())
        finally:
            os._exit(0)

    def ended(self) -> dict[str, Any] | None:
        """Return the result once there is one, the copy being as it was; None while the tests go on."""
        mutant, seconds = self.mutant, time.monotonic() - self.started
        if mutant is None:
            return None
        pid, _ = os.waitpid(self.pid, os.WNOHANG)
        is_late = seconds > self.limit_s
        if not pid and not is_late:
            return None
        self._clear(is_gone=bool(pid))
        text = b"" if is_late and not pid else os.read(self.answer, 1 << 16)
        os.close(self.answer)
        self._write(self.original)
        self.mutant = None
        told = json.loads(text) if text else {"code": -1, "test": "the time" if is_late else "the process died"}
        status = "survived" if told["code"] == 0 else "killed"
        by = told["test"] or ("an import" if told["code"] else "nothing")
        found = {"mutant": str(mutant), "status": status, "by": by, "seconds": round(seconds, 2)}
        return found | ({"left_out": self.left_out} if self.left_out and status == "survived" else {})

    def _clear(self, *, is_gone: bool) -> None:
        """End what the fork has left running: it leads a group of its own."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if not is_gone:
            os.waitpid(self.pid, 0)

    def _write(self, source: bytes) -> None:
        assert self.mutant is not None
        path = self.folder / self.mutant.path
        path.write_bytes(source)
        # A cached module is known by size and second alone, which two mutants may share.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)


def say(text: str) -> None:
    print(text, flush=True)


def sampled(paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return a sample of the mutants of the modules at `paths`, files or folders; the same for the same text."""
    files = [
        path for name in paths for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
    ]
    names = sorted({path.relative_to(ROOT).as_posix() for path in files})
    every = [mutant for name in names for mutant in mutants_of(name, (ROOT / name).read_bytes())]
    say(f"{len(every)} mutants of {len(names)} modules")
    return random.Random(seed).sample(every, min(count, len(every))) if count else every


def wait_for_one(workers: Sequence[Worker]) -> None:
    """Return once a fork has answered or died, or the first of them is out of time."""
    busy = [worker for worker in workers if worker.mutant is not None]
    if busy:
        first_late = min(worker.started + worker.limit_s for worker in busy)
        select.select([worker.answer for worker in busy], [], [], max(first_late - time.monotonic(), 0.0))


def run_all(
    mutants: Sequence[Mutant], choice: Choice, workers: Sequence[Worker], results: Path
) -> dict[str, dict[str, Any]]:
    """Run every mutant that `results` does not hold yet, write each result there, and return those of `mutants`."""
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    wanted = {keyed(mutant): mutant for mutant in mutants}
    done = {
        result["key"]: result
        for result in known
        if result["key"] in wanted and not (result.get("left_out") and choice.budget_s > result["budget"])
    }
    todo = [(key, mutant) for key, mutant in wanted.items() if key not in done]
    running: dict[int, str] = {}
    with results.open("a", encoding="utf-8") as report:
        while todo or running:
            for place, worker in enumerate(workers):
                result = worker.ended()
                if result is not None:
                    key = running.pop(place)
                    done[key] = {"key": key, "budget": choice.budget_s, **result}
                    report.write(json.dumps(done[key]) + "\n")
                    report.flush()
                    if result["status"] != "killed":
                        say(f"{len(done)}/{len(wanted)} survived: {told(result)}")
                if worker.mutant is None and todo:
                    running[place], mutant = todo.pop(0)
                    stages, seconds, worker.left_out = choice.stages(mutant)
                    worker.begin(mutant, stages, 10.0 + 5.0 * seconds)
            wait_for_one(workers)
    return done


@dataclass(frozen=True, slots=True)
class Choice:
    """Chooses the tests of a mutant.

    Attributes:
        tests: The map of tests.
        sizes: Lines that each executes.
        budget_s: Seconds of tests a mutant.
    """

    tests: TestMap
    sizes: dict[str, int]
    budget_s: float

    def stages(self, mutant: Mutant) -> tuple[tuple[list[str], list[str]], float, int]:
        """Return the tests that are most of all about `mutant`, then the quickest others; what they take; the rest."""
        found = self.tests.tests_of(mutant)
        close = sorted(found, key=lambda test: self.sizes[test])[:CLOSE_TESTS]
        others, total = [], sum(self.tests.seconds[test] for test in close)
        for test in found:
            if test not in close and total + self.tests.seconds[test] <= self.budget_s:
                others.append(test)
                total += self.tests.seconds[test]
        return (close, others), total, len(found) - len(close) - len(others)


def told(result: dict[str, Any]) -> str:
    """Return a survivor in words: its mutant, and how many tests of its line there was no time for."""
    left_out = result.get("left_out", 0)
    return f"{result['mutant']}{f' ({left_out} tests left out)' if left_out else ''}"


def keyed(mutant: Mutant) -> str:
    """Return what a result is known by: the mutant and the text of its module."""
    return f"{hashlib.sha256((ROOT / mutant.path).read_bytes()).hexdigest()[:12]} {mutant}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="poe mutate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", default=USUAL, help=f"modules or folders ({' '.join(USUAL)})")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants, 0 for all (200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (1)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (2)")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help=f"seconds of tests a mutant ({BUDGET_S:g})")
    options = parser.parse_args()
    mutants = sampled(options.paths, options.sample, options.seed)
    workers = [Worker(PLACE / f"copy-{number}") for number in range(max(1, options.jobs))]
    for worker in workers:
        copy_to(worker.folder)
    tests = map_of(workers[0].folder)
    choice = Choice(tests, tests.sizes(), options.budget)
    results = run_all(mutants, choice, workers, PLACE / "results.jsonl")
    survivors = [told(result) for result in results.values() if result["status"] == "survived"]
    killed = len(results) - len(survivors)
    lines = [
        f"{killed} of {len(results)} mutants killed: {100 * killed / max(1, len(results)):.1f} %",
        *sorted(survivors),
    ]
    (PLACE / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    say("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
