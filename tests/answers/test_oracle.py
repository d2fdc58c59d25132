"""The oracle of a class as a record: closed forms, units, settings and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.answers import named_model, oracle
from simgap.answers.oracle import compared, named_solver, planned, planned_class
from simgap.answers.saved_policies import writable_file
from simgap.errors import InvalidArgument, InvalidFile
from simgap.instances import closed_forms
from simgap.oracle import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    domain_randomization_oracle,
)
from simgap.records import BaselineModel, Oracle, read_record, write_record

RIVERS = "riverswim?states=4&success=0.1:0.6:3&left_reward=0.4&uniform=true"


@pytest.mark.parametrize(
    ("text", "horizon"),
    [
        ("absorbing_doors?members=3", 8),
        ("needle?members=4", 6),
        ("best_arm?e=0.1", 4),
        ("linear_bandit?members=25", 5),
    ],
)
def test_closed_forms_of_the_paper(text: str, horizon: int) -> None:
    """Theory rows 16, 17, 22 and 23."""
    known = closed_forms(text).oracle_value
    assert known is not None
    expected = known(horizon)
    assert expected is not None
    found = oracle(text, horizon, baselines=False)
    assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
    assert found.outcome == "exact up to rounding"
    assert found.baselines == {}
    assert found.value_of_memory is None
    assert planned_class(found) is None


def test_it_is_the_result_of_planning() -> None:
    given = named_model(RIVERS)
    found = oracle(given, 9, baselines=False)
    result = domain_randomization_oracle(given.latent, horizon=9)
    assert found.average_gap == result.average_gap
    assert [each.gap for each in found.models] == result.gaps.tolist()
    assert found.policy is found.result.policy
    assert found.belief_policy is found.result.belief_policy
    assert len(repr(found).splitlines()) <= 20


def test_a_record_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = oracle(RIVERS, 7)
    told = found.baselines["memoryless"].average_gap
    assert told.lower <= found.memoryless.average <= told.upper
    assert any(not each.models for each in found.baselines.values()) is False
    write_record(found, tmp_path / "oracle.json")
    again = read_record(tmp_path / "oracle.json", Oracle)
    assert again == found  # what is in memory only is not compared
    assert again.result is None


def test_a_table_on_a_grid_says_so_and_keeps_what_was_planned() -> None:
    found = oracle("discretise:Pendulum-v1?mass=0.7,1.3&cells=5x5", 3, baselines=False)
    assert found.certainty["average_gap"] == "certified for this grid"
    assert found.policy is found.result.policy


@pytest.fixture
def two_units(tmp_path: Path) -> tuple[str, str]:
    """Two doors in rewards r, and the same in rewards -3 + 5 r."""
    kernel = np.zeros((2, 3, 2, 3))
    for m in range(2):
        kernel[m, 0, m, 1] = kernel[m, 0, 1 - m, 2] = 1.0
        kernel[m, 1:, :, 0] = 1.0
    arrays: dict[str, Any] = {
        "transitions": kernel,
        "rewards": np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]),
    }
    np.savez(tmp_path / "plain.npz", **arrays)
    arrays |= {"reward_offset": -3.0, "reward_factor": 5.0}
    np.savez(tmp_path / "moved.npz", **arrays)
    return str(tmp_path / "plain.npz"), str(tmp_path / "moved.npz")


@pytest.mark.parametrize(
    ("horizon", "discount", "steps"), [(7, None, 7.0), (None, 0.5, 2.0)]
)
def test_numbers_are_in_original_rewards(
    horizon: int | None,
    discount: float | None,
    steps: float,
    two_units: tuple[str, str],
) -> None:
    """Values move by -3 a step and the factor, gaps by the factor only."""
    plain, other = (
        oracle(path, horizon, discount=discount, baselines=False) for path in two_units
    )
    assert plain.average_gap.upper > 0.1
    for end in ("lower", "upper"):
        expected = -3.0 * steps + 5.0 * getattr(plain, end)
        assert getattr(other, end) == pytest.approx(expected, abs=1e-6)
        expected = 5.0 * getattr(plain.average_gap, end)
        assert getattr(other.average_gap, end) == pytest.approx(expected, abs=1e-6)
    for one, two in zip(plain.models, other.models, strict=True):
        assert two.gap == pytest.approx(5.0 * one.gap, abs=1e-6)
        assert two.optimal == pytest.approx(-3.0 * steps + 5.0 * one.optimal)
    prices = [np.array(each.pair_prices.upper) for each in (plain, other)]
    np.testing.assert_allclose(prices[1], 5.0 * prices[0], atol=1e-6)


def value(model: BaselineModel) -> float:
    return model.value if isinstance(model.value, float) else model.value.estimate


def test_simpler_policies_are_in_original_rewards(two_units: tuple[str, str]) -> None:
    def silent(word: str) -> None:
        pass

    plain, other = (
        compared(
            given.latent,
            planned(given, 7, solver=AutoOracle(), tell=silent),
            silent,
            effort=0.01,
        )
        for given in map(named_model, two_units)
    )
    assert plain.value_of_memory is not None
    assert other.value_of_memory is not None
    for end in ("lower", "upper"):
        expected = 5.0 * getattr(plain.value_of_memory, end)
        assert getattr(other.value_of_memory, end) == pytest.approx(expected, abs=1e-6)
    for name, one in plain.baselines.items():
        two = other.baselines[name]
        assert one.worst_gap is not None
        assert two.worst_gap == pytest.approx(5.0 * one.worst_gap, abs=1e-6)
        expected = -21.0 + 5.0 * one.value.lower
        assert two.value.lower == pytest.approx(expected, abs=1e-6)
        for mine, theirs in zip(one.models, two.models, strict=True):
            expected = -21.0 + 5.0 * value(mine)
            assert value(theirs) == pytest.approx(expected, abs=1e-6)


def test_a_place_that_cannot_be_written_is_found_before_planning(
    tmp_path: Path,
) -> None:
    for bad in (tmp_path / "no" / "p.simgap", tmp_path / "p.npz", tmp_path):
        with pytest.raises(InvalidFile):
            oracle(RIVERS, 10**6, save=bad)
    (tmp_path / "q.belief.simgap").mkdir()
    with pytest.raises(InvalidFile, match="is a folder"):
        writable_file(str(tmp_path / "q.simgap"))
    assert writable_file(str(tmp_path / "p.simgap")) == tmp_path / "p.simgap"
    assert [each.name for each in tmp_path.iterdir()] == ["q.belief.simgap"]


def test_options_become_settings() -> None:
    assert named_solver("auto") == AutoOracle()
    found = named_solver("bounded", gap_tolerance=0.2, time_limit=3.0, max_memory=2.0)
    assert found == BoundedOracle(
        gap_tolerance=0.2, time_limit=3.0, max_memory=2e9, negligible=0.0
    )
    only = named_solver("grid", tolerance=0.01, seed=4)
    assert only == GridOracle(
        gap_tolerance=None, tolerance=0.01, seed=4, negligible=0.0
    )
    both = named_solver("auto", tolerance=0.01, gap_tolerance=0.1)
    assert both == AutoOracle(gap_tolerance=0.1, tolerance=0.01, negligible=0.0)
    assert named_solver("exact", tolerance=0.1) == ExactOracle()
    with pytest.raises(InvalidArgument, match="there is no solver"):
        named_solver("exat")


def test_what_is_asked_is_what_is_planned_with() -> None:
    said: list[str] = []
    found = oracle(
        "absorbing_doors?members=3",
        4,
        gap_tolerance=0.5,
        tolerance=0.25,
        time_limit=9.0,
        max_memory=30.0,
        seed=5,
        baselines=False,
        progress=said.append,
    )
    settings = found.result.settings
    assert isinstance(settings, AutoOracle)
    assert (settings.gap_tolerance, settings.tolerance) == (0.5, 0.25)
    assert (settings.time_limit, settings.max_memory) == (9.0, 30e9)
    assert settings.seed == found.provenance.seed == 5
    assert settings.bracket_if_interrupted
    assert found.horizon == 4 and found.discount is None and said
    endless = oracle("absorbing_doors?members=3", discount=0.5, baselines=False)
    assert endless.horizon is None and endless.discount == 0.5


@pytest.mark.parametrize(("horizon", "discount"), [(None, None), (5, 0.9), (0, None)])
def test_one_length_is_needed(horizon: int | None, discount: float | None) -> None:
    with pytest.raises(InvalidArgument):
        oracle(RIVERS, horizon, discount=discount)
