"""Collecting: the same rows by a compiled loop and in waves, whatever ends early."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from simgap.continuous import Box, JaxTask, Parameter, open_jax, open_simulator
from simgap.continuous.training.draws import Drawn
from simgap.continuous.training.rows import Rows, Statistics
from simgap.continuous.training.scanned import collected
from simgap.continuous.training.update import Learnt, loss, prepared, targets
from simgap.continuous.training.waves import BrokenTraining
from tests.continuous.training.trial import MEMORIES, Trial, trial

jax = pytest.importorskip("jax")
jnp = jax.numpy

MOTOR = "gain=0.5..1.5 sign={-1,1}"
POLES = "length=0.3..1.5 force_mag=3..14"
HORIZON = 60
KINDS = [
    pytest.param(each, marks=pytest.mark.slow) if each == "lstm" else each
    for each in MEMORIES
]


class Case(NamedTuple):
    """Rows of the same draws and the same noise, collected in both ways."""

    trial: Trial
    learnt: Learnt
    drawn: Drawn
    noise: Any
    rows: dict[str, Rows]
    chances: Any  # compiled: rows -> logarithms of chances, parts of the loss


def case(simulator: Any, spec: str, memory: str, horizon: int = HORIZON) -> Case:
    """Return what a policy does whose actions depend on all that it sees."""
    given = trial(simulator, spec, memory, horizon=horizon, informed=True)
    learner = given.learner
    fresh = learner.start(0)
    head = fresh.weights.actor.head
    actor = fresh.weights.actor._replace(head=head._replace(weight=50.0 * head.weight))
    size = learner.network.seen
    mean, square = np.linspace(-0.1, 0.1, size), np.linspace(0.5, 2.0, size)
    numbers: Any = (100.0, mean, square, 2.0)
    statistics = Statistics(*(np.asarray(each, np.float32) for each in numbers))
    learnt = Learnt(fresh.weights._replace(actor=actor), fresh.moments, statistics)
    drawn, key = given.drawn(5, 3), jax.random.key(7)
    noise = np.asarray(learner.actions.noise(key, (horizon, len(drawn.seeds))))

    def scanned(learnt: Learnt, draws: Any) -> Rows:
        return collected(
            simulator,
            horizon,
            learner.network,
            learner.actions,
            learnt.weights.actor,
            learnt.statistics,
            draws,
            noise,
        )

    def chances(rows: Rows, draws: Any, stored: Any) -> Any:
        parts = learner.settings, learner.network, learner.actions
        shown = prepared(*parts[1:], learnt.statistics, rows, draws)
        target = targets(*parts, learnt.weights, shown, rows, 1.0)
        anew = target._replace(log_chance=stored)
        return target.log_chance, loss(*parts, learnt.weights, shown, anew)[1]

    rows = {
        "scanned": Rows(*map(np.asarray, jax.jit(scanned)(learnt, drawn.draws))),
        "waves": given.in_waves(learnt, drawn, noise),
    }
    return Case(given, learnt, drawn, noise, rows, jax.jit(chances))


@lru_cache
def motor(memory: str) -> Case:
    return case(open_jax("cart-pole-force"), MOTOR, memory)


def check_same_rows(given: Case) -> None:
    one, other = given.rows["scanned"], given.rows["waves"]
    early = one.ended[:-1].sum(axis=0)
    assert (early > 1).any()  # rows with three episodes
    assert (one.ended[-1] < (early > 0)).any()  # and one that is cut after an early end
    for name in ("first", "draw", "ended"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("time", "action", "reward", "observation"):
        a, b = getattr(one, name), getattr(other, name)
        if name == "observation":  # after the end of a row nothing is looked at
            b[-1, one.ended[-1]] = a[-1, one.ended[-1]]
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("memory", KINDS)
def test_a_compiled_loop_and_waves_give_the_same_rows(memory: str) -> None:
    check_same_rows(motor(memory))


def test_a_compiled_loop_and_waves_give_the_same_rows_of_choices() -> None:
    given = case(open_jax("cartpole"), POLES, "none")
    check_same_rows(given)
    assert set(np.unique(given.rows["waves"].action)) == {0, 1}


@pytest.mark.parametrize("how", ["scanned", "waves"])
@pytest.mark.parametrize("memory", KINDS)
def test_chances_computed_anew_are_those_that_actions_were_drawn_with(
    memory: str, how: str
) -> None:
    """The ratio of the first epoch is 1: its actions are its own."""
    given = motor(memory)
    assert ratios(given, given.rows[how]) < 1e-5


@pytest.mark.parametrize("memory", KINDS[:-1])  # one has no memory
def test_chances_of_memory_that_is_a_step_late_are_others(memory: str) -> None:
    """The control: the same check fails."""
    given = motor(memory)
    rows = given.rows["scanned"]
    late = rows._replace(first=np.roll(rows.first, 1, axis=0))
    assert ratios(given, late) > 1e-2


def ratios(given: Case, rows: Rows) -> float:
    """Return the greatest difference of a logarithm, or of the loss's ratio from 1."""
    spread = given.learnt.weights.actor.spread
    stored = -(0.5 * given.noise**2 + spread + 0.5 * np.log(2.0 * np.pi)).sum(-1)
    anew, told = given.chances(rows, given.drawn.draws, stored)
    return max(float(np.abs(anew - stored).max()), float(told["ratio"]))


def test_every_episode_has_its_own_parameters_and_keeps_them() -> None:
    """A task that shows its parameters: each step has those of its episode."""
    given = case(open_jax(ECHO), "left=0..1 right=0..1", "none", horizon=30)
    most = given.drawn.seeds.shape[1]
    number = np.arange(len(given.drawn.seeds))
    for rows in given.rows.values():
        at = np.minimum(rows.first[:-1].cumsum(axis=0) - 1, most - 1)
        np.testing.assert_array_equal(rows.draw[:-1], at)
        assert (at == most - 1).any()
        for column, name in enumerate(("left", "right")):
            wanted = given.drawn.values[name][number, at].astype(np.float32)
            np.testing.assert_array_equal(rows.observation[:-1, :, column], wanted)
    assert len(np.unique(given.drawn.theta)) == given.drawn.theta.size
    assert len(np.unique(given.drawn.seeds)) == given.drawn.seeds.size


def test_episodes_that_break_end_a_training() -> None:
    given = trial(open_jax(BREAKING), "broken=1", "none")
    programs = given.learner.programs._replace(whole=None)
    learner = replace(given.learner, programs=programs)
    with pytest.raises(BrokenTraining, match="not finite, at broken=1, step 1") as told:
        learner.round(learner.start(0), given.drawn(0, 0), 0, 0, 0.0)
    assert told.value.code == "episodes-broke"


@pytest.mark.parametrize(("delay", "same"), [(20, True), (19, False)])
def test_a_delay_that_does_not_vary_is_no_less_a_delay(delay: int, same: bool) -> None:
    """Actions that arrive after the last step change nothing."""
    given = trial(open_simulator("servo"), f"delay={delay}", "none", horizon=20)
    programs = given.learner.programs._replace(learn=lambda learnt, *_: (learnt, {}))
    learner = replace(given.learner, programs=programs)
    learnt, drawn = learner.start(0), given.drawn(0, 1)
    one, other = (learner.round(learnt, drawn, seed, 1, 0.0) for seed in (0, 1))
    assert np.array_equal(one.met.returned, other.met.returned) == same


def _start(theta: Any, key: Any) -> Any:
    return jnp.zeros(())


def _observe(state: Any, theta: Any, key: Any) -> Any:
    return jnp.stack([theta["left"], theta["right"]])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    return state, action[0], jax.random.uniform(key) < 0.15


ECHO = JaxTask(
    name="echo",
    parameters=(Parameter("left", 0.5), Parameter("right", 0.5)),
    observation=Box(np.zeros(2), np.ones(2)),
    action=Box(-np.ones(1), np.ones(1)),
    start=_start,
    observe=_observe,
    step=_step,
)


def _third_step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    reward = jnp.where(theta["broken"] > 0.0, jnp.nan, 1.0)
    return state + 1.0, reward, state + 1.0 >= 3.0


def _broken_at_the_end(state: Any, theta: Any, key: Any) -> Any:
    return jnp.where(state >= 3.0, jnp.nan, state)[None]


BREAKING = JaxTask(
    name="breaking",
    parameters=(Parameter("broken", 0.0),),
    observation=Box(np.zeros(1), np.ones(1)),
    action=Box(-np.ones(1), np.ones(1)),
    horizon=HORIZON,
    start=_start,
    observe=_broken_at_the_end,
    step=_third_step,
)
