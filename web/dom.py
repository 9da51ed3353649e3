"""What the page asks of its document, as Python values.

Owns the reach into the browser's globals: no other module imports them. JavaScript's null is a `JsNull` in Python and
never None, so whatever the document may answer with null is asked for here, and answered with None.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from js import document, window
from pyodide.ffi import jsnull, to_js
from pyodide_js import loadPackage, lockfile

__all__ = [
    "Element",
    "Event",
    "by_id",
    "child_at",
    "chosen_file",
    "document",
    "drawing_context",
    "drop_last",
    "enclosing",
    "fetch_text",
    "find",
    "load_libraries",
    "make",
    "present",
    "reveal",
    "save",
    "style_token",
    "write",
    "window",
]

Element = Any
"""An object of the browser, mostly an element of the page; they carry no Python types."""

Event = Any
"""An event of the browser."""


def present(answer: Element) -> Element | None:
    """Return what the document answered, or None where it answered null or undefined."""
    return None if answer is jsnull else answer


def by_id(element_id: str) -> Element:
    """Return the element with the id `element_id`.

    Raises:
        LookupError: The page has none, so page and code are of different versions.
    """
    element = present(document.getElementById(element_id))
    if element is None:
        raise LookupError(f"the page has no element '{element_id}'; page and code are of different versions")
    return element


def find(inside: Element, selector: str) -> Element | None:
    """Return the first element inside of `inside` that matches `selector`, None without one."""
    return present(inside.querySelector(selector))


def enclosing(event: Event, selector: str) -> Element | None:
    """Return the innermost element around what `event` happened on that matches `selector`, None without one."""
    target = present(event.target)
    return None if target is None else present(target.closest(selector))


def child_at(element: Element, index: int) -> Element | None:
    """Return child `index` of `element`, counted from 0, None beyond the last."""
    return present(element.children.item(index))


def drop_last(element: Element) -> None:
    """Remove the last child of `element`, if it has one."""
    last = present(element.lastElementChild)
    if last is not None:
        last.remove()


def chosen_file(file_input: Element) -> Element | None:
    """Return the file that was chosen in `file_input`, None without one."""
    return present(file_input.files.item(0))


def drawing_context(canvas: Element) -> Element:
    """Return what draws on `canvas`.

    Raises:
        LookupError: The browser gives none, for want of memory or by its settings.
    """
    context = present(canvas.getContext("2d"))
    if context is None:
        raise LookupError("the browser lets the page draw on no canvas; close other tabs or allow canvases here")
    return context


def make(tag: str, text: str = "", class_name: str = "") -> Element:
    """Return a new element `tag` that holds `text` as plain text."""
    element = document.createElement(tag)
    if text:
        element.textContent = text
    if class_name:
        element.className = class_name
    return element


def write(element: Element, text: str) -> None:
    """Set the text of `element`, unless it is there already: a live region is read out on every change."""
    if element.textContent != text:
        element.textContent = text


def reveal(element: Element, shown: bool) -> None:
    """Show or hide `element`, for every reader."""
    element.hidden = not shown


def style_token(name: str) -> str:
    """Return the value of the custom property `name`, such as ``--text``, in the current theme."""
    return str(window.getComputedStyle(document.documentElement).getPropertyValue(name)).strip()


def save(content: bytes, name: str) -> None:
    """Let the browser save a zip of `content` as `name`."""
    address = window.URL.createObjectURL(window.Blob.new(to_js([to_js(content)]), type="application/zip"))
    link = make("a")
    link.href, link.download = address, name
    link.click()
    window.URL.revokeObjectURL(address)


async def load_libraries(names: Iterable[str]) -> None:
    """Load the wheels of `names` that lie beside the page; one that does not is left out."""
    await loadPackage(to_js([name for name in names if hasattr(lockfile.packages, name)]))


async def fetch_text(address: str) -> str:
    """Return the text at `address`, which is relative to the page.

    Raises:
        OSError: It could not be loaded.
    """
    response = await window.fetch(address)
    if not response.ok:
        raise OSError(f"{address} could not be loaded: status {response.status}")
    return str(await response.text())
