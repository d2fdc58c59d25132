"""MODEL on the command line: a file, or an instance of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.answers.model import NamedModel


def read_model(text: str) -> NamedModel:
    """Return the class that MODEL names.

    What the verb prints from here on is about this class.
    """
    from simgap.answers.model import named_model
    from simgap.cli.app.output import speak_of, working

    with working(f"reading {text[:80]}"):
        found = named_model(text)
    speak_of(found.latent)
    return found
