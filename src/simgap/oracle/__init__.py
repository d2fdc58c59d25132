"""The domain-randomization oracle: certified planning in latent MDPs."""

from simgap.oracle.baselines import (
    Baseline,
    baselines,
    value_of_memory,
    value_of_randomization,
)
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import OracleResult, Outcome
from simgap.oracle.settings import AutoOracle, BoundedOracle, ExactOracle, GridOracle
from simgap.oracle.watch import Progress

__all__ = [
    "AutoOracle",
    "Baseline",
    "BoundedOracle",
    "ExactOracle",
    "GridOracle",
    "LossForm",
    "OracleResult",
    "Outcome",
    "Progress",
    "baselines",
    "domain_randomization_oracle",
    "loss_form",
    "value_of_memory",
    "value_of_randomization",
]
