"""The plan table: every run with its config, seed, key and values."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

import henad_web as hw
from henad_web.explore.plan_table import plan_csv
from henad_web.explore.spec import RunSettings
from tests.shared.hosts import Host
from tests.shared.schemas import block, move, plan_of, span, values, vary


def test_a_row_tells_all_of_a_run() -> None:
    plan = plan_of(block(vary("rate", values(0.05, 0.3)), move("pulse", values(6, 2**64 - 1)), design="zip"))
    ids, params = ("run_id", "config_id", "block", "rep", "seed", "run_key"), ("size", "rate", "loss", "wrap", "mode")
    assert hw.plan_columns(plan) == (*ids, *params, "action.pulse")
    first, second = hw.plan_table(plan)
    run = plan.run(0)
    assert first == (
        "0", "0", "0", "0", str(run.seed), plan.run_key(run), "8", "0.05", "0.05", "true", "slow", "6",
    )  # fmt: skip
    assert second[-5:] == ("0.3", "0.05", "true", "slow", "18446744073709551615")


def test_the_table_has_a_row_a_run_in_plan_order() -> None:
    plan = plan_of(block(vary("size", values(1, 2))), run=RunSettings(replicates=3))
    rows = list(hw.plan_table(plan))
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (str(run.run_id), str(run.config_id), str(run.rep)) for run in plan.runs()
    ]
    assert list(hw.plan_table(plan, runs=islice(plan.runs(), 2))) == rows[:2]


def test_a_table_makes_each_config_once(made_configs: list[int]) -> None:
    plan = plan_of(block(vary("size", values(1, 2))), run=RunSettings(replicates=3))
    made_configs.clear()
    assert len(list(hw.plan_table(plan))) == 6
    assert made_configs == [0, 1]


def test_the_table_agrees_with_runs_csv(small_sir: hw.SweepSpec, models: hw.ModelSet, host: Host) -> None:
    written = host.files(models["sir"], small_sir)["runs.csv"].decode().splitlines()
    table = [line.rstrip("\n") for line in plan_csv(small_sir.plan(models["sir"].schema()))]
    assert [line[: len(told)] for line, told in zip(written, table, strict=True)] == table


def test_a_huge_plan_is_looked_at_from_its_head() -> None:
    plan = plan_of(block(vary("size", span(1, 512)), move("pulse", span(0, 2**15 - 1))), run=RunSettings(steps=2**15))
    assert [row[0] for row in islice(hw.plan_table(plan), 3)] == ["0", "1", "2"]


def test_what_is_no_plan_is_refused_at_the_call() -> None:
    outline: Any = hw.SweepSpec(model="study")
    for ask in (hw.plan_table, hw.plan_columns):
        with pytest.raises(
            hw.UsageError, match=r"made of a Plan, got SweepSpec\(model='study'\); a spec gives one by "
        ):
            ask(outline)
