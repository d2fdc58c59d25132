"""Storm's belief exploration on a latent MDP: the peer of the oracle's bracket.

The latent MDP becomes a POMDP with states (model, state), of which only the state is
observed. A discount is a chance to stop; a horizon is a clock in the state, since Storm
bounds steps only for probabilities. `under` unfolds the belief MDP with a growing
number of beliefs and cuts the rest off, `over` triangulates the beliefs with a growing
resolution; each side is a process, which tells every bound that it proves and the CPU
seconds that this bound alone took (building the model apart).
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from benchmarks.results import Asked, answer, started
from simgap.instances.catalogue import build_instance
from simgap.mdp import LatentMDP

SIZES = tuple(2**k for k in range(9, 26))  # beliefs explored for a lower bound
RESOLUTIONS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
MOST_BYTES = 8 * 2**30


def storm_bounds(model: str, **asked: Any) -> list[Asked]:
    """Return bounds of W* that Storm proves; a `horizon` or `discount`, a `budget`."""
    found: list[Asked] = []
    for side in ("under", "over"):
        with suppress(RuntimeError):  # out of memory or time: what it told remains
            everything = {"model": model, "side": side, **asked}
            found += started(sys.executable, "benchmarks.belief_peers", everything)
    return found


def best_bracket(bounds: list[Asked], seconds: float) -> tuple[float, float]:
    """Return the best bounds of W* that took at most `seconds` each."""
    ready = [each for each in bounds if each["seconds"] <= seconds]
    under = [each["value"] for each in ready if each["side"] == "under"]
    over = [each["value"] for each in ready if each["side"] == "over"]
    return max(under, default=-np.inf), min(over, default=np.inf)


def pomdp(latent: LatentMDP, horizon: int | None, discount: float | None) -> Any:
    """Return the POMDP of a latent MDP; a reward is paid until label `done`."""
    import stormpy

    worlds, members = latent.simulators, len(latent.simulators)
    kernel, go_on, steps = worlds.transitions, discount or 1.0, horizon or 1
    n_states, n_actions = kernel.n_states, kernel.n_actions
    layer = n_states * members
    done = 1 + steps * layer
    rewards = np.broadcast_to(worlds.rewards, (members, n_states, n_actions))
    law = [latent.prior[m] * worlds.start_law(m) for m in range(members)]
    pairs = list(product(range(n_states), range(members)))
    first = {1 + s * members + m: law[m][s] for s, m in pairs}
    states = [(steps * n_states, [("go", 0.0, first)])]  # what is seen, choices
    for h in range(steps):
        last = h + 1 == horizon
        below = 1 if horizon is None else 1 + (h + 1) * layer
        for s, m in pairs:
            choices = []
            for a in range(n_actions):
                after = {done: 1.0 if last else 1.0 - go_on}
                edges = kernel.row(m, s, a)
                for t, chance in () if last else zip(*edges, strict=True):
                    after[below + int(t) * members + m] = go_on * float(chance)
                choices.append((f"a{a}", float(rewards[m, s, a]), after))
            states.append((h * n_states + s, choices))
    states.append((steps * n_states + 1, [("go", 0.0, {done: 1.0})]))

    builder = stormpy.datastructures.SparseMatrixBuilder[float](
        0, 0, 0, force_dimensions=False, has_custom_row_grouping=True
    )
    paid = [reward for _, choices in states for _, reward, _ in choices]
    named, row = stormpy.models.ChoiceLabeling(len(paid)), 0
    for name in ("go", *(f"a{a}" for a in range(n_actions))):
        named.add_label(name)
    for _, choices in states:
        builder.new_row_group(row)
        for name, _, after in choices:
            named.add_label_to_choice(name, row)
            for state, chance in sorted(after.items()):
                if chance > 0.0:
                    builder.add_next_value(row, state, float(chance))
            row += 1
    labels = stormpy.models.StateLabeling(len(states))
    for name, state in (("init", 0), ("done", done)):
        labels.add_label(name)
        labels.add_label_to_state(name, state)
    reward = stormpy.models.SparseRewardModel[float](
        optional_state_action_reward_vector=paid
    )
    parts = stormpy.models.SparseModelComponents[float](
        transition_matrix=builder.build(),
        state_labeling=labels,
        reward_models={"paid": reward},
    )
    parts.observability_classes = [seen for seen, _ in states]
    parts.choice_labeling = named
    return stormpy.pomdp.make_canonic(stormpy.models.SparsePomdp[float](parts))


def prove(asked: Asked) -> Iterator[Asked]:
    """Return the bounds of one side, the cheapest first."""
    import stormpy
    import stormpy.pomdp

    budget, side = asked["budget"], asked["side"]
    seconds = int(2.5 * budget + 120.0)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    latent = LatentMDP.uniform(build_instance(asked["model"]))
    model = pomdp(latent, asked["horizon"], asked["discount"])
    (wanted,) = stormpy.parse_properties('R{"paid"}max=? [F "done"]')
    before = float("inf")
    for size in SIZES if side == "under" else RESOLUTIONS:
        begin = time.process_time()
        if side == "under":
            result = stormpy.pomdp.verify_with_belief_unfolding(
                model, wanted, max_exploration_size=size, build_choice_labeling=False
            )
        else:
            result = stormpy.pomdp.verify_with_belief_discretization(
                model, wanted, resolution=size, build_choice_labeling=False
            )
        spent = time.process_time() - begin
        # every belief explored: the lower bound is the value, and an upper bound too
        whole = side == "under" and result.statistics.completed_exploration
        for proved in ("under", "over") if whole else (side,):
            yield {"side": proved, "value": float(result.value), "seconds": spent}
        growth = max(2.0, spent / before)  # the next one takes that much longer
        if whole or growth * spent > 1.2 * budget:
            return
        before = max(spent, 1e-3)


if __name__ == "__main__":
    sys.exit(answer(prove))
