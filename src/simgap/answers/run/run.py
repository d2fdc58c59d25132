"""An agent in its real models, for as long as one likes.

Every model of the class is made the real one in turn, and the agent is run in it many
times. What it lost there is measured, with intervals, and how often it dropped the real
model. Numbers are in the user's rewards.

Which agent is run, and in which models: those of a class, or points of a continuum.

Algorithm 4 alone can know infinitely many models, `success=0.1..0.6`: it is run at the
ends and in the middle of every interval.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from simgap._kernels.time_limit import time_limited
from simgap.answers.model import Model, NamedModel, named_model
from simgap.answers.planned_class import Tell
from simgap.answers.time_limits import whole_time
from simgap.base_policies.catalogue import build_policy, named_policy
from simgap.base_policies.infinite import OptimisticMixture, continuum_agent
from simgap.base_policies.paper import OptimisticExploration
from simgap.bounds import ProvedThreshold, vacuity_horizon
from simgap.errors import InvalidArgument
from simgap.gap import SampledGap, combined, measured, program_of
from simgap.instances import Continuum, continuum_of
from simgap.interop import looks_like_file
from simgap.intervals import Estimate
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, domain_randomization_oracle
from simgap.planning import checked_horizon, diameter
from simgap.policies import Policy
from simgap.records.note import Note
from simgap.records.provenance import Certainty, provenance
from simgap.records.run import RegretPoint, Run, RunModel
from simgap.simulation import (
    Eliminating,
    RealModels,
    Runs,
    log_grid,
    real_models,
    run_program,
    score_ranges,
)
from simgap.statistics import Part, estimated_mean
from simgap.text import at_most, suggestion

CONFIDENCE = 0.95
CURVE_RUNS = 200  # runs whose regret is followed step by step, at most
CERTAINTY: dict[str, Certainty] = {
    "gap": "estimated",
    "regret": "estimated",
    "truth_eliminated": "exact",
    "switches": "estimated",
    "optimal": "certified",
    "curve": "estimated",
}


def run(
    policy: str,
    model: Model,
    horizon: int,
    *,
    seeds: int = 100,
    real: int | str = "all",
    seed: int = 0,
    threads: int = 1,
    time_limit: float | None = None,
    literal: bool = False,
    curves: bool = False,
    progress: Tell | None = None,
) -> Run:
    """Return what an agent loses in each real model, over `seeds` runs in each.

    `policy` is a name such as likelihood, posterior-sampling or oracle, `real` the
    model that is real by number or name; `literal` asks for the rule as the paper
    prints it. With general a parameter of `model` may be an interval a..b. `curves`
    adds the regret step by step. `time_limit` is for the oracle: seconds of planning,
    before the runs. The threads do not change the answer.

    >>> from simgap import run
    >>> found = run("likelihood", "riverswim?states=3&success=0.3,0.8", 50, seeds=40)
    >>> [each.name for each in found.models if each.gap.lower > 2.0]
    []
    """
    entry, steps = named_policy(policy), checked_horizon(horizon)
    if seeds < 2:
        raise InvalidArgument(f"seeds is {seeds}", hint="two runs or more")
    given, tell = run_model(model), progress or (lambda word: None)
    latent, chosen = given.latent, chosen_models(real, given.latent)
    tell(f"preparing {policy}")
    agent, notes = built_agent(
        policy, given, steps, seed=seed, literal=literal, time_limit=time_limit
    )
    program = program_of(agent, latent.simulators, steps)
    world = real_models(program.observed, program.observed.simulators, steps)
    run_program(program, world, runs=1, seed=0, models=[chosen[0]])  # compiles
    begin = perf_counter()
    found = run_program(
        program,
        world,
        runs=seeds,
        seed=seed,
        models=chosen,
        threads=threads,
        progress=lambda done, whole: tell(f"{policy}: {done} of {whole} runs"),
    )
    seconds = perf_counter() - begin
    traced: tuple[Runs | None, ...] = (None,) * len(chosen)
    if curves:
        traced = run_program(
            program,
            world,
            runs=min(seeds, CURVE_RUNS),
            seed=seed,
            models=chosen,
            threads=threads,
            grid=log_grid(steps),
        )
    drawn = sum(int(each.simulated.sum()) for each in found)
    losses = [measured(world, each, CONFIDENCE) for each in found]
    first = None
    if isinstance(agent, OptimisticExploration) and not literal:
        first = _vacuity(agent)
    return Run(
        policy=entry.name,
        about=entry.about,
        literal=literal,
        horizon=steps,
        seeds=seeds,
        steps_per_second=drawn / max(seconds, 1e-9),
        steps_simulated=drawn,
        eliminates=isinstance(agent, Eliminating),
        vacuity_horizon=first,
        models=tuple(
            _model(lost, world, trace)
            for lost, trace in zip(losses, traced, strict=True)
        ),
        notes=(*notes, *_notes(latent, agent, steps, first, losses)),
        page=None,
        certainty=dict(CERTAINTY),
        provenance=provenance(command="", model=given.name, latent=latent, seed=seed),
    )


def _model(lost: SampledGap, real: RealModels, traced: Runs | None) -> RunModel:
    runs, m = lost.runs, lost.runs.model
    settled = runs.identified[runs.identified >= 0]
    ratio = combined(lost.sample).variance_ratio
    kept = ~runs.truth_eliminated & np.isfinite(runs.bound) & (runs.bound > 0.0)
    regrets = real.horizon * float(real.gain[m]) - runs.reward
    return RunModel(
        name=runs.name,
        optimal=float(real.optimal[m]),
        gap=lost.gap,
        regret=lost.regret,
        truth_eliminated=int(runs.truth_eliminated.sum()),
        switches=float(runs.switches.mean()),
        resets=int((runs.resets > 0).sum()),
        identified=float(np.median(settled)) if settled.size else None,
        pathwise_ratio=float((regrets / runs.bound)[kept].max())
        if kept.any()
        else None,
        variance_ratio=ratio if np.isfinite(ratio) else None,
        curve=() if traced is None else tuple(_curve(traced, real)),
    )


def _curve(traced: Runs, real: RealModels) -> Iterator[RegretPoint]:
    can = score_ranges(real, traced.model)
    for step, values in zip(traced.grid.tolist(), traced.trace.T, strict=True):
        found = estimated_mean([Part(values, *can.regret(step))], CONFIDENCE)
        yield RegretPoint(step, found.estimate, found.lower, found.upper)


def _vacuity(agent: OptimisticExploration) -> int | None:
    """Return the H before which the printed test of Algorithm 3 eliminates nothing.

    Rewards count as rescaled to [0, 1], as in the paper.
    """
    worlds = agent.known.simulators
    low, high = float(worlds.rewards.min()), float(worlds.rewards.max())
    if len(worlds) == 1 or high == low:
        return None
    gains = (agent.known.gain - low) / (high - low)
    found = vacuity_horizon(
        spans=agent.known.average.bias_span / (high - low),
        drifts=np.maximum(gains, 1.0 - gains),
        steps=agent.levels.most_step / (high - low),
        threshold=ProvedThreshold.PAPER,
        diameter=diameter(worlds).upper,
    )
    return int(found) if np.isfinite(found) else None


def _notes(
    latent: LatentMDP,
    agent: Policy[Any],
    horizon: int,
    first: int | None,
    losses: list[SampledGap],
) -> Iterator[Note]:
    if first is not None and horizon < first:
        yield Note(
            "nothing-eliminated",
            f"with the threshold as printed nothing can be eliminated before H = "
            f"{first}; simgap run likelihood needs no such patience",
        )
    if not latent.simulators.shared_rewards and hasattr(agent, "observed"):
        yield Note(
            "rewards-unseen",
            "rewards differ between models and agents do not see them here: guarantees "
            "of learners do not hold; in Python, signal=RewardSignal.SEEN shows them",
        )
    if any(_mostly_unseen(each.gap) for each in losses):
        yield Note(
            "rare-events",
            "an end far from its estimate leaves room for an event of chance "
            f"{3.7 / losses[0].runs.reward.size:.2g} that so few runs may have missed; "
            "more --seeds narrow it",
        )


def _mostly_unseen(gap: Estimate) -> bool:
    error = gap.standard_error or 0.0
    return gap.upper - gap.lower > 40.0 * max(error, 1e-9)


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
