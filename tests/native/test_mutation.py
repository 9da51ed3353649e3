"""The mutants that `poe mutate` takes its sample from, and its wait for the tests of one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mutation import __main__ as mutation
from tests.mutation.mutants import mutants_of
from tests.native.laws import PORTABLE, ROOT

SOURCE = '''
"""Words: 1 < 2."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 1

__all__ = ["f"]


def f(size: "int | None", name: str) -> int:
    """Return more than 1."""
    if size is None or size < 2:
        raise ValueError(f"é {size + 1}")
    self.size = min(size, 7)
    return g(size * 3, name)
'''


def test_each_mutant_is_one_edit_of_what_runs() -> None:
    source = SOURCE.encode()
    found = mutants_of("m.py", source)
    told = {f"{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}" for mutant in found}
    assert told == {
        "14 condition: size is None or size < 2 -> (not (size is None or size < 2))",
        "14 comparison: is -> is not",
        "14 connective: or -> and",
        "14 comparison: < -> <=",
        "14 constant: 2 -> 3",
        "14 constant: 2 -> (1)",
        '15 statement: raise ValueError(f"é {size + 1}") -> pass',
        "16 statement: self.size = min(size, 7) -> pass",
        "16 constant: 7 -> 8",
        "16 constant: 7 -> (6)",
        "17 return: g(size * 3, name) -> None",
        "17 swapped arguments: size * 3, name -> name, size * 3",
        "17 operator: * -> //",
        "17 constant: 3 -> 4",
        "17 constant: 3 -> (2)",
    }
    trees = [ast.dump(ast.parse(mutant.applied(source))) for mutant in found]
    assert len({*trees, ast.dump(ast.parse(source))}) == len(trees) + 1


def test_every_mutant_of_a_module_is_one_that_can_be_loaded() -> None:
    for path in (PORTABLE / "run" / "cursor.py", PORTABLE / "explore" / "levels.py", PORTABLE / "sweep.py"):
        source = path.read_bytes()
        found = mutants_of(path.relative_to(ROOT).as_posix(), source)
        assert len(found) > 50
        assert len({str(mutant) for mutant in found}) == len(found)
        for mutant in found:
            compile(mutant.applied(source), mutant.path, "exec")


@pytest.mark.parametrize(
    ("limits", "waits"),
    [
        ((20.0, 9.0, None), [([3, 4], 2.0)]),
        ((20.0, 5.0, None), [([3, 4], 0.0)]),
        ((None, None, None), []),
    ],
)
def test_the_wait_is_for_an_answer_of_any_and_no_longer_than_the_first_has(
    monkeypatch: pytest.MonkeyPatch, limits: Sequence[float | None], waits: list[tuple[list[int], float]]
) -> None:
    """Each began at 100 and it is 107; one without a mutant has no limit and is not waited for."""
    asked: list[tuple[list[int], float]] = []
    looks = SimpleNamespace(select=lambda read, write, wrong, seconds: asked.append((read, seconds)))
    monkeypatch.setattr(mutation, "select", looks)
    monkeypatch.setattr(mutation, "time", SimpleNamespace(monotonic=lambda: 107.0))
    mutant = mutants_of("m.py", SOURCE.encode())[0]
    workers = [
        mutation.Worker(Path(), limit_s=limit or 0.0, started=100.0, answer=answer, mutant=mutant if limit else None)
        for answer, limit in enumerate(limits, start=3)
    ]
    mutation.wait_for_one(workers)
    assert asked == waits


def test_a_map_of_tests_that_all_fail_is_refused_and_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "PLACE", tmp_path)
    path = tmp_path / f"map-{mutation.digest_of(tmp_path)}.json"
    path.write_text('{"seconds": {}, "lines": {}}')
    with pytest.raises(SystemExit, match="no test passes without a mutant"):
        mutation.map_of(tmp_path)
    assert not path.exists()
