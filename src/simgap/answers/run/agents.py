"""Which agent is run, and in which models: those of a class, or points of a continuum.

Algorithm 4 alone can know infinitely many models, `success=0.1..0.6`: it is run at the
ends and in the middle of every interval.
"""

from __future__ import annotations

import os
from typing import Any

from simgap._kernels.time_limit import time_limited
from simgap.answers.model import Model, NamedModel, named_model
from simgap.answers.time_limits import whole_time
from simgap.base_policies import OptimisticMixture, build_policy, continuum_agent
from simgap.errors import InvalidArgument
from simgap.instances import Continuum, continuum_of
from simgap.interop import looks_like_file
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, domain_randomization_oracle
from simgap.planning import diameter
from simgap.policies import Policy
from simgap.records import Note
from simgap.text import at_most, suggestion


def run_model(model: Model) -> NamedModel:
    """Return the models that may be real, and the continuum they are points of."""
    if isinstance(model, str | os.PathLike):
        text = os.fspath(model)
        continuum = None if looks_like_file(text) else continuum_of(text)
        if continuum is not None:
            latent = LatentMDP.uniform(continuum.points())
            return NamedModel(latent, text, continuum)
    return named_model(model)


def built_agent(
    policy: str,
    given: NamedModel,
    horizon: int,
    *,
    seed: int,
    literal: bool,
    time_limit: float | None,
) -> tuple[Policy[Any], tuple[Note, ...]]:
    """Return the agent of a name for a class or a continuum, and notes about it."""
    if time_limit is not None and policy != "oracle":
        raise InvalidArgument(
            f"--time-limit is for the oracle, {policy} does not plan that long",
            hint="leave it out",
        )
    if given.continuum is not None:
        _check_continuum(given.continuum, policy, literal)
        return _on_continuum(given.continuum, given.latent, horizon, seed)
    if time_limit is None or literal:  # a literal oracle is refused there
        return build_policy(
            policy, given.latent, horizon, seed=seed, literal=literal
        ), ()
    solver = AutoOracle(time_limit=time_limit, episodes=2, seed=seed)
    with time_limited(whole_time(time_limit)):
        plan = domain_randomization_oracle(given.latent, horizon=horizon, solver=solver)
    return plan.policy, ()


def chosen_models(real: int | str, latent: LatentMDP) -> list[int]:
    """Return the models that are to be real: all, or one by number or name."""
    names = latent.simulators.model_names
    if real == "all":
        return list(range(len(names)))
    if real in names:
        return [names.index(str(real))]
    text = str(real).strip()
    if not text.lstrip("+-").isdigit():
        near = suggestion(text, names, cutoff=0.6)
        raise InvalidArgument(
            f"there is no model {text[:60]!r}",
            hint=f"{near} --real is all, a name, or a number from 0 to "
            f"{len(names) - 1}".strip(),
        )
    if not 0 <= int(text) < len(names):
        raise InvalidArgument(
            f"--real is {text[:60]}", hint=f"it is a number from 0 to {len(names) - 1}"
        )
    return [int(text)]


def _check_continuum(continuum: Continuum, policy: str, literal: bool) -> None:
    if policy == "general" and not literal:
        return
    key, (low, high) = next(iter(continuum.box.items()))
    what = "the printed rule" if literal else policy
    raise InvalidArgument(
        f"{what} needs finitely many models, and {key}={low:g}..{high:g} has "
        "infinitely many",
        hint=f"simgap run general takes them all; some of them are "
        f"{key}={low:g}:{high:g}:5",
    )


def _on_continuum(
    continuum: Continuum, latent: LatentMDP, horizon: int, seed: int
) -> tuple[Policy[Any], tuple[Note, ...]]:
    """Return Algorithm 4 for an infinite class, and what is promised of it."""
    found = continuum_agent(
        continuum.at, continuum.box, continuum.corners(), horizon, seed=seed
    )
    names = " and ".join(continuum.box)
    if not isinstance(found.policy, OptimisticMixture):
        note = Note(
            "nothing-guaranteed",
            f"probabilities are no linear function of {names}: the models are covered "
            "by cells, with rates of change estimated from random pairs, and nothing "
            "is guaranteed",
        )
        return found.policy, (note,)
    far = float(diameter(latent.simulators).upper)
    promise = found.policy.guarantee(far)
    words = (
        f"loses at most {at_most(promise.gap, 4)} in every model of diameter {far:.4g}"
    )
    if promise.vacuous:
        words = "has a guarantee that says nothing at this horizon"
    note = Note(
        "linear-in-parameters",
        f"probabilities are linear in {names} (at all points tried): the models are "
        f"mixtures of {2 ** len(continuum.box)}, and Algorithm 4 {words}",
    )
    return found.policy, (note,)
