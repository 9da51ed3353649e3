"""Starts the page. Everything begins in `startup` and `application`."""

from __future__ import annotations

import asyncio

from startup import boot

__all__: list[str] = []

tasks = {asyncio.ensure_future(boot("application", "Application"))}
