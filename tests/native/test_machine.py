"""What a process may use: cores by affinity and control groups of both versions, memory that is free to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_native.machine import free_memory, machine_resources, usable_cores
from henad_native.target import NativeTarget
from henad_web.run.layout import layout_text
from tests.shared.hosts import ManualClock

GIB = 1 << 30
MEMINFO = f"MemTotal: 16384 kB\nMemFree: 1 kB\nMemAvailable:   {16 * GIB // 1024} kB\n"


def system(root: Path, groups: str, files: Mapping[str, str]) -> Path:
    """Return a root where the process is in the control groups `groups`, with `files` below their mount."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups, encoding="utf-8")
    (root / "proc/meminfo").write_text(MEMINFO, encoding="utf-8")
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return root


NEW = "0::/user.slice/job_7\n"
OLD = "9:name=systemd:/\n4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n0::/\n"


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("", {}, 8),
        (NEW, {}, 8),
        (NEW, {"user.slice/job_7/cpu.max": "max 100000"}, 8),
        (NEW, {"user.slice/job_7/cpu.max": "300000 100000"}, 3),
        (NEW, {"user.slice/job_7/cpu.max": "150000 100000"}, 2),
        (NEW, {"user.slice/job_7/cpu.max": "10000 100000"}, 1),
        (NEW, {"user.slice/job_7/cpu.max": "6400000 100000"}, 8),
        (NEW, {"user.slice/job_7/cpu.max": "max 100000", "user.slice/cpu.max": "200000 100000"}, 2),
        (NEW, {"cpu.max": "200000 100000"}, 2),
        (NEW, {"unified/user.slice/job_7/cpu.max": "200000 100000"}, 2),
        (NEW, {"user.slice/job_8/cpu.max": "200000 100000"}, 8),
        (OLD, {"cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us": "200000"}, 8),
        (
            OLD,
            {
                "cpu,cpuacct/slurm/job_7/cpu.cfs_quota_us": "200000",
                "cpu,cpuacct/slurm/job_7/cpu.cfs_period_us": "100000",
            },
            2,
        ),
        (OLD, {"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, 4),
        (OLD, {"cpu/slurm/job_7/cpu.cfs_quota_us": "-1", "cpu/slurm/job_7/cpu.cfs_period_us": "100000"}, 8),
        ("nonsense\n::\n", {"cpu.max": "x y"}, 8),
    ],
)
def test_the_cores_are_those_allowed_within_every_quota(
    tmp_path: Path, groups: str, files: dict[str, str], cores: int
) -> None:
    assert usable_cores(system(tmp_path, groups, files), allowed=8) == cores


@pytest.mark.parametrize(
    ("variables", "cores"),
    [
        ({"SLURM_CPUS_PER_TASK": "3", "SLURM_CPUS_ON_NODE": "6"}, 3),
        ({"SLURM_CPUS_ON_NODE": "6"}, 6),
        ({"SLURM_CPUS_ON_NODE": "64"}, 8),
        ({"SLURM_CPUS_PER_TASK": "", "SLURM_CPUS_ON_NODE": "many"}, 8),
    ],
)
def test_a_job_of_slurm_keeps_to_the_cores_it_was_given_also_where_it_is_not_bound_to_them(
    tmp_path: Path, variables: dict[str, str], cores: int
) -> None:
    assert usable_cores(system(tmp_path, "", {}), allowed=8, environment=variables) == cores


@pytest.mark.parametrize(
    ("groups", "files", "free"),
    [
        ("", {}, 16 * GIB),
        (NEW, {"user.slice/job_7/memory.max": "max", "user.slice/job_7/memory.current": "5"}, 16 * GIB),
        (NEW, {"user.slice/job_7/memory.max": f"{4 * GIB}", "user.slice/job_7/memory.current": f"{GIB}"}, 3 * GIB),
        (NEW, {"user.slice/memory.max": f"{4 * GIB}", "user.slice/memory.current": f"{GIB}"}, 3 * GIB),
        (
            NEW,
            {
                "memory.max": f"{4 * GIB}",
                "memory.current": f"{3 * GIB}",
                "memory.stat": f"anon 5\ninactive_file {GIB}\nactive_file 7",
            },
            2 * GIB,
        ),
        (NEW, {"memory.max": f"{GIB}", "memory.current": f"{2 * GIB}"}, 0),
        (NEW, {"memory.max": f"{GIB}"}, 16 * GIB),
        (
            OLD,
            {
                "memory/slurm/job_7/memory.limit_in_bytes": f"{4 * GIB}",
                "memory/slurm/job_7/memory.usage_in_bytes": f"{3 * GIB}",
                "memory/slurm/job_7/memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}",
            },
            2 * GIB,
        ),
        (
            OLD,
            {"memory/memory.limit_in_bytes": "9223372036854771712", "memory/memory.usage_in_bytes": "4096"},
            16 * GIB,
        ),
    ],
)
def test_free_memory_is_what_the_system_has_within_every_limit(
    tmp_path: Path, groups: str, files: dict[str, str], free: int
) -> None:
    assert free_memory(system(tmp_path, groups, files)) == free


@pytest.mark.parametrize(
    ("variables", "free"),
    [
        ({"SLURM_MEM_PER_NODE": "4096"}, 4 * GIB),
        ({"SLURM_MEM_PER_NODE": "4096", "SLURM_CPUS_PER_TASK": "2"}, 4 * GIB),
        ({"SLURM_MEM_PER_NODE": "65536"}, 16 * GIB),
        ({"SLURM_MEM_PER_NODE": "0"}, 16 * GIB),
        ({"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_PER_TASK": "3", "SLURM_CPUS_ON_NODE": "6"}, 3 * GIB),
        ({"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_ON_NODE": "6"}, 6 * GIB),
        ({"SLURM_MEM_PER_CPU": "1024"}, GIB),
        ({"SLURM_MEM_PER_NODE": "", "SLURM_MEM_PER_CPU": "many"}, 16 * GIB),
    ],
)
@pytest.mark.parametrize("held", [0, GIB])
def test_a_job_of_slurm_keeps_to_its_memory_also_where_no_control_group_holds_it(
    tmp_path: Path, variables: dict[str, str], free: int, held: int
) -> None:
    root = system(tmp_path, "", {})
    (root / "proc/self/status").write_text(f"Name: python\nVmRSS:\t {held // 1024} kB\n", encoding="utf-8")
    assert free_memory(root, environment=variables) == (free if free == 16 * GIB else free - held)
    (root / "proc/self/status").unlink()
    assert free_memory(root, environment=variables) == free


def test_a_system_that_tells_nothing_bounds_nothing(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None
    assert usable_cores(tmp_path, allowed=8) == 8
    assert usable_cores(tmp_path, allowed=0) == 1


def test_the_cores_of_this_process_are_those_it_may_run_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert usable_cores(tmp_path) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert usable_cores(tmp_path) == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(tmp_path) == 1


@pytest.mark.parametrize("has_lock", [True, False])
def test_threads_step_at_once_where_the_interpreter_has_no_lock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_lock: bool
) -> None:
    monkeypatch.setattr("sys._is_gil_enabled", lambda: has_lock, raising=False)
    files = {"cpu.max": "100000 100000", "memory.max": "9", "memory.current": "2"}
    resources = machine_resources(root=system(tmp_path, NEW, files))
    assert resources.steps_threads_at_once is not has_lock
    assert (resources.workers, resources.free_memory, resources.no_processes) == (1, 7, "")


@pytest.mark.parametrize(
    ("reading_s", "asked", "text"),
    [
        (1e-6, {}, r"one lane in the caller: the whole work is under 1 ms"),
        (1.0, {}, r"2 process lanes: 10 runs of about 2\.0 s each on 2 cores"),
        (1e-6, {"concurrency": 2}, r"2 process lanes: as asked"),
        (1e-6, {"concurrency": 4, "lanes": "in_caller"}, r"one lane in the caller: as asked; 4 were asked for"),
        (1.0, {"memory_budget": 1}, r"one lane in the caller: runs of .* each, in 1 byte"),
    ],
)
def test_a_sweep_on_this_machine_has_the_lanes_that_its_work_and_its_cores_are_worth(
    monkeypatch: pytest.MonkeyPatch, reading_s: float, asked: dict[str, Any], text: str
) -> None:
    monkeypatch.setattr("henad_native.machine.usable_cores", lambda root: 2)
    spec = hw.SweepSpec(model="game_of_life", run=hw.RunSettings(steps=1, replicates=10))
    target = NativeTarget(clock=ManualClock(reading_s))
    entry = hw.example_models()["game_of_life"]
    outline = hw.plan_spec(entry, spec, options=hw.SweepRunOptions(batches=False, **asked), target=target)
    assert re.fullmatch(text, layout_text(outline.layout))
