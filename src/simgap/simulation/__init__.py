"""What a simulation needs and leaves behind: tables to draw from, streams, runs."""

from simgap.simulation.in_simulator import episodes_to_run, in_simulator
from simgap.simulation.observed import ObservedClass, RewardSignal, observed_class
from simgap.simulation.runs import (
    Program,
    Progress,
    Runs,
    Stepwise,
    log_grid,
    run_program,
)
from simgap.simulation.score_range import ScoreRanges, score_ranges
from simgap.simulation.stepwise import Eliminating, RandomizedPolicy, run_stepwise
from simgap.simulation.worlds import RealModels, real_models

__all__ = [
    "Eliminating",
    "ObservedClass",
    "Program",
    "Progress",
    "RandomizedPolicy",
    "RealModels",
    "RewardSignal",
    "Runs",
    "ScoreRanges",
    "Stepwise",
    "episodes_to_run",
    "in_simulator",
    "log_grid",
    "observed_class",
    "real_models",
    "run_program",
    "run_stepwise",
    "score_ranges",
]
