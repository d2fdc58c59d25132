"""The parameters of a MuJoCo model, and everything that follows from one of them.

`body.torso.mass` writes the mass and, by the same factor, the inertia; the constants
that MuJoCo derives from them are computed again after every draw. Written values start
from the model as it was compiled, so that writing twice is writing once. What cannot be
changed without compiling again is no parameter: sizes and positions, whose bounding
volumes would go stale.

A thing without a name goes by its number, an actuator by what it acts on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from math import inf
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.simulators.mujoco_contacts import touching
from simgap.continuous.simulators.mujoco_models import NAMABLE, label
from simgap.errors import InvalidArgument

AXES = "xyz"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One parameter of a model, and how a value is written to a copy of the model."""

    parameter: Parameter
    write: Callable[[Any, float], None]


def model_fields(model: Any) -> tuple[Field, ...]:
    """Return every parameter of a compiled model; it is left as it is."""
    parts = (
        _bodies,
        _joints,
        _tendons,
        _frictions,
        _stated_contacts,
        _actuators,
        _surroundings,
    )
    return tuple(field for part in parts for field in part(model))


def written(
    model: Any,
    mujoco: Any,
    scratch: Any,
    values: Mapping[Field, float],
    apply: Callable[[Any], None] | None = None,
) -> Any:
    """Return a copy of the model with these values and all that follows from them.

    `apply` writes what a task has of its own, after the fields. `scratch` is some
    `MjData` of the model, which is written over.
    """
    changed = copy(model)
    for field, value in values.items():
        field.write(changed, value)
    if apply is not None:
        apply(changed)
    moved = (changed.body_ipos != model.body_ipos).any(axis=1)
    _part(changed, moved)
    try:
        mujoco.mj_setConst(changed, scratch)
    except mujoco.FatalError as error:
        raise InvalidArgument(
            f"MuJoCo refuses the changed model: {error}",
            hint="its message says what to change in the XML",
            code="model-refused",
        ) from error
    _follow(changed, model)
    _shift(changed, model, mujoco, np.flatnonzero(moved))
    return changed


def _part(changed: Any, moved: BoolArray) -> None:
    """Note that a moved centre of mass is no longer where another frame begins.

    MuJoCo reads frames that begin at one place only once. Before 3.11 `mj_setConst`
    does not look again which these are.
    """
    for which, body, together in (
        (changed.body_sameframe, slice(None), 1),  # the body's own, mjSAMEFRAME_BODY
        (changed.geom_sameframe, changed.geom_bodyid, 2),  # mjSAMEFRAME_INERTIA
        (changed.site_sameframe, changed.site_bodyid, 2),
    ):
        which[moved[body] & (which == together)] += 2  # have but the rotation in common


def _shift(changed: Any, nominal: Any, mujoco: Any, moved: OffsetArray) -> None:
    """Leave the boxes around geoms where they were; they are seen from centres of mass.

    Before 3.16 `mj_setConst` lets them move along, and contacts are missed.
    """
    if np.array_equal(changed.bvh_aabb, nominal.bvh_aabb):
        for i in moved.tolist():
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, changed.body_iquat[i])
            away = (nominal.body_ipos[i] - changed.body_ipos[i]) @ axes.reshape(3, 3)
            first = int(changed.body_bvhadr[i])
            changed.bvh_aabb[first : first + int(changed.body_bvhnum[i]), :3] += away


def _follow(changed: Any, nominal: Any) -> None:
    """Compute again what the compiler derives from masses and inertias.

    `mj_setConst` leaves out the mean inertia, the unit of the solver's tolerance, which
    the compiler computes unless the file states it.
    """
    if nominal.nv and nominal.stat.meaninertia == nominal.dof_M0.mean():
        changed.stat.meaninertia = changed.dof_M0.mean()
    if nominal.nbody > 1 and nominal.stat.meanmass == nominal.body_mass[1:].mean():
        changed.stat.meanmass = changed.body_mass[1:].mean()


def _bodies(model: Any) -> Iterator[Field]:
    for i in range(1, model.nbody):
        mass, inertia = float(model.body_mass[i]), model.body_inertia[i].copy()
        if (
            mass > 0.0 and model.body_weldid[i]
        ):  # what is fixed to the world is not moved

            def write(
                changed: Any,
                value: float,
                i: int = i,
                mass: float = mass,
                inertia: FloatArray = inertia,
            ) -> None:
                changed.body_mass[i] = value
                changed.body_inertia[i] = inertia * (value / mass)

            yield Field(
                Parameter(
                    f"body.{label(model, 'body', i)}.mass",
                    mass,
                    low=0.0,
                    low_open=True,
                    unit="kg",
                    meaning="mass; the inertia goes with it",
                ),
                write,
            )
            for axis in range(0 if model.body_simple[i] else 3):
                yield _amount(
                    model,
                    f"body.{label(model, 'body', i)}.com_{AXES[axis]}",
                    "body_ipos",
                    (i, axis),
                    "m",
                    "centre of mass in the frame of the body",
                    low=-inf,
                )


def _joints(model: Any) -> Iterator[Field]:
    sizes = {0: 6, 1: 3, 2: 1, 3: 1}  # degrees of freedom: free, ball, slide, hinge
    for j in range(model.njnt):
        name = f"joint.{label(model, 'joint', j)}"
        kind = int(model.jnt_type[j])
        first = int(model.jnt_dofadr[j])
        dofs = slice(first, first + sizes[kind])
        turns = "N m" if kind in (1, 3) else "N"
        of = "rad" if kind in (1, 3) else "m"
        heavy = "kg m^2" if kind in (1, 3) else "kg"
        yield _amount(
            model, f"{name}.damping", "dof_damping", dofs, f"{turns} s/{of}", "damping"
        )
        yield _amount(
            model,
            f"{name}.armature",
            "dof_armature",
            dofs,
            heavy,
            "inertia of the rotor",
        )
        yield _amount(
            model,
            f"{name}.frictionloss",
            "dof_frictionloss",
            dofs,
            turns,
            "dry friction",
        )
        yield _amount(
            model,
            f"{name}.stiffness",
            "jnt_stiffness",
            slice(j, j + 1),
            f"{turns}/{of}",
            "of a spring",
        )


def _tendons(model: Any) -> Iterator[Field]:
    for t in range(model.ntendon):
        for what in ("damping", "frictionloss", "stiffness"):
            name = f"tendon.{label(model, 'tendon', t)}.{what}"
            yield _amount(model, name, f"tendon_{what}", slice(t, t + 1), "", what)


def _frictions(model: Any) -> Iterator[Field]:
    kinds = (("friction", 0, 1), ("friction_torsion", 1, 4), ("friction_roll", 2, 6))
    for geom, others in touching(model).items():
        widest = max(int(model.geom_condim[each]) for each in (geom, *others))
        for what, column, needed in kinds:
            if widest < needed:
                continue

            def write(
                changed: Any, value: float, geom: int = geom, column: int = column
            ) -> None:
                changed.geom_friction[geom, column] = value

            yield Field(
                Parameter(
                    f"geom.{label(model, 'geom', geom)}.{what}",
                    float(model.geom_friction[geom, column]),
                    low=0.0,
                    meaning="a contact uses the larger value of its two geoms",
                ),
                write,
            )


def _stated_contacts(model: Any) -> Iterator[Field]:
    """Yield the friction of contacts that the file states pair by pair."""
    for p in range(model.npair):
        geoms = (int(model.pair_geom1[p]), int(model.pair_geom2[p]))
        one, two = (label(model, "geom", geom) for geom in geoms)
        yield _amount(
            model,
            f"contact.{one}+{two}.friction",
            "pair_friction",
            (p, slice(0, 2)),
            "",
            "of this contact, whatever its geoms have",
        )


def _actuators(model: Any) -> Iterator[Field]:
    labels = _actuator_labels(model)
    outputs = getattr(model, "actuator_outnum", np.ones(len(labels), np.int64))
    for a, (row, width) in enumerate(
        zip(outputs.cumsum() - outputs, outputs, strict=True)
    ):
        gear = model.actuator_gear[row].copy()
        used = gear[gear != 0.0]
        nominal = float(used[0] if used.size == 1 else np.linalg.norm(gear))
        if nominal and width == 1:

            def write(
                changed: Any,
                value: float,
                row: int = row,
                unit: FloatArray = gear / nominal,
                gear: FloatArray = gear,
                nominal: float = nominal,
            ) -> None:
                changed.actuator_gear[row] = gear if value == nominal else unit * value

            yield Field(
                Parameter(
                    f"actuator.{labels[a]}.gear", nominal, meaning="may be negative"
                ),
                write,
            )
        yield from _servo(model, a, f"actuator.{labels[a]}")


def _servo(model: Any, a: int, name: str) -> Iterator[Field]:
    """Yield the gains of a position or velocity servo: gain and bias go together."""
    gain = float(model.actuator_gainprm[a, 0])
    _, position, velocity = (float(each) for each in model.actuator_biasprm[a, :3])
    if not (model.actuator_gaintype[a] == 0 and model.actuator_biastype[a] == 1):
        return

    def write(changed: Any, value: float, *, column: int, both: bool) -> None:
        changed.actuator_biasprm[a, column] = -value
        if both:
            changed.actuator_gainprm[a, 0] = value

    if gain > 0.0 and position == -gain:
        yield Field(
            Parameter(
                f"{name}.kp", gain, low=0.0, meaning="gain of the position servo"
            ),
            lambda changed, value: write(changed, value, column=1, both=True),
        )
        if velocity <= 0.0:
            yield Field(
                Parameter(f"{name}.kv", 0.0 - velocity, low=0.0, meaning="its damping"),
                lambda changed, value: write(changed, value, column=2, both=False),
            )
    elif gain > 0.0 and velocity == -gain and position == 0.0:
        yield Field(
            Parameter(
                f"{name}.kv", gain, low=0.0, meaning="gain of the velocity servo"
            ),
            lambda changed, value: write(changed, value, column=2, both=True),
        )


def _actuator_labels(model: Any) -> list[str]:
    """Return names of actuators: their own, those of what they act on, or numbers."""
    kinds = {0: "joint", 1: "joint", 3: "tendon", 4: "site", 5: "body"}
    found: list[str] = []
    for a in range(len(model.actuator_gaintype)):
        name, kind = model.actuator(a).name, kinds.get(int(model.actuator_trntype[a]))
        if not name and kind:
            name = getattr(model, kind)(int(model.actuator_trnid[a, 0])).name
        found.append(name if NAMABLE.fullmatch(name) else str(a))
    return [
        name if found.count(name) == 1 or model.actuator(a).name == name else str(a)
        for a, name in enumerate(found)
    ]


def _surroundings(model: Any) -> Iterator[Field]:
    gravity = model.opt.gravity.copy()
    strength = float(np.linalg.norm(gravity))
    if strength:

        def write(changed: Any, value: float) -> None:
            changed.opt.gravity[:] = (
                gravity if value == strength else gravity / strength * value
            )

        yield Field(
            Parameter(
                "gravity",
                strength,
                low=0.0,
                unit="m/s^2",
                meaning="strength; the direction stays",
            ),
            write,
        )
    for option, unit in (("gravity", "m/s^2"), ("wind", "m/s")):
        for axis in range(3):
            yield _option(model, f"{option}.{AXES[axis]}", option, axis, -inf, unit)
    for option, unit in (("density", "kg/m^3"), ("viscosity", "Pa s")):
        yield _option(model, option, option, None, 0.0, unit)


def _option(
    model: Any, name: str, option: str, axis: int | None, low: float, unit: str
) -> Field:
    def write(changed: Any, value: float) -> None:
        if axis is None:
            setattr(changed.opt, option, value)
        else:
            getattr(changed.opt, option)[axis] = value

    stated = getattr(model.opt, option)
    nominal = float(stated if axis is None else stated[axis])
    meaning = "of the medium" if axis is None else "in the frame of the world"
    return Field(Parameter(name, nominal, low=low, unit=unit, meaning=meaning), write)


def _amount(
    model: Any,
    name: str,
    array: str,
    where: Any,
    unit: str,
    meaning: str,
    low: float = 0.0,
) -> Field:
    """Return a parameter that fills a part of an array, as a rule with at least 0."""

    def write(changed: Any, value: float) -> None:
        getattr(changed, array)[where] = value

    nominal = float(np.ravel(getattr(model, array)[where])[0])
    return Field(Parameter(name, nominal, low=low, unit=unit, meaning=meaning), write)
