"""Names of policies as the page shows them: one name for two policies says which."""

from __future__ import annotations

from simgap.text import shown

KINDS = (("every step", "by step"), ("episodes", "by episode"))
SAMPLED = "posterior-sampling"  # drawn anew at every step, or once in an episode
INSTEAD = "the one to use"
TRACKS = "tracks the posterior"


def policy_name(name: str, about: str) -> str:
    """Return the name of a policy, with what it is if another has the same name."""
    if name == SAMPLED:
        for word, kind in KINDS:
            if word in about:
                return f"{name}, {kind}"
    return shown(name)


def policy_about(about: str, *, planned: bool) -> str:
    """Return what a policy is; only one is to be run if the class was planned."""
    if planned:
        return about.replace(INSTEAD, f"{INSTEAD} where nothing is planned")
    return about
