"""Finished folders with bytes flipped, cut, doubled and rewritten, then read, gone on with, merged and checked.

Whatever is wrong with a folder, what the package raises is a `HenadError`: anything else, and any warning, is a
finding. Every case follows from its seed and its number, so that a finding can be done again: ``poe fuzz-folders
--first N --cases 1``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import henad_web as hw
from henad_native.unpacking import unpack_results
from henad_web.results.archive import pack
from henad_web.results.verifying import Verification
from henad_web.targets import PumpedTarget
from tests.native.folders import SIR, SMALL_SIR, StillTarget, sweep, with_run
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.reference_folder import reference_files
from tests.shared.table_forms import FORMS, ODD_ENTRY, TABLES, odd_spec
from tests.shared.toy_models import Inverse, entry_of

__all__ = ["Finding", "Fuzzer", "main"]

MOST_SECONDS = 20
"""Seconds after which a case is taken for one that never ends."""

MOST_SLICES = 200
"""Slices of a verification: a damaged spec may ask for any number of steps."""

WIDE_ENTRY = entry_of(
    Inverse,
    params=(
        hw.f64("rate", "Rate", 0.1, -1e9, 1e9),
        hw.i64("offset", "Offset", -3, -(2**62), 2**62),
        hw.text("label", "Label", 'a, "b"'),
    ),
)
"""A model with a parameter of each wide kind, whose statistics come to be infinite."""

TOKENS = (
    b"", b"\0", b"\r", b"\n", b"\r\n", b'"', b'""', b",", b",,", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"-", b".", b" ",
    b"0", b"00", b"-1", b"1e999", b"1e-400", b"nan", b"inf", b"null", b"true", b"[]", b"{}", b"{", b"}", b"1.5",
    b"9" * 19, b"18446744073709551615", b"18446744073709551616", b"4294967296", b"2147483648", b"9223372036854775807",
    b"9223372036854775808", b"9" * 23, b"9" * 400, b"9" * 5000, b"ok", b"panicked", b"sweep", b"search", b"running",
    b"complete", b"PK\x03\x04", "é".encode(), "\u2028".encode(), b"\x1a", b"a" * 200_000,
)  # fmt: skip


SEARCHES = ("genetic", "pse", "nsga2")
NAMES = ("sir", "odd", "wide", "shard 0", "reference", "staged", *SEARCHES)
"""The folders that cases take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that ended in something else than an answer or a `HenadError`."""

    case: int
    what: str
    trace: str

    def __str__(self) -> str:
        """Return the finding, its traceback included."""
        return f"case {self.case}: {self.what}\n{self.trace}"


class Fuzzer:
    """Cases over folders that it makes once below `base`, those called `names`."""

    def __init__(self, base: Path, seed: int = 0, names: Sequence[str] = NAMES) -> None:
        self._base, self._seed, self._names = base, seed, names
        self._folders = dict(self._made())
        self.outcomes: dict[str, int] = {}

    def _made(self) -> Iterator[tuple[str, Path]]:
        made = self._base / "made"
        sweep(SIR, SMALL_SIR, made / "sir")
        sweep(ODD_ENTRY, odd_spec(), made / "odd")
        sweep(WIDE_ENTRY, _wide_spec(), made / "wide")
        for kind in SEARCHES:
            sweep(HILLS, hills_spec(kind, evaluations=16, batch=3), made / kind)
        for index in range(2):
            sweep(SIR, SMALL_SIR, made / f"shard {index}", shard=hw.Shard(index, 2))
        (made / "reference").mkdir()
        for name, content in reference_files().items():
            (made / "reference" / name).write_bytes(content)
        staged = made / "staged"
        shutil.copytree(made / "sir", staged)
        for name in TABLES[:2]:
            (staged / f"{name}.staged").write_bytes((staged / name).read_bytes())
            (staged / name).write_bytes(b"")
        (staged / "tables.staged").write_bytes(b"runs.csv\nseries.csv\n")
        for name in (*NAMES, "shard 1"):
            yield name, made / name

    def run(self, case: int) -> list[Finding]:
        """Return what was found in the case `case`."""
        draw = random.Random(f"{self._seed} {case}")
        name = draw.choice(self._names)
        place = self._base / "case"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        folder = place / "folder"
        shutil.copytree(self._folders[name], folder)
        for _ in range(draw.choice([1, 1, 1, 2, 5])):
            _damage(folder, draw)
        findings = []
        for what, act in self._acts(name, folder, place, draw):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                findings += self._told(case, f"{name}, {what}", act)
        return findings

    def _told(self, case: int, what: str, act: Callable[[], object]) -> list[Finding]:
        try:
            with _limited():
                act()
        except hw.HenadError as error:
            kind = type(error).__name__
            self.outcomes[kind] = self.outcomes.get(kind, 0) + 1
            return []
        except Exception:
            return [Finding(case, what, traceback.format_exc())]
        self.outcomes["fine"] = self.outcomes.get("fine", 0) + 1
        return []

    def _acts(
        self, name: str, folder: Path, place: Path, draw: random.Random
    ) -> Iterator[tuple[str, Callable[[], object]]]:
        entry = {"odd": ODD_ENTRY, "wide": WIDE_ENTRY, **dict.fromkeys(SEARCHES, HILLS)}.get(name, SIR)
        spec = {"odd": odd_spec(), "wide": _wide_spec()}.get(name, SMALL_SIR)
        if name in SEARCHES:
            spec = hills_spec(name, evaluations=16, batch=3)
        models = hw.ModelSet([SIR] if entry is SIR else [SIR, entry])
        yield "open", lambda: _read(hw.ResultSet.open(folder, models=models))
        yield "frames", lambda: _frames(hw.ResultSet.open(folder, models=models))
        yield "verify", lambda: _verified(hw.ResultSet.open(folder, models=models))
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        yield "from_files", lambda: _read(hw.ResultSet.from_files(files, models=models))
        yield "masked", lambda: hw.masked(files)
        yield "resume_files", lambda: _pumped(hw.SweepRun.resume_files(entry, files, target=PumpedTarget()))
        archive = place / "results.zip"
        yield "pack", lambda: pack(files)
        content = bytearray(pack({ascii(name).strip("'"): data for name, data in files.items() if name != ".lock"}))
        for _ in range(draw.choice([0, 1, 3])):
            content = bytearray(_rewritten(bytes(content), draw))
        archive.write_bytes(content)
        yield "open a zip", lambda: _read(hw.ResultSet.open(archive, models=models))
        yield "unpack", lambda: unpack_results(archive)
        target = StillTarget()
        yield (
            "reuse",
            lambda: _pumped(
                hw.SweepRun.start(
                    entry, spec, hw.DirectoryOutput(place / "new"), hw.SweepRunOptions(reuse=folder), target=target
                )
            ),
        )
        others = [self._folders["shard 1"]] if name == "shard 0" else []
        more = with_run(spec, replicates=3) if draw.random() < 0.3 else None
        options = hw.SweepRunOptions(retry_failed=draw.random() < 0.5, force=True)
        yield "merge", lambda: hw.merge([folder, *others], place / "merged", options=options)
        yield (
            "resume",
            lambda: _pumped(hw.SweepRun.resume_directory(entry, folder, options, spec=more, target=target)),
        )
        yield "open again", lambda: _read(hw.ResultSet.open(folder, models=models))


def _wide_spec() -> hw.SweepSpec:
    levels = hw.ValueLevels(values=(-1.25, 1e-7, 3.0))
    texts = hw.ValueLevels(values=('a, "b"', "é", "x"))
    return hw.SweepSpec(
        model="toy",
        run=hw.RunSettings(steps=4, replicates=2),
        measure=hw.MeasureSettings(stats_every=1),
        blocks=(
            hw.BlockSpec(
                design=hw.DesignKind.ZIP,
                factors=(hw.FactorSpec(param="rate", levels=levels), hw.FactorSpec(param="label", levels=texts)),
            ),
        ),
    )


def _damage(folder: Path, draw: random.Random) -> None:
    """Damage one file of `folder`, or take it away, or put something else in its place."""
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    if not paths:
        return
    path = draw.choice(paths)
    kind = draw.random()
    if kind < 0.02:
        path.unlink()
        path.mkdir()
    elif kind < 0.04:
        path.unlink()
    elif kind < 0.06 and path.name in TABLES:
        with suppress(hw.HenadError, StopIteration):
            path.write_bytes(draw.choice(list(FORMS.values()))(path.read_bytes()))
    elif kind < 0.08:
        copy = folder / draw.choice(["copy.csv", "runs.csv.staged", "tables.staged", "copy.json"])
        copy.write_bytes(path.read_bytes())
    elif kind < 0.09:
        path.rename(folder / os.fsdecode(b"\xff\xfe.csv"))
    else:
        path.write_bytes(_rewritten(path.read_bytes(), draw))


def _rewritten(content: bytes, draw: random.Random) -> bytes:
    """Return `content` with something flipped, cut, doubled, taken out or put in."""
    size = len(content)
    start = draw.randrange(size + 1)
    end = min(size, start + draw.choice([1, 1, 2, 5, 20, 200]))
    match draw.randrange(9):
        case 0 if size:
            place = draw.randrange(size)
            return content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
        case 1:
            return content[:start]
        case 2:
            return content[:start] + content[end:]
        case 3:
            return content[:end] + content[start:]
        case 4:
            return content[:start] + draw.randbytes(end - start) + content[end:]
        case 5:
            return content[:start] + draw.choice(TOKENS) + content[start:]
        case 6:
            lines = content.split(b"\n")
            first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
            lines[first], lines[second] = lines[second], lines[first]
            return b"\n".join(lines)
        case 7:
            return content.replace(b"\n", b"\r")
        case _:
            return _with_token(content, draw)


def _with_token(content: bytes, draw: random.Random) -> bytes:
    """Return `content` with one of its numbers or words replaced."""
    place = draw.randrange(len(content) + 1)
    start = place
    while start > 0 and content[start - 1 : start].isalnum():
        start -= 1
    end = place
    while end < len(content) and content[end : end + 1].isalnum():
        end += 1
    return content[:start] + draw.choice(TOKENS) + content[end:]


def _read(results: hw.ResultSet) -> None:
    """Ask `results` for all that they hold."""
    for act in (
        lambda: list(results.runs),
        lambda: list(results.all_series()),
        lambda: [results.series(run_id) for run_id in results.runs["run_id"].tolist()],
        lambda: results.read_run_series(results.runs["run_id"].tolist()),
        lambda: dict(results.summary.items()),
        lambda: results.summary.non_finite,
        lambda: (results.status, results.is_complete, results.counts, results.held_series_count, repr(results)),
        lambda: results.spec,
        lambda: results.plan.plan_hash,
        lambda: [results.schedule(run_id) for run_id in results.runs["run_id"].tolist()],
        lambda: [results.replay(run_id) for run_id in results.runs["run_id"].tolist()],
        lambda: _searched(results),
    ):
        with suppress(hw.HenadError):
            act()


def _searched(results: hw.ResultSet) -> None:
    if results.search is not None:
        repr(results.search)
        for name in results.search.table_names:
            dict(results.search.table(name).items())


def _frames(results: hw.ResultSet) -> None:
    tables = []
    with suppress(hw.HenadError):
        search = results.search
        tables = [] if search is None else [search.table(name) for name in search.table_names]
    for table in tables:
        table.to_pandas()
        table.to_arrow()
    for act in (results.to_pandas, results.to_arrow):
        for name in ("runs", "summary", "series"):
            with suppress(hw.HenadError):
                act(name, params=True)
    with suppress(hw.HenadError):
        results.to_xarray()
    results.to_arrow("series")


def _verified(results: hw.ResultSet) -> None:
    verification = Verification(results, runs=2)
    for _ in range(MOST_SLICES):
        if verification.advance():
            break
    verification.report()


def _pumped(run: hw.SweepRun) -> None:
    """Pump `run` to its end, which may be that it failed in words."""
    try:
        while not run.is_ended:
            event = run.try_recv()
            if event is None:
                run.update(0.0)
            elif isinstance(event, hw.Failed) and "Traceback" in event.message:
                raise AssertionError(event.message)
    finally:
        run.close()


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TimeoutError in a case that takes too long."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases that `arguments` say, print what was found, and return 1 if there was anything."""
    parser = argparse.ArgumentParser(prog="fuzz-folders", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="+", default=NAMES, choices=NAMES, help="take these folders alone")
    given = parser.parse_args(arguments)
    vars(os)["fsync"] = lambda file: None  # what a case writes need not last
    memory = Path("/dev/shm")
    seen: dict[str, int] = {}
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        fuzzer = Fuzzer(Path(name), given.seed, given.folders)
        for number, case in enumerate(range(given.first, given.first + given.cases), start=1):
            for finding in fuzzer.run(case):
                *_, last = finding.trace.strip().splitlines()
                place = [line for line in finding.trace.splitlines() if "henad_" in line and "File" in line][-1:]
                key = f"{last[:120]} {place[0].strip() if place else ''}"
                seen[key] = seen.get(key, 0) + 1
                if seen[key] == 1:
                    _tell(str(finding))
            if number % 500 == 0:
                _tell(f"{number} of {given.cases} cases, {sum(seen.values())} findings")
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(fuzzer.outcomes.items()))
    _tell(f"{given.cases} cases: {sum(seen.values())} findings of {len(seen)} kinds; {counted}")
    for key, count in sorted(seen.items(), key=lambda item: -item[1]):
        _tell(f"{count:6} {key}")
    return 1 if seen else 0


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
