"""Policy files: safetensors with a sealed description, like model files.

The header carries one JSON text under the key `simgap`: `description` says the kind of
policy and its sizes, `sha256` has one digest per array, `seal` is the digest of both.
This file knows names and types of arrays and no policies: `simgap.policies` puts the
parts together again (`load_policy`) and checks that they fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop.sizes import SizeLimit, in_words
from simgap.records import replacing

SCHEMA = 1
LONGEST_HEADER = 100 * 2**20  # bytes; what safetensors itself allows
LARGEST_NUMBER = 2**31 - 1  # of states, actions, steps

WHOLE, OFFSET, REAL = "int32 x 1", "int64 x 1", "float64 x 1"
PATTERN = {"indptr": (OFFSET,), "indices": (WHOLE,)}
TRACKING = {
    "prior": (REAL,),
    "start_law": ("float64 x 2",),
    "likelihood": ("float64 x 2",),
    "losses": ("float64 x 4",),
}
KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "GraphPolicy": {
        **PATTERN,
        "node_state": (WHOLE,),
        "start_node": (WHOLE,),
        "rule_offsets": (OFFSET,),
        "rule_since": (WHOLE,),
        "rule_until": (WHOLE,),
        "rule_action": (WHOLE,),
        "next_offsets": (OFFSET,),
        "next_node": (WHOLE,),
    },
    "BeliefPolicy": {
        **PATTERN,
        **TRACKING,
        "vector_set": (WHOLE,),
        "vector_offsets": (OFFSET,),
        "vectors": ("float64 x 2",),
    },
    "ThompsonPolicy": {**PATTERN, **TRACKING},
    "MarkovPolicy": {"table": (WHOLE, "int32 x 2", "float64 x 2", "float64 x 3")},
    "WindowPolicy": {"actions": ("int32 x 3",)},
}  # arrays of each kind, with type and number of axes


@final
@dataclass(frozen=True, slots=True)
class PolicyDescription:
    """What the header says besides the arrays."""

    schema: int
    kind: str
    name: str
    states: int
    actions: int
    horizon: int | None = None
    discount: float = 1.0
    length: int = 0  # of windows


@final
@dataclass(frozen=True, slots=True, eq=False)
class StoredPolicy:
    """A policy in parts: what a file holds, types and digests checked."""

    description: PolicyDescription
    arrays: Mapping[str, AnyArray]


def save_policy(policy: object, path: str | Path) -> None:
    """Write a policy to a file; an old file is replaced whole."""
    import msgspec
    from safetensors.numpy import save_file

    kind = type(policy).__name__
    if kind not in KINDS:
        raise InvalidArgument(
            f"cannot save a {kind} as a policy", hint=f"policies are {', '.join(KINDS)}"
        )
    pattern: Any = getattr(policy, "pattern", policy)
    arrays = {
        key: np.ascontiguousarray(getattr(pattern if key in PATTERN else policy, key))
        for key in KINDS[kind]
    }
    description = PolicyDescription(
        schema=SCHEMA,
        kind=kind,
        name=getattr(policy, "name"),  # noqa: B009
        states=int(pattern.n_states),
        actions=int(pattern.n_actions),
        horizon=getattr(policy, "horizon", None),
        discount=float(getattr(policy, "discount", 1.0)),
        length=int(getattr(policy, "length", 0)),
    )
    try:
        text = msgspec.json.encode(description)
    except UnicodeEncodeError as error:
        raise InvalidFile(
            f"the name of the policy is not text that can be saved: {error}",
            hint="rename it; half of a surrogate pair has no UTF-8 form",
        ) from error
    sums = msgspec.json.encode({key: digest(each) for key, each in arrays.items()})
    header = msgspec.json.encode(
        {
            "description": msgspec.Raw(text),
            "sha256": msgspec.Raw(sums),
            "seal": digest(text, sums),
        }
    )
    with replacing(Path(path)) as draft:
        save_file(arrays, draft, metadata={"simgap": header.decode()})


def read_policy(path: str | Path, *, max_bytes: int | None = None) -> StoredPolicy:
    """Return the parts of a policy file, every array compared with its digest."""
    source, limit = Path(path), SizeLimit.of(max_bytes)
    try:
        if source.is_dir():
            raise InvalidFile(f"{source} is a folder", hint="name a policy file in it")
        _check_header(source, limit)
        metadata, arrays = _contents(source)
    except FileNotFoundError as error:
        raise InvalidFile(
            f"there is no file {source}", hint="check the name and the folder"
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot read {str(source)[:200]!r}: {error}",
            hint="check the name and the permissions of the file",
        ) from error
    except MemoryError as error:
        raise InvalidFile(
            f"{source} needs more memory than there is",
            hint="use a machine with more memory",
        ) from error
    description, sums = _sealed(metadata, source)
    _check_arrays(description.kind, arrays, sums, source)
    for array in arrays.values():
        array.flags.writeable = False
    return StoredPolicy(description, arrays)


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
            f"{path} is not a policy file: {size} bytes{announced}",
            hint="it was cut short or is of another kind; save the policy again",
        )


def _contents(path: Path) -> tuple[dict[str, str], dict[str, AnyArray]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = dict(opened.metadata() or {})
            return metadata, {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise InvalidFile(
            f"{path} is damaged or not a policy file: {str(error)[:200]}",
            hint="copy it again from its source, or save the policy again",
        ) from error


def _sealed(
    metadata: Mapping[str, str], path: Path
) -> tuple[PolicyDescription, dict[str, str]]:
    import msgspec

    if "simgap" not in metadata:
        raise InvalidFile(
            f"{path} is a safetensors file without a simgap description",
            hint="weights of a network are not a policy of simgap",
        )
    try:
        header = msgspec.json.decode(metadata["simgap"], type=dict[str, msgspec.Raw])
        text, sums = bytes(header["description"]), bytes(header["sha256"])
        seal = msgspec.json.decode(header["seal"], type=str)
        _check_kind(msgspec.json.decode(text), path)
        if seal != digest(text, sums):
            raise InvalidFile(
                f"the header of {path} does not match its seal",
                hint="the file is damaged; copy or save it again",
            )
        description = msgspec.json.decode(text, type=PolicyDescription)
        _check_numbers(description, path)
        return description, msgspec.json.decode(sums, type=dict[str, str])
    except (msgspec.DecodeError, KeyError, RecursionError) as error:
        raise InvalidFile(
            f"the description in {path} is not understood: {error}",
            hint="the file is damaged; copy or save it again",
        ) from error


def _check_kind(description: Any, path: Path) -> None:
    found = description if isinstance(description, dict) else {}
    if "kind" not in found and "model_names" in found:
        raise InvalidFile(
            f"{path} is a model, not a policy",
            hint="load it with load_model; `simgap oracle MODEL --save FILE` makes a "
            "policy",
        )
    if found.get("schema") != SCHEMA:
        raise InvalidFile(
            f"{path} has schema {str(found.get('schema'))[:40]}, this simgap reads "
            f"schema {SCHEMA}",
            hint="update simgap, or save the policy again with this version",
        )
    kind = found.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidFile(
            f"{path} holds a policy of the unknown kind {str(kind)[:80]!r}",
            hint=f"this simgap reads {', '.join(KINDS)}",
        )


def _check_numbers(description: PolicyDescription, path: Path) -> None:
    horizon = 0 if description.horizon is None else description.horizon
    numbers = (description.states, description.actions, description.length, horizon)
    if not all(0 <= each <= LARGEST_NUMBER for each in numbers):
        raise InvalidFile(
            f"{path} names a size that is out of range: {numbers}",
            hint="the file is damaged; copy or save it again",
        )


def _check_arrays(
    kind: str, arrays: Mapping[str, AnyArray], sums: Mapping[str, str], path: Path
) -> None:
    types = KINDS[kind]
    if set(arrays) != set(types):
        odd = sorted(set(arrays) ^ set(types))[0]
        raise InvalidFile(
            f"{path} {'has an unknown' if odd in arrays else 'lacks the'} array "
            f"{odd[:80]!r}",
            hint=f"a {kind} has {', '.join(types)}",
        )
    for key, array in arrays.items():
        found = f"{array.dtype.name} x {array.ndim}"
        if found not in types[key]:
            raise InvalidFile(
                f"array {key!r} of {path} has type and axes {found}",
                hint=f"it is {' or '.join(types[key])}; save the policy again",
            )
        if sums.get(key) != digest(array):
            raise InvalidFile(
                f"array {key!r} of {path} does not match its sha256",
                hint="some bits have changed; copy the file again from its source",
            )
