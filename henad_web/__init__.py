"""Parameter studies of agent-based models and cellular automata, the same on every target.

Everything a user calls is here; `docs/` describes it.
"""

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
from henad_web.handle import SweepProgress, SweepRun, plan_spec, run_spec
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
    "Backend",
    "BlockSpec",
    "ConcurrencyError",
    "Config",
    "Counts",
    "DesignKind",
    "DirectoryOutput",
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
    "ModelDefinitionError",
    "ModelEntry",
    "ModelMetadata",
    "ModelMismatchError",
    "ModelSchema",
    "ModelSet",
    "ModelState",
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
    "ProbeError",
    "Problem",
    "RangeLevels",
    "ReducerSpec",
    "RefusedBuild",
    "RunFinished",
    "RunOutcome",
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
    "UsageError",
    "ValueLevels",
    "WakeFailed",
    "Warned",
    "__version__",
    "boolean",
    "choice",
    "example_models",
    "f32",
    "load_spec",
    "masked",
    "parse_concurrency",
    "parse_spec",
    "plan_spec",
    "run_spec",
    "spec_hash",
    "spec_to_json",
    "spec_to_toml",
    "u32",
]
