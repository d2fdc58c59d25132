"""Which hidden parameter causes the loss: the gap of a class, shared out over parts.

Two games are shared by Shapley's rule. The hidden game is about what the best agent
loses because it is not told a parameter (`hidden_game`); the ignored game about what a
plan for one nominal model loses because a parameter is not what it was thought to be
(`ignored_parts`). Shares of the hidden game are exact up to the brackets of the classes
planned if these are few; otherwise they are estimated from random orders.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import final

import numpy as np

from simgap.answers.hidden_game import (
    Effort,
    HiddenGame,
    Told,
    begin_game,
    count_plans,
    game_of,
    plan_sets,
)
from simgap.answers.hidden_parts import cases, hidden_parts
from simgap.answers.ignored_parts import (
    NominalPlan,
    ignored_shares,
    middle_model,
    nominal_plan,
)
from simgap.answers.sampled_shares import random_orders, sampled_shares
from simgap.answers.shapley import shapley_parts, shapley_shares
from simgap.arrays import FloatArray, owned
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle.loss_form import loss_form
from simgap.oracle.pair_prices import pair_prices
from simgap.planning.episodic import checked_horizon
from simgap.records import Certified
from simgap.statistics import Estimate

NOTHING = Certified(0.0, 0.0)
MOST_EXACT = 12  # parts of an exact table
MOST_PARTS = 60  # sets of parts are bits of a number

Share = Certified | Estimate


class Method(Enum):
    """How shares of the hidden game were found."""

    EXACT = "exact"
    SAMPLED = "sampled"


@final
@dataclass(frozen=True, slots=True)
class BlameSettings:
    """What to ask and how hard to try."""

    groups: tuple[tuple[str, ...], ...] = ()  # parameters that count as one
    nominal: int | None = None  # a model; None: the middle one
    exact_up_to: int = 400  # classes to plan; beyond, orders are sampled
    pairs: int = 50  # random orders, each with its reverse
    confidence: float = 0.95  # of all estimated shares together
    effort: Effort = field(default_factory=Effort)


@final
@dataclass(frozen=True, slots=True)
class ValueLoss:
    """What is lost where a part has one value."""

    value: float | str
    told: Certified  # average gap if the agent is told this value
    loss: float  # of the whole class's certified policy where the part has it, exact


@final
@dataclass(frozen=True, slots=True)
class PartBlame:
    """What one parameter, or group of them, is to blame for."""

    name: str
    values: int  # that may be real
    share: Share  # of the whole gap; shares sum to it
    part: Share | None  # share / whole; None if the whole is 0
    alone: Certified  # v({p}): the loss if only this is hidden
    information: Certified  # v(N) - v(N - p): what telling it is worth
    ignored: Certified | None  # share of what the nominal plan loses
    curve: tuple[ValueLoss, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Blame:
    """Which hidden parameter causes the loss, in the class's own reward units."""

    horizon: int
    whole: Certified  # average gap of the oracle
    method: Method
    orders: int | None  # sampled; None if exact
    planned: int  # classes
    parameters: tuple[PartBlame, ...]
    nominal: int  # model
    ignored_whole: float  # average gap of the nominal model's plan, exact
    pair_prices_lower: FloatArray  # (M, M)
    pair_prices_upper: FloatArray  # (M, M)
    rounding: float  # absolute; smaller gaps may be 0
    notes: tuple[str, ...]


def blame(
    latent: LatentMDP,
    horizon: int,
    settings: BlameSettings | None = None,
    *,
    tell: Told | None = None,
) -> Blame:
    """Return how much of the oracle's average gap each hidden parameter causes."""
    settings = _checked(settings or BlameSettings(), latent)
    horizon, told = checked_horizon(horizon), tell or _silent
    parts = hidden_parts(latent, settings.groups)
    players = len(parts.active)
    if players > MOST_PARTS:
        raise InvalidArgument(
            f"{players} parameters are hidden",
            hint=f"at most {MOST_PARTS}; join some with a group",
        )
    exact = players <= MOST_EXACT and (
        count_plans(parts, settings.exact_up_to) is not None
    )
    game = begin_game(parts, horizon, settings.effort, told, alone=players < 2)
    values, shares, pieces = _shared(game, settings, exact=exact)
    nominal = middle_model(parts) if settings.nominal is None else settings.nominal
    told("planning for the nominal model")
    plan = nominal_plan(parts, nominal, horizon)
    ignored = ignored_shares(parts, plan)
    prices, rounding = _prices(game, horizon)
    return Blame(
        horizon=horizon,
        whole=values[2**players - 1],
        method=Method.EXACT if exact else Method.SAMPLED,
        orders=None if exact else 2 * settings.pairs,
        planned=game.planned,
        parameters=tuple(
            _part(game, part, values, shares, pieces, ignored)
            for part in range(len(parts.names))
        ),
        nominal=nominal,
        ignored_whole=float(latent.prior @ plan.gaps),
        pair_prices_lower=owned(prices[0]),
        pair_prices_upper=owned(prices[1]),
        rounding=rounding,
        notes=_notes(game, settings, plan, ignored, exact=exact),
    )


def _shared(
    game: HiddenGame, settings: BlameSettings, *, exact: bool
) -> tuple[dict[int, Certified], tuple[Share, ...], tuple[Share, ...] | None]:
    """Return v of the sets looked at, the shares and the parts of active players."""
    players = len(game.parts.active)
    if players == 0:
        return {0: NOTHING}, (), None
    every = 2**players - 1
    without = [every ^ 1 << player for player in range(players)]
    if exact:
        values = plan_sets(game, [every, *without, *range(every)])
        table = game_of(players, values)
        return (
            values,
            shapley_shares(table),
            None if _nothing(values[every], game) else shapley_parts(table),
        )
    orders = random_orders(players, settings.pairs, settings.effort.seed)
    needed = [each for order in orders.prefixes for each in order]
    alone = [1 << player for player in range(players)]
    values = plan_sets(game, [every, *without, 0, *needed, *alone])
    found = sampled_shares(orders, values, confidence=settings.confidence)
    whole = values[every]
    if _nothing(whole, game):
        return values, found, None
    return values, found, tuple(_over(each, whole) for each in found)


def _part(
    game: HiddenGame,
    part: int,
    values: dict[int, Certified],
    shares: tuple[Share, ...],
    pieces: tuple[Share, ...] | None,
    ignored: tuple[Certified, ...] | None,
) -> PartBlame:
    parts, every = game.parts, 2 ** len(game.parts.active) - 1
    name, count = parts.names[part], len(parts.values_of(part))
    if part not in parts.active:
        return PartBlame(
            name=name,
            values=count,
            share=NOTHING,
            part=None if _nothing(values[every], game) else NOTHING,
            alone=NOTHING,
            information=NOTHING,
            ignored=NOTHING,
            curve=_curve(game, part, values[every]),
        )
    player = parts.active.index(part)
    without = values[every ^ 1 << player]
    return PartBlame(
        name=name,
        values=count,
        share=shares[player],
        part=None if pieces is None else pieces[player],
        alone=values[1 << player],
        information=_minus(values[every], without),
        ignored=None if ignored is None else ignored[player],
        curve=_curve(game, part, None),
    )


def _curve(
    game: HiddenGame, part: int, same: Certified | None
) -> tuple[ValueLoss, ...]:
    """Return what is lost value by value; telling an idle part leaves the `same`."""
    parts, prior = game.parts, game.parts.latent.prior
    told: list[Certified] = []
    if same is None:
        player = parts.active.index(part)
        left = cases(parts, (2 ** len(parts.active) - 1) ^ 1 << player)
        told = [game.bracket(case) for case in left]  # in the order of the values
    found = []
    for at, code in enumerate(parts.values_of(part)):
        models = parts.likely[parts.codes[parts.likely, part] == code]
        loss = float(prior[models] @ game.gaps[models] / prior[models].sum())
        found.append(
            ValueLoss(parts.labels[part][code], same or told[at], max(0.0, loss))
        )
    return tuple(found)


def _prices(
    game: HiddenGame, horizon: int
) -> tuple[tuple[FloatArray, FloatArray], float]:
    """Return the pair prices of all models as they are named, and what rounding is."""
    latent = game.parts.latent
    if game.whole is None:
        none = np.zeros((len(latent.simulators), len(latent.simulators)))
        return (none, none.copy()), 0.0
    rounding = game.whole.statistics.rounding
    if len(game.everything.members) == len(latent.simulators):
        return (
            (
                np.array(game.whole.pair_prices_lower),
                np.array(game.whole.pair_prices_upper),
            ),
            rounding,
        )
    # merged models weigh differently, and those with prior 0 were left out
    lower, upper = pair_prices(loss_form(latent, horizon=horizon))
    equal = game.parts.first_equal
    same = equal[:, None] == equal[None, :]
    return (np.where(same, 0.0, lower), np.where(same, 0.0, upper)), rounding


def _notes(
    game: HiddenGame,
    settings: BlameSettings,
    plan: NominalPlan,
    ignored: tuple[Certified, ...] | None,
    *,
    exact: bool,
) -> tuple[str, ...]:
    parts, notes = game.parts, []
    idle = [n for at, n in enumerate(parts.names) if at not in parts.active]
    if idle:
        notes.append(f"without any effect: {', '.join(idle)}; their share is exactly 0")
    if game.unfinished:
        notes.append(
            f"the time limit stopped {len(game.unfinished)} of {game.planned} plans: "
            "brackets are valid, but another run may have others"
        )
    if not exact:
        notes.append(
            f"shares are estimated from {settings.pairs} random orders of the "
            "parameters and their reverses; all intervals hold together at "
            f"{100.0 * settings.confidence:g} %, brackets of planning included"
        )
    if ignored is None:
        notes.append(
            "no shares of what a nominal plan loses: models with mixed parameters are "
            "missing or too many; a product grid has them"
        )
    if parts.likely.size < len(parts.latent.simulators):
        notes.append("models with prior 0 cannot be real here and are left out")
    return tuple(notes)


def _over(share: Estimate, whole: Certified) -> Estimate:
    """Return an estimated share as a part of the whole."""
    assert whole.lower is not None
    assert whole.upper is not None
    low = share.lower / whole.upper
    high = min(1.0, share.upper / whole.lower) if whole.lower > 0.0 else 1.0
    middle = share.estimate / (0.5 * (whole.lower + whole.upper))
    return replace(
        share, estimate=min(max(middle, low), high), lower=low, upper=max(low, high)
    )


def _minus(whole: Certified, part: Certified) -> Certified:
    ends = whole.lower, whole.upper, part.lower, part.upper
    a, b, c, d = (float(each or 0.0) for each in ends)
    slack = 2.0**-51 * (b + d)
    return Certified(max(0.0, a - d - slack), max(0.0, b - c) + slack)


def _nothing(whole: Certified, game: HiddenGame) -> bool:
    """Return whether the whole gap is 0 as far as floats can tell."""
    if game.whole is None or whole.upper is None:
        return True
    return whole.lower == 0.0 and whole.upper <= 10.0 * game.whole.statistics.rounding


def _checked(settings: BlameSettings, latent: LatentMDP) -> BlameSettings:
    if settings.exact_up_to < 0 or settings.pairs < 2:
        raise InvalidArgument(
            f"{settings.exact_up_to} classes exactly, {settings.pairs} pairs of orders",
            hint="0 classes or more, and at least 2 pairs",
        )
    if settings.nominal is None:
        return settings
    return replace(settings, nominal=latent.simulators.member(settings.nominal))


def _silent(text: str) -> None:
    """Tell nobody."""
