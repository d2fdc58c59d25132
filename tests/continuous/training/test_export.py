"""Trained policies as ONNX files: the numbers of the learner, over whole episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.continuous import Batch, Box, Choices, open_policy
from simgap.continuous.policies.onnx_network import Carried, Network, open_session
from simgap.continuous.policies.onnx_policy import onnx_policy
from simgap.continuous.training.export import write_trained
from simgap.continuous.training.features import Feature, Features, Scale
from simgap.continuous.training.learner import Learner, learner_of
from simgap.continuous.training.memory import parse_memory
from simgap.continuous.training.rows import Statistics
from simgap.continuous.training.settings import preset
from simgap.continuous.training.update import Learnt
from simgap.errors import SimgapError
from tests.continuous.policies.cases import Linear, choosing, linear

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
pytest.importorskip("optax")
jax = pytest.importorskip("jax")

STEPS, WORLDS, UNITS = 200, 6, 16
NEAR = 1e-5
MEMORIES = ("gru", "lstm", "window:5", "none")
FREE = np.full(3, np.inf)
ENDS = Box(np.array([-0.4, -2.0, -np.inf]), np.array([0.4, 1.0, np.inf]))
SIMULATORS = {"box": Linear(ENDS, Box(-FREE, FREE)), "choices": choosing(choices=4)}
FEATURES = (
    Feature("mass", Scale.LINE, 1000.0, 1000.1),  # single precision would not do
    Feature("gain", Scale.LOG, 0.01, 10.0),
    Feature("turn", Scale.ANGLE, 0.0, 2.0 * np.pi),
    Feature("kind", Scale.CHOICE, -1.0, 4.0, (-1.0, 0.5, 4.0)),
)
NAMES = tuple(each.name for each in FEATURES)


class Case(NamedTuple):
    """A learner with drawn weights, and its file."""

    learner: Learner
    step: Any  # of the learner
    path: Path


def written(
    path: Path, memory: str, simulator: Any, *, informed: bool, masked: bool = False
) -> Case:
    settings = preset(
        parse_memory(memory), STEPS, units=UNITS, informed=informed, masked=masked
    )
    learner = learner_of(simulator, settings, Features(FEATURES))
    random = np.random.default_rng(5)

    def drawn(each: Any) -> Any:
        scale = 1.4 / np.sqrt(each.shape[-1]) if each.ndim > 1 else 0.2
        return random.normal(0.0, scale, each.shape).astype(np.float32)

    seen = learner.network.seen
    statistics = Statistics(
        np.float32(100.0),
        random.normal(0.0, 0.3, seen).astype(np.float32),
        random.uniform(0.002, 0.5, seen).astype(np.float32),
        np.float32(2.0),
    )
    shapes = learner.network.new(np.random.default_rng(0), 0.0)
    learnt = Learnt(jax.tree.map(drawn, shapes), None, statistics)
    write_trained(path, learner, learnt, {"made": "by a test"})
    return Case(learner, _stepping(learner, learnt), path)


def network_of(case: Case) -> Network:
    """Return the network of a file."""
    simulator = case.learner.simulator
    signature = onnx_policy(case.path, "p", simulator).signature
    session = open_session(case.path.read_bytes())
    return Network(session, signature, simulator.observation, simulator.action)


def theta_of(case: Case) -> FloatArray:
    """Return parameters of the worlds, some of them hidden where that may be."""
    if not case.learner.network.shown:
        return np.zeros((WORLDS, 0))
    random = np.random.default_rng(8)
    theta = np.stack(
        [
            random.uniform(1000.0, 1000.1, WORLDS),
            np.exp(random.uniform(-4.6, 2.3, WORLDS)),
            random.uniform(0.0, 2.0 * np.pi, WORLDS),
            random.choice((-1.0, 0.5, 4.0, 0.6), WORLDS),
        ],
        axis=1,
    )
    if case.learner.settings.masked:
        theta[np.add.outer(np.arange(WORLDS), np.arange(len(NAMES))) % 3 == 0] = np.nan
    return theta


def apart(case: Case, network: Network, *, forgotten: str = "") -> float:
    """Return how far a file and its learner part in an episode.

    What is said, and what is remembered, whose large numbers are held to their size;
    `forgotten` is a state that is not carried.
    """
    learner, step, _ = case
    simulator, theta = learner.simulator, theta_of(case)
    kept = [one for one, _ in network.signature.roles.memory]
    random, carried = np.random.default_rng(1), network.start(theta)
    shown = np.zeros((WORLDS, 0), np.float32)
    if theta.size:
        told = Features(FEATURES, learner.settings.masked)
        numbers = told.numbers(dict(zip(NAMES, theta.T, strict=True)), (WORLDS,))
        shown = numbers.astype(np.float32)
    memory: Any = learner.network.start(WORLDS)
    previous = np.zeros((WORLDS, learner.network.outputs), np.float32)
    worst, met = 0.0, set()
    for number in range(STEPS):
        seen, given = _some(simulator.observation, random)
        first = np.full(WORLDS, number == 0)
        memory, wanted, previous = step(memory, given, previous, first, shown)
        said, carried = network.step(seen, carried)
        worst = max(worst, np.abs(said - wanted).max())
        states = memory if isinstance(memory, tuple) else (memory,)
        expected = np.concatenate([np.zeros((WORLDS, 0)), *states], axis=1)
        held = network.remembered(carried)
        assert held.shape == expected.shape
        off = np.abs(held - expected) / np.maximum(1.0, np.abs(expected))
        worst = max(worst, off.max(initial=0.0))
        if forgotten:
            carried = _without(carried, kept.index(forgotten))
        met |= set(map(tuple, np.round(previous, 2).tolist()))
    assert len(met) > 1
    return float(worst)


def _stepping(learner: Learner, learnt: Learnt) -> Any:
    """Return one step of a learner that draws nothing: memory, what is said, done."""
    network, actions, actor = learner.network, learner.actions, learnt.weights.actor

    def step(memory: Any, seen: Any, previous: Any, first: Any, shown: Any) -> Any:
        frame = network.framed(learnt.statistics.shown(seen), previous)
        memory, said = network.step(actor, memory, frame, shown, first)
        action = actions.chosen(said, actor.spread, 0.0)
        wanted = said if actions.choices else actions.played(action)
        return memory, wanted, actions.remembered(action)

    return jax.jit(step)


def _some(space: Any, random: np.random.Generator) -> tuple[FloatArray, Any]:
    """Return what worlds show, and how a learner takes it."""
    if isinstance(space, Choices):
        states = random.integers(space.n, size=WORLDS)
        return states[:, None].astype(np.float64), np.eye(space.n, dtype="f4")[states]
    seen = random.normal(0.0, 1.0, (WORLDS, space.size))
    return seen, seen.astype(np.float32)


def _without(carried: Carried, at: int) -> Carried:
    states = [list(each) for each in carried.states]
    for each in states:
        each[at] = np.zeros_like(each[at])
    return carried._replace(states=tuple(map(tuple, states)))


@pytest.mark.parametrize("told", ["nothing", "theta", "some of theta"])
@pytest.mark.parametrize("action", SIMULATORS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_a_file_is_what_was_learnt(
    tmp_path: Path, memory: str, action: str, told: str
) -> None:
    case = written(
        tmp_path / "p.onnx",
        memory,
        SIMULATORS[action],
        informed=told != "nothing",
        masked=told == "some of theta",
    )
    network = network_of(case)
    assert apart(case, network) < NEAR
    for name, _ in network.signature.roles.memory:  # the controls
        assert apart(case, network, forgotten=name) > 100 * NEAR
    said = network.signature
    assert said.batched
    model = onnx.load(case.path)
    onnx.checker.check_model(model, full_check=True)
    metadata = {each.key: each.value for each in model.metadata_props}
    assert metadata["made"] == "by a test" and metadata["memory"] == memory
    assert said.roles.told == (() if told == "nothing" else NAMES)
    carries = {"gru": 2, "lstm": 3, "window:5": 2, "none": 0}  # the last action too
    assert len(said.roles.memory) == carries[memory]


def test_a_policy_is_told_the_parameters_by_name(tmp_path: Path) -> None:
    case = written(tmp_path / "p.onnx", "gru", SIMULATORS["box"], informed=True)
    policy: Any = open_policy(case.path, SIMULATORS["box"])
    assert policy.informed
    theta = dict(zip(NAMES, theta_of(case).T, strict=True))
    seen = np.random.default_rng(0).normal(size=(WORLDS, 3))

    def actions(told: dict[str, FloatArray]) -> FloatArray:
        found, _ = policy.act(seen, policy.reset(Batch(np.arange(WORLDS), told)))
        return np.asarray(found)

    carried = network_of(case).start(theta_of(case))
    expected, _ = network_of(case).step(seen, carried)
    swapped = dict(reversed(theta.items())) | {"unused": theta["mass"]}
    assert np.array_equal(actions(swapped), expected)
    other = theta | {"turn": theta["turn"][::-1]}  # the control: another world's
    assert np.abs(actions(other) - expected).max() > 100 * NEAR


@pytest.mark.parametrize("masked", [False, True])
def test_what_a_policy_is_not_told_is_refused(tmp_path: Path, masked: bool) -> None:
    case = written(tmp_path / "p.onnx", "none", linear(), informed=True, masked=masked)
    policy: Any = open_policy(case.path, linear())
    told = {name: np.ones(2) for name in NAMES}
    policy.reset(Batch(np.arange(2), told))
    hidden = told | {"gain": np.array([1.0, np.nan])}
    missing = {name: told[name] for name in NAMES[:-1]}
    expected: dict[str, Any] = {"parameter-not-told": missing}
    if masked:
        policy.reset(Batch(np.arange(2), hidden))
    else:
        expected["parameter-hidden"] = hidden
    for code, given in expected.items():
        with pytest.raises(SimgapError) as caught:
            policy.reset(Batch(np.arange(2), given))
        assert caught.value.code == code
    assert "gain" in caught.value.problem or "kind" in caught.value.problem
