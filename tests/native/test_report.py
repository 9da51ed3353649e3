"""The report: one page that needs nothing else, whatever state results are in and whatever names they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_web.analysis.selection import main_measures
from henad_web.plots.lines import draw_response
from henad_web.report import document, figures
from henad_web.report.document import report_html
from tests.native.folders import TARGET, record_of
from tests.native.made_answers import HOSTILE, response_of
from tests.native.test_result_plots import GRID, grid, searched
from tests.shared.toy_models import Divides, Toy, entry_of, toy_spec

_VOID = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """Reads a page: its texts by the element they stand in, and what it would load; refuses what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    @property
    def title(self) -> str:
        return self.texts["title"][0]

    def section(self, name: str) -> str:
        """Return everything that is said below the heading `name`."""
        return self.sections[name]

    @property
    def sections(self) -> dict[str, str]:
        return dict(zip(self.texts["h2"], self.texts["section"], strict=True))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append(tag)
        self.texts.setdefault(tag, []).append("")
        self.ids += [known["id"] or ""] if "id" in known else []
        self.labels += [known["aria-label"] or ""] if tag == "svg" else []
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in {*self.open}:
            self.texts[tag][-1] += data


@pytest.fixture(autouse=True)
def few_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reports be about one reducer and one statistic: figures take time."""
    monkeypatch.setattr(document, "MOST_MEASURES", 1)


@cache
def html() -> str:
    return grid().to_html()


@cache
def page() -> Page:
    return checked(html())


def checked(text: str) -> Page:
    """Return the page of `text`, which neither runs nor loads anything."""
    read = Page(text)
    assert not {"script", "iframe", "object", "embed", "link", "img", "form"} & set(read.tags)
    links = [link for link in read.links if not link.startswith("data:image/png;base64,")]
    assert [link for link in links if not link.startswith("#")] == []
    assert not re.search(r"url\((?!#)|@import|javascript:", text)
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in links} | set(re.findall(r"url\(#([^)]+)\)", text)) <= set(read.ids)
    return read


def test_it_says_what_was_studied_what_came_out_and_how_to_have_it_again() -> None:
    read = page()
    assert read.texts["h2"] == [
        "What this is",
        "Figures",
        "Summary",
        "Runs that are not ok",
        "Study",
        "Where it comes from",
    ]
    assert "18 of 18 runs: 18 ok, 0 non-finite, 0 failed" in read.section("What this is")
    assert "infection_rate" in read.section("Summary")
    assert hw.spec_to_toml(grid().spec) in read.section("Study")
    assert grid().manifest.plan.plan_hash in read.section("Study")
    assert f"henad-web {hw.__version__}" in read.section("Where it comes from")
    assert read.section("Runs that are not ok").split() == ["Runs", "that", "are", "not", "ok", "none"]
    assert "viewport" in html()


def test_the_figures_fit_the_design_and_each_has_words_and_numbers() -> None:
    read = page()
    y = "Susceptible:final"
    assert [label for label in read.labels if y in label] == [
        f"what each factor does to {y}",
        f"{y} against infection_rate by recovery_rate",
    ]
    assert [label for label in read.labels if "over time" in label] == ["Susceptible over time by infection_rate"]
    assert read.texts["figcaption"] == read.labels
    assert read.tags.count("figure") == len(read.labels) == read.texts["summary"].count("the numbers")


def test_a_sampled_design_is_cut_into_parts() -> None:
    spec = GRID.replace("factors", 'design = "lhs"\nsamples = 25\nfactors').replace("replicates = 3", "replicates = 1")
    spec = re.sub(r"values = \[[^]]*\]", "range = { min = 0.1, max = 0.4 }", spec)
    record = record_of(hw.SweepRun.start(hw.example_models()["sir"], hw.parse_spec(spec).spec, target=TARGET))
    read = checked(hw.ResultSet.from_files(record.files or {}).to_html())
    assert [label for label in read.labels if "Susceptible:final" in label] == [
        "what each factor does to Susceptible:final",
        "Susceptible:final against infection_rate",
        "Susceptible:final against recovery_rate",
        "Susceptible:final against infection_rate and recovery_rate",
    ]
    assert "infection_rate from" in read.section("Figures")


def test_the_same_results_make_the_same_bytes() -> None:
    assert html() == report_html(hw.ResultSet.from_files(_files()))


def _files() -> dict[str, bytes]:
    results = grid()
    return {name: results.reader(name)().read() for name in ("runs.csv", "series.csv", "summary.csv", "manifest.json")}


@pytest.mark.parametrize("algorithm", ["genetic", "nsga2", "pse", "random"])
def test_a_search_has_its_standing_its_figure_and_its_ranking(algorithm: str) -> None:
    results = searched(algorithm)
    read = checked(results.to_html())
    assert read.texts["h2"][1] == "The search"
    assert "Summary" not in read.texts["h2"]
    assert read.labels == [f"what the {algorithm} search came to"]
    assert ("archive.csv" if algorithm == "pse" else "best.csv") in read.section("The search")


def test_failures_have_their_notes_and_a_command_that_does_one_again() -> None:
    record = record_of(hw.SweepRun.start(entry_of(Divides), toy_spec(1, 0, steps=10), target=TARGET))
    read = checked(hw.ResultSet.from_files(record.files or {}).to_html())
    said = read.section("Runs that are not ok")
    assert "2 runs" in said
    assert "ZeroDivisionError" in said
    assert "henad verify DIR --run 2" in said


class Recovers(Toy):
    """Has a statistic that never differs, one that ends at 0 in every run, and one that grows as its value says."""

    def stats(self) -> dict[str, float]:
        return {"Same": 1.0, "Ends": float(self.value * (10 - self.tick)), "Grows": float(self.value * self.tick)}


class Hostile(Toy):
    """Fails with a note that looks like HTML, and reports a statistic that does."""

    def before_step(self) -> None:
        if self.value == 0:
            raise ValueError("<script>alert('note')</script>")

    def stats(self) -> dict[str, float]:
        return {"</style><script>x</script>": float(-self.value), "$y$": float(self.value)}


def test_names_and_notes_of_others_are_texts(tmp_path: Path) -> None:
    entry = entry_of(Hostile, stats=("</style><script>x</script>", "$y$"))
    spec = toy_spec(1, 2, 3, 0, steps=10)
    reducers = (hw.ReducerSpec(column="</style><script>x</script>", kind="final"),)
    spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, reducers=reducers))
    files = record_of(hw.SweepRun.start(entry, spec, target=TARGET)).files or {}
    manifest = msgspec.json.decode(files["manifest.json"])
    manifest["model"]["name"] = "<title>&" + HOSTILE
    manifest["argv"] = ["henad", "run", "<img src=x onerror=alert(1)>"]
    folder = tmp_path / "<b>&"
    folder.mkdir()
    for name, content in {**files, "manifest.json": msgspec.json.encode(manifest)}.items():
        (folder / name).write_bytes(content)
    text = hw.ResultSet.open(folder).to_html()
    read = checked(text)
    assert read.title.startswith("<title>&")
    said = read.section("Runs that are not ok")
    assert "<script>alert('note')</script>" in said
    assert f"henad verify '{folder}' --run 6" in said
    assert any("<script>x</script>" in label for label in read.labels)
    assert "<img src=x onerror=alert(1)>" in read.section("Where it comes from")
    assert "<script>x</script>" in read.section("Study")
    assert [text.count(tag) for tag in ("<script", "<b>", "<img")] == [0, 0, 0]


def test_ids_of_figures_differ_and_texts_that_look_like_one_stay_as_they_are() -> None:
    name = 'id="a" url(#b)'
    text = figures.inline_svg(draw_response(response_of([0.1, 0.2], label=name)), "title", "figure7")
    assert f">{name}</text>" in text
    assert set(re.findall(r'(?:\bid="|url\(#|href="#)([a-z]*\d*-?)', re.sub(r">[^<]*<", "><", text))) == {"figure7-"}


def test_results_that_are_not_whole_have_a_report_too() -> None:
    files = _files()
    header = files["runs.csv"].split(b"\n")[0] + b"\n"
    manifest = files["manifest.json"].replace(b'"status": "complete"', b'"status": "running"')
    cut = hw.ResultSet.from_files({"manifest.json": manifest, "runs.csv": files["runs.csv"][:1500], "series.csv": b""})
    read = checked(cut.to_html())
    assert read.title == "SIR Epidemic: sweep, interrupted"
    assert "not done: left out" in read.section("Figures")
    empty = checked(hw.ResultSet.from_files({"manifest.json": manifest, "runs.csv": header}).to_html())
    assert empty.labels == []
    assert "none: there is no run yet" in empty.section("Figures")
    without = checked(hw.ResultSet.from_files({name: files[name] for name in files if name != "series.csv"}).to_html())
    assert "Susceptible over time by infection_rate: not drawn: " in without.section("Figures")


def test_each_measure_is_drawn_and_its_statistic_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "inline_svg", lambda axes, title, name: "")
    drawn = [found.title for found in figures.figures_of(grid(), ["Susceptible:final", "Infected:max"])]
    assert [title for title in drawn if "over time" in title] == [
        f"{name} over time by infection_rate" for name in ("Susceptible", "Infected")
    ]
    assert len(drawn) == 6


def test_a_report_is_about_the_measures_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "inline_svg", lambda axes, title, name: "")
    read = checked(grid().to_html(measures=["Infected:max"]))
    assert read.texts["figcaption"] == [
        "what each factor does to Infected:max",
        "Infected:max against infection_rate by recovery_rate",
        "Infected over time by infection_rate",
    ]
    assert "Infected:max" in read.section("Summary")
    assert "Susceptible" not in read.section("Summary")
    with pytest.raises(hw.UsageError, match="did you mean 'Infected:max'"):
        grid().to_html(measures=["Infected:mx"])


def recoveries(*values: int) -> hw.ResultSet:
    names = ("Same", "Ends", "Grows")
    spec = toy_spec(*values, steps=10)
    reducers = tuple(hw.ReducerSpec(column=name, kind=kind) for name in names for kind in ("final", "max"))
    spec = msgspec.structs.replace(spec, measure=msgspec.structs.replace(spec.measure, reducers=reducers))
    record = record_of(hw.SweepRun.start(entry_of(Recovers, stats=names), spec, target=TARGET))
    return hw.ResultSet.from_files(record.files or {})


def test_of_a_statistic_that_ends_alike_in_every_run_another_reducer_is_taken() -> None:
    assert main_measures(recoveries(1, 2), 3) == ("Ends:max", "Grows:final")
    assert main_measures(recoveries(1, 2), 1) == ("Ends:max",)
    assert main_measures(recoveries(1), 2) == ("Same:final", "Ends:final")


def test_the_model_is_not_asked_for() -> None:
    manifest = _files()["manifest.json"].replace(b'"id": "sir"', b'"id": "gone"')
    results = hw.ResultSet.from_files({**_files(), "manifest.json": manifest}, models=hw.ModelSet([]))
    with pytest.raises(hw.UnknownModelError):
        _ = results.entry
    assert checked(results.to_html()).labels == page().labels


def test_without_matplotlib_it_says_how_to_have_figures(hide_library: Callable[[str], None]) -> None:
    results = grid()
    hide_library("matplotlib")
    read = checked(results.to_html())
    assert read.labels == []
    assert "no figures: a plot needs matplotlib; install it with" in read.section("Figures")
    assert "infection_rate" in read.section("Summary")
