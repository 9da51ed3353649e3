"""What is drawn is what the tables say: lines, bands, bars, counts and names; nothing is cut off or left behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib import _pylab_helpers
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import henad_web as hw
from henad_web.analysis.tables import Axis
from henad_web.plots.bars import MOST_FACTORS, draw_sensitivity
from henad_web.plots.canvas import group_colours, new_axes, shortened
from henad_web.plots.lines import MOST_CURVES, draw_bands, draw_response
from tests.native.made_answers import HOSTILE, LEFT_OUT, LONG, bands_of, response_of, sensitivities

RATES = [0.02, 0.05, 0.08, 0.13]


def notes(axes: Axes) -> str:
    """Return the small print below `axes`, its lines joined."""
    return " ".join(text.get_text() for text in axes.texts if text.get_color() == "#595959").replace("\n", " ")


def bands(axes: Axes) -> list[Any]:
    return [each for each in axes.collections if isinstance(each, PolyCollection)]


def error_bars(axes: Axes) -> list[list[list[float]]]:
    """Return the ends of each error bar: ``[[x, low], [x, high]]``."""
    drawn = [each for each in axes.collections if isinstance(each, LineCollection)]
    return [segment.tolist() for each in drawn for segment in each.get_segments() if len(segment)]


def legend_texts(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]


def texts_of(axes: Axes) -> list[Text]:
    """Return the texts that are drawn: labels, those of ticks in view, notes, the legend."""
    texts = [axes.xaxis.label, axes.yaxis.label, *axes.texts]
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        texts += [text for place, text in ticks if low <= place <= high]
    legend = axes.get_legend()
    return texts if legend is None else [*texts, legend.get_title(), *legend.get_texts()]


def corners(band: PolyCollection) -> set[tuple[float, float]]:
    return {(round(x, 9), round(y, 9)) for path in band.get_paths() for x, y in np.asarray(path.vertices).tolist()}


def test_a_response_is_a_line_with_a_band_a_group() -> None:
    table = response_of(RATES, [0.1, 0.2], left_out=LEFT_OUT)
    axes: Any = draw_response(table)
    assert [(line.get_label(), line.get_marker()) for line in axes.lines] == [("0.1", "o"), ("0.2", "s")]
    for line, band, curve in zip(axes.lines, bands(axes), table.curves(), strict=True):
        assert np.asarray(line.get_xdata()).tolist() == table.x[curve.rows].tolist()
        assert np.asarray(line.get_ydata()).tolist() == table.center[curve.rows].tolist()
        ends = [*zip(RATES, table.low[curve.rows], strict=True), *zip(RATES, table.high[curve.rows], strict=True)]
        assert {(round(x, 9), round(float(y), 9)) for x, y in ends} <= corners(band)
        assert to_hex(band.get_facecolor()[0]) == to_hex(line.get_color())
    assert error_bars(axes) == []
    assert legend_texts(axes) == ["Group", "0.1", "0.2"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Rate", "Infected:max, mean")
    assert notes(axes) == (
        "n = 20 runs a point; 12 runs not done: left out; 3 runs failed: left out; 4 runs without a value: left out; "
        "2 runs that met a value which is not finite: counted, without the samples skipped; "
        "bands: 95 % interval of the mean of each group, Student's"
    )


def test_counts_that_differ_are_said_as_a_range() -> None:
    table = response_of(RATES)
    table.n[0] = 1_018
    assert notes(draw_response(table)).startswith("n = 20 to 1,018 runs a point;")


def test_one_group_has_no_legend() -> None:
    assert draw_response(response_of(RATES)).get_legend() is None


@pytest.mark.parametrize(
    ("levels", "scale"),
    [([0.1, 0.2, 0.4], "log"), ([0.1, 0.2, 0.3], "linear"), ([1, 2], "linear"), ([0, 1, 2], "linear")],
)
def test_levels_that_grow_by_a_factor_have_a_logarithmic_axis(levels: list[float], scale: str) -> None:
    axes: Any = draw_response(response_of(levels))
    assert axes.get_xscale() == scale
    if scale == "log":
        assert [text.get_text() for text in axes.get_xticklabels()] == ["0.1", "0.2", "0.4"]


def test_names_are_points_with_error_bars_side_by_side() -> None:
    table = response_of(["north", "south"], [False, True])
    axes: Any = draw_response(table)
    assert [line.get_label() for line in axes.lines if line.get_marker() in "os"] == ["false", "true"]
    places = [np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_marker() in "os"]
    assert places == [pytest.approx([-0.15, 0.85]), pytest.approx([0.15, 1.15])]
    found = sorted((round(low, 6), round(high, 6)) for (_, low), (_, high) in error_bars(axes))
    assert found == sorted(zip(table.low.round(6).tolist(), table.high.round(6).tolist(), strict=True))
    assert bands(axes) == []
    assert [text.get_text() for text in axes.get_xticklabels()] == ["north", "south"]
    assert "error bars: 95 % interval" in notes(axes)


def test_an_interval_alone_is_an_error_bar_and_none_is_no_band() -> None:
    table = response_of(RATES, has_interval=[True, True, False, True])
    axes: Any = draw_response(table)
    assert error_bars(axes) == [[[0.13, table.low[3]], [0.13, pytest.approx(table.high[3])]]]
    assert [path.get_extents().x1 for path in bands(axes)[0].get_paths() if path.get_extents().width] == [0.05]
    without = draw_response(response_of(RATES, has_interval=False))
    assert len(without.lines) == 1
    assert error_bars(without) == []
    assert corners(bands(without)[0]) == set()


def test_bands_over_time_say_how_many_runs_are_left() -> None:
    table = bands_of([0, 10, 20], [20, 20, 12])
    axes: Any = draw_bands(table)
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [0, 10, 20]
    assert (0.0, 0.0) in corners(bands(axes)[0])
    assert axes.get_ylabel() == "Infected, median"
    assert notes(axes) == "n = 12 to 20 runs a tick"
    assert draw_bands(bands_of([0], [3])).lines[0].get_marker() == "o"  # a line of one point is not seen


@pytest.mark.parametrize("kind", range(4), ids=["sobol", "main effects", "morris", "regression"])
def test_sensitivities_are_bars_with_their_intervals(kind: int) -> None:
    table = sensitivities(3)[kind]
    columns = [
        ("s1", "st"),
        ("s1", "st"),
        ("mu_star", "sigma"),
        ("src", "srrc", "prcc"),
    ][kind]
    axes: Any = draw_sensitivity(table)
    widths = np.array([patch.get_width() for patch in axes.patches]).reshape(len(columns), 3)
    for drawn, name in zip(widths, columns, strict=True):
        assert drawn.tolist() == np.nan_to_num(getattr(table, name)).tolist()
    ended = [name for name in columns if hasattr(table, f"{name}_low")]
    expected = [
        (low, high)
        for name in ended
        for low, high in zip(getattr(table, f"{name}_low"), getattr(table, f"{name}_high"), strict=True)
        if np.isfinite(low)
    ]
    found = [(low, high) for (low, _), (high, _) in error_bars(axes)]
    assert np.allclose(np.array(found).reshape(-1, 2), np.array(expected).reshape(-1, 2), rtol=1e-12)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Factor 0", "Factor 1", "Factor 2"]
    assert axes.yaxis.get_inverted()  # the first factor stands on top
    assert len(legend_texts(axes)) == 1 + len(columns)


def test_of_many_factors_those_that_matter_are_drawn_and_the_rest_is_counted() -> None:
    table = sensitivities(MOST_FACTORS + 12)[0]
    axes: Any = draw_sensitivity(table)
    assert len(axes.get_yticklabels()) == MOST_FACTORS
    assert axes.get_yticklabels()[-1].get_text() == f"Factor {MOST_FACTORS - 1}"
    assert "12 factors with less of alone (S1) not drawn" in notes(axes)


@pytest.mark.parametrize("draw", [draw_response, draw_bands])
def test_more_curves_than_a_figure_has_room_for_are_refused_in_words(draw: Any) -> None:
    curves = draw(many_curves(draw, MOST_CURVES))
    assert len(legend_texts(curves)) == 1 + MOST_CURVES
    check_texts(curves)
    with pytest.raises(hw.UsageError, match=r"^the levels of group are 25 curves, and a figure has 24 at most; hold"):
        draw(many_curves(draw, MOST_CURVES + 1))


def many_curves(draw: Any, count: int) -> Any:
    """Return a table of `count` curves of one point for `draw`."""
    if draw is draw_response:
        return response_of([0.1], list(range(count)))
    table = bands_of([0] * count, [3] * count)
    return replace(table, by={"group": np.arange(count)}, by_axes={"group": Axis(name="group", label="Group")})


@pytest.mark.parametrize("ax", [None, "mine"])
def test_values_that_matplotlib_cannot_place_are_refused_in_words(ax: str | None) -> None:
    table = response_of(RATES, has_interval=False)
    table.center[0] = -1e308
    with pytest.raises(
        hw.UsageError, match=r"^values from -1e\+308 to 30.3 cannot be drawn, only those within 1e\+300"
    ):
        draw_response(table, None if ax is None else Figure().subplots())


HARD: dict[str, Callable[[], Axes]] = {
    "ten groups": lambda: draw_response(response_of(RATES, [f"{LONG} {number}" for number in range(10)])),
    "long names": lambda: draw_response(
        response_of([LONG, f"{LONG}!", "c", "d"], [LONG, "b"], label=LONG, by_label=LONG, left_out=LEFT_OUT)
    ),
    "one point": lambda: draw_response(response_of([0.1], n=1, has_interval=False)),
    "twenty groups": lambda: draw_response(response_of(RATES, list(range(20)), left_out=LEFT_OUT)),
    "many factors": lambda: draw_sensitivity(sensitivities(40, label=LONG)[3]),
    "many names": lambda: draw_response(response_of([f"{LONG} {number}" for number in range(12)], ["a", "b"])),
    "geometric levels": lambda: draw_response(response_of([0.001 * 3**number for number in range(8)], ["a"])),
    "one factor": lambda: draw_sensitivity(sensitivities(1)[0]),
    "hostile names": lambda: draw_response(response_of([HOSTILE, "b"], [HOSTILE, "$", "_"], label=HOSTILE)),
}


@pytest.mark.parametrize("name", HARD)
def test_no_text_is_cut_off_and_none_stands_on_another(name: str) -> None:
    check_texts(HARD[name]())


def check_texts(axes: Axes) -> None:
    """Make sure that every text of the figure of `axes` is on the page, and none on another."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    inside = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert (inside.x0 >= -0.01, inside.y0 >= -0.01) == (True, True)
    assert (inside.x1 <= width + 0.01, inside.y1 <= height + 0.01) == (True, True)
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(axes)]
    pairs = [(one, other) for place, one in enumerate(boxes) for other in boxes[:place]]
    crossing = [(one[0], other[0]) for one, other in pairs if one[1].padded(-1).overlaps(other[1].padded(-1))]
    assert crossing == []
    assert axes.get_window_extent().width > 0.3 * figure.bbox.width


def test_every_group_has_a_colour_of_its_own() -> None:
    for count in range(1, 30):
        assert len({to_hex(colour) for colour in group_colours(count)}) == count


def test_names_are_drawn_letter_by_letter() -> None:
    axes: Any = draw_response(response_of(["a", "b"], ["_hidden", "$x$"], label="50 $ to 60 $"))
    assert [text.strip() for text in legend_texts(axes)] == ["Group", "_hidden", r"\$x\$"]
    text = hw.figure_bytes(axes, "svg").decode()
    assert ">50 $ to 60 $</text>" in text
    assert "_hidden</text>" in text
    assert shortened("x" * 100).count("x") == 31


def test_a_style_of_ones_own_changes_no_figure_but_stays_on_axes_that_are_given() -> None:
    plain = hw.figure_bytes(draw_response(response_of(RATES)), "svg")
    mine: Any = {"axes.facecolor": "#123456", "legend.fontsize": 17.0, "svg.fonttype": "path"}
    with matplotlib.rc_context(mine):
        assert hw.figure_bytes(draw_response(response_of(RATES)), "svg") == plain
        given: Any = Figure().subplots()
        assert draw_response(response_of(RATES, [1, 2]), given) is given
    legend = given.get_legend()
    assert legend is not None
    assert [text.get_fontsize() for text in legend.get_texts()] == [17.0, 17.0]
    assert to_hex(given.get_facecolor()) == "#123456"
    assert to_hex(given.lines[0].get_color()) == "#0072b2"


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_files_are_the_same_bytes_whoever_saves_them_and_no_setting_is_changed(kind: str, tmp_path: Any) -> None:
    def drawn() -> Any:
        return draw_response(response_of(RATES, ["a", HOSTILE], label=LONG))

    before = dict(matplotlib.rcParams)
    content = hw.figure_bytes(drawn(), kind)
    drawn().figure.savefig(tmp_path / f"a.{kind}")
    assert dict(matplotlib.rcParams) == before
    assert _pylab_helpers.Gcf.get_all_fig_managers() == []
    assert (tmp_path / f"a.{kind}").read_bytes() == content
    assert content.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[kind])
    assert b"CreationDate" not in content
    assert b"/FontFile2" in content or kind != "pdf"


def test_an_svg_is_xml_whose_texts_are_texts_and_tells_no_date() -> None:
    root = ElementTree.fromstring(
        hw.figure_bytes(draw_response(response_of(["a"], ["b", HOSTILE], label=HOSTILE)), "svg")
    )
    texts = {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"a", "b", HOSTILE.replace("\x07", "\N{REPLACEMENT CHARACTER}")} <= texts
    assert not list(root.iter("{http://www.w3.org/2000/svg}metadata"))


def test_a_kind_of_figure_that_there_is_not() -> None:
    with pytest.raises(hw.UsageError, match=r"^no kind of figure 'jpg'; allowed: 'svg', 'pdf', 'png'$"):
        hw.figure_bytes(new_axes(), "jpg")


def test_axes_show_themselves_in_a_notebook() -> None:
    axes: Any = draw_response(response_of(RATES))
    assert axes._repr_png_() == axes.figure._repr_png_() == hw.figure_bytes(axes, "png")


def test_a_missing_library_is_named_with_its_extra(hide_library: Callable[[str], None]) -> None:
    hide_library("matplotlib")
    with pytest.raises(hw.NeedsExtraError, match=r"^a plot needs matplotlib; .*'henad-web\[plot\]' elsewhere$"):
        draw_response(response_of(RATES))
