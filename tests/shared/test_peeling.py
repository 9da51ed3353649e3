"""The search of PRIM where several steps are as good, and where names run out: what goes first, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from henad_web.analysis.peeling import Box, Kind, Limits, Objective, Settings, Side, peeled
from henad_web.analysis.pieces import piecewise


def boxes_of(sides: list[Side], y: list[float], settings: Settings) -> list[Box]:
    return [found.box for found in piecewise(peeled)(sides, np.array(y, float), settings)]


def numbers(*values: float, kind: Kind = Kind.NUMBER) -> Side:
    return Side(kind=kind, values=np.array(values, float))


def names(*codes: int) -> Side:
    return Side(kind=Kind.NAME, values=np.array(codes, float), names=max(codes) + 1)


def kept(box: Box, place: int) -> tuple[int, ...]:
    return box[place].kept


def limits(*ends: float) -> Limits:
    return Limits(low=ends[0], high=ends[1])


def test_of_peels_as_good_the_one_that_restricts_fewer_factors_goes() -> None:
    sides = [numbers(0, 2, 1, 0, 1), numbers(1, 2, 0, 1, 2)]
    found = boxes_of(sides, [0, 0, 0, 1, 0], Settings(paste_alpha=0.5, objective=Objective.ORIGINAL))
    assert found == [
        (limits(0, 2), limits(0, 2)),
        (limits(0, 2), limits(0, 1.5)),
        (limits(0, 2), limits(0.5, 1.5)),  # the first factor below 0.5 would be as good
    ]


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.WHOLE])
def test_of_peels_as_good_numbers_go_before_names(kind: Kind) -> None:
    sides = [names(1, 1, 1, 0, 2), numbers(0, 2, 0, 0, 0, kind=kind)]
    found = boxes_of(sides, [1, 0, 1, 0, 1], Settings(peel_alpha=0.3, paste_alpha=0.5))
    assert [kept(box, 0) for box in found] == [(0, 1, 2), (0, 1, 2), (1, 2)]
    assert found[1][1].high < 2


def test_a_name_that_comes_back_stands_in_its_place() -> None:
    sides = [
        names(0, 1, 2, 1, 0, 0, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2),
        numbers(0, 2, 0, 1, 1, 1, 1, 0, 1, 0, 3, 0, 2, 3, 0, 3),
    ]
    y = [1.0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1]
    found = boxes_of(sides, y, Settings(peel_alpha=0.3, paste_alpha=0.5))
    assert [kept(box, 0) for box in found] == [(0, 1, 2), (1, 2), (2,), (2,), (0, 2)]


def test_the_last_name_stays_however_bad_it_is() -> None:
    found = boxes_of([names(0, 0, 1, 0, 0), names(2, 1, 0, 2, 2)], [-1, -1, -1, 0, -1], Settings(peel_alpha=0.3))
    assert [(kept(box, 0), kept(box, 1)) for box in found] == [((0, 1), (0, 1, 2)), ((0,), (0, 1, 2)), ((0,), (0, 2))]


@pytest.mark.parametrize("exponent", [1018, -1040])
def test_boxes_are_the_same_in_any_unit_of_y_and_of_a_factor(exponent: int) -> None:
    # Whole multiples of a power of two, so that no digit is lost where numbers are the smallest.
    values = np.arange(64) * 37 % 64.0
    y = np.where(values > 40, values - 20, values * 7 % 23 - 12)
    plain = boxes_of([numbers(*values)], y.tolist(), Settings())
    assert len(plain) > 5
    scaled = boxes_of([numbers(*np.ldexp(values, exponent))], np.ldexp(y, exponent).tolist(), Settings())
    assert scaled == [(limits(*np.ldexp([box[0].low, box[0].high], exponent)),) for box in plain]
