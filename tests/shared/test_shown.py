"""What stands in a cell of a notebook: tables of facts, whole enough to be read, and every text in them escaped."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import henad_web as hw
from henad_web.markup import SHOWN_COLUMNS, SHOWN_ROWS, escaped, facts_html, table_html
from tests.shared.hosts import Host
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.toy_models import Divides, entry_of, toy_spec

TOY = entry_of(Divides)
HOSTILE = "<script>alert('x')</script>&\"\x00\ud800"
SAFE = "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


class Reader(HTMLParser):
    """Reads the cells of tables and the paragraphs beside them, and refuses what is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag in ("td", "th", "p", "caption"):
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


def shown(thing: Any) -> list[str]:
    """Return the texts of `thing` as a notebook shows it: captions, cells and notes."""
    return Reader(thing._repr_html_()).texts


def test_every_text_is_escaped() -> None:
    assert escaped(HOSTILE) == SAFE
    assert html.unescape(SAFE).encode("utf-8").count(b"script") == 2
    facts = facts_html(HOSTILE, [(HOSTILE, HOSTILE)], [HOSTILE])
    table = table_html(HOSTILE, [HOSTILE], [np.array([HOSTILE])], notes=[HOSTILE])
    assert (facts.count(SAFE), facts.count("<script")) == (4, 0)
    assert (table.count(SAFE), table.count("<script")) == (4, 0)


def test_a_large_table_is_cut_and_what_is_left_out_is_counted() -> None:
    columns = [np.arange(SHOWN_ROWS + 1200)] * (SHOWN_COLUMNS + 1)
    text = table_html("t", [f"c{number}" for number in range(len(columns))], columns)
    assert text.count("<td>") == SHOWN_ROWS * SHOWN_COLUMNS
    assert Reader(text).texts[-2:] == ["and 1,200 more rows", "and 1 more column"]
    assert "more" not in table_html("t", ["a"], [np.arange(SHOWN_ROWS)])


def test_numbers_are_short_and_a_missing_one_is_nothing() -> None:
    columns = [np.array([1 / 3, np.nan]), np.array([12345678, 1]), np.array([True, False])]
    assert Reader(table_html("t", ["a", "b", "c"], columns)).texts[4:] == [
        "0.33333",
        "12345678",
        "True",
        "",
        "1",
        "False",
    ]


def test_a_record_a_plan_and_an_outline(host: Host) -> None:
    spec = toy_spec(1, 0, steps=10)
    record = host.record(hw.SweepRun.start(TOY, spec, target=host.target))
    texts = shown(record)
    assert texts[0] == "sweep of toy: complete"
    assert texts[texts.index("runs") + 1] == "4: 2 ok, 0 non-finite, 2 failed"
    assert "runs.csv, " in texts[texts.index("files") + 1]
    assert shown(record.report)[: len(texts) - 2] == texts[:-2]
    outline = shown(record.report.outline)
    assert outline[0] == "sweep of toy (toy): 2 configs x 2 replicates = 4 runs"
    assert (outline[1], outline[3:5]) == ("block 0", ["", "value: 1, 0"])
    plan = shown(spec.plan(TOY.schema()))
    assert plan[:5] == ["plan of toy: 2 configs x 2 replicates = 4 runs", *outline[1:5]]
    assert plan[plan.index("steps") + 1] == "10"


def test_a_result_set_and_its_tables(host: Host) -> None:
    files = host.files(TOY, toy_spec(1, 0, steps=10))
    results = hw.ResultSet.from_files(files)
    texts = shown(results)
    assert texts[0] == "results of Toy: complete"
    assert texts[texts.index("runs") + 1] == "4 of 4 runs: 2 ok, 0 non-finite, 2 failed"
    assert texts[texts.index("block 0") + 1] == "factorial, 2 configs"
    assert shown(results.runs)[1 : 1 + len(results.runs.columns)] == list(results.runs.columns)
    assert len(shown(results.summary)) == 1 + 3 * len(results.summary.columns)
    assert "search" not in texts
    del files["series.csv"]
    assert "there is no series.csv" in shown(hw.ResultSet.from_files(files))[-1]


class Tagged(Divides):
    """Reports a statistic that is called like a piece of HTML."""

    def stats(self) -> dict[str, float]:
        return {"<b>&": 1.0}


def test_names_that_look_like_tags_are_texts(host: Host) -> None:
    files = host.files(entry_of(Tagged, stats=("<b>&",)), toy_spec(1, 0, steps=10))
    results = hw.ResultSet.from_files(files)
    text = results._repr_html_() + results.runs._repr_html_() + results.summary._repr_html_()
    assert "&lt;b&gt;&amp;:final" in text
    assert set(re.findall(r"</?(\w+)", text)) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


@pytest.mark.parametrize(
    ("algorithm", "label", "said"),
    [
        ("genetic", "best", r"-?[\d.]+ \(candidate \d+\)"),
        ("nsga2", "front", r"\d+ candidates?"),
        ("pse", "archive", r"\d+ of 20 cells met"),
    ],
)
def test_a_search(host: Host, algorithm: str, label: str, said: str) -> None:
    results = hw.ResultSet.from_files(host.files(HILLS, hills_spec(algorithm)))
    texts = shown(results.search)
    assert texts[0] == f"{algorithm} search: 60 evaluations"
    assert re.fullmatch(said, texts[texts.index(label) + 1])
    assert results.search is not None
    evaluations = results.search.evaluations
    assert shown(evaluations)[: 1 + len(evaluations.columns)] == ["evaluations.csv", *evaluations.columns]
    assert shown(results)[texts.index("batches") :].count("search") == 1


def test_a_handle_stands_as_far_as_it_is(stepped: Host) -> None:
    run = stepped.start(TOY, toy_spec(1, 0, steps=10))
    assert '<progress max="1" value="0.0000"></progress> planning · 0 of 4 runs' in run._repr_html_()
    stepped.drain(run)
    assert run._repr_html_() == '<progress max="1" value="1.0000"></progress> complete · 4 of 4 runs · 2 failed'
