"""Why results that are there cannot be gone on with: one error for each check of a resume and of a merge.

Owns words and fields. Whoever raises one has written nothing.
"""

from __future__ import annotations

from henad_web.errors import MergeError, ResumeError

__all__ = [
    "ColumnsChangedError",
    "ColumnsDifferError",
    "DuplicateRunError",
    "FolderChangedError",
    "MergedRowError",
    "ModeChangedError",
    "NoResultsError",
    "NotASweepError",
    "PlanChangedError",
    "PlanDiffersError",
    "ReplicatesLoweredError",
    "RunIdDiffersError",
    "RunKeyChangedError",
    "RunOutsideShardError",
    "SameShardError",
    "SchemaChangedError",
    "ShardChangedError",
    "UnplannedRunError",
]


class NoResultsError(ResumeError):
    """A folder without a manifest: there is nothing to go on with."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "it holds no manifest.json", instead="start the sweep instead")


class FolderChangedError(ResumeError):
    """A folder that somebody else wrote into between the checks and the lock."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "somebody else has written into it meanwhile", instead="resume it again")


class ModeChangedError(ResumeError):
    """Results of a search where a sweep is meant, or the reverse."""

    def __init__(self, path: str, recorded: str, current: str) -> None:
        super().__init__(
            path,
            "its mode is another one",
            recorded=recorded,
            current=current,
            instead="choose the folder of a sweep",
        )


class SchemaChangedError(ResumeError):
    """The model `model` is no longer the one that the rows were made with."""

    def __init__(self, path: str, model: str, recorded: str, current: str) -> None:
        self.model = model
        super().__init__(
            path,
            f"the schema of the model '{model}' has changed",
            recorded=recorded,
            current=current,
            instead="use the version of the model that wrote the rows, or start anew in another folder",
        )


class PlanChangedError(ResumeError):
    """The spec plans other runs than the recorded one: only replicates and the timeout may change."""

    def __init__(self, path: str, recorded: str, current: str) -> None:
        super().__init__(
            path,
            "the plan hash is another one: the spec differs in more than replicates and timeout",
            recorded=recorded,
            current=current,
            instead="resume without a spec to go on as recorded, or run the new spec into another folder and "
            "reuse this one",
        )


class ShardChangedError(ResumeError):
    """Another part of the plan than the folder holds."""

    def __init__(self, path: str, recorded: str, current: str) -> None:
        super().__init__(
            path,
            "it holds another shard",
            recorded=recorded,
            current=current,
            instead=f"ask for shard {recorded}, or choose the folder of shard {current}",
        )


class ReplicatesLoweredError(ResumeError):
    """Fewer replicates than were planned. `recorded` and `current` are their numbers."""

    recorded: int
    current: int

    def __init__(self, path: str, recorded: int, current: int) -> None:
        super().__init__(
            path,
            "the replicates were lowered",
            recorded=recorded,
            current=current,
            instead=f"ask for {recorded} or more, or run the spec into another folder and reuse this one",
        )


class ColumnsChangedError(ResumeError):
    """The columns of `table` are not the ones recorded; `recorded` and `current` are tuples of names."""

    def __init__(self, path: str, table: str, recorded: tuple[str, ...], current: tuple[str, ...]) -> None:
        self.table = table
        super().__init__(
            path,
            f"the columns of {table} differ",
            recorded=recorded,
            current=current,
            instead="restore the file or the version of the model that wrote it",
        )


class UnplannedRunError(ResumeError):
    """A row of a run that is not in the plan: config `config_id`, replicate `rep`."""

    def __init__(self, path: str, run_id: int, config_id: int, rep: int, *, configs: int, replicates: int) -> None:
        self.run_id, self.config_id, self.rep = run_id, config_id, rep
        super().__init__(
            path,
            f"the row of run {run_id} (config {config_id}, rep {rep}) is of no run of the plan",
            current=f"{configs} configs x {replicates} replicates",
            instead="restore runs.csv, or take the row out",
        )


class RunOutsideShardError(ResumeError):
    """A row of a run that another shard holds."""

    def __init__(self, path: str, run_id: int, shard: str) -> None:
        self.run_id, self.shard = run_id, shard
        super().__init__(
            path,
            f"the row of run {run_id} is not one of shard {shard}",
            instead="restore runs.csv, or take the row out",
        )


class DuplicateRunError(ResumeError):
    """Two rows of one run."""

    def __init__(self, path: str, run_id: int) -> None:
        self.run_id = run_id
        super().__init__(path, f"there are two rows of run {run_id}", instead="take one of them out of runs.csv")


class RunKeyChangedError(ResumeError):
    """A row whose run key is not the one that the plan gives its run."""

    def __init__(self, path: str, run_id: int, recorded: str, current: str) -> None:
        self.run_id = run_id
        super().__init__(
            path,
            f"the row of run {run_id} has another run key than the plan gives it",
            recorded=recorded,
            current=current,
            instead="restore runs.csv, or take the row out to have its run done again",
        )


class NotASweepError(MergeError):
    """An input that is no folder of a sweep. `mode` is what it is, None without a manifest."""

    def __init__(self, path: str, mode: str | None) -> None:
        self.mode = mode
        wrong = "it holds no manifest.json" if mode is None else f"it is of mode '{mode}'"
        super().__init__(path, wrong, instead="give folders of shards of one sweep")


class SameShardError(MergeError):
    """Two inputs of one shard, `other` being the first."""

    def __init__(self, path: str, other: str, shard: str) -> None:
        self.other, self.shard = other, shard
        super().__init__(path, f"it holds shard {shard}, as {other} does", instead="give each shard once")


class PlanDiffersError(MergeError):
    """An input of another plan. `field` names what differs: `expected` in the input `other`, here `found`."""

    def __init__(self, path: str, other: str, field: str, *, expected: object, found: object) -> None:
        self.other, self.field, self.expected, self.found = other, field, expected, found
        super().__init__(
            path,
            f"its {field} is {found}, that of {other} is {expected}",
            instead="give the shards of one sweep, all brought to the same replicates",
        )


class ColumnsDifferError(MergeError):
    """An input whose `table` has other columns than its manifest or another input."""

    def __init__(self, path: str, table: str, *, expected: tuple[str, ...], found: tuple[str, ...]) -> None:
        self.table, self.expected, self.found = table, expected, found
        super().__init__(
            path,
            f"the columns of its {table} are {', '.join(found)}, expected {', '.join(expected)}",
            instead="restore the file",
        )


class MergedRowError(MergeError):
    """A row of an input that cannot be merged: a run given twice, or one of another shard."""

    def __init__(self, path: str, run_id: int, wrong: str) -> None:
        self.run_id = run_id
        super().__init__(path, f"the row of run {run_id} {wrong}", instead="restore runs.csv, or take the row out")


class RunIdDiffersError(MergeError):
    """A row whose id does not fit the plan of its manifest, as replicates raised without a resume leave it."""

    def __init__(self, path: str, run_id: int, config_id: int, rep: int) -> None:
        self.run_id, self.config_id, self.rep = run_id, config_id, rep
        super().__init__(
            path,
            f"the row of run {run_id} says config {config_id}, rep {rep}, which is another run of the recorded plan",
            instead="resume the folder first, which numbers its rows anew",
        )
