"""`henad plan`: what a spec would run, before anything runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import BadOption, Concurrent, LaneChoice, Lanes, Memory, Models, ShardText, given_options
from henad_native.cli.consoles import message_console, print_line, result_console
from henad_native.cli.model_sets import load_models
from henad_native.cli.texts import outline_lines, pilot_lines
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.plan_table import plan_csv
from henad_web.run.probe import Pilot, pilot_run
from henad_web.wording import amount

__all__ = ["plan_command"]


def plan_command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file (TOML or JSON).")],
    runs: Annotated[
        str | None, typer.Option("--runs", metavar="FILE|-", help="Write every run as CSV; - is standard output.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="With --runs, only the first N.")
    ] = None,
    pilot: Annotated[bool, typer.Option("--pilot", help="Time one run, and estimate how long all take.")] = False,
    freeze: Annotated[
        Path | None,
        typer.Option("--freeze", metavar="OUT", help="Write SPEC with its designs as tables, to run anywhere."),
    ] = None,
    concurrent: Concurrent = None,
    lanes: Lanes = LaneChoice.AUTO,
    memory: Memory = None,
    shard: ShardText = None,
    models: Models = None,
) -> None:
    """Say what SPEC would run: configs, runs, memory, rows, warnings; with --runs each run with its seed and key.

    Lanes are those of this machine. There is no --executor: a plan starts none to count its workers.
    """
    if limit is not None and runs is None:
        raise BadOption("--limit", "it goes with --runs")
    known, given = load_models(models), given_options(concurrent, memory, shard, lanes=lanes)
    loaded = hw.load_spec(spec, models=known)
    options = hw.SweepRunOptions.from_loaded(loaded, **given)
    entry = known.lookup(loaded.spec.model)
    if runs is not None and loaded.spec.search is not None:
        raise BadOption("--runs", "a search chooses its runs as it goes; none is known before")
    if runs is not None and loaded.spec.run.adaptive is not None:
        raise BadOption("--runs", "how many replicates a config has is decided as they come; none is known before")
    try:
        plan = loaded.plan or loaded.spec.plan(entry.schema())
        if freeze is not None:
            _write_frozen(freeze, hw.freeze(loaded.spec, plan.schema), loaded.execution)
        if runs is not None:
            _write_runs(runs, plan_csv(plan, islice(_planned(plan, options), limit)))
        if runs != "-":
            _tell(entry, loaded.spec, plan, options, pilot=pilot)
    except hw.PlanError as error:
        raise hw.PlanError(loaded.locate(error.problems)) from error


def _planned(plan: hw.Plan, options: hw.SweepRunOptions) -> Iterable[hw.PlannedRun]:
    shard = options.shard
    return (run for run in plan.runs() if shard is None or shard.holds(run.run_id))


def _tell(entry: hw.ModelEntry, spec: hw.SweepSpec, plan: hw.Plan, options: hw.SweepRunOptions, *, pilot: bool) -> None:
    outline = hw.plan_spec(entry, spec, options=options)
    console = result_console()
    for line in outline_lines(entry.name, outline):
        print_line(console, line)
    for warning in outline.warnings:
        print_line(message_console(), f"warning: {warning}")
    if pilot:
        found: Pilot = pilot_run(entry, plan, MeasurePlan.bind(plan, outline.stat_columns), time.perf_counter)
        for line in pilot_lines(found, outline):
            print_line(console, line)


def _write_frozen(path: Path, frozen: hw.SweepSpec, execution: hw.ExecutionSettings) -> None:
    is_json = path.suffix.lower() == ".json"
    text = hw.spec_to_json(frozen, execution=execution) if is_json else hw.spec_to_toml(frozen, execution=execution)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise BadOption("--freeze", f"cannot write {path}: {error.strerror}") from error
    print_line(message_console(), f"froze {amount(len(frozen.blocks), 'block')} in {path}")


def _write_runs(target: str, lines: Iterable[str]) -> None:
    if target == "-":
        sys.stdout.writelines(lines)
        return
    try:
        with Path(target).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
    except OSError as error:
        raise BadOption("--runs", f"cannot write {target}: {error.strerror}") from error
