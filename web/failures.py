"""Shows an exception that nobody expected as text on the page, where it would else only reach the console.

Owns the page's one alert.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

from js import document

__all__ = ["guarded", "show_failure"]


def show_failure(sentence: str, error: Exception) -> None:
    """Show `error` in words, after `sentence`, with its traceback below."""
    text = f"{sentence}: {type(error).__name__}: {error}. Reload the page to start over."
    document.getElementById("boot-error-text").textContent = text
    document.getElementById("boot-error-details").textContent = "".join(traceback.format_exception(error))
    document.getElementById("boot-error").hidden = False


def guarded(handler: Callable[..., object]) -> Callable[..., None]:
    """Return `handler` such that an exception it raises is shown before it goes on to the console."""

    def call(*arguments: object) -> None:
        try:
            handler(*arguments)
        except Exception as error:
            show_failure("Something in the page went wrong", error)
            raise

    return call
