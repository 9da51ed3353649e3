"""How many runs are kept going at once, and how the machine is split between them.

Owns the choice of lanes and tracks, a pure function of what was asked, what the machine has and what the
probe found. Nothing here can change a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from henad_web.errors import ConcurrencyError

if TYPE_CHECKING:
    from henad_web.model.entry import Backend

__all__ = [
    "JOBS_PER_THREAD",
    "LARGE_GPU_POPULATION",
    "MAX_AUTO_GPU_TRACKS",
    "POPULATION_PER_JOB",
    "Concurrency",
    "ExecutionLayout",
    "MachineResources",
    "ProbeFacts",
    "choose_layout",
    "parse_concurrency",
]

Concurrency = int | Literal["auto"]
"""Runs to keep going at once: a count of at least 1, or ``auto`` to have `choose_layout` decide."""

JOBS_PER_THREAD = 4
"""Parallel jobs of one step that are worth one thread."""

POPULATION_PER_JOB = 4096
"""Population that counts as one job where a model does not report its jobs."""

MAX_AUTO_GPU_TRACKS = 4
"""Most GPU tracks chosen without being asked."""

LARGE_GPU_POPULATION = 1 << 20
"""Population from which a GPU run has the device to itself."""


def parse_concurrency(value: object) -> Concurrency:
    """Return the concurrency that `value` means: an int, ``auto``, or the text of either.

    Raises:
        ConcurrencyError: `value` is none of these, or a count below 1.
    """
    if value == "auto":
        return "auto"
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConcurrencyError(value)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineResources:
    """What the runs of a sweep can be spread over.

    Attributes:
        workers: Workers that the runs share, at least 1.
        memory_budget: Host bytes for all live runs together, None for no limit.
        gpu_memory_budget: Device bytes for all live runs together, None for no limit.
        can_spawn: Whether lanes can run beside the calling thread.
    """

    workers: int
    memory_budget: int | None = None
    gpu_memory_budget: int | None = None
    can_spawn: bool = True


class ProbeFacts(Protocol):
    """What a probe found out about one run of a model."""

    @property
    def heap_bytes(self) -> int:
        """Host bytes of the run."""

    @property
    def population(self) -> int:
        """Agents or cells."""

    @property
    def parallel_jobs(self) -> int | None:
        """Jobs one step splits into, None when the model does not say."""

    @property
    def demand_bytes(self) -> int:
        """Device bytes of the run, 0 for a CPU model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLayout:
    """Lanes and tracks of a sweep. A CPU model has no tracks, a GPU model no lanes.

    Attributes:
        cpu_lanes: Runs stepped at once on the CPU.
        threads_per_lane: Threads each of them may use.
        gpu_tracks: GPU runs alive at once.
    """

    cpu_lanes: int
    threads_per_lane: int
    gpu_tracks: int = 0

    def projected_bytes(self, probe: ProbeFacts) -> int:
        """Return the bytes of all live runs together, each as large as the probed one."""
        return self.cpu_lanes * probe.heap_bytes + self.gpu_tracks * probe.demand_bytes


def choose_layout(
    concurrency: Concurrency,
    resources: MachineResources,
    backend: Backend,
    probe: ProbeFacts,
    runs: int,
    *,
    inner_threads: bool = False,
) -> ExecutionLayout:
    """Return the layout for `runs` runs, sized from one probed run.

    A count that is given is kept, as far as `runs` and, for lanes, the memory budget allow; at least one run
    goes ahead whatever the budget. Automatic lanes are one a worker; a model with threads of its own instead
    gets one thread for every `JOBS_PER_THREAD` jobs of a step, and the workers are split into lanes of that
    width.

    Args:
        concurrency: What was asked.
        resources: What the machine has. Where lanes cannot be spawned there is one, whatever was asked.
        backend: Where the model steps.
        probe: The probed run.
        runs: Runs there are to do.
        inner_threads: Whether one step of the model can use several threads. Without it a lane has one.
    """
    if backend == "gpu":
        tracks = _tracks(concurrency, resources, probe)
        return ExecutionLayout(cpu_lanes=0, threads_per_lane=0, gpu_tracks=max(1, min(tracks, runs)))
    workers = max(1, resources.workers)
    alone = ExecutionLayout(cpu_lanes=1, threads_per_lane=workers if inner_threads else 1)
    if not resources.can_spawn:
        return alone
    threads = _threads_a_lane(concurrency, workers, probe) if inner_threads else 1
    lanes = workers // threads if concurrency == "auto" else concurrency
    lanes = min(lanes, runs, _fitting(resources.memory_budget, probe.heap_bytes, otherwise=lanes))
    return alone if lanes <= 1 else ExecutionLayout(cpu_lanes=lanes, threads_per_lane=threads)


def _threads_a_lane(concurrency: Concurrency, workers: int, probe: ProbeFacts) -> int:
    if concurrency != "auto":
        return max(1, workers // concurrency)
    jobs = probe.population // POPULATION_PER_JOB if probe.parallel_jobs is None else probe.parallel_jobs
    return min(max(-(-jobs // JOBS_PER_THREAD), 1), workers)


def _tracks(concurrency: Concurrency, resources: MachineResources, probe: ProbeFacts) -> int:
    if concurrency != "auto":
        return concurrency
    if probe.population >= LARGE_GPU_POPULATION:
        return 1
    budget = resources.gpu_memory_budget
    return min(MAX_AUTO_GPU_TRACKS, _fitting(budget, probe.demand_bytes, otherwise=MAX_AUTO_GPU_TRACKS))


def _fitting(budget: int | None, size: int, *, otherwise: int) -> int:
    return otherwise if budget is None or size <= 0 else budget // size
