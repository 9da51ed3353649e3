"""A model of one's own, swept over all the rules it can follow.

Run it with ``python examples/own_model.py``; the command line finds it with ``--models examples/own_model.py``.
"""

import numpy as np
from numpy.typing import NDArray

import henad_web as hw


class Elementary(hw.Model, topology=hw.Topology.GRID, palette=((21, 21, 21), (0, 230, 118))):
    """A ring of cells, each 0 or 1, whose next state a rule of eight bits reads off its neighbourhood."""

    cells = hw.u32(256, min=3, max=100_000)
    rule = hw.u32(110, min=0, max=255)
    density = hw.f32(0.5, min=0, max=1, label="Initial density")

    def setup(self) -> None:
        """Scatter ones."""
        self.ring = (self.rng.random(self.cells) < self.density).astype(np.uint8)
        self.next_of = np.array([self.rule >> bits & 1 for bits in range(8)], np.uint8)
        self.population = self.cells

    def step_once(self) -> None:
        """Give each cell what the rule says of it and its two neighbours."""
        left, right = np.roll(self.ring, 1), np.roll(self.ring, -1)
        self.ring = self.next_of[left * 4 + self.ring * 2 + right]

    @property
    def grid(self) -> NDArray[np.uint8]:
        """The ring as one row, ``(1, cells)``."""
        return self.ring.reshape(1, -1).copy()

    @hw.stat(label="Ones", color=(0, 230, 118))
    def ones(self) -> int:
        """Cells at 1."""
        return int(np.count_nonzero(self.ring))


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
    record = hw.run_spec(Elementary, hw.parse_spec(SPEC).spec, output=hw.MemoryOutput())
    print(f"{record.report.counts.rows} runs in {record.report.elapsed:.1f} s")
    header, *rows = [line.split(",") for line in (record.files or {})["summary.csv"].decode().splitlines()]
    rule, ones = header.index("rule"), header.index("Ones:mean:mean")
    for row in sorted(rows, key=lambda row: -float(row[ones]))[:5]:
        print(f"rule {row[rule]:>3}: {float(row[ones]):.1f} of 256 cells on average")


if __name__ == "__main__":
    main()
