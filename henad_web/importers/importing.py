"""From the text of another tool's experiment to a spec, whichever tool it is.

Owns the choice of importer and the order of things: everything wrong is reported at once, everything that could not be
carried over is a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from henad_web.errors import Place, Problem, ProblemList, SpecError
from henad_web.explore.json_text import HALF_CHARACTER, HALF_HINT, HALF_WRONG
from henad_web.explore.spec import DesignKind, ExecutionSettings, SweepSpec
from henad_web.explore.spec_file import SpecFormat, parse_spec
from henad_web.importers.behavior_space import (
    Element,
    XmlTextError,
    experiments_in,
    is_netlogo,
    pick_experiment,
    spec_of_experiment,
)
from henad_web.importers.imported import ImportedSpec, Notes
from henad_web.importers.literals import read_mapping
from henad_web.importers.mesa_batch import spec_of_batch
from henad_web.importers.salib_problem import is_problem, spec_of_problem
from henad_web.importers.variables import NameMap
from henad_web.model.schema import ModelSchema

__all__ = ["ImportOptions", "import_spec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How an experiment becomes a spec.

    Attributes:
        model: Id of the model that the spec is for.
        schema: That model, so that names and values are checked; None takes names as they come.
        names: Parameter ids by the names of the experiment; an empty id leaves a variable out.
        experiment: Which of several experiments of a file.
        design: Design of a problem that only has bounds.
        samples: Size of that design.
        file: Name of the file, for messages.
    """

    model: str
    schema: ModelSchema | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    experiment: str | None = None
    design: DesignKind = DesignKind.RANDOM
    samples: int = 128
    file: str | None = None


def import_spec(text: str, options: ImportOptions) -> ImportedSpec:
    """Return the experiment that `text` holds as a spec with notes.

    Args:
        text: A NetLogo model or experiment file, a Mesa `batch_run` dict, or a SALib problem.
        options: The model, names and choices.

    Raises:
        SpecError: It cannot be read or carried over; every problem is in it.
    """
    problems, notes = ProblemList(), Notes()
    names = NameMap(options.names, options.schema, problems, notes)
    text = text.removeprefix("\ufeff")
    half = HALF_CHARACTER.search(text)
    if half is not None:
        place = Place(file=options.file, line=text.count("\n", 0, half.start()) + 1)
        raise SpecError([Problem(place=place, wrong=HALF_WRONG, hint=HALF_HINT)])
    read = _netlogo if is_netlogo(text) else _mapping
    found = read(text, options, names, problems, notes)
    if found is None or problems.problems:
        raise SpecError(
            [replace(problem, place=replace(problem.place, file=options.file)) for problem in problems.problems]
        )
    kind, spec, execution = found
    origin = kind if options.file is None else f"{options.file}, {kind}"
    imported = ImportedSpec(spec=spec, execution=execution, origin=origin, notes=tuple(notes.lines))
    _check_readable(imported, options.file)
    return imported


def _check_readable(imported: ImportedSpec, file: str | None) -> None:
    """Refuse what a spec file could not say, such as a number of steps past 64 bits."""
    try:
        parse_spec(imported.toml(), format=SpecFormat.TOML)
    except SpecError as error:
        # The lines are those of a text that nobody has seen.
        unseen = [replace(each, place=replace(each.place, file=file, line=None)) for each in error.problems]
        raise SpecError(unseen) from error


_Found = tuple[str, SweepSpec, ExecutionSettings]


def _add_lines(problems: ProblemList, experiment: Element) -> None:
    lines = {each.attributes["variable"]: each.line for each in experiment.walk() if "variable" in each.attributes}
    problems.problems = [
        replace(problem, place=replace(problem.place, line=lines.get(problem.place.key or "", experiment.line)))
        for problem in problems.problems
    ]


def _netlogo(text: str, options: ImportOptions, names: NameMap, problems: ProblemList, notes: Notes) -> _Found | None:
    try:
        experiments = experiments_in(text)
    except XmlTextError as error:
        problems.problems.append(Problem(place=Place(line=error.line), wrong=str(error)))
        return None
    picked = pick_experiment(experiments, options.experiment, problems)
    if picked is None:
        return None
    label, element = picked
    spec = spec_of_experiment(element, options.model, names, problems, notes)
    names.check_all_used()
    _add_lines(problems, element)
    return f"the NetLogo experiment '{label}'", spec, ExecutionSettings()


def _mapping(text: str, options: ImportOptions, names: NameMap, problems: ProblemList, notes: Notes) -> _Found | None:
    given = read_mapping(text, options.experiment, problems, notes)
    if given is None:
        return None
    found: _Found
    if is_problem(given):
        spec = spec_of_problem(
            given, options.model, names, problems, notes, design=options.design, samples=options.samples
        )
        found = ("a SALib problem", spec, ExecutionSettings())
    else:
        found = ("a Mesa batch run", *spec_of_batch(given, options.model, names, problems, notes))
    names.check_all_used()
    return found
