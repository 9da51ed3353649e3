"""`henad schema`: the JSON Schema of spec files."""

from __future__ import annotations

import sys

from henad_web.explore.spec_schema import spec_schema_text

__all__ = ["schema_command"]


def schema_command() -> None:
    """Print the JSON Schema of spec files, with which editors complete and check them."""
    sys.stdout.write(spec_schema_text())
