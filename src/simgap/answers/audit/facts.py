"""The facts that theorems need, measured in full or, in large classes, in part.

Eluder dimension and covering number compare every function of the class at every place.
With hundreds of models that takes minutes, and theorems have bounds by counting in
their stead. What is left out makes a bound larger, never wrong.
"""

from __future__ import annotations

import numpy as np

from simgap.answers.audit.separation import Apart
from simgap.answers.class_facts import ROUNDING, many_functions, measured_class
from simgap.answers.weighted_models import WeightedModels
from simgap.bounds import ClassFacts
from simgap.mdp import LatentMDP
from simgap.planning import Diameter, solve_average_reward
from simgap.records import Note

BY_COUNTING = Note(
    "by-counting",
    "eluder dimension and covering number by counting: the class is large "
    "(--thorough measures them)",
)


def audit_facts(
    latent: LatentMDP,
    models: WeightedModels,
    far: Diameter,
    apart: Apart,
    *,
    horizon: int,
    thorough: bool,
) -> tuple[ClassFacts, tuple[Note, ...]]:
    """Return the facts of a communicating class, all if that is quick, and notes."""
    every = models.simulators
    if thorough or not many_functions(every):
        measured = measured_class(latent, horizon, thorough=thorough)
        return measured.facts, measured.notes
    return _in_part(models, far, apart), (BY_COUNTING,)


def _in_part(models: WeightedModels, far: Diameter, apart: Apart) -> ClassFacts:
    every, rewards = models.simulators, models.simulators.rewards
    low, width = float(rewards.min()), float(rewards.max() - rewards.min())
    plan = solve_average_reward(every)
    # what a step of the equations may be off, as in `class_facts`
    wide = float((plan.gain_upper - plan.gain_lower).max()) + 0.1 * plan.tolerance
    unit = width or 1.0  # equal rewards have no spans to divide
    return ClassFacts(
        prior=models.prior,
        states=every.n_states,
        actions=every.n_actions,
        diameter=float(far.upper),
        diameter_lower=float(far.lower),
        spans=np.maximum(plan.bias_span / unit, 0.0),
        gains=np.maximum((plan.gain_lower - low) / unit, 0.0),
        residual=(float(plan.residual.max()) + wide) / unit,
        separation=None
        if apart.nearest is None
        else apart.nearest.value * (1.0 - ROUNDING),
        shared_rewards=bool((rewards == rewards[:1]).all()),
        reward_width=width,
    )
