"""Puts the page together: editor, sweep and views, and what each tells the others.

Owns no element and no rule of its own.
"""

from __future__ import annotations

import asyncio
import json
import time

from board import Board
from chart import Chart
from controls import Actions, Controls
from dom import by_id, fetch_text, load_libraries, write
from download import Download
from editor import Editor
from frames import Frames
from gallery import Gallery
from handlers import after_paint
from opener import Opener
from picker import Picker
from recorded import opened_archive
from session import Session, Views
from study import Reading, read_spec
from table import MOST_ROWS, Table
from wording import plan_text, search_text

import henad_web as hw

__all__ = ["Application"]


class Application:
    """The page as a whole, made once."""

    def __init__(self) -> None:
        self._models = hw.example_models()
        self._reading = Reading()
        self._begun: asyncio.Future[None] | None = None
        self._loading: asyncio.Future[None] | None = None
        self._looked_for: frozenset[str] = frozenset()
        self._controls = Controls(
            Actions(run=self._run, pause=self._pause, resume=self._resume, abort=self._abort, go_on=self._go_on)
        )
        self._table = Table(self._choose)
        self._gallery = Gallery(Chart(), self._table.choose)
        views = Views(
            controls=self._controls,
            board=Board(time.perf_counter),
            table=self._table,
            download=Download(),
            gallery=self._gallery,
        )
        self._session = Session(views, time.perf_counter, self._active_changed)
        self._frames = Frames(self._session.pacing)
        self._editor = Editor(self._read)
        self._opener = Opener(self._open_results)
        self._picker = Picker(self._editor.load, lambda: self._editor.text)

    async def open(self) -> None:
        """Load the examples, show the first, and say which build this is.

        Raises:
            OSError: An example or the build's note could not be fetched.
        """
        await self._picker.open()
        build = json.loads(await fetch_text("build.json"))["build"]
        write(by_id("build"), f"Build {build[:12]}.")
        self._opener.allow(True)

    def _read(self, text: str) -> None:
        self._reading = read_spec(text, self._models)
        lacking = frozenset(self._reading.lacking) - self._looked_for
        study, problems = self._reading.study, self._reading.problems
        self._picker.note_edit(text)
        if lacking:
            self._looked_for |= lacking
            self._editor.show_plan(f"Loading {', '.join(sorted(lacking))}.", wrong=False)
            self._controls.allow_run(False)
            self._loading = asyncio.ensure_future(self._load(lacking))
            return
        self._editor.show_problems(problems, self._reading.warnings)
        if study is not None:
            sentence = self._size(study.plan)
        else:
            sentence = f"{len(problems)} problem{'s' if len(problems) != 1 else ''} to solve before this can run."
        self._editor.show_plan(sentence, wrong=study is None)
        self._controls.allow_run(study is not None)

    @staticmethod
    def _size(plan: hw.Plan) -> str:
        """Return what `plan` will run, in words."""
        search = plan.spec.search
        if search is None:
            return plan_text(
                plan.config_count, plan.replicates, plan.run_count, plan.total_ticks, least=plan.least_replicates
            )
        runs = search.max_evaluations * plan.replicates
        return search_text(search.algorithm, search.max_evaluations, plan.replicates, runs, plan.total_ticks)

    async def _load(self, libraries: frozenset[str]) -> None:
        await load_libraries(libraries)
        self._read(self._editor.text)

    def _run(self) -> None:
        self._editor.flush()
        study = self._reading.study
        if study is not None and not self._session.active:
            self._session.start(study)

    def _pause(self) -> None:
        self._session.pause()

    def _resume(self) -> None:
        self._session.resume()

    def _abort(self) -> None:
        self._session.abort()

    def _go_on(self) -> None:
        self._controls.show_state("planning", "Checking the runs that are there.")
        self._begun = after_paint(self._session.go_on)

    def _open_results(self, content: bytes) -> None:
        if not self._session.active:
            self._controls.show_state("planning", "Reading the results.")
        self._begun = after_paint(self._show_results, content)

    def _show_results(self, content: bytes) -> None:
        if self._session.active:  # started while the file was still being read
            self._controls.add_warning("The results were not opened: a sweep is running. Open them once it has ended.")
            return
        try:
            opened = opened_archive(content, self._models, most_runs=MOST_ROWS)
        except hw.HenadError as error:
            self._controls.show_state("failed", f"The results could not be opened: {error}")
            return
        self._editor.load(opened.study.loaded.source.toml or "")
        self._session.show(opened)

    def _choose(self, run_id: int) -> None:
        self._gallery.choose(run_id)

    def _active_changed(self, active: bool) -> None:
        self._opener.allow(not active)
        if active:
            self._frames.start()
        else:
            self._frames.stop()
