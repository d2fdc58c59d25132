"""`simgap bounds`: the numbers of a class become promises, each at its safe end."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.answers.class_facts import measured_class
from simgap.bounds import Chernoff
from simgap.cli.app.main import main
from simgap.instances import best_arm, riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from simgap.planning import solve_average_reward
from tests.note_codes import codes

RIVER = "riverswim?states=4&success=0.3:0.7:3"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["bounds", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found["bounds"]}


@pytest.mark.parametrize("horizon", [6, 20])
def test_no_exact_oracle_is_above_its_bounds(horizon: int) -> None:
    from simgap.bounds import Kind, Quantity, applicable

    latent = LatentMDP.uniform(best_arm(2, 0.2))
    exact = solve_exact(loss_form(latent, horizon=horizon), ExactOracle())
    facts = measured_class(latent, horizon).facts
    for bound in applicable(facts, horizon):
        if bound.holds and bound.kind is Kind.UPPER:
            if bound.quantity is Quantity.MEAN_ORACLE_GAP:
                assert exact.upper <= bound.value
            if bound.quantity is Quantity.ORACLE_GAP:
                assert exact.gaps.max() <= bound.value


def test_models_without_prior_weight_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The third model has an absorbing state, but nobody ever meets it."""
    kernel = np.full((3, 2, 1, 2), 0.5)
    kernel[1] = (0.2, 0.8)
    kernel[2] = (0.0, 1.0)
    path, rewards = tmp_path / "m.npz", np.array([[0.0], [1.0]])
    np.savez(path, transitions=kernel, rewards=rewards, prior=np.array([0.5, 0.5, 0.0]))
    found = answer(capsys, str(path), "-H", "100")
    assert found["numbers"]["members"] == 2
    assert found["numbers"]["diameter"]["upper"] == pytest.approx(5.0)
    assert codes(found) == ["without-prior-weight"]
    assert by_name(found)["Theorem 1"]["unmet"] == []


def test_facts_are_those_of_the_models() -> None:
    """Deviations and steps against their definitions, model by model."""
    latent = LatentMDP.uniform(riverswim(4, success=(0.3, 0.6)))
    facts, plan = (
        measured_class(latent, 100).facts,
        solve_average_reward(latent.simulators),
    )
    assert facts.deviations is not None
    assert facts.steps is not None
    assert facts.pairs == len(
        {(s, int(a)) for row in plan.policy for s, a in enumerate(row)}
    )
    kernels = [latent.simulators.transitions.array(m) for m in range(2)]
    for m in range(2):
        bias, deviation, step = plan.bias[m], 0.0, 0.0
        for s, a in enumerate(plan.policy[m]):
            law = kernels[m].reshape(4, 2, 4)[s, a]
            mean = law @ bias
            deviation = max(deviation, float(np.sqrt(law @ (bias - mean) ** 2)))
            for real in kernels:
                seen = real.reshape(4, 2, 4)[s, a] > 0.0
                step = max(step, float(np.abs(bias - mean)[seen].max()))
        assert facts.deviations[m] == pytest.approx(deviation, rel=1e-9)
        assert facts.steps[m] == pytest.approx(step, rel=1e-9)


def test_vacuity_is_told_for_both_algorithms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, RIVER, "-H", "1e6")["vacuity"]
    first = {(e["algorithm"], e["rule"], e["event"]): e["horizon"] for e in found}
    one = first["Algorithm 1", "Chernoff", "a comparison"]
    assert Chernoff(0.4).samples(one, 3) <= one
    assert Chernoff(0.4).samples(one - 1, 3) > one - 1
    sharp = first["Algorithm 3", "sharp threshold", "an elimination"]
    assert sharp < first["Algorithm 3", "paper's threshold", "an elimination"] < inf
