"""Rewards that depend on the model and are seen by the agent (theory 7.2).

Shared rewards carry no information, and all bounds of this room assume them. If rewards
in [0, 1] depend on the model and the agent sees them, what it observes is (r, s'):

* Algorithm 1 compares likelihoods of pairs; C1 is unchanged, with delta the separation
  of the joint laws.
* Algorithm 3's statistic becomes sum R_k + P_k l_k - r - l_k(s'), of width sp(l_k) + 1
  a step. The threshold, and what the last step of an episode adds, grow with it.
* Algorithm 4's functions become f_M = R_M + P_M l, with values in [0, Dl + 1].
* In optimism by likelihood ratios and in posterior sampling (P_k - P_*) l_k becomes the
  difference of the means of r + l_k(s') under two joint laws, at most (sp_k + 1) TV.
* Lemmas 1, 2 and 3 do not change.

So the bounds hold if every span, or the diameter in its place, is increased by 1. If
rewards depend on the model and are *not* seen, only Theorems 1 and 5 remain valid: they
identify the model by its kernel. The other agents trust a model until an observation
contradicts it, and no observation need ever contradict a wrong reward.
"""

from __future__ import annotations

from collections.abc import Sequence

from simgap.arrays import FloatArray, owned
from simgap.bounds.numbers import widths


def with_model_rewards(spans: Sequence[float] | FloatArray) -> FloatArray:
    """Return sp + 1 for every model: with rewards that tell models apart."""
    wider: FloatArray = owned(widths("spans", spans) + 1.0)
    return wider
