from simgap.answers.adapt.adapt import (
    PLANNING as PLANNING,
)
from simgap.answers.adapt.adapt import (
    Adaptation as Adaptation,
)
from simgap.answers.adapt.adapt import (
    AdaptSettings as AdaptSettings,
)
from simgap.answers.adapt.adapt import (
    adapt as adapt,
)
from simgap.answers.adapt.evidence import (
    RewardEvidence as RewardEvidence,
)
from simgap.answers.adapt.goodness_of_fit import (
    goodness_of_fit as goodness_of_fit,
)
from simgap.answers.adapt.misfit import (
    Misfit as Misfit,
)
from simgap.answers.audit.audit import (
    Audit as Audit,
)
from simgap.answers.audit.audit import (
    audit as audit,
)
from simgap.answers.audit.finding import (
    percent as percent,
)
from simgap.answers.audit.finding import (
    percent_between as percent_between,
)
from simgap.answers.audit.losses import (
    PlanningSettings as PlanningSettings,
)
from simgap.answers.audit.losses import (
    Transfer as Transfer,
)
from simgap.answers.audit.losses import (
    WorstModel as WorstModel,
)
from simgap.answers.audit.refine import (
    Ladder as Ladder,
)
from simgap.answers.audit.refine import (
    RefineSettings as RefineSettings,
)
from simgap.answers.audit.refine import (
    refine as refine,
)
from simgap.answers.audit.verdict import (
    Verdict as Verdict,
)
from simgap.answers.blame.blame import (
    Blame as Blame,
)
from simgap.answers.blame.blame import (
    BlameSettings as BlameSettings,
)
from simgap.answers.blame.blame import (
    PartBlame as PartBlame,
)
from simgap.answers.blame.blame import (
    blame as blame,
)
from simgap.answers.blame.hidden_game import (
    Effort as Effort,
)
from simgap.answers.class_facts import (
    MeasuredClass as MeasuredClass,
)
from simgap.answers.class_facts import (
    measured_class as measured_class,
)
from simgap.answers.identify.identify import (
    DEFAULT as DEFAULT,
)
from simgap.answers.identify.identify import (
    Identification as Identification,
)
from simgap.answers.identify.identify import (
    IdentifySettings as IdentifySettings,
)
from simgap.answers.identify.identify import (
    identify as identify,
)
from simgap.answers.identify.posterior_timeline import (
    Timeline as Timeline,
)
from simgap.answers.identify.posterior_timeline import (
    posterior_timeline as posterior_timeline,
)
from simgap.answers.identify.telling_apart import (
    TellingApart as TellingApart,
)
from simgap.answers.identify.telling_apart import (
    telling_apart as telling_apart,
)
from simgap.answers.over_horizons import (
    MOST_HORIZONS as MOST_HORIZONS,
)
from simgap.answers.over_horizons import (
    AtHorizon as AtHorizon,
)
from simgap.answers.over_horizons import (
    OverHorizons as OverHorizons,
)
from simgap.answers.over_horizons import (
    over_horizons as over_horizons,
)
from simgap.answers.over_horizons import (
    usual_horizons as usual_horizons,
)
from simgap.answers.planned_class import (
    PlannedClass as PlannedClass,
)
from simgap.answers.stakes import (
    Stakes as Stakes,
)
from simgap.answers.stakes import (
    stakes as stakes,
)
from simgap.answers.width.ranges import (
    varying_parameters as varying_parameters,
)
from simgap.answers.width.width import (
    CLOSE as CLOSE,
)
from simgap.answers.width.width import (
    MANY as MANY,
)
from simgap.answers.width.width import (
    Criterion as Criterion,
)
from simgap.answers.width.width import (
    WidthCurve as WidthCurve,
)
from simgap.answers.width.width import (
    WidthRow as WidthRow,
)
from simgap.answers.width.width import (
    WidthSettings as WidthSettings,
)
from simgap.answers.width.width import (
    width_curve as width_curve,
)
