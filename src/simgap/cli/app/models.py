"""MODEL on the command line: a file, or an instance of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simgap.cli.app.options import max_bytes_of
from simgap.errors import InvalidFile

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP


def read_model(text: str, max_bytes: str | None = None) -> LatentMDP:
    """Return the latent MDP that MODEL names; an instance has a uniform prior.

    What the verb prints from here on is about this class.
    """
    from simgap.cli.app.output import speak_of

    found = _read(text, max_bytes)
    speak_of(found)
    return found


def _read(text: str, max_bytes: str | None) -> LatentMDP:
    limit = max_bytes_of(max_bytes)
    from simgap.cli.app.output import working
    from simgap.instances import catalogue, probably_meant
    from simgap.interop import load_model, looks_like_file

    if not text.strip():
        raise InvalidFile("MODEL is empty", hint="name a file or see simgap list")
    if text == "-":
        raise InvalidFile("models are not read from standard input", hint="name a file")
    with working(f"reading {text[:80]}"):
        if not looks_like_file(text) and catalogue.is_instance_string(text):
            return load_model(text, max_bytes=limit, instance=catalogue.build_instance)
        try:
            return load_model(text, max_bytes=limit)
        except InvalidFile as error:
            if "there is no file" not in error.problem:
                raise
            meant = probably_meant(text)
            hint = (
                f"did you mean {meant!r}?"
                if meant and not error.hint.startswith("did you mean")
                else f"{error.hint}; simgap list shows the instances"
            )
            raise InvalidFile(error.problem, hint=hint) from error
