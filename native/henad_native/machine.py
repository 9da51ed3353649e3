"""What the machine leaves to this process: cores by affinity, control groups and Slurm, memory that is free to it.

Owns the reading of both, from what the system says alone. What is made of them is the layout's affair.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from henad_web.run.layout import MachineResources

__all__ = ["free_memory", "machine_resources", "no_processes", "usable_cores"]

ROOT = Path("/")

_CORES_OF_A_JOB = ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")
"""Variables of Slurm; the first is there where the job has asked for it."""

_MEMORY_OF_A_JOB = ("SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU")
"""Variables of Slurm, MiB; one of them is there, by what the job has asked for."""


def machine_resources(root: Path = ROOT) -> MachineResources:
    """Return what this process may use now: the cores and the memory left to it, and whether its threads step at once.

    Args:
        root: Where the system's files are.
    """
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return MachineResources(
        workers=usable_cores(root),
        free_memory=free_memory(root),
        no_processes=no_processes(),
        steps_threads_at_once=not has_lock,
    )


def no_processes() -> str:
    """Return why no Python can be started beside the caller that inherits the number of a pipe; empty where one can."""
    if os.name != "posix":
        return "this system hands no open pipe on by its number"
    if getattr(sys, "frozen", False):
        return f"{sys.executable!r} is a program that was frozen together with its Python"
    if not sys.executable or not os.access(sys.executable, os.X_OK):
        return f"sys.executable is {sys.executable!r}, which is no program"
    return ""


def usable_cores(root: Path = ROOT, *, allowed: int | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Return how many cores this process may keep busy, at least 1; a part of one counts as one.

    Args:
        root: Where the system's files are.
        allowed: Cores it may run on, as the system says when None.
        environment: Where a job of Slurm finds its cores: a cluster need not bind jobs to them.
    """
    cores = _allowed_cores() if allowed is None else allowed
    quotas = (_quota(group) for controller in ("", "cpu") for group in _groups(root, controller))
    given = _cores_of_a_job(environment)
    return max(1, min([cores, *(math.ceil(quota) for quota in (*quotas, given) if quota is not None)]))


def free_memory(root: Path = ROOT, *, environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the bytes that can be used without swapping or being killed, None where the system does not say.

    Args:
        root: Where the system's files are.
        environment: Where a job of Slurm finds its memory: a cluster may watch it in other ways than control groups.
    """
    available = _kibibytes(root / "proc/meminfo", "MemAvailable")
    rooms = [_room(group) for controller in ("", "memory") for group in _groups(root, controller)]
    known = [room for room in (available, _room_of_a_job(root, environment), *rooms) if room is not None]
    return max(0, min(known)) if known else None


def _cores_of_a_job(environment: Mapping[str, str]) -> int | None:
    return next((count for name in _CORES_OF_A_JOB if (count := _count(environment.get(name, "")))), None)


def _room_of_a_job(root: Path, environment: Mapping[str, str]) -> int | None:
    """Return the bytes that a job of Slurm has beside what this process holds, None without a limit; 0 is none, too."""
    a_node, a_core = (_count(environment.get(name, "")) for name in _MEMORY_OF_A_JOB)
    mebibytes = a_node or (a_core or 0) * (_cores_of_a_job(environment) or 1)
    return mebibytes * (1 << 20) - (_kibibytes(root / "proc/self/status", "VmRSS") or 0) if mebibytes else None


def _allowed_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups that bound `controller`, the innermost first.

    The unified hierarchy has no name; it is mounted alone, or beside those of the older version. Inside a container the
    group's path may be the host's, of which only the mount's own root is seen.
    """
    base = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        if controller not in controllers.split(","):
            continue
        for mount in (base / "unified", base) if not controller else (base / controllers, base / controller):
            parts = Path(path.lstrip("/")).parts
            yield from (mount.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))


def _quota(group: Path) -> float | None:
    """Return the cores that `group` may keep busy, None without a limit: ``cpu.max``, or two files before it."""
    limit, _, period = _text(group / "cpu.max").partition(" ")
    if not limit:
        limit, period = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")
    quota, length = _count(limit), _count(period)
    return quota / length if quota and length else None


def _room(group: Path) -> int | None:
    """Return the bytes left below the limit of `group`, None without one; files read once give way."""
    limit, used = _count(_text(group / "memory.max")), _count(_text(group / "memory.current"))
    if limit is None:
        limit, used = _count(_text(group / "memory.limit_in_bytes")), _count(_text(group / "memory.usage_in_bytes"))
    if limit is None or used is None:
        return None
    stats = dict(line.split(" ", 1) for line in _text(group / "memory.stat").splitlines() if " " in line)
    cached = _count(stats.get("total_inactive_file", stats.get("inactive_file", "")))
    return limit - used + (cached or 0)


def _kibibytes(path: Path, wanted: str) -> int | None:
    """Return the bytes that a line ``wanted: N kB`` of `path` tells, None without one."""
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        kibibytes = _count(rest.removesuffix("kB"))
        if name == wanted and kibibytes is not None:
            return kibibytes * 1024
    return None


def _count(text: str) -> int | None:
    """Return the number in `text`, None for ``max``, -1 and everything else that is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # no such file on this system, or none that this process may read
        return ""
