"""What is in a model, which models are there, and a model as a file."""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path
from typing import Any

from simgap.answers.model import Model, named_model
from simgap.continuous import BUILT_IN, domain_text, open_simulator
from simgap.instances import (
    CATALOGUE,
    CONTROLS,
    DISCRETISE,
    ENVIRONMENTS,
    GYM,
    GYM_CHOICES,
    control_keys,
)
from simgap.interop import READABLE, WRITABLE, save_model
from simgap.mdp import SimulatorClass
from simgap.records.info import Export, Info, List, Listed, StartLaw
from simgap.records.note import class_notes
from simgap.records.provenance import provenance
from simgap.text import number


def info(model: Model) -> Info:
    """Return what is in a model: sizes, start, parameters, choices made, hash.

    >>> from simgap.answers.info import info
    >>> found = info("riverswim?states=3&success=0.3,0.8")
    >>> found.models, found.states, found.parameters
    (2, 3, {'success': (0.3, 0.8)})
    """
    given = named_model(model)
    latent, simulators = given.latent, given.latent.simulators
    kernel, theta = simulators.transitions, simulators.theta
    used = (kernel.values != 0.0).any(axis=0)
    return Info(
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
        notes=class_notes(simulators.notes),
        provenance=provenance(command="", model=given.name, latent=latent),
    )


def list_models() -> List:
    """Return the instances and the file formats that a model may be named by."""
    own = [
        Listed(
            name,
            entry.about,
            {
                key: f"{each.meaning}; {each.kind.value}"
                + (f"; default {each.default}" if each.default else "")
                for key, each in entry.parameters.items()
            },
        )
        for name, entry in CATALOGUE.items()
    ]
    choices = {
        key: f"one of {', '.join(str(each.value) for each in offered)}"
        for key, offered in GYM_CHOICES.items()
    }
    gym = [
        Listed(
            GYM + name,
            each.about,
            dict.fromkeys(each.parameters, "a number, a range a:b:n or a list a,b,c")
            | {
                key: f"one of {', '.join(str(value).lower() for value in allowed)}"
                for key, (_, allowed) in each.settings.items()
            }
            | choices,
        )
        for name, each in ENVIRONMENTS.items()
    ]
    controls = [
        Listed(DISCRETISE + name, each.about, control_keys(each))
        for name, each in CONTROLS.items()
    ]
    return List(
        instances=(*own, *gym, *controls),
        readable=READABLE,
        writable=WRITABLE,
        simulators=tuple(Listed(name, about, {}) for name, about in BUILT_IN.items()),
    )


def list_parameters(simulator: Any) -> List:
    """Return the parameters of a simulator: nominal values, units and domains."""
    opened = open_simulator(simulator)
    told = {
        each.name: "; ".join(
            filter(
                None,
                (
                    f"nominal {number(each.nominal)} {each.unit}".strip(),
                    domain_text(each) if isfinite(max(each.low, -each.high)) else "",
                    each.meaning,
                ),
            )
        )
        for each in opened.parameters
    }
    about = BUILT_IN.get(opened.name, "")
    return List(
        instances=(),
        readable=READABLE,
        writable=WRITABLE,
        simulators=(Listed(opened.name, about, told),),
    )


def export(model: Model, file: str | os.PathLike[str]) -> Export:
    """Write a model as .simgap or .npz; an old file is replaced whole."""
    given = named_model(model)
    save_model(given.latent, Path(file))
    return Export(
        path=os.fspath(file),
        hash=given.latent.hash,
        bytes=Path(file).stat().st_size,
        provenance=provenance(command="", model=given.name, latent=given.latent),
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
