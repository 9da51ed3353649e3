"""Reading of the project's own source, for the tests that hold it to its laws.

Knows where the packages are and what they import. Imports none of them.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORTABLE = ROOT / "henad_web"
NATIVE = ROOT / "native" / "henad_native"
PAGE = ROOT / "web"
Function = ast.FunctionDef | ast.AsyncFunctionDef

ORDER = (
    "version",
    "errors",
    "randomness",
    "model",
    "models",
    "wording",
    "markup",
    "explore",
    "importers",
    "adapters",
    "search",
    "run",
    "output",
    "resume",
    "results",
    "analysis",
    "plots",
    "report",
    "channel",
    "running",
    "sweep",
    "pumped",
    "targets",
    "notebook",
    "handle",
    "calls",
    "result_set",
    "testing",
    "__main__",
)
"""Each part of henad_web may import only itself and those before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module name and the place of its statement."""

    module: str
    place: str


def sources(*folders: Path, suffix: str = ".py") -> list[Path]:
    """Return the files of `folders` that end in `suffix`, sorted."""
    return sorted(path for folder in folders for path in folder.rglob(f"*{suffix}"))


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of the file at `path`."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place_of(path: Path, node: ast.expr | ast.stmt) -> str:
    """Return ``henad_web/sweep.py:12``."""
    return f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"


def nodes_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but those of ``if TYPE_CHECKING:`` bodies."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and _asks_type_checking(child.test):
            for other in child.orelse:
                yield from nodes_that_run(other)
        else:
            yield from nodes_that_run(child)


def _asks_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


@cache
def imports_of(path: Path) -> list[Import]:
    """Return what `path` imports when it runs, at any depth, `from a import b` as ``a.b``."""
    found: list[Import] = []
    for node in nodes_that_run(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [Import(module=alias.name, place=place_of(path, node)) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            prefix = "." * node.level + base
            found += [Import(module=f"{prefix}.{alias.name}", place=place_of(path, node)) for alias in node.names]
    return found


def functions_of(path: Path) -> Iterator[Function]:
    """Yield every function and method of `path`."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def code_lines(function: Function) -> int:
    """Return the lines of `function` from `def` to its end, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def tracked_texts() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every tracked file that is text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        path = ROOT / name
        if not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            yield name, content.decode("utf-8")
