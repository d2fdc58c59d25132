from simgap.records.adapt import (
    Adapt as Adapt,
    AdaptedModel as AdaptedModel,
    LikeliestBound as LikeliestBound,
    Misfit as Misfit,
    Moments as Moments,
    ParameterPosterior as ParameterPosterior,
    SavedFiles as SavedFiles,
)
from simgap.records.adapt_simulator import (
    AdaptedSimulator as AdaptedSimulator,
    DelayBelief as DelayBelief,
    DetectableDrag as DetectableDrag,
    ParameterBelief as ParameterBelief,
)
from simgap.records.audit import (
    Audit as Audit,
    Finding as Finding,
    HardestPair as HardestPair,
    InSimulator as InSimulator,
    OpenOnGrid as OpenOnGrid,
    Status as Status,
    Theorem as Theorem,
    Verdict as Verdict,
    WorstModel as WorstModel,
)
from simgap.records.blame import (
    Blame as Blame,
    BlamedParameter as BlamedParameter,
    LossAtValue as LossAtValue,
)
from simgap.records.blame_run import (
    BlamedRun as BlamedRun,
    MaskingCheck as MaskingCheck,
    ToldParameter as ToldParameter,
    ToldSet as ToldSet,
)
from simgap.records.bounds import (
    Bounds as Bounds,
    ClassNumbers as ClassNumbers,
    Constant as Constant,
    OneBound as OneBound,
    Vacuity as Vacuity,
)
from simgap.records.check import SimulatorCheck as SimulatorCheck
from simgap.records.claim import (
    Check as Check,
    ClaimAnswer as ClaimAnswer,
    ClaimRecord as ClaimRecord,
    ClaimVerdict as ClaimVerdict,
    Curve as Curve,
    Figure as Figure,
    KeyNumber as KeyNumber,
    Point as Point,
    Reproduce as Reproduce,
    Table as Table,
)
from simgap.records.complexity import (
    ClassSeparation as ClassSeparation,
    ClassSmoothness as ClassSmoothness,
    Complexity as Complexity,
    CoveringBounds as CoveringBounds,
    EluderBounds as EluderBounds,
    MetricSmoothness as MetricSmoothness,
    SequencePoint as SequencePoint,
)
from simgap.records.files import (
    LARGEST_RECORD as LARGEST_RECORD,
    as_record as as_record,
    damaged_record as damaged_record,
    encode as encode,
    plain as plain,
    read_object as read_object,
    read_record as read_record,
)
from simgap.records.gap import (
    Gap as Gap,
    HorizonBound as HorizonBound,
    HorizonGaps as HorizonGaps,
    ModelGap as ModelGap,
    PolicyGaps as PolicyGaps,
)
from simgap.records.identify import (
    Identify as Identify,
    ModelPair as ModelPair,
    ModelPosterior as ModelPosterior,
    Timeline as Timeline,
)
from simgap.records.identify_run import (
    IdentifiedRun as IdentifiedRun,
    ReadParameter as ReadParameter,
    StepLoss as StepLoss,
)
from simgap.records.info import (
    Export as Export,
    Info as Info,
    List as List,
    Listed as Listed,
    StartLaw as StartLaw,
)
from simgap.records.kept import (
    ANSWERS as ANSWERS,
    changed_records as changed_records,
    kept_or_made as kept_or_made,
    read_unchanged as read_unchanged,
    write_record as write_record,
)
from simgap.records.memory import Memory as Memory, Proof as Proof
from simgap.records.note import (
    Note as Note,
    Notes as Notes,
    class_notes as class_notes,
)
from simgap.records.oracle import (
    BaselineModel as BaselineModel,
    BaselinePolicy as BaselinePolicy,
    Oracle as Oracle,
    OracleModel as OracleModel,
    TracePoint as TracePoint,
)
from simgap.records.pair_prices import PairPrices as PairPrices
from simgap.records.provenance import (
    ON_GRID as ON_GRID,
    Certainty as Certainty,
    Provenance as Provenance,
    for_this_grid as for_this_grid,
    provenance as provenance,
    versions as versions,
)
from simgap.records.record import (
    SCHEMA as SCHEMA,
    Record as Record,
    in_memory as in_memory,
    with_command as with_command,
)
from simgap.records.report import Report as Report
from simgap.records.run import (
    RegretPoint as RegretPoint,
    Run as Run,
    RunModel as RunModel,
)
from simgap.records.schema import (
    DIALECT as DIALECT,
    json_schema as json_schema,
    one_of as one_of,
)
from simgap.records.solve import (
    Diameter as Diameter,
    Gain as Gain,
    ModelDiameter as ModelDiameter,
    ModelSolution as ModelSolution,
    Solve as Solve,
)
from simgap.records.study import (
    Chapter as Chapter,
    Study as Study,
)
from simgap.records.study_run import (
    Question as Question,
    StudyAnswer as StudyAnswer,
    StudyRun as StudyRun,
    Word as Word,
)
from simgap.records.sweep import (
    FailedCell as FailedCell,
    Sweep as Sweep,
    SweepCost as SweepCost,
    axis_text as axis_text,
)
from simgap.records.train import Train as Train, TrainedPolicy as TrainedPolicy
from simgap.records.transfer import (
    BrokenEpisode as BrokenEpisode,
    LossMap as LossMap,
    LossRegion as LossRegion,
    Transfer as Transfer,
    TransferPoint as TransferPoint,
    TransferPolicy as TransferPolicy,
    VarianceShare as VarianceShare,
    WorstPoint as WorstPoint,
    Worth as Worth,
)
from simgap.records.width import (
    LossBeyond as LossBeyond,
    RangeLoss as RangeLoss,
    RealModel as RealModel,
    Width as Width,
    width_file as width_file,
)
from simgap.records.width_run import (
    WidthReturns as WidthReturns,
    WidthRun as WidthRun,
)
