"""The words that page, terminal and notebook share: counts, sizes, times, progress, commands."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import henad_web as hw
from henad_web.channel import SweepPhase
from henad_web.handle import SweepProgress
from henad_web.wording import (
    about_text,
    amount,
    byte_text,
    duration_text,
    henad_command,
    models_named,
    progress_text,
    runs_text,
    size_text,
)
from tests.shared.declared_models import Walk, study_of
from tests.shared.hosts import Host


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        ("henad run spec.toml --models mine.py --out x", "mine.py"),
        ("henad run spec.toml --models=mine.py", "mine.py"),
        ("/usr/bin/henad run spec.toml", None),
        ("henad merge a b --out c", "FILE"),
        ("study.py run", "FILE"),
        ("", "FILE"),
    ],
)
def test_a_model_is_named_as_the_command_line_was_told_of_it(stepped: Host, argv: str, named: str | None) -> None:
    files = stepped.files(Walk, study_of(Walk, steps=3))
    manifest = hw.ResultSet.from_files(files).manifest
    assert models_named(msgspec.structs.replace(manifest, argv=tuple(argv.split()))) == named


def progress(done: int, total: int = 60, **changes: Any) -> SweepProgress:
    fields = {
        "phase": SweepPhase.RUNNING,
        "end": None,
        "runs_skipped": 0,
        "runs_waiting": 0,
        "runs_failed": 0,
        "elapsed": 4.0,
        "remaining": None,
        "active_runs": (),
    }
    return SweepProgress(runs_total=total, runs_done=done, **{**fields, **changes})


def test_an_amount_has_its_noun_and_grouped_digits() -> None:
    assert [amount(count, "run") for count in (0, 1, 999, 12_000)] == ["0 runs", "1 run", "999 runs", "12,000 runs"]


def test_a_size_is_a_product() -> None:
    assert size_text(6, 3, 18) == "6 configs x 3 replicates = 18 runs"
    assert size_text(1, 1, 1, times="*") == "1 config * 1 replicate = 1 run"
    assert size_text(1000, 2, 2000) == "1,000 configs x 2 replicates = 2,000 runs"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (3 * 1024**3, "3.0 GiB"),
        (5 * 1024**4, "5.0 TiB"),
        (5000 * 1024**4, "5000.0 TiB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert byte_text(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "under 1 ms"),
        (0.00099, "under 1 ms"),
        (0.001, "about 1 ms"),
        (0.0402, "about 40 ms"),
        (0.9994, "about 999 ms"),
        (0.9996, "about 1.0 s"),
        (9.94, "about 9.9 s"),
        (9.96, "about 10 s"),
        (119.4, "about 119 s"),
        (120.0, "about 2 min"),
        (7169.0, "about 119 min"),
        (7200.0, "about 2 h"),
        (360_000.0, "about 100 h"),
    ],
)
def test_guessed_times(seconds: float, text: str) -> None:
    assert about_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-3.0, "0.0s"),
        (0.0, "0.0s"),
        (4.24, "4.2s"),
        (9.949, "9.9s"),
        (9.96, "10s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (187.0, "3m 07s"),
        (3599.6, "1h 00m"),
        (7500.0, "2h 05m"),
        (3_600_000.0, "1,000h 00m"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_counts_of_runs_name_what_there_is() -> None:
    assert runs_text(0, 1) == "0 of 1 run"
    assert runs_text(1100, 2000, kept=30, failed=1) == "1,100 of 2,000 runs · 30 kept · 1 failed"


def test_runs_that_may_not_be_needed_are_counted_with_up_to() -> None:
    assert size_text(6, 40, 240, least=4) == "6 configs x 4 to 40 replicates = up to 240 runs"
    assert runs_text(12, 240, failed=1, is_most=True) == "12 of up to 240 runs · 1 failed"
    shown = progress_text(progress(12, total_is_most=True, remaining=16.2))
    assert shown == "12 of up to 60 runs · at most about 16s left"


def test_progress_tells_only_what_is_known() -> None:
    assert progress_text(progress(12)) == "12 of 60 runs"
    assert progress_text(progress(0, is_planned=False)) == "0 of 60 runs · trying the model"
    assert progress_text(progress(0, is_planned=False, fraction=0.25)) == "0 of 60 runs · planning 25 %"
    assert progress_text(progress(12, runs_failed=1, remaining=16.2)) == "12 of 60 runs · 1 failed · about 16s left"
    assert progress_text(progress(12, runs_skipped=30, remaining=187.0)) == (
        "12 of 60 runs · 30 kept · about 3m 07s left"
    )


def test_a_time_left_has_no_decimals() -> None:
    texts = [progress_text(progress(3, remaining=seconds)) for seconds in (0.0, 0.2, 1.6, 9.94, 9.95)]
    assert [text.split(" · ")[1] for text in texts] == [
        "about 1s left",
        "about 1s left",
        "about 2s left",
        "about 10s left",
        "about 10s left",
    ]


@pytest.mark.parametrize("phase", [SweepPhase.RUNNING, SweepPhase.PAUSED])
def test_a_stage_says_how_far_it_is_also_while_paused(phase: SweepPhase) -> None:
    assert progress_text(progress(60, phase=phase, fraction=0.419)) == "60 of 60 runs · summary 41 %"
    assert progress_text(progress(0, phase=phase, fraction=0.999, is_planned=False)) == "0 of 60 runs · planning 99 %"


def test_a_command_can_be_typed() -> None:
    assert henad_command("resume", "my results") == "henad resume 'my results'"
    assert henad_command("verify", None, "--run", "3", models="models.py:SET") == (
        "henad verify DIR --run 3 --models models.py:SET"
    )
