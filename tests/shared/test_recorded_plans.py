"""What the reference engine's plans are recorded to do (its section 12.1), seen in the files of whole sweeps."""

from __future__ import annotations

from collections import Counter

import henad_web as hw
from henad_web.explore.spec import RunSettings
from henad_web.explore.warnings import ActionAfterEnd
from tests.shared.hosts import Host
from tests.shared.schemas import block, move, plan_of, span, values, vary

GRID = (("grid_width", 16), ("grid_height", 16))


def rows(files: dict[str, bytes], name: str) -> list[list[str]]:
    return [line.split(",") for line in files[name].decode().splitlines()]


def test_a_factorial_of_3_by_2_with_3_replicates_is_written_in_its_order(host: Host, models: hw.ModelSet) -> None:
    rates = (vary("infection_rate", values(0.2, 0.4, 0.6)), vary("recovery_rate", values(0.05, 0.1)))
    spec = hw.SweepSpec(
        model="sir",
        fixed=GRID,
        run=hw.RunSettings(steps=25, replicates=3),
        measure=hw.MeasureSettings(stats_every=5),
        blocks=(block(*rates),),
    )
    files = host.files(models["sir"], spec)
    header, *runs = rows(files, "runs.csv")
    place = header.index("recovery_rate")
    assert [run[place] for run in runs] == (["0.05"] * 3 + ["0.1"] * 3) * 3
    assert len(rows(files, "series.csv")) == 18 * 6 + 1


def test_an_action_changes_nothing_before_its_tick_and_shows_at_it(host: Host, models: hw.ModelSet) -> None:
    spec = hw.SweepSpec(
        model="sir",
        fixed=(*GRID, ("infection_rate", 0.05)),
        run=hw.RunSettings(steps=40),
        measure=hw.MeasureSettings(stats_every=2),
        actions=(hw.ActionSpec(id="seed_outbreak", tick=0),),
        blocks=(block(move("seed_outbreak", values(0, 10, 30))),),
    )
    _, *series = rows(host.files(models["sir"], spec), "series.csv")
    at_0, at_10, at_30 = ([row[1:] for row in series if row[0] == run] for run in "012")
    assert at_0[0] != at_10[0]
    assert at_10[:5] == at_30[:5]
    assert [row[0] for row in at_10[:6]] == ["0", "2", "4", "6", "8", "10"]
    assert at_10[5] != at_30[5]


def test_a_hypercube_over_ticks_runs_each_of_them_once_a_replicate() -> None:
    plan = plan_of(block(move("pulse", span(5, 50)), design="lhs", samples=6), run=RunSettings(replicates=2))
    ticks = Counter(plan.configs[run.config_id].action_ticks[0] for run in plan.runs())
    assert ticks == dict.fromkeys((5, 12, 20, 28, 35, 43), 2)
    plan = plan_of(block(move("pulse", values(10, 41, 90))), run=RunSettings(steps=40))
    assert plan.warnings() == (ActionAfterEnd("pulse", latest_tick=90, last_tick=40, config_count=2),)
