"""`henad run` with --resume, --reuse, --shard, `henad resume`, `henad merge`: what they print, write and exit with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from henad_native.cli import main
from tests.native.folders import hash_of, masked_in
from tests.native.test_lock import leave_behind

TOYS = "tests.native.cli_models:TOYS"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tables and lines from being wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")


def spec_at(folder: Path, *, values: str = "[1, 2, 3]", replicates: int = 2, steps: int = 10) -> str:
    """Write a spec of the toy that divides into `folder` and return its path."""
    path = folder / f"{re.sub(r'[^0-9]+', '-', values)}x{replicates}x{steps}.toml"
    path.write_text(
        f"""
model = "divides"
[run]
steps = {steps}
replicates = {replicates}
[[block]]
factors = [{{ param = "value", values = {values} }}]
"""
    )
    return str(path)


def run(spec: str, out: Path, *more: str) -> int:
    return main(["run", spec, "--out", str(out), "--models", TOYS, "--quiet", *more])


def cut(folder: Path, rows: int) -> None:
    """Leave `rows` rows of runs.csv."""
    path = folder / "runs.csv"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[: rows + 1]))


def test_resume_runs_what_is_missing_and_says_so(tmp_path: Path, capsys: Captured) -> None:
    spec, out = spec_at(tmp_path), tmp_path / "results"
    assert run(spec, out) == 0
    whole = masked_in(out)
    cut(out, 4)
    capsys.readouterr()
    assert main(["resume", str(out), "--models", TOYS]) == 0
    printed, told = capsys.readouterr()
    assert re.search(r"resume +4 skipped, 2 to run", told)
    assert re.search(r"wrote 6 runs to .*: 6 ok, 0 non-finite, 0 failed; 4 kept from before$", printed.strip())
    assert masked_in(out) == whole


def test_run_with_resume_starts_goes_on_and_takes_more_replicates(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "results"
    for replicates, kept in ((2, None), (2, 6), (3, 6)):
        assert run(spec_at(tmp_path, replicates=replicates), out, "--resume") == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last.endswith("0 failed" if kept is None else f"; {kept} kept from before")
    assert run(spec_at(tmp_path, replicates=3), tmp_path / "fresh") == 0
    assert masked_in(out) == masked_in(tmp_path / "fresh")


def test_failed_runs_are_tried_again_on_request(tmp_path: Path, capsys: Captured) -> None:
    spec, out = spec_at(tmp_path, values="[1, 0]"), tmp_path / "results"
    assert run(spec, out) == 3
    for command in (
        ["resume", str(out), "--models", TOYS],
        ["run", spec, "--out", str(out), "--models", TOYS, "--resume"],
    ):
        for more, kept in (([], 4), (["--retry-failed"], 2)):
            assert main([*command, "--quiet", *more]) == 3
            assert capsys.readouterr().out.splitlines()[-1].endswith(f"2 failed; {kept} kept from before")
    before = hash_of(out)
    assert run(spec, tmp_path / "new", "--retry-failed") == 2
    assert "it needs --resume or --reuse" in capsys.readouterr().err
    assert hash_of(out) == before


def test_reuse_copies_what_is_there(tmp_path: Path, capsys: Captured) -> None:
    assert run(spec_at(tmp_path), tmp_path / "old") == 0
    wider = spec_at(tmp_path, values="[0, 1, 2, 3]")
    assert run(wider, tmp_path / "new", "--reuse", str(tmp_path / "old")) == 3
    printed, told = capsys.readouterr()
    assert printed.splitlines()[-1].endswith("; 6 kept from before")
    assert f"warning: 6 of 8 runs are copied from {tmp_path / 'old'}" in told
    assert run(wider, tmp_path / "fresh") == 3
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")


def test_shards_merge_into_the_whole(tmp_path: Path, capsys: Captured) -> None:
    spec = spec_at(tmp_path)
    assert run(spec, tmp_path / "whole") == 0
    for index in range(3):
        assert run(spec, tmp_path / str(index), "--shard", f"{index}/3") == 0
    inputs = [str(tmp_path / str(index)) for index in range(3)]
    capsys.readouterr()
    assert main(["merge", *reversed(inputs), "--out", str(tmp_path / "merged")]) == 0
    merged = f"merged 3 folders with 6 runs into {tmp_path / 'merged'}: 6 ok, 0 non-finite, 0 failed, 0 missing"
    assert capsys.readouterr().out.splitlines()[-1] == merged
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")
    assert main(["merge", *inputs[:2], "--out", str(tmp_path / "part")]) == 3
    printed, told = capsys.readouterr()
    assert printed.strip().endswith("2 missing")
    assert "warning: 2 runs of the plan are missing: 2, 5; resume the merged folder to run them" in told
    assert main(["resume", str(tmp_path / "part"), "--models", TOYS, "--quiet"]) == 0
    assert masked_in(tmp_path / "part") == masked_in(tmp_path / "whole")


@pytest.mark.parametrize("text", ["4/4", "1", "0/0", "-1/2", "a/b"])
def test_a_shard_that_does_not_exist_is_a_bad_command_line(tmp_path: Path, capsys: Captured, text: str) -> None:
    assert run(spec_at(tmp_path), tmp_path / "new", f"--shard={text}") == 2
    assert "error: --shard: shard" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_outline_names_the_shard(tmp_path: Path, capsys: Captured) -> None:
    arguments = ["run", spec_at(tmp_path), "--out", str(tmp_path / "new"), "--models", TOYS, "--shard", "1/4"]
    assert main(arguments) == 0
    assert re.search(r"^  shard +1/4: 2 runs of them$", capsys.readouterr().err, re.MULTILINE)


def test_refusals_are_one_line_and_leave_the_folder(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "results"
    assert run(spec_at(tmp_path), out) == 0
    before = hash_of(out)
    capsys.readouterr()
    refused = {
        "already holds results": [spec_at(tmp_path)],
        "the plan hash is another one": [spec_at(tmp_path, steps=11), "--resume"],
        "the replicates were lowered: recorded 2, current 1": [spec_at(tmp_path, replicates=1), "--resume"],
        "it holds another shard: recorded 0/1, current 1/2": [spec_at(tmp_path), "--resume", "--shard", "1/2"],
    }
    for words, (spec, *more) in refused.items():
        assert run(spec, out, *more) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ")
        assert words in line
    assert main(["resume", str(tmp_path), "--models", TOYS]) == 1
    assert "holds no manifest.json" in capsys.readouterr().err
    assert hash_of(out) == before


def test_a_lock_of_another_host_needs_force(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "results"
    assert run(spec_at(tmp_path), out) == 0
    for arguments in (
        ["resume", str(out), "--models", TOYS, "-q"],
        ["merge", str(out), "--out", str(tmp_path / "all")],
    ):
        leave_behind(out, host="elsewhere")
        capsys.readouterr()
        assert main(arguments) == 1
        assert "--force takes it over" in capsys.readouterr().err
        assert main([*arguments, "--force"]) == 0


@pytest.mark.parametrize("verb", ["resume", "verify"])
@pytest.mark.parametrize(("program", "named"), [("henad", TOYS), ("program.py", "FILE")])
def test_a_folder_of_an_unknown_model_is_told_with_the_command_that_names_its_file(
    verb: str, program: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    out = tmp_path / "results"
    monkeypatch.setattr("sys.argv", [program, "run", "spec.toml", "--models", TOYS])
    assert run(spec_at(tmp_path), out) == 0
    capsys.readouterr()
    assert main([verb, str(out)]) == 1
    told = "error: no model 'divides'; known: sir, game_of_life; name the file of this one:"
    assert capsys.readouterr().err == f"{told} `henad {verb} {out} --models {named}`\n"
