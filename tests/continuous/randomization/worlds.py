"""A simulator as far as a randomization is concerned: a name and parameters."""

from dataclasses import dataclass

from simgap.continuous import Parameter


@dataclass(frozen=True)
class Named:
    name: str
    parameters: tuple[Parameter, ...]


PENDULUM = Named(
    "pendulum",
    (
        Parameter("mass", 1.0, 0.0, low_open=True, unit="kg"),
        Parameter("length", 1.0, 0.0, low_open=True, unit="m"),
        Parameter("gain", 1.0, -5.0, 5.0),
        Parameter("torque_sign", 1.0),
        Parameter("wind", 0.0),
        Parameter("delay", 0.0, 0.0, 20.0, whole=True),
    ),
)
HOPPER = Named(
    "hopper.xml",
    (
        Parameter("body.torso.mass", 3.5, 0.0, low_open=True, unit="kg"),
        Parameter("body.left_foot.mass", 2.0, 0.0, low_open=True, unit="kg"),
        Parameter("body.right_foot.mass", 2.5, 0.0, low_open=True, unit="kg"),
        Parameter("geom.floor.friction", 1.0, 0.0),
        Parameter("geom.torso_geom.friction", 0.9, 0.0),
        Parameter("actuator.hip.gear", 200.0),
        Parameter("actuator.knee.gear", 150.0),
        Parameter("delay", 0.0, 0.0, 20.0, whole=True),
    ),
)
