"""Results that were opened: the files, what they say, and their rows as the views take them.

Owns no element. Everything about the files is decided by `henad_web`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from study import Study
from wording import archive_text, as_sentence, front_text, gap_text, opened_text, ranking_text

import henad_web as hw
from henad_web.explore.outcomes import Series
from henad_web.results.archive import ArchiveLimits, unpack
from henad_web.results.recognition import usual_names
from henad_web.results.search import SearchHistory

__all__ = ["LIMITS", "Recorded", "opened_archive"]

LIMITS = ArchiveLimits(total_bytes=1 << 30)
"""What an archive may unpack to here: a tab has about four gigabytes for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A result set in memory.

    Attributes:
        files: Content by usual name.
        results: The same, read.
        study: Its study, bound to its model.
        newest: Its last runs, in the order of the file.
        search: What a search came to, None of a sweep.
        fault: Why that cannot be told, None where it can.
    """

    files: Mapping[str, bytes]
    results: hw.ResultSet
    study: Study
    newest: tuple[hw.RunOutcome, ...]
    search: SearchHistory | None = None
    fault: str | None = None

    @property
    def can_go_on(self) -> bool:
        """Whether runs, their series or their tables are missing, or nobody has said that all are there."""
        return not self.results.is_complete or self.results.missing_line is not None or self.fault is not None

    @property
    def is_most(self) -> bool:
        """Whether the runs that were expected are the most there may be."""
        return self.results.manifest.is_adaptive and not self.results.is_complete

    @property
    def sentence(self) -> str:
        """What was opened, in words."""
        counts = self.results.counts
        opened = opened_text(
            status=self.results.status.value,
            rows=counts.rows,
            planned=self.results.expected_runs,
            is_most=self.is_most,
            failed=counts.failed,
        )
        return opened if self.search is None else f"{opened} {_search_sentence(self.search)}"

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know of it beside that: parts that are missing or damaged, runs with values from before a gap."""
        lacking = [line for line in (self.results.missing_line, self.fault) if line is not None]
        gaps = self.results.non_finite_line
        return (*map(as_sentence, lacking), *([] if gaps is None else [gap_text(gaps)]))

    @property
    def why_empty(self) -> str:
        """What to say of a run without a series."""
        return "no series was kept." if self.results.has_series else "there is no series.csv among the results."


def opened_archive(content: bytes, models: hw.ModelSet, *, most_runs: int) -> Recorded:
    """Return the results in the zip `content`, with the last `most_runs` runs of its table.

    Raises:
        HenadError: It is no zip of results, or one of a model or spec that this page does not know.
    """
    files = usual_names(unpack(content, limits=LIMITS))
    results = hw.ResultSet.from_files(files, models=models, series_budget=0)
    loaded = hw.parse_spec(hw.spec_to_toml(results.spec))
    run_ids = results.runs["run_id"][-most_runs:].tolist()
    search, fault = None, None
    try:
        search = results.search
    except hw.ResultsError as error:  # the runs are there all the same
        fault = str(error)
    return Recorded(
        files=files,
        results=results,
        study=Study(loaded=loaded, entry=results.entry, plan=results.plan),
        newest=tuple(_outcome(results, run_id) for run_id in run_ids),
        search=search,
        fault=fault,
    )


def _search_sentence(search: SearchHistory) -> str:
    """Return what a search came to so far, in words."""
    evaluations = len(search.evaluations)
    if search.settings.objectives:
        return front_text(evaluations, len(search.front))
    if search.settings.pse is None:
        leaders = [(entry.candidate_id, entry.objective, entry.replicate_count) for entry in search.ranking]
        return ranking_text(evaluations, leaders)
    x_axis, y_axis = search.settings.pse.axes
    cells = x_axis.cells * y_axis.cells
    return archive_text(evaluations, filled=len(search.archive), cells=cells, outside=search.outside_count)


def _outcome(results: hw.ResultSet, run_id: int) -> hw.RunOutcome:
    row = results.runs.run(run_id)
    series = Series.empty(len(results.stat_columns))
    if results.has_series:
        recorded = results.series(run_id)
        series = Series(recorded.ticks, recorded.values)
    return hw.RunOutcome(
        run=row.run,
        config=results.config(run_id),
        run_key=row.run_key,
        status=row.status,
        stop_reason=row.stop_reason,
        ticks=row.ticks,
        population=row.population,
        build_ms=row.build_ms,
        wall_ms=row.wall_ms,
        reducers=row.reducers,
        series=series,
        note=row.note,
    )
