"""The policies that the command line knows by name: a literal table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from simgap.base_policies.fixed import uniformly_random
from simgap.base_policies.improved.explore_then_commit import explore_then_commit
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.improved.posterior_sampling import posterior_sampling
from simgap.base_policies.outsiders.psrl import psrl
from simgap.base_policies.outsiders.ucrl import ucrl2, ucrl2b
from simgap.base_policies.paper.elimination import elimination
from simgap.base_policies.paper.general_optimistic import general_optimistic
from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.base_policies.without_memory import mean_model_policy, memoryless_policy
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, domain_randomization_oracle
from simgap.policies import Policy
from simgap.text import suggestion

PLANNING_SECONDS = 60.0
Build = Callable[[LatentMDP, int, int], Policy[Any]]  # latent, horizon, seed


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A policy by name."""

    name: str
    about: str
    build: Build
    literal: Build | None = None  # the printed rule, errors and all


def _oracle(latent: LatentMDP, horizon: int, seed: int) -> Policy[Any]:
    solver = AutoOracle(time_limit=PLANNING_SECONDS, seed=seed)
    return domain_randomization_oracle(latent, horizon=horizon, solver=solver).policy


POLICIES = (
    Entry(
        "likelihood",
        "optimism, models dropped by likelihood ratio; the one to use where nothing "
        "is planned",
        lambda latent, h, _: likelihood_optimism(latent.simulators, h),
    ),
    Entry(
        "variance",
        "Algorithm 3 with the variance that the model itself predicts",
        lambda latent, h, _: optimistic_exploration(
            latent.simulators, h, threshold=Threshold.VARIANCE
        ),
    ),
    Entry(
        "posterior-sampling",
        "plays models drawn from the posterior, in episodes of capped length",
        lambda latent, h, _: posterior_sampling(
            latent.simulators, h, prior=latent.prior
        ),
    ),
    Entry(
        "elimination",
        "Algorithm 1: compares pairs of models, then commits",
        lambda latent, h, _: elimination(latent.simulators, h),
        lambda latent, h, _: elimination(latent.simulators, h, literal=True),
    ),
    Entry(
        "optimistic",
        "Algorithm 3: the best gain until its bias is contradicted",
        lambda latent, h, _: optimistic_exploration(latent.simulators, h),
        lambda latent, h, _: optimistic_exploration(latent.simulators, h, literal=True),
    ),
    Entry(
        "general",
        "Algorithm 4: the best gain among models near the least squares",
        lambda latent, h, _: general_optimistic(latent.simulators, h),
        lambda latent, h, _: general_optimistic(latent.simulators, h, literal=True),
    ),
    Entry(
        "explore-then-commit",
        "acts at random for a while, then trusts the likeliest model",
        lambda latent, h, _: explore_then_commit(latent.simulators, h),
    ),
    Entry(
        "oracle",
        "the domain-randomization oracle, as a policy graph",
        _oracle,
    ),
    Entry(
        "memoryless",
        "the best policy found that remembers nothing",
        lambda latent, h, seed: memoryless_policy(latent, h, seed=seed),
    ),
    Entry(
        "mean-model",
        "optimal for the average of all models",
        lambda latent, h, _: mean_model_policy(latent, h),
    ),
    Entry(
        "ucrl2",
        "does not know the class: optimism over L1 balls",
        lambda latent, h, _: ucrl2(latent.simulators, h),
    ),
    Entry(
        "ucrl2b",
        "does not know the class: optimism over Bernstein intervals",
        lambda latent, h, _: ucrl2b(latent.simulators, h),
    ),
    Entry(
        "psrl",
        "does not know the class: a Dirichlet posterior",
        lambda latent, h, _: psrl(latent.simulators, h),
    ),
    Entry(
        "random",
        "every action as likely as any other",
        lambda latent, h, _: uniformly_random(latent.simulators),
    ),
)


def named_policy(name: str) -> Entry:
    """Return the policy of a name, or raise with a suggestion."""
    for entry in POLICIES:
        if entry.name == name:
            return entry
    names = [entry.name for entry in POLICIES]
    raise InvalidArgument(
        f"there is no policy {name[:40]!r}",
        hint=suggestion(name, names) or f"it is one of {', '.join(names)}",
    )


def build_policy(
    name: str,
    latent: LatentMDP,
    horizon: int,
    *,
    seed: int = 0,
    literal: bool = False,
) -> Policy[Any]:
    """Return the policy of a name for a latent MDP and a horizon."""
    entry = named_policy(name)
    if not literal:
        return entry.build(latent, horizon, seed)
    if entry.literal is None:
        known = ", ".join(each.name for each in POLICIES if each.literal)
        raise InvalidArgument(
            f"the paper has no printed rule for {name!r}",
            hint=f"the literal rules are those of {known}",
        )
    return entry.literal(latent, horizon, seed)
