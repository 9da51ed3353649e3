"""`henad models`: which models there are, and what one of them can be told and tells."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

import henad_web as hw
from henad_native.cli.errors import BadOption
from henad_native.cli.model_sets import load_models

__all__ = ["models_command"]


def models_command(
    model: Annotated[str | None, typer.Argument(metavar="MODEL", help="A model's id; all of them without one.")] = None,
    models: Annotated[
        str | None, typer.Option("--models", metavar="MODULE:NAME", help="Which models; else the examples.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """List the models, or the parameters, statistics and actions of MODEL."""
    known = load_models(models)
    console = Console()
    if model is None:
        documents = [_document(entry) for entry in known.values()]
        _print_json(console, documents) if as_json else console.print(_table_of_models(known))
        return
    try:
        entry = known.lookup(model)
    except hw.UnknownModelError as error:
        raise BadOption("MODEL", str(error)) from error
    if as_json:
        _print_json(console, {"kind": "params", **entry.schema().document()})
        return
    console.print(f"{entry.name} ({entry.id})", style="bold", markup=False, highlight=False)
    console.print(entry.description, markup=False, highlight=False)
    console.print(_table_of_params(entry))
    console.print(f"statistics: {', '.join(stat.label for stat in entry.stats)}", markup=False, highlight=False)
    actions = ", ".join(f"{action.id} ({action.label})" for action in entry.actions)
    console.print(f"actions: {actions or 'none'}", markup=False, highlight=False)


def _document(entry: hw.ModelEntry) -> dict[str, object]:
    return {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "topology": str(entry.metadata.topology),
        "backend": str(entry.metadata.backend),
        "portable": entry.metadata.portable,
        "actions": [action.id for action in entry.actions],
        "schema_hash": entry.schema().schema_hash,
    }


def _print_json(console: Console, document: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _table_of_models(models: hw.ModelSet) -> Table:
    table = Table()
    for name in ("id", "name", "topology", "backend", "actions"):
        table.add_column(name)
    for entry in models.values():
        actions = ", ".join(action.id for action in entry.actions)
        table.add_row(entry.id, entry.name, entry.metadata.topology, entry.metadata.backend, actions)
    return table


def _table_of_params(entry: hw.ModelEntry) -> Table:
    table = Table()
    for name in ("parameter", "kind", "default", "allowed", "changes", "label"):
        table.add_column(name)
    for param in entry.params:
        table.add_row(param.id, param.kind, param.text(param.default), param.allowed, param.apply, param.label)
    return table
