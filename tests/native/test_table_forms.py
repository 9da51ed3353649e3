"""Folders whose tables went through another program: reused, merged, resumed and checked like any other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import henad_web as hw
from tests.native.folders import masked_in, ran_ids, record_of, resume, start, sweep
from tests.shared.table_forms import FORMS, ODD_ENTRY, TABLES, odd_spec

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight runs of a model whose names need quotes as a whole in ``whole``, in shards in ``0`` and ``1``."""
    base = tmp_path_factory.mktemp("eight")
    sweep(ODD_ENTRY, odd_spec(), base / "whole")
    for index in range(2):
        sweep(ODD_ENTRY, odd_spec(), base / str(index), shard=hw.Shard(index, 2))
    return base


def copied(folder: Path, to: Path, form: str) -> Path:
    """Copy `folder` with its tables in another form."""
    shutil.copytree(folder, to)
    for name in TABLES:
        (to / name).write_bytes(FORMS[form]((to / name).read_bytes()))
    return to


@pytest.mark.parametrize("form", FORMS)
def test_shards_in_another_form_merge_to_the_bytes_of_the_whole(eight: Path, tmp_path: Path, form: str) -> None:
    shards = [copied(eight / str(index), tmp_path / str(index), form) for index in range(2)]
    report = hw.merge(shards, tmp_path / "merged")
    assert report.missing == 0
    assert masked_in(tmp_path / "merged") == masked_in(eight / "whole")


@pytest.mark.parametrize("form", FORMS)
def test_runs_of_results_in_another_form_are_reused(eight: Path, tmp_path: Path, form: str) -> None:
    old = copied(eight / "whole", tmp_path / "old", form)
    run = start(ODD_ENTRY, odd_spec(replicates=3), tmp_path / "new", reuse=old)
    assert ran_ids(run) == [2, 5, 8, 11]
    sweep(ODD_ENTRY, odd_spec(replicates=3), tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_in_another_form_opens_verifies_and_goes_on(eight: Path, tmp_path: Path, form: str) -> None:
    folder = copied(eight / "whole", tmp_path / "folder", form)
    models = hw.ModelSet([ODD_ENTRY])
    assert hw.verify(folder, runs=8, models=models).is_equal
    record_of(resume(ODD_ENTRY, folder))
    assert masked_in(folder) == masked_in(eight / "whole")
    assert (folder / "series.csv").read_bytes() == (eight / "whole" / "series.csv").read_bytes()


def test_damage_is_told_alike_by_merge_and_reuse(eight: Path, tmp_path: Path) -> None:
    shards = [copied(eight / str(index), tmp_path / str(index), "crlf") for index in range(2)]
    table = shards[1] / "series.csv"
    table.write_bytes(table.read_bytes().replace(b"\r\n1,2,", b"\r\n1,x,"))
    with pytest.raises(hw.TableDamagedError) as merged:
        hw.merge(shards, tmp_path / "merged")
    with pytest.raises(hw.TableDamagedError) as reused:
        start(ODD_ENTRY, odd_spec(), tmp_path / "new", reuse=shards[1])
    with pytest.raises(hw.TableDamagedError) as resumed:
        resume(ODD_ENTRY, shards[1])
    assert str(merged.value) == str(reused.value) == str(resumed.value)
    assert (merged.value.table, merged.value.record, merged.value.column) == ("series.csv", 4, "tick")
    assert not (tmp_path / "new").exists()
