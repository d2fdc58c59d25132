"""Which geoms of a MuJoCo model can touch, and whether a friction is ever used.

A contact uses the larger friction of its two geoms, or that of the one with the higher
priority. Lowering one side below the other changes nothing, and a range that looks like
a randomization of the floor may be none: it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.simulators.mujoco_models import label, mujoco_library
from simgap.errors import InvalidArgument
from simgap.text import number


def touching(model: Any) -> dict[int, list[int]]:
    """Return for each geom that can touch something what it can touch.

    Contacts that the file states pair by pair have a friction of their own, and are
    left out.
    """
    kinds = model.geom_contype[:, None] & model.geom_conaffinity[None, :]
    may: BoolArray = (kinds | kinds.T) != 0
    bodies = model.geom_bodyid
    fixed = model.body_weldid[bodies]  # bodies without a joint move as their parents do
    above = model.body_weldid[model.body_parentid[fixed]]
    may &= fixed[:, None] != fixed[None, :]
    parents_too = mujoco_library().mjtDisableBit.mjDSBL_FILTERPARENT
    if not model.opt.disableflags & int(parents_too):
        child = (above[:, None] == fixed[None, :]) & (fixed != 0)[None, :]
        may &= ~(child | child.T)
    for signature in model.exclude_signature.tolist():
        first, second = divmod(signature, 1 << 16)
        apart = np.ix_(bodies == first, bodies == second)
        may[apart] = may.T[apart] = False
    may[model.pair_geom1, model.pair_geom2] = False
    may[model.pair_geom2, model.pair_geom1] = False
    return {g: np.flatnonzero(row).tolist() for g, row in enumerate(may) if row.any()}


def check_frictions(model: Any, values: Mapping[str, FloatArray]) -> None:
    """Raise if a friction is masked by that of a geom which nobody changes."""
    names = {f"geom.{label(model, 'geom', g)}.friction": g for g in range(model.ngeom)}
    given = {names[name]: name for name in values if name in names}
    pairs = touching(model) if given else {}
    for geom, name in given.items():
        moved = values[name][values[name] != model.geom_friction[geom, 0]]
        for other in pairs[geom]:
            theirs = float(model.geom_friction[other, 0])
            above = int(model.geom_priority[other] - model.geom_priority[geom])
            masked = moved[moved < theirs] if above == 0 else moved if above > 0 else ()
            if other in given or not len(masked):
                continue
            raise InvalidArgument(
                f"{name} = {number(float(np.min(masked)))} changes nothing where it "
                f"touches {label(model, 'geom', other)}: a contact uses "
                + (
                    f"the larger friction of its two geoms, here {number(theirs)}"
                    if above == 0
                    else f"that of the geom of higher priority, {number(theirs)}"
                ),
                hint="set both by the same draw (geom.*.friction*=0.5..1.5 does it "
                f"for all), or keep {name} above {number(theirs)}",
                code="masked-friction",
            )
