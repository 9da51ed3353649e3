"""Laws of `web/dom.py`: null never reaches the page's Python, whatever the document is asked for."""

from __future__ import annotations

import ast
import json

from playwright.sync_api import Page

from henad_native.site import ServedFolder
from tests.browser.sweep_page import SweepPage, start_with
from tests.native.laws import PAGE, imports_of, place_of, sources, tree_of

ASKED = """
import json
from types import SimpleNamespace

import dom
from js import Event, window

def asked():
    canvas, taken, items, item = dom.make("canvas"), dom.make("canvas"), dom.make("ul"), dom.make("li", "one")
    taken.getContext("bitmaprenderer")
    dom.drop_last(items)
    items.append(item)
    yield "null", dom.present(window.JSON.parse("null"))
    yield "undefined", dom.present(window.Reflect.get(items, "no such member"))
    yield "zero", dom.present(window.JSON.parse("0"))
    yield "no text", dom.present(window.JSON.parse('""'))
    yield "found", dom.find(dom.document, "#editor").id
    yield "not found", dom.find(dom.document, ".no-such-thing")
    yield "child", dom.child_at(items, 0).textContent
    yield "no child", dom.child_at(items, 1)
    yield "around", dom.enclosing(SimpleNamespace(target=dom.by_id("editor")), "main").localName
    yield "not around", dom.enclosing(SimpleNamespace(target=item), "main")
    yield "around nothing", dom.enclosing(Event.new("ask"), "main")
    yield "no file", dom.chosen_file(dom.by_id("open-file"))
    yield "canvas", dom.drawing_context(canvas).canvas.localName
    for name, call, given in ("no canvas", dom.drawing_context, taken), ("no id", dom.by_id, "no-such-id"):
        try:
            yield name, call(given)
        except LookupError as error:
            yield name, str(error)
    dom.drop_last(items)
    dom.drop_last(items)
    yield "left", items.children.length

answers = dict(asked())
dom.document.body.dataset.answers = json.dumps({name: repr(answer) for name, answer in answers.items()})
"""


def test_whatever_the_document_answers_with_null_is_none_in_python(page: Page, server: ServedFolder) -> None:
    start_with(page, server.address, ASKED)
    answers = json.loads(SweepPage(page).ask("document.body.dataset.answers"))
    assert answers == {
        "null": "None",
        "undefined": "None",
        "zero": "0",
        "no text": "''",
        "found": "'editor'",
        "not found": "None",
        "child": "'one'",
        "no child": "None",
        "around": "'main'",
        "not around": "None",
        "around nothing": "None",
        "no file": "None",
        "canvas": "'canvas'",
        "no canvas": "'the browser lets the page draw on no canvas; close other tabs or allow canvases here'",
        "no id": "\"the page has no element 'no-such-id'; page and code are of different versions\"",
        "left": "0",
    }


NULLABLE = """
getElementById querySelector closest elementFromPoint getAttribute getAttributeNode getNamedItem item namedItem getItem
getContext getSelection prompt parentElement parentNode firstChild lastChild firstElementChild lastElementChild
nextSibling previousSibling nextElementSibling previousElementSibling activeElement fullscreenElement scrollingElement
pointerLockElement offsetParent shadowRoot target currentTarget relatedTarget dataTransfer clipboardData opener
contentDocument contentWindow controller localStorage sessionStorage searchParams nodeValue labels form list state
"""
"""Members of the browser's objects that answer with null, or that one asks for what may not be there."""


def test_only_one_module_of_the_page_asks_what_may_be_answered_with_null() -> None:
    against = [
        f"{place_of(path, node)} asks {ast.unparse(node)}"
        for path in sources(PAGE)
        if path.name != "dom.py"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in NULLABLE.split()
    ]
    assert against == []


def test_only_one_module_of_the_page_imports_the_browsers_globals() -> None:
    importing = {
        (path.name, found.module)
        for path in sources(PAGE)
        for found in imports_of(path)
        if found.module.split(".")[0] in ("js", "pyodide", "pyodide_js", "pyscript")
    }
    assert importing == {
        ("dom.py", "js.document"),
        ("dom.py", "js.window"),
        ("dom.py", "pyodide.ffi.jsnull"),
        ("dom.py", "pyodide.ffi.to_js"),
        ("dom.py", "pyodide_js.loadPackage"),
        ("dom.py", "pyodide_js.lockfile"),
        ("handlers.py", "pyodide.ffi.create_proxy"),
    }


def test_dom_asks_nothing_that_may_be_null_without_turning_null_into_none() -> None:
    tree = tree_of(PAGE / "dom.py")
    guarded = {
        id(part)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "present"
        for part in ast.walk(call)
    }
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in NULLABLE.split()]
    assert len(asked) > 5
    assert [place_of(PAGE / "dom.py", node) for node in asked if id(node) not in guarded] == []
