"""`simgap info`: what is in a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.app.options import AsJson, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP, SimulatorClass
    from simgap.records import Provenance

AS_GIVEN = "counts are exact; other numbers are the model's own, to 7 digits"


@final
@dataclass(frozen=True, slots=True)
class StartLaw:
    """Where episodes begin; states of probability 0 are left out."""

    model: str | None  # null: the law of every model
    states: tuple[int, ...]  # their numbers
    probabilities: tuple[float, ...]  # in the same order


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
    start: tuple[StartLaw, ...]  # one law for all models, or one per model
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
    """Describe a model: sizes, start, parameters, choices made, hash.

    Example: simgap info 'gym:FrozenLake-v1?success_rate=0.3:0.9:7&terminal=restart'
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of
    from simgap.cli.app.output import print_json

    latent = read_model(model, max_bytes_of(max_bytes)).latent
    info = describe(latent, command=str(context.obj), model=model)
    if as_json:
        print_json(info)
    else:
        _print(info)


def describe(latent: LatentMDP, *, command: str, model: str) -> Info:
    """Return what `simgap info` says about a latent MDP."""
    from simgap.records import SCHEMA, provenance

    simulators = latent.simulators
    kernel, theta = simulators.transitions, simulators.theta
    used = (kernel.values != 0.0).any(axis=0)
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
        start=_start(simulators),
        parameters={
            name: tuple(theta.values[:, at].tolist())
            for at, name in enumerate(theta.names)
        },
        rewards={
            "lowest": float(simulators.rewards.min()),
            "highest": float(simulators.rewards.max()),
            "shared": simulators.shared_rewards,
        },
        notes=simulators.notes,
        provenance=provenance(command=command, model=model, latent=latent),
    )


def _start(simulators: SimulatorClass) -> tuple[StartLaw, ...]:
    """Return the laws of the first state: one if all models share it."""
    laws = [simulators.start_law(at) for at in range(len(simulators))]
    names: list[str | None] = list(simulators.model_names)
    if all((law == laws[0]).all() for law in laws):
        laws, names = laws[:1], [None]
    found = []
    for name, law in zip(names, laws, strict=True):
        states = law.nonzero()[0]
        found.append(
            StartLaw(name, tuple(states.tolist()), tuple(law[states].tolist()))
        )
    return tuple(found)


def _told_start(info: Info) -> str:
    """Return in words where episodes begin."""
    first = info.start[0]
    if len(info.start) > 1:
        count = len({state for law in info.start for state in law.states})
        return f"depends on the model, {count} states in all; --json has the laws"
    if len(first.states) == 1:
        return f"state {_state(info, first.states[0])}"
    from simgap.text import number

    top = max(first.probabilities)
    if min(first.probabilities) == top:
        law = f"each {number(top, 4)}"
    else:
        likeliest = first.states[first.probabilities.index(top)]
        law = f"likeliest {_state(info, likeliest)} ({number(top, 4)})"
    return f"one of {len(first.states)} states, {law}"


def _state(info: Info, state: int) -> str:
    from simgap.text import shown

    return shown(info.state_names[state], 30) if info.state_names else f"{state}"


def _print(info: Info) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import number, shown

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
        ("start", _told_start(info)),
        ("hash", info.hash),
    ]
    title = shown(info.provenance.model)
    print_table(
        title,
        ("what", "value"),
        rows,
        AS_GIVEN,
        texts=2,
    )
    columns = ("model", "prior", *(shown(name, 30) for name in info.parameters))
    theta = tuple(info.parameters.values())
    members = [
        (shown(name), number(weight), *(number(values[at]) for values in theta))
        for at, (name, weight) in enumerate(zip(info.names, info.prior, strict=True))
    ]
    print_table(
        "models",
        columns,
        members,
        AS_GIVEN,
    )
    for note in info.notes:
        print_line(f"note: {note}")
