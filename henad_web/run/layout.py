"""How many runs are kept going at once, and how the machine is split between them.

Owns the choice of lanes and tracks, a pure function of what was asked, what the machine has and what the
probe found. Nothing here can change a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from henad_web.errors import ConcurrencyError, counted
from henad_web.wording import about_text, byte_text

if TYPE_CHECKING:
    from henad_web.model.entry import Backend

__all__ = [
    "JOBS_PER_THREAD",
    "LARGE_GPU_POPULATION",
    "MAX_AUTO_GPU_TRACKS",
    "POPULATION_PER_JOB",
    "WORK_PER_LANE_S",
    "Concurrency",
    "ExecutionLayout",
    "LaneKind",
    "MachineResources",
    "ProbeFacts",
    "choose_layout",
    "is_work_decisive",
    "layout_text",
    "parse_concurrency",
    "replicates_that_fit",
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

WORK_PER_LANE_S = 0.5
"""Seconds of work that are worth an automatic lane: a process of its own takes 0.3 s of a core before its first run."""

LANE_BYTES = 64 << 20
"""Host bytes that an automatic lane counts for beside its run; an interpreter with all that is imported takes 40 MB."""


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


class LaneKind(StrEnum):
    """Where a lane steps its run: inside the caller, in a process or on a thread of its own, or over an executor."""

    IN_CALLER = "in_caller"
    PROCESS = "process"
    THREAD = "thread"
    EXECUTOR = "executor"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineResources:
    """What the runs of a sweep can be spread over.

    Attributes:
        workers: Workers that the runs share, at least 1.
        memory_budget: Host bytes for all live runs together, None for no limit.
        gpu_memory_budget: Device bytes for all live runs together, None for no limit.
        free_memory: Host bytes that nobody uses now, None where that is not known. It bounds what is chosen
            automatically where no budget is given.
        can_spawn: Whether lanes can run beside the calling thread.
        no_processes: Why none of them can be a process, in words; empty where they can.
        steps_threads_at_once: Whether threads step Python at the same time, as without an interpreter lock.
        workers_text: What the workers are, in words; None for cores.
    """

    workers: int
    memory_budget: int | None = None
    gpu_memory_budget: int | None = None
    free_memory: int | None = None
    can_spawn: bool = True
    no_processes: str = ""
    steps_threads_at_once: bool = False
    workers_text: str | None = None


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

    @property
    def run_s(self) -> float | None:
        """Seconds a run is guessed to take, None where none was timed."""

    @property
    def batch_rows(self) -> int:
        """Replicates like it that are worth stepping together, 1 for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLayout:
    """Lanes and tracks of a sweep. A CPU model has no tracks, a GPU model no lanes.

    Attributes:
        cpu_lanes: Runs stepped at once on the CPU.
        threads_per_lane: Threads each of them may use.
        gpu_tracks: GPU runs alive at once.
        batch_rows: Most replicates that a lane steps together; a model may want fewer.
        kind: Where the lanes step their runs. Only one lane can be in the caller.
        why: What decided, as the words behind the colon of `layout_text`; no part of what makes layouts equal.
    """

    cpu_lanes: int
    threads_per_lane: int
    gpu_tracks: int = 0
    batch_rows: int = 1
    kind: LaneKind = LaneKind.IN_CALLER
    why: str = field(default="", compare=False)

    def projected_bytes(self, probe: ProbeFacts) -> int:
        """Return the bytes of all live runs together, each as large as the probed one."""
        on_cpu = self.cpu_lanes * min(self.batch_rows, probe.batch_rows) * probe.heap_bytes
        return on_cpu + self.gpu_tracks * probe.demand_bytes


def layout_text(layout: ExecutionLayout) -> str:
    """Return what runs at once and why, such as ``2 process lanes: 512 runs of about 40 ms each on 2 cores``."""
    threads = layout.threads_per_lane
    if layout.gpu_tracks:
        text = f"{counted(layout.gpu_tracks, 'GPU run')} at a time"
    elif layout.kind is LaneKind.IN_CALLER:
        text = "one lane in the caller" if threads == 1 else f"one lane of {threads} threads in the caller"
    else:
        text = counted(layout.cpu_lanes, f"{layout.kind} lane")
        text += "" if threads == 1 else f" of {threads} threads each"
    text += "" if layout.batch_rows == 1 else f", up to {layout.batch_rows} replicates together"
    return f"{text}: {layout.why}" if layout.why else text


def choose_layout(
    concurrency: Concurrency,
    resources: MachineResources,
    backend: Backend,
    probe: ProbeFacts,
    runs: int,
    *,
    inner_threads: bool = False,
    releases_lock: bool = False,
    kind: LaneKind | None = None,
) -> ExecutionLayout:
    """Return the layout for `runs` runs, sized from one probed run.

    A count that is given is kept, as far as `runs` and, for lanes, the memory budget allow; at least one run
    goes ahead whatever the budget. Automatic lanes are one a worker, each with at least `WORK_PER_LANE_S` to do
    where a run was timed and a process has to be spawned for it; a model with threads of its own instead gets one
    thread for every `JOBS_PER_THREAD` jobs of a step, and the workers are split into lanes of that width. One lane is
    in the caller unless another kind was asked for; several are threads where these step at once, else processes. Over
    an executor a lane is whatever one of its workers does at a time, on one thread.

    Args:
        concurrency: What was asked.
        resources: What the machine has. Where lanes cannot be spawned there is one, whatever was asked.
        backend: Where the model steps.
        probe: The probed run.
        runs: Runs there are to do.
        inner_threads: Whether one step of the model can use several threads. Without it a lane has one.
        releases_lock: Whether steps of the model leave the interpreter to other threads.
        kind: The kind of lanes that was asked for, None to have it chosen.
    """
    if backend == "gpu":
        tracks = max(1, min(_tracks(concurrency, resources, probe), runs))
        return ExecutionLayout(cpu_lanes=0, threads_per_lane=0, gpu_tracks=tracks)
    workers, inner_threads = resources.workers, inner_threads and kind is not LaneKind.EXECUTOR
    alone = ExecutionLayout(cpu_lanes=1, threads_per_lane=workers if inner_threads else 1)
    if not resources.can_spawn or kind is LaneKind.IN_CALLER:
        reason = "as asked" if resources.can_spawn else "no other can be started here"
        return replace(alone, why=_kept_from(concurrency, reason))
    chosen = kind or (LaneKind.THREAD if releases_lock or resources.steps_threads_at_once else LaneKind.PROCESS)
    if chosen is LaneKind.PROCESS and resources.no_processes:
        return replace(alone, why=_kept_from(concurrency, f"no process can be started, as {resources.no_processes}"))
    threads = _threads_a_lane(concurrency, workers, probe) if inner_threads else 1
    lanes, why = _lanes(concurrency, resources, probe, runs, threads=threads, kind=chosen)
    if lanes <= 1:
        return replace(alone, kind=kind or LaneKind.IN_CALLER, why=why)
    return ExecutionLayout(cpu_lanes=lanes, threads_per_lane=threads, kind=chosen, why=why)


def is_work_decisive(concurrency: Concurrency, resources: MachineResources, runs: int, kind: LaneKind | None) -> bool:
    """Return whether `choose_layout` would look at the time of a CPU run, so that one is worth timing."""
    can_spawn = resources.can_spawn and not resources.no_processes
    return concurrency == "auto" and kind is None and can_spawn and min(resources.workers, runs) > 1


def replicates_that_fit(memory: int | None, heap_bytes: int, lanes: int, at_most: int) -> int:
    """Return how many replicates each of `lanes` lanes may step together, 1 to `at_most`.

    Args:
        memory: Host bytes for all live runs of all lanes together, None for no limit.
        heap_bytes: Host bytes of one replicate.
        lanes: Lanes that share `memory`, at least 1.
        at_most: Replicates worth stepping together, at least 1.
    """
    return max(1, min(at_most, _fitting(memory, heap_bytes * lanes, otherwise=at_most)))


def _lanes(
    concurrency: Concurrency,
    resources: MachineResources,
    probe: ProbeFacts,
    runs: int,
    *,
    threads: int,
    kind: LaneKind,
) -> _Bound:
    """Return how many lanes there should be, 0 and 1 both meaning one, and why: the lowest bound, the first of equals.

    Args:
        concurrency: What was asked.
        resources: What the machine has.
        probe: The probed run.
        runs: Runs there are to do.
        threads: Threads of each lane.
        kind: Kind of the lanes.
    """
    if concurrency == "auto":
        bounds = _automatic_bounds(resources, probe, runs, threads, kind)
    else:
        there_are = f"there {'is' if runs == 1 else 'are'} {counted(runs, 'run')}"
        bounds = [(concurrency, "as asked"), (runs, _kept_from(concurrency, there_are))]
    budget, heap = resources.memory_budget, probe.heap_bytes
    if budget is not None:
        reason = f"runs of {byte_text(heap)} each, in {byte_text(budget)}"
        bounds.append((_fitting(budget, heap, otherwise=runs), _kept_from(concurrency, reason)))
    return min(bounds, key=lambda bound: bound[0])


_Bound = tuple[int, str]
"""Most lanes that something leaves room for, and what to say where nothing leaves less."""


def _automatic_bounds(
    resources: MachineResources, probe: ProbeFacts, runs: int, threads: int, kind: LaneKind
) -> list[_Bound]:
    """Return what bounds automatic lanes beside a budget: cores, runs, free memory, and work worth a process."""
    workers, heap, free = resources.workers, probe.heap_bytes, resources.free_memory
    is_spawned = kind is LaneKind.PROCESS  # which takes time and memory of its own
    work = counted(runs, "run") if probe.run_s is None else f"{counted(runs, 'run')} of {about_text(probe.run_s)} each"
    spread = f"{work} on {resources.workers_text or counted(workers, 'core')}"
    bounds = [(min(workers // threads, runs), spread if threads == 1 else f"{spread}, {threads} for a step")]
    if is_spawned and probe.run_s is not None:
        whole_s = runs * probe.run_s
        lanes = int(whole_s / WORK_PER_LANE_S)
        is_tiny = lanes <= 1
        bounds.append((lanes, f"the whole work is {about_text(whole_s)}" if is_tiny else f"{work}, no work for more"))
    if resources.memory_budget is None and free is not None:
        needed = heap + LANE_BYTES if is_spawned else heap
        bounds.append(
            (_fitting(free, needed, otherwise=runs), f"runs of {byte_text(heap)} each, {byte_text(free)} free")
        )
    return bounds


def _kept_from(concurrency: Concurrency, reason: str) -> str:
    """Return `reason`, and what was asked for where it was a count of lanes that it does not give."""
    return reason if concurrency in ("auto", 1) else f"{reason}; {concurrency} were asked for"


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
