"""`simgap info`: what is in a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.options import AsJson, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP
    from simgap.records import Provenance


@final
@dataclass(frozen=True, slots=True)
class Info:
    """Everything here is a count or a copy, so it is exact."""

    schema: int
    models: int
    states: int
    actions: int
    nonzeros: int  # (s, a, s') that some model gives a probability
    bytes: int
    hash: str  # of the numbers, the names and the prior
    class_hash: str  # without the prior
    names: tuple[str, ...]  # of the models
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    prior: tuple[float, ...]
    parameters: dict[str, tuple[float, ...]]  # name -> one value per model
    rewards: dict[str, float | bool]
    notes: tuple[str, ...]
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Describe a model: sizes, parameters, choices made, hash."""
    from simgap.cli.models import read_model
    from simgap.cli.output import print_json

    latent = read_model(model, max_bytes)
    info = describe(latent, command=str(context.obj), model=model)
    if as_json:
        print_json(info)
    else:
        _print(info)


def describe(latent: LatentMDP, *, command: str, model: str) -> Info:
    """Return what `simgap info` says about a latent MDP."""
    from simgap.records import SCHEMA, provenance

    simulators = latent.simulators
    kernel, theta, units = simulators.transitions, simulators.theta, simulators.units
    used = (kernel.values != 0.0).any(axis=0)
    ends = [
        units.total(float(each), 1)
        for each in (simulators.rewards.min(), simulators.rewards.max())
    ]
    return Info(
        schema=SCHEMA,
        models=len(simulators),
        states=simulators.n_states,
        actions=simulators.n_actions,
        nonzeros=int(used.sum()),
        bytes=simulators.nbytes,
        hash=latent.hash,
        class_hash=simulators.hash,
        names=simulators.model_names,
        state_names=simulators.labels.states,
        action_names=simulators.labels.actions,
        prior=tuple(latent.prior.tolist()),
        parameters={
            name: tuple(theta.values[:, at].tolist())
            for at, name in enumerate(theta.names)
        },
        rewards={
            "lowest": min(ends),
            "highest": max(ends),
            "shared": simulators.shared_rewards,
            "offset": units.offset,
            "factor": units.factor,
        },
        notes=simulators.notes,
        provenance=provenance(command=command, model=model, model_hash=latent.hash),
    )


def _print(info: Info) -> None:
    from simgap.cli.output import print_line, print_table
    from simgap.report.words import number, shown

    share = info.nonzeros / (info.states * info.actions * info.states)
    low, high = float(info.rewards["lowest"]), float(info.rewards["highest"])
    shared = "shared" if info.rewards["shared"] else "one table per model"
    rows = [
        ("models", f"{info.models}"),
        ("states", f"{info.states}"),
        ("actions", f"{info.actions}"),
        ("nonzeros", f"{info.nonzeros} ({100 * share:.3g} % of all)"),
        ("memory", f"{info.bytes} bytes"),
        ("rewards", f"{number(low)} to {number(high)}, {shared}"),
        ("hash", info.hash),
    ]
    title = shown(info.provenance.model)
    print_table(title, ("what", "value"), rows, "all numbers exact", texts=2)
    columns = ("model", "prior", *(shown(name, 30) for name in info.parameters))
    theta = tuple(info.parameters.values())
    members = [
        (shown(name), number(weight), *(number(values[at]) for values in theta))
        for at, (name, weight) in enumerate(zip(info.names, info.prior, strict=True))
    ]
    print_table("models", columns, members, "all numbers exact")
    for note in info.notes:
        print_line(f"note: {note}")
