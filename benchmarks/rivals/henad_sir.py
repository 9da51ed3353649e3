"""The epidemic as the example model `sir`, in a sweep of as many lanes as processes, its series in memory."""

from __future__ import annotations

from race import INFECTION, INITIAL, RECOVERY, SIDE, STEPS, Race, enter

import henad_web as hw


def run(runs: int, processes: int) -> hw.SweepRecord:
    """Return the record of a sweep of `runs` replicates."""
    rates = (("infection_rate", INFECTION), ("recovery_rate", RECOVERY), ("initial_infected_pct", INITIAL))
    spec = hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", SIDE), ("grid_height", SIDE), *rates),
        run=hw.RunSettings(steps=STEPS, replicates=runs),
        measure=hw.MeasureSettings(default_reducers=False),
    )
    options = hw.SweepRunOptions(concurrency=processes)
    return hw.run_spec(hw.example_models()["sir"], spec, output=hw.MemoryOutput(), options=options)


def infected(record: hw.SweepRecord) -> list[list[int]]:
    """Return the infected of each run."""
    results = hw.ResultSet.from_files(record.files or {})
    column = results.stat_columns.index("Infected")
    return [results.series(run_id).values[:, column].astype(int).tolist() for run_id in results.runs["run_id"].tolist()]


if __name__ == "__main__":
    enter(Race(version=hw.__version__, run=run, infected=infected, is_warmed=True))
