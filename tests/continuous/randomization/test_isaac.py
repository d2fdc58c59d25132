"""Isaac Lab's env.yaml: what is read, what is ignored, and that nothing is run."""

from pathlib import Path

import pytest

from simgap.continuous import bind, parse_randomization, read_isaac
from simgap.errors import InvalidArgument, InvalidFile
from tests.continuous.randomization.worlds import HOPPER

SLICE = "!!python/object/apply:builtins.slice [null, null, null]"
ENV = f"""
decimation: 4
scene:
  robot:
    init_state:
      lin_vel: &id001 !!python/tuple
      - 0.0
      - 0.0
      ang_vel: *id001
    actuators:
      legs: {{class_type: 'isaaclab.actuators:DelayedPD', min_delay: 0, max_delay: 4}}
  terrain: {{terrain_type: generator}}
observations:
  policy:
    enable_corruption: true
    base_ang_vel: {{func: 'm:f', noise: {{n_min: -0.2, n_max: 0.2}}}}
    joint_pos: {{func: 'm:f', noise: null}}
  critic:
    enable_corruption: false
    base_ang_vel: {{func: 'm:f', noise: {{n_min: -0.2, n_max: 0.2}}}}
events:
  physics_material:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_material
    mode: startup
    params:
      asset_cfg: {{name: robot, body_names: .*, body_ids: {SLICE}}}
      static_friction_range: !!python/tuple [0.3, 1.3]
      dynamic_friction_range: !!python/tuple [0.3, 1.2]
      restitution_range: !!python/tuple [0.0, 0.0]
      num_buckets: 64
  base_mass:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_mass
    mode: startup
    params:
      asset_cfg: {{name: robot, body_names: torso}}
      mass_distribution_params: !!python/tuple [-1.0, 3]
      operation: add
  foot_mass:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_mass
    mode: reset
    params:
      asset_cfg: {{name: robot, body_names: [.*_foot]}}
      mass_distribution_params: [8e-1, 1.2]
      operation: scale
      distribution: log_uniform
      recompute_inertia: false
  box_mass:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_mass
    mode: reset
    params:
      asset_cfg: {{name: box, body_names: null}}
      mass_distribution_params: [1.0, 0.1]
      operation: abs
      distribution: gaussian
  gains:
    func: isaaclab.envs.mdp.events:randomize_actuator_gains
    mode: reset
    params:
      asset_cfg: {{name: robot, joint_names: ['f[lr]_hip', '(left|right)_knee']}}
      stiffness_distribution_params: [0.8, 1.2]
      damping_distribution_params: null
      operation: scale
  joints:
    func: isaaclab.envs.mdp.events:randomize_joint_parameters
    mode: reset
    params:
      asset_cfg: {{name: robot, joint_names: '(?!.*knee.*).*'}}
      armature_distribution_params: [0.0, 0.1]
      lower_limit_distribution_params: [0.1, 0.2]
      operation: abs
  gravity:
    func: isaaclab.envs.mdp.events:randomize_physics_scene_gravity
    mode: reset
    params:
      gravity_distribution_params: !!python/tuple
      - [0.0, 0.0, 0.0]
      - [0.0, 0.0, 0.4]
      operation: add
  again:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_mass
    mode: startup
    params:
      asset_cfg: {{name: robot, body_names: torso}}
      mass_distribution_params: [1.0, 2.0]
      operation: scale
  wobble:
    func: isaaclab.envs.mdp.events:randomize_rigid_body_mass
    mode: interval
    params: {{mass_distribution_params: [1.0, 2.0], operation: scale}}
  reset_base: {{func: 'isaaclab.envs.mdp.events:reset_root_state_uniform', mode: reset}}
  push: {{func: 'isaaclab.envs.mdp.events:push_by_setting_velocity', mode: interval}}
  own: {{func: 'mine.events:shake', mode: reset}}
  off: null
"""
READ = (
    "geom[*].friction=0.3..1.3 body.torso.mass+=-1..3 "
    "body[*_foot].mass*=log(0.8..1.2) body.box.mass=normal(1, sd=0.1) "
    "actuator.fl_hip.kp*=0.8..1.2 actuator.fr_hip.kp*=0.8..1.2 "
    "actuator.left_knee.kp*=0.8..1.2 actuator.right_knee.kp*=0.8..1.2 "
    "gravity.z+=0..0.4"
)
IGNORED = (
    "physics_material: dynamic_friction_range",
    "foot_mass: recompute_inertia",
    "joints: joint_names",
    "joints: lower_limit_distribution_params",
    "again: body.torso.mass",
    "wobble: ",
    "reset_base: ",
    "push: ",
    "own: ",
    "observations.policy: noise of 1 term",
    "scene.robot.actuators: a delay of 0 to 4",
    "scene.terrain: ",
)


def write(folder: Path, text: str) -> Path:
    path = folder / "env.yaml"
    path.write_text(text)
    return path


def test_terms_become_items_and_the_rest_is_told(tmp_path: Path) -> None:
    spec, ignored = read_isaac(write(tmp_path, ENV))
    assert spec.to_string() == READ
    assert len(ignored) == len(IGNORED)
    for told, start in zip(ignored, IGNORED, strict=True):
        assert told.startswith(start)
    assert len(spec.notes) == len(ignored)


def test_randomize_takes_the_file_and_its_notes_come_along(tmp_path: Path) -> None:
    path = write(tmp_path, ENV.replace("name: box", "name: foot"))
    spec = parse_randomization(str(path))
    names = {"geom[*].friction", "body.torso.mass", "body[*_foot].mass"}
    items = tuple(item for item in spec.items if item.name in names)
    bound = bind(type(spec)(items, notes=spec.notes), HOPPER)
    assert bound.notes == spec.notes
    assert bound.support[1].tolist() == [0.3, 1.3]


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "a: &a [1, [2, 3]]\nb: *a",
        "a: &a [1, *a]",
        "[" * 5000,
        "events: [",
        "- 1\n- 2",
        "42",
        "",
        "a: !!int ''",
        "a: !!bool perhaps",
        "a: 2020-99-99",
        "? [1, 2]\n: 3",
        "a: \x1b[31m",
        "a: &a [1, [*a]]",
        "x" * (2**19 + 1),
    ],
    ids=range(15),
)
def test_a_hostile_file_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        read_isaac(write(tmp_path, text))
    assert caught.value.code == "randomize-file"
    assert caught.value.hint


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {0}']",
        "!!python/object/new:os.system ['touch {0}']",
        "!!python/name:os.system",
        "!!python/module:os",
        "!mine {{a: 1}}",
    ],
)
def test_python_in_a_file_is_text_and_never_run(tag: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    text = ENV.replace("name: robot, body_names: torso", "body_names: torso")
    path = write(tmp_path, text + "bad: " + tag.format(made))
    assert read_isaac(path)[0].items
    assert not made.exists()


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ("mass_distribution_params: [1.0]", "two numbers"),
        ("mass_distribution_params: [.nan, 1.0]", "finite"),
        ("mass_distribution_params: [2.0, 1.0]", "starts at 2"),
        ("mass_distribution_params: [1, 2], distribution: beta", "beta"),
        ("mass_distribution_params: [1, 2], operation: twist", "twist"),
        ("mass_distribution_params: {x: 1}", "two numbers"),
    ],
)
def test_a_term_that_cannot_be_meant_is_told(
    params: str, told: str, tmp_path: Path
) -> None:
    text = (
        f"events: {{a: {{func: 'm:randomize_rigid_body_mass', params: {{{params}}}}}}}"
    )
    with pytest.raises(InvalidArgument, match=told) as caught:  # nothing else is there
        read_isaac(write(tmp_path, text))
    assert caught.value.code == "randomize-file"
