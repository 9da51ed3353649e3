"""A search gone on with: told again of what is recorded, it ends as one that nobody interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import pytest

import henad_web as hw
from henad_web.resume.errors import ResumeError, ResumeReason
from tests.shared.hosts import Host
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.toy_models import Toy, entry_of

KINDS = ("random", "hill_climb", "genetic", "pse", "nsga2")
SMALL = 24
Files = dict[str, bytes]


def spec_of(algorithm: str) -> hw.SweepSpec:
    return hills_spec(algorithm, evaluations=SMALL)


def whole(host: Host, algorithm: str) -> tuple[Files, list[hw.SearchUpdate]]:
    """Return the files of a whole search and what it told."""
    events = host.drain(host.start(HILLS, spec_of(algorithm)))
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    return last.record.files, updates_in(events)


def updates_in(events: list[hw.SweepEvent]) -> list[hw.SearchUpdate]:
    return [event.update for event in events if isinstance(event, hw.SearchBatchTold)]


def resume(host: Host, files: Mapping[str, bytes], spec: hw.SweepSpec | None = None) -> list[hw.SweepEvent]:
    return host.drain(hw.SweepRun.resume_files(HILLS, files, spec=spec, target=host.target))


def left_by_a_kill(files: Files, rows: int, torn: int = 0) -> Files:
    """Return what a search that was killed behind `rows` rows leaves, with so many bytes of the next one."""
    lines = files["runs.csv"].splitlines(keepends=True)
    runs = b"".join(lines[: rows + 1]) + (lines[rows + 1][:torn] if torn else b"")
    ids = {line.split(b",")[0] for line in lines[1 : rows + 1]}
    header, *samples = files["series.csv"].splitlines(keepends=True)
    series = b"".join([header, *(line for line in samples if line.split(b",")[0] in ids)])
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    tables = {name: files[name][:100] for name in ("evaluations.csv", "batches.csv")}
    return {"runs.csv": runs, "series.csv": series, "manifest.json": manifest, **tables}


@pytest.mark.parametrize("algorithm", KINDS)
def test_a_search_goes_on_to_the_files_and_updates_of_a_whole_one(stepped: Host, algorithm: str) -> None:
    files, updates = whole(stepped, algorithm)
    for rows in (0, 1, 9, 10, 11, 24, 47, 48):
        events = resume(stepped, left_by_a_kill(files, rows, torn=7 if rows < 48 else 0))
        last = events[-1]
        assert isinstance(last, hw.Finished)
        assert hw.masked(last.record.files or {}) == hw.masked(files), rows
        assert list(last.record.files or {}) == list(files)
        ran = [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)]
        assert ran == list(range(rows, 48)), "what is recorded is not run again"
        assert updates_in(events) == updates, "recorded batches are told again"
        outline = last.record.report.outline
        assert (outline.skipped, outline.pending) == (rows, 48 - rows)
        assert last.record.manifest is not None
        assert (last.record.manifest.sessions[-1].skipped, last.record.manifest.sessions[-1].ran) == (rows, 48 - rows)


def test_a_recorded_batch_is_told_before_the_runs_of_the_next(stepped: Host) -> None:
    files, _ = whole(stepped, "genetic")
    events = resume(stepped, left_by_a_kill(files, 23))
    told = [type(event).__name__ for event in events]
    first_run = told.index("RunFinished")
    assert told[:first_run] == ["Planned", "SearchBatchTold", "SearchBatchTold"], "of batches of 5 and 3"


def test_an_aborted_search_goes_on(host: Host) -> None:
    files, _ = whole(host, "genetic")
    run = host.start(HILLS, spec_of("genetic"))
    host.until(run, lambda: run.progress().runs_done > 11)
    run.abort()
    record = host.record(run)
    assert record.files is not None
    last = resume(host, record.files)[-1]
    assert isinstance(last, hw.Finished)
    assert hw.masked(last.record.files or {}) == hw.masked(files)


def test_the_series_that_is_torn_and_all_behind_it_is_run_again(stepped: Host) -> None:
    files, updates = whole(stepped, "pse")
    lines = files["series.csv"].splitlines(keepends=True)
    torn = [line for line in lines if not line.startswith(b"30,2,")]
    assert len(torn) == len(lines) - 1
    killed = left_by_a_kill(files, 48) | {"series.csv": b"".join(torn)}
    events = resume(stepped, killed)
    ran = [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)]
    assert ran == list(range(30, 48))
    assert updates_in(events) == updates
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert hw.masked(last.record.files or {}) == hw.masked(files)


@pytest.mark.parametrize("name", ["runs.csv", "series.csv"])
def test_without_a_header_both_tables_are_written_afresh(stepped: Host, name: str) -> None:
    spec = spec_of("random")  # it keeps no series, so that no row lacks its own
    spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, series_every=0))
    files = stepped.files(HILLS, spec)
    events = resume(stepped, left_by_a_kill(files, 20) | {name: b""})
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.outline.skipped == 0
    assert hw.masked(last.record.files or {}) == hw.masked(files)


class Nothing(Toy):
    """Comes to a negative zero, which runs.csv has as 0."""

    def stats(self) -> dict[str, float]:
        return {"Height": -0.0}


def test_a_negative_zero_is_told_alike_before_and_after(stepped: Host) -> None:
    entry = entry_of(Nothing, stats=("Height",))
    objective = hw.ObjectiveSpec(column="Height:max", goal=hw.Goal.MAXIMIZE)
    space = (hw.FactorSpec(param="value", levels=hw.RangeLevels(min=0, max=9)),)
    kind = hw.SearchAlgorithm.RANDOM
    search = hw.SearchSpec(algorithm=kind, max_evaluations=3, batch_size=2, space=space, objective=objective)
    files = stepped.files(entry, hw.SweepSpec(model="toy", run=hw.RunSettings(steps=2), search=search))
    again = stepped.record(hw.SweepRun.resume_files(entry, files, target=stepped.target)).files
    assert hw.masked(again or {}) == hw.masked(files)


def test_a_timeout_may_change_and_failed_runs_stay(stepped: Host) -> None:
    files, _ = whole(stepped, "random")
    assert b",panicked," in files["runs.csv"]
    spec = spec_of("random")
    spec = msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, timeout_s=60.0))
    last = resume(stepped, files, spec)[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.outline.pending == 0
    assert (last.record.files or {})["runs.csv"] == files["runs.csv"]


def replaced(name: str, old: bytes, new: bytes) -> Callable[[Files], Files]:
    def edit(files: Files) -> Files:
        assert old in files[name], (name, old)
        return files | {name: files[name].replace(old, new, 1)}

    return edit


def row(number: int, field: int, text: bytes) -> Callable[[Files], Files]:
    """Return an edit of one field of a row of runs.csv."""

    def edit(files: Files) -> Files:
        lines = files["runs.csv"].split(b"\n")
        fields = lines[1 + number].split(b",")
        fields[field] = text
        lines[1 + number] = b",".join(fields)
        return files | {"runs.csv": b"\n".join(lines)}

    return edit


def swapped(files: Files) -> Files:
    lines = files["runs.csv"].splitlines(keepends=True)
    lines[8], lines[9] = lines[9], lines[8]
    return files | {"runs.csv": b"".join(lines)}


def once_more(files: Files) -> Files:
    lines = files["runs.csv"].splitlines(keepends=True)
    last = lines[-1].replace(b"47,23,", b"48,24,", 1)
    samples = [line for line in files["series.csv"].splitlines(keepends=True) if line.startswith(b"47,")]
    series = files["series.csv"] + b"".join(line.replace(b"47,", b"48,", 1) for line in samples)
    return files | {"runs.csv": files["runs.csv"] + last, "series.csv": series}


def late_series(files: Files) -> Files:
    lines = files["series.csv"].splitlines(keepends=True)
    moved = [line for line in lines if line.startswith(b"5,")]
    return files | {"series.csv": b"".join([*(line for line in lines if line not in moved), *moved])}


def other(change: Callable[[hw.SweepSpec], hw.SweepSpec]) -> hw.SweepSpec:
    return change(spec_of("genetic"))


def with_search(spec: hw.SweepSpec, **changes: object) -> hw.SweepSpec:
    assert spec.search is not None
    return msgspec.structs.replace(spec, search=msgspec.structs.replace(spec.search, **changes))


def with_run(spec: hw.SweepSpec, **changes: object) -> hw.SweepSpec:
    return msgspec.structs.replace(spec, run=msgspec.structs.replace(spec.run, **changes))


KEY = 5
REFUSALS: dict[str, tuple[Callable[[Files], Files] | None, hw.SweepSpec | None, ResumeReason, str]] = {
    "a sweep is asked for": (
        None, other(lambda spec: msgspec.structs.replace(spec, search=None)), ResumeReason.MODE_CHANGED,
        "its mode is another one: recorded search, current sweep; choose the folder of a sweep",
    ),
    "the folder is of a sweep": (
        replaced("manifest.json", b'"mode": "search"', b'"mode": "sweep"'), spec_of("genetic"),
        ResumeReason.MODE_CHANGED, "recorded sweep, current search; choose the folder of a search",
    ),
    "the manifest contradicts itself": (
        replaced("manifest.json", b'"mode": "search"', b'"mode": "sweep"'), None,
        ResumeReason.MODE_CHANGED, "recorded sweep, current search",
    ),
    "another budget": (
        None, other(lambda spec: with_search(spec, max_evaluations=25)), ResumeReason.SEARCH_CHANGED,
        "the search hash is another one: the spec differs in more than the timeout",
    ),
    "another batch size": (
        None, other(lambda spec: with_search(spec, batch_size=6)), ResumeReason.SEARCH_CHANGED, "search hash",
    ),
    "more replicates": (
        None, other(lambda spec: with_run(spec, replicates=3)), ResumeReason.SEARCH_CHANGED, "search hash",
    ),
    "another root": (
        None, other(lambda spec: msgspec.structs.replace(spec, seeds=hw.SeedSettings(root=12))),
        ResumeReason.SEARCH_CHANGED, "search hash",
    ),
    "a manifest without its search": (
        lambda files: files | {
            "manifest.json": msgspec.json.encode(msgspec.json.decode(files["manifest.json"]) | {"search": None})
        },
        None, ResumeReason.SEARCH_CHANGED, "search hash",
    ),
    "other columns": (
        replaced("runs.csv", b"Height:max", b"Height:min"), None, ResumeReason.COLUMNS_CHANGED,
        "the columns of runs.csv differ",
    ),
    "another id": (row(7, 0, b"9"), None, ResumeReason.SEARCH_RUN_CHANGED, "what row 7 of runs.csv is of"),
    "another candidate": (row(7, 1, b"4"), None, ResumeReason.SEARCH_RUN_CHANGED, "row 7"),
    "another replicate": (row(7, 3, b"0"), None, ResumeReason.SEARCH_RUN_CHANGED, "row 7"),
    "another run key": (row(7, KEY, b"0123456789abcdef"), None, ResumeReason.SEARCH_RUN_CHANGED, "0123456789abcdef"),
    "a result that was changed": (
        # Its own key is right; the search chooses other candidates because of it.
        row(7, 16, b"500"), None, ResumeReason.SEARCH_RUN_CHANGED, "would not have asked for",
    ),
    "rows in another order": (swapped, None, ResumeReason.SEARCH_RUN_CHANGED, "row 7"),
    "a row past the budget": (
        once_more, None, ResumeReason.UNPLANNED_RUN,
        "the row of run 48 (config 24, rep 7) is of no run of the plan: current 24 evaluations",
    ),
    "series out of order": (late_series, None, ResumeReason.SERIES_OUT_OF_ORDER, "run 5 in series.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_cannot_be_gone_on_with_is_refused_with_a_reason(stepped: Host, case: str) -> None:
    edit, spec, reason, words = REFUSALS[case]
    files, _ = whole(stepped, "genetic")
    files = files if edit is None else edit(files)
    before = dict(files)
    with pytest.raises(ResumeError) as refused:
        hw.SweepRun.resume_files(HILLS, files, spec=spec, target=stepped.target)
    assert refused.value.reason is reason
    assert words in str(refused.value)
    assert files == before


def test_the_model_is_looked_at_before_the_search(stepped: Host) -> None:
    files, _ = whole(stepped, "genetic")
    changed = entry_of(Toy)
    spec = other(lambda spec: with_search(spec, max_evaluations=25))
    with pytest.raises(ResumeError) as refused:
        hw.SweepRun.resume_files(changed, files, spec=spec, target=stepped.target)
    assert refused.value.reason is ResumeReason.SCHEMA_CHANGED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reuse": "other"}, "a search reuses no rows of other results"),
        ({"retry_failed": True}, "a search does no run again"),
    ],
)
def test_a_search_takes_no_option_that_it_cannot_have(stepped: Host, options: dict[str, object], words: str) -> None:
    chosen = hw.SweepRunOptions(**options)  # type: ignore[arg-type]
    with pytest.raises(hw.UsageError, match=words):
        hw.SweepRun.start(HILLS, spec_of("random"), options=chosen, target=stepped.target)
    files, _ = whole(stepped, "random")
    with pytest.raises(hw.UsageError, match=words):
        hw.SweepRun.resume_files(HILLS, files, chosen, target=stepped.target)
