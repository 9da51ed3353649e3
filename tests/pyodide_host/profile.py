"""How hypothesis draws: the same examples in every session and on every host, without a clock.

The profile in force is `henad`; `quick` draws a few of its examples, for ``poe quick``.

This module is imported on the host and inside the browser, so it may import hypothesis alone.
"""

from hypothesis import HealthCheck, settings

__all__ = ["load_profile"]


def load_profile() -> None:
    """Make the project's profile the one in force."""
    settings.register_profile(
        "henad",
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=50,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("quick", settings.get_profile("henad"), max_examples=3)
    settings.load_profile("henad")
