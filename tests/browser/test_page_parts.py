"""The parts of the page that need no browser: wording, pacing, axes, colours, opened results."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import henad_web as hw
from henad_web.results.archive import pack
from tests.shared.reference_folder import reference_files

WEB = Path(__file__).resolve().parents[2] / "web"

Part = Callable[[str], ModuleType]


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Part:
    """Modules of the page, as it imports them: by their bare names."""
    monkeypatch.syspath_prepend(str(WEB))
    return importlib.import_module


class Host:
    """A clock that is moved by hand, and the turns a sweep was given: seconds passed, budget."""

    def __init__(self) -> None:
        self.now = 100.0
        self.turns: list[tuple[float, float | None]] = []

    def clock(self) -> float:
        return self.now

    def turn(self, passed_s: float, budget_s: float | None) -> None:
        self.turns.append((passed_s, budget_s))


def test_a_plan_reads_as_a_product(part: Part) -> None:
    sentence = part("wording").plan_text(6, 3, 18, 200)
    assert sentence == "6 configs \N{MULTIPLICATION SIGN} 3 replicates = 18 runs of 200 ticks"
    assert part("wording").plan_text(1, 1, 1, 1).endswith("= 1 run of 1 tick")


def test_an_end_says_what_the_files_hold(part: Part) -> None:
    text = part("wording").ended_text
    assert text(aborted=False, rows=18, failed=0, planned=18, elapsed=12.0) == "Finished 18 runs in 12s."
    assert text(aborted=True, rows=7, failed=1, planned=18, elapsed=3.0) == (
        "Aborted after 3.0s: the files hold 7 of 18 runs, 1 failed."
    )


def test_each_frame_gives_one_turn_whatever_gap_came_before(part: Part) -> None:
    host = Host()
    pacing = part("pacing").Pacing(host.clock, host.turn)
    pacing.frame()
    host.now += 600.0
    pacing.frame()
    assert host.turns == [(0.0, None), (600.0, None)]


def test_the_timer_stays_silent_while_frames_come(part: Part) -> None:
    host = Host()
    pacing = part("pacing").Pacing(host.clock, host.turn)
    for _ in range(10):
        pacing.frame()
        host.now += 0.125
        pacing.tick(hidden=False)
    assert len(host.turns) == 10
    assert pacing.pace == "frames"


def test_the_timer_takes_over_when_frames_stop_and_hands_back(part: Part) -> None:
    host = Host()
    pacing = part("pacing").Pacing(host.clock, host.turn)
    host.now += 0.25
    pacing.tick(hidden=False)
    assert (host.turns, pacing.pace) == ([(0.25, 0.1)], "stalled")
    pacing.frame()
    assert (host.turns[1:], pacing.pace) == ([(0.0, None)], "frames")


def test_a_hidden_tab_gets_a_quarter_of_a_second_a_timer_tick(part: Part) -> None:
    host = Host()
    pacing = part("pacing").Pacing(host.clock, host.turn)
    for _ in range(3):
        host.now += 1.0
        pacing.tick(hidden=True)
    assert (host.turns, pacing.pace) == ([(1.0, 0.25)] * 3, "hidden")


def test_a_clock_set_back_never_gives_a_negative_time(part: Part) -> None:
    host = Host()
    pacing = part("pacing").Pacing(host.clock, host.turn)
    host.now -= 5.0
    pacing.frame()
    assert host.turns == [(0.0, None)]


def test_five_slow_single_steps_in_a_row_are_a_slow_model(part: Part) -> None:
    watch = part("pacing").StepWatch()
    for tick in range(5):
        watch.observe(3, tick, 14.0)
    assert watch.step_ms is None
    watch.observe(3, 5, 14.0)
    assert watch.step_ms == 14.0
    watch.observe(3, 8, 7.0)
    assert watch.step_ms is None


def test_a_busy_machine_is_not_a_slow_model(part: Part) -> None:
    watch = part("pacing").StepWatch()
    for turn in range(20):
        watch.observe(0, turn * 4, 30.0)
    assert watch.step_ms is None


@pytest.mark.parametrize(("cost_s", "gap_s"), [(0.001, 0.05), (0.01, 0.25), (0.2, 0.5)])
def test_pictures_that_cost_more_come_less_often_but_keep_coming(part: Part, cost_s: float, gap_s: float) -> None:
    assert part("pacing").picture_gap(cost_s) == gap_s


@pytest.mark.parametrize(("share", "value"), [(0.5, 10.0), (0.95, 19.0), (1.0, 20.0), (0.0, 1.0)])
def test_percentiles_by_nearest_rank(part: Part, share: float, value: float) -> None:
    values = [float(number) for number in range(20, 0, -1)]
    assert part("pacing").percentile(values, share) == value


@pytest.mark.parametrize(
    ("low", "high", "count", "ticks"),
    [
        (0.0, 100.0, 5, [0, 20, 40, 60, 80, 100]),
        (0.0, 0.0, 2, [0, 0.5, 1.0]),
        (-3.0, 7.0, 5, [-4, -2, 0, 2, 4, 6, 8]),
        (0.0, 16384.0, 4, [0, 5000, 10000, 15000, 20000]),
    ],
)
def test_ticks_are_round_and_cover_the_range(
    part: Part, low: float, high: float, count: int, ticks: list[float]
) -> None:
    assert part("axes").axis_ticks(low, high, count) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.25, "0.25"), (5000.0, "5000"), (12_000.0, "12k"), (1.5e6, "1.5M")]
)
def test_tick_labels_are_short(part: Part, value: float, text: str) -> None:
    assert part("axes").tick_text(value) == text


def test_a_line_breaks_where_a_value_is_missing(part: Part) -> None:
    x, y = np.arange(4.0), np.array([1.0, 2.0, np.nan, 4.0])
    assert part("axes").line_path(x, y) == "M0.0 1.0L1.0 2.0M3.0 4.0"


def test_thinning_keeps_the_ends_and_every_peak(part: Part) -> None:
    ticks, values = np.arange(10_000), np.zeros(10_000)
    values[1234], values[8888] = 7.0, -7.0
    few, kept = part("axes").thinned(ticks, values, 100)
    assert len(few) <= 202
    assert {0, 1234, 8888, 9999} <= set(few.tolist())
    assert kept[few.tolist().index(1234)] == 7.0


@pytest.mark.parametrize("states", [1, 2, 3, 5])
def test_every_state_gets_its_colour(part: Part, states: int) -> None:
    palette = [(state * 7 % 256, 255 - state, (state * 91) % 256) for state in range(states)]
    grid = (np.arange(12) % states).astype(np.uint8).reshape(3, 4)
    painter = part("colours").Painter(palette, (3, 4))
    painter.paint(grid)
    expected = [channel for state in grid.reshape(-1).tolist() for channel in (*palette[state], 255)]
    assert painter.pixels.tolist() == expected


def test_results_that_were_opened_say_what_they_hold(part: Part) -> None:
    wording = part("wording")
    assert wording.archive_name("sir") == "sir-sweep.zip"
    assert wording.opened_text(status="complete", rows=1, planned=1, failed=0) == (
        "Opened results (complete): 1 of 1 run."
    )
    assert wording.opened_text(status="aborted", rows=2, planned=1200, failed=1) == (
        "Opened results (aborted): 2 of 1,200 runs, 1 failed."
    )


SEARCH = """
model = "sir"
set = { grid_width = 8, grid_height = 8 }
run = { steps = 10, replicates = 2 }
[search]
max_evaluations = 6
batch_size = 3
space = [{ param = "infection_rate", range = { min = 0.05, max = 0.9 } }]
"""
OBJECTIVE = 'algorithm = "random"\nobjective = { column = "Infected:max", goal = "maximize" }\n'
AXES = """algorithm = "pse"
[search.pse]
initial_samples = 4
x_axis = { column = "Infected:max", cells = 40 }
y_axis = { column = "Recovered:final", cells = 50, min = 0, max = 1 }
"""


OBJECTIVES = """algorithm = "nsga2"
objectives = [{ column = "Infected:max", goal = "maximize" }, { column = "Recovered:final", goal = "minimize" }]
"""


def test_an_opened_search_says_who_leads_or_how_many_cells_were_met(part: Part) -> None:
    for text in (OBJECTIVE, AXES, OBJECTIVES):
        files = hw.run_spec(hw.example_models()["sir"], hw.parse_spec(SEARCH + text)).files
        assert files is not None
        recorded = part("recorded").opened_archive(pack(files), hw.example_models(), most_runs=3)
        search = hw.ResultSet.from_files(files).search
        assert search is not None
        told = f"{len(search.archive)} of 2,000 cells met, {search.outside_count} outside."
        if search.front:
            told = f"a front of {len(search.front)} candidate{'' if len(search.front) == 1 else 's'}."
        if search.ranking:
            leaders = [f"{each.candidate_id} with {each.objective:.6g} over 2 runs" for each in search.ranking[:3]]
            told = f"best: candidate {', candidate '.join(leaders)}."
        assert recorded.sentence == f"Opened results (complete): 12 of 12 runs. 6 evaluations; {told}"
        assert [outcome.config.config_id for outcome in recorded.newest] == [4, 5, 5]
        assert recorded.study.level(recorded.newest[2].config, "infection_rate") in files["evaluations.csv"].decode()
        assert not recorded.can_go_on
        assert recorded.notices == ()


def test_a_search_whose_tables_are_damaged_opens_with_its_runs_and_says_what_is_wrong(part: Part) -> None:
    files = hw.run_spec(hw.example_models()["sir"], hw.parse_spec(SEARCH + OBJECTIVE)).files
    assert files is not None
    files["evaluations.csv"] = files["evaluations.csv"].replace(b"random", b"lucky", 1)
    recorded = part("recorded").opened_archive(pack(files), hw.example_models(), most_runs=3)
    assert recorded.sentence == "Opened results (complete): 12 of 12 runs."
    assert recorded.can_go_on, "a search that goes on makes them anew"
    assert [notice.partition(":")[0] for notice in recorded.notices] == ["Evaluations.csv, record 2, column 'origin'"]


def test_the_words_on_a_search_count_what_is_there(part: Part) -> None:
    wording = part("wording")
    assert wording.ranking_text(0, []) == "0 evaluations; best: none yet."
    assert wording.ranking_text(1, [(3, -0.25, 1)]) == "1 evaluation; best: candidate 3 with -0.25 over 1 run."
    assert wording.front_text(8, 1) == "8 evaluations; a front of 1 candidate."
    assert wording.archive_text(1200, filled=1, cells=1, outside=1000) == (
        "1,200 evaluations; 1 of 1 cell met, 1,000 outside."
    )


def test_opened_rows_become_the_outcomes_they_were_written_from(part: Part) -> None:
    recorded = part("recorded").opened_archive(pack(reference_files()), hw.example_models(), most_runs=3)
    assert not recorded.can_go_on
    outcomes = recorded.newest
    assert [outcome.run.run_id for outcome in outcomes] == [1, 2, 3]
    assert outcomes[1].reducers == {"Susceptible:max": 254, "Infected:final": 114}
    assert outcomes[1].series.values[:, 1].tolist() == [2, 107, 205, 164, 114]
    assert recorded.study.factors == ("infection_rate",)
    assert recorded.study.level(outcomes[2].config, "infection_rate") == "0.4"


def test_results_without_series_say_so_and_keep_their_rows(part: Part) -> None:
    files = {name: content for name, content in reference_files().items() if name != "series.csv"}
    recorded = part("recorded").opened_archive(pack(files), hw.example_models(), most_runs=3)
    assert recorded.sentence == "Opened results (complete): 4 of 4 runs."
    assert recorded.notices == (
        "There is no series.csv: the samples of the runs are not here; restore the file, or go on with the results to "
        "have the runs done again whose samples were kept.",
    )
    assert recorded.can_go_on
    assert recorded.why_empty == "there is no series.csv among the results."
    assert [len(outcome.series) for outcome in recorded.newest] == [0, 0, 0]
    assert recorded.newest[1].reducers == {"Susceptible:max": 254, "Infected:final": 114}


@pytest.mark.parametrize(
    ("planned", "paused", "held", "fraction", "state"),
    [
        (False, False, False, None, ("planning", "Planning: trying the first configs.")),
        (False, False, False, 0.5, ("planning", "Planning: fixing every run.")),
        (
            False,
            True,
            False,
            0.5,
            ("planning", "Planning: fixing every run. The runs wait, since the sweep is paused."),
        ),
        (True, False, False, None, ("running", "Running.")),
        (True, True, False, None, ("paused", "Pausing, after the step under way.")),
        (True, True, True, None, ("paused", "Paused. Resume goes on where the run stands.")),
        (True, True, True, 0.5, ("running", "Writing the summary.")),
    ],
)
def test_a_state_says_what_the_sweep_does(
    part: Part, planned: bool, paused: bool, held: bool, fraction: float | None, state: tuple[str, str]
) -> None:
    told = part("wording").state_text(planned=planned, paused=paused, held=held, fraction=fraction)
    assert told == state


def test_an_abort_before_the_first_row_says_that_nothing_is_there(part: Part) -> None:
    text = part("wording").ended_text(aborted=True, rows=0, failed=0, planned=9, elapsed=1.5, kept_files=False)
    assert text == "Aborted after 1.5s, before anything was written."
