"""Are the models told apart by what is seen? Assumption 2, and models that never are.

Two models with equal kernels look the same after the first state, because states are
seen and rewards are not. If their rewards are equal too, they are one model. If not,
the best that can be done is to play for their mean reward given the first state, and
what that costs per step, for ever, is the mean of their gains less the gain of the mean
reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import final

import numpy as np

from simgap.answers.audit.ways_back import WaysBack
from simgap.answers.identify.telling_apart import TellingApart, telling_apart
from simgap.answers.weighted_models import (
    WeightedModels,
    equal_kernels,
    equal_models,
)
from simgap.arrays import FloatArray
from simgap.complexity import MOST_MODELS, ModelPair, separation
from simgap.errors import NotSolved
from simgap.intervals import Certified
from simgap.mdp import LEAST_REWARD, SimulatorClass, Transitions
from simgap.planning import solve_average_reward
from simgap.records.audit import Finding, HardestPair, Status
from simgap.text import SHORT, at_most, counted, listed, number, shown

MOST_COMPARISONS = 3e9  # pairs of models x entries of a kernel: ten seconds
MOST_GAIN_WORK = 5e7  # models x states x entries of a kernel
ERROR = 0.05  # chance of a wrong guess after an experiment


@final
@dataclass(frozen=True, slots=True)
class Apart:
    """How the models of a class differ in what is seen."""

    nearest: ModelPair | None  # None: one model, or too many to compare
    experiment: TellingApart | None  # that tells the nearest two apart
    alike: tuple[tuple[int, ...], ...]  # equal kernels and equal rewards
    confused: tuple[tuple[int, ...], ...]  # equal kernels, different rewards
    different: int  # models that differ in kernel or rewards
    loss_per_step: Certified | None  # of `confused`, for ever; None: not known

    @property
    def value(self) -> float | None:
        """Delta of Assumption 2, 2 for a class of one; None if it was not measured."""
        if self.nearest is not None:
            return self.nearest.value
        return 2.0 if self.different == 1 and not self.alike else None

    def hardest(self, models: WeightedModels) -> HardestPair:
        """Return the two models hardest to tell apart, by their names."""
        pair, found, labels = self.nearest, self.experiment, models.simulators.labels
        if pair is None:
            return HardestPair(self.value)
        first, second = pair.first, pair.second
        return HardestPair(
            value=self.value,
            pair=(int(models.index[first]), int(models.index[second])),
            pair_names=(models.names[first], models.names[second]),
            state=pair.state,
            action=pair.action,
            state_name=None if pair.state is None else labels.state(pair.state),
            action_name=None if pair.action is None else labels.action(pair.action),
            visits=None if found is None else found.visits,
            steps=None if found is None else found.steps,
        )


def models_apart(models: WeightedModels, back: WaysBack) -> Apart:
    """Return the nearest two models, and groups that look alike.

    Members are counted within the models that have weight. States that are never
    reached do not count in what looks alike.
    """
    simulators = models.simulators
    met = np.ones(simulators.n_states, np.bool_)
    met[list(back.missed)] = False
    kernels, whole = equal_kernels(simulators, met), equal_models(simulators, met)
    confused = tuple(
        group for group in kernels if not any(set(group) <= set(one) for one in whole)
    )
    nearest = _nearest(simulators)
    experiment = None
    if nearest is not None:
        experiment = telling_apart(
            simulators, nearest.first, nearest.second, error=ERROR
        )
    return Apart(
        nearest=nearest,
        experiment=experiment,
        alike=tuple(group for group in whole if len(group) > 1),
        confused=confused,
        different=len(whole),
        loss_per_step=_lost(models, confused, ways_back=back.communicating),
    )


def separation_finding(
    models: WeightedModels, apart: Apart, horizon: int | None
) -> Finding:
    """Return Assumption 2 in words."""
    check = "separation"
    if len(models.names) == 1:
        text = "one model: nothing to tell apart"
        return Finding(check, "one-model", "ok", text, 2.0)
    pair, experiment = apart.nearest, apart.experiment
    if pair is None or experiment is None:
        text = (
            f"not measured: {len(models.names)} models make too many pairs (identify "
            "compares the hardest ones)"
        )
        return Finding(check, "not-measured", "info", text)
    first, second = (shown(models.names[m], SHORT) for m in (pair.first, pair.second))
    both, labels = f"{first} and {second}", models.simulators.labels
    if experiment.state is None or experiment.action is None:
        same = pair.state is None
        where = "everywhere" if same else "in all states that both can reach"
        code = "move-alike" if same else "move-alike-within-reach"
        text = f"{both} move alike {where}: only the first state can tell them apart"
        return Finding(check, code, "warning", text, pair.value)
    state = shown(labels.state(experiment.state), SHORT)
    action = shown(labels.action(experiment.action), SHORT)
    text = (
        f"{both} differ least: in one step, the probabilities of the next state differ "
        f"by at most {number(pair.value, 3)} of 2. Action {action} in state {state} "
        "tells them apart best"
    )
    if experiment.visits is not None:
        text += f", enough visits: {experiment.visits}"
    low, high = experiment.steps.lower, experiment.steps.upper
    if isinf(low):
        text += ". Even so they are never told apart with an error of 5 %"
        return Finding(check, "never-told-apart", "warning", text, pair.value)
    steps = _steps(experiment.steps)
    text += (
        f". The best experiment takes {steps} for an error of 5 % (identify has every "
        "pair)"
    )
    if horizon is not None and low > horizon:
        text += (
            f", and an episode has {horizon}; models that are so similar rarely need "
            "to be told apart"
        )
        return Finding(check, "longer-than-episode", "info", text, pair.value)
    if isinf(high):
        return Finding(check, "maybe-never-told-apart", "info", text, pair.value)
    return Finding(check, "told-apart", "ok", text, pair.value)


def look_alikes_finding(
    models: WeightedModels, apart: Apart, horizon: int | None
) -> Finding:
    """Return the groups of models that move alike, in words."""
    check = "look-alikes"
    if apart.confused:
        group = listed([models.names[m] for m in apart.confused[0]])
        more = len(apart.confused) - 1
        text = (
            f"{group} move alike but pay differently"
            + (f" (and {counted(more, 'more group')})" if more else "")
            + ": only the first state, and no move, can tell which is real"
        )
        loss = apart.loss_per_step
        status: Status = "fail" if horizon is None else "warning"
        if loss is None:
            text += ", and the loss may grow with every step"
            return Finding(check, "pay-differently-unknown", status, text)
        if loss.lower > 0.0:
            text += f", which costs about {number(loss.upper, 3)} in every step"
            return Finding(check, "pay-differently", status, text, loss.upper)
        text += (
            f"; it costs nothing in the long run (at most {at_most(loss.upper, 3)} a "
            "step): one policy is best for all of them, or the first state says which "
            "is real"
        )
        return Finding(check, "pay-differently-harmless", "info", text, 0.0)
    if apart.alike:
        group = listed([models.names[m] for m in apart.alike[0]])
        extra = sum(len(each) - 1 for each in apart.alike)
        text = (
            f"{counted(extra, 'model')} too many: {group} are the same model under "
            "several names; this is harmless, their weights add up"
        )
        return Finding(check, "repeated-models", "info", text, float(extra))
    text = "all models differ in how they move"
    return Finding(check, "all-differ", "ok", text, 0.0)


def _nearest(simulators: SimulatorClass) -> ModelPair | None:
    members = len(simulators)
    pairs = members * (members - 1) / 2.0
    work = pairs * simulators.transitions.nonzeros
    if members < 2 or members > MOST_MODELS or work > MOST_COMPARISONS:
        return None
    return separation(simulators).nearest


def _lost(
    models: WeightedModels, confused: tuple[tuple[int, ...], ...], *, ways_back: bool
) -> Certified | None:
    """Return what models with equal kernels and different rewards cost per step."""
    if not confused:
        return Certified(0.0, 0.0)
    every = models.simulators
    members = sum(
        len(group) + len(_weights_by_first_state(models, group)) for group in confused
    )
    work = members * every.n_states * every.transitions.nonzeros
    if not ways_back or work > MOST_GAIN_WORK:
        return None
    low = high = 0.0
    try:
        for group in confused:
            below, above = _lost_by(models, group)
            low, high = low + below, high + above
    except NotSolved:
        return None
    return Certified(max(0.0, low), max(0.0, high))


def _lost_by(models: WeightedModels, group: tuple[int, ...]) -> tuple[float, float]:
    """Return a bracket of what a group of look-alikes costs per step.

    The first state is all that can tell them apart. Given s its members have weights
    nu_m mu_m(s), and the cost is sum_m w_m rho_m - w(group) rho(mean reward), summed
    over s.
    """
    every, bracket = models.simulators, np.zeros(2)
    kernel, rewards = every.transitions.model(group[0]), every.rewards[list(group)]
    own = np.array([_gain(kernel, reward) for reward in rewards])  # (m, 2)
    for weights in _weights_by_first_state(models, group):
        mean = _gain(kernel, np.tensordot(weights / weights.sum(), rewards, 1))
        bracket += weights @ own - weights.sum() * mean[::-1]
    return float(bracket[0]), float(bracket[1])


def _gain(kernel: Transitions, reward: FloatArray) -> FloatArray:
    """Return both ends of the gain of a kernel and a reward (S, A)."""
    start: FloatArray = np.zeros(1, np.int64)
    size = float(np.abs(reward).max())
    if size < LEAST_REWARD:  # what is left of rewards that cancel
        return np.array([-size, size])
    one = SimulatorClass(transitions=kernel, rewards=reward[None], start=start)
    plan = solve_average_reward(one)
    return np.array([plan.gain_lower[0], plan.gain_upper[0]])


def _weights_by_first_state(
    models: WeightedModels, group: tuple[int, ...]
) -> list[FloatArray]:
    """Return weights of the members, states that say the same about them as one."""
    laws = np.stack([models.simulators.start_law(m) for m in group])  # (m, S)
    joint = (models.prior[list(group)][:, None] * laws).T
    joint = joint[joint.sum(axis=1) > 0.0]
    said = np.round(joint / joint.sum(axis=1, keepdims=True), 12)
    _, which = np.unique(said, axis=0, return_inverse=True)
    return [joint[which == each].sum(axis=0) for each in range(int(which.max()) + 1)]


def _steps(steps: Certified) -> str:
    low, high = number(steps.lower, 6), steps.upper
    if isinf(high):
        return f"at least {low} steps"
    if steps.lower == high:
        return f"{low} steps"
    return f"{low} to {number(high, 6)} steps"
