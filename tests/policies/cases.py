"""Random latent MDPs and random policies of every class, small on purpose."""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from simgap.oracle.loss_form import LossForm
from simgap.policies import (
    NOWHERE,
    BeliefPolicy,
    GraphPolicy,
    MarkovPolicy,
    ThompsonPolicy,
    WindowPolicy,
    number_of_windows,
)

AnyPolicy = BeliefPolicy | GraphPolicy | MarkovPolicy | ThompsonPolicy | WindowPolicy


def random_latent(
    rng: np.random.Generator,
    *,
    states: int = 3,
    actions: int = 2,
    members: int = 3,
    zeros: float = 0.3,
    without_prior: int = 0,
) -> LatentMDP:
    """Dyadic rows with zeros that differ by model, and start laws that differ too.

    The last `without_prior` models have prior zero.
    """
    models = []
    law = sixteenths(rng, states, 0.0)
    for _ in range(members):
        P = np.array(
            [
                [sixteenths(rng, states, zeros) for _ in range(actions)]
                for _ in range(states)
            ]
        )
        R = rng.integers(0, 9, (states, actions)) / 8.0
        start = law if rng.random() < 0.5 else sixteenths(rng, states, zeros)
        models.append(
            mdp_from_arrays(
                P, R, order=IndexOrder.STATE_ACTION, details=Details(start=start)
            )
        )
    prior = np.zeros(members)
    prior[: members - without_prior] = rng.dirichlet(np.ones(members - without_prior))
    return LatentMDP(class_from_models(models), prior / prior.sum())


def sixteenths(rng: np.random.Generator, states: int, zeros: float) -> FloatArray:
    """Return a law in sixteenths; a state is left out with chance `zeros`."""
    allowed = np.flatnonzero(rng.random(states) >= zeros)
    if allowed.size == 0:
        allowed = np.array([int(rng.integers(states))])
    counts = np.bincount(rng.choice(allowed, 16), minlength=states)
    law: FloatArray = counts / 16.0
    return law


def random_graph(
    rng: np.random.Generator, form: LossForm, *, copies: int = 2
) -> GraphPolicy:
    """A graph with `copies` nodes per state and random rules, complete for the prior.

    Successors are NOWHERE, half the time, where no model with a prior can go.
    """
    pattern, horizon = form.pattern, form.horizon
    nodes = copies * pattern.n_states  # node n is one of state n // copies
    likely = form.likelihood @ form.latent.prior > 0.0
    since, until, actions, after = [], [], [], []
    rules, nexts = [0], [0]
    for node in range(nodes):
        cuts = [0]
        if horizon is not None and horizon > 1:
            many = int(rng.integers(0, min(3, horizon)))
            cuts += sorted(rng.choice(np.arange(1, horizon), many, replace=False))
        for begin, end in zip(cuts, [*cuts[1:], horizon or 1], strict=True):
            action = int(rng.integers(pattern.n_actions))
            since.append(begin)
            until.append(end - 1)
            actions.append(action)
            row = node // copies * pattern.n_actions + action
            for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                target = copies * int(pattern.indices[k]) + int(rng.integers(copies))
                hidden = not likely[k] and rng.random() < 0.5
                after.append(NOWHERE if hidden else target)
            nexts.append(len(after))
        rules.append(len(actions))
    if horizon == 0:
        rules, since, until, actions, after, nexts = [0] * (nodes + 1), *[[]] * 4, [0]
    start = np.full(pattern.n_states, NOWHERE)
    start[form.root_states] = copies * form.root_states
    return GraphPolicy(
        "random graph",
        pattern,
        horizon,
        np.repeat(np.arange(pattern.n_states), copies),
        start,
        np.array(rules),
        np.array(since),
        np.array(until),
        np.array(actions),
        np.array(nexts),
        np.array(after),
    )


def start_laws(form: LossForm) -> FloatArray:
    simulators = form.latent.simulators
    return np.stack([simulators.start_law(m) for m in range(len(simulators))])


def greedy_policy(form: LossForm) -> BeliefPolicy:
    """The greedy posterior policy (QMDP)."""
    return BeliefPolicy(
        "greedy posterior",
        form.pattern,
        form.horizon,
        form.discount,
        form.latent.prior,
        start_laws(form),
        form.likelihood,
        form.losses,
        np.zeros(form.steps + 1, np.int32),
        np.zeros(form.pattern.n_states + 1, np.int64),
        np.zeros((0, form.n_models)),
    )


def vector_policy(
    rng: np.random.Generator,
    form: LossForm,
    *,
    sets: int = 2,
    most: int = 4,
    corners: bool = False,
) -> BeliefPolicy:
    """A belief policy with random vectors, zero to `most` per state and set.

    With `corners` each model has a vector that is zero in it.
    """
    members, n_states = form.n_models, form.pattern.n_states
    blocks = []
    for _ in range(sets * n_states):
        block = rng.random((int(rng.integers(0, most + 1)), members))
        if corners:
            block = np.concatenate([block, 1.0 - np.eye(members)])
        blocks.append(block)
    plain = greedy_policy(form)
    return BeliefPolicy(
        "belief with vectors",
        plain.pattern,
        plain.horizon,
        plain.discount,
        plain.prior,
        plain.start_law,
        plain.likelihood,
        plain.losses,
        rng.integers(0, sets, form.steps + 1, np.int32),
        np.cumsum([0, *map(len, blocks)]),
        np.concatenate(blocks),
    )


def thompson_policy(form: LossForm) -> ThompsonPolicy:
    """Thompson sampling for the same class."""
    return ThompsonPolicy(
        "thompson",
        form.pattern,
        form.horizon,
        form.discount,
        form.latent.prior,
        start_laws(form),
        form.likelihood,
        form.losses,
    )


def window_policy(rng: np.random.Generator, form: LossForm) -> WindowPolicy:
    """A random table over windows of one or two steps."""
    S, A, length = form.pattern.n_states, form.pattern.n_actions, int(rng.integers(3))
    shape = (form.steps, number_of_windows(S, A, length), S)
    return WindowPolicy(
        "window", S, A, length, form.horizon, rng.integers(0, A, shape, np.int32)
    )


def markov_policies(rng: np.random.Generator, form: LossForm) -> list[MarkovPolicy]:
    """Actions and probabilities, for every step and for all."""
    S, A, H = form.pattern.n_states, form.pattern.n_actions, form.horizon
    tables = [rng.integers(0, A, S), rng.dirichlet(np.ones(A), S)]
    if H is not None:
        tables += [rng.integers(0, A, (H, S)), rng.dirichlet(np.ones(A), (H, S))]
    return [MarkovPolicy("markov", A, table) for table in tables]


def one_of_each(rng: np.random.Generator, form: LossForm) -> list[AnyPolicy]:
    """Every class of policies at least once."""
    return [
        random_graph(rng, form),
        greedy_policy(form),
        vector_policy(rng, form),
        thompson_policy(form),
        window_policy(rng, form),
        *markov_policies(rng, form),
    ]
