"""An example of every table of a spec, and what is told of a mistake in it."""

from __future__ import annotations

import henad_web as hw

__all__ = ["EXAMPLE", "check", "told"]

EXAMPLE = '''\
model = "sir"

[set]
grid_width = 64
initial_infected_pct = 0.005

[run]
steps = 300
warmup = 10
replicates = 3
timeout_s = 600
stop = { condition = "Infected <= 0", min_tick = 41 }

[measure]
stats_every = 2
series_every = 4
default_reducers = true
reducers = [
  { column = "Infected", kinds = ["argmax", "first>=400"] },
]

[seeds]
root = 42
scheme = "common"

[[action]]
id = "seed_outbreak"
name = "second_wave"
tick = 40

[[block]]
design = "factorial"
factors = [
  { param = "infection_rate", range = { min = 0.02, max = 0.14, step = 0.04 } },
  { param = "recovery_rate", values = [0.05, 0.1, 0.2] },
  { action = "second_wave", values = [20, 40] },
]

[[block]]
design = "lhs"
samples = 40
design_seed = 9
factors = [{ param = "infection_rate", range = { min = 0.1, max = 0.5 } }]

[[block]]
design = "table"
table_text = """
infection_rate,action.second_wave
0.1,20
0.2,40
"""

[execution]
concurrent = "auto"
memory = 1000000
'''


def told(text: str) -> str:
    """Return what is said about `text`, one problem a line."""
    loaded = None
    try:
        loaded = hw.parse_spec(text, name="sweep.toml")
        loaded.spec.plan(hw.example_models()["sir"].schema())
    except hw.PlanError as error:
        assert loaded is not None
        return "\n".join(str(problem) for problem in loaded.locate(error.problems))
    except hw.HenadError as error:
        return str(error)
    return ""


def check(right: str, mistake: str, message: str) -> None:
    """Make sure that `mistake` in the place of `right` in the example is answered with `message`, word for word."""
    assert right in EXAMPLE
    found = told(EXAMPLE.replace(right, mistake, 1))
    assert found.replace("sweep.toml, ", "") == message
    assert found.count("sweep.toml, ") == (0 if message.startswith("spec is for") else len(message.splitlines()))
