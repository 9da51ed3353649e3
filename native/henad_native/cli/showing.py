"""`henad models`, `henad describe`, `henad schema`: what models there are, what one takes and tells, what a spec is."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import henad_web as hw
from henad_native.cli.choices import Models
from henad_native.cli.consoles import print_line, result_console
from henad_native.cli.model_sets import load_entry, models_by_name
from henad_web.explore.spec_schema import spec_schema_text

__all__ = [
    "describe_command",
    "models_command",
    "schema_command",
]


def schema_command() -> None:
    """Print the JSON Schema of spec files, with which editors complete and check them."""
    sys.stdout.write(spec_schema_text())


def models_command(
    model: Annotated[
        str | None,
        typer.Argument(metavar="MODEL", help="A model's id, or a file; all without one."),
    ] = None,
    models: Models = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """List the models, or the parameters, statistics and actions of MODEL."""
    console = result_console()
    if model is None:
        found = models_by_name(models)
        if as_json:
            _print_json(console, [_document(entry) for known in found.values() for entry in known.values()])
            return
        for name, known in found.items():
            if len(found) > 1:
                print_line(console, f"--models {name}")
            console.print(_table_of_models(known))
        return
    entry = load_entry(model, models, verb="models")
    if as_json:
        _print_json(console, {"kind": "params", **entry.schema().document()})
        return
    print_line(console, f"{entry.name} ({entry.id})")
    print_line(console, entry.description)
    console.print(_table_of_params(entry))
    print_line(console, f"statistics: {', '.join(stat.label for stat in entry.stats)}")
    actions = ", ".join(f"{action.id} ({action.label})" for action in entry.actions)
    print_line(console, f"actions: {actions or 'none'}")


def describe_command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's id, or MODULE:NAME, or a file.")],
    models: Models = None,
) -> None:
    """Print a description of MODEL by the ODD protocol, in Markdown, for its author to complete."""
    sys.stdout.write(hw.describe_model(load_entry(model, models, verb="describe")))


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
    print_line(console, text)


def _table_of_models(models: hw.ModelSet) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in ("id", "name", "topology", "backend", "actions"):
        table.add_column(name)
    for entry in models.values():
        actions = ", ".join(action.id for action in entry.actions)
        table.add_row(entry.id, entry.name, entry.metadata.topology, entry.metadata.backend, actions)
    return table


def _table_of_params(entry: hw.ModelEntry) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in ("parameter", "kind", "default", "allowed", "changes", "label"):
        table.add_column(name)
    for param in entry.params:
        table.add_row(param.id, param.kind, param.text(param.default), param.allowed, param.apply, param.label)
    return table
