"""Boxes of known functions against those of the EMA Workbench, as `record_prim.py` recorded them: box by box."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from henad_web.analysis.cases import Cases
from henad_web.analysis.distributions import binomial_tail
from henad_web.analysis.peeling import Objective, Peeled, Settings, peeled
from henad_web.analysis.pieces import Analysis, Pieces
from henad_web.analysis.prim import quasi_p
from henad_web.analysis.tables import Axis, LeftOut
from tests.native.record_prim import FILE
from tests.shared.prim_functions import KNOWN, MODES

RECORDED = {
    key: list(boxes)
    for key, boxes in itertools.groupby(json.loads(FILE.read_text()), lambda box: (box["function"], box["objective"]))
}


def answer(pieces: Pieces[Any]) -> Any:
    analysis = Analysis(pieces)
    while not analysis.advance():
        pass
    return analysis.answer


@pytest.mark.parametrize(("name", "objective"), RECORDED)
def test_boxes_are_the_workbench_s(name: str, objective: str) -> None:
    known, recorded = KNOWN[name], RECORDED[name, objective]
    sides, y = known.sides(), known.y()
    found: list[Peeled] = answer(peeled(sides, y, Settings(objective=Objective(objective))))
    if objective == "lenient1":
        assert len(found) == len(recorded) > 10
    is_interesting = y >= known.threshold
    cases = Cases(
        axis=Axis(name="y", label="y"),
        y=y,
        is_interesting=is_interesting,
        rows=np.arange(len(y)),
        left_out=LeftOut(),
    )
    for each, expected in zip(found[-len(recorded) :], recorded, strict=True):
        limits = dict(zip(("a", "b", "c", "size"), ([part.low, part.high] for part in each.box), strict=False))
        assert limits == expected["limits"]
        assert sorted(MODES[code] for code in each.box[-1].kept) == expected["mode"]
        assert (is_interesting & each.inside).sum() / is_interesting.sum() == expected["coverage"]
        assert is_interesting[each.inside].mean() == pytest.approx(expected["density"])
        assert each.inside.mean() == pytest.approx(expected["mass"])
        assert y[each.inside].mean() == pytest.approx(expected["mean"])
        if set(y.tolist()) == {0.0, 1.0}:  # of other numbers its test takes their sum for a count
            values = answer(quasi_p(each, found[0].box, sides, cases)).T
            for place, factor in enumerate(("a", "b", "c", "size", "mode")):
                there = [np.nan if value == -1 else value for value in expected["qp"].get(factor, [-1, -1])]
                assert values[place] == pytest.approx(there, rel=1e-9, abs=1e-300, nan_ok=True)


def test_a_binomial_tail_is_scipy_s() -> None:
    for trials, share in itertools.product((1, 7, 100, 5000, 100_000), (1e-6, 0.01, 0.3, 0.5, 0.97)):
        for hits in {0, 1, trials // 3, int(trials * share) + 1, trials}:
            expected = stats.binom.sf(hits - 1, trials, share)
            assert binomial_tail(hits, trials, share) == pytest.approx(expected, rel=1e-9, abs=1e-290)
    assert binomial_tail(3, 5, 0.0) == 0
    assert binomial_tail(5, 5, 1.0) == 1
