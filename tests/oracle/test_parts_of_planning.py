"""Small parts that planning is made of, each with its own number."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.instances import absorbing_doors, riverswim
from simgap.intervals import defect
from simgap.mdp import LatentMDP
from simgap.oracle.baselines import table
from simgap.oracle.bounded import vector_sets
from simgap.oracle.estimate import estimated_gap
from simgap.oracle.loss_form import loss_form
from simgap.oracle.part_of_class import part_of_form
from simgap.planning import optimal_values


def test_what_can_be_won_is_the_informed_value_above_the_least_rewards() -> None:
    worlds = riverswim(4, (0.3, 0.6))
    worlds = replace(worlds, rewards=worlds.rewards - 0.25)
    latent = LatentMDP(worlds, np.array([0.25, 0.75]))
    informed = latent.prior @ optimal_values(worlds, 7).start_ends.mean(axis=1)
    form = loss_form(latent, horizon=7)
    assert form.worth == pytest.approx(informed + 7 * 0.25, rel=1e-12)
    discounted = loss_form(latent, discount=0.9)
    assert discounted.worth == pytest.approx(discounted.informed + 10 * 0.25, rel=1e-12)


def test_weights_of_a_part_may_be_off_by_more_than_those_of_the_class() -> None:
    form = loss_form(LatentMDP.uniform(riverswim(3, (0.2, 0.4, 0.6, 0.8))), horizon=3)
    exact, loose = replace(form, defect=0.0), replace(form, defect=1e-9)
    part = part_of_form(exact, np.array([0, 1, 3]), np.array([0.1, 0.2, 0.7]))
    assert part.defect == defect(part.latent.prior) > 0.0
    assert part_of_form(loose, np.array([0, 1]), np.array([0.5, 0.5])).defect == 1e-9


def test_vectors_that_are_kept_are_those_that_are_best_most_often() -> None:
    """Of three crossing vectors the middle one is best at most of the points."""
    vectors = np.array([[0.0, 9.0], [9.0, 0.0], [1.0, 1.0], [0.5, 3.0]])
    share = np.array([0.5, 0.45, 0.55, 0.6, 0.9])
    points = np.column_stack([share, 1.0 - share])
    beliefs = np.concatenate([np.eye(2), points])
    kept = vector_sets._useful(beliefs, vectors, 2, 1)
    assert kept.tolist() == [0, 1, 2]  # corners always


def test_every_search_of_the_table_is_given_the_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds: dict[str, Any] = {}

    def noting(name: str) -> None:
        real = getattr(table, name)

        def noted(*given: Any, seed: int, **more: Any) -> Any:
            seeds[name] = seed
            return real(*given, seed=seed, **more)

        monkeypatch.setattr(table, name, noted)

    names = ("best_memoryless", "_windows", "greedy_baseline", "sampling_baseline")
    for name in names:
        noting(name)
    form = loss_form(LatentMDP.uniform(absorbing_doors(2)), horizon=3)
    table.baselines(form, effort=0.01, seed=41)
    assert seeds == dict.fromkeys(names, 41)


@pytest.mark.parametrize(
    ("episodes", "seed", "confidence"),
    [
        (10**9 + 1, 0, 0.95),
        (0, 0, 0.95),
        (True, 0, 0.95),
        (100, -1, 0.95),
        (100, 2**64, 0.95),
        (100, 0, 1.0),
        (100, 0, 0.0),
    ],
)
def test_what_cannot_be_sampled_is_refused(
    episodes: int, seed: int, confidence: float
) -> None:
    form = loss_form(LatentMDP.uniform(absorbing_doors(2)), horizon=3)
    policy: Any = SimpleNamespace(
        pattern=form.pattern, horizon=3, discount=form.discount, prior=form.latent.prior
    )
    with pytest.raises(InvalidArgument):
        estimated_gap(form, policy, episodes=episodes, seed=seed, confidence=confidence)
