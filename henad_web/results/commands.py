"""Lines of the command `henad` that go on with results or run them again, ready to be typed.

Owns their form and where the models of a folder are named. Runs nothing.
"""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING

from henad_web.models import example_models

if TYPE_CHECKING:
    from henad_web.output.manifest import Manifest

__all__ = ["henad_command", "models_named"]


def henad_command(verb: str, path: str | None, *more: str, models: str | None = None) -> str:
    """Return the command that does `verb` with the results at `path`.

    Args:
        verb: ``resume``, ``verify`` or another command of `henad`.
        path: The folder, None where its name is not known.
        more: Further words.
        models: What ``--models`` is to name, None for a model that needs none.
    """
    named = () if models is None else ("--models", models)
    return shlex.join(("henad", verb, path or "DIR", *more, *named))


def models_named(manifest: Manifest) -> str | None:
    """Return what ``--models`` must name for the model of `manifest`.

    As the command line that wrote the folder named it, or ``FILE`` where a program wrote it; None for an example.
    """
    argv = manifest.argv
    if argv and _is_henad(argv[0]):
        for word, following in zip(argv, (*argv[1:], None), strict=True):
            option, equals, value = word.partition("=")
            if option == "--models":
                return value if equals else following
    is_own = any(isinstance(session.model_source, str) for session in manifest.sessions)
    return "FILE" if is_own or manifest.model.id not in example_models() else None


def _is_henad(program: str) -> bool:
    # The arguments of another program may mean anything.
    path = PurePath(program.replace("\\", "/"))
    return path.stem == "henad" or path.parts[-2:] == ("henad_web", "__main__.py")
