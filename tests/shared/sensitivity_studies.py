"""Studies of a polynomial whose sensitivities are known, over tables that lie as the designs of libraries do.

The designs are drawn by the project's own generator, so that they can be had on every target. What is measured is never
stepped: a run is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from henad_web.model.decimals import f64_text
from henad_web.randomness import DesignRng
from tests.shared.hosts import Host

NAMES = ("a", "b", "c")
MODES = ("slow", "fast", "idle")

Floats = NDArray[np.float64]


def polynomial(params: dict[str, Any], _: object) -> dict[str, float]:
    a, b, c = (params[name] for name in NAMES)
    y = a + 2 * b * b + a * c
    shift = 0.5 if params["on"] else 0.0
    shifted = y + shift + MODES.index(params["mode"])
    return {"y": y, "z": 100 - 7 * y, "same": 4.25, "shifted": shifted, "bent": (b - 0.5) * (b - 0.5)}


ENTRY = hw.from_function(
    polynomial,
    params=[
        *(hw.f64(name, name.upper(), 0.5, min=0.0, max=1.0) for name in NAMES),
        hw.boolean("on", "On", False),
        hw.choice("mode", "Mode", MODES),
        hw.u32("size", "Size", 4, min=0, max=9),
    ],
    stats=["y", "z", "same", "shifted", "bent"],
)


def saltelli_rows(points: int, *, second_order: bool, seed: int = 5) -> Floats:
    """Return the configs of `points` points, ``(configs, 3)``, in the order of a saltelli design."""
    rng = DesignRng(seed)
    a, b = (np.round(rng.units(points * 3).reshape(points, 3), 6) for _ in range(2))
    rows = []
    for left, right in zip(a, b, strict=True):
        rows.append(left)
        rows += [np.where(np.arange(3) == factor, right, left) for factor in range(3)]
        if second_order:
            rows += [np.where(np.arange(3) == factor, left, right) for factor in range(3)]
        rows.append(right)
    return np.array(rows)


def trajectory_rows(trajectories: int, seed: int = 3) -> Floats:
    """Return the configs of `trajectories`, ``(configs, 3)``, through 0, 0.25, 0.75 and 1 in steps of 0.75."""
    rng, rows = DesignRng(seed), []
    for number in range(trajectories):
        # The first two reach both ends of each factor.
        low = np.full(3, 0.25 * number) if number < 2 else np.array([0.25 * rng.index(2) for _ in range(3)])
        is_up = np.array([rng.index(2) == 1 for _ in range(3)])
        rows.append(low + 0.75 * is_up)
        for factor in rng.permutation(3):
            is_up[factor] = not is_up[factor]
            rows.append(low + 0.75 * is_up)
    return np.array(rows)


def table_of(rows: Floats, names: Sequence[str] = NAMES) -> hw.BlockSpec:
    lines = [",".join(names), *(",".join(map(f64_text, row.tolist())) for row in rows)]
    return hw.BlockSpec(design=hw.DesignKind.TABLE, table_text="\n".join(lines) + "\n")


def grid_of(**levels: Sequence[Any]) -> hw.BlockSpec:
    factors = (hw.FactorSpec(param=name, levels=hw.ValueLevels(values=tuple(each))) for name, each in levels.items())
    return hw.BlockSpec(factors=tuple(factors))


def files_of(host: Host, *blocks: hw.BlockSpec, replicates: int = 1) -> dict[str, bytes]:
    spec = hw.SweepSpec(
        model=ENTRY.id,
        run=hw.RunSettings(steps=0, replicates=replicates),
        measure=hw.MeasureSettings(default_reducers=False, reducers=REDUCERS),
        blocks=blocks,
    )
    return host.files(ENTRY, spec)


REDUCERS = tuple(hw.ReducerSpec(column=name, kind="final") for name in ("y", "z", "same", "shifted", "bent"))


def opened(files: dict[str, bytes], edit: Callable[[list[str]], list[str]] = list) -> hw.ResultSet:
    """Return the results in `files`, the rows of runs.csv as `edit` leaves them."""
    header, *rows = files["runs.csv"].decode().splitlines()
    text = "".join(f"{line}\n" for line in (header, *edit(rows)))
    return hw.ResultSet.from_files({**files, "runs.csv": text.encode()})


def failed(row: str) -> str:
    """Return the row of a run as it stands when the run failed."""
    cells = row.split(",")
    cells[cells.index("ok")] = "panicked"
    return ",".join(cells)
