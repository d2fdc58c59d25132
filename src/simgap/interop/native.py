"""The native model file `.simgap`: safetensors with a sealed description.

The header carries one JSON text under the key `simgap`, an object of three parts:
`description` (schema, sizes, names, units, notes, hash of the latent MDP); `sha256`,
one digest per array; and `seal`, the digest of the first two. safetensors itself
refuses files that are cut short or lie about their shapes, but cannot see a flipped
bit; the digests do. One text, because safetensors writes several in any order and equal
models should make equal files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidFile, SimgapError
from simgap.interop.sizes import SizeLimit, in_words
from simgap.mdp import (
    Labels,
    LatentMDP,
    Parameters,
    RewardUnits,
    SimulatorClass,
    Transitions,
)

Arrays = dict[str, AnyArray]

SCHEMA = 1
LONGEST_HEADER = 100 * 2**20  # bytes; what safetensors itself allows
TYPES: Mapping[str, tuple[str, ...]] = {
    "indptr": ("int64 x 1",),
    "indices": ("int32 x 1",),
    "probabilities": ("float64 x 2",),
    "rewards": ("float64 x 3",),
    "start": ("int64 x 1", "float64 x 2"),
    "prior": ("float64 x 1",),
    "parameters": ("float64 x 2",),
}  # type and number of axes


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
    reward_offset: float
    reward_factor: float
    notes: tuple[str, ...]
    hash: str


def write_native(latent: LatentMDP, draft: Path) -> None:
    """Write a latent MDP to a file that exists already (a draft to be renamed)."""
    import msgspec
    from safetensors.numpy import save_file

    arrays = _arrays(latent)
    try:
        description = msgspec.json.encode(_description(latent))
    except UnicodeEncodeError as error:
        raise InvalidFile(
            f"a name or note is not text that can be saved: {error}",
            hint="rename it; half of a surrogate pair has no UTF-8 form",
        ) from error
    sums = msgspec.json.encode({key: digest(each) for key, each in arrays.items()})
    header = {
        "description": msgspec.Raw(description),
        "sha256": msgspec.Raw(sums),
        "seal": digest(description, sums),
    }
    text = msgspec.json.encode(header).decode()
    save_file(arrays, draft, metadata={"simgap": text})


def read_native(path: Path, limit: SizeLimit) -> LatentMDP:
    """Return the latent MDP of a file, every array compared with its digest."""
    _check_header(path, limit)
    metadata, arrays = _contents(path)
    description, sums = _sealed(metadata, path)
    _check_arrays(arrays, sums, path)
    latent = _assemble(description, arrays, path)
    if latent.hash != description.hash:
        raise InvalidFile(
            f"{path} has content {latent.hash[:12]}, its header says "
            f"{description.hash[:12]}",
            hint="the file was changed by hand or by another program; export it again",
        )
    return latent


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
        reward_offset=simulators.units.offset,
        reward_factor=simulators.units.factor,
        notes=simulators.notes,
        hash=latent.hash,
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
    return {key: np.ascontiguousarray(array) for key, array in arrays.items()}


def _check_header(path: Path, limit: SizeLimit) -> None:
    size = path.stat().st_size
    limit.check(size, size, str(path))
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
    if size < 8 or length > size - 8 or length > LONGEST_HEADER:
        announced = (
            f"; it announces a header of {in_words(length)}" if size >= 8 else ""
        )
        raise InvalidFile(
            f"{path} is not a .simgap file: {size} bytes{announced}",
            hint="it was cut short or is of another kind; export the model again",
        )


def _contents(path: Path) -> tuple[dict[str, str], dict[str, AnyArray]]:
    from safetensors import SafetensorError, safe_open

    arrays: dict[str, AnyArray] = {}
    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = dict(opened.metadata() or {})
            keys = list(opened.keys())
            for key in keys:
                if key not in TYPES:
                    raise InvalidFile(
                        f"{path} has an unknown array {key[:80]!r}",
                        hint="it is a safetensors file, but not a simgap model",
                    )
                arrays[key] = opened.get_tensor(key)
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise InvalidFile(
            f"{path} is damaged or not a .simgap file: {str(error)[:200]}",
            hint="copy it again from its source, or export the model again",
        ) from error
    return metadata, arrays


def _sealed(
    metadata: Mapping[str, str], path: Path
) -> tuple[Description, dict[str, str]]:
    import msgspec

    if "simgap" not in metadata:
        raise InvalidFile(
            f"{path} is a safetensors file without a simgap description",
            hint="weights of a network are not a model; write models with `export`",
        )
    try:
        header = msgspec.json.decode(metadata["simgap"], type=dict[str, msgspec.Raw])
        text, sums = bytes(header["description"]), bytes(header["sha256"])
        seal = msgspec.json.decode(header["seal"], type=str)
        _check_schema(msgspec.json.decode(text), path)
        if seal != digest(text, sums):
            raise InvalidFile(
                f"the header of {path} does not match its seal",
                hint="the file is damaged; copy or export it again",
            )
        description = msgspec.json.decode(text, type=Description)
        return description, msgspec.json.decode(sums, type=dict[str, str])
    except (msgspec.DecodeError, KeyError, RecursionError) as error:
        raise InvalidFile(
            f"the description in {path} is not understood: {error}",
            hint="the file is damaged; copy or export it again",
        ) from error


def _check_schema(description: Any, path: Path) -> None:
    schema = description.get("schema") if isinstance(description, dict) else None
    if schema != SCHEMA:
        raise InvalidFile(
            f"{path} has schema {schema}, this simgap reads schema {SCHEMA}",
            hint="update simgap, or export the model again with this version",
        )


def _check_arrays(arrays: Arrays, sums: Mapping[str, str], path: Path) -> None:
    for key in [key for key in TYPES if key != "parameters"]:
        if key not in arrays:
            raise InvalidFile(f"{path} has no array {key!r}", hint="export it again")
    for key, array in arrays.items():
        found = f"{array.dtype.name} x {array.ndim}"
        if found not in TYPES[key]:
            raise InvalidFile(
                f"array {key!r} of {path} has type and axes {found}",
                hint=f"it is {' or '.join(TYPES[key])}; export the model again",
            )
        if sums.get(key) != digest(array):
            raise InvalidFile(
                f"array {key!r} of {path} does not match its sha256",
                hint="some bits have changed; copy the file again from its source",
            )


def _assemble(description: Description, arrays: Arrays, path: Path) -> LatentMDP:
    for array in arrays.values():
        array.flags.writeable = False
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
            units=RewardUnits(description.reward_offset, description.reward_factor),
            notes=description.notes,
        )
        return LatentMDP(simulators, arrays["prior"])
    except SimgapError as error:
        raise InvalidFile(f"{path}: {error.problem}", hint=error.hint) from error
