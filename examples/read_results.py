"""Results read back: columns, series, a replay and a check, from the files of a sweep.

Run it with ``python examples/read_results.py``. `hw.ResultSet.open` reads a folder or a zip in the same way.
"""

from pathlib import Path

import henad_web as hw


def read(results: hw.ResultSet) -> None:
    """Print what `results` say of the course of each config."""
    runs = results.runs
    print(f"{results.status}: {len(runs)} runs of {results.manifest.model.name}")
    for rate, peak in zip(runs["infection_rate"], runs["Infected:max"], strict=True):
        print(f"infection rate {rate:.2g}: at most {peak:.0f} infected")
    series = results.series(2)
    print("run 2, infected:", dict(zip(series.ticks.tolist(), series["Infected"].tolist(), strict=True)))

    state = results.replay(2, at="end")
    print(f"run 2 again, at tick {state.tick}: {state.stats()}")
    print(hw.verify_results(results, runs=2))


if __name__ == "__main__":
    loaded = hw.load_spec(Path(__file__).with_name("sir_fixture.toml"))
    record = hw.run_spec(hw.example_models()["sir"], loaded.spec)
    read(hw.ResultSet.from_files(record.files or {}))
