"""Starts the benchmark page in the stages of the main page, then waits for its button.

Owns the page's start. What is measured is `bench_page`'s.
"""

from __future__ import annotations

import asyncio

from startup import boot

__all__: list[str] = []

tasks = {asyncio.ensure_future(boot("bench_page", "BenchPage"))}
