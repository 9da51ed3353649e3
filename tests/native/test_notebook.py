"""The bar of a notebook: moved by a blocking call, or by the event loop from cell to cell; text without ipywidgets."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.formatters import format_display_data
from nbclient import NotebookClient

import henad_web as hw
from henad_web import notebook
from henad_web.notebook import show_live, standing_text
from tests.native.folders import TARGET, TOY, events_of, toy_spec
from tests.native.laws import ROOT


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was shown below the cell."""
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


@pytest.fixture
def without_widgets(hide_library: Callable[[str], None]) -> None:
    hide_library("ipywidgets")


def parts(bar: Any) -> tuple[float, str, str]:
    """Return the share, the text and the colour of a bar."""
    return bar.children[0].value, bar.children[1].value, bar.children[0].bar_style


def begun() -> hw.SweepRun:
    return hw.SweepRun.start(TOY, toy_spec((1, 2)), target=TARGET)


def test_a_blocking_call_moves_one_bar_to_its_end(displayed: list[Any]) -> None:
    bar = hw.ProgressBar()
    run = begun()
    bar(run.progress())
    assert parts(bar.widget) == (0.0, standing_text(run.progress()), "")
    for event in events_of(run):
        bar(event)
        bar(run.progress())
    assert displayed == [bar.widget]
    assert parts(bar.widget) == (1.0, "complete · 4 of 4 runs", "success")


def test_a_blocking_call_takes_it_as_its_progress(displayed: list[Any]) -> None:
    bar = hw.ProgressBar()
    hw.run_spec(TOY, toy_spec((1,)), progress=bar)
    assert displayed in ([], [bar.widget])  # a short sweep may end before it is looked at


def test_without_ipywidgets_one_line_of_text_is_written_over(
    without_widgets: None, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = hw.ProgressBar()
    assert bar.widget is None
    run = begun()
    first = standing_text(run.progress())
    bar(run.progress())
    list(events_of(run))
    bar(run.progress())
    last = standing_text(run.progress())
    assert len(last) < len(first)
    assert capsys.readouterr().out == f"\r{first}\r{last.ljust(len(first))}"


def test_a_handle_is_followed_by_the_event_loop_and_no_event_is_taken(
    displayed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "LOOK_S", 0.0)

    async def cell() -> list[str]:
        run = begun()
        task = show_live(run)
        assert task is not None
        (bar,) = displayed
        seen = []
        for event in events_of(run):
            seen.append(type(event).__name__)
            await asyncio.sleep(0)
            assert parts(bar)[1] == standing_text(run.progress())
        await task
        assert parts(bar) == (1.0, "complete · 4 of 4 runs", "success")
        return seen

    assert asyncio.run(cell()) == ["Planned", *["RunFinished"] * 4, "Finished"]


def test_a_bar_holds_no_handle(displayed: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "LOOK_S", 0.0)

    async def cell() -> None:
        run = begun()
        task = show_live(run)
        assert task is not None
        await asyncio.sleep(0)
        del run
        gc.collect()
        await task

    asyncio.run(cell())


def test_without_an_event_loop_a_bar_shows_how_far_it_was(displayed: list[Any]) -> None:
    run = begun()
    assert show_live(run) is None
    (bar,) = displayed
    assert parts(bar) == (0.0, standing_text(run.progress()), "")


def test_a_notebook_shows_the_bar_and_without_ipywidgets_what_stands_in_html(
    displayed: list[Any], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    run = begun()
    assert format_display_data(run) == ({}, {})
    assert len(displayed) == 1
    request.getfixturevalue("without_widgets")
    formats, _ = format_display_data(run)
    assert formats["text/html"] == run._repr_html_()


def test_a_paused_sweep_and_one_that_was_aborted(displayed: list[Any]) -> None:
    run, bar = begun(), hw.ProgressBar()
    run.update(0.0, budget_s=1e-9)
    run.pause()
    while not run.is_held:
        run.update(0.0, budget_s=1e-9)
    bar.show(run.progress())
    assert parts(bar.widget) == (0.0, "paused · 0 of 4 runs", "warning")
    run.abort()
    list(events_of(run))
    bar.show(run.progress())
    assert parts(bar.widget) == (0.0, "aborted · 0 of 4 runs", "success")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::ResourceWarning")
def test_the_example_notebook_goes_from_a_spec_to_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    document = nbformat.read(ROOT / "examples" / "from_spec_to_figure.ipynb", as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in document.cells if "outputs" in cell)
    NotebookClient(document, timeout=120, kernel_name="python3").execute()
    shown = [[*output.get("data", {})] for cell in document.cells for output in cell.get("outputs", ())]
    assert [kinds for kinds in shown if "image/png" in kinds] == [["text/plain", "image/png"]] * 3
    assert [kinds for kinds in shown if "text/html" in kinds] == [["text/plain", "text/html"]] * 4
    assert len([kinds for kinds in shown if "application/vnd.jupyter.widget-view+json" in kinds]) == 2
    assert document.cells[-1].outputs[0]["data"]["text/plain"] == "True"
