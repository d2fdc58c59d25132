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

from simgap.answers.blame.hidden_game import (
    Effort,
    HiddenGame,
    Told,
    begin_game,
    count_plans,
)
from simgap.answers.blame.hidden_parts import HiddenParts, cases, hidden_parts
from simgap.answers.blame.hidden_shares import (
    HiddenShares,
    Share,
    estimated_shares,
    exact_shares,
)
from simgap.answers.blame.ignored_parts import (
    ignored_shares,
    middle_model,
    nominal_plan,
)
from simgap.answers.planned_class import checked_oracle
from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle import OracleResult, compared_models, loss_form, pair_prices
from simgap.planning import checked_horizon
from simgap.records import Certainty

NOTHING = Certified(0.0, 0.0)
MOST_EXACT = 12  # parts of an exact table
MOST_PARTS = 60  # sets of parts are bits of a number


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
    leader: int | None  # the parameter with the largest share; None: not known
    ignored_whole: float  # average gap of the nominal model's plan, exact
    pair_prices_lower: FloatArray  # (M, M)
    pair_prices_upper: FloatArray  # (M, M)
    compared: OffsetArray | None  # models whose pairs were looked at; None: all
    rounding: float  # absolute; smaller gaps may be 0
    notes: tuple[str, ...]
    certainty: Certainty = "certified"  # of what is proved; the class says it


def blame(
    latent: LatentMDP,
    horizon: int,
    settings: BlameSettings | None = None,
    *,
    oracle: OracleResult | None = None,
    tell: Told | None = None,
) -> Blame:
    """Return how much of the oracle's average gap each hidden parameter causes.

    The oracle of the whole class is planned here unless it is given.
    """
    checked_latent(latent)
    settings = _checked(settings or BlameSettings(), latent)
    horizon, told = checked_horizon(horizon), tell or _silent
    parts = hidden_parts(latent, settings.groups)
    players = len(parts.active)
    if players > MOST_PARTS:
        raise InvalidArgument(
            f"{players} parameters are hidden",
            hint=f"at most {MOST_PARTS}; join some with a group",
        )
    exact = players < 2 or (
        players <= MOST_EXACT and count_plans(parts, settings.exact_up_to) is not None
    )
    oracle = checked_oracle(oracle, latent, horizon)
    game = begin_game(
        parts, horizon, settings.effort, told, alone=players < 2, oracle=oracle
    )
    shares = (
        exact_shares(game)
        if exact
        else estimated_shares(
            game, pairs=settings.pairs, confidence=settings.confidence
        )
    )
    nominal = middle_model(parts) if settings.nominal is None else settings.nominal
    told("planning for the nominal model")
    plan = nominal_plan(parts, nominal, horizon)
    ignored = ignored_shares(parts, plan)
    prices = _prices(game, horizon)
    return Blame(
        horizon=horizon,
        whole=game.bracket(game.everything),
        method=Method.EXACT if exact else Method.SAMPLED,
        orders=None if exact else 2 * settings.pairs,
        planned=game.planned,
        parameters=tuple(
            _part(game, part, shares, ignored) for part in range(len(parts.names))
        ),
        nominal=nominal,
        leader=None if shares.leader is None else parts.active[shares.leader],
        ignored_whole=float(latent.prior @ plan.gaps),
        pair_prices_lower=owned(prices.lower),
        pair_prices_upper=owned(prices.upper),
        compared=prices.compared,
        rounding=0.0 if game.whole is None else game.whole.statistics.rounding,
        notes=_notes(game, settings, mixed=ignored is not None, exact=exact),
        certainty=latent.certified,
    )


def _part(
    game: HiddenGame,
    part: int,
    shared: HiddenShares,
    ignored: tuple[Certified, ...] | None,
) -> PartBlame:
    parts, every = game.parts, 2 ** len(game.parts.active) - 1
    name, count = parts.names[part], len(parts.values_of(part))
    if part not in parts.active:
        return PartBlame(
            name=name,
            values=count,
            share=NOTHING,
            part=None if shared.parts is None else NOTHING,
            alone=NOTHING,
            information=NOTHING,
            ignored=None if ignored is None else NOTHING,
            curve=_curve(game, part, game.bracket(game.everything)),
        )
    player = parts.active.index(part)
    without = shared.values[every ^ 1 << player]
    return PartBlame(
        name=name,
        values=count,
        share=shared.shares[player],
        part=None if shared.parts is None else shared.parts[player],
        alone=shared.values[1 << player],
        information=_minus(shared.whole, without),
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


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Prices:
    """What pairs of models cost, as the models are named."""

    lower: FloatArray  # (M, M)
    upper: FloatArray  # (M, M)
    compared: OffsetArray | None


def _prices(game: HiddenGame, horizon: int) -> _Prices:
    latent, whole = game.parts.latent, game.whole
    if whole is None:
        none = np.zeros((len(latent.simulators), len(latent.simulators)))
        return _Prices(none, none.copy(), None)
    if len(game.everything.members) == len(latent.simulators):
        low, high = whole.pair_prices_lower, whole.pair_prices_upper
        return _Prices(np.array(low), np.array(high), whole.compared)
    # merged models weigh differently, and those with prior 0 were left out
    form = loss_form(latent, horizon=horizon)
    lower, upper = pair_prices(form)
    equal = game.parts.first_equal
    same = equal[:, None] == equal[None, :]
    lower, upper = np.where(same, 0.0, lower), np.where(same, 0.0, upper)
    return _Prices(lower, upper, compared_models(form))


def _notes(
    game: HiddenGame, settings: BlameSettings, *, mixed: bool, exact: bool
) -> tuple[str, ...]:
    """Return what a reader must know about the numbers."""
    parts, notes = game.parts, []
    idle = [n for at, n in enumerate(parts.names) if at not in parts.active]
    if idle:
        notes.append(f"without any effect: {', '.join(idle)}; their share is exactly 0")
    if game.unfinished:
        some = len(game.unfinished)
        what = "a class" if some == 1 else f"{some} classes"
        notes.append(
            f"the time limit left {what} unfinished: brackets are valid, but another "
            "run may have others"
        )
    if not exact:
        notes.append(
            f"shares are estimated from {settings.pairs} random orders of the "
            "parameters and their reverses; all intervals hold together at "
            f"{100.0 * settings.confidence:g} %, brackets of planning included"
        )
    if not mixed:
        notes.append(
            "no shares of what a nominal plan loses: models that mix nominal and real "
            "values are missing or too many, or the nominal value has no weight; a "
            "product grid with weight everywhere has them"
        )
    telltale = [parts.names[part] for part in parts.active if _tells_all(parts, part)]
    if telltale and len(parts.active) > 1:
        notes.append(
            f"no two models have the same {' or '.join(telltale)}: telling it tells "
            "everything, so shares say little; a grid of values says more"
        )
    compared = None if game.whole is None else game.whole.compared
    if compared is not None:
        notes.append(
            f"{compared.size} models, spread evenly over {parts.likely.size}, are "
            "compared in pairs; prices of other pairs are at most what a plan at hand "
            "costs them"
        )
    if parts.likely.size < len(parts.latent.simulators):
        notes.append("models with prior 0 cannot be real here and are left out")
    return tuple(notes)


def _tells_all(parts: HiddenParts, part: int) -> bool:
    """Return whether every value of a part leaves one model."""
    seen = np.stack([parts.codes[:, part], parts.first_equal], axis=1)[parts.likely]
    return len(np.unique(seen, axis=0)) == len(parts.values_of(part))


def _minus(whole: Certified, part: Certified) -> Certified:
    return (whole - part).not_negative()


def _checked(settings: BlameSettings, latent: LatentMDP) -> BlameSettings:
    if settings.exact_up_to < 0 or settings.pairs < 2:
        raise InvalidArgument(
            f"{settings.exact_up_to} classes exactly, {settings.pairs} pairs of orders",
            hint="0 classes or more, and at least 2 pairs",
        )
    if not 0.0 < settings.confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {settings.confidence}", hint="it is between 0 and 1"
        )
    if settings.nominal is None:
        return settings
    return replace(settings, nominal=latent.simulators.member(settings.nominal))


def _silent(text: str) -> None:
    """Tell nobody."""
