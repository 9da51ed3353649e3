"""Laws of the summary: which runs enter, in which order, and what the interval is."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.errors import TableDamagedError
from henad_web.explore.intervals import RunningStatistics, t_quantile
from henad_web.output.summary import PIECE_CELLS, summary_table

HEADER = (
    "run_id,config_id,block,rep,seed,run_key,rate,action.seed,status,stop_reason,ticks,population,"
    "build_ms,wall_ms,steps_per_s,S:max,note\n"
)


def row(
    run_id: int, config_id: int, value: str, *, status: str = "ok", ticks: int = 20, note: str = "", rate: str = "0.2"
) -> str:
    identity = f"{run_id},{config_id},0,{run_id},9,00000000000000ff,{rate},5"
    return f"{identity},{status},steps,{ticks},256,1.000,2.000,3.000,{value},{note}\n"


def summary(*rows: str, header: str = HEADER) -> list[str]:
    table = b"".join(summary_table(io.BytesIO((header + "".join(rows)).encode())))
    assert table.endswith(b"\n")
    return table.decode().splitlines()


def fold(*numbers: float) -> RunningStatistics:
    statistics = RunningStatistics()
    for number in numbers:
        statistics.push(number)
    return statistics


def test_two_runs_give_the_recorded_interval() -> None:
    header, config = summary(row(0, 0, "254"), row(1, 0, "255"))
    assert header == (
        "config_id,block,rate,action.seed,runs,ok,failed,ticks:mean,"
        "S:max:mean,S:max:sd,S:max:n,S:max:ci95_low,S:max:ci95_high"
    )
    assert config == "0,0,0.2,5,2,2,0,20,254.5,0.7071067811865476,2,248.146897632,260.853102368"


def test_a_failure_is_counted_and_enters_nothing() -> None:
    rows = [
        row(0, 0, "10"),
        row(1, 0, "99", status="panicked", ticks=0, note='"while stepping, a ""b"", c"'),
        row(2, 0, "20", status="non_finite", ticks=30),
        row(3, 0, "7", status="timed_out", ticks=1),
    ]
    assert summary(*rows)[1].startswith("0,0,0.2,5,4,1,2,25,15,")


def test_a_config_whose_runs_all_failed_has_a_row_of_empty_statistics() -> None:
    assert summary(row(0, 0, "", status="panicked"))[1] == "0,0,0.2,5,1,0,1,,,,0,,"


def test_one_value_has_a_mean_and_no_spread() -> None:
    assert summary(row(0, 0, "3"))[1] == "0,0,0.2,5,1,1,0,20,3,,1,,"


@pytest.mark.parametrize("replicates", [1, 400])
def test_a_piece_is_no_longer_than_its_cells_whether_they_are_read_or_written(replicates: int) -> None:
    """A config of one run has more cells in the summary than in runs.csv here, and each is the text of a number."""
    count, header = 400, HEADER.replace("S:max", ",".join(f"S{number}:max" for number in range(9)))
    rows = [row(id, id // replicates, ",".join(["0.1"] * 9)) for id in range(count)]
    pieces = list(summary_table(io.BytesIO((header + "".join(rows)).encode())))
    assert b"".join(pieces).decode().splitlines() == summary(*rows, header=header)
    read, written = header.count(",") + 1, pieces[0].split(b"\n")[0].count(b",") + 1
    cells = count * read + count // replicates * written
    assert cells // (PIECE_CELLS + read + written) <= len(pieces) <= cells // PIECE_CELLS + 1


@pytest.mark.parametrize("numbers", [(1e308, -1e308), (-1e308, 1e308), (1e200, -1e200), (1e308, -1e308, 1e308)])
def test_values_too_far_apart_for_a_spread_leave_its_cells_empty(numbers: tuple[float, ...]) -> None:
    line = summary(*(row(run_id, 0, repr(number)) for run_id, number in enumerate(numbers)))[1]
    assert line.split(",")[9:] == ["", str(len(numbers)), "", ""]
    assert not math.isfinite(fold(*numbers).deviation or 0.0)


def test_an_empty_reducer_leaves_the_ticks_alone() -> None:
    assert summary(row(0, 0, ""), row(1, 0, "4", ticks=10))[1] == "0,0,0.2,5,2,2,0,15,4,,1,,"


def test_configs_have_a_row_each_in_file_order_and_only_those_with_runs() -> None:
    lines = summary(row(2, 1, "1", rate="0.4"), row(3, 1, "2", rate="0.4"), row(6, 3, "5", rate="0.8"))
    assert [line.split(",")[:5] for line in lines[1:]] == [["1", "0", "0.4", "5", "2"], ["3", "0", "0.8", "5", "1"]]


def test_a_header_alone_gives_a_header_alone() -> None:
    assert len(summary()) == 1


def test_columns_are_found_whatever_the_parameters_are_called() -> None:
    header = HEADER.replace("rate,action.seed", "status,steps_per_s")
    lines = summary(row(0, 0, "254"), row(1, 0, "255"), header=header)
    assert lines[0].startswith("config_id,block,status,steps_per_s,runs,ok,failed,ticks:mean,S:max:mean")
    assert lines[1] == "0,0,0.2,5,2,2,0,20,254.5,0.7071067811865476,2,248.146897632,260.853102368"


@pytest.mark.parametrize("header", ["", "run_id,tick,S\n", HEADER.replace("wall_ms", "wall")])
def test_another_table_is_refused(header: str) -> None:
    with pytest.raises(TableDamagedError, match=r"runs.csv, record 1: expected the columns of a sweep"):
        summary(header=header)


def test_a_record_of_another_width_is_refused() -> None:
    with pytest.raises(TableDamagedError, match="record 3: expected 17 fields and not 3"):
        summary(row(0, 0, "1"), "1,0,0\n")


@pytest.mark.parametrize(
    ("damaged", "column"),
    [
        (row(1, 0, "1", status="fine"), "status"),
        (row(1, 0, "x"), "S:max"),
        (row(1, 0, "1", ticks=-1), "ticks"),
        (row(1, 0, "1", ticks=10**400), "ticks"),
    ],
)
def test_a_cell_that_no_sweep_writes_is_named(damaged: str, column: str) -> None:
    with pytest.raises(TableDamagedError) as caught:
        summary(row(0, 0, "1"), damaged)
    assert (caught.value.table, caught.value.record, caught.value.column) == ("runs.csv", 3, column)


def test_welford_is_exact_where_a_sum_of_squares_cancels() -> None:
    statistics = fold(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16)
    assert statistics.mean == 1e9 + 10
    assert statistics.deviation == math.sqrt(30.0)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=50))
def test_mean_and_deviation_are_those_of_the_textbook(numbers: list[int]) -> None:
    statistics = fold(*map(float, numbers))
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    assert statistics.mean == pytest.approx(mean, abs=1e-9)
    assert statistics.deviation == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.706204736), (2, 4.302652730), (30, 2.042272456), (31, 2.039513), (100, 1.983972), (10**6, 1.959966)],
)
def test_quantiles_of_student(degrees: int, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, abs=1e-6)


def within(t: float, degrees: int) -> float:
    """Return the share of Student's t between -t and t, by its finite series (Abramowitz and Stegun, 26.7.3 and 4)."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = degrees % 2 == 1
    term, total = (cosine if is_odd else 1.0), 0.0
    for place in range(2 if is_odd else 1, degrees, 2):
        total += term
        term *= cosine**2 * place / (place + 1)
    return (angle + sine * total) * 2 / math.pi if is_odd else sine * total


@pytest.mark.parametrize("degrees", [*range(1, 32), 50, 99, 400])
def test_every_quantile_encloses_95_of_100(degrees: int) -> None:
    # The table has nine decimals; the expansion above it has seven.
    error = 6e-10 if degrees <= 30 else 3e-8
    quantile = t_quantile(degrees)
    assert within(quantile - error, degrees) < 0.95 < within(quantile + error, degrees)


def test_quantiles_fall_towards_the_normal_one() -> None:
    quantiles = [t_quantile(degrees) for degrees in [*range(200), 10**9]]
    assert quantiles[0] == math.inf
    assert quantiles == sorted(quantiles, reverse=True)
    assert quantiles[-1] > 1.959963984540054
