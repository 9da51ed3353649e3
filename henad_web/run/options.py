"""Settings of a sweep that change nothing in its results: how many at once, how much memory, whom to wake.

Owns the options as a value. Reads no environment and chooses no defaults of a target.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from henad_web.errors import UsageError
from henad_web.explore.shards import Shard
from henad_web.explore.spec import SweepSpec, spec_of
from henad_web.explore.spec_file import LoadedSpec
from henad_web.model.decimals import whole_text
from henad_web.run.layout import Concurrency, LaneKind, parse_concurrency

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.spec_file import SpecSource

__all__ = ["Executor", "OnFull", "SweepRunOptions", "check_search_options", "given_options", "given_spec"]


class OnFull(StrEnum):
    """What a sweep does when there is no room left for its results.

    `WAIT` pauses it: a blocking call looks again every few seconds, a handle waits for `resume`. `FAIL` ends it.
    """

    WAIT = "wait"
    FAIL = "fail"


class Executor(Protocol):
    """What a sweep uses of a `concurrent.futures.Executor`, and of others with the same interface."""

    def submit(self, fn: Callable[..., bytes], /, *args: object) -> object:
        """Return a future, as `concurrent.futures.Future`, of ``fn(*args)`` on one of its workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRunOptions:
    """Settings of one `SweepRun`. None of them changes a result.

    Attributes:
        concurrency: Runs kept going at once, ``"auto"`` to let the target decide. Over an executor, the spans that it
            has at once; ``"auto"`` is one a worker, as far as the executor tells how many it has.
        lanes: Where lanes step their runs: ``"process"``, ``"thread"``, ``"in_caller"`` (one lane, inside the sweep's
            own thread), or ``"auto"``. In processes of their own, a crash or a run that never returns costs a row.
        executor: Whose workers step the runs: any `concurrent.futures.Executor`, or what has its `submit`, such as
            Dask's ``client.get_executor()``. The sweep gives it work and never shuts it down. None for lanes on this
            machine. Not together with `lanes`.
        batches: Whether replicates of a config may be stepped together where the model offers it.
        memory_budget: Host bytes for all live runs together, None for no limit.
        gpu_memory_budget: Device bytes for all live GPU runs together, None for the device's largest buffer.
        series_budget: Bytes of series that the events carry, None for the target's default. The files keep every
            series.
        retry_failed: Whether runs that failed are done again where earlier results are kept.
        reuse: Folder of other results; runs whose run keys stand there are copied instead of being run. None for none.
        on_full: What to do when there is no room left for the results: ``"wait"`` or ``"fail"``.
        force: Whether to take over a folder whose lock a process on another host did not give back.
        shard: The part of the plan to run, None for all of it.
        spec_source: Where the spec came from, for the manifest.
        provenance: Build of the program that calls, for the manifest: names and values as text.
        wake: Called once after each event is queued, on the thread that pumps. It must not block. It may call
            `try_recv`, `progress`, `pause`, `resume` and `abort`.

    Raises:
        ConcurrencyError: `concurrency` is neither ``"auto"`` nor a count of at least 1.
        UsageError: A budget is negative or not a whole number, `on_full` or `lanes` is another word, `batches`,
            `executor`, `shard`, `reuse` or `wake` of another type, or `lanes` are chosen beside an `executor`.
    """

    concurrency: Concurrency = "auto"
    lanes: LaneKind | str = "auto"
    executor: Executor | None = None
    batches: bool = True
    memory_budget: int | None = None
    gpu_memory_budget: int | None = None
    series_budget: int | None = None
    retry_failed: bool = False
    reuse: str | os.PathLike[str] | None = None
    on_full: OnFull | str = OnFull.WAIT
    force: bool = False
    shard: Shard | None = None
    spec_source: SpecSource | None = None
    provenance: Mapping[str, str] | None = None
    wake: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "concurrency", parse_concurrency(self.concurrency))
        _check_word("on_full", self.on_full, list(OnFull))
        _check_word("lanes", self.lanes, ["auto", *(kind for kind in LaneKind if kind is not LaneKind.EXECUTOR)])
        _check_executor(self.executor, self.lanes)
        object.__setattr__(self, "on_full", OnFull(self.on_full))
        if not isinstance(self.batches, bool):
            raise UsageError(f"batches is {whole_text(self.batches)}; allowed: True or False")
        for name in ("memory_budget", "gpu_memory_budget", "series_budget"):
            _check_budget(name, getattr(self, name))
        if not isinstance(self.shard, Shard | None):
            raise UsageError(
                f"shard is {whole_text(self.shard)}; allowed: hw.Shard(INDEX, COUNT), or None for all runs"
            )
        if not isinstance(self.reuse, str | os.PathLike | None):
            raise UsageError(f"reuse is {whole_text(self.reuse)}; allowed: the path of a folder of results, or None")
        if not (self.wake is None or callable(self.wake)):
            raise UsageError(f"wake is {whole_text(self.wake)}; allowed: a function of no arguments, or None")

    @property
    def lane_kind(self) -> LaneKind | None:
        """The kind of lanes that is asked for, None to have it chosen."""
        if self.executor is not None:
            return LaneKind.EXECUTOR
        return None if self.lanes == "auto" else LaneKind(self.lanes)

    @classmethod
    def from_loaded(cls, loaded: LoadedSpec, **fields: object) -> SweepRunOptions:
        """Return the options a spec file asks for: its source and ``[execution]``; `fields` of the caller win."""
        return cls(**{**_asked_for(loaded), **fields})


def given_options(options: object) -> SweepRunOptions:
    """Return `options`, those at their defaults when None.

    Raises:
        UsageError: They are something else, such as a mapping.
    """
    if options is None:
        return SweepRunOptions()
    if isinstance(options, SweepRunOptions):
        return options
    raise UsageError(f"options is {whole_text(options)}; allowed: hw.SweepRunOptions(concurrency=2, …), or None")


def given_spec(given: SweepSpec | LoadedSpec, options: SweepRunOptions | None) -> tuple[SweepSpec, SweepRunOptions]:
    """Return the spec that `given` is or carries, and `options` completed by what came with it.

    What a file says of its source and in ``[execution]`` holds wherever `options` are at their default. Options that
    `SweepRunOptions.from_loaded` made of it, or this function, are complete.

    Raises:
        UsageError: `given` is no spec, or `options` are none.
    """
    spec, options = spec_of(given), given_options(options)
    if not isinstance(given, LoadedSpec) or options.spec_source is given.source:
        return spec, options
    defaults = {field.name: field.default for field in dataclasses.fields(SweepRunOptions)}
    asked = {name: value for name, value in _asked_for(given).items() if getattr(options, name) == defaults[name]}
    return spec, dataclasses.replace(options, **asked)


def check_search_options(plan: Plan, options: SweepRunOptions) -> None:
    """Refuse what a search, if `plan` is that of one, cannot have.

    Raises:
        UsageError: `options` ask a search for a shard, for rows of other results, or to do failed runs again.
    """
    if plan.search_space is None:
        return
    if options.shard is not None and options.shard.count > 1:
        raise UsageError(f"a search has no shards, came {options.shard}: each batch depends on all of the one before")
    if options.reuse is not None:
        raise UsageError("a search reuses no rows of other results: it does not know yet what it will run")
    if options.retry_failed:
        raise UsageError("a search does no run again: what it chose next depends on the failures, too")


def _asked_for(loaded: LoadedSpec) -> dict[str, Any]:
    execution = loaded.execution
    return {
        "concurrency": execution.concurrent,
        "memory_budget": execution.memory,
        "gpu_memory_budget": execution.gpu_memory,
        "spec_source": loaded.source,
    }


def _check_word(name: str, word: object, words: Sequence[str]) -> None:
    if word not in words:
        raise UsageError(f"{name} is {word!r}; allowed: {', '.join(repr(str(word)) for word in words)}")


def _check_executor(executor: object, lanes: str) -> None:
    if executor is None:
        return
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor is {whole_text(executor)}; allowed: a concurrent.futures.Executor, or what has its submit, or "
            f"None"
        )
    if lanes != "auto":
        raise UsageError(
            f"lanes is {str(lanes)!r} beside an executor, on whose workers every run is stepped in a process of its "
            f"own; leave one of them out"
        )


def _check_budget(name: str, budget: object) -> None:
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise UsageError(
            f"{name} is {whole_text(budget)}; allowed: a whole number of bytes from 0, or None for no limit"
        )
