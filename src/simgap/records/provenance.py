"""Where a record comes from, and what its words say about a class on a grid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, Final, Literal, Protocol, final

from simgap.text import means

Certainty = Literal["exact", "certified", "certified for this grid", "estimated"]
ON_GRID: Final = "certified for this grid"  # of the table, not of its simulator
_BARE = re.compile(
    r"(?<![\w./-])certified(?: (policy|bounds|loss|losses|numbers))?"
    r"(?! for this grid)(?![./-]?\w)"
)
_LEFT_ALONE = ("provenance", "origin", "next", "policy_file", "belief_policy_file")


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """What somebody else needs to get the same numbers again."""

    command: str
    model: Annotated[str, means("the text or path the model was named by")]
    model_hash: Annotated[str, means("of the model's numbers, names and prior")]
    seed: Annotated[int | None, means("of everything sampled; null: nothing was")]
    simgap: str
    python: str
    numpy: str
    grid: Annotated[str | None, means("simulator and grid of a table")] = None


class Identified(Protocol):
    """What a record has to know of a class: `LatentMDP` has it."""

    @property
    def hash(self) -> str: ...

    @property
    def on_grid(self) -> str | None: ...


def provenance(
    *, command: str, model: str, latent: Identified | None, seed: int | None = None
) -> Provenance:
    """Return where a record comes from, with the versions of this installation."""
    found = versions()
    return Provenance(
        command=command,
        model=model,
        model_hash="" if latent is None else latent.hash,
        seed=seed,
        simgap=found["simgap"],
        python=found["python"],
        numpy=found["numpy"],
        grid=None if latent is None else latent.on_grid,
    )


def versions() -> dict[str, str]:
    """Return the versions of this installation that numbers may depend on."""
    from importlib.metadata import version
    from platform import python_version

    return {
        "simgap": version("simgap"),
        "python": python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


def for_this_grid(value: Any, key: str = "") -> Any:
    """Return a value whose texts say "certified for this grid" where they said less.

    A certificate of the table on a grid is not one of the simulator behind it. Texts in
    lists, objects and records are changed as well; "exact" is changed where it is a
    label. Where things come from is left alone. `key` is the field of the value.
    """
    if key in _LEFT_ALONE:
        return value
    if isinstance(value, str):
        if key.endswith("certainty") and value == "exact":
            return ON_GRID
        return _BARE.sub(_of_grid, value)
    if isinstance(value, list | tuple):
        parts = [for_this_grid(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, Mapping):
        inside = key if key.endswith("certainty") else ""
        return {
            name: for_this_grid(each, inside or str(name))
            for name, each in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value)]
        changed = {name: for_this_grid(getattr(value, name), name) for name in names}
        return replace(value, **changed)
    return value


def _of_grid(found: re.Match[str]) -> str:
    return f"{found[1]} {ON_GRID}" if found[1] else ON_GRID
