"""Parameter studies of agent-based models and cellular automata, the same on every target.

Everything a user calls is here; `docs/` describes it.
"""

from henad_web.calls import merge, plan_spec, run_spec
from henad_web.channel import (
    Failed,
    Finished,
    OutputNotice,
    OutputPaused,
    Planned,
    RunFinished,
    SearchBatchTold,
    SweepEvent,
    SweepPhase,
    SweepWarning,
    WakeFailed,
    Warned,
)
from henad_web.errors import (
    ConcurrencyError,
    HenadError,
    HoldsResultsError,
    LockedError,
    ManifestError,
    MergeError,
    ModelDefinitionError,
    ModelMismatchError,
    NeedsNativeError,
    OutputError,
    OutputFullError,
    ParamError,
    Place,
    PlanError,
    ProbeError,
    Problem,
    ResumeError,
    ShardError,
    SpecError,
    StatsShapeError,
    SweepFailedError,
    SweepInterruptedError,
    UnknownModelError,
    UsageError,
)
from henad_web.explore.outcomes import PlannedRun, RunOutcome, RunStatus, Series, StopReason
from henad_web.explore.plan import Config, Plan, PlannedBlock
from henad_web.explore.shards import Shard
from henad_web.explore.spec import (
    ActionSpec,
    AllLevels,
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    FactorSpec,
    MeasureSettings,
    RangeLevels,
    ReducerSpec,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopSpec,
    SweepSpec,
    ValueLevels,
)
from henad_web.explore.spec_file import (
    LoadedSpec,
    SpecFormat,
    SpecSource,
    load_spec,
    parse_spec,
    spec_hash,
    spec_to_json,
    spec_to_toml,
)
from henad_web.explore.warnings import ActionAfterEnd
from henad_web.handle import SweepProgress, SweepRun
from henad_web.model.actions import Action
from henad_web.model.entry import Backend, ModelEntry, ModelMetadata, Topology
from henad_web.model.faults import RefusedBuild
from henad_web.model.params import Param, boolean, choice, f32, u32
from henad_web.model.registry import ModelSet
from henad_web.model.schema import ModelSchema
from henad_web.model.state import ModelState
from henad_web.model.stats import Stat
from henad_web.models import example_models
from henad_web.output.masking import masked
from henad_web.output.places import DirectoryOutput, MemoryOutput, OutputPlace
from henad_web.output.record import Counts, SweepEnd, SweepRecord, SweepReport
from henad_web.result_set import ResultSet, verify
from henad_web.results.errors import (
    ArchiveError,
    BadFieldError,
    DuplicateFileError,
    MissingColumnError,
    MissingFileError,
    ModelChangedError,
    NeedsExtraError,
    ResultsError,
    UnknownRunError,
)
from henad_web.results.merging import MergeReport, MissingRuns
from henad_web.results.provenance import BuildChanged, PlatformChanged
from henad_web.results.recorded import ResultStatus, RunSeries
from henad_web.results.replaying import Replay
from henad_web.results.runs import RecordedRun, RecordedRuns
from henad_web.results.series import RecordedSeries
from henad_web.results.summary import RecordedSummary
from henad_web.results.verifying import Difference, Verification, VerifyReport
from henad_web.run.active_runs import ActiveRun
from henad_web.run.lanes import RunView
from henad_web.run.layout import ExecutionLayout, parse_concurrency
from henad_web.run.options import SweepRunOptions
from henad_web.run.outline import SweepOutline
from henad_web.version import VERSION as __version__

__all__ = [
    "Action",
    "ActionAfterEnd",
    "ActionSpec",
    "ActiveRun",
    "AllLevels",
    "ArchiveError",
    "Backend",
    "BadFieldError",
    "BlockSpec",
    "BuildChanged",
    "ConcurrencyError",
    "Config",
    "Counts",
    "DesignKind",
    "Difference",
    "DirectoryOutput",
    "DuplicateFileError",
    "ExecutionLayout",
    "ExecutionSettings",
    "FactorSpec",
    "Failed",
    "Finished",
    "HenadError",
    "HoldsResultsError",
    "LoadedSpec",
    "LockedError",
    "ManifestError",
    "MeasureSettings",
    "MemoryOutput",
    "MergeError",
    "MergeReport",
    "MissingRuns",
    "MissingColumnError",
    "MissingFileError",
    "ModelChangedError",
    "ModelDefinitionError",
    "ModelEntry",
    "ModelMetadata",
    "ModelMismatchError",
    "ModelSchema",
    "ModelSet",
    "ModelState",
    "NeedsExtraError",
    "NeedsNativeError",
    "OutputError",
    "OutputFullError",
    "OutputNotice",
    "OutputPaused",
    "OutputPlace",
    "Param",
    "ParamError",
    "Place",
    "Plan",
    "PlanError",
    "Planned",
    "PlannedBlock",
    "PlannedRun",
    "PlatformChanged",
    "ProbeError",
    "Problem",
    "RangeLevels",
    "RecordedRun",
    "RecordedRuns",
    "RecordedSeries",
    "RecordedSummary",
    "ReducerSpec",
    "RefusedBuild",
    "Replay",
    "ResultSet",
    "ResultStatus",
    "ResultsError",
    "ResumeError",
    "RunFinished",
    "RunOutcome",
    "RunSeries",
    "RunSettings",
    "RunStatus",
    "RunView",
    "SearchBatchTold",
    "SeedScheme",
    "SeedSettings",
    "Series",
    "Shard",
    "ShardError",
    "SpecError",
    "SpecFormat",
    "SpecSource",
    "Stat",
    "StatsShapeError",
    "StopReason",
    "StopSpec",
    "SweepEnd",
    "SweepEvent",
    "SweepFailedError",
    "SweepInterruptedError",
    "SweepOutline",
    "SweepPhase",
    "SweepProgress",
    "SweepRecord",
    "SweepReport",
    "SweepRun",
    "SweepRunOptions",
    "SweepSpec",
    "SweepWarning",
    "Topology",
    "UnknownModelError",
    "UnknownRunError",
    "UsageError",
    "ValueLevels",
    "Verification",
    "VerifyReport",
    "WakeFailed",
    "Warned",
    "__version__",
    "boolean",
    "choice",
    "example_models",
    "f32",
    "load_spec",
    "masked",
    "merge",
    "parse_concurrency",
    "parse_spec",
    "plan_spec",
    "run_spec",
    "spec_hash",
    "spec_to_json",
    "spec_to_toml",
    "u32",
    "verify",
]
