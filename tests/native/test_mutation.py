"""The mutants that `poe mutate` takes its sample from."""

from __future__ import annotations

import ast

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
