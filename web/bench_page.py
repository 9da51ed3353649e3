"""The benchmark page: measures every case, bare and in a sweep, and shows a table and JSON.

Owns the page's elements. `bench_bare` and `bench_frames` measure.
"""

from __future__ import annotations

import asyncio
import json
import time
from html import escape

from bench_bare import BareLoop
from bench_cases import CASES, Case, Result, spec_text
from bench_frames import FrameDriver
from dom import by_id, window, write
from handlers import listen, show_failure

import henad_web as hw

__all__ = ["BenchPage"]

HEAD = (
    "Bare",
    "In a sweep",
    "Cost",
    "Sampled every tick",
    "Stepping a frame",
    "Of its 6 ms",
    "Frames",
    "p95 between frames",
)

PARTS = 4
"""Measurements of a case: bare, sampled every 100 ticks, bare again, sampled every tick."""

PAINT_S = 0.05


class BenchPage:
    """Waits for its button, then measures."""

    def __init__(self) -> None:
        self._button, self._bar = by_id("bench-run"), by_id("bench-progress")
        self._state, self._json = by_id("bench-state"), by_id("bench-json")
        self._seconds = by_id("bench-seconds")
        self._head, self._body = by_id("bench-head"), by_id("bench-body")
        self._models = hw.example_models()
        self._driver = FrameDriver()
        self._tasks: set[asyncio.Task[None]] = set()
        self._bar.max = PARTS * len(CASES)
        cells = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
        self._head.innerHTML = f'<tr><th scope="col" class="words">Model</th>{cells}</tr>'
        listen(self._button, "click", self._pressed)

    async def open(self) -> None:
        """Let the visitor begin."""
        self._button.disabled = False

    def _pressed(self, _event: object) -> None:
        if not self._seconds.reportValidity():
            return
        self._button.disabled = True
        self._tasks = {asyncio.ensure_future(self._measure_all())}

    async def _measure_all(self) -> None:
        results: list[Result] = []
        self._bar.value = 0
        self._body.replaceChildren()
        self._say("running", "Measuring.")
        try:
            for case in CASES:
                results.append(await self._measure(case))
                self._body.insertAdjacentHTML("beforeend", _row(results[-1]))
        except Exception as error:
            self._say("failed", "The measurement failed.")
            show_failure("The measurement failed", error)
            raise
        finally:
            self._button.disabled = False
        document = {"browser": str(window.navigator.userAgent), "results": [item.document() for item in results]}
        write(self._json, json.dumps(document, indent=2))
        self._say("ended", "Done.")

    async def _measure(self, case: Case) -> Result:
        entry = self._models.lookup(case.model)
        await self._part(f"{case.title}: bare loop")
        loop = BareLoop(entry, case.side, case.bare_steps, time.perf_counter)
        rate = await loop.before()
        await self._part(f"{case.title}: in a sweep")
        sweep = await self._driver.measure(entry, self._spec(case, rate, 100), case.cells)
        await self._part(f"{case.title}: bare loop again")
        bare_rate = await loop.after()
        await self._part(f"{case.title}: in a sweep, sampled every tick")
        sampled = await self._driver.measure(entry, self._spec(case, rate / 4, 1), case.cells)
        return Result(case=case, bare_rate=bare_rate, sweep=sweep, sampled_sweep=sampled)

    def _spec(self, case: Case, rate: float, stats_every: int) -> str:
        return spec_text(case, rate=rate, seconds=float(self._seconds.value), stats_every=stats_every)

    async def _part(self, sentence: str) -> None:
        self._say("running", f"Measuring {sentence}.")
        # The bare loop blocks the page: let it paint the sentence first.
        await asyncio.sleep(PAINT_S)
        self._bar.value += 1

    def _say(self, phase: str, sentence: str) -> None:
        self._state.dataset.phase = phase
        write(self._state, sentence)


def _rate_text(rate: float) -> str:
    return f"{rate / 1e9:.2f} G/s" if rate >= 1e9 else f"{rate / 1e6:.1f} M/s"


def _row(result: Result) -> str:
    sweep = result.sweep
    texts = (
        _rate_text(result.bare_rate),
        _rate_text(sweep.rate),
        f"{result.cost:.1%}",
        _rate_text(result.sampled_sweep.rate),
        f"{sweep.stepping_ms:.2f} ms",
        f"{sweep.share:.0%}",
        str(sweep.frames),
        f"{sweep.p95_ms:.1f} ms",
    )
    cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
    return f'<tr data-case="{escape(result.case.title)}"><td class="words">{escape(result.case.title)}</td>{cells}</tr>'
