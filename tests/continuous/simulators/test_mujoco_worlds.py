"""Batches of MuJoCo worlds: a row is what one MjData of its own would do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous.simulators.mujoco_door import MuJoCoSimulator, open_mujoco
from simgap.continuous.simulators.mujoco_tasks import MuJoCoTask
from simgap.continuous.simulators.wrapped import PlaceableWorlds

mujoco = pytest.importorskip("mujoco")

ROWS = 7


def values(rows: int = ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "body.torso.mass": rng.uniform(2.0, 6.0, rows),
        "joint.leg_joint.damping": rng.uniform(0.5, 2.0, rows),
        "actuator.foot_joint.gear": rng.uniform(100.0, 300.0, rows),
        "gravity": rng.uniform(8.0, 11.0, rows),
    }


FIELDS = ("xpos", "cfrc_ext", "qfrc_constraint", "ncon")


def everything(seen: Any) -> Any:
    parts = [getattr(seen, each) for each in ("qpos", "qvel", "ctrl", "time", *FIELDS)]
    return np.concatenate([each.reshape(len(seen.qpos), -1) for each in parts], axis=1)


def paths_of_mjdata(models: Any, starts: Any, actions: Any) -> Any:
    """Return what is seen after each step of one MjData for each row."""
    rows = []
    for model, qpos, qvel, row in zip(models, *starts, actions, strict=True):
        data, path = mujoco.MjData(model), []
        data.qpos, data.qvel = qpos, qvel
        mujoco.mj_forward(model, data)
        for action in row:
            data.ctrl = action
            mujoco.mj_step(model, data, nstep=5)
            mujoco.mj_rnePostConstraint(model, data)
            names = ("qpos", "qvel", "ctrl", "time", *FIELDS)
            path.append(np.concatenate([np.ravel(getattr(data, n)) for n in names]))
        rows.append(path)
    return np.array(rows).swapaxes(0, 1)


def paths_of_batch(models: Any, starts: Any, actions: Any) -> Any:
    """Return the same from MuJoCo's own batch, which is part of it since 3.16."""
    batch = pytest.importorskip("mujoco.batch").Batch(models[0], len(models), 2, True)
    batch.set_models(models)
    names, path = ("qpos", "qvel", "ctrl", "time", *FIELDS), []
    batch.reset()
    batch.qpos, batch.qvel = starts
    batch.forward()
    for step in range(actions.shape[1]):
        batch.ctrl = actions[:, step]
        batch.step(nstep=5)
        shown = {name: np.array(getattr(batch, name)) for name in names}
        for row, model in enumerate(models):
            data = mujoco.MjData(model)
            batch.get_data(row, data)
            mujoco.mj_rnePostConstraint(model, data)
            shown["cfrc_ext"][row] = data.cfrc_ext
        shaped = [each.reshape(len(models), -1) for each in shown.values()]
        path.append(np.concatenate(shaped, axis=1))
    return np.array(path)


@pytest.mark.parametrize("judge", [paths_of_mjdata, paths_of_batch])
def test_a_row_is_a_world_of_its_own_byte_for_byte(judge: Any) -> None:
    """Ants that fall from a height: contacts begin, and the solver starts warm."""
    ant = open_mujoco("ant")
    starts = (
        ant.model.qpos0
        + np.linspace(0.0, 0.9, ROWS)[:, None] * (np.arange(ant.model.nq) == 2),
        np.random.default_rng(1).normal(0.0, 1.0, (ROWS, ant.model.nv)),
    )
    task = MuJoCoTask(
        reward=lambda before, actions, after: after.time,
        observe=everything,
        unobserve=lambda rows: (starts[0][: len(rows)], starts[1][: len(rows)]),
        fields=FIELDS,
        frame_skip=5,
    )
    simulator = MuJoCoSimulator("ants", ant.model, task)
    gravity = np.linspace(5.0, 15.0, ROWS)
    worlds = simulator.instantiate({"gravity": gravity})
    assert isinstance(worlds, PlaceableWorlds)
    worlds.place(np.zeros((ROWS, 1)))
    actions = np.random.default_rng(2).uniform(-1.0, 1.0, (ROWS, 60, ant.action.size))
    alive = np.ones(ROWS, np.bool_)
    seen = [worlds.step(actions[:, i], alive).observation for i in range(60)]
    models = [simulator._model(("gravity",), (each,)) for each in gravity.tolist()]
    judged = judge(models, starts, actions)
    assert len(np.unique(judged[..., -1])) > 3  # numbers of contacts
    assert np.array(seen).tobytes() == judged.tobytes()
    assert judged.tobytes() != judge(models[::-1], starts, actions).tobytes()


def test_an_episode_begins_anew_after_any_other() -> None:
    simulator = open_mujoco("hopper")
    worlds, fresh = simulator.instantiate(values()), simulator.instantiate(values())
    alive, seeds = np.ones(ROWS, np.bool_), np.arange(ROWS)
    worlds.reset(seeds + 50)
    for _ in range(20):
        worlds.step(np.ones((ROWS, 3)), alive)
    assert worlds.reset(seeds).tobytes() == fresh.reset(seeds).tobytes()
    after = [
        each.step(np.ones((ROWS, 3)), alive).observation for each in (worlds, fresh)
    ]
    assert after[0].tobytes() == after[1].tobytes()


def test_a_world_that_blows_up_is_broken_and_costs_only_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing is printed, and no file of MuJoCo is left in the current folder."""
    monkeypatch.chdir(tmp_path)
    simulator = open_mujoco("inverted-pendulum")
    gear = np.array([100.0, 1e16, 100.0])
    worlds = simulator.instantiate({"actuator.slide.gear": gear})
    worlds.reset(np.arange(3))
    stepped = worlds.step(np.full((3, 1), 0.01), np.ones(3, np.bool_))
    assert list(stepped.broken) == [1]
    assert "acceleration" in stepped.broken[1]
    assert stepped.ended.tolist() == [False, True, False]
    assert np.isfinite(stepped.reward).all()
    stepped = worlds.step(np.full((3, 1), 0.01), np.array([True, False, True]))
    assert not stepped.broken  # it is told once
    actions = np.array([[np.nan], [0.0], [0.0]])
    stepped = worlds.step(actions, np.array([True, False, True]))
    assert list(stepped.broken) == [0]
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


MEMORIES = range(4, 240, 4)  # KB; 12 balls in one place need 170
BALL = '<body><joint name="{}" type="slide"/><geom size="0.1"/></body>'
HEAP = (
    '<mujoco><size memory="{}K"/><option timestep="0.01" gravity="0 0 0"/>'
    f"<worldbody>{''.join(map(BALL.format, range(12)))}</worldbody>"
    '<actuator><motor joint="0"/></actuator></mujoco>'
)


def test_a_world_without_memory_for_its_contacts_costs_only_its_row() -> None:
    """In the second world all balls fly to one place, in more and more memory."""
    apart = np.arange(12.0) - 6.0
    speeds = np.array([[0.0], [-100.0], [-1.0]]) * apart  # the second: at once to 0
    task = MuJoCoTask(
        reward=lambda before, actions, after: after.qpos.sum(axis=1),
        reset=lambda rng, model: (apart, np.zeros(12)),
        unobserve=lambda rows: (np.tile(apart, (len(rows), 1)), speeds[: len(rows)]),
        frame_skip=2,
    )
    broken = set()
    for memory in MEMORIES:
        model = mujoco.MjModel.from_xml_string(HEAP.format(memory))
        worlds = MuJoCoSimulator("heap", model, task).instantiate(
            {"viscosity": np.zeros(3)}
        )
        assert isinstance(worlds, PlaceableWorlds)
        worlds.place(np.zeros((3, 1)))
        stepped = worlds.step(np.zeros((3, 1)), np.ones(3, np.bool_))
        assert stepped.observation[0].tolist() == [*apart, *speeds[0]]
        assert np.allclose(stepped.observation[2, :12], 0.98 * apart, rtol=1e-12)
        if not stepped.broken:
            break
        assert list(stepped.broken) == [1]
        if "stack" in stepped.broken[1]:  # the row is as it was before
            assert stepped.observation[1].tolist() == [*apart, *speeds[1]]
        broken.add("stack" in stepped.broken[1])
    assert broken == {True, False}
    assert not stepped.broken


def test_the_puck_goes_where_its_thrusters_are_turned() -> None:
    """A quarter turn: thrust ahead moves it along y, as written in the gears."""
    puck = open_mujoco("puck")
    angles = np.array([0.0, np.pi / 2, -np.pi / 2, np.pi])
    worlds = puck.instantiate({"angle": angles})
    first = worlds.reset(np.zeros(4, np.int64))
    assert first.shape == (4, 6)
    stepped = worlds.step(np.tile([1.0, 0.0], (4, 1)), np.ones(4, np.bool_))
    moved = stepped.observation[:, 2:4]
    far = moved[0, 0]
    assert far > 0.01
    wanted = far * np.array([[1, 0], [0, 1], [0, -1], [-1, 0]])
    assert np.allclose(moved, wanted, rtol=0.0, atol=1e-12)
    goal = first[:, :2]  # seen from the middle
    assert np.allclose(stepped.reward, -np.linalg.norm(goal - moved, axis=1))
