"""Load and save models; the ending of the name says the format.

The native model file `.simgap`: a sealed file with the arrays of a latent MDP.

The description has the schema, sizes, names, notes and the hash of the latent
MDP. Equal models make equal files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, final

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.interop.grid_file import GridDescription, assembled, described
from simgap.interop.npz import read_npy, read_npz, write_npz
from simgap.interop.sealed import FileKind, Sealed, read_sealed, write_sealed
from simgap.interop.sizes import SizeLimit
from simgap.mdp import (
    Labels,
    LatentMDP,
    Parameters,
    RewardUnits,
    SimulatorClass,
    TabularMDP,
    Transitions,
    content_hash,
)
from simgap.user_files import opened, replacing

READABLE = (".simgap", ".npz", ".npy")
WRITABLE = (".simgap", ".npz")
SCHEMA = 1
KIND = FileKind(
    name=".simgap file",
    content="model",
    verb="export",
    texts="a name or note",
    stranger="weights of a network are not a model; write models with `export`",
)
TYPES: Mapping[str, tuple[str, ...]] = {
    "indptr": ("int64 x 1",),
    "indices": ("int32 x 1",),
    "probabilities": ("float64 x 2",),
    "rewards": ("float64 x 3",),
    "start": ("int64 x 1", "float64 x 2"),
    "prior": ("float64 x 1",),
    "parameters": ("float64 x 2",),
    "state_of_node": ("int64 x 1",),
}  # type and number of axes
OPTIONAL = ("parameters", "state_of_node")


def load_model(
    source: str | Path,
    *,
    max_bytes: int | None = None,
    instance: Callable[[str], SimulatorClass] | None = None,
) -> LatentMDP:
    """Return the latent MDP of a file, or of an instance string if told how.

    `max_bytes` limits what the arrays of a file may take together; the default is a
    quarter of the memory at hand. `instance` builds a class from a text that is not
    the name of a file (`simgap.instances.build_instance`); its prior is uniform.
    """
    limit = SizeLimit.of(max_bytes)
    path = Path(source)
    if instance is not None and isinstance(source, str) and not looks_like_file(source):
        return LatentMDP.uniform(instance(source))
    with opened(path, "model file", endings=READABLE) as stream:
        if path.suffix == ".simgap":
            return read_native(stream, path, limit)
        if path.suffix == ".npz":
            return read_npz(stream, path, limit)
        if path.suffix == ".npy":
            return read_npy(stream, path, limit)
    raise InvalidFile(
        f"{path} has the ending {path.suffix!r}, which is no model format",
        hint=f"model files end in {', '.join(READABLE)}",
    )


def save_model(
    model: LatentMDP | SimulatorClass | TabularMDP, path: str | Path
) -> None:
    """Write a model as .simgap or .npz; an old file is replaced whole.

    A class or a single model is written with the uniform prior.
    """
    if isinstance(model, TabularMDP):
        model = model.as_class()
    latent = LatentMDP.uniform(model) if isinstance(model, SimulatorClass) else model
    if not isinstance(latent, LatentMDP):
        raise InvalidArgument(
            f"cannot save a {type(model).__name__} as a model",
            hint="give a LatentMDP, a SimulatorClass or a TabularMDP",
        )
    target = Path(path)
    if target.suffix not in WRITABLE:
        raise InvalidFile(
            f"cannot write a model as {target.name[:100]!r}",
            hint=f"the ending says the format: {' or '.join(WRITABLE)}",
        )
    with replacing(target) as draft:
        if target.suffix == ".simgap":
            write_native(latent, draft)
        else:
            with draft.open("wb") as stream:
                write_npz(latent, stream)


def looks_like_file(text: str) -> bool:
    """Return whether a text names a file: it exists, or it ends as model files do."""
    try:
        if Path(text).exists():
            return True
    except (OSError, ValueError):  # too long, or with a NUL: not a file
        return False
    return "?" not in text and Path(text).suffix in READABLE


@final
@dataclass(frozen=True, slots=True)
class Description:
    """What the header says besides the arrays."""

    schema: int
    states: int
    actions: int
    model_names: tuple[str, ...]
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    reward_offset: float  # 0 and 1: rewards are the user's own; files of simgap 0.1
    reward_factor: float  # could have others
    notes: tuple[str, ...]
    hash: str
    grid: GridDescription | None = None  # of a class on a grid


def write_native(latent: LatentMDP, draft: Path) -> None:
    """Write a latent MDP to a file that exists already (a draft to be renamed)."""
    write_sealed(KIND, _description(latent), _arrays(latent), draft)


def read_native(stream: BinaryIO, path: Path, limit: SizeLimit) -> LatentMDP:
    """Return the latent MDP of a file, every array compared with its digest."""
    stored = read_sealed(KIND, stream, path, limit, Description, _check_schema)
    _check_names(stored.names, path)
    written, about = _assemble(stored, stored.arrays(TYPES)), stored.description
    scale = about.reward_offset, about.reward_factor
    found = digest(content_hash(written.simulators, scale).encode(), written.prior)
    if found != about.hash:
        raise InvalidFile(
            f"{path} has content {found[:12]}, its header says {about.hash[:12]}",
            hint="the file was changed by hand or by another program; export it again",
        )
    rewards = RewardUnits(*scale).meant(written.simulators.rewards)
    return LatentMDP(replace(written.simulators, rewards=rewards), written.prior)


def _description(latent: LatentMDP) -> Description:
    simulators = latent.simulators
    return Description(
        schema=SCHEMA,
        states=simulators.n_states,
        actions=simulators.n_actions,
        model_names=simulators.model_names,
        state_names=simulators.labels.states,
        action_names=simulators.labels.actions,
        parameter_names=simulators.theta.names,
        reward_offset=0.0,
        reward_factor=1.0,
        notes=simulators.notes,
        hash=latent.hash,
        grid=None if simulators.grid is None else described(simulators.grid),
    )


def _arrays(latent: LatentMDP) -> dict[str, AnyArray]:
    simulators = latent.simulators
    kernel = simulators.transitions
    arrays: dict[str, AnyArray] = {
        "indptr": kernel.indptr,
        "indices": kernel.indices,
        "probabilities": kernel.values,
        "rewards": simulators.rewards,
        "start": simulators.start,
        "prior": latent.prior,
    }
    if simulators.theta.names:
        arrays["parameters"] = simulators.theta.values
    if simulators.grid is not None:
        arrays["state_of_node"] = simulators.grid.state_of_node
    return arrays


def _check_schema(description: Any, path: Path) -> None:
    found = description if isinstance(description, dict) else {}
    if "kind" in found and "model_names" not in found:
        raise InvalidFile(
            f"{path} is a policy, not a model", hint="load it with load_policy"
        )
    schema = found.get("schema")
    if schema != SCHEMA:
        raise InvalidFile(
            f"{path} has schema {schema}, this simgap reads schema {SCHEMA}",
            hint="update simgap, or export the model again with this version",
        )


def _check_names(names: Collection[str], path: Path) -> None:
    for key in names:
        if key not in TYPES:
            raise InvalidFile(
                f"{path} has an unknown array {key[:80]!r}",
                hint="it is a safetensors file, but not a simgap model",
            )
    for key in TYPES:
        if key not in names and key not in OPTIONAL:
            raise InvalidFile(f"{path} has no array {key!r}", hint="export it again")


def _assemble(stored: Sealed[Description], arrays: Mapping[str, AnyArray]) -> LatentMDP:
    description = stored.description
    try:
        simulators = SimulatorClass(
            transitions=Transitions(
                description.states,
                description.actions,
                arrays["indptr"],
                arrays["indices"],
                arrays["probabilities"],
            ),
            rewards=arrays["rewards"],
            start=arrays["start"],
            model_names=description.model_names,
            labels=Labels(description.state_names, description.action_names),
            parameters=Parameters(description.parameter_names, arrays["parameters"])
            if "parameters" in arrays
            else None,
            notes=description.notes,
            grid=assembled(description.grid, arrays["state_of_node"])
            if description.grid is not None and "state_of_node" in arrays
            else None,
        )
        return LatentMDP(simulators, arrays["prior"])
    except SimgapError as error:
        raise InvalidFile(f"{stored.path}: {error.problem}", hint=error.hint) from error
