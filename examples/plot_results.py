"""Figures of results: a curve, bands over time, a heatmap, sensitivities, a comparison, and how a search went.

Run it with ``python examples/plot_results.py FOLDER``, which writes them there; those of the documents are made with
``docs/figures``. Without a folder they are drawn and not kept.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import henad_web as hw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPIDEMIC = """
model = "sir"
[set]
grid_width = 24
grid_height = 24
[run]
steps = 80
replicates = 6
[measure]
stats_every = 2
[seeds]
root = 42
"""

GRID = """
[[block]]
factors = [
  { param = "infection_rate", values = [0.02, 0.04, 0.08, 0.16, 0.32] },
  { param = "recovery_rate", values = [0.05, 0.1, 0.2] },
]
"""

SALTELLI = """
[[block]]
design = "saltelli"
samples = 32
factors = [
  { param = "infection_rate", range = { min = 0.02, max = 0.32 } },
  { param = "recovery_rate", range = { min = 0.05, max = 0.2 } },
  { param = "initial_infected_pct", range = { min = 0.005, max = 0.05 } },
]
"""

SEARCH = """
[search]
algorithm = "genetic"
max_evaluations = 50
batch_size = 10
space = [
  { param = "infection_rate", range = { min = 0.02, max = 0.32 } },
  { param = "recovery_rate", range = { min = 0.05, max = 0.2 } },
]
objective = { column = "Infected:max", goal = "maximize" }
[search.genetic]
population = 10
"""


def results_of(text: str) -> hw.ResultSet:
    """Run the study `text` in memory and return its results."""
    record = hw.run_spec(hw.example_models()["sir"], hw.parse_spec(text))
    return hw.ResultSet.from_files(record.files or {})


def figures() -> Iterator[tuple[str, "Axes"]]:
    """Yield each figure with the name of its file."""
    grid = results_of(EPIDEMIC + GRID)
    yield "response", grid.plot.response("Infected:max", "infection_rate", by="recovery_rate")
    yield "bands", grid.plot.bands("Infected", by="recovery_rate", held={"infection_rate": 0.16})
    yield "heatmap", grid.plot.heatmap("Infected:max", "infection_rate", "recovery_rate")
    yield "compare", grid.plot.compare("Infected:max", {"recovery_rate": 0.05}, {"recovery_rate": 0.2})
    yield "prim", grid.plot.prim("Infected:max > 200")
    sampled = results_of(EPIDEMIC.replace("replicates = 6", "replicates = 1") + SALTELLI)
    yield "sensitivity", sampled.plot.sensitivity("Infected:max")
    yield "search", results_of(EPIDEMIC.replace("replicates = 6", "replicates = 2") + SEARCH).plot.search()


def main(folder: Path | None) -> None:
    """Draw the figures, and write them to `folder` as SVG."""
    for name, axes in figures():
        content = hw.figure_bytes(axes, "svg")
        print(f"{name}.svg: {axes.get_ylabel()}, {len(content):,} bytes")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.svg").write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) == 2 else None)
