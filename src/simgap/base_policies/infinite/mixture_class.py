"""Linear mixture classes: P_theta = sum_i theta_i P_i for theta in a convex set.

The base kernels P_i may be signed features, as in Proposition 2. Rows of P_theta sum to
1 on an affine set of theta only, with which the user's set is intersected; that every
entry is then >= 0 on all of the set is checked, not assumed.

Inside, a class is P_u = centre + sum_i u_i direction_i with u in R^r, r the dimension
of the set of *kernels*: parameters that move no kernel cost nothing, and constants that
are added to a bias drop out of direction_i l. Rewards are known and shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import final

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, read_only
from simgap.base_policies.infinite.mixture_region import Region, UnitBall, hull_of
from simgap.errors import InvalidArgument, InvalidModel, NotCommunicating
from simgap.mdp import (
    PLAIN,
    ROW_TOLERANCE,
    Details,
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    as_floats,
    mdp_from_arrays,
)
from simgap.planning import communicating

NEGATIVE = 1e-12  # an entry below minus this is not a rounding error
NOTHING = 1e-15  # an entry that never exceeds this is zero in every member
INSIDE = 1e-9  # how far from the set a theta may be that counts as inside


@final
@dataclass(frozen=True, slots=True, eq=False)
class MixtureClass:
    """The kernels centre + sum_i u_i direction_i, u in a region of the unit ball."""

    features: FloatArray  # (d, S, A, S), the P_i as given
    centre: FloatArray  # (S, A, S), a kernel
    directions: FloatArray  # (r, S, A, S), rows sum to 0
    region: Region  # of u
    rewards: FloatArray  # (S, A)
    details: Details = PLAIN

    def __post_init__(self) -> None:
        for field in ("features", "centre", "directions", "rewards"):
            object.__setattr__(self, field, read_only(getattr(self, field)))
        if not communicating(self._model(np.zeros(self.dimension)))[0]:
            raise NotCommunicating(
                "no model of the mixture is communicating: the one in the middle uses "
                "every transition that any of them has, and it is not",
                hint="gain and bias need a way back from everywhere",
            )

    @property
    def dimension(self) -> int:
        """r: how many numbers tell the kernels of the class apart."""
        return self.region.dimension

    @property
    def n_states(self) -> int:
        return int(self.centre.shape[0])

    @property
    def n_actions(self) -> int:
        return int(self.centre.shape[1])

    @property
    def spread(self) -> float:
        """The greatest reward less the least."""
        return float(self.rewards.max() - self.rewards.min())

    def kernel(self, u: FloatArray) -> FloatArray:
        """Return P_u, (S, A, S); entries below zero by rounding are zero."""
        mixed = self.centre + np.tensordot(u, self.directions, axes=1)
        return np.maximum(mixed, 0.0)

    def model(self, theta: npt.ArrayLike) -> TabularMDP:
        """Return the MDP of one theta of the set."""
        return self._model(self.coordinates(theta))

    def at(self, u: FloatArray) -> TabularMDP:
        """Return the MDP of coordinates u."""
        return self._model(u)

    def coordinates(self, theta: npt.ArrayLike) -> FloatArray:
        """Return the u of one theta of the set, (r,), or raise if it lies outside."""
        given = as_floats(theta, "theta")
        if given.shape != (len(self.features),) or not np.isfinite(given).all():
            raise InvalidArgument(
                f"theta is {given.tolist()}",
                hint=f"give {len(self.features)} finite numbers, one per base kernel",
            )
        target = (np.tensordot(given, self.features, axes=1) - self.centre).reshape(-1)
        flat = self.directions.reshape(self.dimension, target.size)
        u = np.asarray(np.linalg.lstsq(flat.T, target, rcond=None)[0], np.float64)
        near = self.region.nearest(u, np.eye(self.dimension))
        off = np.abs(near @ flat - target).max()
        if off > INSIDE:
            raise InvalidArgument(
                f"theta = {given.tolist()} is not in the set of this class: the nearest"
                f" member differs by {float(off):.3g} in some probability",
                hint="the class holds the mixtures of its own set only",
            )
        return near

    def theta(self, u: FloatArray) -> FloatArray:
        """Return a theta with coordinates u, (d,)."""
        return self.region.theta(u)

    def _model(self, u: FloatArray) -> TabularMDP:
        kernel = self.kernel(u)
        kernel /= kernel.sum(axis=2, keepdims=True)
        order = IndexOrder.STATE_ACTION
        return mdp_from_arrays(kernel, self.rewards, order=order, details=self.details)


def mixture_of(simulators: SimulatorClass) -> MixtureClass:
    """Return the class of all mixtures of some simulators (theta in the simplex)."""
    if not simulators.shared_rewards:
        raise InvalidModel(
            "the simulators have different rewards, and mixtures share theirs",
            hint="a mixture class needs one table of rewards",
        )
    kernels = np.stack(
        [simulators.transitions.array(m) for m in range(len(simulators))]
    )
    if len(simulators.start) > 1:
        raise InvalidModel(
            "the simulators begin in different states, and mixtures share a start",
            hint="give all of them the same start",
        )
    details = Details(start=simulators.start[0])
    return _over_corners(kernels, simulators.rewards[0], np.eye(len(kernels)), details)


def mixture_over_ball(
    features: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    centre: npt.ArrayLike,
    radius: float,
    details: Details = PLAIN,
) -> MixtureClass:
    """Return the class of all theta in a ball whose rows sum to 1."""
    base, reward = _checked(features, rewards)
    middle = as_floats(centre, "centre")
    if middle.shape != (len(base),) or not np.isfinite(middle).all():
        raise InvalidModel(
            f"the centre of the ball is {middle.tolist()}",
            hint=f"give {len(base)} finite numbers, one per base kernel",
        )
    if not (np.isfinite(radius) and radius >= 0.0):
        raise InvalidModel(f"the radius is {radius}", hint="it is a number from 0 on")
    origin, null = _affine_set(base)
    foot = origin + null @ (null.T @ (middle - origin))
    apart = float(np.linalg.norm(middle - foot))
    if apart > radius * (1.0 + INSIDE):
        raise InvalidModel(
            f"no theta of the ball makes rows sum to 1: the nearest one, "
            f"{foot.tolist()}, is {apart:.6g} from the centre, the radius is {radius}",
            hint="move the centre or enlarge the radius",
        )
    left = sqrt(max(0.0, radius * radius - apart * apart))
    flat = base.reshape(len(base), -1)
    _, sizes, frame = np.linalg.svd(flat.T @ null, full_matrices=False)
    axes = left * (null @ frame[left * sizes > 1e-10].T)  # (d, r)
    shape = base.shape[1:]
    mixture_centre = (foot @ flat).reshape(shape)
    directions = (axes.T @ flat).reshape(-1, *shape)
    lengths = np.sqrt((directions**2).sum(axis=0))
    least = mixture_centre - lengths
    where = np.unravel_index(int(least.argmin()), shape)
    if least[where] < -NEGATIVE:
        away = -directions[(slice(None), *where)] / max(lengths[where], NEGATIVE)
        raise _negative(where, float(least[where]), foot + axes @ away)
    used = mixture_centre + lengths > NOTHING
    region = UnitBall(foot, axes)
    return MixtureClass(
        base, mixture_centre * used, directions * used, region, reward, details
    )


def _over_corners(
    base: FloatArray, rewards: FloatArray, thetas: FloatArray, details: Details
) -> MixtureClass:
    shape = base.shape[1:]
    kernels = np.tensordot(thetas, base, axes=1)
    corner, *where = np.unravel_index(int(kernels.argmin()), kernels.shape)
    if kernels.min() < -NEGATIVE:
        raise _negative(tuple(where), float(kernels.min()), thetas[corner])
    origin, axes, hull = hull_of(kernels.reshape(len(thetas), -1), thetas)
    used = kernels.max(axis=0) > NOTHING
    centre, directions = origin.reshape(shape) * used, axes.reshape(-1, *shape) * used
    return MixtureClass(base, centre, directions, hull, rewards, details)


def _checked(
    features: npt.ArrayLike, rewards: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    base, reward = as_floats(features, "features"), as_floats(rewards, "rewards")
    if base.ndim != 4 or base.shape[1] != base.shape[3] or base.size == 0:
        raise InvalidModel(
            f"features have shape {base.shape}",
            hint="base kernels are (d, states, actions, states)",
        )
    if reward.shape != base.shape[1:3]:
        raise InvalidModel(
            f"rewards have shape {reward.shape}, the kernels need {base.shape[1:3]}",
            hint="mixtures share one table of rewards (states, actions)",
        )
    for what, array in (("features", base), ("rewards", reward)):
        if not np.isfinite(array).all():
            raise InvalidModel(
                f"{what} hold a number that is not finite", hint="give finite numbers"
            )
    return base, reward


def _affine_set(base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a theta whose rows sum to 1 and a basis (d, q) of what keeps them so."""
    sums = base.sum(axis=3).reshape(len(base), -1).T  # (S A, d)
    origin = np.linalg.lstsq(sums, np.ones(len(sums)), rcond=None)[0]
    off = np.abs(sums @ origin - 1.0)
    if off.max() > ROW_TOLERANCE:
        s, a = divmod(int(off.argmax()), base.shape[2])
        raise InvalidModel(
            f"no theta makes every row sum to 1; the best leaves a sum of "
            f"{float(sums[off.argmax()] @ origin):.9g} at (s={s}, a={a})",
            hint="sums of the rows of the features must allow a kernel",
        )
    _, sizes, frame = np.linalg.svd(sums, full_matrices=True)
    rank = int((sizes > 1e-10 * max(1.0, float(sizes.max()))).sum())
    return origin, frame[rank:].T


def _negative(
    where: tuple[np.intp, ...], least: float, theta: FloatArray
) -> InvalidModel:
    s, a, after = (int(i) for i in where)
    return InvalidModel(
        f"P(s'={after} | s={s}, a={a}) is {least:.6g} at theta = "
        f"{[float(f'{x:.6g}') for x in theta]}, which is in the set",
        hint="every theta of the set must give a kernel: make the set smaller there",
    )
