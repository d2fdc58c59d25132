"""The commands a study writes in its records say how long planning may take."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest

from simgap.answers import compare
from simgap.cli.verbs.study_parts import SECONDS, Study
from simgap.instances import riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.settings import AutoOracle


def command(verb: str, seconds: float) -> str:
    latent = LatentMDP.uniform(riverswim(3))
    solver = AutoOracle(time_limit=seconds, seed=0)
    return Study(latent, 9, Path(), solver, "simgap study m", "m").verb(verb)


@pytest.mark.parametrize(
    ("verb", "seconds", "options"),
    [
        ("oracle", 60.0, ""),
        ("oracle", 10.0, " --time-limit 10"),
        ("gap", 0.5, " --time-limit 0.5"),
        ("gap", 60.0, ""),
    ],
)
def test_a_limit_is_named_if_it_is_not_the_usual_one(
    verb: str, seconds: float, options: str
) -> None:
    assert command(verb, seconds) == f"simgap {verb} m -H 9{options}"


def test_the_usual_limit_is_that_of_both_verbs() -> None:
    usual = signature(compare).parameters["time_limit"].default
    assert SECONDS == usual == AutoOracle().time_limit
