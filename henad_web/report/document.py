"""The document of a report: its sections in order, as one HTML file that needs nothing else and no script.

Owns what is said and where; figures are `figures`' business. The same results give the same bytes: nothing here asks
for the time. Needs no model: what a folder says of itself is enough.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from henad_web.analysis.selection import main_measures, measured_axis
from henad_web.analysis.summary import summary
from henad_web.errors import UsageError
from henad_web.explore.outcomes import RunStatus
from henad_web.markup import escaped, facts_html, notes_html, table_html
from henad_web.output.manifest import spec_text
from henad_web.plots.canvas import check_can_draw
from henad_web.report.figures import Figure, Undrawn, figures_of
from henad_web.results.errors import NeedsExtraError
from henad_web.results.facts import results_facts, search_facts
from henad_web.version import VERSION
from henad_web.wording import amount

if TYPE_CHECKING:
    from henad_web.output.build import BuildRecord
    from henad_web.output.manifest import Manifest, RuntimeRecord
    from henad_web.results.recorded import RecordedResults
    from henad_web.results.search import SearchHistory

__all__ = ["no_figures_line", "report_html"]

MOST_MEASURES = 3
"""Reducers that a report is about when none is named."""

_STYLE = """
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 0.875rem; margin: 0.5rem 0; }
td, th { padding: 0.2rem 0.6rem; border-bottom: 1px solid #e4e4e4; vertical-align: top; text-align: right; }
.wide { overflow-x: auto; } figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; background: #f6f6f6; padding: 0.75rem; font-size: 0.875rem; }
summary { cursor: pointer; } p { margin: 0.4rem 0; } code { overflow-wrap: anywhere; }
"""


def report_html(results: RecordedResults, measures: Sequence[str] = ()) -> str:
    """Return a report of `results` as one HTML file, whatever state they were left in.

    Without matplotlib there are no figures, and a line that says how to have them.

    Args:
        results: The results; their model is not asked for.
        measures: What its figures and its summary are about: reducers such as ``Infected:max``, or columns of every
            run; what `main_measures` says when there is none.

    Raises:
        UsageError: There is no such measure.
        TableDamagedError: A table of a search is not one that a search writes.
        MissingFileError: A search came to its end, and a table of it is not there.
    """
    title = f"{results.manifest.model.name}: {'search' if results.is_search else 'sweep'}, {results.status}"
    for name in measures:
        measured_axis(results, name)
    body = "\n".join(_sections(results, tuple(measures) or main_measures(results, MOST_MEASURES)))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escaped(title)}</h1>\n{body}\n<footer><p>henad-web {escaped(VERSION)}</p></footer>\n"
        f"</main>\n</body>\n</html>\n"
    )


def no_figures_line() -> str | None:
    """Return why reports have no figures here, None where they have."""
    try:
        check_can_draw()
    except NeedsExtraError as error:
        return f"no figures: {error}"
    return None


def _sections(results: RecordedResults, measures: Sequence[str]) -> Iterator[str]:
    notes = filter(None, (results.non_finite_line, results.missing_line))
    yield _section("What this is", facts_html("results", results_facts(results), notes))
    search = results.search
    if search is not None:
        yield _section("The search", _search(search))
    yield _section("Figures", "\n".join(_figures(results, measures)))
    if search is None:
        yield _section("Summary", _summary(results, measures))
    yield _section("Runs that are not ok", _not_ok(results))
    yield _section("Study", _study(results))
    yield _section("Where it comes from", _provenance(results.manifest))


def _section(title: str, content: str) -> str:
    return f'<section>\n<h2>{escaped(title)}</h2>\n<div class="wide">{content}</div>\n</section>'


def _details(title: str, content: str) -> str:
    return f"<details><summary>{escaped(title)}</summary>{content}</details>"


def _figures(results: RecordedResults, measures: Sequence[str]) -> Iterator[str]:
    without = no_figures_line()
    if without is not None:
        yield notes_html([without])
        return
    count = 0
    for found in figures_of(results, measures):
        count += 1
        yield _figure(found) if isinstance(found, Figure) else _undrawn(found)
    if not count:
        yield notes_html(["none: there is no run yet" if not len(results.runs) else "none: nothing was measured"])


def _figure(figure: Figure) -> str:
    numbers = _details("the numbers", figure.table) if figure.table else ""
    caption = f"<figcaption>{escaped(figure.title)}</figcaption>"
    return f"<figure>{caption}{figure.svg}{numbers}</figure>"


def _undrawn(question: Undrawn) -> str:
    return notes_html([f"{question.title}: not drawn: {question.why}"])


def _search(search: SearchHistory) -> str:
    name = search.table_names[-1]
    table = search.table(name)
    outcome = table_html(table.table, table.columns, [column for _, column, _ in table.cells()])
    return facts_html(f"{search.settings.algorithm} search", search_facts(search)) + outcome


def _summary(results: RecordedResults, measures: Sequence[str]) -> str:
    try:
        table = summary(results, measures or None)
    except UsageError as error:
        return notes_html([str(error)])
    return table._repr_html_()


def _not_ok(results: RecordedResults) -> str:
    runs = results.runs
    rows = np.flatnonzero(runs["status"] != RunStatus.OK.value)
    if not len(rows):
        return notes_html(["none"])
    names = ("run_id", "config_id", "rep", "seed", "status", "ticks", "note")
    table = table_html(amount(len(rows), "run"), names, [runs[name][rows] for name in names])
    command = results.replay_command(int(runs["run_id"][rows[0]]))
    return f"{table}<p>The first of them again: <code>{escaped(command)}</code></p>"


def _study(results: RecordedResults) -> str:
    manifest = results.manifest
    facts = (
        ("plan", f"{amount(manifest.plan.runs, 'run')}, hash {manifest.plan.plan_hash}"),
        ("results", f"fingerprint {manifest.plan.results_fingerprint}"),
        ("model", f"{manifest.model.id}, schema {manifest.model.schema_hash}"),
        ("seeds", f"root {manifest.seeds.root}, {manifest.seeds.scheme}: {manifest.seeds.formula}"),
    )
    spec = f"<pre><code>{escaped(spec_text(manifest))}</code></pre>"
    return facts_html("plan", facts) + _details("the spec", spec)


def _provenance(manifest: Manifest) -> str:
    facts = (
        ("command", shlex.join(manifest.argv)),
        ("engine", _build_text(manifest.engine)),
        ("platform", _runtime_text(manifest.runtime)),
        ("lanes", f"{manifest.execution.cpu_lanes}"),
        ("started", manifest.timestamps.started),
        ("finished", manifest.timestamps.finished or "not yet"),
        ("merged", ", ".join(manifest.merged_shards or ())),
    )
    names = ("started", "kept", "ran", "engine", "platform")
    columns = [
        np.array([session.started for session in manifest.sessions]),
        np.array([session.skipped for session in manifest.sessions]),
        np.array([session.ran for session in manifest.sessions]),
        np.array(["" if session.engine is None else _build_text(session.engine) for session in manifest.sessions]),
        np.array(["" if session.runtime is None else _runtime_text(session.runtime) for session in manifest.sessions]),
    ]
    return facts_html("provenance", facts) + table_html("sessions", names, columns)


def _build_text(build: BuildRecord) -> str:
    commit = "" if build.commit is None else f", commit {build.commit}"
    source = "" if build.source_hash is None else f", sources {build.source_hash}"
    return f"{build.name} {build.version}{commit}{source}"


def _runtime_text(runtime: RuntimeRecord) -> str:
    versions = (("Python", runtime.python), ("numpy", runtime.numpy))
    named = [f"{what} {version}" for what, version in versions if version is not None]
    return ", ".join([f"{runtime.os} {runtime.arch}", *named, amount(runtime.logical_cpus, "CPU")])
