"""Drives one sweep from animation frames and measures what the frames were used for.

Owns the measuring loop of the benchmark page. It gives turns as the main page does, and draws nothing.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from bench_cases import Framed
from dom import window
from handlers import lasting
from pacing import BUDGET_MS, percentile

import henad_web as hw

__all__ = ["FrameDriver"]


@dataclass(slots=True)
class _Tally:
    """What one sweep has used so far."""

    run: hw.SweepRun
    ended: asyncio.Future[None]
    last_ms: float | None = None
    gaps_ms: list[float] = field(default_factory=list)
    pump_ms: float = 0.0
    stepping_ms: float = 0.0
    ticks: int = 0

    def framed(self, cells: int) -> Framed:
        frames = len(self.gaps_ms) + 1
        return Framed(
            rate=self.ticks * cells / (self.stepping_ms / 1000),
            frames=frames,
            stepping_ms=self.stepping_ms / frames,
            share=self.stepping_ms / frames / BUDGET_MS,
            pump_ms=self.pump_ms / frames,
            p95_ms=percentile(self.gaps_ms, 0.95),
        )


class FrameDriver:
    """Runs sweeps one after another, each from a series of frames."""

    def __init__(self) -> None:
        self._on_frame = lasting(self._frame)
        self._tally: _Tally | None = None

    async def measure(self, entry: hw.ModelEntry, text: str, cells: int) -> Framed:
        """Run the spec `text` of `entry`, on a grid of `cells`, to its end in frames.

        Raises:
            HenadError: The sweep could not start, or failed.
        """
        run = hw.SweepRun.start(entry, hw.parse_spec(text).spec, output=hw.MemoryOutput())
        tally = self._tally = _Tally(run, asyncio.get_running_loop().create_future())
        window.requestAnimationFrame(self._on_frame)
        await tally.ended
        run.close()
        return tally.framed(cells)

    def _frame(self, timestamp_ms: float) -> None:
        tally = self._tally
        if tally is None:
            return
        passed_ms = 0.0
        if tally.last_ms is not None:
            passed_ms = timestamp_ms - tally.last_ms
            tally.gaps_ms.append(passed_ms)
        tally.last_ms = timestamp_ms
        start = time.perf_counter()
        tally.run.update(passed_ms / 1000)
        tally.pump_ms += (time.perf_counter() - start) * 1000
        if self._drain(tally):
            window.requestAnimationFrame(self._on_frame)

    def _drain(self, tally: _Tally) -> bool:
        while (event := tally.run.try_recv()) is not None:
            match event:
                case hw.RunFinished(outcome, _):
                    tally.stepping_ms += outcome.wall_ms
                    tally.ticks += outcome.ticks
                case hw.Failed(message):
                    tally.ended.set_exception(hw.HenadError(message))
                    return False
                case hw.Finished(_):
                    tally.ended.set_result(None)
                    return False
        return True
