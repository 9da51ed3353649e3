"""Runs `tests/shared` a second time, unchanged, inside Pyodide in a real Chromium."""
