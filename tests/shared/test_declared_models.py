"""Models made from `hw.Model` and `hw.GridModel`: what they need not say, and that they are models like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray

import henad_web as hw
from henad_web.model.params import ParamKind
from tests.shared.declared_models import ForestFire, Walk, study_of
from tests.shared.hosts import Host

if TYPE_CHECKING:
    from henad_web.model.state import BatchState, ModelState

    state: ModelState = Walk()
    lit: None = None
    assert_type(ForestFire().density, float)
    assert_type(ForestFire().grid_width, int)
    assert_type(ForestFire().burning, int)
    assert_type(Walk().place, float)
    assert_type(hw.choice(("a", "b")).__get__(Walk(), Walk), str)
    assert_type(hw.f32("x", "X", 0.5, 0, 1), hw.Param)


def test_an_entry_is_what_the_class_declares() -> None:
    entry = ForestFire.entry()
    assert (entry.id, entry.name) == ("forest_fire", "Forest fire")
    assert entry.description == "A forest that burns from its left edge."
    assert [param.id for param in entry.params] == ["grid_width", "grid_height", "density"]
    assert [(param.default, param.kind) for param in entry.params[:2]] == [(24, ParamKind.U32), (16, ParamKind.U32)]
    assert entry.params[2] == hw.f32("density", "Density", 0.6, 0, 1, apply=hw.Apply.RELOAD, format=hw.Format.PERCENT)
    assert entry.schema().stat_labels == ("burning", "Burnt trees")
    assert entry.stats[1].color == (120, 60, 30, 255)
    assert entry.actions == (hw.Action("light", "Light"),)
    assert entry.metadata.topology is hw.Topology.GRID
    assert entry.metadata.portable
    assert not Walk.entry().metadata.portable
    assert Walk.entry().actions == (hw.Action("go_home", "Go home"),)
    assert ForestFire.entry() is entry


def test_what_a_model_does_not_say_has_a_default() -> None:
    walk = Walk(seed=3)
    assert (walk.tick, walk.population, walk.parallel_jobs, walk.grid, walk.seed) == (0, 1, None, None, 3)
    assert 0 < walk.heap_bytes < 1000
    assert not walk.act("nothing")
    assert not walk.has_ended()
    fire = ForestFire({"grid_width": 30})
    assert (fire.shape, fire.population) == ((16, 30), 480)
    assert 480 <= fire.heap_bytes < 2000
    grid = fire.grid
    assert grid is not None
    assert grid.shape == (16, 30)
    assert grid.dtype == np.uint8
    grid[:] = 0
    assert fire.cells.any()


def test_a_value_that_is_not_allowed_is_refused_by_class_and_entry_alike() -> None:
    for build in (ForestFire, ForestFire.entry().build):
        with pytest.raises(hw.ParamError, match="did you mean 'density'"):
            build({"desnity": 0.5}, 1)
        with pytest.raises(hw.ParamError, match="out of range"):
            build({"density": 2}, 1)


def test_values_are_attributes_in_canonical_form() -> None:
    assert ForestFire({"density": "0.25"}).density == 0.25
    assert ForestFire({"density": 0.1}).density == float(np.float32(0.1))
    assert Walk({"start": -3}).place == -3.0


def test_both_ways_to_step_count_and_may_be_cut_anywhere() -> None:
    for model in (ForestFire, Walk):
        whole, cut = model(seed=5), model(seed=5)
        whole.step(7)
        for steps in (0, 1, 4, 2):
            cut.step(steps)
        assert whole.tick == cut.tick == 7
        assert whole.stats() == cut.stats()
    assert Walk({"drift": 0.5}).stats() == {"place": 0.0}


def test_steps_that_count_themselves_are_counted_once() -> None:
    class Counts(Walk):
        """A walk that looks at its tick as it goes."""

        def step(self, n: int = 1) -> None:
            for _ in range(n):
                super().step(1)

    walk = Counts()
    walk.step(5)
    assert (walk.tick, walk.place) == (5, 1.25)


def test_a_live_parameter_changes_and_another_does_not() -> None:
    walk = Walk()
    assert walk.set_param("drift", 1.0)
    assert not walk.set_param("start", 5)
    walk.step(2)
    assert (walk.place, walk.start) == (2.0, 0)
    with pytest.raises(hw.ParamError, match="did you mean 'drift'"):
        walk.set_param("drfit", 1.0)
    with pytest.raises(hw.ParamError, match="out of range"):
        walk.set_param("drift", 2.0)


def test_an_action_is_done_and_may_be_refused() -> None:
    walk = Walk({"start": 2})
    assert walk.act("go_home")
    assert walk.place == 0.0
    assert not walk.act("go_home")
    fire = ForestFire({"density": 1})
    fire.step(3)
    assert fire.act("light")
    fire.light()


def test_a_class_inherits_declarations_and_says_its_own_id() -> None:
    class WindyFire(ForestFire, id="windy", name="Windy fire", width=8):
        """A fire with wind."""

        wind = hw.choice(("north", "south"), default=1)
        density = hw.f32(0.9, min=0.5, max=1)

    entry = WindyFire.entry()
    assert (entry.id, entry.name, entry.description) == ("windy", "Windy fire", "A fire with wind.")
    assert [param.id for param in entry.params] == ["grid_width", "grid_height", "density", "wind"]
    assert entry.schema().defaults == (8, 16, float(np.float32(0.9)), "south")
    assert entry.schema().stat_labels == ("burning", "Burnt trees")
    assert WindyFire().wind == "south"
    assert ForestFire.entry().schema().defaults[2] == float(np.float32(0.6))


def test_every_kind_of_parameter_is_declared_without_its_id() -> None:
    class Kinds(Walk):
        """One of each."""

        rule = hw.text("B3/S23", label="Birth and survival")
        mode = hw.choice(("calm", "wild"))
        is_open = hw.boolean(True, apply=hw.Apply.LIVE)
        count = hw.u32(default=3, min=1, max=9)
        share = hw.f32(0.25, 0, 1, step=0.25)
        word = hw.text(default="none")

    *_, rule, mode, is_open, count, share, word = Kinds.entry().params
    assert rule == hw.text("rule", "Birth and survival", "B3/S23", apply=hw.Apply.RELOAD)
    assert mode == hw.choice("mode", "Mode", ("calm", "wild"), apply=hw.Apply.RELOAD)
    assert is_open == hw.boolean("is_open", "Is open", True)
    assert count == hw.u32(id="count", label="Count", default=3, min=1, max=9, apply=hw.Apply.RELOAD)
    assert share == hw.f32("share", "Share", 0.25, 0, 1, step=0.25, apply=hw.Apply.RELOAD)
    assert word == hw.text("word", label="Word", default="none", apply=hw.Apply.RELOAD)
    model = Kinds({"mode": "wild"})
    assert (model.rule, model.mode, model.is_open, model.count, model.word) == ("B3/S23", "wild", True, 3, "none")


def test_an_abstract_class_is_no_model_and_its_heirs_are() -> None:
    class Base(hw.Model, abstract=True, portable=False):
        """What both have."""

        size = hw.u32(3, min=1, max=9)

        def step(self, n: int = 1) -> None:
            self.done = n

    with pytest.raises(hw.ModelDefinitionError, match="Base: it is abstract"):
        Base.entry()

    class Heir(Base):
        """One of them."""

        @hw.stat
        def length(self) -> int:
            return self.size

    heir = Heir()
    heir.step(4)
    assert (heir.tick, heir.done, heir.stats()) == (4, 4, {"length": 3})
    assert not Heir.entry().metadata.portable
    assert Heir.step is Base.step


def test_a_class_stands_for_its_entry() -> None:
    assert hw.ModelSet([ForestFire])["forest_fire"] is ForestFire.entry()
    text = (
        'model = "forest_fire"\n[run]\nsteps = 5\n[[block]]\nfactors = [{ param = "density", values = [0.5, 0.9] }]\n'
    )
    for models in (ForestFire, hw.ModelSet([ForestFire]), {"forest_fire": ForestFire}):
        assert hw.parse_spec(text, models=models).plan is not None
    with pytest.raises(hw.UsageError, match=r"allowed: a ModelSet, a ModelEntry or hw\.Model"):
        hw.parse_spec(text, models=int)  # type: ignore[arg-type]

    class Ledger:
        """Has entries of another kind."""

        def entry(self) -> None:
            """Do nothing."""

    for other in (int, Ledger, ForestFire()):
        with pytest.raises(hw.ModelDefinitionError, match="no ModelEntry"):
            hw.ModelSet([other])  # type: ignore[list-item]


def test_a_sweep_of_a_class_is_that_of_its_entry(host: Host) -> None:
    spec = study_of(ForestFire)
    files = host.files(ForestFire, spec)
    assert hw.masked(files) == hw.masked(host.files(ForestFire.entry(), spec))
    results = hw.ResultSet.from_files(files, models=ForestFire)
    assert results.replay(0, "end").stats()["burning"] == 0.0


def test_replicates_are_offered_together_by_class_methods() -> None:
    class Walks:
        """Several walks."""

        def __init__(self, params: Mapping[str, hw.ParamValue], seeds: Sequence[int]) -> None:
            self.walks = [Twins(params, seed) for seed in seeds]

    class Twins(Walk):
        """A walk that is taken several times at once."""

        @classmethod
        def build_many(cls, params: Mapping[str, hw.ParamValue], seeds: Sequence[int]) -> BatchState:
            return Walks(params, seeds)  # type: ignore[return-value]

        @classmethod
        def batch_rows(cls, params: Mapping[str, hw.ParamValue]) -> int:
            return 5

    entry = Twins.entry()
    assert entry.batch_rows({}) == 5
    batch: object = entry.build_many({"start": 2}, [1, 2])
    assert isinstance(batch, Walks)
    assert [walk.place for walk in batch.walks] == [2.0, 2.0]
    assert Walk.entry().batches is None
    assert ForestFire.entry().batch_rows({}) == 1


def test_memory_of_agents_is_guessed_without_walking_them_all() -> None:
    class Agent:
        """Holds a thousand bytes of its own, and knows its model."""

        def __init__(self, model: object) -> None:
            self.model, self.data = model, np.zeros(1000, np.uint8)

    class Crowd(hw.Model):
        """Many agents on a large map."""

        def setup(self) -> None:
            self.agents = [Agent(self) for _ in range(500)]
            self.map: NDArray[np.uint8] = np.zeros(100_000, np.uint8)

        def step_once(self) -> None:
            self.agents.pop()

        @hw.stat
        def left(self) -> int:
            return len(self.agents)

    assert 600_000 < Crowd().heap_bytes < 1_000_000
