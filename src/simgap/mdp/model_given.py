"""Checks that a public function was given a model; a refusal says how to get one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simgap.errors import InvalidArgument
from simgap.mdp.latent import LatentMDP
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.tabular import TabularMDP

LONGEST = 60  # characters of a stranger's text in a message


def checked_latent(given: object) -> LatentMDP:
    """Return what was given if it is a latent MDP, else say how to make one.

    A class is not taken as one with a uniform prior: the prior is half of the question.
    """
    if isinstance(given, LatentMDP):
        return given
    raise InvalidArgument(
        f"a LatentMDP is needed, this is {_named(given)}", hint=_way(given)
    )


def checked_class(given: object) -> SimulatorClass:
    """Return what was given if it is a class of simulators, else say how to get it."""
    if isinstance(given, SimulatorClass):
        return given
    hint = "give its simulators: latent.simulators"
    if not isinstance(given, LatentMDP):
        hint = f"{_way(given)}; then give its simulators: latent.simulators"
    raise InvalidArgument(
        f"a SimulatorClass is needed, this is {_named(given)}", hint=hint
    )


def _named(given: object) -> str:
    kind = type(given).__name__
    if isinstance(given, str | Path):
        text = str(given)
        short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        return f"the {'text' if isinstance(given, str) else 'path'} {short!r}"
    return "None" if given is None else f"a {kind}"


def _way(given: object) -> str:
    if isinstance(given, SimulatorClass):
        return (
            "give the class a prior: LatentMDP.uniform(simulators), or "
            "LatentMDP(simulators, prior)"
        )
    if isinstance(given, TabularMDP):
        return (
            "one model is a class of one: LatentMDP.uniform(class_from_models([model]))"
        )
    if isinstance(given, str | Path):
        text = str(given)
        if isinstance(given, str) and "." not in text.rpartition("/")[2].split("?")[0]:
            return (
                "LatentMDP.uniform(simgap.instances.build_instance(text)) makes one "
                "of the catalogue, load_model(path) reads one from a file"
            )
        return "read it first: load_model(path)"
    if isinstance(given, Sequence) and given and isinstance(given[0], TabularMDP):
        return "LatentMDP.uniform(class_from_models(models)) makes one of models"
    return (
        "LatentMDP.uniform(simulators) makes one of a class, load_model(path) reads "
        "one from a file"
    )
