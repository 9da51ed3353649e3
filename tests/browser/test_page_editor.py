"""Laws of the spec editor: problems in words beside the text, as one types, and nothing lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.page_watch import PageWatch
from tests.browser.sweep_page import SMALL_LIFE, SweepPage


def test_a_misspelt_key_is_named_with_its_line_and_a_near_miss(sweeps: SweepPage) -> None:
    sweeps.write_spec(SMALL_LIFE.replace("replicates", "replicate"))
    expect(sweeps.problems.locator("li")).to_have_count(1)
    expect(sweeps.problems).to_contain_text("line 7, [run] replicate")
    expect(sweeps.problems).to_contain_text("did you mean 'replicates'?")
    expect(sweeps.plan_line).to_have_text("1 problem to solve before this can run.")
    expect(sweeps.page.locator("#gutter .wrong")).to_have_text("7")
    sweeps.expect_enabled()

    sweeps.problems.get_by_role("button").click()
    expect(sweeps.editor).to_be_focused()
    assert sweeps.ask("getSelection().toString()") == "replicate = 2"

    sweeps.editor.fill(SMALL_LIFE)
    expect(sweeps.problems.locator("li")).to_have_count(0)
    expect(sweeps.page.locator("#gutter .wrong")).to_have_count(0)
    sweeps.expect_enabled("Run")


@pytest.mark.parametrize(
    ("right", "wrong", "place", "words"),
    [
        ('"game_of_life"', '"game_of_live"', "line 1", "did you mean 'game_of_life'?"),
        ("values = [0.2, 0.4]", "values = [0.2, 1.5]", "line 13", "1.5"),
        ('param = "density"', 'param = "densty"', "line 13", "did you mean 'density'?"),
        ("steps = 40", "steps = ", "line 6", ""),
    ],
)
def test_every_kind_of_problem_has_its_line(sweeps: SweepPage, right: str, wrong: str, place: str, words: str) -> None:
    sweeps.write_spec(SMALL_LIFE.replace(right, wrong))
    expect(sweeps.problems.locator("li").first).to_contain_text(place)
    expect(sweeps.problems.locator("li").first).to_contain_text(words)
    sweeps.expect_enabled()


SEARCH = """
[search]
algorithm = "cma_es"
max_evaluations = 4
batch_size = 2
objective = { column = "Alive:max", goal = "maximize" }
space = [{ param = "density", range = { min = 0.1, max = 0.9 } }]
"""


def test_the_library_of_a_search_is_loaded_from_beside_the_page_once_it_is_needed(
    sweeps: SweepPage, loaded: tuple[SweepPage, PageWatch]
) -> None:
    _, watch = loaded

    def asked_for() -> list[str]:
        return [address for address in watch.requested if "/cmaes-" in address]

    assert asked_for() == []
    sweeps.start(SMALL_LIFE[: SMALL_LIFE.index("[[block]]")] + SEARCH)
    sweeps.expect_phase("ended")
    expect(sweeps.problems.locator("li")).to_have_count(0)
    assert len(asked_for()) == 1


def test_a_library_that_does_not_lie_beside_the_page_is_named_with_the_way_out(sweeps: SweepPage) -> None:
    sobol = SMALL_LIFE.replace("[[block]]", '[[block]]\ndesign = "sobol"\nsamples = 8')
    sweeps.write_spec(sobol)
    expect(sweeps.problems).to_contain_text("a sobol design needs the library scipy, which is not installed here")
    sweeps.expect_enabled()


def test_all_problems_are_listed_at_once(sweeps: SweepPage) -> None:
    sweeps.write_spec(SMALL_LIFE.replace("steps", "stepps").replace("stats_every", "stat_every"))
    expect(sweeps.problems.locator("li")).to_have_count(2)
    expect(sweeps.page.locator("#gutter .wrong")).to_have_text(["6", "9"])


def test_tab_indents_and_escape_lets_the_keyboard_leave(sweeps: SweepPage) -> None:
    sweeps.write_spec(SMALL_LIFE)
    sweeps.editor.focus()
    sweeps.page.keyboard.press("Control+Home")
    sweeps.page.keyboard.press("Tab")
    expect(sweeps.editor).to_have_value("  " + SMALL_LIFE)
    sweeps.page.keyboard.press("Control+z")
    expect(sweeps.editor).to_have_value(SMALL_LIFE)
    sweeps.page.keyboard.press("Escape")
    sweeps.page.keyboard.press("Tab")
    expect(sweeps.editor).not_to_be_focused()
    expect(sweeps.editor).to_have_value(SMALL_LIFE)


def test_an_edited_example_is_kept_while_another_is_looked_at(sweeps: SweepPage) -> None:
    restore, picker = sweeps.button("Restore"), sweeps.page.get_by_label("Example")
    original = sweeps.editor.input_value()
    expect(restore).to_be_disabled()
    sweeps.editor.fill(SMALL_LIFE)
    expect(restore).to_be_enabled()
    picker.select_option("life_density.toml")
    expect(restore).to_be_disabled()
    expect(sweeps.plan_line).to_contain_text("27 runs")
    picker.select_option("sir_sweep.toml")
    expect(sweeps.editor).to_have_value(SMALL_LIFE)
    restore.click()
    expect(sweeps.editor).to_have_value(original)


def test_line_numbers_follow_the_text(sweeps: SweepPage) -> None:
    sweeps.write_spec(SMALL_LIFE)
    numbers = sweeps.page.locator("#gutter span")
    expect(numbers).to_have_count(SMALL_LIFE.count("\n") + 1)
    sweeps.editor.fill("one line")
    expect(numbers).to_have_count(1)
