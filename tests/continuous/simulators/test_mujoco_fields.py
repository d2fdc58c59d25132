"""Named fields of MuJoCo models; MuJoCo's compiler, given an edited file, judges."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from simgap.continuous.simulators.mujoco_contacts import touching
from simgap.continuous.simulators.mujoco_door import MuJoCoSimulator, open_mujoco
from simgap.continuous.simulators.mujoco_gymnasium import KNOWN, gymnasium_file
from simgap.continuous.simulators.mujoco_models import quiet
from simgap.continuous.simulators.mujoco_tasks import MuJoCoTask
from simgap.errors import InvalidArgument

mujoco = pytest.importorskip("mujoco")

ROBOT = """
<mujoco>
  <option density="1.2" viscosity="1e-4" wind="1 0 0"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.5 0.01 0.001" condim="6"/>
    <body name="ball" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="shell" size="0.1" density="1000" friction="0.5 0.005 0.0001"
        condim="6"/>
      <body name="arm" pos="0 0 0.2">
        <joint name="wrist" type="ball" damping="0.3" armature="0.01"/>
        <geom name="hand" type="box" size="0.05 0.04 0.1" pos="0 0.02 0.1" mass="0.4"/>
        <body pos="0 0 0.25">
          <joint name="knee" axis="0 1 0" stiffness="2" frictionloss="0.1"/>
          <joint name="rail" type="slide" axis="0 0 1" damping="1"/>
          <geom type="capsule" size="0.02 0.1" mass="0.2"/>
          <site name="tip" pos="0 0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <contact><pair geom1="hand" geom2="floor" friction="0.6 0.6 0.01"/></contact>
  <tendon><fixed name="cable" damping="0.2" stiffness="3"><joint joint="knee" coef="1"/>
  </fixed></tendon>
  <actuator>
    <position name="servo" joint="knee" kp="20" kv="1" ctrlrange="-1 1"/>
    <velocity name="drive" joint="rail" kv="5"/>
    <motor site="tip" gear="1 2 0 0 0 0.5"/>
    <motor joint="knee" gear="3"/>
  </actuator>
</mujoco>
"""


def still(before: Any, actions: Any, after: Any) -> Any:
    return np.zeros(len(actions))


def robot(text: str = ROBOT) -> MuJoCoSimulator:
    model = mujoco.MjModel.from_xml_string(text)
    return MuJoCoSimulator("robot", model, MuJoCoTask(reward=still))


def made(simulator: MuJoCoSimulator, values: Mapping[str, float]) -> Any:
    """Return a new model with these values; none that is kept from before."""
    return simulator._model(tuple(values), tuple(values.values()))


def arrays(model: Any) -> dict[str, Any]:
    """Return every number of a model by name."""
    found = {}
    for prefix, holder in (("", model), ("opt.", model.opt), ("stat.", model.stat)):
        for name in dir(holder):
            value = getattr(holder, name)
            if name[0] != "_" and isinstance(value, (int, float, np.ndarray)):
                found[prefix + name] = np.array(value)
    return found


def differences(one: Any, two: Any) -> set[str]:
    """Return the fields of two models that differ by more than roundings."""
    left, right = arrays(one), arrays(two)
    assert left.keys() == right.keys()
    assert len(left) > 300
    return {
        name
        for name, value in left.items()
        if value.shape != right[name].shape
        or not np.allclose(
            value.astype(float), right[name].astype(float), rtol=1e-11, atol=1e-14
        )
    }


TEXTS: list[tuple[dict[str, float], list[tuple[str, str]]]] = [
    (
        {"body.ball.mass": np.pi * 4e3 / 3e3 * 1.5},
        [('density="1000"', 'density="1500"')],
    ),
    ({"body.arm.mass": 0.9}, [('mass="0.4"', 'mass="0.9"')]),
    ({"body.3.mass": 0.05}, [('mass="0.2"', 'mass="0.05"')]),
    ({"joint.wrist.damping": 0.7}, [('damping="0.3"', 'damping="0.7"')]),
    ({"joint.wrist.armature": 0.2}, [('armature="0.01"', 'armature="0.2"')]),
    ({"joint.knee.stiffness": 5.0}, [('stiffness="2"', 'stiffness="5"')]),
    ({"joint.knee.frictionloss": 0.4}, [('frictionloss="0.1"', 'frictionloss="0.4"')]),
    (
        {"joint.rail.frictionloss": 0.4},
        [('damping="1"', 'damping="1" frictionloss=".4"')],
    ),
    ({"joint.rail.damping": 0.0}, [('damping="1"', 'damping="0"')]),
    ({"tendon.cable.damping": 0.5}, [('damping="0.2"', 'damping="0.5"')]),
    ({"tendon.cable.stiffness": 1.0}, [('stiffness="3"', 'stiffness="1"')]),
    ({"geom.floor.friction": 0.8}, [('"0.5 0.01 0.001"', '"0.8 0.01 0.001"')]),
    (
        {"geom.shell.friction_torsion": 0.1},
        [('"0.5 0.005 0.0001"', '"0.5 0.1 0.0001"')],
    ),
    ({"geom.shell.friction_roll": 0.1}, [('"0.5 0.005 0.0001"', '"0.5 0.005 0.1"')]),
    ({"contact.floor+hand.friction": 0.2}, [("0.6 0.6 ", "0.2 0.2 ")]),
    ({"actuator.servo.kp": 35.0}, [('kp="20"', 'kp="35"')]),
    ({"actuator.servo.kv": 2.5}, [('kv="1"', 'kv="2.5"')]),
    ({"actuator.servo.gear": -2.0}, [('kp="20"', 'kp="20" gear="-2"')]),
    ({"actuator.drive.kv": 8.0}, [('kv="5"', 'kv="8"')]),
    ({"actuator.knee.gear": -4.0}, [('gear="3"', 'gear="-4"')]),
    (
        {"actuator.tip.gear": -2.0 * 5.25**0.5},
        [('"1 2 0 0 0 0.5"', '"-2 -4 0 0 0 -1"')],
    ),
    ({"gravity": 3.7}, [("<option ", '<option gravity="0 0 -3.7" ')]),
    ({"gravity.x": 0.5}, [("<option ", '<option gravity="0.5 0 -9.81" ')]),
    ({"wind.y": 2.0}, [('wind="1 0 0"', 'wind="1 2 0"')]),
    ({"density": 3.0, "viscosity": 0.01}, [("1.2", "3"), ("1e-4", "0.01")]),
]


@pytest.mark.parametrize(("values", "edits"), TEXTS, ids=lambda each: str(each)[:40])
def test_a_written_field_equals_the_edited_file(
    values: dict[str, float], edits: list[tuple[str, str]]
) -> None:
    text = ROBOT
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    edited = mujoco.MjModel.from_xml_string(text)
    simulator = robot()
    assert differences(simulator.model, edited)  # the edit does something
    assert differences(made(simulator, values), edited) == set()


def heavier(spec: Any) -> None:
    for geom in spec.geoms:
        geom.density *= 1.5
    if spec.compiler.settotalmass > 0:
        spec.compiler.settotalmass *= 1.5


def looser(spec: Any) -> None:
    for joint in spec.joints:
        scalar = np.isscalar(joint.damping)  # a polynomial since MuJoCo 3.8
        joint.damping = 0.25 if scalar else [0.25, 0.0, 0.0]
        joint.armature = 0.5


def weaker(spec: Any) -> None:
    for actuator in spec.actuators:
        actuator.gear = -0.5 * np.array(actuator.gear)


EDITS: list[tuple[str, Callable[[float], float], Callable[[Any], None]]] = [
    (".mass", lambda nominal: 1.5 * nominal, heavier),
    (".damping .armature", lambda nominal: 0.0, looser),
    (".gear", lambda nominal: -0.5 * nominal, weaker),
]


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("endings", "of", "edit"), EDITS, ids=lambda e: str(e)[:9])
def test_gymnasiums_models_equal_their_edited_files(
    name: str, endings: str, of: Callable[[float], float], edit: Callable[[Any], None]
) -> None:
    simulator = open_mujoco(name)
    values = {
        each.name: of(each.nominal)
        for each in simulator.parameters
        if each.name.endswith(tuple(endings.split()))
    }
    if edit is looser:
        values = {n: 0.25 if n.endswith(".damping") else 0.5 for n in values}
    with quiet(mujoco), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = mujoco.MjSpec.from_file(str(gymnasium_file(KNOWN[name].file)))
        edit(spec)
        edited = spec.compile()
    assert differences(simulator.model, edited)
    assert differences(made(simulator, values), edited) == set()


@pytest.mark.parametrize(
    ("name", "body"), [("hopper", "torso"), ("ant", "aux_1"), ("reacher", "body1")]
)
def test_a_moved_centre_of_mass_equals_the_compiled_one(name: str, body: str) -> None:
    """Frames that were one before are two then; boxes around bodies move along."""
    simulator = open_mujoco(name)
    model, moved = simulator.model, np.array([0.02, 0.01, -0.03])
    i = model.body(body).id
    spec = mujoco.MjSpec.from_file(str(gymnasium_file(KNOWN[name].file)))
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    edited = spec.body(body)
    edited.explicitinertial, edited.mass = True, model.body_mass[i]
    edited.inertia, edited.iquat = model.body_inertia[i], model.body_iquat[i]
    edited.ipos = model.body_ipos[i] + moved
    axes = zip("xyz", edited.ipos.tolist(), strict=True)
    values = {f"body.{body}.com_{axis}": value for axis, value in axes}
    judge = spec.compile()
    found = differences(made(simulator, values), judge)
    assert found <= {"stat.meansize"}  # of pictures
    assert differences(model, judge) > {"body_ipos", "body_invweight0"}
    assert np.abs(run(made(simulator, values)) - run(judge)).max() < 1e-12
    assert np.abs(run(model) - run(judge)).max() > 1e-6


def run(model: Any) -> Any:
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    path = []
    for _ in range(25):
        data.ctrl[:] = rng.uniform(-1.0, 1.0, model.nu)
        mujoco.mj_step(model, data, nstep=4)
        path.append(data.qpos.copy())
    return np.array(path)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"geom.floor.friction": [0.3, 1.5]}, "masked-friction"),  # by the foot, 2.0
        ({"geom.foot_geom.friction": [0.9]}, "masked-friction"),  # by the floor, 1.0
        ({"geom.thigh_geom.friction": [0.5]}, "masked-friction"),
        ({"geom.floor.friction": [1.0]}, None),  # nominal
        ({"geom.foot_geom.friction": [1.1, 3.0]}, None),
        (
            {"geom.floor.friction": [0.5], "geom.foot_geom.friction": [0.5]},
            "masked-friction",
        ),
    ],
)
def test_a_friction_that_is_never_used_is_refused(
    values: dict[str, list[float]], code: str | None
) -> None:
    """The last one: the floor is masked by the thigh, 0.9, which nobody changes."""
    simulator = open_mujoco("hopper")
    given = {name: np.array(each) for name, each in values.items()}
    if code is None:
        simulator.instantiate(given)
        return
    with pytest.raises(InvalidArgument) as caught:
        simulator.instantiate(given)
    assert caught.value.code == code


def heap(rng: np.random.Generator) -> str:
    """Return a random tree of bodies in one place, some without a joint."""
    names: list[str] = []

    def body(depth: int) -> str:
        names.append(f"b{len(names)}")
        start = f'<body name="{names[-1]}">' + "<joint/>" * int(rng.random() < 0.6)
        kind, answer = rng.integers(0, 4, 2)
        geom = f'<geom size="0.1" contype="{kind}" conaffinity="{answer}"/>'
        below = [body(depth - 1) for _ in range(rng.integers(0, 3))] if depth else []
        return start + geom + "".join(below) + "</body>"

    inside = "".join(body(3) for _ in range(3))
    one, two = rng.choice(names, 2, replace=False)
    flag = '<option><flag filterparent="disable"/></option>' * int(rng.integers(2))
    return (
        f'<mujoco>{flag}<worldbody><geom size="0.1"/>{inside}</worldbody><contact>'
        f'<exclude body1="{one}" body2="{two}"/></contact></mujoco>'
    )


def test_what_can_touch_is_what_mujoco_lets_touch() -> None:
    """All bodies are in one place: every pair that may touch is in contact."""
    rng = np.random.default_rng(0)
    pairs = 0
    for _ in range(30):
        model = mujoco.MjModel.from_xml_string(heap(rng))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        met = {tuple(sorted(each.geom.tolist())) for each in data.contact}
        may = {(a, b) for a, others in touching(model).items() for b in others if a < b}
        assert met == may
        pairs += len(may)
    assert pairs > 500
