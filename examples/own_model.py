"""A model of one's own, swept over all the rules it can follow.

Run it with ``python examples/own_model.py``; the command line finds it with ``--models examples/own_model.py``.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import henad_web as hw
from henad_web.randomness import initial_state, stream_bits, threshold


class Elementary:
    """A ring of cells, each 0 or 1, whose next state a rule of eight bits reads off its neighbourhood."""

    parallel_jobs = None

    def __init__(self, params: Mapping[str, hw.ParamValue], seed: int | None) -> None:
        self.tick = 0
        self.population = int(params["cells"])
        self._next = np.array([int(params["rule"]) >> bits & 1 for bits in range(8)], np.uint8)
        words, _ = stream_bits(initial_state(seed, 1), self.population)
        self._cells = (words < np.uint32(threshold(float(params["density"])))).astype(np.uint8)

    @property
    def heap_bytes(self) -> int:
        """Bytes the cells hold."""
        return self._cells.nbytes

    @property
    def grid(self) -> NDArray[np.uint8]:
        """The ring as one row, ``(1, cells)``."""
        return self._cells.reshape(1, -1).copy()

    def step(self, n: int = 1) -> None:
        """Do `n` steps."""
        for _ in range(n):
            left, right = np.roll(self._cells, 1), np.roll(self._cells, -1)
            self._cells = self._next[left * 4 + self._cells * 2 + right]
        self.tick += n

    def stats(self) -> dict[str, float]:
        """Return the number of cells at 1."""
        return {"Ones": float(np.count_nonzero(self._cells))}

    def act(self, action_id: str) -> bool:
        """Refuse: the model knows no action."""
        return False

    def set_param(self, id: str, value: hw.ParamValue) -> bool:
        """Refuse: every parameter is read at the build."""
        return False


ELEMENTARY = hw.ModelEntry(
    id="elementary",
    name="Elementary automaton",
    description="A ring of cells that follow one of 256 rules.",
    params=(
        hw.u32("cells", "Cells", 256, 3, 100_000, apply=hw.Apply.RELOAD),
        hw.u32("rule", "Rule", 110, 0, 255, apply=hw.Apply.RELOAD),
        hw.f32("density", "Initial density", 0.5, 0.0, 1.0, apply=hw.Apply.RELOAD),
    ),
    stats=(hw.Stat("Ones", (0, 230, 118, 255)),),
    actions=(),
    metadata=hw.ModelMetadata(backend=hw.Backend.CPU, palette=((21, 21, 21), (0, 230, 118)), topology=hw.Topology.GRID),
    factory=Elementary,
)

RULES = hw.ModelSet([ELEMENTARY])

SPEC = """
model = "elementary"
[run]
steps = 50
replicates = 1
[measure]
series_every = 0
[[block]]
factors = [{ param = "rule", range = { min = 0, max = 255 } }]
"""


def main() -> None:
    """Run every rule and print those that keep most cells at 1."""
    record = hw.run_spec(ELEMENTARY, hw.parse_spec(SPEC).spec, output=hw.MemoryOutput())
    print(f"{record.report.counts.rows} runs in {record.report.elapsed:.1f} s")
    header, *rows = [line.split(",") for line in (record.files or {})["summary.csv"].decode().splitlines()]
    rule, ones = header.index("rule"), header.index("Ones:mean:mean")
    for row in sorted(rows, key=lambda row: -float(row[ones]))[:5]:
        print(f"rule {row[rule]:>3}: {float(row[ones]):.1f} of 256 cells on average")


if __name__ == "__main__":
    main()
