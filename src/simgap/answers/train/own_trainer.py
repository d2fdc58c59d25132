"""Policies of a trainer of one's own, as a training like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, final

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import AskedTraining
from simgap.answers.transfer.opened_run import FEW_SEEDS, MANY_SEEDS
from simgap.arrays import FloatArray
from simgap.continuous import (
    ENOUGH_SEEDS,
    Entry,
    OwnSampler,
    Points,
    TrainFunction,
    Work,
    bind,
    measured,
    open_policy,
)
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.train import Train, TrainedPolicy
from simgap.text import counted

TRIED = 64  # episodes that say what a policy gets
OUTCOME = "trained by a function of yours"
CONFIDENCE = 0.95


@final
@dataclass(frozen=True, slots=True, eq=False)
class OwnPolicies:
    """What a trainer of one's own made, and for what."""

    simulator: Any  # as the user gave it
    policies: tuple[Any, ...]  # one for each seed


def trained_by(
    train_fn: TrainFunction,
    asked: AskedTraining,
    simulator: Any,
    *,
    name: str,
    noise: str,
    seeds: range,
    progress: Tell,
) -> Train:
    """Return the policies that a function makes, called once for each seed.

    What a policy gets is measured in 64 episodes of what it was trained for.
    """
    randomization = bind(asked.drawn, asked.simulator)
    points = TRIED if randomization.names else 1  # nothing is drawn: one world
    policies, alone = [], []
    for seed in seeds:
        progress(f"{name}, seed {seed}: training, by a function of yours")
        sampler = OwnSampler(randomization, seed, asked.horizon)
        made = train_fn(asked.simulator, sampler, asked.memory.text)
        opened = open_policy(made, asked.simulator)
        work = Work(
            asked.simulator,
            randomization,
            (opened,),
            Points(
                randomization.sample(seed, range(points)), np.ones(points, np.bool_)
            ),
            asked.horizon,
            seed,
        )
        got = measured(work, [Entry(name)], episodes=TRIED // points).cube.returns
        policies.append(made)
        if not np.isfinite(got).any():
            raise InvalidArgument(
                f"every episode of the policy that was trained with seed {seed} breaks",
                hint="simgap.check(simulator, policy, randomize=...) says why",
                code="episodes-broke",
            )
        alone.append(got.ravel())
    returns = [float(np.nanmean(each)) for each in alone]
    told = tuple(
        TrainedPolicy(
            name=name,
            seed=seed,
            file="",
            converged=None,
            outcome=OUTCOME,
            final_return=each,
            curve=(),
        )
        for seed, each in zip(seeds, returns, strict=True)
    )
    return Train(
        name=name,
        simulator=asked.simulator.name,
        randomize=asked.drawn.to_string(),
        told=asked.told.to_string(),
        noise=noise,
        horizon=asked.horizon,
        memory=asked.memory.text,
        informed=asked.informed,
        masked=False,
        specialist=not randomization.varying,
        draws="",
        steps=None,
        steps_per_second=None,
        final_return=over_seeds(returns, alone, "the episodes"),
        converged=None,
        policies=told,
        settings={},
        notes=notes_on_seeds(told),
        certainty={"policies": "estimated", "final_return": "estimated"},
        provenance=provenance(
            command="", model=asked.simulator.name, latent=None, seed=seeds[0]
        ),
        made=OwnPolicies(simulator, tuple(policies)),
    )


def over_seeds(
    returns: Sequence[float], alone: Sequence[FloatArray], what: str
) -> Estimate:
    """Return the mean over seeds with its t interval.

    Of fewer than three seeds it is about these trainings only: over the numbers of
    each, `alone`, and `what` they are.
    """
    from scipy.special import stdtrit

    count, numbers = len(returns), [np.array(returns)]
    method = f"t interval, {counted(count, 'seed')}"
    if count < ENOUGH_SEEDS:
        numbers = [each[np.isfinite(each)] for each in alone]
        method += f", over {what} of these trainings only"
    several = [each for each in numbers if each.size > 1]
    squares = sum(float(each.var(ddof=1)) / each.size for each in several)
    freedom = max(1, sum(each.size - 1 for each in several))
    mean, error = float(np.mean(returns)), sqrt(squares) / len(numbers)
    reach = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2.0)) * error
    return Estimate(mean, mean - reach, mean + reach, CONFIDENCE, method, error)


def notes_on_seeds(policies: Sequence[TrainedPolicy]) -> tuple[Note, ...]:
    """Return remarks: too few seeds, and those that did not converge."""
    found = []
    if len(policies) < MANY_SEEDS:
        found.append(Note("few-seeds", f"seeds: {len(policies)}; {FEW_SEEDS}"))
    found += [
        Note("not-converged", f"seed {each.seed}: {each.outcome}")
        for each in policies
        if each.converged is False
    ]
    return tuple(found)
