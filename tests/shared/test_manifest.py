"""Laws of the manifest: its fields, their order, and that it reads back."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import msgspec
import pytest

from henad_web.errors import ManifestError
from henad_web.explore.shards import Shard
from henad_web.output.manifest import Manifest, ManifestStatus, rfc3339, seed_number
from henad_web.output.record import SweepEnd
from henad_web.output.store import MemoryStore
from henad_web.version import VERSION
from tests.shared.made_results import ENTRY, SPEC, STARTED_S, outcome_of, outline_of, plan_of, writer_of

PLAN = plan_of()
FIELDS = [
    "format", "format_version", "mode", "status", "engine", "model", "spec", "spec_source", "argv", "plan", "seeds",
    "columns", "shard", "execution", "runtime", "timestamps", "sessions", "results", "merged_shards", "search",
]  # fmt: skip


def finished(text: str = SPEC, **options: Any) -> bytes:
    plan = plan_of(text)
    times = iter([STARTED_S, STARTED_S + 1.5])
    store = MemoryStore()
    writer = writer_of(store, plan, wall_clock=lambda: next(times), **{"outline": outline_of(plan), **options})
    writer.begin()
    writer.write_run(outcome_of(plan, 0))
    writer.finish(SweepEnd.COMPLETE)
    return store.files()["manifest.json"]


def document(text: str = SPEC, **options: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(finished(text, **options))
    return loaded


def test_the_fields_come_in_one_order_indented_by_two_with_a_final_line_feed() -> None:
    data = finished()
    assert list(json.loads(data)) == FIELDS
    assert data.startswith(b'{\n  "format": "henad-explore",\n  "format_version": 1,\n  "mode": "sweep",\n')
    assert data.endswith(b"\n}\n")


def test_the_plan_and_its_seeds_are_those_that_ran() -> None:
    manifest = document()
    assert manifest["plan"] == {
        "plan_hash": PLAN.plan_hash,
        "results_fingerprint": PLAN.results_fingerprint,
        "configs": 2,
        "replicates": 2,
        "runs": 4,
        "blocks": [{"design": "factorial", "configs": 2, "design_seed": None}],
    }
    assert manifest["seeds"] == {
        "root": 7,
        "scheme": "common",
        "formula": "mix_seed(mix_seed(root ^ SWEEP_SALT) + rep)",
    }
    assert manifest["columns"]["reducers"] == ["Infected:max", "Infected:mean"]
    assert manifest["shard"] == {"index": 0, "count": 1}


def test_the_model_is_described_whole_and_its_promises_are_absent() -> None:
    model = document()["model"]
    assert list(model) == ["id", "name", "backend", "schema_hash", "schema"]
    assert model["schema_hash"] == "6ff1dc3971fd0a96"
    assert model["schema"] == ENTRY.schema().document(("Susceptible", "Infected", "Recovered"))


def test_the_spec_of_a_manifest_is_the_spec_that_ran() -> None:
    manifest = document()
    assert manifest["spec"]["model"] == "sir"
    assert manifest["spec"]["set"]["recovery_rate"] == 0.05
    assert manifest["spec_source"] == {"path": "sweep.toml", "toml": SPEC, "tables": []}


def test_times_are_in_milliseconds_and_in_words() -> None:
    assert document()["timestamps"] == {
        "started_unix_ms": 1_700_000_000_250,
        "started": "2023-11-14T22:13:20.250Z",
        "finished_unix_ms": 1_700_000_001_750,
        "finished": "2023-11-14T22:13:21.750Z",
    }


def test_a_session_says_who_wrote_how_much() -> None:
    (session,) = document(provenance={"app": "study 1"})["sessions"]
    assert session["started"] == "2023-11-14T22:13:20.250Z"
    assert (session["skipped"], session["ran"]) == (0, 1)
    assert (session["engine"]["name"], session["engine"]["version"]) == ("henad-web", VERSION)
    assert session["host"] == {"app": "study 1"}


def test_execution_has_what_was_asked_and_what_was_chosen() -> None:
    execution = document(concurrency=3, memory_budget=1 << 30, argv=["henad", "run"])["execution"]
    assert list(execution.items()) == [
        ("backend", "cpu"),
        ("concurrency", 3),
        ("cpu_lanes", 1),
        ("threads_per_lane", 1),
        ("gpu_tracks", 0),
        ("projected_bytes", 4096),
        ("memory_budget", 1 << 30),
        ("gpu_memory_budget", None),
        ("lane_kind", "in_caller"),
    ]


def test_a_running_and_a_failed_sweep_have_no_results() -> None:
    store = MemoryStore()
    writer = writer_of(store, PLAN)
    writer.begin()
    running = Manifest.read(store.read("manifest.json"))
    assert (running.status, running.results, running.timestamps.finished) == (ManifestStatus.RUNNING, None, None)
    writer.write_run(outcome_of(PLAN, 0))
    writer.fail()
    failed = Manifest.read(store.read("manifest.json"))
    assert (failed.status, failed.results) == (ManifestStatus.FAILED, None)
    assert failed.timestamps.finished == "2023-11-14T22:13:20.250Z"
    assert failed.sessions[0].ran == 1


def test_a_lost_device_leaves_an_incomplete_folder() -> None:
    writer = writer_of(MemoryStore(), PLAN)
    writer.begin()
    assert writer.finish(SweepEnd.DEVICE_LOST).status is ManifestStatus.INCOMPLETE


@pytest.mark.parametrize(
    ("root", "kept"),
    [
        ("9007199254740993", 9007199254740993),
        ("9223372036854775807", 9223372036854775807),
        ('"9223372036854775808"', "9223372036854775808"),
        ('"18446744073709551615"', "18446744073709551615"),
    ],
)
def test_a_seed_keeps_all_its_digits(root: str, kept: int | str) -> None:
    text = SPEC.replace("root = 7", f"root = {root}")
    data = finished(text)
    manifest = json.loads(data)
    assert manifest["seeds"]["root"] == kept
    assert manifest["spec"]["seeds"]["root"] == kept
    assert Manifest.read(data).seeds.root == kept


def test_a_design_seed_past_the_limit_is_text() -> None:
    assert [seed_number(seed) for seed in (0, 2**63 - 1, 2**63)] == [0, 2**63 - 1, "9223372036854775808"]


def test_a_manifest_reads_back_as_what_was_written() -> None:
    data = finished(outline=outline_of(PLAN, shard=Shard(1, 3)))
    manifest = Manifest.read(data)
    assert manifest.shard.index == 1
    assert manifest.to_bytes() == data
    assert Manifest.read(b"\xef\xbb\xbf" + data) == manifest


def test_a_folder_of_a_newer_minor_form_reads() -> None:
    manifest = document()
    manifest["engine"]["type_path"] = "x"
    manifest["new_field"] = {"a": 1}
    del manifest["search"], manifest["merged_shards"], manifest["sessions"][0]["host"]
    assert Manifest.read(json.dumps(manifest).encode()).plan.runs == 4


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "manifest.json cannot be read"),
        (b"{", "manifest.json cannot be read"),
        (b"\xff", "manifest.json cannot be read"),
        (b'{"format": "other", "format_version": 1}', "of format 'other', version 1; allowed: 'henad-explore'"),
        (b'{"format": "henad-explore", "format_version": 2}', "version 2; allowed: 'henad-explore', version 1"),
        (b'{"format": "henad-explore", "format_version": 1}', "missing required field `mode`"),
    ],
)
def test_what_is_no_manifest_is_refused_in_words(data: bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        Manifest.read(data)


def test_a_model_that_promises_less_says_so() -> None:
    model = msgspec.structs.replace(Manifest.read(finished()).model, portable=False)
    assert msgspec.json.encode(model).endswith(b',"portable":false}')


def test_the_build_of_a_manifest_is_the_distribution_that_is_installed() -> None:
    engine = Manifest.read(finished()).engine
    assert engine.version == importlib.metadata.version(engine.name)


def test_a_time_is_written_in_utc_with_milliseconds() -> None:
    assert rfc3339(0) == "1970-01-01T00:00:00.000Z"
    assert rfc3339(1_700_000_000_007) == "2023-11-14T22:13:20.007Z"
