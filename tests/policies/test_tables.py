"""Tables over states and over windows of the last steps."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.oracle.loss_form import loss_form
from simgap.planning import policy_values
from simgap.policies import MarkovPolicy, Step, WindowPolicy, number_of_windows
from tests.policies.cases import markov_policies, random_latent
from tests.reference.policy_graph import values_by_playing


@pytest.mark.parametrize("seed", range(8))
def test_a_table_played_out_has_the_values_of_planning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng)
    for policy in markov_policies(rng, loss_form(latent, horizon=4)):
        played = values_by_playing(latent, policy, 4)
        planned = policy_values(latent.simulators, policy.table, 4).start
        assert [float(v or 0) for v in played] == pytest.approx(planned, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([0, 2], "plays action 2"),
        ([[0, -1]], "plays action -1"),
        ([[0.5, 0.6]], "not a distribution"),
        ([[0.5, np.nan]], "not a distribution"),
        ([[0.2, 0.3, 0.5]], "3 actions"),
        (0, "shape"),
        ([[[0]]], "shape"),
        ([0.5], "shape"),
        (["a"], "type"),
        ([], "shape"),
        (np.zeros(0, np.int32), "shape"),
    ],
)
def test_what_is_no_policy_is_refused(table: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        MarkovPolicy("table", 2, np.array(table))


@pytest.mark.parametrize(("S", "A", "length"), [(2, 2, 2), (3, 1, 3), (1, 2, 0)])
def test_windows_are_numbered_without_gaps(S: int, A: int, length: int) -> None:
    windows = number_of_windows(S, A, length)
    policy = WindowPolicy("w", S, A, length, None, np.zeros((1, windows, S), np.int32))
    pairs = list(product(range(S), range(A)))
    every = [w for j in range(length + 1) for w in product(pairs, repeat=j)]
    assert [policy.number(w) for w in every] == list(range(windows))


def test_a_window_forgets_what_is_older_than_its_length() -> None:
    windows = number_of_windows(2, 2, 2)
    policy = WindowPolicy("w", 2, 2, 2, 5, np.zeros((5, windows, 2), np.int32))
    memory = policy.start(0)
    assert memory == ()
    for h, (state, action) in enumerate([(0, 1), (1, 0), (1, 1)]):
        memory = policy.observe(memory, Step(h, state, action, 1))
    assert memory == ((1, 0), (1, 1))
    with pytest.raises(InvalidArgument, match="window of 3 steps"):
        policy.act(((0, 0),) * 3, 0, 0)


def test_a_window_of_length_zero_is_a_markov_policy() -> None:
    rng = np.random.default_rng(4)
    latent = random_latent(rng)
    table = rng.integers(0, 2, (4, 3)).astype(np.int32)
    window = WindowPolicy("w", 3, 2, 0, 4, table[:, None, :])
    markov = MarkovPolicy("m", 2, table)
    assert values_by_playing(latent, window, 4) == values_by_playing(latent, markov, 4)


def test_tables_over_windows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="shape"):
        WindowPolicy("w", 2, 2, 1, None, np.zeros((1, 4, 2), np.int32))
    with pytest.raises(InvalidArgument, match="not an action"):
        WindowPolicy("w", 2, 2, 1, None, np.full((1, 5, 2), 2, np.int32))
    with pytest.raises(InvalidArgument, match="too many"):
        number_of_windows(10, 10, 30)
    with pytest.raises(InvalidArgument, match="windows of -1"):
        number_of_windows(2, 2, -1)
