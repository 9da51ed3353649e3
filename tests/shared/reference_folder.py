"""A folder as the reference engine wrote it in its older form, made by hand.

Its manifest has no host, model source or search, its builds say name, version and commit only, seeds past 2^63 - 1 are
texts in the manifest and plain in the tables. The numbers are those of the recorded epidemic.
"""

from __future__ import annotations

import json
from typing import Any

import henad_web as hw

__all__ = ["SEEDS", "reference_files"]

SEEDS = (11389263990721755462, 3710028182051322707)
PARAMS = ("grid_width", "grid_height", "infection_rate", "recovery_rate", "initial_infected_pct")
RUNS_HEADER = (
    "run_id,config_id,block,rep,seed,run_key,grid_width,grid_height,infection_rate,recovery_rate,initial_infected_pct,"
    "action.seed_outbreak,status,stop_reason,ticks,population,build_ms,wall_ms,steps_per_s,Susceptible:max,"
    "Infected:final,note"
)
SERIES = {
    0: ("254,2,0", "223,30,3", "75,159,22", "0,193,63", "0,135,121"),
    1: ("255,1,0", "243,13,0", "122,124,10", "4,198,54", "0,156,100"),
    2: ("254,2,0", "139,107,10", "0,205,51", "0,164,92", "0,114,142"),
    3: ("255,1,0", "192,61,3", "5,210,41", "0,165,91", "0,126,130"),
}
BUILD = {"name": "the-reference", "version": "0.2.0", "commit": "0123abcd"}


def spec_document() -> dict[str, Any]:
    return {
        "model": "sir",
        "set": {"grid_width": 16, "grid_height": 16, "initial_infected_pct": 0.01, "recovery_rate": 0.05},
        "run": {"steps": 20, "warmup": 0, "replicates": 2},
        "measure": {
            "stats_every": 5,
            "series_every": 5,
            "default_reducers": False,
            "reducers": [
                {"column": "Susceptible", "kinds": ["max"]},
                {"column": "Infected", "kinds": ["final"]},
            ],
        },
        "seeds": {"root": 7, "scheme": "common"},
        "action": [{"id": "seed_outbreak", "tick": 5}],
        "block": [{"design": "factorial", "factors": [{"param": "infection_rate", "values": [0.2, 0.4]}]}],
    }


def manifest_document() -> dict[str, Any]:
    schema = hw.example_models()["sir"].schema()
    return {
        "format": "henad-explore",
        "format_version": 1,
        "mode": "sweep",
        "status": "complete",
        "engine": BUILD,
        "model": {
            "id": "sir",
            "name": "SIR",
            "backend": "cpu",
            "schema_hash": "6ff1dc3971fd0a96",
            "schema": schema.document(("Susceptible", "Infected", "Recovered")),
        },
        "spec": spec_document(),
        "spec_source": {"path": "sweep.toml", "toml": None, "tables": []},
        "argv": ["explore", "--spec", "sweep.toml"],
        "plan": {
            "plan_hash": hw.parse_spec(hw.spec_to_toml(_spec())).spec.plan(schema).plan_hash,
            "results_fingerprint": _spec().plan(schema).results_fingerprint,
            "configs": 2,
            "replicates": 2,
            "runs": 4,
            "blocks": [{"design": "factorial", "configs": 2, "design_seed": None}],
        },
        "seeds": {"root": 7, "scheme": "common", "formula": "mix_seed(mix_seed(root ^ SWEEP_SALT) + rep)"},
        "columns": {
            "stats": ["Susceptible", "Infected", "Recovered"],
            "reducers": ["Susceptible:max", "Infected:final"],
        },
        "shard": {"index": 0, "count": 1},
        "execution": {
            "backend": "cpu",
            "concurrency": "auto",
            "cpu_lanes": 2,
            "threads_per_lane": 1,
            "gpu_tracks": 0,
            "projected_bytes": 4096,
            "memory_budget": None,
            "gpu_memory_budget": None,
        },
        "runtime": {
            "os": "linux",
            "arch": "x86_64",
            "logical_cpus": 8,
            "worker_threads": 8,
            "adapter": None,
            "adapter_backend": None,
            "adapter_type": None,
            "driver": None,
            "limits": None,
        },
        "timestamps": {
            "started_unix_ms": 1700000000000,
            "started": "2023-11-14T22:13:20.000Z",
            "finished_unix_ms": 1700000001000,
            "finished": "2023-11-14T22:13:21.000Z",
        },
        "sessions": [
            {"started": "2023-11-14T22:13:20.000Z", "commit": "0123abcd", "skipped": 0, "ran": 4, "engine": BUILD}
        ],
        "results": {"rows": 4, "ok": 4, "non_finite": 0, "failed": 0},
        "merged_shards": None,
    }


def _spec() -> hw.SweepSpec:
    return hw.parse_spec(
        """
        model = "sir"
        set = { grid_width = 16, grid_height = 16, initial_infected_pct = 0.01, recovery_rate = 0.05 }
        run = { steps = 20, replicates = 2 }
        seeds = { root = 7 }
        [measure]
        stats_every = 5
        default_reducers = false
        reducers = [{ column = "Susceptible", kinds = ["max"] }, { column = "Infected", kinds = ["final"] }]
        [[action]]
        id = "seed_outbreak"
        tick = 5
        [[block]]
        factors = [{ param = "infection_rate", values = [0.2, 0.4] }]
        """
    ).spec


def reference_files() -> dict[str, bytes]:
    """Return the four files by name."""
    plan = _spec().plan(hw.example_models()["sir"].schema())
    runs, series = [RUNS_HEADER], ["run_id,tick,Susceptible,Infected,Recovered"]
    for run in plan.runs():
        rows = SERIES[run.run_id]
        susceptible, infected = rows[0].split(",")[0], rows[-1].split(",")[1]
        rate = ("0.2", "0.4")[run.config_id]
        runs.append(
            f"{run.run_id},{run.config_id},0,{run.rep},{SEEDS[run.rep]},{plan.run_key(run)},16,16,{rate},0.05,0.01,5,"
            f"ok,steps,20,256,0.100,1.000,20000.000,{susceptible},{infected},"
        )
        series += [f"{run.run_id},{5 * place},{row}" for place, row in enumerate(rows)]
    summary = [
        "config_id,block,grid_width,grid_height,infection_rate,recovery_rate,initial_infected_pct,"
        "action.seed_outbreak,runs,ok,failed,ticks:mean,"
        + ",".join(
            f"{name}:{part}"
            for name in ("Susceptible:max", "Infected:final")
            for part in ("mean", "sd", "n", "ci95_low", "ci95_high")
        )
    ]
    for config_id, (rate, mean) in enumerate((("0.2", "145.5"), ("0.4", "120"))):
        summary.append(
            f"{config_id},0,16,16,{rate},0.05,0.01,5,2,2,0,20,"
            f"254.5,0.7071067811865476,2,248.146897632,260.853102368,{mean},1,2,0,0"
        )
    texts = {"runs.csv": runs, "series.csv": series, "summary.csv": summary}
    files = {name: ("\n".join(lines) + "\n").encode() for name, lines in texts.items()}
    return {**files, "manifest.json": json.dumps(manifest_document(), indent=2).encode() + b"\n"}
