"""What a question is about: a class of models, named or built already."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from simgap.errors import InvalidFile
from simgap.instances import (
    Continuum,
    build_instance,
    is_instance_string,
    probably_meant,
)
from simgap.interop import load_model, looks_like_file
from simgap.mdp import (
    LatentMDP,
    SimulatorClass,
    TabularMDP,
    checked_latent,
    class_from_models,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class NamedModel:
    """A class with its prior, and the text it was named by."""

    latent: LatentMDP
    name: str = ""  # empty: it was built in Python
    continuum: Continuum | None = None  # infinitely many models, of which some are here


Model = NamedModel | LatentMDP | SimulatorClass | TabularMDP | str | os.PathLike[str]


def named_model(model: Model) -> NamedModel:
    """Return the class that a question is about, as the command line reads MODEL.

    A text is an instance of the catalogue or the path of a file; a class without a
    prior has the uniform one.
    """
    if isinstance(model, NamedModel):
        return model
    if isinstance(model, str | os.PathLike):
        text = os.fspath(model)
        return NamedModel(_read(text), text)
    if isinstance(model, TabularMDP):
        model = class_from_models([model])
    if isinstance(model, SimulatorClass):
        model = LatentMDP.uniform(model)
    return NamedModel(checked_latent(model))


def _read(text: str) -> LatentMDP:
    if not text.strip():
        raise InvalidFile("MODEL is empty", hint="name a file or see simgap list")
    if text == "-":
        raise InvalidFile("models are not read from standard input", hint="name a file")
    if not looks_like_file(text) and is_instance_string(text):
        return load_model(text, instance=build_instance)
    try:
        return load_model(Path(text))
    except InvalidFile as error:
        if error.code != "no-file":
            raise
        near = probably_meant(text)
        hint = (
            f"did you mean {near!r}? If it is a file: {error.hint}"
            if near
            else f"{error.hint}; simgap list shows the instances"
        )
        raise InvalidFile(error.problem, hint=hint, code=error.code) from error
