from .about import __version__ as __version__
from .answers.adapt.adapt import adapt as adapt
from .answers.audit.audit import audit as audit
from .answers.blame.blame import blame as blame
from .answers.bounds import bounds as bounds
from .answers.compare import compare as compare
from .answers.complexity.complexity import complexity as complexity
from .answers.identify.identify import identify as identify
from .answers.oracle import oracle as oracle
from .answers.run.run import run as run
from .answers.solve import solve as solve
from .answers.study.entry import study as study
from .answers.train.train import train as train
from .answers.transfer.check import check as check
from .answers.transfer.transfer import (
    transfer as transfer,
)
from .answers.width.width import width as width
from .errors import SimgapError as SimgapError
from .gap import (
    Exact as Exact,
    MonteCarlo as MonteCarlo,
    average_gap as average_gap,
    gaps as gaps,
    sim_to_real_gap as sim_to_real_gap,
    worst_gap as worst_gap,
)
from .instances import build_instance as build_instance
from .interop import (
    load_model as load_model,
    read_transition_log as read_transition_log,
    save_model as save_model,
)
from .mdp import (
    LatentMDP as LatentMDP,
    SimulatorClass as SimulatorClass,
    TabularMDP as TabularMDP,
    class_from_arrays as class_from_arrays,
)
from .oracle import domain_randomization_oracle as domain_randomization_oracle
from .policies import load_policy as load_policy, save_policy as save_policy

__all__: list[str]
