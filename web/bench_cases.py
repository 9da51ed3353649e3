"""What the benchmarks of the page and of native Python measure: models, grid sizes, and specs of a fitting length.

Owns numbers and spec texts, and imports nothing of either. Measures nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["CASES", "Case", "Framed", "Result", "single_run_text", "spec_text"]


@dataclass(frozen=True, slots=True)
class Case:
    """One model on a square grid.

    Attributes:
        model: Id of the model.
        side: Cells a side.
        bare_steps: Steps of one repeat of the bare loop.
        run_steps: Length of a run in a sweep where the model's work depends on it, None for as long as needed.
    """

    model: str
    side: int
    bare_steps: int
    run_steps: int | None = None

    @property
    def cells(self) -> int:
        """Cells of the grid."""
        return self.side * self.side

    @property
    def title(self) -> str:
        """The case in words."""
        return f"{self.model} {self.side} x {self.side}"


CASES = (
    Case("game_of_life", 256, bare_steps=3000),
    Case("game_of_life", 1024, bare_steps=600),
    Case("sir", 256, bare_steps=100, run_steps=100),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """One sweep driven by frames.

    Attributes:
        rate: Cell updates a second of time inside the runs, sampling included.
        frames: Frames it took.
        stepping_ms: Time inside the runs a frame, milliseconds.
        share: `stepping_ms` as a share of the 6 ms a frame.
        pump_ms: Time inside `update` a frame, milliseconds.
        p95_ms: Time between two frames that 95 % of them stay under, milliseconds.
    """

    rate: float
    frames: int
    stepping_ms: float
    share: float
    pump_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One case measured: bare, in a sweep sampled every 100 ticks, and in one sampled every tick."""

    case: Case
    bare_rate: float
    sweep: Framed
    sampled_sweep: Framed

    @property
    def cost(self) -> float:
        """Share of the bare rate that the sweep loses."""
        return 1.0 - self.sweep.rate / self.bare_rate

    def document(self) -> dict[str, object]:
        """Return the result as values that JSON can hold."""
        return {
            "model": self.case.model,
            "side": self.case.side,
            "bare_cell_updates_per_s": self.bare_rate,
            "handle_cost": self.cost,
            "handle_stats_every_100": asdict(self.sweep),
            "handle_stats_every_1": asdict(self.sampled_sweep),
        }


def spec_text(case: Case, *, rate: float, seconds: float, stats_every: int) -> str:
    """Return a spec of `case` that steps for about `seconds` at `rate` cell updates a second."""
    ticks = max(100, round(rate * seconds / case.cells))
    steps = case.run_steps or -(-ticks // 2)
    return _text(case, steps=steps, replicates=-(-ticks // steps), stats_every=stats_every)


def single_run_text(case: Case, *, steps: int, stats_every: int) -> str:
    """Return a spec of `case` that is one run of `steps` steps."""
    return _text(case, steps=steps, replicates=1, stats_every=stats_every)


def _text(case: Case, *, steps: int, replicates: int, stats_every: int) -> str:
    return f"""model = "{case.model}"
[set]
grid_width = {case.side}
grid_height = {case.side}
[run]
steps = {steps}
replicates = {replicates}
[measure]
stats_every = {stats_every}
series_every = 0
[seeds]
root = 1
"""
