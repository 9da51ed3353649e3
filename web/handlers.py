"""What the browser calls: handlers made once for the life of the page, and what becomes of one that raises.

Owns the proxies of handlers, so that nothing is created a frame, and the page's one alert: an exception that nobody
expected stands there as text, where it would else only reach the console. `loading.mjs` lets it be dismissed.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any, ParamSpec

from dom import Element, Event, by_id, reveal, window, write
from pyodide.ffi import create_proxy

__all__ = ["PAINT_S", "Callback", "Showing", "after_paint", "guarded", "lasting", "listen", "show_failure"]

Callback = Any
"""A handler as a function that the browser can call."""

PAINT_S = 0.02
"""Gives the browser a moment to paint before what blocks the page."""

_Given = ParamSpec("_Given")


def show_failure(sentence: str, error: Exception, advice: str = "Reload the page to start over.") -> None:
    """Show `error` in words, after `sentence` and before `advice`; the tracebacks of all that is shown stand below."""
    alert, details = by_id("boot-error"), by_id("boot-error-details")
    before = "" if alert.hidden else f"\n{details.textContent}"
    write(by_id("boot-error-text"), f"{sentence}: {type(error).__name__}: {error}. {advice}")
    write(details, "".join(traceback.format_exception(error)) + before)
    reveal(alert, True)


def guarded(handler: Callable[..., object]) -> Callable[..., None]:
    """Return `handler` such that an exception it raises is shown before it goes on to the console."""

    def call(*arguments: object) -> None:
        try:
            handler(*arguments)
        except Exception as error:
            show_failure("Something in the page went wrong", error)
            raise

    return call


def lasting(handler: Callable[..., object]) -> Callback:
    """Return `handler` as a function the browser may call for the life of the page."""
    return create_proxy(guarded(handler))


def listen(target: Element, event: str, handler: Callable[[Event], object]) -> None:
    """Call `handler` with every `event` of `target`, for the life of the page."""
    target.addEventListener(event, lasting(handler))


def after_paint(call: Callable[..., object], *given: object) -> asyncio.Future[None]:
    """Call `call`, which may take a while, once the browser had a moment to show that it begins."""

    async def wait() -> None:
        await asyncio.sleep(PAINT_S)
        guarded(call)(*given)

    return asyncio.ensure_future(wait())


class Showing:
    """Calls a view and goes on whatever it raises, so that no view can hold up a sweep or another view."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def begin(self) -> None:
        """Tell of every view anew."""
        self._failed.clear()

    def __call__(self, call: Callable[_Given, object], *given: _Given.args, **named: _Given.kwargs) -> None:
        """Call `call`; the first exception of each view stands in the alert, and all reach the console."""
        try:
            call(*given, **named)
        except Exception as error:
            window.console.error("".join(traceback.format_exception(error)))
            name = call.__qualname__.partition(".")[0]
            if name not in self._failed:
                self._failed.add(name)
                show_failure(f"{name}, a part of the page, failed", error, "The sweep and the other parts go on.")
