"""Covers of a parametric family: cells of a box, each with the model at its centre.

By the rates of the family, every model of a cell is within `radius` = sum_i rate_i
halfwidth_i of the centre in max-L1, so that |(P_theta - P_c) l| <= radius w / 2 for a
bias l of width w over the successors of (s, a). For every theta of the cell,

    rho*(theta) <= max_s max_a R + P_c l + radius w / 2 - l(s),

whatever l is; with the bias of the centre it is at most rho_c + radius sp(l) / 2. Cells
are planned only when they are about to be played. Until then they are bounded with the
bias of the cell that they are a part of.

Cells are halved across the side that moves kernels most. The tree of all halves is
fixed in advance, whichever of them are ever looked at; see `cover_confidence`.

Rates, supplied or estimated, are compared with every two models that a halving brings
together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, owned
from simgap.base_policies.infinite.parametric_family import (
    Box,
    Instantiate,
    Smoothness,
    checked_box,
    model_at,
)
from simgap.errors import InvalidModel
from simgap.mdp import TabularMDP, name_of
from simgap.planning import solve_average_reward

ROUNDING = 1e-9  # in |P - P'|_1, when rates are compared with models


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A box of parameters and the model at its centre; equal to cells of its path."""

    path: tuple[int, ...]  # which root, then which half
    depth: int = field(compare=False)  # halvings
    centre: tuple[float, ...] = field(compare=False)  # (P,)
    low: tuple[float, ...] = field(compare=False)  # (P,)
    high: tuple[float, ...] = field(compare=False)  # (P,)
    radius: float = field(compare=False)  # no model of the cell is further off
    model: TabularMDP = field(compare=False)  # of the centre
    kernel: FloatArray = field(compare=False)  # (S, A, S), of the model
    gain_bound: float = field(compare=False)  # no model of the cell has a greater gain
    planned: bool = field(compare=False)  # whether what follows is of its own model
    gain: float = field(compare=False)
    bias: FloatArray = field(compare=False)  # (S,)
    policy: IndexArray = field(compare=False)  # (S,)

    @property
    def span(self) -> float:
        """sp(l) of the bias."""
        return float(self.bias.max() - self.bias.min())


@final
@dataclass(frozen=True, slots=True, eq=False)
class FamilyCover:
    """Cells that hold every model of a family over a box, and how to halve them.

    `cover_of_family` builds it.
    """

    instantiate: Instantiate
    names: tuple[str, ...]
    rates: FloatArray  # (P,)
    proved: bool
    same_support: bool
    rewards: FloatArray  # (S, A)
    support: BoolArray  # (S, A, S)
    roots: tuple[Cell, ...]

    def halves(self, cell: Cell) -> tuple[Cell, Cell] | None:
        """Return the halves across the side that moves kernels most."""
        low, high = np.array(cell.low), np.array(cell.high)
        side = int((self.rates * (high - low)).argmax())
        middle = 0.5 * (low[side] + high[side])
        if not low[side] < middle < high[side]:
            return None
        ends = np.where(np.arange(low.size) == side, middle, high)
        begins = np.where(np.arange(low.size) == side, middle, low)
        return (
            self._cell((*cell.path, 0), low, ends, cell),
            self._cell((*cell.path, 1), begins, high, cell),
        )

    def _cell(
        self, path: tuple[int, ...], low: FloatArray, high: FloatArray, parent: Cell
    ) -> Cell:
        model = model_at(self.instantiate, self.names, 0.5 * (low + high))
        _check_alike(model, self.rewards, self.support, self.same_support)
        cell = _cell(path, 0.5 * (low + high), (low, high), self.rates, model)
        cell = _bounded(
            replace(cell, gain=parent.gain, bias=parent.bias, policy=parent.policy),
            self.support,
            parent.gain_bound,
        )
        _check_rates(self.names, parent, cell, parent.radius - cell.radius)
        return cell


def cover_of_family(
    instantiate: Instantiate,
    box: Box,
    smoothness: Smoothness,
    *,
    same_support: bool = False,
) -> FamilyCover:
    """Return the cover of all `instantiate(theta)`, theta in a box.

    With `same_support` all models have the successors of the one in the middle, which
    makes samples sharper; a model met that has not is refused.
    """
    names, low, high = checked_box(box, smoothness)
    rates = np.array([smoothness.rates[name] for name in names])
    model = model_at(instantiate, names, 0.5 * (low + high))
    support = _support(model, same_support)
    root = _cell((0,), 0.5 * (low + high), (low, high), rates, model)
    return FamilyCover(
        instantiate=instantiate,
        names=names,
        rates=owned(rates),
        proved=smoothness.proved,
        same_support=same_support,
        rewards=model.rewards,
        support=support,
        roots=(root,),
    )


def planned(cell: Cell, support: BoolArray) -> Cell:
    """Return a cell with gain, bias and policy of its own model, and a better bound."""
    if cell.planned:
        return cell
    plan = solve_average_reward(cell.model)
    own = replace(
        cell,
        planned=True,
        gain=float(plan.gain[0]),
        bias=plan.bias[0],
        policy=plan.policy[0],
    )
    return _bounded(own, support, cell.gain_bound)


def _bounded(cell: Cell, support: BoolArray, known: float) -> Cell:
    """Return a cell with its gain bounded by its bias, or by `known` if less."""
    bias, rewards = cell.bias, cell.model.rewards
    width = np.where(support, bias, -np.inf).max(axis=2)
    width -= np.where(support, bias, np.inf).min(axis=2)
    table = rewards + cell.kernel @ bias + 0.5 * cell.radius * width
    rounding = 1e-13 * bias.size * float(np.abs(rewards).max() + np.abs(bias).max())
    bound = float((table.max(axis=1) - bias).max()) + rounding
    return replace(cell, gain_bound=min(bound, known))


def _cell(
    path: tuple[int, ...],
    centre: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    rates: FloatArray,
    model: TabularMDP,
) -> Cell:
    """Return a cell of which nothing is known but its rewards."""
    low, high = ends
    most = float(model.rewards.max())
    return Cell(
        path=path,
        depth=len(path) - 1,
        centre=tuple(centre.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        radius=float(rates @ np.maximum(high - centre, centre - low)),
        model=model,
        kernel=owned(model.transitions.array(0)),
        gain_bound=most,
        planned=False,
        gain=most,
        bias=owned(np.zeros(model.n_states)),
        policy=owned(np.zeros(model.n_states, np.int32)),
    )


def _support(model: TabularMDP, same_support: bool) -> BoolArray:
    kernel = model.transitions.array(0)
    used: BoolArray = kernel > 0.0 if same_support else np.ones(kernel.shape, np.bool_)
    return np.asarray(owned(used))


def _check_alike(
    model: TabularMDP, rewards: FloatArray, support: BoolArray, same_support: bool
) -> None:
    if model.rewards.shape != rewards.shape or (model.rewards != rewards).any():
        raise InvalidModel(
            f"model {model.name!r} has other rewards than the middle of the box",
            hint="models of a family share one table of rewards here",
        )
    if same_support and ((model.transitions.array(0) > 0.0) != support).any():
        raise InvalidModel(
            f"model {model.name!r} has other successors than the middle of the box",
            hint="leave out same_support, or keep probabilities off zero",
        )


def _check_rates(
    names: tuple[str, ...], one: Cell, other: Cell, allowed: float
) -> None:
    moved = float(np.abs(one.kernel - other.kernel).sum(axis=2).max())
    if moved > allowed + ROUNDING:
        raise InvalidModel(
            f"kernels at {_words(names, one)} and {_words(names, other)} are "
            f"{moved:.6g} apart in L1, the rates allow {allowed:.6g}",
            hint="the rates are too small: supply larger ones",
        )


def _words(names: tuple[str, ...], cell: Cell) -> str:
    return name_of(dict(zip(names, cell.centre, strict=True)))
