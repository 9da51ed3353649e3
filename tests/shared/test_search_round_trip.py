"""Any `[search]` there is survives its text in both forms, and its document."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.search_spec import DISTRIBUTION_INDICES
from henad_web.explore.spec_file import parse_spec_document, spec_document
from tests.shared.schemas import SCHEMA

SHARES = st.floats(0.0, 1.0)
SCALES = st.floats(1e-9, 1e9)
COUNTS = st.integers(1, 65536)
AXES = st.builds(hw.AxisSpec, column=st.just("Alive:max"), cells=COUNTS) | st.builds(
    hw.AxisSpec, column=st.just("Dead:min"), cells=COUNTS, min=st.floats(-1e9, 0.0), max=st.floats(1.0, 1e300)
)
SPACE = (hw.FactorSpec(param="rate", levels=hw.RangeLevels(min=0.0, max=1.0)),)
OBJECTIVES = st.builds(
    hw.ObjectiveSpec,
    column=st.just("Alive:max"),
    goal=st.sampled_from(hw.Goal),
    aggregate=st.sampled_from(hw.Aggregate),
)
SEARCHES = st.one_of(
    st.builds(
        hw.SearchSpec,
        algorithm=st.just(hw.SearchAlgorithm.HILL_CLIMB),
        max_evaluations=st.integers(1, 2**60),
        batch_size=st.integers(1, 2**24),
        space=st.just(SPACE),
        objective=OBJECTIVES,
        hill_climb=st.builds(hw.HillClimbSettings, mutation_scale=SCALES, patience=COUNTS, reevaluate=st.booleans()),
    ),
    st.builds(
        hw.SearchSpec,
        algorithm=st.just(hw.SearchAlgorithm.GENETIC),
        max_evaluations=COUNTS,
        batch_size=COUNTS,
        space=st.just(SPACE),
        objective=OBJECTIVES,
        genetic=st.builds(
            hw.GeneticSettings,
            population=st.integers(10, 65536),
            elite_count=st.integers(0, 9),
            tournament_size=COUNTS,
            crossover_rate=SHARES,
            mutation_rate=SHARES,
            mutation_scale=SCALES,
            reevaluate_fraction=SHARES,
        ),
    ),
    st.builds(
        hw.SearchSpec,
        algorithm=st.just(hw.SearchAlgorithm.CMA_ES),
        max_evaluations=COUNTS,
        batch_size=COUNTS,
        space=st.just(SPACE),
        objective=OBJECTIVES,
        cma_es=st.builds(
            hw.CmaEsSettings,
            population=st.none() | st.integers(4, 4096),
            sigma=st.floats(0.0, 1.0, exclude_min=True),
        ),
    ),
    st.builds(
        hw.SearchSpec,
        algorithm=st.just(hw.SearchAlgorithm.NSGA2),
        max_evaluations=COUNTS,
        batch_size=COUNTS,
        space=st.just(SPACE),
        objectives=st.tuples(OBJECTIVES, OBJECTIVES.map(lambda each: msgspec.structs.replace(each, column="Dead:min"))),
        nsga2=st.builds(
            hw.Nsga2Settings,
            population=st.integers(2, 65536),
            crossover_rate=SHARES,
            crossover_index=st.sampled_from(DISTRIBUTION_INDICES),
            mutation_rate=st.none() | SHARES,
            mutation_index=st.sampled_from(DISTRIBUTION_INDICES),
        ),
    ),
    st.builds(
        hw.SearchSpec,
        algorithm=st.just(hw.SearchAlgorithm.PSE),
        max_evaluations=COUNTS,
        batch_size=COUNTS,
        space=st.just(SPACE),
        pse=st.builds(
            hw.PseSettings,
            x_axis=AXES,
            y_axis=AXES,
            initial_samples=COUNTS,
            mutation_scale=SCALES,
            aggregate=st.sampled_from(hw.Aggregate),
        ),
    ),
)


@settings(max_examples=40, deadline=None)
@given(SEARCHES)
def test_any_search_survives_both_forms_and_its_document(search: hw.SearchSpec) -> None:
    spec = hw.SweepSpec(model="study", measure=hw.MeasureSettings(series_every=1), search=search)
    assert hw.parse_spec(hw.spec_to_toml(spec)).spec == spec
    assert hw.parse_spec(hw.spec_to_json(spec)).spec == spec
    assert parse_spec_document(spec_document(spec)) == spec
    spec.plan(SCHEMA)
