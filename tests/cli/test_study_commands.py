"""The commands a study writes in its records say how long planning may take."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from simgap.answers.transfer import PlanningSettings
from simgap.answers.width import WidthSettings
from simgap.cli import audit, blame, gap
from simgap.cli.study_parts import SECONDS, Study
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
        ("audit", 10.0, " --time-limit 10"),
        ("audit", 20.0, ""),
        ("oracle", 60.0, ""),
        ("gap", 0.5, " --time-limit 0.5"),
        ("blame", 10.0, " --time-limit 40"),
        ("blame", 30.0, ""),
        ("identify", 10.0, ""),
    ],
)
def test_a_limit_is_named_if_it_is_not_the_usual_one(
    verb: str, seconds: float, options: str
) -> None:
    assert command(verb, seconds) == f"simgap {verb} m -H 9{options}"


def test_the_usual_limits_are_those_of_the_verbs() -> None:
    def usual(module: object) -> float:
        return float(inspect.signature(module.run).parameters["time_limit"].default)  # type: ignore[attr-defined]

    assert SECONDS["audit"] == PlanningSettings().time_limit == usual(audit)
    assert SECONDS["blame"] == usual(blame)
    assert SECONDS["width"] == WidthSettings().time_limit
    assert SECONDS["gap"] == gap.PLANNING_SECONDS
    assert SECONDS["oracle"] == SECONDS["adapt"] == AutoOracle().time_limit
