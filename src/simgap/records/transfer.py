"""Does it transfer? The record of `simgap transfer`, in the user's units of reward.

Everything here is estimated from episodes, but for the optimum of a grid. A gap is
measured against the best policy at hand at that point, and a better one may exist: the
true gap is *at least* that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import bracket, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPoint:
    """One policy at one value of the parameters."""

    theta: dict[str, float]  # as drawn: a factor stays a factor
    inside: bool  # False: beyond the range that is randomized
    episodes: int  # that count, over all training seeds
    broken: int  # episodes that broke
    success: Estimate | None  # chance of success, where the simulator reports it
    gap: Estimate | None  # lost against the best reference at this point, at least
    reference: str | None  # that reference
    returned: Estimate  # the mean return of an episode
    grid_optimum: Certified | None = None  # of the table that the reference plans in
    grid_value: Interval | None = None  # what the policy earns in that table


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPoint:
    """The point with the least return, without the luck of having been chosen."""

    theta: dict[str, float]  # where: chosen on one half of the episodes
    estimate: float  # measured on the other half
    lower: float
    upper: float
    confidence: float
    label: Literal["guaranteed", "approximate"]  # guaranteed: by theorem
    method: str  # how the interval was made


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LossRegion:
    """Where a policy loses more than a threshold."""

    threshold: float  # a loss that matters, in units of reward
    certain: float  # share of the points, by weight, where more is certainly lost
    possible: float  # share of the points where more may be lost
    confidence: float  # that both hold at all measured points at once
    ranges: dict[str, tuple[float, float]]  # the box that holds the certain points


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OnGridMeans:
    """A policy in the tables of a grid and in the simulator, mean over the points.

    lost + grid = optimum less the return in the simulator: what the policy loses in a
    world whose optimum is known, and what a grid in place of the simulator changes.
    """

    optimum: Certified  # of the tables
    value: Interval  # what the policy earns in them: certified, or sampled
    lost: Interval  # optimum less value
    grid: Estimate  # value less the return in the simulator, at these points


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPolicy:
    """What was measured of one policy."""

    name: str
    is_reference: bool  # losses are measured against it
    training_seeds: int  # how many trainings of it were measured
    mean: Estimate  # over nu
    beyond: Estimate | None  # mean over the points beyond the range
    worst: WorstPoint
    success: Estimate | None  # chance of success, mean over nu
    gap: Estimate | None  # mean over nu of what is lost against the best reference
    worst_gap: WorstPoint | None  # where most is lost against the best reference
    region: LossRegion | None  # where more is lost than matters
    broken: int  # episodes that broke
    points: tuple[TransferPoint, ...]  # in the order of the design
    on_grid: OnGridMeans | None = None  # in the tables of a reference grid

    @property
    def line(self) -> str:
        """Return the policy in a line: mean, worst point, what is lost."""
        where = " ".join(f"{k}={number(v, 3)}" for k, v in self.worst.theta.items())
        lost = "" if self.gap is None else f", loses {bracket(self.gap, 4)}"
        return (
            f"{self.name}: {bracket(self.mean, 4)}, worst "
            f"{number(self.worst.estimate, 4)} at {where or 'nominal'}{lost}"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceShare:
    """What part of the variance of the loss over nu goes with a parameter."""

    name: str  # "mass", or "mass x length" for what only both together explain
    share: Estimate  # first order: what knowing it alone would explain
    total: Estimate | None  # with everything it does together with others

    @property
    def line(self) -> str:
        """Return the parameter in a line."""
        return f"{self.name}: {bracket(self.share, 2)} of the variance"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LossMap:
    """A smooth map of the loss, fitted to the points: for looking, not for claims.

    The loss is the gap where there is a reference, else how far the return lies below
    the best mean return of a point. `error` is what the map is typically off at a point
    that it was not fitted to, in units of reward.
    """

    policy: str  # whose loss
    loss_is: Literal["gap", "return below the best point"]  # what it is a map of
    parameters: tuple[str, ...]  # the axes, the one that matters most first
    axes: tuple[tuple[float, ...], ...]  # values along each axis
    loss: tuple[float, ...]  # over the grid of the axes, the last one fastest
    error: float  # typical, at points that it was not fitted to
    sure: bool  # False: the map explains less than half of the variance


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a way of training is worth: one policy less another, mean over nu."""

    what: Literal["memory", "information", "randomization", "sampler"]  # compared
    policy: str  # with it
    against: str  # without it
    value: Estimate  # another training would do: episodes and training seeds vary
    evaluation: Estimate  # of these very policies: only episodes vary
    seed_spread: float | None  # standard deviation of a training's mean; None: one seed
    trainings: tuple[int, int]  # of each
    worst: Estimate  # with it, at the worst point of each training, mean over trainings
    worst_against: Estimate  # and without it

    @property
    def line(self) -> str:
        """Return the worth in a line."""
        return (
            f"{self.what}: {bracket(self.value, 4)} ({self.policy} less "
            f"{self.against}); worst point {number(self.worst.estimate, 4)} against "
            f"{number(self.worst_against.estimate, 4)}"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenEpisode:
    """An episode that broke, where, and why."""

    policy: str  # which one acted
    theta: dict[str, float]  # as drawn
    training_seed: int  # which training of the policy, from 0 on
    episode: int  # its number at this point, from 0 on
    step: int  # from 0 on
    code: str  # for instance "action-not-finite"
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transfer(Record):
    """Returns and losses of policies over the parameters of a simulator."""

    schema: int = SCHEMA
    kind: str = "transfer"
    simulator: str  # empty: a table of returns was brought
    randomize: str  # nu, in the grammar of --randomize
    horizon: int | None
    design: str  # how the points were chosen
    episodes: int  # measured in all
    steps: int | None  # of the simulator, in all
    paired: bool  # policies met the same starts and noise
    bounds: tuple[float, float] | None  # what a return certainly lies between
    policies: tuple[TransferPolicy, ...]
    references: tuple[str, ...]  # what losses are measured against
    parameters: tuple[VarianceShare, ...]  # of the first policy that is no reference
    pairs: tuple[VarianceShare, ...]  # what only two together explain
    maps: tuple[LossMap, ...]  # one of each policy that is no reference
    value_of_memory: Estimate | None  # a policy with memory less one without
    worths: tuple[Worth, ...] = ()  # of memory, information and randomization
    failures: tuple[BrokenEpisode, ...]  # all episodes that broke
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
