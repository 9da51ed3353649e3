"""Why results that are there cannot be gone on with, or folders not be merged: one reason a check.

Owns reasons, words and fields. Whoever raises one of these errors has written nothing.
"""

from __future__ import annotations

from enum import StrEnum

from henad_web.errors import OutputError

__all__ = ["MergeError", "MergeReason", "ResumeError", "ResumeReason"]


class ResumeReason(StrEnum):
    """The check of a resume or a reuse that failed."""

    NO_RESULTS = "no_results"
    FOLDER_CHANGED = "folder_changed"
    MODE_CHANGED = "mode_changed"
    SCHEMA_CHANGED = "schema_changed"
    PLAN_CHANGED = "plan_changed"
    SEARCH_CHANGED = "search_changed"
    TABLES_CHANGED = "tables_changed"
    SHARD_CHANGED = "shard_changed"
    REPLICATES_LOWERED = "replicates_lowered"
    COLUMNS_CHANGED = "columns_changed"
    UNPLANNED_RUN = "unplanned_run"
    RUN_OUTSIDE_SHARD = "run_outside_shard"
    DUPLICATE_RUN = "duplicate_run"
    RUN_KEY_CHANGED = "run_key_changed"
    SEARCH_RUN_CHANGED = "search_run_changed"
    SERIES_OUT_OF_ORDER = "series_out_of_order"
    SUPERFLUOUS_RUN = "superfluous_run"


class MergeReason(StrEnum):
    """The check of a merge that failed."""

    NO_RESULTS = "no_results"
    NOT_A_SWEEP = "not_a_sweep"
    PLAN_DIFFERS = "plan_differs"
    SAME_SHARD = "same_shard"
    COLUMNS_DIFFER = "columns_differ"
    RUN_ID_DIFFERS = "run_id_differs"
    RUN_OUTSIDE_SHARD = "run_outside_shard"
    DUPLICATE_RUN = "duplicate_run"
    SUPERFLUOUS_RUN = "superfluous_run"
    NO_ROWS = "no_rows"


_RESTORE_RUNS = "restore runs.csv, or take the row out"
_SUPERFLUOUS = (
    "the row of run {run_id} (config {config_id}, rep {rep}) is behind the round at which its config was narrow enough",
    "restore runs.csv, or the spec that decided how many replicates there are",
)
_GIVE_SHARDS = "give folders of shards of one sweep"

_RESUME_WORDS: dict[ResumeReason, tuple[str, str]] = {
    ResumeReason.NO_RESULTS: ("it holds no manifest.json", "start the sweep into a new folder instead"),
    ResumeReason.FOLDER_CHANGED: ("somebody else has written into it meanwhile", "resume it again"),
    ResumeReason.MODE_CHANGED: ("its mode is another one", "choose the folder of a {current}"),
    ResumeReason.SCHEMA_CHANGED: (
        "the schema of the model '{model}' has changed",
        "use the version of the model that wrote the rows, or start anew in another folder",
    ),
    ResumeReason.PLAN_CHANGED: (
        "the plan hash is another one: the spec differs in more than the number of replicates and the timeout",
        "resume without a spec to go on as recorded, or run the new spec into another folder and reuse this one",
    ),
    ResumeReason.SEARCH_CHANGED: (
        "the search hash is another one: the spec differs in more than the timeout",
        "resume without a spec to go on as recorded, or run the new spec into another folder",
    ),
    ResumeReason.TABLES_CHANGED: (
        "other tables of the model's own are asked for, or at other ticks",
        "resume without a spec and with the model that wrote the rows, or run the new spec into another folder",
    ),
    ResumeReason.SHARD_CHANGED: (
        "it holds another shard",
        "ask for shard {recorded}, or choose the folder of shard {current}",
    ),
    ResumeReason.REPLICATES_LOWERED: (
        "the replicates were lowered",
        "ask for {recorded} or more, or run the spec into another folder and reuse this one",
    ),
    ResumeReason.COLUMNS_CHANGED: (
        "the columns of {table} differ",
        "restore the file or the version of the model that wrote it",
    ),
    ResumeReason.UNPLANNED_RUN: (
        "the row of run {run_id} (config {config_id}, rep {rep}) is of no run of the plan",
        _RESTORE_RUNS,
    ),
    ResumeReason.RUN_OUTSIDE_SHARD: ("the row of run {run_id} is not one of shard {shard}", _RESTORE_RUNS),
    ResumeReason.DUPLICATE_RUN: ("there are two rows of run {run_id}", "take one of them out of runs.csv"),
    ResumeReason.RUN_KEY_CHANGED: (
        "the row of run {run_id} has another run key than the plan gives it",
        f"{_RESTORE_RUNS} to have its run done again",
    ),
    ResumeReason.SEARCH_RUN_CHANGED: (
        "the search would not have asked for what row {run_id} of runs.csv is of",
        "restore runs.csv, or take that row and all behind it out to have their runs done again",
    ),
    ResumeReason.SERIES_OUT_OF_ORDER: (
        "the rows of run {run_id} in series.csv do not stand behind those of earlier runs",
        "restore series.csv, or take it out to have every run done again",
    ),
    ResumeReason.SUPERFLUOUS_RUN: _SUPERFLUOUS,
}
"""What is wrong and what to do instead, by reason; fields of the error in braces."""

_MERGE_WORDS: dict[MergeReason, tuple[str, str]] = {
    MergeReason.NO_RESULTS: ("it holds no manifest.json", _GIVE_SHARDS),
    MergeReason.NOT_A_SWEEP: ("it is of mode '{found}'", _GIVE_SHARDS),
    MergeReason.PLAN_DIFFERS: (
        "its {field} is {found}, that of {other} is {expected}",
        "give the shards of one sweep, all brought to the same replicates",
    ),
    MergeReason.SAME_SHARD: ("it holds shard {shard}, as {other} does", "give each shard once"),
    MergeReason.COLUMNS_DIFFER: ("the columns of its {table} are {found}, expected {expected}", "restore the file"),
    MergeReason.RUN_ID_DIFFERS: (
        "the row of run {run_id} says config {config_id}, rep {rep}, which is another run of the recorded plan",
        "resume the folder first, which numbers its rows anew",
    ),
    MergeReason.RUN_OUTSIDE_SHARD: ("the row of run {run_id} is not one of shard {shard}", _RESTORE_RUNS),
    MergeReason.DUPLICATE_RUN: ("the row of run {run_id} is there twice", _RESTORE_RUNS),
    MergeReason.SUPERFLUOUS_RUN: _SUPERFLUOUS,
    MergeReason.NO_ROWS: ("none of the folders has a row", "resume them first"),
}


class ResumeError(OutputError):
    """Results that cannot be gone on with, or not be reused. Nothing was touched.

    Attributes:
        reason: Which check failed.
        wrong: What is wrong, one clause.
        recorded: What the folder says, None where there is nothing to compare.
        current: What was asked for.
        model: Id of the model whose schema has changed.
        table: Name of the table whose columns differ; `recorded` and `current` are tuples of their names.
        run_id: The run whose row is wrong, by its id in the plan; of a run that is not in it, the id in the row;
            of a run that a search would not have asked for, the position of its row.
        config_id: Config in a row of no run of the plan, or of one that adaptive replicates did not ask for.
        rep: Replicate there.
        shard: The shard that `run_id` is not one of.
    """

    def __init__(
        self,
        reason: ResumeReason,
        path: str,
        *,
        recorded: object = None,
        current: object = None,
        model: str | None = None,
        table: str | None = None,
        run_id: int | None = None,
        config_id: int | None = None,
        rep: int | None = None,
        shard: str | None = None,
    ) -> None:
        self.reason, self.recorded, self.current, self.model, self.table = reason, recorded, current, model, table
        self.run_id, self.config_id, self.rep, self.shard = run_id, config_id, rep, shard
        self.wrong, instead = (words.format(**vars(self)) for words in _RESUME_WORDS[reason])
        said = [("recorded", recorded), ("current", current)]
        values = ", ".join(f"{name} {_listed(value)}" for name, value in said if value is not None)
        text = f"{self.wrong}: {values}" if values else self.wrong
        super().__init__(f"cannot go on with {path}: {text}; {instead}; nothing was touched", path=path)


class MergeError(OutputError):
    """A folder, `path`, that cannot be merged with the others. Nothing was written.

    Attributes:
        reason: Which check failed.
        wrong: What is wrong, one clause.
        other: The folder that this one disagrees with.
        field: Name of what differs between the plans of the two.
        expected: What the other folder or the manifest says; a tuple for names of columns.
        found: What this one says; the mode of a folder that is no sweep's.
        table: Name of the table whose columns differ.
        shard: The shard that is there twice, or that `run_id` is not one of.
        run_id: The run whose row is wrong, as the row has it.
        config_id: Config in a row whose id does not fit the recorded plan, or that adaptive replicates did not ask for.
        rep: Replicate there.
    """

    def __init__(
        self,
        reason: MergeReason,
        path: str,
        *,
        other: str | None = None,
        field: str | None = None,
        expected: object = None,
        found: object = None,
        table: str | None = None,
        shard: str | None = None,
        run_id: int | None = None,
        config_id: int | None = None,
        rep: int | None = None,
    ) -> None:
        self.reason, self.other, self.field, self.expected, self.found = reason, other, field, expected, found
        self.table, self.shard, self.run_id, self.config_id, self.rep = table, shard, run_id, config_id, rep
        said = {**vars(self), "expected": _listed(expected), "found": _listed(found)}
        self.wrong, instead = (words.format(**said) for words in _MERGE_WORDS[reason])
        super().__init__(f"cannot merge {path}: {self.wrong}; {instead}; nothing was written", path=path)


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
