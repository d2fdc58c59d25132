"""An interrupt ends every question that plans: half a plan is never judged or kept."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from simgap.answers import adapt, audit, blame, compare, identify, oracle, run, width
from simgap.answers.study.entry import study
from simgap.base_policies import build_policy
from simgap.experiments.framework.agent_losses import solved_oracle
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.remarks import memory_matters
from simgap.instances import build_instance, needle
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.minimax import solve_minimax
from simgap.oracle.bounded import planner
from simgap.oracle.exact.tree import BeliefTree
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import Outcome
from tests.experiments.silence import silent

RIVERS = "riverswim?states=3&success=0.2,0.4,0.6&left_reward=0.4"
DOORS = "absorbing_doors?members=3"  # 4 steps of 8 are lost
FORM = loss_form(LatentMDP.uniform(build_instance(RIVERS)), horizon=5)


def log_of(folder: Path) -> Path:
    path = folder / "log.csv"
    path.write_text("state,action,next_state\n0,1,1\n")
    return path


QUESTIONS: dict[str, Callable[[Path], object]] = {
    "audit": lambda _: audit(RIVERS, 5),
    "blame": lambda _: blame(RIVERS, 5),
    "width": lambda _: width(RIVERS, 5),
    "identify": lambda _: identify(RIVERS, 5),
    "adapt": lambda folder: adapt(RIVERS, 5, log_of(folder)),
    "compare": lambda _: compare(RIVERS, 5),
    "run": lambda _: run("oracle", RIVERS, 5, seeds=2),
    "run with a limit": lambda _: run("oracle", RIVERS, 5, seeds=2, time_limit=2.0),
    "study": lambda folder: study(RIVERS, 5, out=folder / "study"),
    "policy": lambda _: build_policy("oracle", FORM.latent, 5),
    "least worst gap": lambda _: solve_minimax(FORM),
    "oracle of a claim": lambda _: solved_oracle(needle(3), 6),
    "exact oracle of a claim": lambda _: exact_oracle(needle(3), 6),
    "lakes of a claim": lambda _: memory_matters._lakes((6,), 0, silent),
}


class OneInterrupt:
    """Raises KeyboardInterrupt where something is called first, and never again."""

    def __init__(self, patch: pytest.MonkeyPatch, *places: tuple[Any, str]) -> None:
        self.came = False
        for place, name in places:
            patch.setattr(place, name, self.before(getattr(place, name)))

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def interrupted(*given: Any, **named: Any) -> Any:
            if self.came:
                return function(*given, **named)
            self.came = True
            raise KeyboardInterrupt

        return interrupted


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_interrupt_of_planning_ends_the_question(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact_oracle(needle(3), 6)  # compiled
    OneInterrupt(monkeypatch, (BeliefTree, "grow"), (planner, "upper_pass"))
    with pytest.raises(KeyboardInterrupt):
        QUESTIONS[name](tmp_path)
    assert not list(tmp_path.glob("study/*.json"))


def test_the_oracle_has_its_bracket_and_says_that_it_was_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if planning was over and simpler policies were looked at."""
    whole = oracle(DOORS, 8)
    with monkeypatch.context() as patch:
        room = import_module("simgap.answers.oracle")
        OneInterrupt(patch, (room, "all_baselines"))
        compared = oracle(DOORS, 8)
    OneInterrupt(monkeypatch, (BeliefTree, "grow"))
    planned = oracle(DOORS, 8)
    for found in (compared, planned):
        assert found.outcome == Outcome.INTERRUPTED.value
        assert not found.baselines
        low, high = found.average_gap.ends
        assert low <= whole.average_gap.upper and whole.average_gap.lower <= high
    assert compared.average_gap == whole.average_gap
    assert planned.average_gap.lower == 0.0
