"""Which hidden parameter causes the loss: the gap of a class, shared over parameters.

Two losses are shared by Shapley's rule (`shapley`). What the best agent loses because
it does not know a parameter (`hidden_losses`); and what a plan for one nominal model
loses because a parameter is not what the plan assumes (`ignored_losses`). Shares of the
first are exact up to the brackets of the classes planned if these are few; otherwise
they are estimated from random orders of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.answers.blame.hidden_losses import (
    Effort,
    HiddenLosses,
    at_most_so_many_plans,
    losses_of_sets,
    whole_class_planned,
)
from simgap.answers.blame.hidden_parts import HiddenParts, hidden_parts, models_left
from simgap.answers.blame.ignored_losses import (
    ignored_shares,
    middle_model,
    nominal_plan,
)
from simgap.answers.blame.sampled_shares import random_orders, sampled_shares
from simgap.answers.blame.sentences import headline, notes_of
from simgap.answers.blame.shapley import (
    Game,
    leading_player,
    shapley_parts,
    shapley_shares,
)
from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import (
    KnownOracle,
    Tell,
    checked_oracle,
    recorded_prices,
)
from simgap.answers.time_limits import in_time
from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate, Interval
from simgap.oracle import compared_models, loss_form, pair_prices
from simgap.planning import checked_horizon
from simgap.records.blame import Blame, BlamedParameter, LossAtValue
from simgap.records.pair_prices import PairPrices
from simgap.records.provenance import Certainty, provenance
from simgap.text import suggestion

NOTHING = Certified(0.0, 0.0)
CONFIDENCE = 0.95  # of all estimated shares together
MOST_EXACT = 12  # parts of an exact table
MOST_PARTS = 60  # sets of parts are bits of a number
NOISE = 10.0  # times the rounding: a smaller whole is nothing


@in_time
def blame(
    model: Model,
    horizon: int,
    *,
    groups: Sequence[Sequence[str]] = (),
    nominal: int | str | None = None,
    exact_up_to: int = 400,
    permutations: int = 100,
    gap_tolerance: float = 0.05,
    time_limit: float | None = 120.0,
    seed: int = 0,
    oracle: KnownOracle | None = None,
    progress: Tell | None = None,
) -> Blame:
    """Return how much of the best agent's loss each hidden parameter causes.

    The loss is that of the domain-randomization oracle, on average over the prior. A
    parameter's share is what not knowing it adds to the loss, averaged over all orders
    in which parameters could be hidden one after the other (its Shapley value); shares
    sum to the loss.

    `groups` names parameters that count as one. `nominal` is the model, by number or
    name, that a team would plan for (the middle one unless it is given): `ignored` are
    shares of what that plan loses. If all sets of parameters leave at most
    `exact_up_to` classes to plan, shares are certified; otherwise they are estimated
    from `permutations` random orders, every second one the reverse of the one before.
    Each class is planned until its bracket is `gap_tolerance` of its loss; all planning
    together has `time_limit` seconds. `oracle` is that of the whole class, if it is
    planned already. `progress` is called with a few words now and then.

    >>> from simgap import blame
    >>> rivers = "riverswim?states=3&success=0.1,0.6&down=0.05,0.3&left_reward=0.3"
    >>> found = blame(rivers, 8)
    >>> found.leader, [each.name for each in found.parameters]
    ('success', ['success', 'down'])
    """
    given = named_model(model)
    latent, horizon = given.latent, checked_horizon(horizon)
    report = progress or (lambda words: None)
    _check(exact_up_to, permutations)
    parts = hidden_parts(latent, groups)
    chosen = middle_model(parts) if nominal is None else _member(parts, nominal)
    exact = _exact(parts, exact_up_to)
    report("planning for the nominal model")
    plan = nominal_plan(parts, chosen, horizon)
    losses = whole_class_planned(
        parts,
        horizon,
        Effort(gap_tolerance, time_limit, seed),
        report,
        alone=len(parts.relevant) < 2,
        oracle=checked_oracle(oracle, latent, horizon),
    )
    pairs = -(-permutations // 2)
    shares = (
        exact_shares(losses)
        if exact
        else estimated_shares(losses, pairs=pairs, confidence=CONFIDENCE)
    )
    ignored = ignored_shares(parts, plan)
    parameters = tuple(
        _parameter(losses, part, shares, ignored) for part in range(len(parts.names))
    )
    leader = None if shares.leader is None else parts.relevant[shares.leader]
    names = latent.simulators.model_names
    return Blame(
        horizon=horizon,
        whole=losses.whole,
        method="exact" if exact else "sampled",
        permutations=None if exact else 2 * pairs,
        classes_planned=losses.planned,
        parameters=parameters,
        leader=None if leader is None else parameters[leader].name,
        ignored_whole=float(latent.prior @ plan.gaps),
        nominal=names[plan.model],
        names=names,
        pair_prices=_prices(losses),
        rounding=losses.rounding,
        headline=headline(
            parameters, losses.whole, leader, noise=NOISE * losses.rounding
        ),
        certainty=_certainty(exact=exact),
        notes=notes_of(
            losses,
            pairs=None if exact else pairs,
            confidence=CONFIDENCE,
            mixed=ignored is not None,
        ),
        provenance=provenance(command="", model=given.name, latent=latent, seed=seed),
    )


def _check(exact_up_to: int, permutations: int) -> None:
    if exact_up_to < 0:
        raise InvalidArgument(f"exact_up_to is {exact_up_to}", hint="it is 0 or more")
    if permutations < 4:
        raise InvalidArgument(f"permutations is {permutations}", hint="it is 4 or more")


def _member(parts: HiddenParts, nominal: int | str) -> int:
    """Return the model with a name, or with a number counted from 0."""
    simulators = parts.latent.simulators
    names = simulators.model_names
    if not isinstance(nominal, str):
        return simulators.member(nominal)
    if nominal in names:
        return names.index(nominal)
    if nominal.isdecimal() and len(nominal) < 10 and int(nominal) < len(names):
        return int(nominal)
    raise InvalidArgument(
        f"there is no model {nominal[:80]!r}",
        hint=suggestion(nominal, names, cutoff=0.4)
        or f"give a number from 0 to {len(names) - 1}; simgap info lists the names",
    )


def _exact(parts: HiddenParts, exact_up_to: int) -> bool:
    """Return whether all sets of parts are few enough to plan."""
    players = len(parts.relevant)
    if players > MOST_PARTS:
        raise InvalidArgument(
            f"{players} parameters are hidden",
            hint=f"at most {MOST_PARTS}; join some with a group",
        )
    if players < 2:
        return True
    return players <= MOST_EXACT and at_most_so_many_plans(parts, exact_up_to)


def _parameter(
    losses: HiddenLosses,
    part: int,
    shared: HiddenShares,
    ignored: tuple[Certified, ...] | None,
) -> BlamedParameter:
    parts = losses.parts
    name, count = parts.names[part], len(parts.values_of(part))
    if part not in parts.relevant:
        return BlamedParameter(
            name=name,
            values=count,
            share=NOTHING,
            part=None if shared.parts is None else NOTHING,
            alone=NOTHING,
            information=NOTHING,
            ignored=None if ignored is None else NOTHING,
            curve=_curve(losses, part),
        )
    player = parts.relevant.index(part)
    return BlamedParameter(
        name=name,
        values=count,
        share=shared.shares[player],
        part=None if shared.parts is None else shared.parts[player],
        alone=shared.values[1 << player],
        information=shared.worth_of_knowing(player),
        ignored=None if ignored is None else ignored[player],
        curve=_curve(losses, part),
    )


def _curve(losses: HiddenLosses, part: int) -> tuple[LossAtValue, ...]:
    """Return what is lost value by value; an irrelevant part is not worth knowing."""
    parts, prior = losses.parts, losses.parts.latent.prior
    codes = parts.values_of(part)
    known = [losses.whole] * len(codes)
    if part in parts.relevant:
        hidden = (2 ** len(parts.relevant) - 1) ^ 1 << parts.relevant.index(part)
        left = models_left(parts, hidden)  # in the order of the values
        known = [losses.bracket(each) for each in left]
    found = []
    for code, told in zip(codes, known, strict=True):
        models = parts.possible[parts.codes[parts.possible, part] == code]
        loss = float(prior[models] @ losses.gaps[models] / prior[models].sum())
        found.append(LossAtValue(parts.labels[part][code], told, max(0.0, loss)))
    return tuple(found)


def _prices(losses: HiddenLosses) -> PairPrices:
    """Return what pairs of models cost, as the models are named."""
    latent, oracle = losses.parts.latent, losses.oracle
    size = len(latent.simulators)
    if oracle is None:
        return recorded_prices(np.zeros((size, size)), np.zeros((size, size)), None)
    if len(losses.everything.members) == size:
        low, high = oracle.pair_prices_lower, oracle.pair_prices_upper
        return recorded_prices(low, high, oracle.compared)
    # merged models weigh differently, and those with prior 0 were left out
    form = loss_form(latent, horizon=losses.horizon)
    lower, upper = pair_prices(form)
    equal = losses.parts.first_equal
    same = equal[:, None] == equal[None, :]
    lower, upper = np.where(same, 0.0, lower), np.where(same, 0.0, upper)
    return recorded_prices(lower, upper, compared_models(form))


def _certainty(*, exact: bool) -> dict[str, Certainty]:
    shares: Certainty = "certified" if exact else "estimated"
    return {
        "whole": "certified",
        "share": shares,
        "part": shares,
        "alone": "certified",
        "information": "certified",
        "ignored": "certified",
        "told": "certified",
        "loss": "certified",
        "ignored_whole": "certified",
        "pair_prices": "certified",
    }


@final
@dataclass(frozen=True, slots=True)
class HiddenShares:
    """What every relevant part has of the whole loss."""

    values: dict[int, Certified]  # v of the sets that were looked at
    shares: Sequence[Interval]  # (n,), they sum to the whole
    parts: Sequence[Interval] | None  # (n,), of 1; None if the whole is 0
    leader: int | None  # certainly the largest share

    def worth_of_knowing(self, player: int) -> Certified:
        """Return what knowing one part saves: v(N) - v(N - p)."""
        every = 2 ** len(self.shares) - 1
        saved = self.values[every] - self.values[every ^ 1 << player]
        return saved.not_negative()


def exact_shares(losses: HiddenLosses) -> HiddenShares:
    """Return the shares from the bracket of every set of parts."""
    players = len(losses.parts.relevant)
    if players == 0:
        return HiddenShares({0: Certified(0.0, 0.0)}, (), None, None)
    every = 2**players - 1
    values = losses_of_sets(losses, [every, *_but_one(players), *range(every)])
    game = Game(
        players,
        np.array([values[each].lower for each in range(every + 1)], np.float64),
        np.array([values[each].upper for each in range(every + 1)], np.float64),
    )
    shares = shapley_shares(game)
    if _nothing(values[every], losses):
        return HiddenShares(values, shares, None, None)
    return HiddenShares(values, shares, shapley_parts(game), leading_player(game))


def estimated_shares(
    losses: HiddenLosses, *, pairs: int, confidence: float
) -> HiddenShares:
    """Return shares from random orders; all intervals hold at once at `confidence`."""
    players = len(losses.parts.relevant)
    orders = random_orders(players, pairs, losses.effort.seed)
    every = 2**players - 1
    needed = [each for order in orders.prefixes for each in order]
    alone = [1 << player for player in range(players)]
    values = losses_of_sets(losses, [every, *_but_one(players), 0, *needed, *alone])
    found = sampled_shares(orders, values, confidence=confidence)
    if _nothing(values[every], losses):
        return HiddenShares(values, found, None, None)
    best = max(range(players), key=lambda player: found[player].lower)
    ahead = all(
        each.upper < found[best].lower for at, each in enumerate(found) if at != best
    )
    parts = tuple(_over(each, values[every]) for each in found)
    return HiddenShares(values, found, parts, best if ahead else None)


def _but_one(players: int) -> list[int]:
    """Return the sets without one player: what is hidden if one part is known."""
    return [(2**players - 1) ^ 1 << player for player in range(players)]


def _over(share: Estimate, whole: Certified) -> Estimate:
    """Return an estimated share as a part of the whole."""
    low = share.lower / whole.upper
    high = min(1.0, share.upper / whole.lower) if whole.lower > 0.0 else 1.0
    middle = share.estimate / (0.5 * (whole.lower + whole.upper))
    return replace(
        share, estimate=min(max(middle, low), high), lower=low, upper=max(low, high)
    )


def _nothing(whole: Certified, losses: HiddenLosses) -> bool:
    """Return whether the whole loss is 0 as far as floats can tell."""
    return whole.lower == 0.0 and whole.upper <= NOISE * losses.rounding
