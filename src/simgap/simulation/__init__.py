"""What a simulation needs and leaves behind: tables to draw from, streams, runs."""

from simgap.simulation.observed import ObservedClass, RewardSignal, observed_class
from simgap.simulation.runs import Program, Runs, log_grid, run_program
from simgap.simulation.worlds import RealModels, real_models

__all__ = [
    "ObservedClass",
    "Program",
    "RealModels",
    "RewardSignal",
    "Runs",
    "log_grid",
    "observed_class",
    "real_models",
    "run_program",
]
