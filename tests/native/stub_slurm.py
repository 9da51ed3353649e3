"""A stand-in for Slurm: `sbatch` runs what it is given at once, on this machine, and `squeue` lists what a test says.

Called as ``stub_slurm.py sbatch WORD...`` or ``stub_slurm.py squeue``; what it remembers is in the folder that the
environment variable HENAD_TEST_SLURM names. After a task that was killed its folder's lock is another host's, as if the
next attempt ran on another node.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

STATE = "HENAD_TEST_SLURM"
FIRST_JOB = 100


def sbatch(words: list[str], state: Path) -> int:
    """Run a job to its end, and print its id as ``--parsable`` does."""
    script = next(position for position, word in enumerate(words) if not word.startswith("-"))
    options = dict(word.partition("=")[::2] for word in words[:script])
    jobs = json.loads((state / "jobs.json").read_text()) if (state / "jobs.json").exists() else []
    if (state / "refuses").exists() and len(jobs) == int((state / "refuses").read_text()):
        sys.stderr.write("sbatch: error: invalid partition specified: nowhere\n")
        return 1
    number, codes = FIRST_JOB + len(jobs), None
    if _may_begin(options.get("--dependency"), jobs):
        tasks = _indexes(options["--array"]) if "--array" in options else [None]
        codes = [_code_of(number, task, options, words[script:]) for task in tasks]
    (state / "jobs.json").write_text(json.dumps([*jobs, {"words": words, "codes": codes}]))
    sys.stdout.write(f"{number};cluster\n")
    return 0


def _may_begin(dependency: str | None, jobs: list[dict[str, list[int] | None]]) -> bool:
    if dependency is None:
        return True
    kind, *ids = dependency.split(":")
    codes = [jobs[int(id) - FIRST_JOB]["codes"] or [0] for id in ids]
    return kind == "afterany" or (kind == "afternotok" and any(any(each) for each in codes))


def _indexes(text: str) -> list[int]:
    parts = [part.partition("-")[::2] for part in text.partition("%")[0].split(",")]
    return [index for first, last in parts for index in range(int(first), int(last or first) + 1)]


def _code_of(job: int, task: int | None, options: dict[str, str], command: list[str]) -> int:
    meanings = {"A": str(job), "j": str(job), "a": str(task), "%": "%"}
    log = re.sub("%(.)", lambda found: meanings[found[1]], options["--output"])
    environment = {**os.environ, "SLURM_JOB_ID": str(job), "SLURM_CPUS_PER_TASK": options["--cpus-per-task"]}
    if task is not None:
        environment["SLURM_ARRAY_TASK_ID"] = str(task)
    with open(log, "a") as file:
        done = subprocess.run(
            ["bash", *command], cwd=options["--chdir"], env=environment, stdout=file, stderr=file, check=False
        )
    if done.returncode < 0:
        lock = Path(command[0]).parent / "shards" / str(task) / ".lock"
        lock.write_text(json.dumps({**json.loads(lock.read_text()), "host": "another-node"}))
    return done.returncode


if __name__ == "__main__":
    folder = Path(os.environ[STATE])
    if sys.argv[1] == "squeue":
        sys.stdout.write((folder / "busy").read_text() if (folder / "busy").exists() else "")
        sys.exit(0)
    sys.exit(sbatch(sys.argv[2:], folder))
