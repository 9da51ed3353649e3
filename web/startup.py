"""The last stages of loading, shown as they pass: numpy, the models, ready; and a failure.

Owns the stages. `loading.mjs` shows what comes before Python runs.
"""

from __future__ import annotations

import asyncio
import importlib

from dom import by_id, document, reveal, write
from handlers import PAINT_S, show_failure

__all__ = ["boot"]


async def boot(module: str, page: str) -> None:
    """Load numpy and `module` in visible stages, make its class `page`, and await its `open`.

    Raises:
        Exception: Whatever went wrong, once the page has said so.
    """
    reveal(by_id("boot-error"), False)
    try:
        await _load("numpy", "Loading numpy.", "numpy")
        loaded = await _load("models", "Loading the models and the sweep engine.", module)
        await getattr(loaded, page)().open()
    except Exception as error:
        _show_stage("failed", "Loading failed.")
        show_failure("The page could not be loaded", error)
        raise
    _show_stage("ready", "Ready.")


async def _load(stage: str, sentence: str, module: str) -> object:
    _show_stage(stage, sentence)
    await asyncio.sleep(PAINT_S)
    return importlib.import_module(module)


def _show_stage(stage: str, sentence: str) -> None:
    document.body.dataset.booted = "true"
    by_id("boot").dataset.stage = stage
    write(by_id("boot-text"), sentence)
