"""How fast models are told apart, by the best experiment and by an agent.

Two different questions. The pairs: how many steps does the best experiment need, whose
only aim is to tell two models apart (`telling_apart`)? The timeline: what does an agent
know that wants reward, and learns on the way (`posterior_timeline`)? An agent that need
not know the model may never find out, and lose nothing by it.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import inf, isfinite

import numpy as np

from simgap._kernels.time_limit import check_time, if_in_time
from simgap.answers.identify.posterior_timeline import (
    PosteriorTimeline,
    posterior_timeline,
)
from simgap.answers.identify.telling_apart import TellingApart, telling_apart
from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import (
    KnownOracle,
    Tell,
    checked_oracle,
    planned_oracle,
)
from simgap.answers.time_limits import in_time
from simgap.complexity import MOST_MODELS as MOST_SEPARATED, separation
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import AutoOracle, OracleResult, Outcome, spread_over
from simgap.records.identify import Identify, ModelPair, ModelPosterior, Timeline
from simgap.records.note import Notes
from simgap.records.provenance import Certainty, provenance
from simgap.text import at_most

MOST_PAIRS = 2_000
MANY = 64  # models, from which on some of them stand for all
SPREAD, NEAREST = 40, 40  # of many models: compared with each other; nearest pairs
MOST_WORK = 2 * 10**10  # products over all pairs, half a minute
MOST_STEPS, FEWEST_STEPS = 10**6, 1_000  # of a pair, followed one by one
LITTLE, LITTLE_PART = 0.01, 0.1  # growth of a posterior that is as good as none
UNSEEN = (
    "states are seen, rewards are not; steps are counted from the start of one run "
    "without resets, and both models of a pair are equally likely beforehand"
)


@in_time
def identify(
    model: Model,
    horizon: int | None = None,
    *,
    error: float = 0.05,
    episodes: int = 5_000,
    gap_tolerance: float = 0.2,
    time_limit: float = 60.0,
    seed: int = 0,
    most_pairs: int = MOST_PAIRS,
    oracle: KnownOracle | None = None,
    progress: Tell | None = None,
) -> Identify:
    """Return how fast models are told apart and, with a horizon, what the oracle knows.

    For each pair: the steps that the best experiment needs for a guess that errs with
    chance `error`, between two whole numbers. With a horizon: the mean posterior of the
    real model under the certified policy graph of the domain-randomization oracle,
    from at most `episodes` in each model where histories are too many. The oracle is
    planned until its bracket is `gap_tolerance` of its loss, or for `time_limit`
    seconds, unless it is given. Pairs that there is no time for are left out, and so is
    what the oracle knows; `notes` say so.

    >>> from simgap import identify
    >>> found = identify("riverswim?states=3&success=0.3,0.8")
    >>> found.pairs[found.slowest].steps.ends
    (11, 26)
    """
    given = named_model(model)
    latent, notes, tell = given.latent, Notes(), progress or (lambda word: None)
    _check(most_pairs)
    notes.add("rewards-unseen", UNSEEN)
    oracle = checked_oracle(oracle, latent, horizon)
    if horizon is not None and oracle is None:
        solver = AutoOracle(
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            episodes=2,  # its estimate is not asked for
            seed=seed,
        )
        oracle = planned_oracle(latent, horizon, solver=solver, progress=tell)
    pairs = _pairs(latent.simulators, error, most_pairs, notes, tell)
    timeline = None
    if horizon is not None and oracle is not None:
        _note_horizon(pairs, horizon, error, notes)
        tell("following what the oracle knows")
        policy = oracle.policy
        timeline = if_in_time(
            lambda: posterior_timeline(latent, policy, episodes=episodes, seed=seed)
        )
        if timeline is None:
            notes.add("no-timeline", "no timeline: the time limit came first")
    if horizon is not None and oracle is not None and timeline is not None:
        if _never_looks(latent, timeline, pairs, horizon):
            notes.add(
                "never-looks",
                "the oracle never looks: finding out does not pay in "
                f"{_steps(horizon)}",
            )
        _note_timeline(latent, oracle, timeline, horizon, notes)
    return Identify(
        horizon=horizon,
        error=error,
        names=latent.simulators.model_names,
        pairs=tuple(_pair(latent.simulators, each) for each in pairs),
        slowest=_slowest(pairs),
        timeline=_timeline(latent, timeline, oracle),
        certainty=_certainty(timeline),
        notes=tuple(notes),
        provenance=provenance(command="", model=given.name, latent=latent, seed=seed),
    )


def _check(most_pairs: int) -> None:
    whole = isinstance(most_pairs, int) and not isinstance(most_pairs, bool)
    if not whole or most_pairs < 1:
        raise InvalidArgument(
            f"most_pairs is {most_pairs!r}", hint="a whole number from 1"
        )


def _pair(simulators: SimulatorClass, found: TellingApart) -> ModelPair:
    names, labels = simulators.model_names, simulators.labels
    return ModelPair(
        first=found.first,
        second=found.second,
        first_name=names[found.first],
        second_name=names[found.second],
        state=found.state,
        action=found.action,
        state_name=None if found.state is None else labels.state(found.state),
        action_name=None if found.action is None else labels.action(found.action),
        distance=found.distance,
        affinity=found.affinity,
        visits=found.visits,
        steps=found.steps,
    )


def _timeline(
    latent: LatentMDP, found: PosteriorTimeline | None, oracle: OracleResult | None
) -> Timeline | None:
    if found is None or oracle is None:
        return None
    names = latent.simulators.model_names
    return Timeline(
        steps=found.steps,
        models=tuple(
            ModelPosterior(
                name=names[each.model],
                prior=float(latent.prior[each.model]),
                posterior=each.posterior,
            )
            for each in found.models
        ),
        computed=found.computed,
        episodes=found.episodes,
        average_gap=oracle.average_gap,
    )


def _certainty(timeline: PosteriorTimeline | None) -> dict[str, Certainty]:
    # a distance is a sum of a few numbers: certified to twelve digits
    certainty: dict[str, Certainty] = {
        "steps": "certified",
        "distance": "certified",
        "visits": "exact",
    }
    if timeline is not None:
        sampled = timeline.episodes is not None
        certainty["timeline"] = "estimated" if sampled else "certified"
        certainty["average_gap"] = "certified"
    return certainty


def _pairs(
    simulators: SimulatorClass,
    error: float,
    most_pairs: int,
    notes: Notes,
    tell: Tell,
) -> tuple[TellingApart, ...]:
    """Compare all pairs, or some: those told apart worst, and models spread evenly."""
    chosen = _chosen(simulators, most_pairs, notes)
    size = simulators.transitions.nonzeros * max(1, len(chosen))
    most_steps = min(MOST_STEPS, max(FEWEST_STEPS, MOST_WORK // size))
    found = []
    for at, (first, second) in enumerate(chosen):
        tell(f"pairs: {at} of {len(chosen)}")
        pair = if_in_time(
            partial(
                telling_apart, simulators, first, second, error=error,
                most_steps=most_steps,
            )
        )  # fmt: skip
        if pair is None:
            break
        found.append(pair)
    if chosen and not found:
        check_time()  # no pair at all is no answer
    if len(found) < len(chosen):
        notes.add(
            "pairs-left-out",
            f"{len(found)} of {len(chosen)} pairs are compared: the time limit came "
            "first",
        )
    open_ends = sum(
        1 for each in found if each.steps.upper == inf and each.steps.lower != inf
    )
    if open_ends:
        notes.add(
            "maybe-never-told-apart",
            f"{_pairs_are(open_ends)} told apart after the lower number of steps at "
            "the earliest; no upper end could be certified, so maybe never",
        )
    return tuple(found)


def _chosen(
    simulators: SimulatorClass, most: int, notes: Notes
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
        notes.add("some-pairs", told)
        return chosen
    count = SPREAD
    while count > 2 and count * (count - 1) // 2 + len(chosen) > most:
        count -= 1
    some = spread_over(members, count).tolist()
    notes.add(
        "some-pairs",
        f"{told}; and all pairs of {len(some)} models, spread evenly over {members}",
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
    pairs: tuple[TellingApart, ...], horizon: int, error: float, notes: Notes
) -> None:
    late = sum(1 for each in pairs if each.steps.lower > horizon)
    if late:
        notes.add(
            "not-within-horizon",
            f"{_pairs_are(late)} not told apart within {_steps(horizon)} by any policy "
            f"with an error of {error:g}",
        )


def _never_looks(
    latent: LatentMDP,
    timeline: PosteriorTimeline,
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
    timeline: PosteriorTimeline,
    horizon: int,
    notes: Notes,
) -> None:
    likely = int((latent.prior > 0.0).sum())
    if likely < latent.prior.size:
        notes.add(
            "without-prior-weight",
            f"{latent.prior.size - likely} models without prior weight are left out of "
            "the timeline: no posterior ever believes in them",
        )
    if likely > len(timeline.models):
        notes.add(
            "some-models",
            f"the timeline has {len(timeline.models)} of {likely} models as real ones",
        )
    if timeline.steps[-1] < horizon:
        notes.add(
            "timeline-cut-short",
            f"the timeline ends after {timeline.steps[-1]} of {horizon} steps: to "
            "sample more would take too long",
        )
    if oracle.outcome not in (Outcome.EXACT, Outcome.SOLVED):
        gap = oracle.average_gap
        rest = gap.upper - gap.lower
        words = f"loses at most {at_most(rest, 3)} more than the best one"
        notes.add(
            "planning-cut-short",
            f"the policy of the timeline {words if isfinite(rest) else 'is a guess'}: "
            f"planning {oracle.outcome.value}",
        )


def _steps(count: int) -> str:
    return "one step" if count == 1 else f"{count} steps"


def _pairs_are(count: int) -> str:
    return "one pair is" if count == 1 else f"{count} pairs are"
