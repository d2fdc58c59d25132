from simgap.answers.adapt.adapt import adapt as adapt
from simgap.answers.adapt.evidence import (
    RewardEvidence as RewardEvidence,
)
from simgap.answers.adapt.goodness_of_fit import (
    goodness_of_fit as goodness_of_fit,
)
from simgap.answers.adapt.simulator import adapt_simulator as adapt_simulator
from simgap.answers.audit.audit import audit as audit
from simgap.answers.blame.blame import blame as blame
from simgap.answers.blame.blame_run import blame_run as blame_run
from simgap.answers.bounds import bounds as bounds
from simgap.answers.brought_policies import (
    brought_to_class as brought_to_class,
)
from simgap.answers.class_facts import (
    measured_class as measured_class,
)
from simgap.answers.compare import (
    checked_policies as checked_policies,
    compare as compare,
)
from simgap.answers.complexity.complexity import complexity as complexity
from simgap.answers.identify.identify import identify as identify
from simgap.answers.identify.identify_run import identify_run as identify_run
from simgap.answers.identify.telling_apart import telling_apart as telling_apart
from simgap.answers.info import (
    export as export,
    info as info,
    list_models as list_models,
    list_parameters as list_parameters,
)
from simgap.answers.model import (
    Model as Model,
    NamedModel as NamedModel,
    named_model as named_model,
)
from simgap.answers.oracle import oracle as oracle
from simgap.answers.over_horizons import (
    over_horizons as over_horizons,
    usual_horizons as usual_horizons,
)
from simgap.answers.planned_class import (
    Tell as Tell,
    planned_oracle as planned_oracle,
    recorded_prices as recorded_prices,
)
from simgap.answers.run.run import run as run, run_model as run_model
from simgap.answers.solve import diameter as diameter, solve as solve
from simgap.answers.stakes import (
    Stakes as Stakes,
    stakes as stakes,
)
from simgap.answers.study.entry import study as study
from simgap.answers.study.simulator import study_simulator as study_simulator
from simgap.answers.train.train import (
    train as train,
    training_recipe as training_recipe,
)
from simgap.answers.transfer.check import check as check
from simgap.answers.transfer.setup import (
    files_named as files_named,
    identity as identity,
)
from simgap.answers.transfer.trained_run import is_run as is_run
from simgap.answers.transfer.transfer import (
    transfer as transfer,
    transfer_table as transfer_table,
)
from simgap.answers.width.width import width as width
from simgap.answers.width.width_run import width_run as width_run
