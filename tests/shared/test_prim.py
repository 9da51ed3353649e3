"""Scenario discovery on a study: the box is where the condition holds, and what is said of it is so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import henad_web as hw
from henad_web.analysis import Analysis, PrimBoxes
from henad_web.analysis.peeling import Settings, peeled
from henad_web.model.decimals import f64_text
from henad_web.randomness import DesignRng
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.prim_functions import KNOWN
from tests.shared.sensitivity_studies import MODES, failed, files_of, opened

CASES = 300
CONDITION = "shifted:final > 2.5"
"""Holds of the polynomial where the mode is fast or idle and a and b are large."""


@pytest.fixture(scope="module")
def files() -> Iterator[dict[str, bytes]]:
    host, rng = Host(PumpedTarget()), DesignRng(11)
    lines = ["a,b,c,on,mode,size"]
    for _ in range(CASES):
        numbers = [f64_text(round(rng.unit(), 4)) for _ in range(3)]
        lines.append(",".join([*numbers, ("false", "true")[rng.index(2)], MODES[rng.index(3)], str(rng.index(10))]))
    block = hw.BlockSpec(design=hw.DesignKind.TABLE, table_text="\n".join(lines) + "\n")
    yield files_of(host, block)
    host.close()


@pytest.fixture
def results(files: dict[str, bytes]) -> hw.ResultSet:
    return opened(files)


def inside(results: hw.ResultSet, boxes: PrimBoxes, number: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which runs are in a box, by its limits alone."""
    found, box = np.ones(len(results.runs), np.bool_), boxes.box_at(number)
    for name, low, high, values in zip(box.factors, box.low, box.high, box.values, strict=True):
        column = results.runs.param(name)
        if values:
            found &= np.isin(np.char.lower(column.astype(str)), values)
        else:
            found &= (low <= column) & (column <= high)
    return found


def test_what_is_said_of_each_box_is_what_its_limits_hold(results: hw.ResultSet) -> None:
    holds = results.runs.reducer("shifted:final") > 2.5
    boxes = results.prim(CONDITION)
    assert len(boxes) > 5
    for number in range(len(boxes)):
        within = inside(results, boxes, number)
        assert boxes.runs[number] == within.sum()
        assert boxes.of_interest[number] == (within & holds).sum()
        assert boxes.coverage[number] == (within & holds).sum() / holds.sum()
        assert boxes.density[number] == boxes.mean[number] == (within & holds).sum() / within.sum()
        assert boxes.mass[number] == within.mean()
        assert boxes.restricted[number] == len(boxes.box_at(number))
    assert (boxes.runs[0], boxes.coverage[0], boxes.restricted[0]) == (CASES, 1, 0)
    assert np.diff(boxes.density).min() >= 0


def test_the_box_is_where_the_condition_holds(results: hw.ResultSet) -> None:
    box = results.prim(CONDITION).box
    assert (box.density, box.factors) == (1, ("a", "c", "mode"))
    assert box.values == ((), (), ("idle",))
    assert box.low[0] > 0.2
    narrow = results.prim(CONDITION, factors=["mode"])
    assert narrow.factors == ("mode",)
    assert narrow.box.values == (("idle",),)
    assert "mode:values" in narrow.columns()


def test_a_limit_without_which_nothing_is_lost_is_told_as_chance(results: hw.ResultSet) -> None:
    box = results.prim(CONDITION).box
    p_of = dict(zip(box.factors, np.fmin(box.qp_low, box.qp_high), strict=True))
    assert p_of["mode"] < 0.01
    assert np.isnan(box.qp_high[box.factors.index("mode")])
    assert all(0 <= value <= 1 for value in p_of.values())


@pytest.mark.parametrize(
    "same",
    [
        '"shifted:final" > 2.5',
        'not ("shifted:final" <= 2.5)',
        '"shifted:final" > 2.5 and "y:final" < 100',
        "2.5 < 'shifted:final'",
    ],
)
def test_a_condition_is_what_it_says_however_it_is_written(results: hw.ResultSet, same: str) -> None:
    assert results.prim(same).to_csv() == results.prim(CONDITION).to_csv()


def test_a_column_is_asked_for_its_mean(results: hw.ResultSet) -> None:
    boxes = results.prim("y:final", threshold=1.5)
    y = results.runs.reducer("y:final")
    last = inside(results, boxes, -1)
    assert boxes.mean[-1] == pytest.approx(y[last].mean())
    assert boxes.density[-1] == (y[last] >= 1.5).mean()
    assert boxes.mean[-1] > boxes.mean[0] + 0.5
    assert boxes.chosen == len(boxes) - 1
    unmet = results.prim("y:final", threshold=3.1)
    assert unmet.chosen == 0
    assert len(unmet.box) == 0
    assert any("not to 3.1: none is chosen" in line for line in unmet.lines)


def test_the_order_of_the_rows_changes_nothing(files: dict[str, bytes], results: hw.ResultSet) -> None:
    order = DesignRng(4).permutation(CASES)
    mixed = opened(files, lambda rows: [rows[place] for place in order])
    assert mixed.prim(CONDITION).to_csv() == results.prim(CONDITION).to_csv()


def test_failed_runs_are_no_cases(files: dict[str, bytes]) -> None:
    damaged = opened(files, lambda rows: [failed(row) for row in rows[:20]] + rows[20:])
    boxes = damaged.prim(CONDITION)
    assert boxes.to_csv() == opened(files, lambda rows: rows[20:]).prim(CONDITION).to_csv()
    assert boxes.runs[0] == CASES - 20
    assert "20 runs failed: left out" in boxes.lines


def test_a_run_without_the_value_does_not_satisfy_a_condition(files: dict[str, bytes]) -> None:
    def emptied(row: str) -> str:
        cells = row.split(",")
        cells[-3] = ""  # shifted:final, before bent:final and the note
        return ",".join(cells)

    boxes = opened(files, lambda rows: [emptied(row) for row in rows[:20]] + rows[20:]).prim(CONDITION)
    assert boxes.runs[0] == CASES
    assert "20 runs without such a value: counted, without what is asked for" in boxes.lines


def test_in_pieces_and_on_every_target_the_boxes_are_the_same(results: hw.ResultSet) -> None:
    analysis, pieces = Analysis(results.prim.pieces(CONDITION)), 1
    while not analysis.advance():
        pieces += 1
    assert pieces > 50
    assert analysis.answer.to_csv() == results.prim(CONDITION).to_csv()
    assert analysis.answer.box.to_csv() == RECORDED


RECORDED = (
    "factor,low,high,values,qp_low,qp_high\n"
    "a,0.22820000000000001,0.9844,,0.015204673635598047,\n"
    "c,0.05575,0.9877,,0.38906060933552505,\n"
    "mode,,,idle,0.0000000000020063650666201422,\n"
)


@pytest.mark.parametrize("name", KNOWN)
def test_no_box_is_smaller_than_it_may_be(name: str) -> None:
    known = KNOWN[name]
    for mass_min in (0.05, 0.3):
        search = Analysis(peeled(known.sides(), known.y(), Settings(mass_min=mass_min)))
        while not search.advance():
            pass
        assert min(found.inside.mean() for found in search.answer) >= mass_min


@pytest.mark.parametrize(
    ("asked", "options", "told"),
    [
        ("y:final", {}, r"'y:final' is a column; say from where on.*threshold="),
        ("y:finale > 1", {}, r"no measured column .*y:finale.*did you mean 'y:final'"),
        ("y:final > 1 and z:final < 3", {}, r"character 2 of the condition.*stands in quotes"),
        ("y:final >", {}, r"neither a condition nor a measured column|character \d+ of the condition"),
        ("y:final > 99", {}, r"of 300 runs none is of interest by 'y:final > 99'"),
        ("y:final > -1", {}, r"of 300 runs every one is of interest"),
        (CONDITION, {"factors": ["d"]}, r"no factor .*d.*; allowed: a, b, c"),
        (CONDITION, {"objective": "lenient"}, r"objective is 'lenient'; allowed: 'lenient1', .*did you mean"),
        (CONDITION, {"peel_alpha": 1}, r"peel_alpha is 1; allowed: a number between 0 and 1"),
        (CONDITION, {"mass_min": 0.0}, r"mass_min is 0"),
        (CONDITION, {"threshold": 2}, r"threshold is 2; allowed: a density, 0 to 1"),
        ("y:final", {"threshold": "1"}, r"threshold is '1'; allowed: a finite number, from which on a run is of"),
        ("y:final", {"threshold": float("nan")}, r"threshold is nan"),
        ("y:final", {"threshold": 10**400}, r"threshold is about 2\^1328"),
        (CONDITION, {"factors": 5}, r"5 is no name of a column; allowed: one, or several in a list"),
        (CONDITION, {"factors": []}, r"no factor varies .*; hold fewer, or name others in factors="),
        (CONDITION, {"held": "a"}, r"held is 'a'; allowed: factors with what to hold them at"),
        (CONDITION, {"after_stop": "never"}, r"after_stop is 'never'; allowed: 'drop', 'hold'"),
        (3, {}, r"the condition is 3; allowed: a text, such as"),
    ],
)
def test_what_cannot_be_asked_is_told(results: hw.ResultSet, asked: str, options: dict[str, object], told: str) -> None:
    with pytest.raises(hw.UsageError, match=told):
        results.prim(asked, **options)  # type: ignore[arg-type]
    with pytest.raises(hw.UsageError, match=r"box 400; allowed: 0 to \d+, or -1 for the last"):
        results.prim(CONDITION).box_at(400)


def test_a_statistic_at_a_tick_is_asked_like_a_reducer(results: hw.ResultSet) -> None:
    assert results.prim("y", at=0, threshold=1.5).to_csv() == results.prim("y:final", threshold=1.5).to_csv()


def test_a_factor_counts_once_and_only_where_it_varies(results: hw.ResultSet) -> None:
    twice = results.prim(CONDITION, factors=["a", "a", "c"])
    assert twice.factors == ("a", "c")
    assert results.prim(CONDITION, held={"mode": "idle"}).factors == ("a", "b", "c", "on", "size")


def test_no_number_is_too_large_to_have_a_mean(results: hw.ResultSet) -> None:
    expected = results.prim("y:final", threshold=1.5)
    for name in ("y:final", "a"):
        values = results.runs.reducer(name) if name == "y:final" else results.runs.param(name)
        values[:] = np.ldexp(values, 1021)
    found = results.prim("y:final", threshold=float(np.ldexp(1.5, 1021)))
    assert found.mean.tolist() == np.ldexp(expected.mean, 1021).tolist()
    assert found.runs.tolist() == expected.runs.tolist()
