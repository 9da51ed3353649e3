"""The kit that checks whether a model keeps the rules by which equal studies have equal results."""

from henad_web.testing.kit import check_model
from henad_web.testing.report import Check, CheckFailure, CheckSkip, ModelReport

__all__ = ["Check", "CheckFailure", "CheckSkip", "ModelReport", "check_model"]
