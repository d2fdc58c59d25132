"""Read models from numpy's own files, .npz and .npy, and write them as .npz.

Keys of an .npz: `transitions` (M,S,A,S) or (S,A,S), or the pymdptoolbox
order under `transitions_action_first` (M,A,S,S) or (A,S,S), or `edges` (n,4) of
(m,s,a,s') with `probabilities` (n,) and `shape` (M,S,A); `rewards` (S,A) or (M,S,A);
optional `prior` (M,), `start` (a state, or a law (S,) or (M,S)), `start_states` (M,),
`model_names`, `state_names`, `action_names`, `parameters` (M,P) with
`parameter_names`, `reward_offset`, `reward_factor`, `notes`, and of a class on a grid
`grid` and `state_of_node`. Other keys are refused:
a misspelt `prior` must not turn into a uniform one.

A bare `.npy` is a kernel without rewards. It is read only with a sibling
`<stem>.rewards.npy`, and only when its shape tells the order of its axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from simgap.arrays import AnyArray
from simgap.errors import InvalidFile, InvalidModel
from simgap.interop.grid_file import as_text, assembled, of_text
from simgap.interop.npz_arrays import KERNELS, read_npy_array, read_npz_arrays
from simgap.interop.sizes import SizeLimit
from simgap.mdp import (
    Details,
    GridOrigin,
    IndexOrder,
    LatentMDP,
    Parameters,
    RewardUnits,
    SimulatorClass,
    class_from_arrays,
    class_from_edges,
)
from simgap.user_files import MOST_VALUES, opened

Arrays = Mapping[str, AnyArray]
LAST_LETTER = 0x10FFFF


def read_npz(stream: BinaryIO, path: Path, limit: SizeLimit) -> LatentMDP:
    """Return the latent MDP of an .npz; without `prior` it is uniform."""
    arrays = read_npz_arrays(stream, path, limit)
    _check_keys(arrays, path)
    simulators = _simulators(arrays, path, limit)
    if "prior" not in arrays:
        return LatentMDP.uniform(simulators)
    return LatentMDP(simulators, arrays["prior"])


def read_npy(stream: BinaryIO, path: Path, limit: SizeLimit) -> LatentMDP:
    """Return the latent MDP of a kernel `x.npy` with its `x.rewards.npy`."""
    if path.name.endswith(".rewards.npy"):
        raise InvalidFile(
            f"{path} holds rewards, not a kernel",
            hint=f"name the kernel: {path.name.removesuffix('.rewards.npy')}.npy",
        )
    sibling = path.with_name(f"{path.stem}.rewards.npy")
    if not sibling.exists():
        raise InvalidFile(
            f"{path} is a bare array: a kernel without rewards is not a model",
            hint=f"put the rewards (S, A) beside it as {sibling.name}, or save both "
            "with numpy.savez(..., transitions=P, rewards=R)",
        )
    kernel = read_npy_array(stream, path, limit)
    with opened(sibling, "file of rewards") as beside:
        rewards = read_npy_array(beside, sibling, limit)
    if kernel.ndim == 3:
        kernel = kernel[None]
    try:
        return LatentMDP.uniform(class_from_arrays(kernel, rewards))
    except InvalidModel as error:
        if error.code != "kernel-order":
            raise
        raise InvalidModel(
            error.problem,
            hint="a .npy cannot say which: save an .npz with the key `transitions` "
            "for [state, action, next] or `transitions_action_first`",
        ) from error


def _check_keys(arrays: Arrays, path: Path) -> None:
    kernels = [key for key in KERNELS if key in arrays]
    if len(kernels) != 1:
        raise InvalidFile(
            f"{path} has {' and '.join(kernels) or 'no transitions'}",
            hint="a model has one of `transitions` (S,A,S), "
            "`transitions_action_first` (A,S,S), or `edges` with `probabilities` "
            "and `shape`",
        )
    needed = ["rewards"]
    if kernels == ["edges"]:
        needed += ["probabilities", "shape"]
    for first, second in (
        ("parameters", "parameter_names"),
        ("parameter_names", "parameters"),
        ("probabilities", "edges"),
        ("shape", "edges"),
        ("grid", "state_of_node"),
        ("state_of_node", "grid"),
    ):
        if first in arrays:
            needed.append(second)
    for key in needed:
        if key not in arrays:
            raise InvalidFile(
                f"{path} has no array {key!r}; it has {', '.join(sorted(arrays))}",
                hint=f"add {key!r}; docs/files.md describes all arrays",
            )
    if "start" in arrays and "start_states" in arrays:
        raise InvalidFile(
            f"{path} has both 'start' and 'start_states'", hint="keep one of them"
        )


def _simulators(arrays: Arrays, path: Path, limit: SizeLimit) -> SimulatorClass:
    details, rewards = _details(arrays, path), arrays["rewards"]
    if "edges" in arrays:
        shape = _shape(arrays["shape"], path)
        _check_edges(arrays, shape, path, limit)
        return class_from_edges(
            arrays["edges"],
            arrays["probabilities"],
            rewards,
            shape=shape,
            details=details,
        )
    key = "transitions" if "transitions" in arrays else "transitions_action_first"
    kernel = arrays[key]
    order = IndexOrder.STATE_ACTION if key == "transitions" else IndexOrder.ACTION_STATE
    if kernel.ndim == 3:
        kernel = kernel[None]
    try:
        return class_from_arrays(kernel, rewards, order=order, details=details)
    except InvalidModel as error:
        raise _better_hint(error, key, kernel) from error


def _better_hint(error: InvalidModel, key: str, kernel: AnyArray) -> InvalidModel:
    if kernel.ndim == 4 and error.code == "kernel-shape":
        other = {"transitions": "transitions_action_first"}.get(key, "transitions")
        return InvalidModel(
            f"`{key}`: {error.problem}",
            hint=f"if your axes are in the other order, store them as `{other}`",
        )
    coarse = kernel.dtype.kind == "f" and kernel.dtype.itemsize < 8
    if coarse and error.code == "row-sum":
        return InvalidModel(
            error.problem,
            hint=f"the file stores {kernel.dtype}, which rounds too much; "
            "divide rows by their sums in float64 and save that",
        )
    return error


def _details(arrays: Arrays, path: Path) -> Details:
    start: Any = arrays.get("start_states", np.array(0))
    if start.ndim > 1 or start.dtype.kind not in "iu":
        raise InvalidFile(
            f"'start_states' of {path} has shape {start.shape} and type {start.dtype}",
            hint="it is one whole number per model",
        )
    if "start" in arrays:
        start = arrays["start"]
        if start.ndim > 0 and start.dtype.kind in "biu":
            start = start.astype(np.float64)  # (S,) and (M,S) are laws by contract
    parameters = None
    if "parameters" in arrays:
        if arrays["parameters"].dtype.kind not in "biuf":
            raise InvalidFile(
                f"'parameters' of {path} are not numbers",
                hint="parameters are numbers (M, P)",
            )
        parameters = Parameters(
            _names(arrays, "parameter_names", path), arrays["parameters"]
        )
    return Details(
        start=start,
        model_names=_names(arrays, "model_names", path),
        state_names=_names(arrays, "state_names", path),
        action_names=_names(arrays, "action_names", path),
        parameters=parameters,
        units=RewardUnits(
            _scalar(arrays, "reward_offset", 0.0, path),
            _scalar(arrays, "reward_factor", 1.0, path),
        ),
        notes=_names(arrays, "notes", path),
        grid=_grid(arrays, path),
    )


def _grid(arrays: Arrays, path: Path) -> GridOrigin | None:
    """Return the grid of a class that was made with one."""
    texts = _names(arrays, "grid", path)
    if not texts:
        return None
    states = arrays["state_of_node"]
    if states.ndim != 1 or states.dtype.kind not in "iu":
        raise InvalidFile(
            f"'state_of_node' of {path} has shape {states.shape} and type "
            f"{states.dtype}",
            hint="it is one state for every node of the grid",
        )
    return assembled(of_text(texts[0], f"'grid' of {path}"), states)


def _names(arrays: Arrays, key: str, path: Path) -> tuple[str, ...]:
    if key not in arrays:
        return ()
    given = arrays[key]
    if given.ndim != 1 or given.dtype.kind not in "US":
        raise InvalidFile(
            f"{key!r} of {path} has shape {given.shape} and type {given.dtype}",
            hint="names are a one-dimensional array of strings",
        )
    if given.size > MOST_VALUES:
        raise InvalidFile(
            f"{key!r} of {path} has {given.size} names, {MOST_VALUES} are allowed",
            hint="leave names out: states and actions have numbers",
        )
    if given.dtype.kind == "U" and given.size and given.dtype.itemsize:
        letters = given.astype(given.dtype.newbyteorder("=")).view(np.uint32)
        if (letters > LAST_LETTER).any():
            raise InvalidFile(
                f"{key!r} of {path} is not text: it has numbers beyond Unicode",
                hint="the file is damaged; make it again",
            )
    try:
        return tuple(
            name.decode() if isinstance(name, bytes) else str(name)
            for name in given.tolist()
        )
    except (UnicodeDecodeError, ValueError) as error:
        raise InvalidFile(
            f"{key!r} of {path} is not text: {error}", hint="names are UTF-8"
        ) from error


def _scalar(arrays: Arrays, key: str, default: float, path: Path) -> float:
    if key not in arrays:
        return default
    given = arrays[key]
    if given.size != 1 or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise InvalidFile(
            f"{key!r} of {path} is not one finite number", hint="store a float"
        )
    value = float(given.reshape(()))
    if key == "reward_factor" and value == 0.0:
        raise InvalidFile(f"{key!r} of {path} is zero", hint="a factor is not zero")
    return value


def _shape(given: AnyArray, path: Path) -> tuple[int, int, int]:
    if given.shape != (3,) or given.dtype.kind not in "iu":
        raise InvalidFile(
            f"'shape' of {path} has shape {given.shape} and type {given.dtype}",
            hint="it is three whole numbers: models, states, actions",
        )
    members, n_states, n_actions = (int(size) for size in given)
    return members, n_states, n_actions


def _check_edges(
    arrays: Arrays, shape: tuple[int, int, int], path: Path, limit: SizeLimit
) -> None:
    """Refuse a small file that asks for a large class before that is allocated."""
    edges = arrays["edges"]
    members, n_states, n_actions = shape
    if min(shape) < 1 or edges.ndim != 2 or edges.shape[1] != 4:
        return  # the builder says what is wrong
    rows = members * n_states * n_actions
    if rows > len(edges) and 8 * rows > 2**20:
        raise InvalidFile(
            f"{path} announces {members} models of {n_states} states and {n_actions} "
            f"actions but has only {len(edges)} edges",
            hint="every (model, state, action) needs at least one edge",
        )
    what = f"the class in {path}"
    if 8 * members * len(edges) > limit.bytes and edges.dtype.kind in "iu":
        table = edges[:, 1:].astype(np.int64)
        keys = (table[:, 0] * n_actions + table[:, 1]) * n_states + table[:, 2]
        limit.check(8 * members * np.unique(keys).size, what)


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
