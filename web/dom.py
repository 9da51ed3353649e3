"""The few calls on the document that every view needs.

Owns the reach into the browser's globals, and the proxies of handlers: each is made once, for the life of the
page, so that nothing is created a frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from failures import guarded
from js import document, window
from pyodide.ffi import create_proxy

__all__ = [
    "Callback",
    "Element",
    "Event",
    "by_id",
    "fetch_text",
    "document",
    "listen",
    "lasting",
    "make",
    "reveal",
    "style_token",
    "write",
    "window",
]

Element = Any
"""An element of the page; the browser's objects carry no Python types."""

Event = Any
"""An event of the browser."""

Callback = Any
"""A handler as a function that the browser can call."""


def by_id(element_id: str) -> Element:
    """Return the element with the id `element_id`.

    Raises:
        LookupError: The page has none, so page and code are of different versions.
    """
    element = document.getElementById(element_id)
    if element is None:
        raise LookupError(f"the page has no element '{element_id}'; page and code are of different versions")
    return element


def lasting(handler: Callable[..., object]) -> Callback:
    """Return `handler` as a function the browser may call for the life of the page."""
    return create_proxy(guarded(handler))


def listen(target: Element, event: str, handler: Callable[[Event], object]) -> None:
    """Call `handler` with every `event` of `target`, for the life of the page."""
    target.addEventListener(event, lasting(handler))


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


async def fetch_text(address: str) -> str:
    """Return the text at `address`, which is relative to the page.

    Raises:
        OSError: It could not be loaded.
    """
    response = await window.fetch(address)
    if not response.ok:
        raise OSError(f"{address} could not be loaded: status {response.status}")
    return str(await response.text())
