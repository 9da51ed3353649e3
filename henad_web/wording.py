"""Words that every place which tells of a sweep shares: counts, sizes, times, how far it is, and commands to type.

Pure functions of values. What the page or the terminal alone says stays with it (`web/wording.py`, `cli/texts.py`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from henad_web.errors import counted
from henad_web.models import example_models

if TYPE_CHECKING:
    from henad_web.explore.plan import PlannedBlock
    from henad_web.explore.search_spec import ObjectiveSpec
    from henad_web.handle import SweepProgress
    from henad_web.output.manifest import Manifest
    from henad_web.output.record import Counts
    from henad_web.run.outline import SearchOutline
    from henad_web.search.update import SearchUpdate

__all__ = [
    "about_text",
    "amount",
    "block_facts",
    "byte_text",
    "counts_text",
    "duration_text",
    "henad_command",
    "models_named",
    "most_text",
    "objective_text",
    "progress_text",
    "runs_text",
    "search_standing_text",
    "size_text",
]


def amount(count: int, noun: str) -> str:
    """Return `count` with its noun for people to read, such as ``1 run`` or ``12,000 runs``."""
    return counted(count, noun, grouped=True)


def byte_text(count: int) -> str:
    """Return `count` bytes as ``512 bytes``, ``1.5 KiB``, ``2.0 MiB`` and so on."""
    if count < 1024:
        return counted(count, "byte")
    size = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1023.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TiB"


def duration_text(seconds: float) -> str:
    """Return a time span such as ``4.2s``, ``42s``, ``3m 07s`` or ``2h 05m``; never negative."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,}h {minutes:02d}m"


def counts_text(counts: Counts) -> str:
    """Return rows by how they ended, such as ``1,199 ok, 0 non-finite, 1 failed``."""
    return f"{counts.ok:,} ok, {counts.non_finite:,} non-finite, {counts.failed:,} failed"


def about_text(seconds: float) -> str:
    """Return a guessed time as ``under 1 ms``, ``about 40 ms``, ``about 3.2 s``, ``about 12 min`` or ``about 3 h``."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 0.9995:
        return f"about {seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"about {seconds:.1f} s"
    if seconds < 119.5:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7170.0 else f"about {seconds / 3600:.0f} h"


def size_text(
    configs: int, replicates: int, runs: int, *, times: str = "x", noun: str = "config", least: int | None = None
) -> str:
    """Return the size of a plan, such as ``6 configs x 3 replicates = 18 runs``.

    Args:
        configs: Its configs, or what `noun` says instead.
        replicates: Runs of each.
        runs: All of them.
        times: The sign between the two; not every terminal has the page's.
        noun: What has the replicates: a search has evaluations.
        least: Fewest runs of each where replicates are adaptive, None where all have as many.
    """
    each = amount(replicates, "replicate") if least is None else f"{least:,} to {amount(replicates, 'replicate')}"
    return f"{amount(configs, noun)} {times} {each} = {most_text(runs, is_most=least is not None)}"


def most_text(runs: int, *, is_most: bool) -> str:
    """Return ``60 runs``, or ``up to 60 runs`` where that `is_most` there may be."""
    return f"{'up to ' if is_most else ''}{amount(runs, 'run')}"


def block_facts(blocks: Iterable[PlannedBlock]) -> Iterator[tuple[str, str]]:
    """Yield a label and a text for each of `blocks`, the factors of each behind it without a label."""
    for index, block in enumerate(blocks):
        text = f"{block.design}, {amount(block.config_count, 'config')}"
        yield f"block {index}", text if block.design_seed is None else f"{text}, design seed {block.design_seed}"
        yield from (("", f"{factor.name}: {factor.levels}") for factor in block.factors)


def objective_text(objective: ObjectiveSpec) -> str:
    """Return what a search is for."""
    return f"{objective.goal} the {objective.aggregate} of {objective.column}"


def runs_text(done: int, total: int, *, kept: int = 0, failed: int = 0, is_most: bool = False) -> str:
    """Return ``12 of 60 runs``, and how many more are `kept` from before and have `failed` where there are any."""
    parts = [f"{done:,} of {most_text(total, is_most=is_most)}"]
    parts += [f"{count:,} {what}" for count, what in ((kept, "kept"), (failed, "failed")) if count]
    return " · ".join(parts)


def progress_text(progress: SweepProgress) -> str:
    """Return how far a sweep is, such as ``12 of 60 runs · 1 failed · about 16s left``, as far as it is known."""
    done, failed = progress.runs_done, progress.runs_failed
    kept, is_most = progress.runs_skipped, progress.total_is_most
    parts = [runs_text(done, progress.runs_total, kept=kept, failed=failed, is_most=is_most)]
    if progress.fraction is not None:
        parts.append(f"{'summary' if progress.is_planned else 'planning'} {int(progress.fraction * 100)} %")
    elif not progress.is_planned:
        parts.append("trying the model")
    if progress.remaining is not None:
        about = "at most about" if is_most else "about"
        parts.append(f"{about} {_whole_text(progress.remaining)} left")
    return " · ".join(parts)


def search_standing_text(search: SearchOutline, update: SearchUpdate | None) -> str:
    """Return where a search stands: what is used of its budget, its generation, and its best, front or cells.

    Such as ``64 of 480 evaluations · generation 1 · best 212 (candidate 41)``.

    Args:
        search: What it is about.
        update: What it told last, None before the first batch.
    """
    told = 0 if update is None else update.evaluations
    parts = [f"{told:,} of {amount(search.max_evaluations, 'evaluation')}"]
    if update is not None:
        if update.generation_count:
            parts.append(f"generation {update.generation_count - 1:,}")
        if update.front_size is not None:
            parts.append(f"{amount(update.front_size, 'candidate')} in its front")
        if update.best is not None:
            parts.append(f"best {update.best.objective:g} (candidate {update.best.candidate_id:,})")
        if search.pattern_axes is not None:
            x_axis, y_axis = search.pattern_axes
            parts.append(f"{update.filled_cells:,} of {amount(x_axis.cells * y_axis.cells, 'cell')} met")
    return " · ".join(parts)


def _whole_text(seconds: float) -> str:
    # An estimate with a decimal would claim more than it knows.
    return duration_text(seconds) if seconds >= 9.95 else f"{max(1, round(seconds))}s"


def henad_command(verb: str, path: str | None, *more: str, models: str | None = None) -> str:
    """Return the command that does `verb` with the results at `path`, ready to be typed.

    Args:
        verb: ``resume``, ``verify`` or another command of `henad`.
        path: The folder, None where its name is not known.
        more: Further words.
        models: What ``--models`` is to name, None for a model that needs none.
    """
    named = () if models is None else ("--models", models)
    return shlex.join(("henad", verb, path or "DIR", *more, *named))


def models_named(manifest: Manifest) -> str | None:
    """Return what ``--models`` must name for the model of `manifest`.

    As the command line that wrote the folder named it, or ``FILE`` where a program wrote it; None for an example, and
    for what `henad run` found without being told, which is a model of an installed package.
    """
    argv = manifest.argv
    if argv and _is_henad(argv[0]):
        for word, following in zip(argv, (*argv[1:], None), strict=True):
            option, equals, value = word.partition("=")
            if option == "--models":
                return value if equals else following
        if argv[1:2] == ("run",):
            return None
    is_own = any(isinstance(session.model_source, str) for session in manifest.sessions)
    return "FILE" if is_own or manifest.model.id not in example_models() else None


def _is_henad(program: str) -> bool:
    # The arguments of another program may mean anything.
    path = PurePath(program.replace("\\", "/"))
    return path.stem == "henad" or path.parts[-2:] == ("henad_web", "__main__.py")
