"""What a manifest says of the study that it belongs to: the spec, and the columns its tables must have.

Owns reading them out of the manifest's documents. Knows no model: what a manifest says is taken as said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from henad_web.errors import ManifestError, SpecError
from henad_web.explore.spec_file import parse_spec, parse_spec_document
from henad_web.output.names import MANIFEST
from henad_web.output.tables import RunsLayout

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.output.manifest import Manifest

__all__ = ["layout_of", "spec_of"]


def spec_of(manifest: Manifest) -> SweepSpec:
    """Return the spec of `manifest`; where its document is of another form, the text it was loaded from.

    Raises:
        SpecError: There is neither.
    """
    try:
        return parse_spec_document(manifest.spec)
    except SpecError:
        source = manifest.spec_source
        if source is None or source.toml is None or source.tables:
            raise
        return parse_spec(source.toml, name=source.path).spec


def layout_of(manifest: Manifest) -> RunsLayout:
    """Return the columns that the tables of `manifest` have.

    Raises:
        ManifestError: Its schema lists no parameters.
    """
    params = manifest.model.schema.get("params")
    if not isinstance(params, list):
        raise ManifestError(f"{MANIFEST}: model.schema.params is not a list of parameters")
    kinds: dict[str, str] = {}
    for position, param in enumerate(params):
        if not isinstance(param, Mapping) or not isinstance(param.get("id"), str):
            raise ManifestError(f"{MANIFEST}: model.schema.params[{position}] has no id")
        kinds[param["id"]] = str(param.get("kind"))
    return RunsLayout(param_kinds=kinds, actions=_actions_of(manifest), reducers=manifest.columns.reducers)


def _actions_of(manifest: Manifest) -> tuple[str, ...] | None:
    try:
        return tuple(action.label for action in spec_of(manifest).actions)
    except SpecError:
        return None
