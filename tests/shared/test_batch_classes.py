"""`hw.Batch`: a batch in a few lines, which goes the way of its models, and what is refused of one that is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import henad_web as hw
from henad_web.testing import Check, check_model


class Walks(hw.Batch):
    """Walkers side by side: an array and a list, a statistic that is an attribute and one that is a method."""

    per_row: ClassVar[tuple[str, ...]] = ("rngs", "place")
    place: NDArray[np.int64]

    def setup(self, rows: Sequence[Any]) -> None:
        self.rngs = [row.rng for row in rows]
        self.place = np.array([row.place for row in rows])

    def step_once(self) -> None:
        self.place += [int(rng.integers(-3, 4)) for rng in self.rngs]
        self.populations = 1 + np.abs(self.place)

    def far(self) -> NDArray[np.bool_]:
        return np.abs(self.place) > 4

    def home(self) -> None:
        self.place[:] = 0

    def home_if_far(self) -> NDArray[np.bool_]:
        far = self.far()
        self.place[far] = 0
        return far


class Walk(hw.Model, batch=Walks, palette=((0, 0, 0),)):
    """The walker alone."""

    place = hw.stat(label="Place")

    def setup(self) -> None:
        self.place, self.population = 0, 1

    def step_once(self) -> None:
        self.place += int(self.rng.integers(-3, 4))
        self.population = 1 + abs(int(self.place))

    @hw.stat(label="Is far")
    def far(self) -> bool:
        return abs(self.place) > 4

    @hw.action
    def home(self) -> None:
        self.place = 0

    @hw.action
    def home_if_far(self) -> bool:
        far = bool(self.far)
        self.place *= not far
        return far


def test_rows_go_the_ways_of_their_models() -> None:
    report = check_model(Walk)
    assert report.is_ok, report
    assert Check.BATCHES in report.passed
    assert Walk.entry().batch_rows({}) == 64


@pytest.mark.parametrize("drop", ["rngs", "place"])
def test_what_has_a_row_a_run_and_is_not_named_is_caught(drop: str) -> None:
    class Less(Walks):
        per_row = tuple(name for name in Walks.per_row if name != drop)

    class Wrong(Walk, batch=Less):
        """Keeps rows that are not its own."""

    assert [failure.check for failure in check_model(Wrong).failures] == [Check.BATCHES]


def test_several_steps_at_once_are_counted() -> None:
    class Jumps(hw.Batch):
        per_row = ("place",)

        def setup(self, rows: Sequence[Any]) -> None:
            self.place = np.array([float(row.seed) for row in rows])

        def step(self, n: int = 1) -> None:
            self.place += n

    class Jump(hw.Model, batch=Jumps):
        place = hw.stat()

        def setup(self) -> None:
            self.place = float(self.seed or 0)

        def step(self, n: int = 1) -> None:
            self.place += n

        @classmethod
        def batch_rows(cls, params: object) -> int:
            return 3

    assert Jump.entry().batch_rows({}) == 3
    rows = Jump.entry().build_many({}, [5, 9])
    rows.step(3)
    rows.step(0)
    assert rows.tick == 3
    assert {name: values.tolist() for name, values in rows.stats().items()} == {"place": [8.0, 12.0]}
    rows.keep(np.array([1], np.intp))
    assert (rows.stats()["place"].tolist(), rows.populations.tolist()) == ([12.0], [0])
    assert rows.grid_of(0) is None
    for stepped in (Jump(), rows):
        with pytest.raises(hw.ModelDefinitionError, match="it has no step_once of its own: step\\(n\\) does its steps"):
            stepped.step_once()  # type: ignore[union-attr]


def batch_without_steps() -> object:
    class Still(hw.Batch):
        per_row = ("place",)

    return Still


def batch_with_both() -> object:
    class Both(Walks):
        def step(self, n: int = 1) -> None: ...

    return Both


def batch_of_a_name() -> object:
    class Named(hw.Batch):
        per_row = "place"  # type: ignore[assignment]

        def step_once(self) -> None: ...

    return Named


def batch_that_names_nothing() -> object:
    class Nothing(hw.Batch):
        def step_once(self) -> None: ...

    return Nothing


def model_with_another_class() -> object:
    class Wrong(Walk, batch=dict):  # type: ignore[arg-type]
        """Has no batch."""

    return Wrong


def model_with_an_action_more() -> object:
    class Waves(Walk):
        @hw.action
        def wave(self) -> None: ...

    return Waves


def model_with_two_ways() -> object:
    class Two(Walk):
        @classmethod
        def build_many(cls, params: object, seeds: Sequence[int]) -> Walks:
            raise NotImplementedError

    return Two


def model_that_ends() -> object:
    class Ends(Walk):
        def has_ended(self) -> bool:
            return True

    return Ends


@pytest.mark.parametrize(
    ("define", "words"),
    [
        (batch_without_steps, "batch class Still: it has no step; write step_once(self), or step(self, n=1)"),
        (batch_with_both, "batch class Both: it has both step_once and step; keep one"),
        (batch_of_a_name, "batch class Named: per_row is 'place'; it names the arrays and lists"),
        (batch_that_names_nothing, "batch class Nothing: per_row is (); it names the arrays and lists"),
        (
            model_with_another_class,
            "its class line says batch=a value of type type; allowed: a class made from hw.Batch",
        ),
        (model_with_an_action_more, "its batch class Walks has no method for the action 'wave'"),
        (model_with_two_ways, "it has both build_many and batch=; keep one, either makes batches"),
        (model_that_ends, "it has has_ended and offers batches; a model that may end by itself is stepped alone"),
    ],
)
def test_what_is_no_batch_is_refused_as_it_is_defined(define: Callable[[], object], words: str) -> None:
    with pytest.raises(hw.ModelDefinitionError) as caught:
        define()
    assert words in str(caught.value)


def test_arrays_that_lack_rows_are_told() -> None:
    class Short(Walks):
        def setup(self, rows: Sequence[Any]) -> None:
            super().setup(rows[1:])

    class Missing(Walks):
        def setup(self, rows: Sequence[Any]) -> None:
            self.rngs = [row.rng for row in rows]

    models = [Walk(seed=seed) for seed in range(3)]
    with pytest.raises(
        hw.ModelDefinitionError, match="batch class Short: rngs has 2 where there are 3 rows; setup makes"
    ):
        Short(models)
    with pytest.raises(hw.ModelDefinitionError, match="batch class Missing: place is NoneType where there are 3 rows"):
        Missing(models)
