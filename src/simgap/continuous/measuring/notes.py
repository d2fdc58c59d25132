"""What a reader of the numbers must know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.measuring.maps import SURE, Fit, dependent
from simgap.continuous.measuring.means import ENOUGH_SEEDS
from simgap.continuous.measuring.stopping import Open
from simgap.continuous.measuring.value import measured_return
from simgap.records.note import Note
from simgap.records.transfer import TransferPolicy
from simgap.statistics import RARE
from simgap.text import counted, duration, listed, number, percent


def notes_on(
    cube: Cube,
    points: DrawnPoints,
    look: int,
    policies: Sequence[TransferPolicy],
    fitted: Fit | Note,
    open_questions: Sequence[Open] = (),
    pace: float | None = None,
) -> Iterator[Note]:
    """Yield remarks on the numbers, those that can make them wrong first."""
    yield from _broken(cube, policies)
    yield from _seeds(policies)
    yield from _references(cube, policies)
    yield from _intervals(cube, points, policies)
    yield from (_undecided(cube, each, pace) for each in open_questions)
    if points.drawn is Drawn.CHOSEN:
        yield Note(
            "mean-of-chosen-points",
            "means are over the points that were chosen, not over the distribution",
        )
    if look:
        yield Note(
            "stopped-early",
            "what was met decided how many episodes were run; intervals "
            f"hold at {counted(look, 'look')} at once",
        )
    if isinstance(fitted, Note):
        yield fitted
        return
    if (pair := dependent(cube)) is not None:
        yield Note(
            "dependent-parameters",
            f"{pair[0]} and {pair[1]} go together; shares of the "
            "variance are those of independent parameters",
        )
    if fitted.explained < SURE:
        yield Note(
            "map-unsure",
            f"the map of {fitted.policy} explains "
            f"{percent(max(0.0, fitted.explained))} of the variance at points that it "
            "was not fitted to; more points would help",
        )


def _undecided(cube: Cube, found: Open, pace: float | None) -> Note:
    """Return what would decide, and how long it takes at so many seconds an episode."""
    _, seeds, points, episodes = cube.returns.shape
    policies = len(cube.policies) * seeds

    def told(what: str, more: float) -> str:
        if pace is None:
            return what
        return f"{what} ({duration(pace * policies * more)} more)"

    inside = int(cube.inside.sum())
    enough = told(
        counted(found.points, "point"), max(0, found.points - inside) * episodes
    )
    if found.episodes is not None:
        many = f"{counted(found.episodes, 'episode')} at each point"
        more = max(0, found.episodes - episodes) * points
        enough = f"{told(many, more)}, or {enough}"
    return Note(
        "undecided",
        f"whether {found.policy} loses more than the threshold on average is open; "
        f"about {enough} in all would decide",
    )


def _broken(cube: Cube, policies: Sequence[TransferPolicy]) -> Iterator[Note]:
    broke = f"{counted(len(cube.failures), 'episode')} broke"
    if cube.failures and cube.bounds:
        least = number(cube.bounds[0])
        yield Note(
            "broken-count-as-least", f"{broke}, counted as the least return, {least}"
        )
    elif cube.failures:
        yield Note(
            "broken-left-out",
            f"{broke} and are left out, as no bounds of a return are "
            "known: the means may be too good",
        )
    missing = max(len(cube.theta) - len(each.points) for each in policies)
    if missing:
        yield Note(
            "points-without-returns",
            f"{counted(missing, 'point')} of a policy have no "
            "return that counts and are left out",
        )


def _seeds(policies: Sequence[TransferPolicy]) -> Iterator[Note]:
    few = [each for each in policies if 1 < each.training_seeds < ENOUGH_SEEDS]
    if few:
        yield Note(
            "few-training-seeds",
            f"{listed([each.name for each in few])}: fewer than {ENOUGH_SEEDS} "
            "training seeds; intervals are about these very policies, another training "
            "may do otherwise",
        )


def _references(cube: Cube, policies: Sequence[TransferPolicy]) -> Iterator[Note]:
    if cube.references and not cube.paired:
        yield Note(
            "not-paired",
            "policies did not meet the same episodes, so that differences "
            "are less certain",
        )
    for each in policies:
        beaten = [p for p in each.points if p.gap is not None and p.gap.upper < 0.0]
        if beaten:
            yield Note(
                "reference-beaten",
                f"{each.name} gets more than every reference at "
                f"{counted(len(beaten), 'point')}: train the references longer, or add "
                "specialists",
            )


def _intervals(
    cube: Cube, points: DrawnPoints, policies: Sequence[TransferPolicy]
) -> Iterator[Note]:
    """Yield what intervals do not know, and what would make them narrower."""
    if cube.bounds is None:
        yield Note(
            "no-bounds", "no bounds of a return are known: no interval is guaranteed"
        )
    first = next((e for e in policies if not e.is_reference), policies[0])
    for what, mean in (("return", first.mean), ("loss", first.gap)):
        if mean is not None and mean.warning == RARE:
            yield Note(
                "rare-events",
                f"a few points have most of the spread of the {what} of {first.name}: "
                "its mean may be further away than its interval says; measure at more "
                "points",
            )
    if points.sampled:
        yield _missed(cube, points, first)
        if _between(cube, first.name, points):
            yield Note(
                "points-limit-mean",
                "most of the uncertainty of means is between points, "
                "not within: more points would make them narrower, more episodes not",
            )


def _missed(cube: Cube, points: DrawnPoints, policy: TransferPolicy) -> Note:
    """Return how much of nu no point may have met, and what it could cost."""
    count = int(cube.inside.sum())
    share = 1.0 - 0.05 ** (1.0 / count)
    cost = "; what it could cost is not known without bounds of a return"
    if cube.bounds is not None:
        most = share * max(0.0, policy.mean.estimate - cube.bounds[0])
        cost = f"; it could cost at most {number(most, 3)} of the mean return"
    return Note(
        "missed-region",
        f"a region of up to {number(100.0 * share, 2)} % of what is drawn may have "
        f"been missed by {counted(count, 'point')}{cost}",
    )


def _between(cube: Cube, policy: str, points: DrawnPoints) -> bool:
    """Return whether the noise of episodes is a small part of the spread of means."""
    given = measured_return(cube, policy, points)
    values = given.values[cube.inside & (given.counts > 1)]
    if len(values) < 2:
        return False
    noise = np.nanvar(values, axis=1) / np.isfinite(values).sum(axis=1)
    spread = float(np.nanstd(np.nanmean(values, axis=1)))
    return sqrt(float(noise.mean())) < 0.25 * spread
