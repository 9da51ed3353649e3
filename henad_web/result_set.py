"""Result sets opened where they are: a directory, a zip, or files in memory.

Owns the finding of files below a path, and asks the target whether somebody still writes them. What a result set is,
once its files are open, is `henad_web.results.recorded`'s business.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from henad_web.analysis.bands import bands
from henad_web.analysis.compare import compare
from henad_web.analysis.heatmap import heatmap
from henad_web.analysis.prim import prim
from henad_web.analysis.response import response
from henad_web.analysis.sensitivity import sensitivity
from henad_web.analysis.summary import summary
from henad_web.errors import ResultsError
from henad_web.output.crate import CrateFile, crate_of
from henad_web.output.names import MANIFEST, MARKER, RESULT_NAMES, RUNS, SERIES, STAGED, TABLES
from henad_web.output.store import checked_path, opened_to_read
from henad_web.plots.results import ResultPlots
from henad_web.report.document import report_html
from henad_web.results import frames
from henad_web.results.archive import DEFAULT_LIMITS, ArchiveLimits, is_archive, unpack
from henad_web.results.recognition import Opener, openers_of, recognise
from henad_web.results.recorded import RecordedResults, ResultStatus
from henad_web.results.verifying import verify_results
from henad_web.targets import current, needed

if TYPE_CHECKING:
    from henad_web.model.entry import ModelsGiven
    from henad_web.results.differences import VerifyReport
    from henad_web.targets import Target

__all__ = ["ResultSet", "verify"]

_SUFFIXES = (".csv", ".json")


class ResultSet(RecordedResults):
    """The results of one sweep, read back. Made by `open` and `from_files`.

    Questions are methods: `summarize`, `response`, `heatmap`, `bands`, `compare`, `sensitivity` and `prim` are what
    `henad_web.analysis` has, asked of these results; `summary` is what summary.csv says.
    """

    summarize = summary
    response = response
    heatmap = heatmap
    bands = bands
    compare = compare
    sensitivity = sensitivity
    prim = prim

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        models: ModelsGiven | None = None,
        series_budget: int | None = None,
        archive_limits: ArchiveLimits = DEFAULT_LIMITS,
        target: Target | None = None,
    ) -> ResultSet:
        """Return the results in the directory or zip at `path`, finished or not.

        Files are known by their content. In a directory, one with its usual name goes before a copy beside it.

        Args:
            path: A directory of results, or a zip of one.
            models: Where `plan` and `replay` find the model; the examples and installed packages when None.
            series_budget: Bytes of series kept in memory once read, None for no limit.
            archive_limits: How much a zip may unpack to.
            target: The platform, the current one when None; it knows whether somebody writes there.

        Raises:
            UsageError: `path` is no path.
            ResultsError: There is no such path, or it holds no results that can be read.
            ArchiveError: A zip that is damaged or could do harm.
            DuplicateFileError: Two files are the same part.
            MissingFileError: There is no manifest or no table of runs.
            ManifestError: The manifest cannot be read.
        """
        where = Path(checked_path(path, "the path of results"))
        try:
            files, is_folder = _files_at(where, archive_limits)
            found = recognise(files, path=str(path), prefer_names=is_folder)
            directories = (current() if target is None else target).directories
            is_live = is_folder and directories is not None and directories.is_being_written(path)
            return cls(found, models=models, series_budget=series_budget, is_live=is_live)
        except OSError as error:
            raise ResultsError(f"{where} cannot be read: {error.strerror or error}") from error

    @classmethod
    def from_files(
        cls, files: Mapping[str, bytes], *, models: ModelsGiven | None = None, series_budget: int | None = None
    ) -> ResultSet:
        """Return the results in `files`, content by name, such as a record holds; names do not count.

        Raises:
            DuplicateFileError: Two files are the same part.
            MissingFileError: There is no manifest or no table of runs.
            ManifestError: The manifest cannot be read.
            ResultsError: A table is not what a sweep writes.
        """
        return cls(recognise(openers_of(files)), models=models, series_budget=series_budget)

    @property
    def plot(self) -> ResultPlots:
        """Answers drawn with matplotlib, in one style: ``results.plot.response("Infected:max", "infection_rate")``."""
        return ResultPlots(self)

    def to_html(self, *, measures: Sequence[str] = ()) -> str:
        """Return a report: one HTML file with the study, the figures that fit its design, a summary and its failures.

        It needs neither a model nor a script; without matplotlib it has no figures and says so.

        Args:
            measures: What it is about: reducers such as ``Infected:max``, or columns of every run. Without any, of each
                statistic its final value, or where no run differs in that the first reducer in which one does.

        Raises:
            UsageError: There is no such measure.
            TableDamagedError: A table of a search is not one that a search writes.
            MissingFileError: A search came to its end, and a table of it is not there.
        """
        return report_html(self, measures)

    def to_pandas(self, table: str = "runs", *, params: bool = False) -> frames.DataFrame:
        """Return a table as a `pandas.DataFrame`, columns typed and in the order of the file.

        Where two columns have one name, that of every table keeps it, and the other is ``param.NAME``,
        ``reducer.NAME`` or ``stat.NAME``. Where the results come from stands in ``attrs``.

        Args:
            table: ``"runs"``; ``"summary"``, a row a config; or ``"series"`` in long form: run_id, config_id, rep,
                tick, then the statistics.
            params: Whether parameters and action ticks of its run stand before the statistics of each sample. The other
                tables have them in any case.

        Raises:
            NeedsExtraError: pandas is not installed.
            UsageError: There is no such table.
            TableDamagedError: A record of the table is none.
            MissingFileError: The series are asked for, and there is no series.csv.
        """
        return frames.to_frame(self, table, params=params)

    def to_arrow(self, table: str = "runs", *, params: bool = False) -> frames.ArrowTable:
        """Return the same as a `pyarrow.Table`, where the results come from in its metadata.

        Raises:
            NeedsExtraError: pyarrow is not installed.
            UsageError: There is no such table.
            TableDamagedError: A record of the table is none.
            MissingFileError: The series are asked for, and there is no series.csv.
        """
        return frames.to_arrow(self, table, params=params)

    def to_parquet(self, path: str | os.PathLike[str], *, table: str = "runs", params: bool = False) -> None:
        """Write the same to the Parquet file `path`, a few megabytes of the series in memory at a time.

        A file that is there is replaced, and where writing ends early none is left.

        Raises:
            NeedsExtraError: pyarrow is not installed.
            UsageError: There is no such table.
            TableDamagedError: A record of the table is none.
            MissingFileError: The series are asked for, and there is no series.csv.
            OSError: The file cannot be written.
        """
        frames.write_parquet(self, path, table, params=params)

    def to_xarray(self) -> frames.Dataset:
        """Return an `xarray.Dataset` of runs and series over factors, replicates and ticks.

        Where the configs are a full grid, such as those of a factorial block, each factor that varies is a dimension:
        ``(infection_rate, recovery_rate, replicate, tick)``, ``layout`` in its attributes is ``"factors"``, and
        constant parameters are coordinates of no dimension. Elsewhere the dimensions are ``(config, replicate, tick)``,
        parameters are coordinates of ``config``, and ``layout`` is ``"configs"``. Reducers and rows of runs have all
        of them but the tick. A run that ended early is NaN from there on, and one without a row all over.

        Raises:
            NeedsExtraError: xarray is not installed.
            TableDamagedError: A record of series.csv is none.
            MissingFileError: There is no series.csv.
        """
        return frames.to_dataset(self)

    def to_ro_crate(self, *, license: str | None = None) -> bytes:
        """Return ``ro-crate-metadata.json``: the files as an RO-Crate 1.1 of the Process Run Crate profile 0.5.

        It goes into the folder that holds them. It tells their sizes and hashes, the software, and one action a
        session, all by the manifest.

        Args:
            license: What they may be used for, the address of a license or words; None says that nobody has named one.

        Raises:
            ResultsError: Somebody writes the files now, or one cannot be read.
            UsageError: `license` is no text, or an empty one.
        """
        if self.status is ResultStatus.RUNNING:
            raise ResultsError(f"somebody writes into {self.path} now; describe its files once the sweep has ended")
        found = []
        for part, name in self._files.sources.items():
            with self._files.parts[part]() as stream:
                found.append(CrateFile.read(part, name, stream))
        order = {name: position for position, name in enumerate(RESULT_NAMES)}
        found.sort(key=lambda file: (order.get(file.part, len(order)), file.part))
        return crate_of(self.manifest, found, license=license)


def verify(
    path: str | os.PathLike[str],
    *,
    runs: int = 5,
    models: ModelsGiven | None = None,
    run_ids: Sequence[int] | None = None,
    target: Target | None = None,
) -> VerifyReport:
    """Rerun some recorded runs of the directory or zip at `path` and compare them with what was written.

    Args:
        path: A directory of results, or a zip of one; it is only read.
        runs: How many runs; which ones follows from the plan, so that a second call takes the same.
        models: Where the model is found; the examples and installed packages when None.
        run_ids: These runs instead.
        target: The platform, the current one when None.

    Raises:
        NeedsNativeError: This target must not block; use `henad_web.results.verifying.Verification`.
        ResultsError: As `ResultSet.open`, `verify_results` say.
    """
    target = current() if target is None else target
    needed(target.blocking, "a blocking verification", instead="use Verification(results) and its advance")
    return verify_results(ResultSet.open(path, models=models, target=target), runs=runs, run_ids=run_ids)


def _files_at(path: Path, limits: ArchiveLimits) -> tuple[dict[str, Opener], bool]:
    """Return the openers of the files at `path`, and whether it is a directory."""
    if path.is_dir():
        return _files_in(path), True
    if not path.exists():
        raise ResultsError(f"there is nothing at {path}; give a directory of results or a zip of one")
    with path.open("rb") as stream:
        head = stream.read(4)
        if not is_archive(head):
            raise ResultsError(f"{path} is neither a directory nor a zip; give the folder that holds the results")
        stream.seek(0)
        return openers_of(unpack(stream, limits=limits)), False


def _files_in(folder: Path) -> dict[str, Opener]:
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    own = folder / TABLES
    inside = sorted(f"{TABLES}/{entry.name}" for entry in own.iterdir() if entry.is_file()) if own.is_dir() else []
    names += inside
    files = {name: _opener(folder / name) for name in names if name.lower().endswith(_SUFFIXES)}
    if MARKER in names:  # staged tables are whole, and the ones they replace not to be read
        for name in (RUNS, SERIES, MANIFEST, *(path.removesuffix(STAGED) for path in inside)):
            if f"{name}{STAGED}" in names:
                files[name] = _opener(folder / f"{name}{STAGED}", folder / name)
    return files


def _opener(path: Path, renamed: Path | None = None) -> Opener:
    def open_file() -> BinaryIO:
        with _told(path):
            # A writer may have finished its renames since the folder was listed.
            there = renamed if renamed is not None and not path.exists() else path
        return opened_to_read(there, lambda: _told(path))

    return open_file


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}") from error
