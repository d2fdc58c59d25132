"""The task of `arm.xml`, found beside it: hold an arm level that carries a load.

    simgap check mujoco:examples/arm.xml --policy examples/arm_policies.py:hold \
        --randomize "body.load.mass=0.1..1.5 joint.shoulder.damping=0.1..1"
    simgap transfer mujoco:examples/arm.xml --policy examples/arm_policies.py:hold \
        --reference examples/arm_policies.py:told --out arm \
        --randomize "body.load.mass=0.1..1.5 actuator.motor.gear=log(5..12)"

Its functions are about many worlds at once: B rows.
"""

import numpy as np

frame_skip = 2  # steps of MuJoCo for one action
horizon = 150  # steps of an episode


def reset(rng, model):
    """One world: an arm that hangs down more or less, at rest."""
    return np.array([rng.uniform(0.5, 1.5)]), np.zeros(model.nv)


def observe(seen):
    return np.concatenate([np.sin(seen.qpos), np.cos(seen.qpos), seen.qvel], axis=1)


def reward(before, action, after):
    """At most 1: the arm is level and the motor at rest."""
    return np.cos(after.qpos[:, 0]) - 0.01 * (action**2).sum(axis=1)
