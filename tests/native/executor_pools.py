"""Executors of three kinds, as their users make them, and their workers, for tests and for ``poe kill-executors``."""

from __future__ import annotations

import multiprocessing
import os
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from henad_web.run.options import Executor

__all__ = ["KINDS", "Pool", "children", "pool", "processes"]

KINDS = ("processes", "dask", "parsl")


@dataclass(frozen=True, kw_only=True)
class Pool:
    """An executor, and what a test can do to it.

    Attributes:
        executor: The executor.
        workers: Returns the ids of its workers' processes.
        cut: Cuts the connection to its scheduler, where it has one that can be cut.
    """

    executor: Executor
    workers: Callable[[], list[int]]
    cut: Callable[[], None] | None = None


def processes(count: int) -> ProcessPoolExecutor:
    """Return a pool that forks nothing: this process has threads."""
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def pool(kind: str, count: int) -> Iterator[Pool]:
    """Lend an executor of `count` workers, and end it and them."""
    with {"processes": _processes, "dask": _dask, "parsl": _parsl}[kind](count) as made:
        yield made


@contextmanager
def _processes(count: int) -> Iterator[Pool]:
    with processes(count) as executor:
        yield Pool(executor=executor, workers=lambda: list(executor._processes or ()))


@contextmanager
def _dask(count: int) -> Iterator[Pool]:
    import dask  # noqa: PLC0415 - half a second that others do without
    from distributed import Client, LocalCluster  # noqa: PLC0415 - as above

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),  # for one that starts slowly
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield Pool(
            executor=client.get_executor(),
            workers=lambda: [
                nanny.pid
                for nanny in cluster.workers.values()
                if nanny.pid and nanny.worker_address in cluster.scheduler.workers  # one killed before is not replaced
            ],
            cut=lambda: client.loop.add_callback(client.scheduler_comm.comm.abort),
        )


@contextmanager
def _parsl(count: int) -> Iterator[Pool]:
    from parsl import Config  # noqa: PLC0415 - as above
    from parsl.concurrent import ParslPoolExecutor  # noqa: PLC0415
    from parsl.executors import HighThroughputExecutor  # noqa: PLC0415
    from parsl.providers import LocalProvider  # noqa: PLC0415

    scripts, path = sysconfig.get_path("scripts"), os.environ["PATH"]
    os.environ["PATH"] = f"{scripts}{os.pathsep}{path}"  # its programs stand beside this Python
    try:
        with tempfile.TemporaryDirectory() as folder:
            lanes = HighThroughputExecutor(
                label="lanes",
                address="127.0.0.1",
                max_workers_per_node=count,
                cores_per_worker=1e-6,
                encrypted=False,
                heartbeat_period=1,
                heartbeat_threshold=4,
                provider=LocalProvider(init_blocks=1, min_blocks=1, max_blocks=1),
            )
            config = Config(
                executors=[lanes], run_dir=folder, initialize_logging=False, usage_tracking=0, strategy_period=0.1
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its own, of this Python
                executor = ParslPoolExecutor(config)
                try:
                    yield Pool(executor=executor, workers=lambda: _below(folder))
                finally:
                    executor.shutdown(wait=False)  # it would wait for ever for a task that it has lost
    finally:
        os.environ["PATH"] = path


def children(parent: int) -> list[int]:
    """Return the processes that `parent` has started and that are no zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, father = stat.read_text().rpartition(")")[2].split()[:2]
            if int(father) == parent and state != "Z":
                found.append(int(stat.parent.name))
    return sorted(found)


def _below(folder: str) -> list[int]:
    """Return the workers of the program of Parsl that was told of `folder`; its first process keeps its books."""
    programs = [path for path in Path("/proc").glob("[0-9]*") if folder.encode() in _command(path)]
    pools = [int(path.name) for path in programs if b"process_worker_pool" in _command(path)]
    spawned = [[pid for pid in children(pool) if b"spawn_main" in _command(Path(f"/proc/{pid}"))] for pool in pools]
    return [pid for of_pool in spawned for pid in of_pool[1:]]


def _command(process: Path) -> bytes:
    with suppress(OSError):
        return (process / "cmdline").read_bytes()
    return b""
