"""Results that were opened: the files, what they say, and their rows as the views take them.

Owns no element. Everything about the files is decided by `henad_web`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from study import Study
from wording import opened_text

import henad_web as hw
from henad_web.results.archive import ArchiveLimits, unpack
from henad_web.results.recognition import usual_names

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
    """

    files: Mapping[str, bytes]
    results: hw.ResultSet
    study: Study

    @property
    def can_go_on(self) -> bool:
        """Whether runs are missing."""
        return len(self.results.runs) < self.results.expected_runs and not self.results.is_search

    @property
    def sentence(self) -> str:
        """What was opened, in words."""
        runs = self.results.runs
        failed = sum(hw.RunStatus(status).is_failure for status in runs["status"].tolist())
        opened = opened_text(
            status=self.results.status.value, rows=len(runs), planned=self.results.expected_runs, failed=failed
        )
        missing = self.results.missing_line
        return opened if missing is None else f"{opened} {missing[0].upper()}{missing[1:]}."

    def newest(self, count: int) -> Iterator[hw.RunOutcome]:
        """Yield the last `count` runs of the file as outcomes, in its order."""
        results = self.results
        for run_id in results.runs["run_id"][-count:].tolist():
            row, series = results.runs.run(run_id), self._series_of(run_id)
            yield hw.RunOutcome(
                run=row.run,
                run_key=row.run_key,
                status=row.status,
                stop_reason=row.stop_reason,
                ticks=row.ticks,
                population=row.population,
                build_ms=row.build_ms,
                wall_ms=row.wall_ms,
                reducers=row.reducers,
                series=hw.Series(series.ticks, series.values),
                note=row.note,
            )

    def _series_of(self, run_id: int) -> hw.RecordedSeries:
        results = self.results
        return results.series(run_id) if results.has_series else hw.RecordedSeries.empty(results.stat_columns)


def opened_archive(content: bytes, models: hw.ModelSet) -> Recorded:
    """Return the results in the zip `content`.

    Raises:
        HenadError: It is no zip of results, or one of a model or spec that this page does not know.
    """
    files = usual_names(unpack(content, limits=LIMITS))
    results = hw.ResultSet.from_files(files, models=models, series_budget=0)
    loaded = hw.parse_spec(hw.spec_to_toml(results.spec))
    return Recorded(files=files, results=results, study=Study(loaded=loaded, entry=results.entry, plan=results.plan))
