"""A sweep watched while it runs: its events as they come, and its progress whenever there is time to look.

Run it with ``python examples/watch_a_sweep.py``. The same lines work inside a page, where the loop is the browser's.
"""

import asyncio

import henad_web as hw

SPEC = """
model = "game_of_life"
[set]
grid_width = 64
grid_height = 64
[run]
steps = 200
replicates = 2
[[block]]
factors = [{ param = "density", range = { min = 0.2, max = 0.8, step = 0.2 } }]
"""


async def watch() -> None:
    """Start the sweep and tell its news until the last."""
    entry = hw.example_models().lookup("game_of_life")
    with hw.SweepRun.start(entry, hw.parse_spec(SPEC).spec) as run:
        async for event in run.events():
            match event:
                case hw.Planned(outline):
                    print(f"{outline.runs} runs of {outline.model}, columns {', '.join(outline.stat_columns)}")
                case hw.RunFinished(outcome, _):
                    progress = run.progress()
                    alive = outcome.reducers["Alive:final"]
                    print(f"run {outcome.run.run_id}: {alive:.0f} alive; {progress.runs_done} of {progress.runs_total}")
                case hw.Finished(record):
                    print(f"{record.report.end}: {', '.join(record.files or {})}")
                case hw.Failed(message):
                    print(f"failed: {message}")


if __name__ == "__main__":
    asyncio.run(watch())
