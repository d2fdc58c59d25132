"""A class and its members: indexing, start laws, frozen arrays, priors."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import AnyArray, owned, read_only
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp import (
    Details,
    LatentMDP,
    Parameters,
    RewardUnits,
    SimulatorClass,
    class_from_arrays,
    class_from_models,
)
from tests.reference.rational import RationalMDP
from tests.strategies import STEADY, as_class, rational_classes, start_laws


def three_coins(start: object = 0) -> SimulatorClass:
    P = np.array([[[[1 - p, p]], [[1 - p, p]]] for p in (0.25, 0.5, 0.75)])
    parameters = Parameters(("p",), np.array([[0.25], [0.5], [0.75]]))
    details = Details(start=start, parameters=parameters, model_names=("a", "b", "c"))
    return class_from_arrays(P, [[0.0], [1.0]], details=details)


def arrays_of(simulators: SimulatorClass) -> list[AnyArray]:
    kernel = simulators.transitions
    held: list[AnyArray] = [
        kernel.indptr,
        kernel.indices,
        kernel.values,
        simulators.rewards,
    ]
    return [*held, simulators.start, simulators.theta.values]


def test_members_are_counted_from_either_end() -> None:
    coins = three_coins()
    assert [model.name for model in coins] == ["a", "b", "c"]
    assert coins[-1].name == coins[2].name == "c"
    assert coins[int(np.int64(1))].parameters == {"p": 0.5}
    assert len(coins) == coins.n_models == 3
    for outside in (3, -4, 10**9):
        with pytest.raises(InvalidArgument, match=f"no model {outside}"):
            coins[outside]


def test_nothing_can_be_changed() -> None:
    coins = three_coins(start=[0.5, 0.5])
    for simulators in (coins, coins[1].as_class(), class_from_models(list(coins))):
        for array in arrays_of(simulators):
            if array.size:
                with pytest.raises(ValueError, match="read-only"):
                    array.flat[0] = 1
    with pytest.raises(FrozenInstanceError):
        coins.rewards = np.zeros((1, 2, 1))  # type: ignore[misc]
    with pytest.raises(TypeError):
        coins[0].parameters["p"] = 1.0  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        coins[0].start[0] = 1.0  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        LatentMDP.uniform(coins).prior[0] = 1.0


def test_a_record_keeps_its_own_copy_of_writable_data() -> None:
    original = np.array([1.0, 2.0])
    window = original[:]
    window.flags.writeable = False  # read-only, but the owner can still write
    for given_array in (original, window):
        kept = read_only(given_array)
        original[0] = 5.0
        assert kept[0] == 1.0
        original[0] = 1.0
    fresh = owned(np.ones(3))
    assert read_only(fresh) is fresh
    assert read_only(fresh, np.int64).dtype == np.int64


def test_start_states_may_be_shared_or_one_per_model() -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert three_coins().at_start(values).tolist() == [1.0, 3.0, 5.0]
    assert three_coins(1).at_start(values).tolist() == [2.0, 4.0, 6.0]
    assert three_coins([0, 1, 0]).at_start(values).tolist() == [1.0, 4.0, 5.0]
    assert three_coins([0, 1, 0])[1].start == 1
    law = three_coins([0.25, 0.75])
    assert law.at_start(values).tolist() == [1.75, 3.75, 5.75]
    laws = three_coins([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert laws.at_start(values).tolist() == [1.0, 3.5, 6.0]
    assert laws.start_law(1).tolist() == [0.5, 0.5]
    assert three_coins(1).start_law(2).tolist() == [0.0, 1.0]


@STEADY
@given(models=rational_classes(communicating=False), data=st.data())
def test_taking_a_class_apart_and_together_gives_it_back(
    models: list[RationalMDP], data: st.DataObject
) -> None:
    law = np.array(data.draw(start_laws(models[0].n_states)))
    simulators = as_class(models, start=law)
    assert class_from_models(list(simulators)).hash == simulators.hash
    for m, member in enumerate(simulators):
        assert member.as_class()[0].hash == member.hash
        assert (member.as_class().start_law(0) == simulators.start_law(m)).all()


def test_distributions_are_not_divided_again_and_again() -> None:
    """Members, copies and re-read files must have the hash of the original."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        law = rng.dirichlet(np.ones(7))
        P = np.full((2, 7, 1, 7), 1.0 / 7.0)
        details = Details(start=law)
        simulators = class_from_arrays(P, np.zeros((7, 1)), details=details)
        assert class_from_models(list(simulators)).hash == simulators.hash
        assert replace(simulators).hash == simulators.hash
        latent = LatentMDP(simulators, np.array([law[0], 1.0 - law[0]]))
        assert LatentMDP(latent.simulators, latent.prior).hash == latent.hash


def test_rewards_are_those_that_are_meant() -> None:
    written = np.array([2.0, 0.1])
    units = RewardUnits(offset=-1.0, factor=3.0)
    assert units.meant(written).tolist() == [5.0, -1.0 + 3.0 * 0.1]
    assert RewardUnits().meant(written) is written


def test_a_prior_is_a_distribution_over_the_class() -> None:
    coins = three_coins()
    assert LatentMDP.uniform(coins).prior.sum() == pytest.approx(1.0)
    certain = LatentMDP(coins, np.array([0, 0, 1]))
    assert certain.prior.tolist() == [0.0, 0.0, 1.0]
    assert certain.hash != LatentMDP.uniform(coins).hash
    with pytest.raises(InvalidModel, match=r"prior has shape \(2,\)"):
        LatentMDP(coins, np.array([0.5, 0.5]))


def test_probabilities_are_those_of_the_row() -> None:
    coins = three_coins()
    successors, chances = coins.transitions.row(2, 1, 0)
    assert successors.tolist() == [0, 1]
    assert chances.tolist() == [0.25, 0.75]
    assert coins[2].probability(1, 0, 1) == 0.75
    assert coins.nbytes >= coins.transitions.nbytes
