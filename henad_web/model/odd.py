"""A model's description by the ODD protocol: what its entry says, and what its author is asked to write.

Elements and their order follow Grimm et al. (2020), "The ODD Protocol for Describing Agent-Based and Other Simulation
Models: A Second Update", Journal of Artificial Societies and Social Simulation 23(2) 7, doi:10.18564/jasss.4259.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from henad_web.errors import counted
from henad_web.model.entry import EntryGiven, ModelEntry, Topology, checked_entry
from henad_web.model.params import Apply, Param

__all__ = ["describe_model"]

_ENTITIES = {
    Topology.GRID: "cells of a grid",
    Topology.AGENTS: "agents",
    Topology.NETWORK: "nodes of a network",
    Topology.FIELD: "points of a field",
}

_CONCEPTS = (
    ("Basic principles", "which general theories or hypotheses the model rests on."),
    ("Emergence", "which results come out of what the entities do, and which are imposed by rules."),
    ("Adaptation", "which decisions entities take, in response to what."),
    ("Objectives", "what entities measure their decisions by, or that they have no objective."),
    ("Learning", "how decisions change with experience, or that they do not."),
    ("Prediction", "what entities expect of the future, and how."),
    ("Sensing", "which variables an entity knows, its own and those of others."),
    ("Interaction", "which entities act on which, directly or through a shared resource."),
)


def describe_model(entry: EntryGiven) -> str:
    r"""Return a description of `entry` by the ODD protocol, in Markdown, as a skeleton for its author to complete.

    What the entry declares is filled in; what only the author knows is a line that begins with "To write". Nothing of
    the model is run.

    Example:
        >>> import henad_web as hw
        >>> text = hw.describe_model(hw.example_models().lookup("sir"))
        >>> print(text.partition("\n")[0])
        # SIR Epidemic: description by the ODD protocol
    """
    return "\n\n".join(_parts(checked_entry(entry))) + "\n"


def _parts(entry: ModelEntry) -> Iterator[str]:
    yield f"# {_plain(entry.name)}: description by the ODD protocol"
    yield f"Model `{entry.id}`, schema `{entry.schema().schema_hash}`."
    yield "## 1. Purpose and patterns"
    yield _plain(entry.description) or _to_write("what the model is for.")
    yield _to_write("which patterns observed in the real system show that it is good enough for that.")
    yield "## 2. Entities, state variables, and scales"
    yield f"Entities: {_ENTITIES[entry.metadata.topology]}."
    yield _to_write("the state variables of each kind of entity, with type, range and unit.")
    if entry.params:
        yield "Parameters, which belong to the model as a whole:"
        yield _params_table(entry.params)
    yield _to_write("what a tick and, where there is space, a unit of length stand for.")
    yield "## 3. Process overview and scheduling"
    yield "Time passes in ticks, numbered from 0, the state after the build. Every tick is one step of the whole model."
    if entry.actions:
        yield "Actions that a study may schedule, each right after the step that reaches its tick:"
        yield "\n".join(f"- `{action.id}`: {_plain(action.label)}" for action in entry.actions)
    yield _to_write("what happens within a step, in which order, and which entities are updated at once.")
    yield "## 4. Design concepts"
    for name, question in _CONCEPTS:
        yield f"**{name}.** {_to_write(question)}"
    yield f"**Stochasticity.** {_stochasticity(entry)} {_to_write('which processes draw random numbers, and why.')}"
    yield f"**Collectives.** {_to_write('which groups of entities act or are tracked as one, or that there are none.')}"
    yield f"**Observation.** {_observation(entry)}"
    yield "## 5. Initialization"
    yield _initialization(entry.params)
    yield _to_write("the state of the entities at tick 0, and which of it varies between runs.")
    yield "## 6. Input data"
    yield _to_write("which data read from outside drive the model as it runs, or that it uses none.")
    yield "## 7. Submodels"
    yield _to_write("each process named under 3 in full: equations, rules, and the source of each parameter's value.")


def _stochasticity(entry: ModelEntry) -> str:
    metadata = entry.metadata
    if not metadata.replays_exactly:
        return "Each run has a seed of its own, 0 to 2^64 - 1; equal seeds may still give unequal runs."
    where = "every machine" if metadata.portable else "one machine"
    return f"Each run has a seed of its own, 0 to 2^64 - 1; equal parameters and seeds give equal runs on {where}."


def _observation(entry: ModelEntry) -> str:
    names = ", ".join(f"{_plain(stat.label)}" for stat in entry.stats)
    of_all = f"{counted(len(entry.stats), 'statistic')} of the whole model: {names}."
    tables = "; ".join(f"`{table.id}` ({', '.join(map(_plain, table.columns))})" for table in entry.tables)
    return f"{of_all} Where a study asks for them, tables of its parts: {tables}." if tables else of_all


def _initialization(params: Sequence[Param]) -> str:
    first = [f"`{param.id}`" for param in params if param.apply is Apply.RELOAD]
    if not params:
        return "The model is built from a seed alone."
    if not first:
        return "The model is built from its parameters and a seed; each parameter may change as it runs."
    return f"The model is built from its parameters and a seed. Read at the build alone: {', '.join(first)}."


def _params_table(params: Iterable[Param]) -> str:
    rows = [("parameter", "meaning", "kind", "allowed", "default", "may change")]
    for param in params:
        may_change = "as it runs" if param.apply is Apply.LIVE else "between runs"
        default = _plain(param.text(param.default))
        rows.append((f"`{param.id}`", _plain(param.label), str(param.kind), _plain(param.allowed), default, may_change))
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join((head, "|---" * len(rows[0]) + "|", *body))


def _plain(text: str) -> str:
    """Return `text` on one line, with a bar as Markdown writes it inside a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _to_write(question: str) -> str:
    return f"*To write:* {question}"
