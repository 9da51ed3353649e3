"""Laws that the source itself must keep: who may import whom, what asks where it runs, how large things get."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import henad_web
from henad_web.explore.columns import (
    LEADING,
    MEASURED,
    NOTE,
    SERIES_LEADING,
    SUMMARY_COUNTS,
    SUMMARY_LEADING,
    SUMMARY_TICKS,
)
from tests.native.laws import (
    NATIVE,
    ORDER,
    PAGE,
    PORTABLE,
    ROOT,
    code_lines,
    functions_of,
    imports_of,
    nodes_that_run,
    place_of,
    sources,
    tracked_texts,
    tree_of,
)

BANNED = (
    "threading",
    "multiprocessing",
    "concurrent",
    "subprocess",
    "js",
    "pyodide",
    "pyodide_js",
    "pyscript",
)
"""Modules that would let henad_web block, spawn, or know where it runs."""

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 40
CRUMB_LINES = 60
MOST_CRUMBS = 4


def part_of(path: Path) -> str:
    first = path.relative_to(PORTABLE).parts[0]
    return first.removesuffix(".py")


def test_every_part_has_a_place_in_the_import_order() -> None:
    parts = {part_of(path) for path in sources(PORTABLE)} - {"__init__"}
    assert parts <= set(ORDER)


@pytest.mark.parametrize("part", ORDER)
def test_a_part_imports_only_parts_before_it(part: str) -> None:
    allowed = set(ORDER[: ORDER.index(part) + 1])
    files = [path for path in sources(PORTABLE) if part_of(path) == part]
    against = [
        f"{found.place} imports {found.module}"
        for path in files
        for found in imports_of(path)
        if found.module.split(".")[0] == "henad_web" and found.module.split(".")[1] not in allowed
    ]
    assert against == []


def test_the_portable_package_imports_nothing_that_blocks_spawns_or_tells_where_it_runs() -> None:
    against = [
        f"{found.place} imports {found.module}"
        for path in sources(PORTABLE)
        for found in imports_of(path)
        if found.module.split(".")[0] in BANNED
    ]
    assert against == []


def test_only_the_targets_module_reaches_for_the_native_package_or_names_the_machine() -> None:
    reaching = {
        path.relative_to(PORTABLE).as_posix()
        for path in sources(PORTABLE)
        for found in imports_of(path)
        if found.module.split(".")[0] in ("henad_native", "platform")
    }
    assert reaching <= {"targets.py", "__main__.py"}


def test_imports_are_absolute() -> None:
    relative = [
        found.place for path in sources(PORTABLE, NATIVE) for found in imports_of(path) if found.module[0] == "."
    ]
    assert relative == []


def test_the_platform_is_asked_for_once_and_in_the_targets_module() -> None:
    asked = []
    for path in sources(PORTABLE):
        asked += [found.place for found in imports_of(path) if found.module in ("sys.platform", "os.name")]
        for node in nodes_that_run(tree_of(path)):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.platform", "os.name"):
                asked.append(place_of(path, node))
    assert [place.split(":")[0] for place in asked] == ["henad_web/targets.py"]


def test_what_a_target_lacks_is_refused_in_one_place() -> None:
    refusals = [
        place_of(path, function)
        for path in sources(PORTABLE, NATIVE, PAGE)
        for function in functions_of(path)
        if any(isinstance(node, ast.Raise) and "NeedsNativeError" in ast.unparse(node) for node in ast.walk(function))
    ]
    assert [place.split(":")[0] for place in refusals] == ["henad_web/targets.py"]


def test_no_file_names_a_registry_host_or_a_path_of_the_machine_it_was_written_on() -> None:
    # Spelled in pieces, so that this file does not name what it looks for.
    hosts = [
        "py" + "pi.org",
        "python" + "hosted.org",
        "registry." + "npmjs",
        "deb." + "debian.org",
        "registry." + "yarnpkg",
    ]
    folders = "|".join(["wo" + "rk", "ro" + "ot", "t" + "mp"])
    needle = re.compile("|".join([*map(re.escape, hosts), rf"(?<![\w.$}}*-])/(?:{folders})/"]))
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in tracked_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if needle.search(line)
    ]
    assert found == []


def test_files_stay_short() -> None:
    files = [
        *sources(PORTABLE, NATIVE, PAGE, ROOT / "tests"),
        *sources(PAGE, suffix=".css"),
        *sources(PAGE, suffix=".html"),
    ]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_what_page_and_terminal_both_say_is_phrased_once() -> None:
    files = [PORTABLE / "wording.py", *sources(PAGE, NATIVE / "cli")]
    phrasing = [
        node.name
        for path in files
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and node.name.endswith(("_text", "_line", "_lines"))
    ]
    assert {"byte_text", "state_text", "written_line"} <= set(phrasing)
    assert [name for name in sorted(set(phrasing)) if phrasing.count(name) > 1] == []


def test_files_are_no_crumbs() -> None:
    """A short file that one other alone imports belongs into it; packages and what Python itself starts aside."""
    modules = {".".join(path.relative_to(base.parent).with_suffix("").parts): path for base, path in modules_of()}
    importers: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module in importers:
                importers[node.module].add(name)
    crumbs = [
        name
        for name, path in modules.items()
        if len(importers[name]) == 1 and len(path.read_text(encoding="utf-8").splitlines()) < CRUMB_LINES
    ]
    assert len(modules) > 100
    assert len(crumbs) <= MOST_CRUMBS, crumbs


def modules_of() -> Iterator[tuple[Path, Path]]:
    for base in (PORTABLE, NATIVE):
        yield from ((base, path) for path in sources(base) if not path.stem.startswith("__"))


def test_functions_stay_short() -> None:
    lengths = {
        f"{place_of(path, function)} {function.name}": code_lines(function)
        for path in sources(PORTABLE, NATIVE, PAGE)
        for function in functions_of(path)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_package_code_asserts_nothing() -> None:
    asserts = [
        place_of(path, node)
        for path in sources(PORTABLE, NATIVE, PAGE)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Assert)
    ]
    assert asserts == []


def test_no_handler_keeps_everything() -> None:
    """A handler of everything may tidy up, if the last thing it does is to raise it on."""
    wide = [
        place_of(path, node.body[0])
        for path in sources(PORTABLE, NATIVE, PAGE)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or "BaseException" in ast.unparse(node.type))
        and ast.unparse(node.body[-1]) != "raise"
    ]
    assert wide == []


def test_no_module_keeps_work_for_later_in_its_comments() -> None:
    needle = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
    found = [
        f"{name}:{number}"
        for name, text in tracked_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if needle.search(line)
    ]
    assert found == []


def test_the_package_says_exactly_what_it_exports() -> None:
    tree = tree_of(PORTABLE / "__init__.py")
    defined = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }
    defined |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    public = {name for name in defined if not name.startswith("_")}
    exported = [name for name in henad_web.__all__ if not name.startswith("__")]
    assert sorted(exported) == sorted(public)
    assert len(set(henad_web.__all__)) == len(henad_web.__all__)
    assert [name for name in henad_web.__all__ if not hasattr(henad_web, name)] == []


def test_the_package_makes_no_names_up_on_demand() -> None:
    lazy = [
        place_of(path, function)
        for path in sources(PORTABLE)
        for function in tree_of(path).body
        if isinstance(function, ast.FunctionDef) and function.name == "__getattr__"
    ]
    assert lazy == []


def test_the_changelog_has_the_current_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(henad_web.__version__)}\]", changelog, re.MULTILINE)


def test_core_needs_only_numpy_and_msgspec_in_a_browser() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    everywhere = [text for text in project["dependencies"] if "sys_platform" not in text]
    assert sorted(re.match(r"[\w-]+", text).group() for text in everywhere) == ["msgspec", "numpy"]  # type: ignore[union-attr]


def test_one_module_spells_the_headers_of_tables() -> None:
    """Three neighbours of a header in one literal, or two in one text, are a second spelling of it.

    Units of columns, which are told by name, are the one other list.
    """
    header = (
        *LEADING,
        "",
        *MEASURED,
        NOTE,
        "",
        *SERIES_LEADING,
        "",
        *SUMMARY_LEADING,
        "",
        *SUMMARY_COUNTS,
        SUMMARY_TICKS,
    )
    joined = f",{','.join(header)},"
    spelling = set()
    for path in sources(PORTABLE, NATIVE, PAGE):
        for node in ast.walk(tree_of(path)):
            texts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else getattr(node, "keys", [])
            words = [part.value for part in texts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            if any(f",{','.join(words[at : at + 3])}," in joined for at in range(len(words) - 2)):
                spelling.add(path.relative_to(ROOT).as_posix())
            text = node.value if isinstance(node, ast.Constant) else None
            text = text.decode(errors="replace") if isinstance(text, bytes) else text
            if isinstance(text, str) and "," in text.strip(",") and f",{text.strip(',')}," in joined:
                spelling.add(path.relative_to(ROOT).as_posix())
    assert spelling == {"henad_web/explore/columns.py", "henad_web/results/frames.py"}
