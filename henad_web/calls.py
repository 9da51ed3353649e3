"""Whole pieces of work in one call: a blocking run, a dry run, a merge.

Owns what each is made of: whether results are gone on with, and what a target must have for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from henad_web.channel import SweepEvent, SweepWarning
from henad_web.errors import UsageError
from henad_web.explore.search_spec import SearchAlgorithm
from henad_web.explore.spec import spec_of
from henad_web.handle import SweepProgress, SweepRun, new_setup, resumed_setup
from henad_web.model.decimals import whole_text
from henad_web.model.entry import checked_entry
from henad_web.output.store import DirectoryOutput, OutputPlace, checked_output, checked_path
from henad_web.resume.merging import MergeReport, merge_shards
from henad_web.run.options import SweepRunOptions, given_options, given_spec
from henad_web.search.custom import asking_nothing
from henad_web.targets import Directories, Target, current, needed

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.explore.spec_file import LoadedSpec
    from henad_web.model.entry import EntryGiven
    from henad_web.output.record import SweepRecord
    from henad_web.run.outline import SweepOutline
    from henad_web.search.custom import SearcherFactory

__all__ = ["merge", "plan_spec", "resume_sweep", "run_spec"]


def run_spec(
    entry: EntryGiven,
    spec: SweepSpec | LoadedSpec,
    *,
    output: OutputPlace | None = None,
    options: SweepRunOptions | None = None,
    progress: Callable[[SweepEvent | SweepProgress], None] | None = None,
    resume: bool = False,
    searcher: SearcherFactory | None = None,
    target: Target | None = None,
) -> SweepRecord:
    """Run `spec` to its end and return its record; for hosts that may block.

    Args:
        entry: The model the spec names.
        spec: The study. One that was loaded brings its source, and its ``[execution]`` where `options` are at their
            defaults.
        output: Where the files go, memory when None.
        options: Settings that change no result.
        progress: Called with each event and, about five times a second, with the progress.
        resume: Whether to go on with results that are in `output`; without any there the sweep just starts. Not
            together with an `output` that overwrites.
        searcher: What makes the searcher of a custom search, from its plan.
        target: The platform, the current one when None.

    Raises:
        NeedsNativeError: This target must not block.
        SweepFailedError: The sweep ended on its own error.
        SweepInterruptedError: Ctrl-C; the sweep was aborted and its files are written.
        HenadError: Whatever `SweepRun.start` and, with `resume`, `SweepRun.resume_directory` raise.
    """
    target = current() if target is None else target
    entry = checked_entry(entry)
    _, options = given_spec(spec, options)
    output = _checked(output, resume=resume)

    def start(options: SweepRunOptions) -> SweepRun:
        if resume and isinstance(output, DirectoryOutput) and _directories(target).holds_results(output.path):
            return SweepRun.resume_directory(entry, output.path, options, spec=spec, searcher=searcher, target=target)
        return SweepRun.start(entry, spec, output, options, searcher=searcher, target=target)

    return _run_blocking(target, start, options, progress)


def resume_sweep(
    entry: EntryGiven,
    path: str | os.PathLike[str],
    *,
    options: SweepRunOptions | None = None,
    progress: Callable[[SweepEvent | SweepProgress], None] | None = None,
    searcher: SearcherFactory | None = None,
    target: Target | None = None,
) -> SweepRecord:
    """Go on with the results in the directory `path`, by their recorded spec, and return the record.

    Args:
        entry: The model of the results.
        path: Directory of results, whole or interrupted at any moment.
        options: Settings that change no result.
        progress: Called with each event and, about five times a second, with the progress.
        searcher: What makes the searcher of a custom search, as it was given at the start.
        target: The platform, the current one when None.

    Raises:
        HenadError: Whatever `run_spec` and `SweepRun.resume_directory` raise.
    """
    target = current() if target is None else target
    path, entry = checked_path(path, "the path of results"), checked_entry(entry)

    def start(options: SweepRunOptions) -> SweepRun:
        return SweepRun.resume_directory(entry, path, options, searcher=searcher, target=target)

    return _run_blocking(target, start, given_options(options), progress)


def _run_blocking(
    target: Target,
    start: Callable[[SweepRunOptions], SweepRun],
    options: SweepRunOptions,
    progress: Callable[[SweepEvent | SweepProgress], None] | None,
) -> SweepRecord:
    progress = _checked_listener(progress)
    instead = "use SweepRun.start and update, or `async for` its events"
    return needed(target.blocking, "a blocking run", instead=instead)(start, options=options, progress=progress)


def _directories(target: Target) -> Directories:
    return needed(target.directories, "a directory of results")


def plan_spec(
    entry: EntryGiven,
    spec: SweepSpec | LoadedSpec,
    *,
    output: OutputPlace | None = None,
    options: SweepRunOptions | None = None,
    resume: bool = False,
    searcher: SearcherFactory | None = None,
    target: Target | None = None,
) -> SweepOutline:
    """Plan and probe `spec` without running or writing anything, and return the outline a sweep of it would have.

    With `resume`, results in `output` count as a resume would skip them; those of a custom search need its `searcher`
    for that.

    Raises:
        ProbeError: None of the configs tried can be built.
        HenadError: Whatever `SweepRun.start` raises; an `output` that is not free is refused here too.
    """
    target = current() if target is None else target
    place = _checked(output, resume=resume)
    if resume and isinstance(place, DirectoryOutput) and _directories(target).holds_results(place.path):
        path, directories = place.path, _directories(target)
        setup = resumed_setup(
            entry, spec, options, target, lambda options: directories.open_results(path, force=options.force), searcher
        )
    else:
        search = spec_of(spec).search
        is_custom = search is not None and search.algorithm is SearchAlgorithm.CUSTOM
        setup = new_setup(entry, spec, place, options, target, asking_nothing if is_custom else None)
    # Here the calling thread builds models, and a user's interrupt is none of a model's doing.
    setup = replace(setup, around=replace(setup.around, takes_interrupts=False))
    probe = setup.probe().run_to_end()
    return setup.outline(probe, setup.measured(probe), dry_run=True)


_Heard = TypeVar("_Heard")


def _checked_listener(progress: _Heard) -> _Heard:
    if progress is None or callable(progress):
        return progress
    raise UsageError(f"progress is {whole_text(progress)}; allowed: a function of one argument, or None")


def _checked(output: OutputPlace | None, *, resume: bool) -> OutputPlace:
    output = checked_output(output)
    if resume and isinstance(output, DirectoryOutput) and output.overwrite:
        raise UsageError(f"{output} with resume=True; results are gone on with or overwritten, not both")
    return output


def merge(
    inputs: Sequence[str | os.PathLike[str]],
    output_dir: str | os.PathLike[str],
    *,
    options: SweepRunOptions | None = None,
    progress: Callable[[SweepWarning], None] | None = None,
    target: Target | None = None,
) -> MergeReport:
    """Merge shards of one sweep into the folder that the whole sweep would have left.

    Missing runs are warned of and can be run by resuming the merged folder.

    Args:
        inputs: Directories of shards, in any order.
        output_dir: An empty or new directory.
        options: Settings that change no result; of these `force` counts here.
        progress: Called with each warning; the report has them all as well.
        target: The platform, the current one when None.

    Raises:
        NeedsNativeError: This target has no directories.
        MergeError: The inputs are not shards of one sweep, or a row is not one of its shard; nothing was written.
        LockedError: Somebody writes into one of the directories.
        HoldsResultsError: `output_dir` holds results already.
        OutputError: Something cannot be read or written.
        UsageError: `inputs` is one path instead of several.
    """
    if isinstance(inputs, (str, bytes, os.PathLike)):
        raise UsageError(f"the inputs of a merge are {inputs!r}; allowed: a list of folders, such as [{inputs!r}, ...]")
    if not isinstance(inputs, Iterable):
        raise UsageError(f"the inputs of a merge are {whole_text(inputs)}; allowed: a list of folders")
    inputs = [checked_path(path, "an input of a merge") for path in inputs]
    output_dir = checked_path(output_dir, "the folder of a merge")
    target = current() if target is None else target
    options, progress = given_options(options), _checked_listener(progress)
    directories = needed(target.directories, "a merge of directories")
    store = directories.open_output(DirectoryOutput(output_dir), force=options.force)
    readers = [directories.open_results(path, force=options.force) for path in inputs]
    report = merge_shards(readers, store, target.surroundings().author)
    if progress is not None:
        for warning in report.warnings:
            progress(warning)
    return report
