"""The description of a model by the ODD protocol: what its entry says, and every element of the protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

import henad_web as hw

SIR = hw.example_models().lookup("sir")

ELEMENTS = (
    "## 1. Purpose and patterns",
    "## 2. Entities, state variables, and scales",
    "## 3. Process overview and scheduling",
    "## 4. Design concepts",
    "**Basic principles.**",
    "**Emergence.**",
    "**Adaptation.**",
    "**Objectives.**",
    "**Learning.**",
    "**Prediction.**",
    "**Sensing.**",
    "**Interaction.**",
    "**Stochasticity.**",
    "**Collectives.**",
    "**Observation.**",
    "## 5. Initialization",
    "## 6. Input data",
    "## 7. Submodels",
)


def test_it_has_the_elements_of_the_protocol_in_their_order() -> None:
    lines = hw.describe_model(SIR).splitlines()
    headings = [line for line in lines if line.startswith(("## ", "**"))]
    assert len(headings) == len(ELEMENTS)
    assert all(line.startswith(element) for line, element in zip(headings, ELEMENTS, strict=True))


def test_it_says_what_the_entry_declares() -> None:
    text = hw.describe_model(SIR)
    assert text.startswith(
        f"# SIR Epidemic: description by the ODD protocol\n\nModel `sir`, schema `{SIR.schema().schema_hash}`.\n"
    )
    for said in (
        SIR.description,
        "Entities: cells of a grid.",
        "| `infection_rate` | Infection Rate | f32 | 0 to 1 | 0.3 | as it runs |",
        "| `initial_infected_pct` | Initial Infected | f32 | 0 to 1 | 0.01 | between runs |",
        "- `seed_outbreak`: Seed outbreak",
        "equal parameters and seeds give equal runs on every machine.",
        "**Observation.** 3 statistics of the whole model: Susceptible, Infected, Recovered.",
        "Read at the build alone: `grid_width`, `grid_height`, `initial_infected_pct`.",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("exactly", "portable", "said"),
    [
        (True, True, "give equal runs on every machine."),
        (True, False, "give equal runs on one machine."),
        (False, True, "equal seeds may still give unequal runs."),
        (False, False, "equal seeds may still give unequal runs."),
    ],
)
def test_it_promises_no_more_than_the_model(exactly: bool, portable: bool, said: str) -> None:
    metadata = replace(SIR.metadata, replays_exactly=exactly, portable=portable)
    text = hw.describe_model(replace(SIR, metadata=metadata))
    assert said in text
    assert text.count("equal runs on") + text.count("unequal runs.") == 1


def test_a_model_without_parameters_actions_and_words_asks_for_them() -> None:
    bare = replace(
        SIR,
        description="",
        params=(),
        actions=(),
        stats=SIR.stats[:1],
        metadata=replace(SIR.metadata, topology=hw.Topology.NETWORK),
    )
    text = hw.describe_model(bare)
    assert "## 1. Purpose and patterns\n\n*To write:* what the model is for.\n" in text
    assert "Entities: nodes of a network." in text
    assert "|" not in text
    assert "Actions" not in text
    assert "**Observation.** 1 statistic of the whole model: Susceptible." in text
    assert "The model is built from a seed alone." in text


def test_names_with_bars_and_line_feeds_keep_the_table_and_the_heading_whole() -> None:
    params = (hw.choice("rule", "Either | or\nboth", ("a|b", "c"), 1), hw.boolean("flag", "Flag", False))
    text = hw.describe_model(replace(SIR, name="Two\nlines", params=params))
    assert text.startswith("# Two lines: description")
    assert "| `rule` | Either \\| or both | choice | one of a\\|b, c | c | as it runs |" in text
    assert "| `flag` | Flag | bool | true or false | false | as it runs |" in text
    assert "each parameter may change as it runs." in text
