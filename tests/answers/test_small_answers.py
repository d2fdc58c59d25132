"""Small answers and what others are made of: models, files, prices, runs."""

from __future__ import annotations

from importlib import import_module
from math import inf
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import info
from simgap.answers.brought_policies import (
    BlackBox,
    asked_policy,
    brought_to_class,
    names_a_file,
    parameters_of,
)
from simgap.answers.info import export, list_models, list_parameters
from simgap.answers.model import NamedModel, named_model
from simgap.answers.pair_prices import recorded_prices
from simgap.answers.planned_class import checked_oracle
from simgap.answers.run.agents import built_agent, chosen_models, run_model
from simgap.answers.saved_policies import belief_path, writable_file
from simgap.answers.weighted_models import (
    equal_kernels,
    equal_models,
    weighted_models,
)
from simgap.bounds import ProvedThreshold, vacuity_horizon
from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.instances import build_instance
from simgap.intervals import Estimate
from simgap.mdp import Details, IndexOrder, LatentMDP, class_from_arrays
from simgap.policies import MarkovPolicy, Step
from tests.answers.target import Target
from tests.continuous.toy import ToyPendulum

BROUGHT: Any = import_module("simgap.answers.brought_policies")
RUN: Any = import_module("simgap.answers.run.run")
RIVERS = "riverswim?states=3&success=0.2,0.8"


def latent(text: str = RIVERS) -> LatentMDP:
    return LatentMDP.uniform(build_instance(text))


# what is in a model


def test_info_counts_what_some_model_uses() -> None:
    kernel = np.zeros((2, 2, 1, 2))
    kernel[0, :, 0] = [[1.0, 0.0], [0.5, 0.5]]
    kernel[1, :, 0] = [[1.0, 0.0], [1.0, 0.0]]
    starts = [[1.0, 0.0], [0.25, 0.75]]
    worlds = class_from_arrays(
        kernel, np.array([[-1.0], [3.0]]), details=Details(start=starts)
    )
    found = info(LatentMDP(worlds, np.array([0.25, 0.75])))
    assert (found.models, found.states, found.actions, found.nonzeros) == (2, 2, 1, 3)
    assert found.prior == (0.25, 0.75)
    assert found.rewards == {"lowest": -1.0, "highest": 3.0, "shared": True}
    assert [(each.states, each.probabilities) for each in found.start] == [
        ((0,), (1.0,)),
        ((0, 1), (0.25, 0.75)),
    ]
    assert [each.model for each in found.start] == list(found.names)
    (alone,) = info(RIVERS).start
    assert alone.model is None
    assert info(RIVERS).provenance.model == RIVERS
    assert info(RIVERS).parameters == {"success": (0.2, 0.8)}


def test_every_model_that_can_be_named_is_listed_with_its_parameters() -> None:
    found = {each.name: each.parameters for each in list_models().instances}
    assert "success" in found["riverswim"]
    assert "default" in found["riverswim"]["states"]
    assert {"gym:FrozenLake-v1", "discretise:Pendulum-v1"} <= set(found)
    assert "mass" in found["discretise:Pendulum-v1"]
    lake = found["gym:FrozenLake-v1"]
    assert list(lake)[:3] == ["success_rate", "is_slippery", "map_name"]
    assert "4x4, 8x8" in lake["map_name"] and "true, false" in lake["is_slippery"]
    assert "restart" in lake["terminal"]
    assert "cartpole" in {each.name for each in list_models().simulators}
    (pendulum,) = list_parameters(ToyPendulum()).simulators
    assert pendulum.parameters["mass"] == "nominal 1 kg; > 0 kg"
    assert pendulum.parameters["g"] == "nominal 10 m/s^2; >= 0 m/s^2"
    (target,) = list_parameters(Target()).simulators
    assert target.parameters["theta"] == "nominal 1"


def test_a_model_is_exported_whole(tmp_path: Path) -> None:
    path = tmp_path / "rivers.simgap"
    found = export(RIVERS, path)
    assert found.path == str(path) and found.bytes == path.stat().st_size
    assert found.hash == named_model(path).latent.hash == latent().hash
    assert found.provenance.model == RIVERS


def test_a_model_that_is_named_keeps_its_name() -> None:
    given = NamedModel(latent(), "mine")
    assert named_model(given) is given
    assert named_model(RIVERS).name == RIVERS and named_model(latent()).name == ""
    for wrong in ("", "  ", "-"):
        with pytest.raises(InvalidFile):
            named_model(wrong)
    with pytest.raises(InvalidFile) as caught:
        named_model("riverswim.npz")
    assert caught.value.code == "no-file" and "riverswim" in caught.value.hint


# files


def test_a_file_that_cannot_be_written_is_refused_before_planning(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new.simgap"
    assert writable_file(path) == path and list(tmp_path.iterdir()) == []
    assert belief_path(path) == tmp_path / "new.belief.simgap"
    belief_path(path).mkdir()
    (tmp_path / "there.simgap").mkdir()
    for wrong in (path, tmp_path / "there.simgap", tmp_path / "new.npz"):
        with pytest.raises(InvalidFile):
            writable_file(wrong)
    with pytest.raises(InvalidFile):
        writable_file(tmp_path / "nowhere" / "new.simgap")


# groups of models


def test_models_that_move_alike_are_one_group() -> None:
    """Models 0 and 2 differ in state 1 alone, 0 and 1 in what they pay there."""
    kernel = np.zeros((4, 2, 1, 2))
    kernel[:, 0, 0] = [0.5, 0.5]
    kernel[:, 1, 0] = [1.0, 0.0]
    kernel[2, 1, 0] = [0.0, 1.0]
    kernel[3, 0, 0] = [0.25, 0.75]
    rewards = np.zeros((4, 2, 1))
    rewards[1, 1] = 1.0
    order = IndexOrder.STATE_ACTION
    worlds = class_from_arrays(kernel, rewards, order=order)
    first, both = np.array([True, False]), np.array([True, True])
    assert equal_kernels(worlds, first) == ((0, 1, 2), (3,))
    assert equal_kernels(worlds, both) == ((0, 1), (2,), (3,))
    assert equal_models(worlds, first) == ((0, 1, 2), (3,))
    assert equal_models(worlds, both) == ((0,), (1,), (2,), (3,))
    shared = class_from_arrays(kernel, rewards[1], order=order)
    assert equal_models(shared, both) == ((0, 1), (2,), (3,))
    assert equal_models(shared, ~both) == ((0, 1, 2, 3),)


def test_models_with_weight_are_found_where_they_stand() -> None:
    worlds = build_instance("riverswim?states=3&success=0.2,0.5,0.8")
    found = weighted_models(LatentMDP(worlds, np.array([0.25, 0.0, 0.75])))
    assert found.index.tolist() == [0, 2] and found.prior.tolist() == [0.25, 0.75]
    assert found.names == (worlds.model_names[0], worlds.model_names[2])
    whole = weighted_models(LatentMDP.uniform(worlds))
    assert whole.simulators is worlds and whole.index.tolist() == [0, 1, 2]


def test_prices_of_many_models_are_those_of_sixty() -> None:
    few = np.arange(3600.0).reshape(60, 60)
    found = recorded_prices(few, few + 0.5, np.array([1, 2]))
    assert found.models == tuple(range(60)) and found.lower[3][4] == few[3, 4]
    many = np.arange(61.0 * 61).reshape(61, 61)
    found = recorded_prices(many, many + 0.5, None)
    assert len(found.models) == 60
    assert (found.models[0], found.models[-1]) == (0, 60)
    for one, row in enumerate(found.models):
        for other, column in enumerate(found.models):
            assert found.lower[one][other] == many[row, column]
            assert found.upper[one][other] == many[row, column] + 0.5
    some = recorded_prices(many, many, np.array([5, 9, 60]))
    assert some.models == (5, 9, 60) and some.lower[0][2] == many[5, 60]


def test_an_oracle_of_another_question_is_refused() -> None:
    given = latent()
    oracle: Any = Stand(horizon=4, prior=given.prior)
    assert checked_oracle(None, given, 4) is None
    assert checked_oracle(oracle, given, 4) is oracle
    other: Any = Stand(horizon=4, prior=np.array([0.25, 0.75]))
    for wrong, horizon in ((oracle, 5), (other, 4)):
        with pytest.raises(InvalidArgument):
            checked_oracle(wrong, given, horizon)


# policies that are brought


def test_texts_that_name_files_are_told_from_names() -> None:
    files = (
        "zero",
        "a.onnx",
        "p.simgap",
        "mine.py:act",
        "C:/there/mine.py:act",
        "a.py",
    )
    for text in files:
        assert names_a_file(text), text
    for text in ("oracle", "likelihood", "act.txt", "mine.py.txt:act", ""):
        assert not names_a_file(text), text
    assert asked_policy("mine=a.onnx") == ("mine", "a.onnx")
    assert asked_policy(Path("a.onnx")) == ("a.onnx", "a.onnx")
    assert asked_policy(Target()).name == "target"
    assert asked_policy(names_a_file).name == "names_a_file"
    assert asked_policy(3.5).name == "float"
    assert asked_policy(Stand(name=7, __name__="x")).name == "SimpleNamespace"


def test_a_black_box_is_asked_in_every_state_with_what_it_remembers() -> None:
    met: list[Any] = []

    def counting(state: int, memory: Any) -> tuple[int, int]:
        met.append((int(state), memory))
        return int(state > 1), (memory or 0) + 1

    box: Any = brought_to_class(counting, latent())
    assert isinstance(box, BlackBox) and box.name == "counting"
    met.clear()
    first = box.start(2)
    assert first.action == 1 and box.act(first, 0, 2).tolist() == [0.0, 1.0]
    second = box.observe(first, Step(0, 2, 1, 0))
    assert second.action == 0 and box.act(second, 1, 0).tolist() == [1.0, 0.0]
    assert met == [(2, None), (0, 1)]
    assert not box.informed and box.theta is None


def test_a_black_box_has_a_key_and_is_told_its_model() -> None:
    seen: list[Any] = []

    class Inner:
        name = "inner"

        def reset(self, batch: Any) -> Any:
            seen.append(
                (batch.seeds.tolist(), {k: v.tolist() for k, v in batch.theta.items()})
            )

        def act(self, observations: Any, memory: Any) -> Any:
            assert observations.shape == (1, 1)
            return np.array([self.answer]), memory

        answer = 1.0

    inner: Any = Inner()
    box = BlackBox("mine", inner, 2)
    box.start(0)
    box.with_stream(2**63 + 5).told({"success": 0.5}).start(0)
    box.with_stream(2**63 - 1).start(0)
    assert seen == [([0], {}), ([5], {"success": [0.5]}), ([2**63 - 1], {})]
    inner.answer = np.nan
    with pytest.raises(InvalidArgument) as caught:
        box.start(0)
    assert caught.value.code == "action-not-finite"


def test_parameters_of_a_model_are_known_by_name() -> None:
    worlds = build_instance(RIVERS)
    assert parameters_of(worlds, 1) == {"success": 0.8}
    plain = class_from_arrays(np.full((1, 2, 1, 2), 0.5), np.zeros((2, 1)))
    assert parameters_of(plain, 0) == {}
    shown = BROUGHT._Table(worlds)
    assert [(each.name, each.nominal) for each in shown.parameters] == [
        ("success", 0.2)
    ]
    assert (shown.observation.n, shown.action.n) == (3, 2)
    assert shown.reset(np.arange(2)).tolist() == [[0.0], [0.0]]
    zero = brought_to_class("zero", latent())
    assert isinstance(zero, MarkovPolicy)


# runs


def test_the_real_model_is_all_or_one_by_number_or_name() -> None:
    given = latent()
    names = given.simulators.model_names
    assert chosen_models("all", given) == [0, 1]
    assert chosen_models(names[1], given) == chosen_models(1, given) == [1]
    assert chosen_models(" 0 ", given) == [0]
    for wrong in ("-1", 2, "2", "both", ""):
        with pytest.raises(InvalidArgument):
            chosen_models(wrong, given)
    with pytest.raises(InvalidArgument) as caught:
        chosen_models(names[1][:-1] + "9", given)
    assert "did you mean" in caught.value.hint
    with pytest.raises(InvalidArgument) as caught:
        chosen_models("sincerely", given)  # too far from success=0.2
    assert "did you mean" not in caught.value.hint
    with pytest.raises(InvalidArgument) as caught:
        chosen_models("succesabcde", given)  # half of its letters, and no more
    assert "did you mean" not in caught.value.hint


def test_a_continuum_is_for_algorithm_4_and_a_limit_for_the_oracle() -> None:
    given = run_model("riverswim?states=3&success=0.1..0.6")
    assert given.continuum is not None and given.name.endswith("0.1..0.6")
    assert run_model(RIVERS).continuum is None
    more: dict[str, Any] = {"seed": 0, "time_limit": None}
    for policy, literal in (("likelihood", False), ("general", True)):
        with pytest.raises(InvalidArgument, match="finitely"):
            built_agent(policy, given, 5, literal=literal, **more)
    with pytest.raises(InvalidArgument, match="time-limit"):
        built_agent(
            "likelihood", run_model(RIVERS), 5, literal=False, seed=0, time_limit=5.0
        )
    with pytest.raises(SimgapError):
        built_agent(
            "oracle", run_model(RIVERS), 5, literal=True, seed=0, time_limit=1.0
        )


def test_numbers_of_runs_are_those_of_their_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four runs the second dropped the truth; the third has no bound."""
    runs = Stand(
        model=1,
        name="wild",
        identified=np.array([-1, 4, 8, 9]),
        truth_eliminated=np.array([False, True, False, False]),
        bound=np.array([4.0, 0.5, np.nan, 8.0]),
        reward=np.array([8.0, 0.0, 0.0, 6.0]),
        switches=np.array([0, 1, 2, 3]),
        resets=np.array([0, 2, 0, 1]),
    )
    real = Stand(horizon=10, gain=np.array([0.0, 1.0]), optimal=np.array([0.0, 9.5]))
    gap = Estimate(1.0, 0.5, 1.5, 0.95)
    lost = Stand(runs=runs, gap=gap, regret=gap, sample=None)
    for ratio, told in ((0.25, 0.25), (inf, None)):
        monkeypatch.setattr(RUN, "combined", lambda _, r=ratio: Stand(variance_ratio=r))
        found = RUN._model(lost, real, None)
        assert found.variance_ratio == told
    assert (found.name, found.optimal) == ("wild", 9.5)
    assert (found.truth_eliminated, found.switches, found.resets) == (1, 1.5, 2)
    assert found.identified == 8.0
    assert found.pathwise_ratio == 0.5  # (10 - 8) / 4, and (10 - 6) / 8
    assert found.curve == ()
    runs.bound = np.array([0.0, 1.0, np.nan, inf])
    runs.identified = np.full(4, -1)
    found = RUN._model(lost, real, None)
    assert found.pathwise_ratio is None and found.identified is None


def test_rewards_that_differ_are_unseen_by_agents_that_observe() -> None:
    worlds = class_from_arrays(
        np.full((2, 2, 1, 2), 0.5), np.arange(4.0).reshape(2, 2, 1),
        order=IndexOrder.STATE_ACTION,
    )  # fmt: skip
    given = LatentMDP.uniform(worlds)

    def codes(of: LatentMDP, agent: Any, *losses: Any) -> list[str]:
        return [each.code for each in RUN._notes(of, agent, 5, None, list(losses))]

    learner = Stand(observed=None)
    assert codes(given, learner) == ["rewards-unseen"]
    assert codes(given, object()) == codes(latent(), learner) == []
    wide = Stand(gap=Estimate(1.0, 0.0, 4.0, 0.95), runs=Stand(reward=np.zeros(9)))
    calm = Stand(gap=Estimate(1.0, 1.0, 1.0, 0.95), runs=Stand(reward=np.zeros(9)))
    assert codes(latent(), learner, calm, wide) == ["rare-events"]
    assert codes(latent(), learner, calm) == []


def test_a_horizon_of_no_eliminations_does_not_depend_on_the_unit_of_rewards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spans, steps and drifts of two models that pay from 0 to 1, or -3 to 5."""
    monkeypatch.setattr(RUN, "diameter", lambda worlds: Stand(upper=4.0))
    spans, steps = np.array([2.0, 3.0]), np.array([1.5, 2.5])
    gains = np.array([0.25, 0.625])

    def first(low: float, high: float, models: int = 2) -> int | None:
        unit = high - low
        rewards = np.array([[low], [high]])
        worlds = class_from_arrays(np.full((models, 2, 1, 2), 0.5), rewards)
        known = Stand(
            simulators=worlds,
            gain=low + unit * gains,
            average=Stand(bias_span=unit * spans),
        )
        found: int | None = RUN._vacuity(
            Stand(known=known, levels=Stand(most_step=unit * steps))
        )
        return found

    paper = vacuity_horizon(
        spans=spans,
        drifts=[0.75, 0.625],  # as far as a reward can be from the gain
        steps=steps,
        threshold=ProvedThreshold.PAPER,
        diameter=4.0,
    )
    assert first(0.0, 1.0) == first(-3.0, 5.0) == int(paper)
    assert first(0.0, 1.0, models=1) is None
    assert first(2.0, 2.0) is None
