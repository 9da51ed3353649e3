"""What stands in a notebook's cell and in a traceback: one short line that says the facts, however large the study."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import henad_web as hw
from tests.shared.hosts import Host
from tests.shared.toy_models import Divides, entry_of, toy_spec

TOY = entry_of(Divides)
LARGE = hw.parse_spec(
    'model = "toy"\nset = { value = 1 }\nrun = { steps = 4, replicates = 1000000 }\n# ' + "long " * 10_000,
    name="large.toml",
)
LONGEST = 200
"""Letters of a line that a notebook shows without wrapping it often."""


@pytest.fixture
def record(host: Host) -> hw.SweepRecord:
    return host.record(hw.SweepRun.start(TOY, toy_spec(1, 0, steps=10), target=host.target))


def test_a_record_and_what_is_in_it(record: hw.SweepRecord) -> None:
    report = record.report
    size = sum(map(len, (record.files or {}).values()))
    said = f"complete: 4 runs in memory, 2 ok, 0 non-finite, 2 failed, {report.elapsed:.1f} s"
    assert repr(report) == f"<SweepReport {said}>"
    assert repr(record) == f"<SweepRecord of <SweepReport {said}>, 4 files of {size} bytes>"
    assert repr(record.manifest) == "<Manifest of 'toy': complete, 4 runs planned, shard 0/1, 1 session>"
    assert repr(report.outline) == "<SweepOutline of 'toy': 4 runs, 0 kept, 4 to run, 0 warnings>"
    assert repr(hw.Finished(record)) == f"Finished(record={record!r})"


def test_a_result_set_and_its_tables(record: hw.SweepRecord) -> None:
    results = hw.ResultSet.from_files(record.files or {}, models=TOY)
    assert repr(results) == "<ResultSet of 'toy' in memory: complete, 4 of 4 runs>"
    assert repr(results.runs) == f"<RecordedRuns: 4 rows x {len(results.runs.columns)} columns>"
    assert repr(results.summary) == f"<RecordedSummary: 2 rows x {len(results.summary.columns)} columns>"
    assert repr(results.series(0)) == "<RecordedSeries of 6 samples x 1 statistics>"
    assert repr(results.runs.run(0)) == "<RecordedRun 0, config 0, rep 0: ok by steps after 10 ticks>"
    failed = repr(results.runs.run(2))
    assert failed.startswith("<RecordedRun 2, config 1, rep 0: panicked by fault after 0 ticks: while stepping")
    assert repr(hw.Verification(results)) == "<Verification: 0 of 4 runs compared, 0 differences>"


def test_a_handle_and_its_news(host: Host) -> None:
    run = host.start(TOY, toy_spec(1, 0, steps=10))
    assert repr(run) == "<SweepRun of 'toy': planning, 0 of 4 runs, 0 failed>"
    events = host.drain(run)
    assert repr(run) == "<SweepRun of 'toy': complete, 4 of 4 runs, 2 failed>"
    outcome = next(event.outcome for event in events if isinstance(event, hw.RunFinished))
    assert repr(outcome) == "<RunOutcome of run 0, config 0, rep 0: ok by steps after 10 ticks>"
    assert repr(outcome.series) == "<Series of 6 samples x 1 statistics>"
    assert all("\n" not in repr(event) and len(repr(event)) <= 2 * LONGEST for event in events)


@cache
def large() -> dict[str, Any]:
    plan = LARGE.spec.plan(TOY.schema())
    table = "value\n" + "1\n" * 100_000
    levels = hw.ValueLevels(values=tuple(range(100_000)))
    factor = hw.FactorSpec(param="value", levels=levels)
    return {
        "<Plan of 'toy': 1 config x 1000000 replicates = 1000000 runs>": plan,
        "<ConfigSequence of 1 config>": plan.configs,
        "<LoadedSpec of 'toy' from large.toml: 0 blocks>": LARGE,
        f"<SpecSource in memory: {len(LARGE.source.toml or '')} letters, 0 tables>": LARGE.source,
        "<ModelSet: toy>": hw.ModelSet([TOY]),
        "<ModelEntry 'toy': 1 parameters, 1 statistics, 0 actions>": TOY,
        "<ModelSchema of 'toy': 1 parameters, 1 statistics, 0 actions>": TOY.schema(),
        "ValueLevels(values=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 100000 in all))": levels,
        f"SweepSpec(model='toy', blocks=(BlockSpec(factors=({factor!r},)),))": hw.SweepSpec(
            model="toy", blocks=(hw.BlockSpec(factors=(factor,)),)
        ),
        "BlockSpec(design=<DesignKind.TABLE: 'table'>, table_text="
        f"{table[:60]!r}… ({len(table)} letters))": hw.BlockSpec(design="table", table_text=table),  # type: ignore[arg-type]
        "<RunView of run 3 at tick 4: no grid>": hw.RunView(run_id=3, tick=4, grid=None, palette=()),
    }


@pytest.mark.parametrize("said", large())
def test_the_line_stays_short_where_the_study_is_large(said: str) -> None:
    assert repr(large()[said]) == said
    assert "\n" not in said
    assert len(said) <= LONGEST


def test_a_text_of_up_to_60_letters_is_shown_whole() -> None:
    assert repr(hw.BlockSpec(where="a" * 60)) == f"BlockSpec(where='{'a' * 60}')"
    assert repr(hw.BlockSpec(where="a" * 61)) == f"BlockSpec(where='{'a' * 60}'… (61 letters))"


def test_a_plain_spec_is_shown_as_it_can_be_typed() -> None:
    spec = toy_spec(1, 0)
    names = {name: value for name, value in vars(hw).items() if isinstance(value, type)}
    assert eval(repr(spec), names) == spec
