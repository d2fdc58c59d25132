"""A model that is saved and loaded again is the same model, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simgap.interop import load_model, save_model
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    Parameters,
    RewardUnits,
    class_from_arrays,
)

ENDINGS = (".simgap", ".npz")
STARTS = ("state", "states", "law", "laws")


def random_latent(
    seed: int, *, start: str = "state", density: float = 0.5, names: bool = True
) -> LatentMDP:
    rng = np.random.default_rng(seed)
    members, n_states, n_actions = (int(n) for n in rng.integers(1, 6, 3))
    shape = (members, n_states, n_actions, n_states)
    kernel = rng.random(shape) * (rng.random(shape) < density)
    kernel[..., 0] += 1e-3
    kernel /= kernel.sum(axis=-1, keepdims=True)
    laws = rng.random((members, n_states)) + 1e-9
    laws /= laws.sum(axis=1, keepdims=True)
    starts = {
        "state": int(rng.integers(n_states)),
        "states": rng.integers(0, n_states, members),
        "law": laws[0],
        "laws": laws,
    }
    prior = rng.random(members) + 1e-9
    per_model = seed % 2 == 0
    simulators = class_from_arrays(
        kernel,
        rng.normal(size=(members, n_states, n_actions) if per_model else shape[1:3]),
        order=IndexOrder.STATE_ACTION,
        details=Details(
            start=starts[start],
            model_names=[f"wörld {i} 🙂 <b>[red]" for i in range(members)]
            if names
            else (),
            state_names=[f"s{i}\u202e" for i in range(n_states)] if names else (),
            action_names=[f"a\x1b[31m{i}" for i in range(n_actions)] if names else (),
            parameters=Parameters(("mass", "µ"), rng.normal(size=(members, 2)))
            if names
            else None,
            units=RewardUnits(-10.0, 30.0) if per_model else RewardUnits(),
            notes=("a note", "another") if names else (),
        ),
    )
    return LatentMDP(simulators, prior / prior.sum())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("seed", range(6))
def test_a_saved_model_comes_back_with_its_hash(
    seed: int, start: str, ending: str, tmp_path: Path
) -> None:
    density = 0.1 if seed < 3 else 0.9
    latent = random_latent(seed, start=start, density=density, names=seed % 3 != 0)
    path = tmp_path / f"model{ending}"
    save_model(latent, path)
    loaded = load_model(path)
    assert loaded.hash == latent.hash
    ours, theirs = latent.simulators, loaded.simulators
    assert theirs.model_names == ours.model_names
    assert theirs.labels == ours.labels
    assert theirs.notes == ours.notes
    assert theirs.theta.names == ours.theta.names
    np.testing.assert_array_equal(theirs.theta.values, ours.theta.values)
    for member in range(len(ours)):
        np.testing.assert_array_equal(
            theirs.transitions.array(member), ours.transitions.array(member)
        )
        np.testing.assert_array_equal(theirs.start_law(member), ours.start_law(member))


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32 - 1),
    start=st.sampled_from(STARTS),
    density=st.floats(0.0, 1.0),
    chain=st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=4),
)
def test_any_chain_of_formats_keeps_the_hash(
    seed: int, start: str, density: float, chain: list[str], tmp_path: Path
) -> None:
    latent = random_latent(seed, start=start, density=density)
    wanted = latent.hash
    for ending in chain:
        path = tmp_path / f"link{ending}"
        save_model(latent, path)
        latent = load_model(path)
    assert latent.hash == wanted


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_model_makes_the_same_bytes(ending: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    save_model(random_latent(3), first)
    save_model(random_latent(3), second)
    assert first.read_bytes() == second.read_bytes()


def test_sixty_four_bit_precision_survives_awkward_numbers(tmp_path: Path) -> None:
    tiny = float(np.finfo(np.float64).tiny)
    kernel = np.array([[[[1.0 - 2.0**-53, 2.0**-53]] * 2, [[1e-60, 1.0]] * 2]])
    rewards = [[-0.0, tiny], [1.0 + 2.0**-52, -tiny]]
    simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    latent = LatentMDP.uniform(simulators)
    for ending in ENDINGS:
        path = tmp_path / f"model{ending}"
        save_model(latent, path)
        assert load_model(path).hash == latent.hash


def test_action_first_arrays_are_read_under_their_own_key(tmp_path: Path) -> None:
    """pymdptoolbox's order, also when S = A and the shape cannot tell."""
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.ones(3), size=(3, 3))  # [s, a, s']
    rewards = rng.random((3, 3))
    usual, turned = tmp_path / "usual.npz", tmp_path / "turned.npz"
    np.savez(usual, transitions=kernel, rewards=rewards)
    np.savez(
        turned, transitions_action_first=kernel.transpose(1, 0, 2), rewards=rewards
    )
    assert load_model(usual).hash == load_model(turned).hash


def test_sparse_and_dense_forms_are_one_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    kernel = rng.dirichlet(np.ones(4), size=(2, 4, 3))
    rewards = rng.random((2, 4, 3))
    edges = np.argwhere(kernel > 0.0)
    dense, sparse = tmp_path / "dense.npz", tmp_path / "sparse.npz"
    np.savez_compressed(dense, transitions=kernel, rewards=rewards)
    np.savez(
        sparse,
        edges=edges,
        probabilities=kernel[tuple(edges.T)],
        shape=[2, 4, 3],
        rewards=rewards,
    )
    assert load_model(dense).hash == load_model(sparse).hash


def test_a_kernel_with_rewards_beside_it_is_a_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    kernel, rewards = rng.dirichlet(np.ones(4), size=(4, 2)), rng.random((4, 2))
    np.save(tmp_path / "lake.npy", np.asfortranarray(kernel))
    np.save(tmp_path / "lake.rewards.npy", rewards)
    np.savez(tmp_path / "lake.npz", transitions=kernel, rewards=rewards)
    assert (
        load_model(tmp_path / "lake.npy").hash == load_model(tmp_path / "lake.npz").hash
    )


def test_a_file_of_simgap_0_1_with_scaled_rewards_is_read_as_it_was_meant() -> None:
    """It holds rewards r in [0, 1] that mean -3 + 20 r; others are written so still."""
    loaded = load_model(Path(__file__).parent / "files" / "scaled_rewards.simgap")
    first, second = loaded.simulators.rewards
    assert first.tolist() == [[2.0, 2.0], [7.0, 12.0], [2.0, 12.0]]
    assert second.tolist() == [[9.5, -0.5], [4.5, 14.5], [14.5, 9.5]]
    assert loaded.prior.tolist() == [0.25, 0.75]
