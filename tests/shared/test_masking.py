"""Laws of the comparable form: what may differ between two equal sweeps is gone, everything else is still there."""

from __future__ import annotations

import json

import pytest

from henad_web.errors import ManifestError, TableDamagedError
from henad_web.output.masking import masked

HEADER = (
    "run_id,config_id,block,rep,seed,run_key,wall_ms,status,stop_reason,ticks,population,build_ms,wall_ms,steps_per_s,"
    "S:max,note\n"
)
MANIFEST: dict[str, object] = {
    "format": "henad-explore",
    "status": "complete",
    "engine": {"name": "x"},
    "spec_source": {"path": "here/sweep.toml", "toml": "model = 'sir'", "tables": []},
    "argv": ["henad"],
    "execution": {},
    "runtime": {},
    "timestamps": {},
    "sessions": [{}],
    "results": {"rows": 1},
    "merged_shards": None,
    "search": None,
}


def masked_runs(*rows: str) -> list[str]:
    return masked({"runs.csv": (HEADER + "".join(rows)).encode()})["runs.csv"].decode().splitlines()


def row(run_id: int, timings: str, rest: str) -> str:
    """Return a row whose parameter is called like a timing."""
    return f"{run_id},0,0,{run_id},9,00000000000000ff,0.5,ok,steps,20,256,{timings},{rest}\n"


def masked_note(note: str) -> str:
    return masked_runs(row(0, "1.000,2.000,3.000", f'7,"{note}"'))[1].split(",", 15)[15].strip('"')


def test_timings_are_emptied_and_a_parameter_of_the_same_name_is_kept() -> None:
    rows = row(0, "1.000,2.000,3.000", "7,"), row(1, "9.000,8.000,7.000", ",")
    assert masked_runs(*rows)[1:] == [row(0, ",,", "7,")[:-1], row(1, ",,", ",")[:-1]]


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        (
            "while stepping the simulation, ZeroDivisionError at divides.py:12: integer division or modulo by zero",
            "while stepping the simulation, ZeroDivisionError at divides.py:12",
        ),
        (
            "model refused action 'a' at tick 6; while building the model, ValueError at my model.py:3: bad: 4, 5",
            "model refused action 'a' at tick 6; while building the model, ValueError at my model.py:3",
        ),
        ("Inverse is not finite at tick 4", "Inverse is not finite at tick 4"),
        ("timed out after 0 s at tick 3", "timed out after 0 s at tick 3"),
        ("", ""),
    ],
)
def test_a_note_ends_at_the_place_of_its_fault(note: str, kept: str) -> None:
    assert masked_note(note) == kept


def test_the_other_tables_stay_whole_and_what_is_no_result_goes() -> None:
    files = {"series.csv": b"run_id,tick\n", "summary.csv": b"x\n", ".lock": b"{}", "manifest.json.partial": b"{"}
    assert masked(files) == {"series.csv": b"run_id,tick\n", "summary.csv": b"x\n"}


def test_of_the_manifest_machine_clocks_and_paths_go() -> None:
    form = masked({"manifest.json": json.dumps(MANIFEST).encode()})["manifest.json"]
    assert json.loads(form) == {
        "format": "henad-explore",
        "status": "complete",
        "spec_source": {"toml": "model = 'sir'", "tables": []},
        "results": {"rows": 1},
        "search": None,
    }
    assert form.endswith(b"}\n")


def test_a_masked_folder_is_its_own_masked_form() -> None:
    note = "\"while stepping the simulation, KeyError at m.py:1: 'a, b'\""
    files = {
        "runs.csv": (HEADER + row(0, "1.000,2.000,3.000", f"7,{note}")).encode(),
        "manifest.json": json.dumps(MANIFEST).encode(),
    }
    assert masked(masked(files)) == masked(files)


def test_the_seed_of_a_manifest_keeps_its_digits() -> None:
    form = masked({"manifest.json": b'{"seeds": {"root": 9007199254740993}}'})["manifest.json"]
    assert b"9007199254740993" in form


def test_files_that_are_none_are_refused() -> None:
    with pytest.raises(ManifestError, match=r"manifest.json cannot be read"):
        masked({"manifest.json": b"[]"})
    with pytest.raises(TableDamagedError, match=r"runs.csv, record 1: expected the columns of a sweep"):
        masked({"runs.csv": b"run_id,tick,S\n"})
