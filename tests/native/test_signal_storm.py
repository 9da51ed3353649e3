"""Signals at random moments of a sweep and of its resumes: a sample of what ``poe signal-storm`` does at length."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from henad_native.cli import main
from tests.native.folders import masked_in
from tests.native.signal_storm import MODELS, Storm
from tests.native.test_cli_going_on import spec_at

SIGNALS = 12
"""Signals that must have landed."""


@pytest.mark.timeout(240)
def test_signals_at_any_moment_cost_nothing_that_a_resume_does_not_bring_back(fast_path: Path) -> None:
    seed = int(os.environ.get("HENAD_STORM_SEED") or random.SystemRandom().randrange(2**32))
    print(f"HENAD_STORM_SEED={seed}")  # noqa: T201 - pytest shows it beside a failure
    storm, number = Storm(base=fast_path, seed=seed, replicates=10), 0
    while sum(storm.landed.values()) < SIGNALS:
        storm.round(number)
        number += 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_asks_for_an_end_leaves_the_files_of_an_aborted_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("HENAD_TEST_SIGNAL", str(int(number)))
    out, spec = tmp_path / "results", tmp_path / "spec.toml"
    spec.write_text('model = "signals_itself"\n[run]\nsteps = 1000000000000\n')
    assert main(["run", str(spec), "--out", str(out), "--models", MODELS, "--quiet"]) == 1
    assert '"status": "aborted"' in (out / "manifest.json").read_text()
    assert set(masked_in(out)) == {"runs.csv", "series.csv", "summary.csv", "manifest.json"}


def test_a_hangup_that_is_ignored_stays_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HENAD_TEST_SIGNAL", str(int(signal.SIGHUP)))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        spec = tmp_path / "spec.toml"
        spec.write_text('model = "signals_itself"\n[run]\nsteps = 10\nreplicates = 50\n')
        assert main(["run", str(spec), "--out", str(tmp_path / "new"), "--models", MODELS, "--quiet"]) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_put_back(tmp_path: Path) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    assert main(["run", spec_at(tmp_path), "--out", str(tmp_path / "new"), "--models", MODELS, "--quiet"]) == 0
    assert [signal.getsignal(number) for number in numbers] == before
