"""Sizes and guessed times in words, for every place that tells them: outlines, the terminal, the page."""

from __future__ import annotations

from henad_web.errors import counted

__all__ = ["about_text", "byte_text"]


def byte_text(count: int) -> str:
    """Return `count` bytes as ``512 bytes``, ``1.5 KiB``, ``2.0 MiB`` and so on."""
    if count < 1024:
        return counted(count, "byte")
    size = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1023.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TiB"


def about_text(seconds: float) -> str:
    """Return a guessed time as ``under 1 ms``, ``about 40 ms``, ``about 3.2 s``, ``about 12 min`` or ``about 3 h``."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 0.9995:
        return f"about {seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"about {seconds:.1f} s"
    if seconds < 119.5:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7170.0 else f"about {seconds / 3600:.0f} h"
