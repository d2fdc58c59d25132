"""Some models of a class: those that stand for their neighbours, or for themselves.

Work on all pairs of models grows with their square, so that hundreds of them are too
many. Models are then taken evenly spread in the order of the class, which is that of
the values of a parameter wherever one was listed, and each takes over the weights of
the models that are nearer to it than to any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.intervals import defect
from simgap.mdp import LatentMDP, Parameters, SimulatorClass, Transitions
from simgap.oracle.loss_form import LossForm


@final
@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """Models of a class that stand for all of it."""

    chosen: OffsetArray  # (K,), models
    weights: FloatArray  # (K,), of their neighbourhoods; they sum to 1
    nearest: OffsetArray  # (M,), which of the chosen stands for a model


def neighbourhoods(prior: FloatArray, count: int) -> Neighbourhoods:
    """Return `count` of the models with a positive prior, evenly spread."""
    likely = np.flatnonzero(prior > 0.0)
    places = spread_over(likely.size, count)
    middles = (places[1:] + places[:-1]) / 2.0
    of_likely = np.searchsorted(middles, np.arange(likely.size))
    weights = np.bincount(of_likely, prior[likely], minlength=places.size)
    # a model without weight goes with the last one before it that has some
    before = np.maximum(np.searchsorted(likely, np.arange(prior.size), "right") - 1, 0)
    return Neighbourhoods(likely[places], weights / weights.sum(), of_likely[before])


def spread_over(size: int, count: int) -> OffsetArray:
    """Return numbers below `size`: all, or `count` of them from end to end."""
    if size <= count:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, count).round().astype(np.int64))


def part_of_class(every: SimulatorClass, kept: OffsetArray) -> SimulatorClass:
    """Return some models of a class, with the pattern and the choices of the whole."""
    kernel, theta = every.transitions, every.theta
    return replace(
        every,
        transitions=Transitions(
            kernel.n_states,
            kernel.n_actions,
            kernel.indptr,
            kernel.indices,
            kernel.values[kept],
        ),
        rewards=every.rewards if every.shared_rewards else every.rewards[kept],
        start=every.start if len(every.start) == 1 else every.start[kept],
        model_names=tuple(every.model_names[at] for at in kept),
        parameters=Parameters(theta.names, theta.values[kept]),
    )


def part_of_form(form: LossForm, kept: OffsetArray, weights: FloatArray) -> LossForm:
    """Return the losses of some models with weights of their own, (K,)."""
    latent = LatentMDP(part_of_class(form.latent.simulators, kept), weights)
    laws = np.stack([latent.simulators.start_law(m) for m in range(kept.size)])
    joint = (latent.prior[:, None] * laws).T  # (S, K)
    roots = np.flatnonzero(joint.any(axis=1))
    return replace(
        form,
        latent=latent,
        likelihood=owned(np.ascontiguousarray(form.likelihood[:, kept])),
        losses=owned(np.ascontiguousarray(form.losses[..., kept])),
        optimal=owned(form.optimal[kept]),
        optimal_error=owned(form.optimal_error[kept]),
        root_states=owned(roots.astype(np.int32)),
        root_weights=owned(np.ascontiguousarray(joint[roots])),
        defect=max(form.defect, defect(latent.prior)),
    )
