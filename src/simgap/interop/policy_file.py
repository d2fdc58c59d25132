"""Policy files: sealed files with the arrays of one policy.

The description says the kind of policy and its sizes. This file knows names and types
of arrays and no policies: `simgap.policies` puts the parts together again
(`load_policy`) and checks that they fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.arrays import AnyArray
from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop.grid_file import GridDescription, assembled, described
from simgap.interop.sealed import FileKind, Sealed, read_sealed, write_sealed
from simgap.interop.sizes import SizeLimit
from simgap.mdp import GridOrigin
from simgap.user_files import opened, replacing

SCHEMA = 1
FILE = FileKind(
    name="policy file",
    content="policy",
    verb="save",
    texts="the name of the policy",
    stranger="weights of a network are not a policy of simgap",
)
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
SPARE = "fallback_"  # arrays of the belief policy that plays on outside a graph
NODES = "state_of_node"  # the array of a grid
SPARES = {
    f"{SPARE}{key}": types
    for key, types in KINDS["BeliefPolicy"].items()
    if key not in PATTERN
}


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
    fallback: str = ""  # the name of the belief policy behind a graph, if it has one
    grid: GridDescription | None = None  # that its states are nodes of, if they are


@final
@dataclass(frozen=True, slots=True, eq=False)
class StoredPolicy:
    """A policy in parts: what a file holds, types and digests checked."""

    description: PolicyDescription
    arrays: Mapping[str, AnyArray]

    @property
    def grid(self) -> GridOrigin | None:
        """Return the grid that the states are nodes of, if the file has one."""
        about = self.description.grid
        return None if about is None else assembled(about, self.arrays[NODES])


def save_policy(
    policy: object, path: str | Path, *, grid: GridOrigin | None = None
) -> None:
    """Write a policy to a file; an old file is replaced whole.

    With the `grid` of its class the policy can be played in the simulator itself.
    """
    kind = type(policy).__name__
    if kind not in KINDS:
        raise InvalidArgument(
            f"cannot save a {kind} as a policy", hint=f"policies are {', '.join(KINDS)}"
        )
    pattern: Any = getattr(policy, "pattern", policy)
    arrays = {
        key: getattr(pattern if key in PATTERN else policy, key) for key in KINDS[kind]
    }
    spare: Any = getattr(policy, "fallback", None)
    if spare is not None:
        fits = type(spare).__name__ == "BeliefPolicy" and spare.pattern.same(pattern)
        spare = spare if fits else None  # others cannot be put together again
    if spare is not None:
        arrays |= {key: getattr(spare, key.removeprefix(SPARE)) for key in SPARES}
    if grid is not None:
        grid.check(int(pattern.n_states))
        arrays |= {NODES: grid.state_of_node}
    description = PolicyDescription(
        schema=SCHEMA,
        kind=kind,
        name=getattr(policy, "name"),  # noqa: B009
        states=int(pattern.n_states),
        actions=int(pattern.n_actions),
        horizon=getattr(policy, "horizon", None),
        discount=float(getattr(spare or policy, "discount", 1.0)),
        length=int(getattr(policy, "length", 0)),
        fallback="" if spare is None else spare.name,
        grid=None if grid is None else described(grid),
    )
    with replacing(Path(path)) as draft:
        write_sealed(FILE, description, arrays, draft)


def read_policy(path: str | Path) -> StoredPolicy:
    """Return the parts of a policy file, every array compared with its digest."""
    source, limit = Path(path), SizeLimit.of()
    with opened(source, FILE.name, endings=(".simgap",)) as stream:
        stored = read_sealed(
            FILE, stream, source, limit, PolicyDescription, _check_kind
        )
        _check_numbers(stored)
        _check_names(stored)
        arrays = stored.arrays(_types(stored.description))
    return StoredPolicy(stored.description, arrays)


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


def _check_numbers(stored: Sealed[PolicyDescription]) -> None:
    description = stored.description
    horizon = 0 if description.horizon is None else description.horizon
    numbers = (description.states, description.actions, description.length, horizon)
    if not all(0 <= each <= LARGEST_NUMBER for each in numbers):
        raise InvalidFile(
            f"{stored.path} names a size that is out of range: {numbers}",
            hint=FILE.damaged,
        )


def _types(description: PolicyDescription) -> Mapping[str, tuple[str, ...]]:
    """Return the arrays of a file with their types; older graphs stand alone."""
    own = KINDS[description.kind]
    spared = description.kind == "GraphPolicy" and description.fallback
    placed = {} if description.grid is None else {NODES: (OFFSET,)}
    return {**own, **(SPARES if spared else {}), **placed}


def _check_names(stored: Sealed[PolicyDescription]) -> None:
    kind, names = stored.description.kind, set(stored.names)
    types = _types(stored.description)
    if names != set(types):
        odd = sorted(names ^ set(types))[0]
        raise InvalidFile(
            f"{stored.path} {'has an unknown' if odd in names else 'lacks the'} array "
            f"{odd[:80]!r}",
            hint=f"a {kind} has {', '.join(types)}",
        )
