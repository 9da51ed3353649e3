"""Parameter studies of agent-based models and cellular automata, the same on every target.

Everything a user calls is here; `docs/` describes it.
"""

from henad_web.adapters.agentpy import from_agentpy
from henad_web.adapters.mesa import from_mesa
from henad_web.calls import merge, plan_spec, resume_sweep, run_spec
from henad_web.channel import (
    Failed,
    Finished,
    OutputPaused,
    Planned,
    RunFinished,
    SearchBatchTold,
    SweepEvent,
    SweepPhase,
    SweepWarning,
    Warned,
)
from henad_web.errors import (
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
    PlanError,
    ProbeError,
    ResultsError,
    SpecError,
    SweepFailedError,
    SweepInterruptedError,
    TableChangedError,
    TableDamagedError,
    UnknownModelError,
    UsageError,
)
from henad_web.explore.outcomes import PlannedRun, RunOutcome, RunStatus, StopReason
from henad_web.explore.plan import Plan
from henad_web.explore.plan_table import freeze, plan_columns, plan_table
from henad_web.explore.search_spec import (
    Aggregate,
    AxisSpec,
    CmaEsSettings,
    GeneticSettings,
    Goal,
    HillClimbSettings,
    Nsga2Settings,
    ObjectiveSpec,
    PseSettings,
    SearchAlgorithm,
    SearchSpec,
)
from henad_web.explore.shards import Shard
from henad_web.explore.spec import (
    ActionSpec,
    AdaptiveReplicates,
    AllLevels,
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    FactorSpec,
    MeasureSettings,
    Precision,
    RangeLevels,
    ReducerSpec,
    RunOrder,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopExpression,
    StopSpec,
    SweepSpec,
    ValueLevels,
)
from henad_web.explore.spec_file import LoadedSpec, load_spec, parse_spec, spec_hash, spec_to_json, spec_to_toml
from henad_web.handle import SweepProgress, SweepRun
from henad_web.importers.importing import ImportOptions, import_spec
from henad_web.model.base import GridModel, Model
from henad_web.model.batches import Batch
from henad_web.model.declarations import action, boolean, choice, f32, f64, i64, stat, table, text, u32
from henad_web.model.entry import Backend, BatchOffer, ModelEntry, ModelMetadata, ModelSet, Topology
from henad_web.model.faults import RefusedBuild
from henad_web.model.functions import from_function
from henad_web.model.grid import grid_params
from henad_web.model.odd import describe_model
from henad_web.model.params import Apply, Format, Param, ParamValue
from henad_web.model.schema import Action, ModelSchema, Stat
from henad_web.model.state import ModelState
from henad_web.model.tables import Table
from henad_web.models import example_models
from henad_web.models.installed import installed_models
from henad_web.notebook import ProgressBar
from henad_web.output.masking import masked
from henad_web.output.record import SearchReport, SweepEnd, SweepRecord
from henad_web.output.store import DirectoryOutput, MemoryOutput
from henad_web.plots.canvas import figure_bytes
from henad_web.randomness.generators import generator, py_random
from henad_web.result_set import ResultSet, verify
from henad_web.results.archive import ArchiveLimits
from henad_web.results.errors import ArchiveError, MissingFileError, NeedsExtraError, UnknownRunError
from henad_web.results.search import SearchHistory
from henad_web.results.verifying import Verification, verify_results
from henad_web.resume.errors import MergeError, MergeReason, ResumeError, ResumeReason
from henad_web.run.active_runs import ActiveRun
from henad_web.run.lanes import RunView
from henad_web.run.options import OnFull, SweepRunOptions
from henad_web.run.outline import SweepOutline
from henad_web.search.plan import SearchPlan
from henad_web.search.update import SearchUpdate
from henad_web.version import VERSION as __version__

__all__ = [
    "Action",
    "ActionSpec",
    "ActiveRun",
    "AdaptiveReplicates",
    "Aggregate",
    "AllLevels",
    "Apply",
    "ArchiveError",
    "ArchiveLimits",
    "AxisSpec",
    "Backend",
    "Batch",
    "BatchOffer",
    "BlockSpec",
    "CmaEsSettings",
    "DesignKind",
    "DirectoryOutput",
    "ExecutionSettings",
    "FactorSpec",
    "Failed",
    "Finished",
    "Format",
    "GeneticSettings",
    "Goal",
    "GridModel",
    "HenadError",
    "HillClimbSettings",
    "HoldsResultsError",
    "ImportOptions",
    "LoadedSpec",
    "LockedError",
    "ManifestError",
    "MeasureSettings",
    "MemoryOutput",
    "MergeError",
    "MergeReason",
    "MissingFileError",
    "Model",
    "ModelDefinitionError",
    "ModelEntry",
    "ModelMetadata",
    "ModelMismatchError",
    "ModelSchema",
    "ModelSet",
    "ModelState",
    "NeedsExtraError",
    "NeedsNativeError",
    "Nsga2Settings",
    "ObjectiveSpec",
    "OnFull",
    "OutputError",
    "OutputFullError",
    "OutputPaused",
    "Param",
    "ParamError",
    "ParamValue",
    "Plan",
    "PlanError",
    "Planned",
    "PlannedRun",
    "Precision",
    "ProbeError",
    "ProgressBar",
    "PseSettings",
    "RangeLevels",
    "ReducerSpec",
    "RefusedBuild",
    "ResultSet",
    "ResultsError",
    "ResumeError",
    "ResumeReason",
    "RunFinished",
    "RunOrder",
    "RunOutcome",
    "RunSettings",
    "RunStatus",
    "RunView",
    "SearchAlgorithm",
    "SearchBatchTold",
    "SearchHistory",
    "SearchPlan",
    "SearchReport",
    "SearchSpec",
    "SearchUpdate",
    "SeedScheme",
    "SeedSettings",
    "Shard",
    "SpecError",
    "Stat",
    "StopExpression",
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
    "SweepRun",
    "SweepRunOptions",
    "SweepSpec",
    "SweepWarning",
    "Table",
    "TableChangedError",
    "TableDamagedError",
    "Topology",
    "UnknownModelError",
    "UnknownRunError",
    "UsageError",
    "ValueLevels",
    "Verification",
    "Warned",
    "__version__",
    "action",
    "boolean",
    "choice",
    "describe_model",
    "example_models",
    "f32",
    "f64",
    "figure_bytes",
    "freeze",
    "from_agentpy",
    "from_function",
    "from_mesa",
    "generator",
    "grid_params",
    "i64",
    "import_spec",
    "installed_models",
    "load_spec",
    "masked",
    "merge",
    "parse_spec",
    "plan_columns",
    "plan_spec",
    "plan_table",
    "py_random",
    "resume_sweep",
    "run_spec",
    "spec_hash",
    "spec_to_json",
    "spec_to_toml",
    "stat",
    "table",
    "text",
    "u32",
    "verify",
    "verify_results",
]
