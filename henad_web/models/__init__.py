"""The models that come with the package, one module each."""

from henad_web.model.entry import ModelSet
from henad_web.models.game_of_life import GAME_OF_LIFE
from henad_web.models.sir import SIR

__all__ = ["example_models"]


def example_models() -> ModelSet:
    """Return the models that come with the package, in a set of the caller's own."""
    return ModelSet((SIR, GAME_OF_LIFE))
