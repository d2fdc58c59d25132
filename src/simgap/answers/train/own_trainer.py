"""Policies of a trainer of one's own, as a training like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, final

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import AskedTraining
from simgap.arrays import FloatArray
from simgap.continuous import (
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

TRIED = 64  # episodes that say what a policy gets
OUTCOME = "trained by a function of yours"
ENOUGH_SEEDS = 5


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
    policies, returns, got = [], [], np.empty(0)
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
        returns.append(float(np.nanmean(got)))
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
        final_return=over_seeds(returns, got.ravel(), "its episodes"),
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
    returns: Sequence[float], alone: FloatArray, what: str, confidence: float = 0.95
) -> Estimate:
    """Return the mean over seeds with its t interval.

    Of one seed the interval is over other numbers, `alone`, and `what` they are.
    """
    from scipy.special import stdtrit

    numbers, method = np.array(returns), f"t interval, {len(returns)} seeds"
    if numbers.size == 1:
        numbers, method = alone[np.isfinite(alone)], f"one seed, over {what}"
    mean = float(np.mean(returns))
    error = float(numbers.std(ddof=1)) / sqrt(numbers.size) if numbers.size > 1 else 0.0
    reach = float(stdtrit(max(1, numbers.size - 1), 0.5 + confidence / 2.0)) * error
    return Estimate(mean, mean - reach, mean + reach, confidence, method, error)


def notes_on_seeds(policies: Sequence[TrainedPolicy]) -> tuple[Note, ...]:
    """Return remarks: too few seeds, and those that did not converge."""
    found = []
    if len(policies) < ENOUGH_SEEDS:
        found.append(
            Note(
                "few-seeds",
                f"seeds: {len(policies)}; trainings differ, and an interval over fewer "
                f"than {ENOUGH_SEEDS} seeds is not trustworthy",
            )
        )
    found += [
        Note("not-converged", f"seed {each.seed}: {each.outcome}")
        for each in policies
        if each.converged is False
    ]
    return tuple(found)
