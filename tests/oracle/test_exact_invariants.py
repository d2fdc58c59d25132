"""What must not change the oracle, and what must change it in a known way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from simgap.oracle.exact import solve_exact
from simgap.oracle.exact.symmetry import find_symmetry, members_of
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import Planned
from simgap.oracle.settings import ExactOracle
from tests.reference.latent import random_latent
from tests.strategies import STEADY

SEEDS = st.integers(0, 10**6)
CLOSE = 1e-12


@final
@dataclass(frozen=True)
class Parts:
    """A latent MDP as plain arrays."""

    P: FloatArray  # (M, S, A, S)
    R: FloatArray  # (M, S, A)
    first: FloatArray  # (M, S)
    prior: FloatArray  # (M,)

    def latent(self) -> LatentMDP:
        models = [
            mdp_from_arrays(
                P, R, order=IndexOrder.STATE_ACTION, details=Details(start=first)
            )
            for P, R, first in zip(self.P, self.R, self.first, strict=True)
        ]
        return LatentMDP(class_from_models(models), self.prior)


def case(seed: int, horizon: int | None = None) -> tuple[Parts, int]:
    latent, drawn = random_latent(
        np.random.default_rng(seed), denominator=16, most_histories=300
    )
    every = latent.simulators
    members = range(len(every))
    shape = (len(every), every.n_states, every.n_actions)
    parts = Parts(
        np.stack([every.transitions.array(m) for m in members]),
        np.array(np.broadcast_to(every.rewards, shape)),
        np.stack([every.start_law(m) for m in members]),
        latent.prior,
    )
    return parts, drawn if horizon is None else horizon


def solved(parts: Parts, horizon: int) -> Planned:
    return solve_exact(loss_form(parts.latent(), horizon=horizon), ExactOracle())


@STEADY
@given(SEEDS)
def test_names_of_models_do_not_matter(seed: int) -> None:
    parts, horizon = case(seed)
    order = np.random.default_rng(seed + 1).permutation(len(parts.prior))
    moved = Parts(
        parts.P[order], parts.R[order], parts.first[order], parts.prior[order]
    )
    one, two = solved(parts, horizon), solved(moved, horizon)
    assert two.upper == pytest.approx(one.upper, abs=CLOSE)
    assert one.gap_intervals is not None
    assert two.gap_intervals == pytest.approx(one.gap_intervals[order], abs=CLOSE)
    assert two.nodes == one.nodes


@STEADY
@given(SEEDS)
def test_names_of_states_and_actions_do_not_matter(seed: int) -> None:
    parts, horizon = case(seed)
    rng = np.random.default_rng(seed + 2)
    states, actions = (rng.permutation(n) for n in parts.R.shape[1:])
    P = parts.P[:, states][:, :, actions][..., states]
    R = parts.R[:, states][:, :, actions]
    moved = Parts(P, R, parts.first[:, states], parts.prior)
    one, two = solved(parts, horizon), solved(moved, horizon)
    assert two.upper == pytest.approx(one.upper, abs=CLOSE)
    assert two.gap_intervals == pytest.approx(one.gap_intervals, abs=CLOSE)
    assert two.nodes == one.nodes


@STEADY
@given(SEEDS)
def test_a_model_twice_is_that_model_once(seed: int) -> None:
    parts, horizon = case(seed)
    again = np.append(np.arange(len(parts.prior)), 0)
    prior = parts.prior[again].copy()
    prior[[0, -1]] /= 2.0
    twice = Parts(parts.P[again], parts.R[again], parts.first[again], prior)
    one, two = solved(parts, horizon), solved(twice, horizon)
    assert two.upper == pytest.approx(one.upper, abs=CLOSE)
    assert two.gaps[0] == pytest.approx(two.gaps[-1], abs=CLOSE)
    assert one.gap_intervals is not None
    assert two.gap_intervals == pytest.approx(one.gap_intervals[again], abs=CLOSE)
    form = loss_form(parts.latent(), horizon=horizon)
    if not find_symmetry(form, members_of(form)).found:  # not looked for in `twice`
        assert two.gaps == pytest.approx(one.gaps[again], abs=CLOSE)
        assert two.nodes == one.nodes


@STEADY
@given(SEEDS, st.sampled_from([0.5, 1.0 / 3.0, 7.0]))
def test_gaps_are_in_units_of_the_reward(seed: int, factor: float) -> None:
    parts, horizon = case(seed)
    one = solved(parts, horizon)
    two = solved(replace(parts, R=factor * parts.R), horizon)
    assert two.upper == pytest.approx(factor * one.upper, rel=1e-12, abs=CLOSE)
    assert one.gap_intervals is not None
    scaled = factor * one.gap_intervals
    assert two.gap_intervals == pytest.approx(scaled, rel=1e-12, abs=CLOSE)


@STEADY
@given(SEEDS, st.sampled_from([0.25, 0.75]))
def test_a_reward_for_being_there_costs_nothing(seed: int, bonus: float) -> None:
    """The same bonus on every step of every model moves values and no gap."""
    parts, horizon = case(seed)
    one, two = (
        solved(parts, horizon),
        solved(replace(parts, R=parts.R + bonus), horizon),
    )
    assert two.upper == pytest.approx(one.upper, abs=1e-11)


@STEADY
@given(SEEDS)
def test_one_step_is_a_choice_under_the_prior(seed: int) -> None:
    """H = 1: sum over first states of min_a sum_m nu_m mu_m(s) (max R_m - R_m)."""
    parts, _ = case(seed)
    weights = parts.prior[:, None] * parts.first  # (M, S)
    lost = parts.R.max(axis=2, keepdims=True) - parts.R
    expected = np.einsum("ms,msa->sa", weights, lost).min(axis=1).sum()
    assert solved(parts, 1).upper == pytest.approx(expected, abs=CLOSE)


@STEADY
@given(SEEDS)
def test_models_of_prior_zero_are_evaluated_and_not_planned_for(seed: int) -> None:
    parts, horizon = case(seed)
    stranger, _ = case(seed + 17)
    if stranger.R.shape[1:] != parts.R.shape[1:]:
        return
    more = Parts(
        np.concatenate([parts.P, stranger.P]),
        np.concatenate([parts.R, stranger.R]),
        np.concatenate([parts.first, stranger.first]),
        np.concatenate([parts.prior, 0.0 * stranger.prior]),
    )
    one, two = solved(parts, horizon), solved(more, horizon)
    known = len(parts.prior)
    inside = parts.prior > 0.0
    assert two.upper == pytest.approx(one.upper, abs=CLOSE)
    assert two.gaps[:known][inside] == pytest.approx(one.gaps[inside], abs=CLOSE)
    assert np.isfinite(two.gaps).all()
    assert two.gap_intervals is not None
    assert (two.gap_intervals[:, 0] <= two.gaps + CLOSE).all()
    assert (two.gaps <= two.gap_intervals[:, 1] + CLOSE).all()
