"""Who wrote which rows: builds and platforms of sessions, and the warnings when they differ."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import henad_web as hw
from henad_web.output.build import BuildRecord, this_build
from henad_web.output.manifest import Manifest, ManifestStatus, RuntimeRecord, SessionRecord
from henad_web.output.run_spans import RunSpan, SpanBuilder, ids_in, span_text
from henad_web.resume.provenance import (
    BuildChanged,
    PlatformChanged,
    build_warnings,
    merge_warnings,
    rows_by_platform,
    same_build,
)
from tests.shared.hosts import Host
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.reference_folder import reference_files

CLEAN = BuildRecord(name="henad-web", version="1", commit="a" * 40, dirty=False, source_hash="1" * 16)


def changed(**fields: Any) -> BuildRecord:
    known = {name: getattr(CLEAN, name) for name in CLEAN.__struct_fields__}
    return BuildRecord(**{**known, **fields})


def runtime(os: str = "linux", **fields: Any) -> RuntimeRecord:
    return RuntimeRecord(os=os, arch="x86_64", logical_cpus=2, worker_threads=1, **fields)


def manifest_of(sessions: tuple[SessionRecord, ...]) -> Manifest:
    manifest = Manifest.read(reference_files()["manifest.json"])
    return msgspec.structs.replace(manifest, sessions=sessions, status=ManifestStatus.COMPLETE)


def session(*, ran: int = 1, **fields: Any) -> SessionRecord:
    known: dict[str, Any] = {"started": "", "commit": None, "skipped": 0, "engine": CLEAN, "runtime": runtime()}
    return SessionRecord(**{**known, "ran": ran, **fields})


@pytest.mark.parametrize(
    ("second", "is_same"),
    [
        (CLEAN, True),
        (changed(version="2"), False),
        (changed(commit="b" * 40), False),
        (changed(source_hash="2" * 16), True),
        (changed(dirty=True), True),
        (changed(dirty=True, source_hash="2" * 16), False),
        (changed(commit=None, dirty=None), True),
        (changed(commit=None, dirty=None, source_hash=None), False),
    ],
)
def test_clean_commits_compare_by_commit_and_anything_else_by_sources(second: BuildRecord, is_same: bool) -> None:
    assert same_build(CLEAN, second) is is_same
    assert same_build(second, CLEAN) is is_same


def test_two_builds_that_say_nothing_of_themselves_are_never_the_same() -> None:
    unknown = BuildRecord(name="henad-web", version="1")
    assert not same_build(unknown, unknown)
    assert not same_build(None, None)


def test_this_build_is_told_by_its_sources() -> None:
    build = this_build()
    assert build.source_hash is not None
    assert len(build.source_hash) == 16
    assert int(build.source_hash, 16) >= 0
    assert same_build(build, build)


def test_equal_sessions_warn_of_nothing() -> None:
    assert build_warnings([session(), session()], session(ran=0)) == ()


def test_another_build_warns_once_and_names_both() -> None:
    old = session(engine=changed(version="0.9"))
    (warning,) = build_warnings([old, old], session(ran=0))
    assert isinstance(warning, BuildChanged)
    assert str(warning) == (
        "earlier rows come from another build of the engine: "
        "henad-web 0.9 (commit aaaaaaaaaaaa, sources 1111111111111111), now "
        "henad-web 1 (commit aaaaaaaaaaaa, sources 1111111111111111)"
    )


def test_another_source_of_the_model_warns_and_a_folder_that_never_said_does_not() -> None:
    now = session(model_source="ants.py 22")
    (warning,) = build_warnings([session(model_source="ants.py 11")], now)
    assert str(warning) == "earlier rows come from another build of the model: ants.py 11, now ants.py 22"
    assert build_warnings([session(model_source=None)], now) == ()


ONE, TWO, SIX = "1" * 16, "2" * 16, "6" * 16


@pytest.mark.parametrize(
    ("recorded", "current", "told"),
    [
        (f"ants.py {ONE}", f"ants.py {ONE}", None),
        (f"ants.py {ONE}, rules.py {TWO}", f"ants.py {ONE}, rules.py {SIX}", f"rules.py {TWO}, now rules.py {SIX}"),
        (
            f"ants.py {ONE}, a/b.py {TWO}, rules.py {TWO}",
            f"ants.py {SIX}, a/b.py {TWO}, rules.py {SIX}",
            f"ants.py {ONE}, rules.py {TWO}, now ants.py {SIX}, rules.py {SIX}",
        ),
        # A file that is imported now and then says nothing.
        (f"ants.py {ONE}, rules.py {TWO}", f"ants.py {ONE}, later.py {SIX}", None),
        (f"ants.py {ONE}, rules.py {TWO}", f"ants.py {ONE}", None),
        # Records of one name, without its place in the package, are of the module alone.
        (f"ants.py {ONE}", f"nest/ants.py {ONE}, rules.py {TWO}", None),
        (f"ants.py {ONE}", f"nest/ants.py {TWO}, rules.py {TWO}", f"ants.py {ONE}, now nest/ants.py {TWO}"),
        (f"ants.py {ONE}", f"bees.py {ONE}, rules.py {TWO}", f"ants.py {ONE}, now bees.py {ONE}"),
        ("of another kind", "of another kind", None),
        ("of another kind", f"ants.py {ONE}", f"of another kind, now ants.py {ONE}"),
    ],
)
def test_the_files_of_a_model_that_changed_are_named(recorded: str, current: str, told: str | None) -> None:
    found = build_warnings([session(model_source=recorded)], session(model_source=current))
    sentences = [str(warning) for warning in found]
    assert sentences == ([] if told is None else [f"earlier rows come from another build of the model: {told}"])


def test_a_session_that_wrote_nothing_does_not_count_unless_it_may_have_died() -> None:
    idle = session(ran=0, engine=changed(version="0.9"))
    assert build_warnings([idle, session()], session()) == ()
    assert build_warnings([session(), idle], session()) == ()
    for status in (ManifestStatus.RUNNING, ManifestStatus.FAILED):
        assert len(build_warnings([session(), idle], session(), status=status)) == 1
        assert build_warnings([idle, session()], session(), status=status) == ()


def test_another_platform_is_named_and_called_harmless_for_a_portable_model() -> None:
    page = session(runtime=runtime("emscripten", target="browser", python="3.13.1", numpy="2.2.5"))
    here = session(runtime=runtime(target="native", python="3.11.9", numpy="2.2.5"))
    (warning,) = build_warnings([page], here, run_ids=[0, 1])
    assert str(warning) == (
        "earlier rows come from another platform: emscripten x86_64 (browser, Python 3.13, numpy 2.2.5), now "
        "linux x86_64 (native, Python 3.11, numpy 2.2.5); the model is portable, so results do not depend on it"
    )


def test_for_a_model_that_is_not_portable_the_warning_says_which_rows_come_from_where() -> None:
    first = session(rows=(RunSpan(0, 3),))
    second = session(runtime=runtime("windows"), rows=(RunSpan(4, 5), RunSpan(1, 1)))
    (warning,) = build_warnings([first, second], session(), portable=False, run_ids=range(6))
    assert isinstance(warning, PlatformChanged)
    assert warning.rows == (
        ("linux x86_64 (no Python)", "0, 2, 3"),
        ("windows x86_64 (no Python)", "1, 4, 5"),
    )
    assert str(warning).endswith(
        "the model is not portable, so its results may differ between them: runs 0, 2, 3 from "
        "linux x86_64 (no Python); runs 1, 4, 5 from windows x86_64 (no Python)"
    )


def test_a_search_that_may_choose_otherwise_elsewhere_is_not_called_harmless() -> None:
    elsewhere = session(runtime=runtime("windows"), rows=(RunSpan(0, 1),))
    (warning,) = build_warnings([elsewhere], session(), search_portable=False, run_ids=range(2))
    assert isinstance(warning, PlatformChanged)
    assert not warning.portable
    assert str(warning).endswith(
        "the search is not portable, so its results may differ between them: runs 0-1 from windows x86_64 (no Python)"
    )
    (warning,) = build_warnings([elsewhere], session(), portable=False, search_portable=False, run_ids=range(2))
    assert "the model is not portable" in str(warning)


@pytest.mark.parametrize(("algorithm", "word"), [("cma_es", "the search is not portable"), ("random", "is portable")])
def test_a_search_that_goes_on_elsewhere_tells_whether_its_algorithm_is_portable(
    stepped: Host, algorithm: str, word: str
) -> None:
    ranges = (hw.FactorSpec(param="value", levels=hw.RangeLevels(min=0, max=40)),)
    made = hills_spec("random", evaluations=6, batch=3)
    assert made.search is not None
    search = msgspec.structs.replace(made.search, algorithm=hw.SearchAlgorithm(algorithm), space=ranges)
    run = hw.SweepRun.start(HILLS, msgspec.structs.replace(made, search=search), target=stepped.target)
    files = dict(stepped.record(run).files or {})
    manifest = Manifest.read(files["manifest.json"])
    (written,) = manifest.sessions
    assert written.runtime is not None
    elsewhere = msgspec.structs.replace(written, runtime=msgspec.structs.replace(written.runtime, arch="abacus"))
    files["manifest.json"] = msgspec.structs.replace(manifest, sessions=(elsewhere,)).to_bytes()
    record = stepped.record(hw.SweepRun.resume_files(HILLS, files, target=stepped.target))
    (warning,) = [each for each in record.report.warnings if isinstance(each, PlatformChanged)]
    assert word in str(warning)


def test_rows_that_no_session_claims_are_those_of_the_killed_ones() -> None:
    killed = session(ran=0, rows=None, runtime=runtime("windows"))
    assert rows_by_platform([killed, session(rows=(RunSpan(2, 3),))], range(4)) == {
        "windows x86_64 (no Python)": "0-1",
        "linux x86_64 (no Python)": "2-3",
    }


def merged(*shards: tuple[SessionRecord, ...], portable: bool = True) -> list[str]:
    """Return what a merge of shards that `shards` wrote, each with the run of its number, warns of."""
    given = [(manifest_of(sessions), [run_id]) for run_id, sessions in enumerate(shards)]
    return [str(warning) for warning in merge_warnings(given, portable=portable)]


def test_shards_of_one_build_on_one_platform_merge_without_a_word() -> None:
    assert merged((session(),), (session(), session()), ()) == []
    idle = session(ran=0, engine=changed(version="0.9"))
    assert merged((session(),), (session(), idle)) == [], "what wrote nothing does not count"


def test_shards_of_other_builds_are_told_once_a_role_against_the_first() -> None:
    first, second = session(model_source="ants.py 11"), session(engine=changed(version="2"), model_source="ants.py 22")
    third = session(engine=BuildRecord(name="henad-web", version="3"), model_source="ants.py 33")
    assert merged((first,), (first, second), (third,)) == [
        "other shards come from another build of the engine: henad-web 1 (commit aaaaaaaaaaaa, sources "
        "1111111111111111), now henad-web 2 (commit aaaaaaaaaaaa, sources 1111111111111111)",
        "other shards come from another build of the model: ants.py 11, now ants.py 22",
    ]
    of_package = session(model_source=changed(name="ants"))
    assert merged((of_package,), (first,)) == [
        "other shards come from another build of the model: "
        "ants 1 (commit aaaaaaaaaaaa, sources 1111111111111111), now ants.py 11"
    ]
    unknown = session(engine=None)
    assert merged((unknown,)) == [], "there is no other"
    assert merged((unknown,), (third,)) == [
        "other shards come from another build of the engine: an unidentified build, now henad-web 3 (unidentified)"
    ]


def test_shards_of_other_platforms_are_told_with_the_rows_of_each_unless_the_model_is_portable() -> None:
    here, there, unknown = session(), session(runtime=runtime("windows")), session(runtime=None)
    differ = "earlier rows come from another platform: linux x86_64 (no Python), now windows x86_64 (no Python)"
    assert merged((unknown,), (here,)) == []
    assert merged((here,), (unknown,), (there,)) == [f"{differ}; the model is portable, so results do not depend on it"]
    assert merged((here,), (there,), (here,), portable=False) == [
        f"{differ}; the model is not portable, so its results may differ between them: "
        "runs 0, 2 from linux x86_64 (no Python); runs 1 from windows x86_64 (no Python)"
    ]


def test_spans_of_added_replicates_and_shards_stay_few() -> None:
    builder = SpanBuilder()
    for run_id in range(2, 300_000, 3):
        builder.add(run_id)
    assert builder.spans() == (RunSpan(2, 299_999, 3),)
    assert len(list(ids_in(builder.spans()))) == 100_000
    assert SpanBuilder().spans() == ()
    assert span_text([]) == "none"
    assert span_text([5, 0, 1, 2, 9]) == "0-2, 5, 9"
