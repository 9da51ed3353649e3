"""Studies stepped in batches: runs, models that go wrong, and what of an outcome is compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.outcomes import RunOutcome
from henad_web.model.entry import BatchOffer, ModelEntry
from henad_web.model.params import ParamValue
from henad_web.run import batch
from henad_web.run.batch import BatchCursor
from henad_web.run.cursor import RunCursor
from henad_web.run.requests import RunRequest
from tests.shared.hosts import ManualClock
from tests.shared.toy_models import Toy, ToyRows, entry_of

__all__ = [
    "ClockedToy",
    "Leaves",
    "Mixed",
    "MixedAtBuild",
    "Plain",
    "Study",
    "TIMINGS",
    "always",
    "comparable",
    "finished",
    "toy_study",
    "toys",
]


TIMINGS = ("build_ms", "wall_ms", "traceback")


def comparable(outcome: RunOutcome) -> tuple[object, ...]:
    fields = [
        getattr(outcome, field.name)
        for field in dataclasses.fields(outcome)
        if field.name not in (*TIMINGS, "series", "reducers")
    ]
    reducers = {name: repr(value) for name, value in outcome.reducers.items()}
    return (*fields, reducers, outcome.series.ticks.tolist(), repr(outcome.series.values.tolist()))


def finished(cursor: BatchCursor, slices: Iterator[int]) -> list[RunOutcome]:
    cursor.build()
    outcomes = []
    while not cursor.is_over:
        outcomes += cursor.advance(next(slices))
    return outcomes


class Study:
    """The runs of one config, and the ways to do them."""

    def __init__(self, entry: ModelEntry, spec: hw.SweepSpec, columns: tuple[str, ...]) -> None:
        plan = spec.plan(entry.schema())
        self.entry, self.measure = entry, MeasurePlan.bind(plan, columns)
        self.requests = [RunRequest.of(plan, run) for run in plan.runs()]
        self.clock = ManualClock()

    def cursor(self, requests: Sequence[RunRequest]) -> BatchCursor:
        return BatchCursor(self.entry, self.measure, requests, self.clock)

    def alone(self, slice_steps: int = 1000) -> list[tuple[object, ...]]:
        return [
            comparable(done)
            for request in self.requests
            for done in finished(self.cursor([request]), always(slice_steps))
        ]

    def split(self, sizes: Iterator[int], slices: Iterator[int], *, is_sound: bool = False) -> list[tuple[object, ...]]:
        """Do the runs in batches of `sizes`; of a sound model none but a batch of one is done by its own cursor."""
        left, outcomes = list(self.requests), list[RunOutcome]()
        while left:
            size = next(sizes)
            with patch.object(batch, "RunCursor", wraps=RunCursor) as made:
                outcomes += finished(self.cursor(left[:size]), slices)
            assert not is_sound or made.call_count == (len(left[:size]) == 1)
            del left[:size]
        outcomes.sort(key=lambda outcome: outcome.run.run_id)
        return list(map(comparable, outcomes))


def always(*numbers: int) -> Iterator[int]:
    while True:
        yield from numbers


# Every entry that offers batches


class Mixed(Toy):
    """Which way it goes follows from its seed, and `value` says when."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.kind = (seed or 0) % 5

    def before_step(self) -> None:
        if self.kind == 1 and self.tick == self.value:
            raise ZeroDivisionError("its time has come")

    def stats(self) -> dict[str, float]:
        left = self.value - self.tick
        return {"Ticks": float(self.tick), "Inverse": 1.0 / left if left or self.kind != 2 else float("nan")}

    def act(self, action_id: str) -> bool:
        return self.kind != 3


class MixedAtBuild(Mixed):
    """Some are not built."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        if self.kind == 4:
            raise hw.RefusedBuild("one in five makes no model")


def toys(entry: ModelEntry, rows: Callable[[Sequence[Toy]], ToyRows] = ToyRows, worth: object = 64) -> ModelEntry:
    """Return `entry` with batches of its toys."""

    def build(params: Mapping[str, ParamValue], seeds: Sequence[int]) -> ToyRows:
        return rows([entry.factory(params, seed) for seed in seeds])  # type: ignore[misc]

    def worthwhile(params: Mapping[str, ParamValue]) -> int:
        if isinstance(worth, Exception):
            raise worth
        return worth  # type: ignore[return-value]

    return dataclasses.replace(entry, batches=BatchOffer(build=build, rows=worthwhile))


def toy_study(
    model: type[Toy], rows: Callable[[Sequence[Toy]], ToyRows] = ToyRows, steps: int = 12, **run: object
) -> Study:
    entry = toys(entry_of(model, stats=("Ticks", "Inverse"), actions=("mark",)), rows)
    spec = hw.SweepSpec(
        model="toy",
        fixed=(("value", 7),),
        run=hw.RunSettings(steps=steps, replicates=15, **run),  # type: ignore[arg-type]
        measure=hw.MeasureSettings(stats_every=3, series_every=6),
        actions=(hw.ActionSpec(id="mark", tick=2), hw.ActionSpec(id="mark", tick=6, name="again")),
    )
    return Study(entry, spec, ("Ticks", "Inverse"))


class Leaves(Toy):
    """Ends at a tick that follows from its seed, refuses actions or not, and is not finite now and then."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.kind = (seed or 0) % 7

    def stats(self) -> dict[str, float]:
        is_odd = self.kind == 3 and self.tick == 6
        return {"Ticks": float(self.tick + self.kind), "Inverse": float("inf") if is_odd else 1.0 / (1 + self.tick)}

    def act(self, action_id: str) -> bool:
        return self.tick < self.kind


class Plain(Toy):
    """Only counts, with both statistics."""

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick), "Inverse": 1.0}


class ClockedToy(Toy):
    """Takes a sixteenth of a second a step and a quarter of one to be built."""

    clock = ManualClock()

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.clock.advance(0.25)

    def before_step(self) -> None:
        self.clock.advance(0.0625)

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick), "Inverse": 1.0}
