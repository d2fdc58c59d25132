"""`simgap bounds`: the numbers of a class become promises, each at its safe end."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.answers.class_facts import measured_class
from simgap.bounds import Chernoff, elimination_gap, optimistic_gap
from simgap.cli.app.main import main
from simgap.instances import best_arm, riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from simgap.planning import diameter, solve_average_reward
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


def test_the_record_has_the_keys_of_the_contract(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, RIVER, "-H", "1000")
    assert found["horizon"] == 1000
    assert found["most_lost"] == 1000.0
    for each in found["bounds"]:
        assert {"name", "value", "unmet", "non_vacuous_from", "kind"} <= set(each)
        assert {"constants", "quantity", "vacuous"} <= set(each)
        assert each["kind"] in ("upper", "lower")
    names = [each["name"] for each in found["bounds"]]
    assert len(names) == len(set(names))
    assert {"Theorem 1", "Theorem 2", "Theorem 3", "Theorem 5 (Chernoff)"} <= set(names)
    assert found["certainty"]["bounds"] == "certified"
    assert found["provenance"]["command"].startswith("simgap bounds ")


def test_bounds_are_made_of_the_numbers_of_the_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rivers = riverswim(4, success=(0.3, 0.5, 0.7))
    D, plan = diameter(rivers).upper, solve_average_reward(rivers)
    found = by_name(answer(capsys, RIVER, "-H", "5000"))
    assert found["Theorem 6 (spans)"]["value"] == pytest.approx(
        optimistic_gap(horizon=5000, spans=plan.bias_span).value, rel=1e-6
    )
    numbers = {
        e["name"]: e["value"] for e in found["Theorem 5 (Chernoff)"]["constants"]
    }
    assert numbers["delta"] == pytest.approx(0.4, rel=1e-10)
    assert numbers["D"] == D
    assert found["Theorem 5 (Chernoff)"]["value"] == pytest.approx(
        elimination_gap(
            Chernoff(numbers["delta"]), horizon=5000, members=3, diameter=D
        ).value
    )
    assert found["Theorem 2"]["value"] == pytest.approx(
        3 * found["Theorem 6 (spans)"]["value"]
    )


def test_rewards_in_other_units_scale_the_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rewards 100 + 8 R: eight times the gap, the same horizons."""
    rivers = riverswim(4, success=(0.3, 0.5, 0.7))
    kernel = np.stack([rivers.transitions.array(m) for m in range(3)])
    kernel = kernel.reshape(3, rivers.n_states, rivers.n_actions, rivers.n_states)
    one = tmp_path / "one.npz"
    np.savez(one, transitions=kernel, rewards=rivers.rewards[0])
    other = tmp_path / "other.npz"
    np.savez(other, transitions=kernel, rewards=100.0 + 8.0 * rivers.rewards[0])
    plain, scaled = (answer(capsys, str(p), "-H", "2000") for p in (one, other))
    assert scaled["most_lost"] == pytest.approx(8 * plain["most_lost"])
    for name, bound in by_name(plain).items():
        again = by_name(scaled)[name]
        if bound["value"] != "inf":
            assert again["value"] == pytest.approx(8 * bound["value"], rel=1e-4)
        if bound["non_vacuous_from"] not in ("inf", None):
            assert again["non_vacuous_from"] == pytest.approx(
                bound["non_vacuous_from"], rel=1e-3
            )


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


def test_a_class_without_a_diameter_says_what_it_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = by_name(answer(capsys, "absorbing_doors", "-H", "50"))
    for name in ("Theorem 1", "Theorem 2", "Theorem 4 (corrected)", "Theorem 6"):
        assert "finite diameter" in found[name]["unmet"][0]
        assert found[name]["value"] == "inf"
        assert found[name]["non_vacuous_from"] == "inf"


def test_rewards_of_the_model_are_said_to_be_unseen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.full((2, 2, 1, 2), 0.5)
    kernel[1, :, 0] = (0.25, 0.75)
    rewards = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])
    path = tmp_path / "r.npz"
    np.savez(path, transitions=kernel, rewards=rewards)
    found = answer(capsys, str(path), "-H", "100")
    assert codes(found)[0] == "rewards-of-models"
    assert "seen by the agent" in by_name(found)["Theorem 2"]["unmet"][0]
    assert by_name(found)["Theorem 1"]["unmet"] == []


def test_equal_rewards_leave_nothing_to_lose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.full((2, 2, 1, 2), 0.5)
    kernel[1, :, 0] = (0.25, 0.75)
    path = tmp_path / "flat.npz"
    np.savez(path, transitions=kernel, rewards=np.full((2, 1), 0.7))
    found = answer(capsys, str(path), "-H", "100")
    assert found["most_lost"] == 0.0
    assert all(each["value"] == 0.0 for each in found["bounds"])


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


def test_people_read_tables_and_conditions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bounds", RIVER, "-H", "1e6"]) == 0
    out = capsys.readouterr().out
    for words in (
        "gap of the oracle in any model",
        "says something from H",
        "Theorem 5 (paper's n0)",
        "an elimination",
        "asks for at least 100 models",
    ):
        assert words in out


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


@pytest.mark.parametrize("arguments", [[], ["-H", "0"], ["-H", "many"]])
def test_a_horizon_is_asked_for(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bounds", RIVER, *arguments]) == 2
    assert "hint: " in capsys.readouterr().err
