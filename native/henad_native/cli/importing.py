"""`henad import`: an experiment of another tool as a spec file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

import henad_web as hw
from henad_native.cli.choices import BadOption, Models
from henad_native.cli.consoles import ExitCode
from henad_native.cli.model_sets import load_models
from henad_web.importers.imported import ImportedSpec
from henad_web.importers.importing import ImportOptions, import_spec

__all__ = ["import_command"]


def import_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A NetLogo model or experiment, a Mesa script, a SALib problem.")
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="ID", help="The model that is to run it; names are checked then.")
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="NAME=PARAM", help="What NAME is called in the model; nothing leaves it out."),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", metavar="NAME", help="Which of several experiments, dicts or calls.")
    ] = None,
    design: Annotated[
        hw.DesignKind, typer.Option("--design", help="The sampled design of a SALib problem.")
    ] = hw.DesignKind.RANDOM,
    samples: Annotated[int, typer.Option("--samples", min=1, help="The size of that design.")] = 128,
    models: Models = None,
) -> None:
    """Print the experiment in FILE as a spec file; what a spec cannot say stands in its comments."""
    schema = None if model is None else _schema(model, models)
    options = ImportOptions(
        model=model or re.sub(r"[^a-z0-9]+", "_", file.stem.lower()).strip("_") or "model",
        schema=schema,
        names=dict(_pair(text) for text in names or ()),
        experiment=experiment,
        design=design,
        samples=samples,
        file=file.name,
    )
    imported = import_spec(_read(file), options)
    sys.stdout.write(imported.toml())
    if schema is None:
        print("note: no --model was named; write the model's id and the ids of its parameters", file=sys.stderr)
    else:
        _check(imported, schema)


def _schema(model: str, models: str | None) -> hw.ModelSchema:
    try:
        return load_models(models).lookup(model).schema()
    except hw.UnknownModelError as error:
        raise BadOption("--model", error.wrong) from error


def _pair(text: str) -> tuple[str, str]:
    name, equals, param = text.partition("=")
    if not equals or not name.strip():
        raise BadOption("--map", f"'{text}' is not of the form NAME=PARAM")
    return name.strip(), param.strip()


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadOption("FILE", f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadOption("FILE", f"{file} is not UTF-8 text: byte {error.start} cannot be decoded") from error


def _check(imported: ImportedSpec, schema: hw.ModelSchema) -> None:
    try:
        imported.spec.plan(schema)
    except hw.PlanError as error:
        print("the spec is printed, and its model does not take it yet:", file=sys.stderr)
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        raise typer.Exit(ExitCode.ERROR) from error
