"""`henad submit slurm`: the scripts, what a stand-in for Slurm makes of them, and what is refused before."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from henad_native.cli import main
from henad_native.slurm import SlurmArray
from tests.native import stub_slurm
from tests.native.folders import hash_of, manifest_of, masked_in, sessions_of
from tests.native.test_lock import leave_behind

TOYS = "tests.native.cli_models:TOYS"
ODD = "a 'b' $c %d \"e\""
"""The name of a folder, such as nobody should have."""
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-in on the path and return the folder of what it remembers."""
    commands, state = tmp_path / "bin", tmp_path / "state"
    commands.mkdir()
    state.mkdir()
    for name in ("sbatch", "squeue"):
        line = shlex.join((sys.executable, stub_slurm.__file__, name))
        (commands / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(stub_slurm.STATE, str(state))
    monkeypatch.setenv("HENAD_TEST_KILLED", str(tmp_path / "killed"))
    return state


def spec_at(folder: Path, model: str = "divides", values: str = "[1, 2, 3]") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "a study.toml"
    path.write_text(
        f"""
model = "{model}"
[run]
steps = 10
replicates = 2
[[block]]
factors = [{{ param = "value", values = {values} }}]
"""
    )
    return path


def submit(spec: Path, out: Path, *more: str, jobs: int = 3) -> int:
    return main(["submit", "slurm", str(spec), "--out", str(out), "--models", TOYS, f"--jobs={jobs}", *more])


def jobs_of(state: Path) -> list[dict[str, Any]]:
    return list(json.loads((state / "jobs.json").read_text()))


def array_in(folder: Path, **changes: Any) -> SlurmArray:
    fields: dict[str, Any] = {"folder": folder, "spec": Path("study.toml"), "jobs": 4, "directory": folder.parent}
    return SlurmArray(**{**fields, **changes})


def test_a_task_that_was_killed_goes_on_and_the_merge_is_the_sweep_of_one_machine(
    slurm: Path, tmp_path: Path, capsys: Captured
) -> None:
    spec, out = spec_at(tmp_path / ODD, "killed_once"), tmp_path / ODD / "out"
    assert submit(spec, out, "--lanes", "in_caller", "--at-once", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "array 100",
        "retry 101",
        "merge 102",
        f"submitted 6 runs in 3 shards; the whole will be in {out / 'results'}",
    ]
    array, retry, merge = jobs_of(slurm)
    assert sorted(array["codes"]) == [-9, 0, 0]
    assert (retry["codes"], merge["codes"]) == ([0, 0, 0], [0])
    killed = out / "shards" / str(array["codes"].index(-9))
    assert len(sessions_of(killed)) == 2
    assert main(["run", str(spec), "--out", str(tmp_path / "whole"), "--models", TOYS, "--quiet"]) == 0
    assert masked_in(out / "results") == masked_in(tmp_path / "whole")
    logs = {path.name for path in (out / "logs").iterdir()}
    assert logs == {f"{job}_{task}.txt" for job in (100, 101) for task in range(3)} | {"merge-102.txt"}


def test_shards_that_never_ended_are_merged_as_far_as_they_are(tmp_path: Path) -> None:
    spec, out = spec_at(tmp_path / ODD), tmp_path / ODD / "out"
    assert submit(spec, out, "--no-submit", jobs=3) == 0
    shard = out / "shards" / "1"
    assert main(["run", str(spec), "--out", str(shard), "--shard=1/3", "--models", TOYS, "--quiet"]) == 0
    leave_behind(shard, host="a-lost-node")
    (out / "shards" / "2").mkdir()
    merge = {**os.environ, "SLURM_JOB_ID": "7"}
    done = subprocess.run(["bash", out / "merge.sh"], env=merge, capture_output=True, text=True, check=False)
    assert (done.returncode, "4 runs of the plan are missing: 0, 2, 3, 5" in done.stderr) == (3, True)
    assert len(masked_in(out / "results")) == 4


def test_nothing_is_tried_again_where_nothing_failed(slurm: Path, tmp_path: Path) -> None:
    assert submit(spec_at(tmp_path), tmp_path / "out", jobs=2) == 0
    array, retry, merge = jobs_of(slurm)
    assert (array["codes"], retry["codes"], merge["codes"]) == ([0, 0], None, [0])
    assert {"--dependency=afternotok:100", "--kill-on-invalid-dep=yes"} < set(retry["words"])
    assert "--dependency=afterany:100:101" in merge["words"]


def test_the_script_called_again_does_what_failed_and_merges_anew(slurm: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert submit(spec_at(tmp_path, values="[1, 0]"), out, jobs=2) == 0
    assert jobs_of(slurm)[-1]["codes"] == [3]
    before = masked_in(out / "results")
    (slurm / "busy").write_text("100 RUNNING\n")
    refused = subprocess.run(["bash", out / "submit.sh"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr == "error: jobs that were submitted before are not over: squeue --jobs=100,101,102\n"
    (slurm / "busy").unlink()
    assert len(jobs_of(slurm)) == 3
    subprocess.run(["bash", out / "submit.sh", "1"], check=True, capture_output=True)
    array, retry, merge = jobs_of(slurm)[3:]
    assert array["words"][-2:] == ["--retry-failed", "--force"]
    assert (array["codes"], retry["codes"], merge["codes"]) == ([3], [3], [3])
    assert [len(sessions_of(out / "shards" / str(shard))) for shard in (0, 1)] == [2, 4]
    assert masked_in(out / "results") == before == masked_in(out / "results-before-105")


def test_the_words_of_a_task_reach_henad_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    teller = folder / "tell me"
    teller.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n')
    teller.chmod(0o755)
    words = ("--models=my models.py:`x`", "--concurrent=2")
    array = array_in(folder, spec=folder / "a b.toml", run_words=words, before=("echo ready",), python=str(teller))
    task = {**os.environ, "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": "1"}
    (folder / "task").write_text(array.scripts()["array.sh"])
    told = subprocess.run(
        ["bash", folder / "task", "--retry-failed"], env=task, capture_output=True, text=True, check=True
    )
    ready, *rest = told.stdout.splitlines()
    run = ["-P", "-m", "henad_web", "run", str(folder / "spec" / "a b.toml"), "--out", str(folder / "shards" / "3")]
    assert (ready, rest) == ("ready", [*run, "--shard", "3/4", "--resume", *words, "--force", "--retry-failed"])
    task["SLURM_RESTART_COUNT"] = "0"
    told = subprocess.run(["bash", folder / "task"], env=task, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "--concurrent=2"


def test_options_reach_sbatch_as_they_are(slurm: Path, tmp_path: Path) -> None:
    more = ["--partition", "long", "--account", "a b", "--time", "1:00", "--mem", "2G", "--cpus-per-task", "1"]
    assert submit(spec_at(tmp_path), tmp_path / "out", *more, "--", "--comment=it's $HOME", jobs=1) == 0
    array, _, merge = jobs_of(slurm)
    given = ["--partition=long", "--account=a b", "--time=1:00", "--mem=2G", "--comment=it's $HOME"]
    common = [f"--chdir={os.getcwd()}", "--job-name=henad-a study", *given]
    for job, log in ((array, "%A_%a.txt"), (merge, "merge-%j.txt")):
        start = ["--parsable", f"--output={tmp_path / 'out' / 'logs' / log}", "--open-mode=append", *common]
        assert job["words"][: len(start)] == start
        assert "--cpus-per-task=1" in job["words"]
    assert {"--array=0-0", "--requeue"} < set(array["words"])


def test_a_dry_run_shows_the_scripts_and_touches_nothing(tmp_path: Path, capsys: Captured) -> None:
    spec = spec_at(tmp_path)
    before = hash_of(tmp_path)
    assert submit(spec, tmp_path / "out", "--dry-run", "--at-once", "2") == 0
    shown = capsys.readouterr().out
    assert hash_of(tmp_path) == before
    assert submit(spec, tmp_path / "out", "--no-submit", "--at-once", "2") == 0
    assert capsys.readouterr().out.startswith(f"wrote {tmp_path / 'out'}: 6 runs in 3 shards; bash ")
    for name in ("array.sh", "merge.sh", "submit.sh"):
        path = tmp_path / "out" / name
        assert f"==> {path} <==\n{path.read_text()}" in shown
        subprocess.run(["bash", "-n", path], check=True)
    assert 'indexes="${1:-0-2}"%2' in shown


def test_the_spec_is_copied_with_its_tables(slurm: Path, tmp_path: Path) -> None:
    spec = tmp_path / "study.toml"
    spec.write_text('model = "divides"\n[run]\nsteps = 2\n[[block]]\ndesign = "table"\nfile = "in/t.csv"\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("value\n1\n2\n")
    assert submit(spec, tmp_path / "out", "--no-submit", jobs=1) == 0
    spec.write_text("changed")
    (tmp_path / "in" / "t.csv").write_text("changed")
    subprocess.run(["bash", tmp_path / "out" / "submit.sh"], check=True, capture_output=True)
    assert manifest_of(tmp_path / "out" / "results").plan.runs == 2


def test_more_jobs_than_runs_are_fewer(tmp_path: Path, capsys: Captured) -> None:
    assert submit(spec_at(tmp_path), tmp_path / "out", "--dry-run", jobs=1000) == 0
    printed, told = capsys.readouterr()
    assert "warning: 6 runs cannot be spread over 1,000 jobs; there will be 6" in told
    assert '"$SLURM_ARRAY_TASK_ID"/6 --resume' in printed


REFUSED = {
    "a wrong spec": (["--dry-run"], 1, "steps"),
    "a search": (["--dry-run"], 2, "it is a search, which has no shards"),
    "no sbatch": ([], 2, "there is no sbatch on the path; --no-submit writes"),
    "another positional": (["--dry-run", "b.toml"], 2, "'b.toml' is no option of sbatch"),
    "an option of ours": (["--dry-run", "--", "--qos=x", "--arr=1-3"], 2, "--arr=1-3: the scripts choose this one"),
    "a short one": (["--dry-run", "--", "-d", "afterok:1"], 2, "-d: the scripts choose this one"),
    "lanes of nobody": (["--dry-run", "--concurrent=no"], 2, "--concurrent"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    more, code, words = REFUSED[case]
    spec = spec_at(tmp_path)
    if case == "a wrong spec":
        spec.write_text('model = "divides"\n[run]\nsteps = "many"\n')
    if case == "a search":
        objective = 'objective = { column = "Ticks:max", goal = "maximize" }'
        counts, space = "max_evaluations = 4\nbatch_size = 2", "space = [{ param = 'value', values = [1, 2] }]"
        head = 'model = "divides"\n[search]\nalgorithm = "random"'
        spec.write_text("\n".join((head, counts, objective, space)))
    monkeypatch.setenv("PATH", "/nowhere")
    before = hash_of(tmp_path)
    assert submit(spec, tmp_path / "out", *more) == code
    assert words in capsys.readouterr().err
    assert hash_of(tmp_path) == before


def test_a_second_call_is_refused_and_says_how_to_go_on(slurm: Path, tmp_path: Path, capsys: Captured) -> None:
    spec, out = spec_at(tmp_path), tmp_path / "out"
    assert submit(spec, out, "--no-submit") == 0
    before = hash_of(out)
    for more in ([], ["--dry-run"]):
        assert submit(spec, out, *more) == 1
        assert f"{out} is not an empty folder; bash {out / 'submit.sh'} goes on with it" in capsys.readouterr().err
    assert hash_of(out) == before
    assert not (slurm / "jobs.json").exists()


def test_a_folder_that_slurm_cannot_be_told_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert submit(spec_at(tmp_path), tmp_path / "a\\b", "--dry-run") == 1
    assert "holds a backslash or a line end" in capsys.readouterr().err


def test_a_refusal_of_slurm_leaves_nothing_behind_where_it_took_no_job(
    slurm: Path, tmp_path: Path, capsys: Captured
) -> None:
    (slurm / "refuses").write_text("0")
    before = set(tmp_path.iterdir())
    spec = spec_at(tmp_path / "in")
    assert submit(spec, tmp_path / "deep" / "out") == 1
    message = "sbatch refused the array: sbatch: error: invalid partition specified: nowhere; nothing was submitted"
    assert message in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == before | {tmp_path / "in", tmp_path / "deep"}
    assert not (tmp_path / "deep" / "out").exists()
    (slurm / "refuses").write_text("1")
    assert submit(spec, tmp_path / "out", jobs=1) == 1
    assert "sbatch refused the retry" in (told := capsys.readouterr().err)
    assert f"scancel 100 takes back what it took; {tmp_path / 'out' / 'submit.sh'} submits anew" in told
