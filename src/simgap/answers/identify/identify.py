"""How fast models are told apart, by the best experiment and by an agent.

Two different questions. The pairs: how many steps does the best experiment need, whose
only aim is to tell two models apart (`telling_apart`)? The timeline: what does an agent
know that wants reward, and learns on the way (`posterior_timeline`)? An agent that need
not know the model may never find out, and lose nothing by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isfinite
from typing import final

import numpy as np

from simgap.answers.identify.posterior_timeline import Timeline, posterior_timeline
from simgap.answers.identify.telling_apart import TellingApart, telling_apart
from simgap.answers.planned_class import checked_oracle
from simgap.complexity import MOST_MODELS as MOST_SEPARATED, separation
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP, SimulatorClass, checked_latent
from simgap.oracle import (
    AutoOracle,
    OracleResult,
    Outcome,
    Solver,
    domain_randomization_oracle,
    spread_over,
)
from simgap.records import Certainty
from simgap.text import at_most

MOST_PAIRS = 2_000
MANY = 64  # models, from which on some of them stand for all
SPREAD, NEAREST = 40, 40  # of many models: compared with each other; nearest pairs
MOST_WORK = 2 * 10**10  # products over all pairs, half a minute
MOST_STEPS, FEWEST_STEPS = 10**6, 1_000  # of a pair, followed one by one
LITTLE, LITTLE_PART = 0.01, 0.1  # growth of a posterior that is as good as none
DEFAULT = AutoOracle(gap_tolerance=0.2, time_limit=60.0, episodes=2)

Progress = Callable[[str], None]


@final
@dataclass(frozen=True, slots=True)
class IdentifySettings:
    """How far to go."""

    error: float = 0.05  # chance of a wrong guess between two models
    most_pairs: int = MOST_PAIRS
    solver: Solver = DEFAULT  # of the oracle whose knowledge is told
    episodes: int = 5_000  # in each model, where histories are too many
    seed: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.most_pairs, int) and self.most_pairs >= 1
        if not whole or isinstance(self.most_pairs, bool):
            raise InvalidArgument(
                f"most_pairs is {self.most_pairs!r}", hint="a whole number from 1"
            )


@final
@dataclass(frozen=True, slots=True)
class Identification:
    """How fast the models of a class are told apart."""

    horizon: int | None
    error: float
    pairs: tuple[TellingApart, ...]  # by first model, then by second
    slowest: int | None  # in `pairs`; None: there is one model
    timeline: Timeline | None  # None: there is no horizon
    notes: tuple[str, ...]
    certainty: Certainty = "certified"  # of what is proved; the class says it


def identify(
    latent: LatentMDP,
    horizon: int | None = None,
    *,
    settings: IdentifySettings | None = None,
    oracle: OracleResult | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Return steps to tell pairs of models apart and, with a horizon, what is known.

    The timeline is that of the certified policy graph of the domain-randomization
    oracle, which is planned here unless it is given.
    """
    checked_latent(latent)
    chosen, notes = settings or IdentifySettings(), list[str]()
    tell = progress or (lambda word: None)
    pairs = _pairs(latent.simulators, chosen, notes, tell)
    timeline = None
    oracle = checked_oracle(oracle, latent, horizon)
    if horizon is not None:
        _note_horizon(pairs, horizon, chosen.error, notes)
        if oracle is None:
            tell("planning the oracle")
            oracle = domain_randomization_oracle(
                latent, horizon=horizon, solver=replace(chosen.solver, seed=chosen.seed)
            )
            if oracle.outcome is Outcome.INTERRUPTED:  # the whole answer is meant
                raise KeyboardInterrupt
        tell("following what the oracle knows")
        timeline = posterior_timeline(
            latent, oracle.policy, episodes=chosen.episodes, seed=chosen.seed
        )
        if _never_looks(latent, timeline, pairs, horizon):
            notes.append(
                f"the oracle never looks: finding out does not pay in {_steps(horizon)}"
            )
        _note_timeline(latent, oracle, timeline, horizon, notes)
    return Identification(
        horizon=horizon,
        error=chosen.error,
        pairs=pairs,
        slowest=_slowest(pairs),
        timeline=timeline,
        notes=tuple(notes),
        certainty=latent.certified,
    )


def _pairs(
    simulators: SimulatorClass,
    settings: IdentifySettings,
    notes: list[str],
    tell: Progress,
) -> tuple[TellingApart, ...]:
    """Compare all pairs, or some: those told apart worst, and models spread evenly."""
    chosen = _chosen(simulators, settings.most_pairs, notes)
    size = simulators.transitions.nonzeros * max(1, len(chosen))
    most_steps = min(MOST_STEPS, max(FEWEST_STEPS, MOST_WORK // size))
    found = []
    for at, (first, second) in enumerate(chosen):
        tell(f"pairs: {at} of {len(chosen)}")
        found.append(
            telling_apart(
                simulators, first, second, error=settings.error, most_steps=most_steps
            )
        )
    open_ends = sum(
        1
        for each in found
        if each.steps.upper == inf and each.steps.lower not in (None, inf)
    )
    if open_ends:
        notes.append(
            f"{_pairs_are(open_ends)} told apart after the lower number of steps at "
            "the earliest; no upper end could be certified, so maybe never"
        )
    return tuple(found)


def _chosen(
    simulators: SimulatorClass, most: int, notes: list[str]
) -> list[tuple[int, int]]:
    """Return which pairs to compare, all if they are few."""
    members = len(simulators)
    whole = members * (members - 1) // 2
    if whole <= most:
        return list(combinations(range(members), 2))
    nearest = most if members <= MANY else min(NEAREST, most)
    if members <= MOST_SEPARATED:
        chosen = _nearest(simulators, nearest)
        told = (
            f"{len(chosen)} of {whole} pairs are compared, those that a single visit "
            "of their best state and action tells apart worst"
        )
    else:
        chosen, told = [], f"some of {whole} pairs are compared"
    if members <= MANY:
        notes.append(told)
        return chosen
    count = SPREAD
    while count > 2 and count * (count - 1) // 2 + len(chosen) > most:
        count -= 1
    some = spread_over(members, count).tolist()
    notes.append(
        f"{told}; and all pairs of {len(some)} models, spread evenly over {members}"
    )
    return sorted({*chosen, *combinations(some, 2)})


def _nearest(simulators: SimulatorClass, count: int) -> list[tuple[int, int]]:
    """Return the pairs that one visit of their best place tells apart worst."""
    first, second = np.triu_indices(len(simulators), 1)
    exponent = separation(simulators).exponent[first, second]
    nearest = np.argsort(exponent, kind="stable")[:count]
    return [(int(first[k]), int(second[k])) for k in np.sort(nearest)]


def _slowest(pairs: tuple[TellingApart, ...]) -> int | None:
    """Return the pair that takes longest, the first of equals."""
    if not pairs:
        return None
    ends = [(each.steps.upper, each.steps.lower) for each in pairs]
    return ends.index(max(ends))


def _note_horizon(
    pairs: tuple[TellingApart, ...], horizon: int, error: float, notes: list[str]
) -> None:
    late = sum(1 for each in pairs if each.steps.lower > horizon)
    if late:
        notes.append(
            f"{_pairs_are(late)} not told apart within {_steps(horizon)} by any policy "
            f"with an error of {error:g}"
        )


def _never_looks(
    latent: LatentMDP,
    timeline: Timeline,
    pairs: tuple[TellingApart, ...],
    horizon: int,
) -> bool:
    """Return whether no real model gains belief though models differ within reach.

    Small weights of large classes grow by little even where much is found out, so they
    must not grow by much of themselves either.
    """
    if timeline.steps[-1] < horizon or len(timeline.models) < 2:
        return False
    prior = latent.prior
    possible = any(
        each.state is not None and min(prior[each.first], prior[each.second]) > 0.0
        for each in pairs
    )
    grown = [
        each.posterior[-1].estimate - float(prior[each.model])
        for each in timeline.models
    ]
    limits = [min(LITTLE, LITTLE_PART * prior[each.model]) for each in timeline.models]
    return possible and all(
        gain < limit for gain, limit in zip(grown, limits, strict=True)
    )


def _note_timeline(
    latent: LatentMDP,
    oracle: OracleResult,
    timeline: Timeline,
    horizon: int,
    notes: list[str],
) -> None:
    likely = int((latent.prior > 0.0).sum())
    if likely < latent.prior.size:
        notes.append(
            f"{latent.prior.size - likely} models without prior weight are left out of "
            "the timeline: no posterior ever believes in them"
        )
    if likely > len(timeline.models):
        notes.append(
            f"the timeline has {len(timeline.models)} of {likely} models as real ones"
        )
    if timeline.steps[-1] < horizon:
        notes.append(
            f"the timeline ends after {timeline.steps[-1]} of {horizon} steps: to "
            "sample more would take too long"
        )
    if oracle.outcome not in (Outcome.EXACT, Outcome.SOLVED):
        gap = oracle.average_gap
        rest = gap.upper - gap.lower
        words = f"loses at most {at_most(rest, 3)} more than the best one"
        notes.append(
            f"the policy of the timeline {words if isfinite(rest) else 'is a guess'}: "
            f"planning {oracle.outcome.value}"
        )


def _steps(count: int) -> str:
    return "one step" if count == 1 else f"{count} steps"


def _pairs_are(count: int) -> str:
    return "one pair is" if count == 1 else f"{count} pairs are"
