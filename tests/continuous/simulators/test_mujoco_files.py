"""Models and tasks of users: what is read, and how the rest is refused."""

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import bind, open_simulator
from simgap.continuous.simulators.mujoco_door import open_mujoco
from simgap.errors import SimgapError

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><worldbody><body name="arm"><joint name="elbow" axis="0 1 0"/>
<geom name="rod" type="capsule" fromto="0 0 0 0 0 1" size="0.05"/></body></worldbody>
<actuator><motor name="motor" joint="elbow" ctrlrange="-1 1"/></actuator></mujoco>"""
TASK = """
import numpy as np
frame_skip = 2
horizon = 30
fields = ("xipos",)
def reset(rng, model):
    return rng.uniform(-1, 1, model.nq), np.zeros(model.nv)
def observe(seen):
    return np.c_[np.cos(seen.qpos), np.sin(seen.qpos), seen.qvel]
def reward(before, action, after):
    return after.xipos[:, 1, 2] - 0.1 * action[:, 0] ** 2
def ended(seen):
    return np.abs(seen.qvel[:, 0]) > 50
def success(seen):
    return seen.xipos[:, 1, 2] > 0.4
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    (tmp_path / "arm.xml").write_text(ARM)
    return tmp_path / "arm.xml"


def test_a_file_beside_the_model_is_its_task(arm: Path) -> None:
    arm.with_suffix(".py").write_text(TASK)
    simulator = open_mujoco(str(arm))
    assert simulator.name == f"mujoco:{arm}"
    assert simulator.horizon == 30
    assert simulator.observation.size == 3
    worlds = simulator.instantiate({"body.arm.mass": np.array([1.0, 8.0])})
    first = worlds.reset(np.array([4, 4]))
    assert np.array_equal(first[0], first[1])
    stepped = worlds.step(np.ones((2, 1)), np.ones(2, np.bool_))
    assert stepped.success is not None
    assert stepped.observation[0, 2] != stepped.observation[1, 2]  # the mass is felt
    assert not hasattr(worlds, "place")  # the file defines no unobserve


MODELS: list[tuple[str, str]] = [
    ("nonsense", "model-not-xml"),
    ("", "model-not-xml"),
    ("<mujoco><worldbody><geom/></worldbody></mujoco>", "model-refused"),
    (ARM.replace('"elbow" axis', '"other" axis'), "model-refused"),
    (
        ARM.replace(
            "<worldbody>", '<asset><mesh name="m" file="none.stl"/></asset><worldbody>'
        ),
        "model-file-missing",
    ),
    (ARM.replace("<mujoco>", '<mujoco><size memory="2G"/>'), "model-too-large"),
    (ARM[: ARM.index("<actuator>")] + "</mujoco>", "model-not-steered"),
    ("<mujoco/>", "model-not-steered"),
    (ARM.replace("<mujoco>", '<mujoco><option timestep="0"/>'), "model-timestep"),
    (ARM.replace("<mujoco>", '<mujoco><option timestep="-1"/>'), "model-timestep"),
    (ARM.replace("size=", 'mass="nan" size='), "model-not-finite"),
]


@pytest.mark.parametrize(("text", "code"), MODELS, ids=lambda each: str(each)[-30:])
def test_a_bad_model_is_refused(arm: Path, text: str, code: str) -> None:
    arm.write_text(text)
    with pytest.raises(SimgapError) as caught:
        open_mujoco(str(arm))
    assert caught.value.code == code
    assert caught.value.hint


TASKS: list[tuple[str | None, str]] = [
    (None, "no-task"),
    ("frame_skip = 2", "no-reward"),
    ("reward = 3", "task-function"),
    (TASK.replace("frame_skip = 2", "frame_skip = 0"), "task-number"),
    (TASK.replace("horizon = 30", "horizon = 1.5"), "task-number"),
    (TASK.replace('("xipos",)', '("bananas",)'), "task-field"),
    (TASK.replace('("xipos",)', '("xpos",)'), "task-field"),
    (TASK.replace("- 0.1 * action[:, 0]", "- 0.1 * action"), "task-shape"),
    (TASK.replace("return np.c_", "return seen.time + 0 * np.c_"), "task-failed"),
    (TASK.replace("np.c_[np.cos(seen.qpos)", "np.r_[np.cos(seen.qpos)"), "task-shape"),
    (TASK.replace("uniform(-1, 1, model.nq)", "uniform(-1, 1, 3)"), "task-shape"),
    (TASK.replace("after.xipos[:, 1, 2]", "after.xipos[:, 5, 2]"), "task-failed"),
    ("1 / 0", "code-does-not-run"),
    (TASK + "reward_bounds = (1.0, -1.0)", "task-number"),
    (TASK + "parameters = {'gain': (0, 1, 2)}", "no-apply"),
    (TASK + "parameters = {'gain': 3}\ndef apply(m, v): 0", "bad-parameters"),
    (
        TASK + "parameters = {'gravity': (0, 1, 2)}\ndef apply(m, v): 0",
        "task-parameter",
    ),
    (TASK + "parameters = {'gain': (0, 1, 2)}\ndef apply(m): 0", "task-failed"),
]


@pytest.mark.parametrize(("text", "code"), TASKS, ids=lambda each: str(each)[-30:])
def test_a_bad_task_is_refused(arm: Path, text: str | None, code: str) -> None:
    if text is not None:
        arm.with_suffix(".py").write_text(text)
    with pytest.raises(SimgapError) as caught:
        open_mujoco(str(arm))
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nothing.xml", "no-file"),
        ("Humanoid-v5", "no-mujoco-task"),
        ("Hopper-v4", "no-mujoco-task"),
        ("arm.xml?speed=3", "mujoco-option"),
        ("arm.xml?task=", "mujoco-option"),
    ],
)
def test_a_name_of_nothing_is_refused(text: str, code: str) -> None:
    with pytest.raises(SimgapError) as caught:
        open_mujoco(text)
    assert caught.value.code == code


VALUES: list[tuple[dict[str, list[float]], str]] = [
    ({"body.torso.mass": [-1.0]}, "outside-domain"),
    ({"body.torso.mass": [0.0]}, "outside-domain"),
    ({"body.torso.mass": [float("nan")]}, "outside-domain"),
    ({"joint.leg_joint.damping": [-0.1]}, "outside-domain"),
    ({"body.torso_.mass": [1.0]}, "no-such-parameter"),
    ({"geom.foot_geom.size": [0.1]}, "compiled-field"),
    ({"geom.foot_geom.pos_x": [0.1]}, "compiled-field"),
    ({"body.torso.quat_w": [0.1]}, "compiled-field"),
    ({"gravity": [9.0], "gravity.x": [1.0]}, "set-twice"),
    ({"wind.x": [3.0]}, "wind-in-vacuum"),
    ({"wind.x": [3.0, 3.0], "density": [1.2, 0.0]}, "wind-in-vacuum"),
]


@pytest.mark.parametrize(("values", "code"), VALUES)
def test_bad_values_are_refused(values: dict[str, list[float]], code: str) -> None:
    given = {name: np.array(each) for name, each in values.items()}
    with pytest.raises(SimgapError) as caught:
        open_mujoco("hopper").instantiate(given)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("geom.foot_geom.size=0.05..0.07", "compiled-field"),
        ("body[*].pos_x+=0..0.1", "compiled-field"),
        ("body.foo.com_x=0.3..1.5", "compiled-field"),
        ("geom.foo.friction=0.3..1.5", "unknown-parameter"),
        ("body.torso.mass=-1..2", "outside-domain"),
        ("body.torso.mass=1 body.*.mass*=0.8..1.2", "set-twice"),
        ("body.*.mass*=0.7..1.4 actuator[*].gear*=-1..1 delay={0,1}", None),
    ],
)
def test_a_randomization_is_bound_to_named_fields(text: str, code: str | None) -> None:
    hopper = open_simulator("hopper")
    if code is None:
        bound = bind(text, hopper)
        assert len(bound.names) == 1 + 3 + 1
        assert len(bound.values(bound.sample(0, np.arange(4)))) == 4 + 3 + 1
        return
    with pytest.raises(SimgapError) as caught:
        bind(text, hopper)
    assert caught.value.code == code


@pytest.mark.skipif(not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"), reason="old")
def test_bodies_that_sleep_wake_for_the_next_episode(arm: Path) -> None:
    sleepy = '<mujoco><option><flag sleep="enable"/></option>'
    arm.write_text(ARM.replace("<mujoco>", sleepy))
    arm.with_suffix(".py").write_text(TASK)
    worlds = open_mujoco(str(arm)).instantiate({"gravity": np.array([9.81, 0.0])})
    paths = []
    for _ in range(2):
        shown = [worlds.reset(np.array([1, 2]))]
        for _ in range(30):
            actions = np.zeros((2, 1))
            shown.append(worlds.step(actions, np.ones(2, np.bool_)).observation)
        paths.append(np.array(shown).tobytes())
    assert paths[0] == paths[1]


def test_a_task_has_parameters_of_its_own(arm: Path) -> None:
    """`gain` scales the gear, and shows in the step; nominal, it changes nothing."""
    own = """
parameters = {"gain": (0.1, 1.0, 3.0)}
def apply(model, values):
    model.actuator_gear[0] *= values["gain"]
"""
    arm.with_suffix(".py").write_text(TASK + own)
    simulator = open_mujoco(str(arm))
    gain, gear = (
        {"gain": np.array([1.0, 2.0])},
        {"actuator.motor.gear": np.array([1.0, 2.0])},
    )
    seen = []
    for values in (gain, gear):
        worlds = simulator.instantiate(values)
        worlds.reset(np.array([1, 1]))
        stepped = worlds.step(np.ones((2, 1)), np.ones(2, np.bool_))
        seen.append(stepped.observation)
    assert np.array_equal(seen[0], seen[1])
    assert seen[0][0, 2] != seen[0][1, 2]
