"""NetLogo's BehaviorSpace: an experiment as a spec.

Owns the elements of an experiment, in the form of files up to NetLogo 6 and in that of NetLogo 7, inside a model file
or alone, and the notation of numbers, booleans, strings and stepped values. Evaluates nothing: code in NetLogo's
language (metrics, conditions, commands) is not translated, each piece becomes a note. Nobody vouches for the XML: one
that declares or uses an entity is refused, external documents are never fetched, depth is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from xml.parsers import expat

from henad_web.errors import ProblemList, near_miss
from henad_web.explore.factors import TablePath
from henad_web.explore.spec import (
    BlockSpec,
    LevelSpec,
    MeasureSettings,
    RangeLevels,
    RunOrder,
    RunSettings,
    SeedSettings,
    SweepSpec,
)
from henad_web.importers.imported import Notes
from henad_web.importers.variables import MOST_VALUES, NameMap, Variables, levels_of, split_blocks
from henad_web.model.decimals import LARGEST_TOML_INTEGER

__all__ = [
    "Element",
    "XmlTextError",
    "experiments_in",
    "is_netlogo",
    "parse_literal",
    "parse_number",
    "pick_experiment",
    "read_xml",
    "spec_of_experiment",
    "stepped_values",
]

_MAX_DEPTH = 64


class XmlTextError(ValueError):
    """A text that is not XML, or not XML that is read here. `line` counts from 1."""

    def __init__(self, wrong: str, line: int) -> None:
        self.line = line
        super().__init__(wrong)


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        tag: Its name.
        attributes: Its attributes.
        line: Line it starts in, from 1.
        text: The text directly in it.
        children: The elements directly in it, in order.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_xml(text: str, *, first_line: int = 1) -> Element:
    """Return the root element of `text`, whose first line is `first_line` of a file.

    Raises:
        XmlTextError: It is not well-formed, names an entity, or is nested too deeply.
    """
    parser = expat.ParserCreate("utf-8")
    open_elements: list[Element] = []
    roots: list[Element] = []

    def line() -> int:
        return int(parser.CurrentLineNumber) + first_line - 1

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line())
        if len(open_elements) >= _MAX_DEPTH:
            raise XmlTextError(f"more than {_MAX_DEPTH} elements inside one another", line())
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(tag: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        if open_elements:
            open_elements[-1].text += data

    def entity(*named: object) -> None:
        raise XmlTextError(f"the entity '{named[0]}', which experiments never need", line())

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        wrong = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise XmlTextError(wrong, error.lineno + first_line - 1) from error
    return roots[0]


_NUMBER = re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def parse_number(text: str) -> int | float:
    """Return the number that `text` writes; a whole one as an integer, since NetLogo knows only one kind.

    Raises:
        ValueError: It is no finite number.
    """
    trimmed = text.strip()
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError(f"'{trimmed}' is not a number")
    number = float(trimmed)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"'{trimmed}' is not a finite number")
    # A decimal, since a whole number past 2^53 has digits that the double need not have.
    return int(Decimal(trimmed)) if number.is_integer() and abs(number) <= LARGEST_TOML_INTEGER else number


def parse_literal(text: str) -> int | float | bool | str:
    """Return the value that `text` writes.

    Raises:
        ValueError: It is no number, boolean or string, such as a list or a piece of code.
    """
    trimmed = text.strip()
    if trimmed.lower() in ("true", "false"):
        return trimmed.lower() == "true"
    string = _STRING.fullmatch(trimmed)
    if string is not None:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), string[1], flags=re.DOTALL)
    if trimmed.startswith("["):
        raise ValueError("a list is not a value of a parameter")
    return parse_number(trimmed)


def stepped_values(first: str, step: str, last: str) -> list[int | float]:
    """Return the numbers from `first` by `step` up to, or down to, `last`; counted in decimals, so that none is lost.

    Raises:
        ValueError: A text is no number, the step is 0 or leads away from `last`, or there are too many values.
    """
    begin, by, end = (Decimal(repr(parse_number(text))) for text in (first, step, last))
    if by == 0 or (end - begin) * by < 0:
        raise ValueError(f"a step of {step.strip()} never comes from {first.strip()} to {last.strip()}")
    count = int((end - begin) / by) + 1
    if count > MOST_VALUES:
        raise ValueError(f"{count} values, at most {MOST_VALUES} are taken one by one")
    return [parse_number(str(begin + by * position)) for position in range(count)]


_SEPARATOR = "@#$#@#$#@"
_SEED = "random-seed"
_VALUE_SETS = ("enumeratedValueSet", "steppedValueSet")
_COMMANDS = {"preExperiment": "", "setup": "setup", "go": "go", "final": "", "postRun": "", "postExperiment": ""}
"""Elements that hold commands, with the one that needs no mention."""
_TICK_LIMIT = re.compile(r"ticks\s*(>=|=|>)\s*([0-9]{1,18})")


def is_netlogo(text: str) -> bool:
    """Return whether `text` looks like a NetLogo model or an experiment file."""
    return text.lstrip().startswith("<") or _SEPARATOR in text


def experiments_in(text: str) -> list[Element]:
    """Return the experiments of a model file of any version, or of an experiment file.

    Raises:
        XmlTextError: The part that holds them cannot be read.
    """
    first_line = 1
    if not text.lstrip().startswith("<"):
        sections = text.split(_SEPARATOR)
        for position, section in enumerate(sections):
            if section.lstrip().startswith("<experiments"):
                before = _SEPARATOR.join(sections[:position]) + _SEPARATOR
                first_line, text = before.count("\n") + 1, section
                break
        else:
            return []
    blank = len(text) - len(text.lstrip())
    root = read_xml(text.lstrip(), first_line=first_line + text[:blank].count("\n"))
    return [element for element in root.walk() if element.tag == "experiment"]


def pick_experiment(experiments: list[Element], name: str | None, problems: ProblemList) -> tuple[str, Element] | None:
    """Return the experiment called `name`, the only one for None, with what it is called; None with a problem recorded.

    Experiments that share a name are called ``name#1``, ``name#2`` and so on, in the order of the file.
    """
    known = _labelled(experiments)
    listed = ", ".join(f"'{label}'" for label in known) or "none"
    namesakes = [label for label, element in known.items() if element.attributes.get("name", "") == name]
    if not experiments:
        problems.add((), None, "no BehaviorSpace experiment in it", hint="make one in NetLogo and save the model")
    elif name is None and len(experiments) > 1:
        problems.add((), None, f"{len(experiments)} experiments in it", allowed=listed, hint="name one of them")
    elif name is None:
        return next(iter(known.items()))
    elif name in known:
        return name, known[name]
    elif namesakes:
        wrong, allowed = f"{len(namesakes)} experiments '{name}' in it", ", ".join(f"'{label}'" for label in namesakes)
        problems.add((), None, wrong, allowed=allowed, hint="name one of them by its number")
    else:
        problems.add((), None, f"no experiment '{name}'", allowed=listed, hint=near_miss(name, known))
    return None


def _labelled(experiments: list[Element]) -> dict[str, Element]:
    names = [element.attributes.get("name", "") for element in experiments]
    labelled: dict[str, Element] = {}
    for position, (name, element) in enumerate(zip(names, experiments, strict=True)):
        label = name
        if names.count(name) > 1:
            label = f"{name}#{names[: position + 1].count(name)}"
            while label in names:  # an experiment may be called so
                label = f"{label}#"
        labelled[label] = element
    return labelled


@dataclass(slots=True)
class _Reader:
    element: Element
    names: NameMap
    problems: ProblemList
    notes: Notes
    place: TablePath
    seeds: list[object] = field(default_factory=list)

    def whole(self, key: str, text: str, default: int, *, at_least: int) -> int:
        try:
            number = int(text.strip())
        except ValueError:
            number = at_least - 1
        if number < at_least:
            allowed = f"a whole number from {at_least} on"
            self.problems.add(self.place, key, "not a whole number", came=f"'{text}'", allowed=allowed)
            return default
        return number

    def flag(self, key: str, *, default: bool) -> bool:
        text = self.element.attributes.get(key, "true" if default else "false").strip().lower()
        if text not in ("true", "false"):
            self.problems.add(self.place, key, "neither true nor false", came=f"'{text}'", allowed="true or false")
        return text == "true"

    def value_set(self, element: Element) -> tuple[str, LevelSpec] | None:
        """Return the parameter and levels of a value set, None when it is left out or wrong."""
        name = element.attributes.get("variable", "")
        if name == _SEED:
            self.seeds += self.values(name, element)
            return None
        found = self.names.find(name, self.place)
        if found is None:
            return None
        levels = self.range(element) if element.tag == "steppedValueSet" else None
        return found, levels or levels_of(name, self.values(name, element), self.names, self.place, self.problems)

    def range(self, element: Element) -> LevelSpec | None:
        """Return a rising stepped set as a range; None for another one, or one that is wrong."""
        try:
            first, step, last = (parse_number(element.attributes.get(key, "")) for key in ("first", "step", "last"))
        except ValueError:
            return None
        return RangeLevels(min=first, max=last, step=step) if step > 0 and first < last else None

    def values(self, name: str, element: Element) -> list[object]:
        try:
            if element.tag == "steppedValueSet":
                return list(stepped_values(*(element.attributes.get(key, "") for key in ("first", "step", "last"))))
            return [
                parse_literal(child.attributes.get("value", "")) for child in element.children if child.tag == "value"
            ]
        except ValueError as error:
            hint = f"leave it out with {name}="
            self.problems.add(self.place, name, str(error), hint=hint)
            return [0]

    def value_sets(self, elements: list[Element]) -> Variables:
        last: dict[str, Element] = {}
        for element in elements:
            if element.tag not in _VALUE_SETS:
                continue
            name = element.attributes.get("variable", "")
            if name in last:
                lines = f"lines {last[name].line} and {element.line}"
                self.notes.add(f"'{name}' is given twice, in {lines}; the last was taken, as NetLogo sets it last.")
            last[name] = element
        found = [self.value_set(element) for element in last.values()]
        return [each for each in found if each is not None]


def spec_of_experiment(element: Element, model: str, names: NameMap, problems: ProblemList, notes: Notes) -> SweepSpec:
    """Return the spec of the experiment `element` for `model`, to be used only when no problem was recorded."""
    place = ("experiment", element.attributes.get("name", ""))
    reader = _Reader(element, names, problems, notes, place)
    variables = [
        child
        for child in element.children
        for child in (child.children if child.tag == "constants" else [child])
        if child.tag in _VALUE_SETS
    ]
    constants = reader.value_sets(variables)
    overlays = [reader.value_sets(each.children) for each in element.walk() if each.tag == "subExperiment"]
    blocks = [list((dict(constants) | dict(overlay)).items()) for overlay in overlays] or [constants]
    fixed, factors = split_blocks(blocks)
    every_step = reader.flag("runMetricsEveryStep", default=True)
    seeds, seed_count = _seeds(reader)
    _note_code(reader)
    return SweepSpec(
        model=model,
        fixed=fixed,
        run=_run(reader, seed_count),
        measure=MeasureSettings(series_every=1 if every_step else 0),
        seeds=seeds,
        blocks=tuple(BlockSpec(factors=each) for each in factors) if any(factors) else (),
    )


def _run(reader: _Reader, seed_count: int) -> RunSettings:
    attributes = reader.element.attributes
    replicates = reader.whole("repetitions", attributes.get("repetitions", "1"), 1, at_least=1)
    in_order = reader.flag("sequentialRunOrder", default=True)
    return RunSettings(
        steps=_steps(reader),
        replicates=replicates * seed_count,
        order=RunOrder.DEPTH if in_order else RunOrder.BREADTH,
    )


def _steps(reader: _Reader) -> int:
    """Return the ticks that a run has: the fewest of the time limits and of the conditions that count ticks."""
    limits, lost = _time_limits(reader), []
    for child in reader.element.children:
        condition = " ".join(child.text.split())
        if child.tag != "exitCondition" or not condition:
            continue
        limit = _TICK_LIMIT.fullmatch(condition)
        if limit is None:
            lost.append((condition, child.line))
        else:
            what = f"exit condition '{condition}'"
            limits.append(_Limit(int(limit[2]) + (limit[1] == ">"), what, child.line))
    found = min(limits, key=lambda limit: limit.ticks, default=None)
    steps = RunSettings().steps if found is None else found.ticks
    if len(limits) > 1:
        places = " and ".join(f"the {limit.what} (line {limit.line}, {limit.ticks} ticks)" for limit in limits)
        reader.notes.add(f"A run ends by {places}, whichever comes first: steps = {steps}.")
    elif found is not None and found.what != _TIME_LIMIT:
        reader.notes.add(f"{found.what[0].upper()}{found.what[1:]} became steps = {steps}.")
    for condition, line in lost:
        alone = "" if found is None else f"; the {found.what} (line {found.line}) alone ends a run"
        reader.notes.add(
            f"Exit condition not carried over: {condition} (line {line}){alone}. Where a statistic says the same, "
            'write [run] stop = { condition = "STATISTIC <= 0" }.'
        )
    if found is None:
        reader.notes.add(f"The experiment has no time limit; steps = {steps} is a guess, set your own.")
    return steps


_TIME_LIMIT = "time limit"


@dataclass(frozen=True, slots=True)
class _Limit:
    ticks: int
    what: str
    line: int


def _time_limits(reader: _Reader) -> list[_Limit]:
    element = reader.element
    given = [(element.line, element.attributes["timeLimit"])] if "timeLimit" in element.attributes else []
    given += [(child.line, child.attributes.get("steps", "")) for child in element.children if child.tag == "timeLimit"]
    found = [_Limit(reader.whole("timeLimit", text, 0, at_least=0), _TIME_LIMIT, line) for line, text in given]
    return [limit for limit in found if limit.ticks > 0]


def _seeds(reader: _Reader) -> tuple[SeedSettings, int]:
    seeds = reader.seeds
    if not seeds:
        return SeedSettings(), 1
    root = seeds[0] if isinstance(seeds[0], int) and not isinstance(seeds[0], bool) and seeds[0] >= 0 else 0
    listed = ", ".join(str(seed) for seed in seeds)
    first = "the first became" if root == seeds[0] else "the first is no whole number from 0 on, so 0 became"
    note = f"random-seed {listed}: {first} the root, from which each replicate gets a seed of its own."
    reader.notes.add(note if len(seeds) == 1 else f"{note} The {len(seeds)} seeds became as many replicates.")
    return SeedSettings(root=root), len(seeds)


def _note_code(reader: _Reader) -> None:
    known = {*_COMMANDS, *_VALUE_SETS, "exitCondition", "timeLimit", "constants", "subExperiment", "subExperiments"}
    for child in reader.element.children:
        text = " ".join(child.text.split())
        if child.tag in _COMMANDS and text not in ("", _COMMANDS[child.tag]):
            reader.notes.add(f"Commands of {child.tag} not carried over: {text}.")
        elif child.tag == "runMetricsCondition" and text:
            reader.notes.add(f"Metrics condition not carried over: {text}. Set [measure] stats_every instead.")
        elif child.tag not in (*known, "metric", "metrics", "runMetricsCondition"):
            reader.notes.add(f"Element <{child.tag}> is not known and was left out.")
    metrics = [each for each in reader.element.walk() if each.tag == "metric"]
    for metric in metrics:
        reader.notes.add(f"Metric not carried over: {metric.text}. The model's own statistics are recorded.")
