"""The peers named in the comparisons, and the models they are given."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.results import Timed, timed
from benchmarks.twins import stacked
from simgap.arrays import FloatArray, IndexArray
from simgap.mdp import SimulatorClass, TabularMDP, class_from_edges, mdp_from_arrays


def garnet(states: int, *, members: int = 1) -> SimulatorClass:
    """Return random models with 4 actions and 5 successors a pair, random rewards."""
    edges, weights, rewards = garnet_edges(states, members)
    return class_from_edges(edges, weights, rewards, shape=(members, *rewards.shape))


def garnet_edges(
    states: int, members: int
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return the edges (model, state, action, next state) of such models."""
    rng = np.random.default_rng(states)
    actions, branching = 4, 5
    rows = states * actions
    after = np.argsort(rng.random((rows, min(states, 64))), axis=1)[:, :branching]
    after = (after + rng.integers(states, size=(rows, 1))) % states
    after[:, 0] = (np.arange(rows) // actions + 1) % states  # a cycle through all
    laws = [rng.dirichlet(np.ones(branching), size=rows) for _ in range(members)]
    model, row, _ = np.indices((members, rows, branching)).reshape(3, -1)
    edges = [model, *np.divmod(row, actions), np.tile(after.ravel(), members)]
    rewards = rng.random((states, actions))
    return np.column_stack(edges), np.concatenate(laws).ravel(), rewards


def dense(states: int) -> SimulatorClass:
    """Return a random model whose rows have no zeros."""
    rng = np.random.default_rng(states)
    law = rng.dirichlet(np.ones(states), size=(states, 4))
    return mdp_from_arrays(law, rng.random((states, 4))).as_class()


class Storm:
    """Storm's sound optimistic value iteration, long-run averages and horizons."""

    def __init__(self, model: TabularMDP) -> None:
        import stormpy

        self._storm = stormpy
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.drn"
            path.write_text(_drn(model))
            self._model = stormpy.build_model_from_drn(str(path))
        self._environment = stormpy.environments.sound()
        settings = self._environment.solver().min_max()
        settings.method = stormpy.environments.MinMaxMethod.OPTIMISTIC_VALUE_ITERATION
        settings.precision = stormpy.Rational("1e-8")

    def travel(self, target: int) -> Timed:
        text = f'R{{"steps"}}min=? [F "t{target}"]'
        return self._checked(text, environment=self._environment)

    def gain(self) -> Timed:
        spent, values = self._checked('R{"reward"}max=? [LRA]')
        return spent, float(values[0])

    def horizon(self, horizon: int) -> Timed:
        return self._checked(f'R{{"reward"}}max=? [C<={horizon}]')

    def _checked(self, text: str, **options: Any) -> Timed:
        """Return values at all states; parsing a question is not counted."""
        (asked,) = self._storm.parse_properties(text)
        spent, result = timed(self._storm.model_checking, self._model, asked, **options)
        return spent, np.array(result.get_value_vector())


class Toolbox:
    """pymdptoolbox's relative value iteration; its input checks are not counted."""

    def __init__(self, model: TabularMDP) -> None:
        self.stacked, actions = stacked(model.as_class()), model.n_actions
        self._kernels = [
            sparse.csr_matrix(self.stacked[a::actions]) for a in range(actions)
        ]
        self._rewards = np.array(model.rewards)

    def gain(self) -> Timed:
        from mdptoolbox import mdp

        solver = mdp.RelativeValueIteration(
            self._kernels, self._rewards, epsilon=1e-8, max_iter=200_000
        )
        spent, _ = timed(solver.run)
        return spent, float(solver.average_reward)


def _drn(model: TabularMDP) -> str:
    """Return a model in Storm's explicit text format, with a label for every state."""
    kernel = model.transitions
    lines = ["@type: MDP", "@value_type: double", "@parameters", "", "@reward_models"]
    lines += ["reward steps", "@nr_states", str(model.n_states)]
    lines += ["@nr_choices", str(model.n_states * model.n_actions), "@model"]
    for state in range(model.n_states):
        first = "init " if state == 0 else ""
        lines.append(f"state {state} [0, 0] {first}t{state}")
        for action in range(model.n_actions):
            lines.append(
                f"\taction {action} [{float(model.rewards[state, action])!r}, 1]"
            )
            successors, weights = kernel.row(0, state, action)
            lines += [
                f"\t\t{after} : {float(weight)!r}"
                for after, weight in zip(successors, weights, strict=True)
                if weight > 0.0
            ]
    return "\n".join(lines) + "\n"


def quantecon_values(P: Any, R: FloatArray, horizon: int) -> Callable[[], Timed]:
    """Return what computes V*_1 by quantecon; its checks are not counted."""
    from quantecon.markov import DiscreteDP, ddp

    pairs = np.divmod(np.arange(R.size), R.shape[1])
    chain = DiscreteDP(R.reshape(-1), P, 1.0, *pairs)

    def values() -> Timed:
        spent, (found, _) = timed(ddp.backward_induction, chain, horizon)
        return spent, found[0]

    return values
