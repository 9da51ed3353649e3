"""Searches over a model: the configs, runs, seeds and hash of a plan, and the source that runs come from."""

from __future__ import annotations

import math

import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import UsageError
from henad_web.explore.outcomes import RunOutcome, RunStatus, Series, StopReason
from henad_web.explore.seeds import run_seed
from henad_web.explore.spec import SeedScheme
from henad_web.model.fnv import Fnv1a64
from henad_web.randomness import DesignRng
from henad_web.run.requests import RunRequest
from henad_web.run.search_source import SearchSource
from henad_web.search import Candidate, Evaluation, Origin, SearchPlan
from henad_web.search.random_search import ScoredSearcher
from tests.shared.schemas import SCHEMA
from tests.shared.test_search_spec import CLIMB, CMA_ES, CUSTOM, GENETIC, NSGA2, PSE


def plan_of(text: str) -> SearchPlan:
    return SearchPlan.of(hw.parse_spec(text).spec, SCHEMA)


def candidate(genome: tuple[float, ...], number: int = 7, **more: int) -> Candidate:
    return Candidate(candidate_id=number, genome=genome, origin=Origin.RANDOM, **more)  # type: ignore[arg-type]


def test_a_candidate_has_the_values_of_its_genome_and_the_rest_of_the_base() -> None:
    plan = plan_of(GENETIC)
    config = plan.config(candidate((1.0, 0.0, 0.5)))
    assert (config.config_id, config.block, config.action_ticks) == (7, 0, (10,))
    assert config.params == (8, float(np.float32(0.9)), plan.base.configs[0].params[2], True, "fast")
    assert plan.run_count == 480 * 4
    assert repr(plan) == "<SearchPlan of 'study': genetic, 480 evaluations x 4 replicates>"


@pytest.mark.parametrize("scheme", SeedScheme)
def test_the_runs_of_a_candidate_are_numbered_and_seeded_by_its_replicates(scheme: SeedScheme) -> None:
    plan = plan_of(GENETIC.replace("[measure]", f'[seeds]\nroot = 5\nscheme = "{scheme}"\n[measure]'))
    first = plan.runs(candidate((0.1, 0.2, 0.3)))
    assert [(run.run_id, run.config_id, run.rep) for run in first] == [(28, 7, 0), (29, 7, 1), (30, 7, 2), (31, 7, 3)]
    assert [run.seed for run in first] == [run_seed(scheme, 5, 7, rep) for rep in range(4)]
    again = plan.runs(candidate((0.1, 0.2, 0.3), 9, reevaluated_id=7, replicate_offset=4))
    assert [(run.run_id, run.config_id, run.rep) for run in again] == [(36, 9, 4), (37, 9, 5), (38, 9, 6), (39, 9, 7)]
    assert [run.seed for run in again] == [run_seed(scheme, 5, 7, rep) for rep in range(4, 8)], (
        "those of the repeated one"
    )


def test_a_run_key_is_that_of_the_same_config_in_a_sweep() -> None:
    plan, genome = plan_of(GENETIC), (0.5, 0.5, 0.25)
    rate, mode, tick = plan.space.values(genome)
    sweep = hw.parse_spec(GENETIC[: GENETIC.index("[search]")] + f'[set]\nrate = {rate}\nmode = "{mode}"\n')
    same = hw.parse_spec(hw.spec_to_toml(sweep).replace("tick = 4", f"tick = {tick}")).spec.plan(SCHEMA)
    runs = plan.runs(candidate(genome, 0))
    assert [plan.run_key(candidate(genome, 0), run) for run in runs] == [same.run_key(run) for run in same.runs()]


def test_the_seed_of_a_search_follows_from_the_root() -> None:
    text = GENETIC.replace("[measure]", "[seeds]\nroot = 1\n[measure]")
    assert plan_of(text).search_seed == 18174148693273609575
    first = plan_of(text).searcher().ask(1)[0]
    assert first.genome == plan_of(text).space.draw(DesignRng(18174148693273609575))


def test_the_hash_of_a_search_is_written_field_by_field() -> None:
    plan = plan_of(GENETIC)
    fnv = Fnv1a64().text("henad.search.1").u64(int(plan.base.plan_hash, 16)).u64(4)
    fnv.text("genetic").u64(480).u64(32).byte(1).text("Alive:argmax").text("maximize").text("median")
    fnv.u64(3).byte(0).text("rate").byte(1).f64(0.05).f64(0.9).byte(0)
    fnv.byte(0).text("mode").byte(2).byte(1).text("pulse").byte(1).f64(0.0).f64(20.0).byte(0)
    fnv.u64(24).u64(2).u64(3).f64(0.9).f64(0.2).f64(0.1).f64(0.25)
    assert plan.search_hash == fnv.hex()


def test_the_hash_of_a_pse_search_has_no_number_for_a_range_to_come() -> None:
    plan = plan_of(PSE.replace("range = { min = 0.05, max = 0.9 }", "values = [0.5, 1, 0.25]"))
    fnv = Fnv1a64().text("henad.search.1").u64(int(plan.base.plan_hash, 16)).u64(1)
    fnv.text("pse").u64(1200).u64(64).byte(0).u64(1).byte(0).text("rate").byte(0).u64(3).text("0.5").text("1").text(
        "0.25"
    )
    fnv.text("Alive:max").f64(0.0).f64(4096.0).u64(32).text("Dead:mean").f64(math.nan).f64(math.nan).u64(20)
    assert plan.search_hash == fnv.u64(256).f64(0.1).text("median").hex()


def test_the_hash_of_a_cma_es_has_nothing_for_a_population_to_be_chosen() -> None:
    plan = plan_of(CMA_ES.replace("population = 12", "sigma = 0.25"))
    fnv = Fnv1a64().text("henad.search.1").u64(int(plan.base.plan_hash, 16)).u64(1)
    fnv.text("cma_es").u64(200).u64(16).byte(1).text("Alive:max").text("minimize").text("median")
    fnv.u64(2).byte(0).text("rate").byte(1).f64(0.05).f64(0.9).byte(0)
    fnv.byte(0).text("size").byte(1).f64(1.0).f64(8.0).byte(0)
    assert plan.search_hash == fnv.u64(0).f64(0.25).hex()
    assert len({plan_of(text).search_hash for text in (CMA_ES, CMA_ES.replace("= 12", "= 13"))}) == 2


def test_the_hash_of_a_custom_search_takes_its_name() -> None:
    hashes = {plan_of(CUSTOM.replace("mine", name)).search_hash for name in ("mine", "yours")}
    assert len(hashes) == 2


def test_the_hash_of_an_nsga2_search_has_each_objective_and_the_rate_that_is_meant() -> None:
    plan = plan_of(NSGA2)
    fnv = Fnv1a64().text("henad.search.1").u64(int(plan.base.plan_hash, 16)).u64(1)
    fnv.text("nsga2").u64(2000).u64(40).byte(0).u64(2)
    fnv.text("Alive:max").text("maximize").text("median").text("Dead:final").text("minimize").text("mean")
    fnv.u64(2).byte(0).text("rate").byte(1).f64(0.05).f64(0.9).byte(0).byte(0).text("mode").byte(2)
    assert plan.search_hash == fnv.u64(40).f64(0.9).u64(15).f64(0.5).u64(15).hex()
    spelt_out = NSGA2.replace("population = 40", "population = 40\nmutation_rate = 0.5")
    assert plan_of(spelt_out).search_hash == plan.search_hash


NSGA2_SETTINGS = [("population", 41), ("crossover_rate", 0.8), ("crossover_index", 7)]
NSGA2_SETTINGS += [("mutation_rate", 0.25), ("mutation_index", 31)]


def test_the_hash_takes_the_replicates_and_every_setting_and_no_default_left_out() -> None:
    changes = [("replicates = 4", "replicates = 5"), ("= 480", "= 481"), ("= 32", "= 33"), ("= 24", "= 25")]
    changes += [('"maximize"', '"minimize"'), ("max = 0.9", "max = 0.8"), ("max = 0.9", "max = 0.9, step = 0.1")]
    texts = [GENETIC, CLIMB, CLIMB.replace("patience = 3", "reevaluate = true")]
    texts += [GENETIC.replace(*change, 1) for change in changes]
    changes = [("population = 40", f"{key} = {value}") for key, value in NSGA2_SETTINGS]
    changes += [('"maximize"', '"minimize"'), ('"mean"', '"median"'), ('"Dead:final"', '"Dead:max"')]
    texts += [NSGA2, *(NSGA2.replace(*change, 1) for change in changes)]
    assert len({plan_of(text).search_hash for text in texts}) == len(texts)
    assert plan_of(GENETIC.replace("= 24", "= 24\nelite_count = 2")).search_hash == plan_of(GENETIC).search_hash


def test_the_plan_of_a_sweep_is_no_search() -> None:
    with pytest.raises(UsageError, match=r"no search; allowed: one with a \[search\] table"):
        SearchPlan.of(hw.SweepSpec(model="study"), SCHEMA)


def outcome_of(request: RunRequest, *, status: RunStatus = RunStatus.OK) -> RunOutcome:
    rate = float(str(request.config.params[1]))
    return RunOutcome(
        run=request.run,
        config=request.config,
        run_key=request.run_key,
        status=status,
        stop_reason=StopReason.STEPS,
        ticks=20,
        population=1,
        build_ms=0.0,
        wall_ms=0.0,
        reducers={"Alive:argmax": rate + request.run.rep / 100},
        series=Series.empty(1),
        note="",
    )


def batches_of(source: SearchSource, *, failing: int | None = None) -> list[list[RunRequest]]:
    """Run a search to its end and return the requests of each batch."""
    batches: list[list[RunRequest]] = []
    while not source.is_done:
        while source.turn(may_ask=True) is not None:
            pass
        batch = []
        while (request := source.next()) is not None:
            batch.append(request)
        for position, request in enumerate(batch):
            assert source.turn(may_ask=True) is None, "a batch waits for its last run"
            status = RunStatus.PANICKED if position == failing else RunStatus.OK
            source.committed(outcome_of(request, status=status))
        batches += [batch] if batch else []
    return batches


SMALL = GENETIC.replace("= 480", "= 50").replace("population = 24", "population = 12")


def test_a_source_hands_out_the_runs_of_what_the_searcher_asks() -> None:
    source, plan = SearchSource(plan_of(SMALL)), plan_of(SMALL)
    assert source.total_runs == 200
    assert source.next() is None
    batches = batches_of(source)
    assert [request.run.run_id for batch in batches for request in batch] == list(range(200))
    searcher = plan.searcher()
    for batch in batches:
        asked = searcher.ask(32)
        assert [request.run for request in batch] == [run for each in asked for run in plan.runs(each)]
        assert [request.config for request in batch[::4]] == [plan.config(each) for each in asked]
        assert [request.run_key for request in batch[::4]] == [plan.run_key(each, plan.runs(each)[0]) for each in asked]
        replicates = [(outcome_of(request).reducers["Alive:argmax"],) for request in batch]
        for position, each in enumerate(asked):
            searcher.tell([Evaluation(each.candidate_id, tuple(replicates[4 * position : 4 * position + 4]))])
    assert source.turn(may_ask=True) is None
    assert source.is_done


def test_a_failed_run_gives_its_candidate_no_value() -> None:
    source = SearchSource(plan_of(SMALL))
    batches = batches_of(source, failing=2)
    assert isinstance(source.searcher, ScoredSearcher)
    failed = {entry.candidate_id: entry.failed_count for entry in source.searcher.ranking()}
    assert failed[0] == 1
    assert sum(failed.values()) == len(batches), "one of each batch"


def test_a_source_is_done_once_its_budget_is_told() -> None:
    source = SearchSource(plan_of(SMALL.replace("= 50", "= 3")))
    while source.turn(may_ask=True) is not None:
        pass
    for request in iter(source.next, None):
        source.committed(outcome_of(request))
    assert not source.is_done
    while source.turn(may_ask=False) is not None:
        pass
    assert source.is_done, "without another ask"


def test_a_source_that_may_not_ask_tells_a_whole_batch_and_asks_for_no_other() -> None:
    source = SearchSource(plan_of(SMALL))
    assert source.turn(may_ask=False) is None
    while source.turn(may_ask=True) is not None:
        pass
    batch = list(iter(source.next, None))
    for request in batch:
        source.committed(outcome_of(request))
    while source.turn(may_ask=False) is not None:
        pass
    assert not source.searcher.awaits_any, "it is told"
    assert source.searcher.batch_count == 1
    assert not source.is_done
