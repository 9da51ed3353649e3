"""What results are and what a search came to, in words: for a notebook, a report, whoever shows them.

Owns labels and texts; what goes on has no label, and what there is not has no text. Reads only what is at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.explore.shards import Shard
from henad_web.markup import facts_html
from henad_web.wording import amount, counts_text, objective_text, runs_text

if TYPE_CHECKING:
    from henad_web.results.recorded import RecordedResults
    from henad_web.results.search import SearchHistory

__all__ = ["results_facts", "results_html", "search_facts"]


def results_html(results: RecordedResults) -> str:
    """Return what `results` are, and what is to be known of them, as HTML."""
    notes = filter(None, (results.non_finite_line, results.missing_line))
    return facts_html(f"results of {results.manifest.model.name}: {results.status}", results_facts(results), notes)


def results_facts(results: RecordedResults) -> Iterator[tuple[str, str]]:
    """Yield what `results` are: model, runs, design, columns, place."""
    manifest, counts = results.manifest, results.counts
    yield "model", f"{manifest.model.name} ({manifest.model.id})"
    yield "runs", f"{runs_text(counts.rows, results.expected_runs)}: {counts_text(counts)}"
    for index, block in enumerate(() if results.is_search else manifest.plan.blocks):
        yield f"block {index}", f"{block.design}, {amount(block.configs, 'config')}"
    if manifest.search is not None:
        yield "search", f"{manifest.search.algorithm}, {amount(manifest.search.evaluations, 'evaluation')}"
    if manifest.shard.count > 1:
        yield "shard", str(Shard(manifest.shard.index, manifest.shard.count))
    yield "series", ", ".join(results.stat_columns)
    yield "reducers", ", ".join(results.reducer_columns)
    yield "own tables", ", ".join(results.table_ids)
    yield "place", results.path or "memory"


def search_facts(search: SearchHistory) -> Iterator[tuple[str, str]]:
    """Yield what `search` is for, how far it has come, and its best, its front or the cells that it met."""
    settings = search.settings
    objectives = "\n".join(map(objective_text, settings.all_objectives))
    yield "objectives" if settings.objectives else "objective", objectives
    yield "batches", f"{len(search.batches):,}"
    generations = len(search.generations) + len(search.front_generations)
    yield "generations", f"{generations:,}" if generations else ""
    if search.ranking:
        yield "best", f"{search.ranking[0].objective:g} (candidate {search.ranking[0].candidate_id:,})"
    if search.front:
        yield "front", amount(len(search.front), "candidate")
    if settings.pse is not None:
        cells = settings.pse.axes[0].cells * settings.pse.axes[1].cells
        yield "archive", f"{len(search.archive):,} of {amount(cells, 'cell')} met"
