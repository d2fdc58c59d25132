from simgap.about import __version__ as __version__
from simgap.answers import (
    adapt as adapt,
    audit as audit,
    blame as blame,
    bounds as bounds,
    check as check,
    compare as compare,
    complexity as complexity,
    identify as identify,
    oracle as oracle,
    run as run,
    solve as solve,
    study as study,
    train as train,
    transfer as transfer,
    transfer_table as transfer_table,
    width as width,
)
from simgap.errors import SimgapError as SimgapError
from simgap.gap import (
    Exact as Exact,
    MonteCarlo as MonteCarlo,
    average_gap as average_gap,
    gaps as gaps,
    sim_to_real_gap as sim_to_real_gap,
    worst_gap as worst_gap,
)
from simgap.instances import build_instance as build_instance
from simgap.interop import (
    load_model as load_model,
    read_transition_log as read_transition_log,
    save_model as save_model,
)
from simgap.mdp import (
    LatentMDP as LatentMDP,
    SimulatorClass as SimulatorClass,
    TabularMDP as TabularMDP,
    class_from_arrays as class_from_arrays,
)
from simgap.oracle import domain_randomization_oracle as domain_randomization_oracle
from simgap.policies import (
    load_policy as load_policy,
    save_policy as save_policy,
)

__all__: list[str]
