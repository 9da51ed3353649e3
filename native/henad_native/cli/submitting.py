"""`henad submit slurm`: a sweep as a job array, its shards run by tasks and joined by a job that waits for them."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import (
    BadOption,
    Batches,
    Concurrent,
    LaneChoice,
    Lanes,
    Memory,
    Models,
    OnFullDisk,
    given_options,
)
from henad_native.cli.consoles import message_console, print_line
from henad_native.cli.model_sets import load_models
from henad_native.slurm import (
    RESULTS,
    SUBMIT,
    SlurmArray,
    check_folder,
    given_words,
    listed,
    option_problem,
    submit,
    write_folder,
)
from henad_web.wording import amount, most_text

__all__ = ["submit_app"]

submit_app = typer.Typer(help="Submit a sweep to a cluster, a shard a job.", no_args_is_help=True)


@submit_app.callback()
def _clusters() -> None:
    """Submit a sweep to a cluster, a shard a job."""


Spec = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file (TOML or JSON); it is copied.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty or new folder that all nodes see.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Tasks of the array, each with a shard.")]
More = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- SBATCH_OPTION...]", help="Whatever else sbatch is to be told.", show_default=False),
]
Partition = Annotated[str | None, typer.Option("--partition", help="As sbatch takes it.")]
Account = Annotated[str | None, typer.Option("--account", help="As sbatch takes it.")]
TimeLimit = Annotated[str | None, typer.Option("--time", help="Limit of a task, as sbatch takes it: 04:00:00.")]
NodeMemory = Annotated[str | None, typer.Option("--mem", help="Memory of a task, as sbatch takes it: 4G.")]
Cores = Annotated[
    int, typer.Option("--cpus-per-task", metavar="N", min=1, help="Cores of a task; its lanes follow them.")
]
AtOnce = Annotated[int | None, typer.Option("--at-once", metavar="N", min=1, help="Tasks that may run at a time.")]
Before = Annotated[
    list[str] | None,
    typer.Option("--before", metavar="LINE", help="A line of bash for every job to begin with; may be repeated."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the scripts; write and submit nothing.")]
Send = Annotated[bool, typer.Option("--submit/--no-submit", help="Without, the scripts are only written.")]


@submit_app.command("slurm")
def slurm_command(
    spec: Spec,
    out: Out,
    jobs: Jobs,
    more: More = None,
    partition: Partition = None,
    account: Account = None,
    time: TimeLimit = None,
    mem: NodeMemory = None,
    cpus_per_task: Cores = 1,
    at_once: AtOnce = None,
    before: Before = None,
    concurrent: Concurrent = None,
    lanes: Lanes = LaneChoice.AUTO,
    memory: Memory = None,
    models: Models = None,
    on_full: OnFullDisk = hw.OnFull.WAIT,
    batches: Batches = True,
    dry_run: DryRun = False,
    send: Send = True,
) -> None:
    """Run SPEC on a Slurm cluster: N shards into DIR/shards, then all of it into DIR/results.

    Writes array.sh, merge.sh and submit.sh into DIR and runs the last: it submits the array, one more try of what
    failed, and the merge. `bash DIR/submit.sh` later goes on with what is still missing.
    """
    given_options(concurrent, memory, lanes=lanes)
    resources = (("--partition", partition), ("--account", account), ("--time", time), ("--mem", mem))
    speed = (("--concurrent", concurrent), ("--lanes", lanes), ("--memory", memory), ("--on-full", on_full))
    array = SlurmArray(
        folder=Path(os.path.abspath(out)),
        spec=spec,
        jobs=jobs,
        at_once=at_once,
        run_words=(*given_words((*speed, ("--models", models))), *(() if batches else ("--no-batches",))),
        resources=(*given_words(resources), *_sbatch_words(more or ())),
        cores=cpus_per_task,
        before=tuple(before or ()),
        directory=Path.cwd(),
    )
    _carry_out(array, *_planned(spec, models), dry_run=dry_run, send=send)


def _sbatch_words(words: Sequence[str]) -> Sequence[str]:
    problem = option_problem(words)
    if problem is not None:
        raise BadOption("SBATCH_OPTION", problem)
    return words


def _planned(spec: Path, models: str | None) -> tuple[hw.LoadedSpec, hw.Plan]:
    """Return the spec and its plan; whatever is wrong with it is told here and not by a hundred tasks."""
    known = load_models(models)
    loaded = hw.load_spec(spec, models=known)
    if loaded.spec.search is not None:
        raise BadOption("SPEC", "it is a search, which has no shards: each batch depends on all of the one before")
    try:
        plan = loaded.plan or loaded.spec.plan(known.lookup(loaded.spec.model).schema())
    except hw.PlanError as error:
        raise hw.PlanError(loaded.locate(error.problems)) from error
    for warning in plan.warnings():
        print_line(message_console(), f"warning: {warning}")
    return loaded, plan


def _carry_out(array: SlurmArray, loaded: hw.LoadedSpec, plan: hw.Plan, *, dry_run: bool, send: bool) -> None:
    is_adaptive = plan.least_replicates is not None
    parts, noun = (plan.config_count, "config") if is_adaptive else (plan.run_count, "run")
    if array.jobs > parts:
        print_line(
            message_console(),
            f"warning: {amount(parts, noun)} cannot be spread over {array.jobs:,} jobs; there will be {parts:,}",
        )
    tables = tuple(table.path for table in loaded.source.tables)
    array = replace(array, jobs=min(array.jobs, parts), tables=tables)
    if dry_run:
        check_folder(array)
        for text in listed(array.scripts(), array.folder):
            print(text)
        return
    if send and shutil.which("sbatch") is None:
        wrong = "there is no sbatch on the path; --no-submit writes the scripts, --dry-run prints them"
        raise BadOption("--submit", wrong)
    write_folder(array)
    size = f"{most_text(plan.run_count, is_most=is_adaptive)} in {amount(array.jobs, 'shard')}"
    if not send:
        print(f"wrote {array.folder}: {size}; {shlex.join(('bash', str(array.folder / SUBMIT)))} submits them")
        return
    jobs = submit(array)
    for name, job in jobs.items():
        print(f"{name} {job}")
    print(f"submitted {size}; the whole will be in {array.folder / RESULTS}")
