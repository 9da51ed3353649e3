"""Sweeps over executors of every kind: the bytes of one machine, whatever models do to the processes they are in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_web.run.layout import LaneKind
from tests.native import lane_models
from tests.native.executor_pools import KINDS, Pool, pool
from tests.native.lane_kills import until
from tests.native.lane_models import FATES, end_process, fail, hang, nothing, segfault
from tests.native.test_process_lanes import epidemic, files
from tests.shared.toy_models import Toy, entry_of, toy_spec

SEVERAL = [(kind, 2) for kind in KINDS]


@pytest.fixture(scope="module", params=[("processes", 1), *SEVERAL], ids=str)
def lent(request: pytest.FixtureRequest) -> Iterator[Pool]:
    kind, count = request.param
    with pool(kind, count) as made:
        yield made


by_several = pytest.mark.parametrize("lent", SEVERAL, indirect=True, ids=str)


def test_an_executor_leaves_the_bytes_of_one_machine(lent: Pool) -> None:
    for order in ("depth", "breadth"):
        entry, spec = epidemic(replicates=8, order=order)
        alone = files(entry, spec, lanes="in_caller", batches=False)
        assert files(entry, spec, executor=lent.executor, batches=order == "depth") == alone


def has_done(run: hw.SweepRun, runs: int) -> bool:
    return run.progress().runs_done > runs


@by_several
def test_a_resume_may_change_the_executor(lent: Pool, tmp_path: Path) -> None:
    entry, spec = epidemic(replicates=20)
    undisturbed = files(entry, spec, lanes="in_caller")
    options = [hw.SweepRunOptions(lanes="process", concurrency=2), hw.SweepRunOptions(executor=lent.executor)]
    for name, (first, second) in {"to": options, "from": options[::-1]}.items():
        folder = tmp_path / name
        with hw.SweepRun.start(entry, spec, output=hw.DirectoryOutput(folder), options=first) as run:
            until(partial(has_done, run, 5))
        hw.resume_sweep(entry, folder, options=second)
        assert hw.masked({name: (folder / name).read_bytes() for name in undisturbed}) == undisturbed


@pytest.fixture(scope="module")
def costly() -> tuple[hw.SweepSpec, dict[str, bytes]]:
    """Return runs that fail in every way, and what lanes in processes here make of them."""
    fates = (nothing, segfault, end_process, fail, hang, nothing)
    spec = toy_spec(*(FATES.index(fate) for fate in fates))
    spec = msgspec.structs.replace(spec, run=hw.RunSettings(steps=10, timeout_s=0.3))
    return spec, files(lane_models.fated, spec, lanes="process", concurrency=2)


@by_several
def test_what_models_do_to_their_process_costs_a_row_as_in_a_lane_here(
    lent: Pool, costly: tuple[hw.SweepSpec, dict[str, bytes]]
) -> None:
    before = lent.workers()
    spec, here = costly
    assert files(lane_models.fated, spec, executor=lent.executor) == here
    assert not before or lent.workers() == before, "no worker was lost"


@by_several
def test_a_model_that_no_worker_could_import_is_sent_as_a_whole(lent: Pool) -> None:
    class Local(Toy):
        def stats(self) -> dict[str, float]:
            return {"Ticks": float(self.tick * self.value)}

    spec = toy_spec(1, 5)
    assert files(entry_of(Local), spec, executor=lent.executor) == files(entry_of(Local), spec, lanes="in_caller")


@by_several
def test_spans_at_once_are_as_many_as_are_asked_for_and_told_of(lent: Pool) -> None:
    entry, spec = epidemic()
    outline = hw.plan_spec(entry, spec, options=hw.SweepRunOptions(executor=lent.executor, concurrency=5))
    assert (outline.layout.kind, outline.layout.cpu_lanes) == (LaneKind.EXECUTOR, 5)
    outline = hw.plan_spec(entry, spec, options=hw.SweepRunOptions(executor=lent.executor))
    count = {"ClientExecutor": None, "ProcessPoolExecutor": None}.get(type(lent.executor).__name__, 8)
    assert outline.layout.cpu_lanes == (count or len(lent.workers()))
