"""Starts the page: loads numpy, then the models, says which it is at, and shows a failure as text.

Owns the loading stages. Everything else begins in `application`.
"""

from __future__ import annotations

import asyncio
import importlib
import traceback

from dom import by_id, document, reveal, write

__all__: list[str] = []

STAGES = (
    ("numpy", "Loading numpy.", "numpy"),
    ("models", "Loading the models and the sweep engine.", "application"),
)
"""Stage, the sentence shown meanwhile, and the module whose import takes the time."""

PAINT_S = 0.02


async def boot() -> None:
    """Load everything in visible stages, then open the page."""
    try:
        for stage, sentence, module in STAGES:
            show_stage(stage, sentence)
            # Gives the browser a moment to paint: an import blocks the page.
            await asyncio.sleep(PAINT_S)
            importlib.import_module(module)
        await importlib.import_module("application").Application().open()
    except Exception as error:
        show_failure(error)
        raise
    show_stage("ready", "Ready.")


def show_stage(stage: str, sentence: str) -> None:
    """Show a loading stage and its sentence."""
    document.body.dataset.booted = "true"
    by_id("boot").dataset.stage = stage
    write(by_id("boot-text"), sentence)


def show_failure(error: Exception) -> None:
    """Show in words that loading failed, with the details below."""
    show_stage("failed", "Loading failed.")
    write(
        by_id("boot-error-text"),
        f"The page could not be loaded: {type(error).__name__}: {error}. Reload to try again.",
    )
    write(by_id("boot-error-details"), "".join(traceback.format_exception(error)))
    reveal(by_id("boot-error"), True)


tasks = {asyncio.ensure_future(boot())}
