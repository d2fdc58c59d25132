"""Does it transfer? The record of `simgap transfer`, in the user's units of reward.

Everything here is estimated from episodes. A gap is measured against the best policy at
hand at that point, and a better one may exist: the true gap is *at least* that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Estimate, Guaranteed
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import bracket, means, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPoint:
    """One policy at one value of the parameters."""

    theta: Annotated[dict[str, float], means("as drawn: a factor stays a factor")]
    inside: Annotated[bool, means("False: beyond the range that is randomized")]
    episodes: Annotated[int, means("that count, over all training seeds")]
    broken: Annotated[int, means("episodes that broke")]
    success: Annotated[Estimate | None, means("chance of it, if it is reported")]
    gap: Annotated[Estimate | None, means("at least, against the best reference here")]
    reference: str | None
    returned: Annotated[Estimate, means("the mean return of an episode")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPoint:
    """The point with the least return, without the luck of having been chosen."""

    theta: Annotated[dict[str, float], means("chosen on one half of the episodes")]
    estimate: Annotated[float, means("measured on the other half")]
    lower: float
    upper: float
    confidence: Annotated[float, means("with which the interval holds the truth")]
    method: Annotated[str, means("how the interval was made")]
    guaranteed: Annotated[
        Guaranteed | None, means("ends that hold by theorem; null: none are known")
    ]

    @property
    def number(self) -> Estimate:
        """Return the number with its intervals."""
        return Estimate(
            self.estimate,
            self.lower,
            self.upper,
            self.confidence,
            self.method,
            guaranteed=self.guaranteed,
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LossRegion:
    """Where a policy loses more than a threshold."""

    threshold: Annotated[float, means("a loss that matters, in units of reward")]
    certain: Annotated[float, means("share of the points where more is lost")]
    possible: Annotated[float, means("share of the points where more may be lost")]
    confidence: Annotated[float, means("that both hold at all measured points at once")]
    ranges: Annotated[
        dict[str, tuple[float, float]], means("box of the certain points")
    ]


VerdictCode = Literal[
    "transfers",
    "transfers-on-average",
    "on-average-only",
    "fails-in-places",
    "fails",
    "undecided",
    "partly-compared",
    "no-useful-reference",
    "no-baseline",
    "no-nominal",
    "nominal-no-better",
    "no-drop-seen",
    "drops-in-places",
    "drops",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TransferVerdict:
    """Whether a policy transfers: what it loses as a share of what a baseline loses.

    0 is the reference, 1 is the baseline, which is random actions unless another policy
    is named. Without a reference it is the drop from the nominal parameters.
    """

    code: Annotated[VerdictCode, means("see docs/real-simulators.md")]
    text: str
    normalized_loss: Annotated[Estimate | None, means("mean over nu; null: not known")]
    worst_normalized_loss: Annotated[
        Estimate | None, means("loss at the worst point, in the same unit")
    ]
    drop: Annotated[
        Estimate | None,
        means("without a reference: lost of the nominal return above the baseline"),
    ]
    worst_drop: Annotated[Estimate | None, means("the same at the worst point")]
    tolerance: Annotated[float | None, means("a normalized loss that matters")]
    acceptable: Annotated[
        Estimate | None, means("share of nu where no more than the threshold is lost")
    ]
    success: Annotated[Estimate | None, means("chance of success, mean over nu")]
    reference: Annotated[str | None, means("losses are measured against it")]
    baseline: Annotated[str | None, means("null: none was measured")]
    compared: Annotated[float, means("share of nu where all of them were measured")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPolicy:
    """What was measured of one policy."""

    name: str
    is_reference: Annotated[bool, means("losses are measured against it")]
    training_seeds: Annotated[int, means("how many trainings of it were measured")]
    mean: Annotated[Estimate, means("over nu")]
    beyond: Annotated[Estimate | None, means("mean over the points beyond the range")]
    worst: WorstPoint
    success: Annotated[Estimate | None, means("chance of success, mean over nu")]
    gap: Annotated[Estimate | None, means("mean over nu, against the best reference")]
    worst_gap: Annotated[WorstPoint | None, means("against the best reference")]
    region: Annotated[LossRegion | None, means("where more is lost than matters")]
    verdict: Annotated[TransferVerdict | None, means("null: it is a reference")] = None
    broken: Annotated[int, means("episodes that broke")]
    points: Annotated[tuple[TransferPoint, ...], means("in the order of the design")]

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

    name: Annotated[str, means('"mass"; "mass x length": only both together')]
    share: Annotated[Estimate, means("first order: of knowing it alone")]
    total: Annotated[Estimate | None, means("together with others as well")]

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

    policy: str
    loss_is: Literal["gap", "return below the best point"]
    parameters: Annotated[tuple[str, ...], means("axes, the most important first")]
    axes: Annotated[tuple[tuple[float, ...], ...], means("values along each axis")]
    loss: Annotated[tuple[float, ...], means("over the axes, the last one fastest")]
    error: Annotated[float, means("typical, at points that it was not fitted to")]
    sure: Annotated[bool, means("it explains half of the variance or more")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a way of training is worth: one policy less another, mean over nu."""

    what: Literal["memory", "information", "randomization"]
    policy: Annotated[str, means("with it")]
    against: Annotated[str, means("without it")]
    value: Annotated[Estimate, means("over trainings and episodes")]
    evaluation: Annotated[Estimate, means("of these very policies: over episodes")]
    seed_spread: Annotated[
        float | None, means("deviation over trainings; null: 1 seed")
    ]
    trainings: Annotated[tuple[int, int], means("of each")]
    worst: Annotated[
        Estimate, means("with it, at the worst point, mean over trainings")
    ]
    worst_against: Annotated[Estimate, means("and without it")]

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

    policy: Annotated[str, means("which one acted")]
    theta: Annotated[dict[str, float], means("as drawn")]
    training_seed: Annotated[int, means("which training of the policy, from 0 on")]
    episode: Annotated[int, means("its number at this point, from 0 on")]
    step: Annotated[int, means("from 0 on")]
    code: Annotated[str, means('for instance "action-not-finite"')]
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transfer(Record):
    """Returns and losses of policies over the parameters of a simulator."""

    schema: int = SCHEMA
    kind: str = "transfer"
    simulator: Annotated[str, means("empty: a table of returns was brought")]
    randomize: Annotated[str, means("nu, in the grammar of --randomize")]
    horizon: int | None
    design: Annotated[str, means("how the points were chosen")]
    episodes: Annotated[int, means("of the policies and references")]
    steps: Annotated[int | None, means("of the simulator, those of the baseline too")]
    paired: Annotated[bool, means("policies met the same starts and noise")]
    bounds: Annotated[tuple[float, float] | None, means("certain ends of a return")]
    policies: tuple[TransferPolicy, ...]
    verdict: Annotated[
        TransferVerdict | None, means("on the first policy; others that fail are named")
    ] = None
    references: Annotated[tuple[str, ...], means("what losses are measured against")]
    parameters: Annotated[tuple[VarianceShare, ...], means("of the first policy")]
    pairs: Annotated[tuple[VarianceShare, ...], means("what only two together explain")]
    maps: Annotated[tuple[LossMap, ...], means("one per policy that is no reference")]
    value_of_memory: Annotated[Estimate | None, means("with memory less without")]
    worths: Annotated[tuple[Worth, ...], means("of ways of training")] = ()
    failures: Annotated[tuple[BrokenEpisode, ...], means("all episodes that broke")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance

    @property
    def main_policy(self) -> TransferPolicy | None:
        """Return what the verdict is about: the first that is no reference.

        The baseline is one only if nothing else was measured.
        """
        mine = [each for each in self.policies if not each.is_reference]
        about = "" if self.verdict is None else self.verdict.baseline
        others = [each for each in mine if each.name != about]
        return next(iter(others or mine or self.policies), None)
