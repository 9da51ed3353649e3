"""The command's sentences, exactly."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from henad_native.cli.consoles import ExitCode
from henad_native.cli.display import BarDisplay, LineDisplay, QuietDisplay, choose_display
from henad_native.cli.running import exit_code
from henad_native.cli.summary import summary_table
from henad_native.cli.texts import failure_line, outline_lines, written_line
from henad_web.channel import SweepPhase
from henad_web.explore.outcomes import PlannedRun, RunOutcome, RunStatus, Series, StopReason
from henad_web.explore.plan import Config, PlannedBlock
from henad_web.explore.plan_remarks import PlannedFactor
from henad_web.explore.shards import Shard
from henad_web.explore.spec import DesignKind
from henad_web.handle import SweepProgress
from henad_web.model.entry import Backend
from henad_web.output.record import Counts, SweepEnd, SweepReport
from henad_web.resume.merging import MissingRuns
from henad_web.run.active_runs import ActiveRun
from henad_web.run.layout import ExecutionLayout, LaneKind
from henad_web.run.outline import SweepOutline


def progress(
    *, done: int = 12, failed: int = 0, skipped: int = 0, remaining: float | None = None, elapsed: float = 4.0
) -> SweepProgress:
    return SweepProgress(
        phase=SweepPhase.RUNNING,
        end=None,
        runs_total=60,
        runs_skipped=skipped,
        runs_done=done,
        runs_waiting=0,
        runs_failed=failed,
        elapsed=elapsed,
        remaining=remaining,
        active_runs=(ActiveRun(PlannedRun(12, 6, 0, 1), tick=50, end_tick=100),),
    )


def outline(**changes: object) -> SweepOutline:
    fields: dict[str, object] = {
        "model": "sir",
        "backend": Backend.CPU,
        "configs": 3,
        "replicates": 2,
        "runs": 6,
        "blocks": (PlannedBlock(design=DesignKind.ZIP, first_config=0, config_count=3, design_seed=None),),
        "shard": Shard(0, 1),
        "skipped": 0,
        "pending": 6,
        "layout": ExecutionLayout(cpu_lanes=2, threads_per_lane=1, kind=LaneKind.PROCESS, why="as asked"),
        "projected_bytes": 1536,
        "series_rows": 36,
        "stat_columns": ("Infected",),
        "reducer_columns": ("Infected:final",),
    }
    return SweepOutline(**{**fields, **changes})  # type: ignore[arg-type]


def report(*, end: SweepEnd = SweepEnd.COMPLETE, counts: Counts, skipped: int = 0) -> SweepReport:
    return SweepReport(end=end, counts=counts, elapsed=12.0, output_dir="out", outline=outline(skipped=skipped))


def test_a_failed_run_is_one_line() -> None:
    outcome = RunOutcome(
        run=PlannedRun(7, 3, 1, 99),
        config=Config(3, 0, (), ()),
        run_key="0" * 16,
        status=RunStatus.TIMED_OUT,
        stop_reason=StopReason.TIMEOUT,
        ticks=5,
        population=1,
        build_ms=0.0,
        wall_ms=1.0,
        reducers={},
        series=Series.empty(1),
        note="timed out after 1 s at tick 5",
    )
    assert failure_line(outcome) == "run 7 (config 3, rep 1, seed 99): timed_out: timed out after 1 s at tick 5"


def test_an_outline_is_a_block_of_aligned_lines() -> None:
    assert list(outline_lines("An epidemic", outline())) == [
        "sweep of An epidemic (sir): 3 configs x 2 replicates = 6 runs",
        "  block 0       zip, 3 configs",
        "  layout        2 process lanes: as asked",
        "  memory        1.5 KiB projected for concurrent runs",
        "  series rows   36",
    ]


def test_one_run_is_not_several() -> None:
    one = outline(configs=1, replicates=1, runs=1)
    assert next(outline_lines("An epidemic", one)) == "sweep of An epidemic (sir): 1 config x 1 replicate = 1 run"
    assert repr(one).startswith("<SweepOutline of 'sir': 1 run, ")
    assert str(MissingRuns(1, (3,))) == "1 run of the plan is missing: 3; resume the merged folder to run it"


def test_an_outline_of_a_sampled_design_names_its_seed() -> None:
    factors = (PlannedFactor("rate", "0, 0.3, 0.6, 0.9"), PlannedFactor("action.seed", "1 to 9"))
    block = PlannedBlock(design=DesignKind.LHS, first_config=0, config_count=1, design_seed=5, factors=factors)
    lines = list(outline_lines("An epidemic", outline(blocks=(block,))))
    assert lines[1:4] == [
        "  block 0       lhs, 1 config, design seed 5",
        "                rate: 0, 0.3, 0.6, 0.9",
        "                action.seed: 1 to 9",
    ]


def test_an_outline_warns_past_ten_million_series_rows() -> None:
    assert "series_every" not in list(outline_lines("", outline(series_rows=10_000_000)))[-1]
    assert "series_every" in list(outline_lines("", outline(series_rows=10_000_001)))[-1]


def test_the_closing_line_counts_every_kind() -> None:
    counts = Counts(rows=6, ok=3, non_finite=1, failed=2)
    assert written_line(report(counts=counts)) == "wrote 6 runs to out in 12s: 3 ok, 1 non-finite, 2 failed"
    resumed = written_line(report(counts=counts, skipped=4))
    assert resumed == "wrote 6 runs to out in 12s: 3 ok, 1 non-finite, 2 failed; 4 kept from before"


def test_the_closing_line_of_a_stopped_sweep_says_what_is_left_and_how_to_go_on() -> None:
    stopped = written_line(report(end=SweepEnd.ABORTED, counts=Counts(rows=2, ok=2, non_finite=0, failed=0)))
    assert stopped.endswith("0 failed; stopped early, with 2 of 6 runs: go on with henad resume out")
    own = written_line(report(end=SweepEnd.ABORTED, counts=Counts(rows=2, ok=2)), models="my models.py")
    assert own.endswith(": go on with henad resume out --models 'my models.py'")


@pytest.mark.parametrize(
    ("end", "counts", "code"),
    [
        (SweepEnd.COMPLETE, Counts(rows=2, ok=2, non_finite=0, failed=0), ExitCode.FINE),
        (SweepEnd.COMPLETE, Counts(rows=0, ok=0, non_finite=0, failed=0), ExitCode.FINE),
        (SweepEnd.COMPLETE, Counts(rows=2, ok=1, non_finite=1, failed=0), ExitCode.RUNS_NOT_OK),
        (SweepEnd.COMPLETE, Counts(rows=2, ok=0, non_finite=0, failed=2), ExitCode.RUNS_NOT_OK),
        (SweepEnd.ABORTED, Counts(rows=2, ok=2, non_finite=0, failed=0), ExitCode.ERROR),
        (SweepEnd.DEVICE_LOST, Counts(rows=2, ok=2, non_finite=0, failed=0), ExitCode.ERROR),
    ],
)
def test_exit_codes(end: SweepEnd, counts: Counts, code: ExitCode) -> None:
    assert exit_code(report(end=end, counts=counts)) == code


def test_a_terminal_gets_a_bar_and_a_pipe_gets_lines() -> None:
    terminal, pipe = Console(file=io.StringIO(), force_terminal=True), Console(file=io.StringIO())
    assert type(choose_display(terminal, quiet=False)) is BarDisplay
    assert type(choose_display(pipe, quiet=False)) is LineDisplay
    assert type(choose_display(terminal, quiet=True)) is QuietDisplay


def test_the_bar_shows_the_counts_and_leaves_what_was_told() -> None:
    written = io.StringIO()
    with BarDisplay(Console(file=written, force_terminal=True, width=120)) as display:
        display.show(progress(failed=1, remaining=16.0))
        display.tell("run 7 failed")
    assert "12 of 60 runs · 1 failed · about 16s left" in written.getvalue()
    assert "run 7 failed\n" in written.getvalue().replace("\r", "")


def test_the_terminal_shows_what_each_lane_does() -> None:
    written = io.StringIO()
    runs = tuple(ActiveRun(PlannedRun(run_id, 0, run_id, 1), 40 * run_id, 500) for run_id in (2, 3))
    with BarDisplay(Console(file=written, force_terminal=True, width=120)) as display:
        display.show(dataclasses.replace(progress(), active_runs=runs))
    shown = written.getvalue()
    assert "run 2 · tick 80 of 500" in shown
    assert "run 3 · tick 120 of 500" in shown
    with display:
        display.show(dataclasses.replace(progress(), active_runs=runs[:1], phase=SweepPhase.PAUSED))
    assert "paused · 12 of 60 runs" in written.getvalue()
    assert "run 3" not in written.getvalue().rpartition("paused · ")[2], "its lane does nothing"


def test_lines_come_at_most_every_five_seconds_of_sweeping() -> None:
    written = io.StringIO()
    with LineDisplay(Console(file=written)) as display:
        for elapsed in (0.0, 4.9, 5.0, 7.0, 9.9, 10.0, 14.9):
            display.show(progress(done=round(elapsed * 10), elapsed=elapsed))
    assert written.getvalue().split("\n") == ["  50 of 60 runs", "  100 of 60 runs", ""]


def test_a_summary_without_configs_shows_nothing() -> None:
    assert summary_table("config_id,block,runs,ok,failed,ticks:mean\n") is None


def test_a_summary_shows_at_most_the_first_configs() -> None:
    rows = "\n".join(f"{config},0,{config}.5,1,1,0,10" for config in range(30))
    table = summary_table(f"config_id,block,rate,runs,ok,failed,ticks:mean\n{rows}\n")
    assert table is not None
    assert [column.header for column in table.columns] == ["rate", "runs", "failed"]
    assert table.row_count == 24
    assert table.caption == "and 6 more configs in summary.csv"


def test_a_summary_counts_runs_that_met_what_is_not_finite_where_there_are_any() -> None:
    rows = "\n".join(f"{config},0,{config}.5,5,{5 - config},0,10" for config in range(3))
    table = summary_table(f"config_id,block,rate,runs,ok,failed,ticks:mean\n{rows}\n")
    assert table is not None
    assert [column.header for column in table.columns] == ["rate", "runs", "failed", "non-finite"]
    assert list(table.columns[3].cells) == ["0", "1", "2"]


def test_a_narrow_terminal_cuts_no_number_of_the_summary() -> None:
    text = "config_id,block,rate,runs,ok,failed,ticks:mean\n" + "".join(
        f"{config},0,0.12345678901234567,1,1,0,10\n0,0,0.5,1,1,0,10\n" for config in range(2)
    )
    table = summary_table(text)
    assert table is not None
    written = io.StringIO()
    Console(file=written, width=20).print(table)
    assert "…" not in written.getvalue()
