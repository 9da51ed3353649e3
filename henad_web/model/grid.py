"""What every grid model shares: its leading parameters, its start and how its work splits into rows."""

from __future__ import annotations

from henad_web.model.params import Apply, Param, u32
from henad_web.randomness import initial_state

__all__ = ["GRID_UNSEEDED", "grid_params", "grid_start", "row_jobs"]

GRID_UNSEEDED = 0xDEADBEEFCAFE1234
"""State that building a grid starts from without a seed."""

_LARGEST_SIDE = 10_000
_CELLS_A_JOB = 8192


def grid_params(width: int = 1024, height: int = 1024) -> tuple[Param, Param]:
    """Return the two parameters that every grid model starts with; the arguments are their defaults, in cells."""
    return (
        u32("grid_width", "Grid Width", width, 1, _LARGEST_SIDE, apply=Apply.RELOAD),
        u32("grid_height", "Grid Height", height, 1, _LARGEST_SIDE, apply=Apply.RELOAD),
    )


def grid_start(seed: int | None) -> int:
    """Return the state that building a grid starts from."""
    return initial_state(seed, GRID_UNSEEDED)


def row_jobs(width: int, height: int) -> int:
    """Return into how many jobs of whole rows, about 8192 cells each, a step splits."""
    rows = min(max(-(-_CELLS_A_JOB // width), 1), height)
    return -(-height // rows)
