"""Write a model as .npz, under the keys that `simgap.interop.npz` reads."""

from __future__ import annotations

from typing import IO

import numpy as np

from simgap.arrays import AnyArray
from simgap.errors import InvalidFile
from simgap.interop.grid_file import as_text
from simgap.mdp import LatentMDP, SimulatorClass


def write_npz(latent: LatentMDP, stream: IO[bytes]) -> None:
    """Write the arrays of a latent MDP: dense if stored so, as edges otherwise."""
    simulators = latent.simulators
    kernel, theta = simulators.transitions, simulators.theta
    arrays: dict[str, AnyArray] = {
        "rewards": simulators.rewards[0]
        if simulators.shared_rewards
        else simulators.rewards,
        "prior": latent.prior,
        "model_names": _strings(simulators.model_names, "model names"),
    }
    if kernel.dense:
        shape = (len(simulators), kernel.n_states, kernel.n_actions, kernel.n_states)
        arrays["transitions"] = kernel.values.reshape(shape)
    else:
        arrays |= _edges_of(simulators)
    if simulators.start.ndim == 2:
        laws = simulators.start
        arrays["start"] = laws[0] if len(laws) == 1 else laws
    elif len(simulators.start) == 1:
        arrays["start"] = simulators.start[0].reshape(())
    else:
        arrays["start_states"] = simulators.start
    for key, names in (
        ("state_names", simulators.labels.states),
        ("action_names", simulators.labels.actions),
        ("parameter_names", theta.names),
        ("notes", simulators.notes),
    ):
        if names:
            arrays[key] = _strings(names, key)
    if theta.names:
        arrays["parameters"] = theta.values
    if simulators.grid is not None:
        arrays["grid"] = _strings((as_text(simulators.grid),), "parts of the grid")
        arrays["state_of_node"] = simulators.grid.state_of_node
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # none is allow_pickle


def _edges_of(simulators: SimulatorClass) -> dict[str, AnyArray]:
    kernel = simulators.transitions
    whole = np.int32 if max(kernel.n_states, len(simulators)) < 2**31 else np.int64
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    member, at = np.nonzero(kernel.values)
    edges = np.empty((member.size, 4), whole)
    edges[:, 0] = member
    edges[:, 1] = rows[at] // kernel.n_actions
    edges[:, 2] = rows[at] % kernel.n_actions
    edges[:, 3] = kernel.indices[at]
    shape = (len(simulators), kernel.n_states, kernel.n_actions)
    return {
        "edges": edges,
        "probabilities": kernel.values[member, at],
        "shape": np.array(shape, np.int64),
    }


def _strings(names: tuple[str, ...], what: str) -> AnyArray:
    stored = np.array(names, dtype=np.str_)
    if tuple(stored.tolist()) != names:
        raise InvalidFile(
            f"an .npz cannot hold all {what}: one ends in a NUL character",
            hint="rename it, or save as .simgap",
        )
    return stored
