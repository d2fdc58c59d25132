"""The record of `simgap audit`: findings and verdict in the user's units of reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from simgap.answers import Audit, Ladder, Transfer, WorstModel
    from simgap.intervals import Certified, Estimate
    from simgap.mdp import LatentMDP
    from simgap.records import Memory, Provenance
    from simgap.simulation import InSimulator


@final
@dataclass(frozen=True, slots=True)
class FindingAnswer:
    """One check: its name, how it came out, what that means."""

    check: str
    status: str  # ok, info, warning or fail
    text: str
    value: float | None


@final
@dataclass(frozen=True, slots=True)
class SeparationPair:
    """Assumption 2: the two models hardest to tell apart."""

    value: float | None  # delta, in [0, 2]; None: too many pairs to compare
    pair: tuple[int, int] | None
    pair_names: tuple[str, str] | None
    state: int | None  # None: nothing tells them apart
    action: int | None
    state_name: str | None
    action_name: str | None
    visits: int | None  # of the most telling place alone, for an error of 5 %
    steps: Certified | None  # of the best experiment, whole numbers


@final
@dataclass(frozen=True, slots=True)
class TheoremAnswer:
    """The tightest bound of the paper on the oracle's gap in any model."""

    name: str
    bound: float
    vacuous: bool
    non_vacuous_from: float | None


@final
@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """The model in which a policy loses the largest part of what is at stake there."""

    name: str
    gap: float
    relative: float


@final
@dataclass(frozen=True, slots=True)
class SimulatorAnswer:
    """What a policy earns in H steps, mean over the prior, in table and simulator."""

    policy: str
    table: Certified | Estimate  # what it earns there
    simulator: Estimate  # what it earns in the simulator itself
    episodes: int  # in the simulator
    fallbacks: float  # part of their steps in which the policy had no answer


@final
@dataclass(frozen=True, slots=True)
class RungAnswer:
    """What one grid of a ladder says."""

    cells: tuple[int, ...]  # nodes along every axis
    states: int
    noise: float  # of a step that the grid adds / its motion, along the worst axis
    average_gap: Certified | None
    at_stake: float
    verdict: str  # of the table
    in_simulator: tuple[SimulatorAnswer, ...]  # its policies in both


@final
@dataclass(frozen=True, slots=True)
class LadderAnswer:
    """Finer and finer grids, and why there is no further one."""

    outcome: str
    tolerance: float  # of what is at stake: within it the answer stands still
    rungs: tuple[RungAnswer, ...]  # from coarse to fine


@final
@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """The record of `simgap audit`."""

    schema: int
    kind: str
    horizon: int | None
    models: int
    states: int
    actions: int
    communicating: bool
    diameter: Certified
    separation: SeparationPair
    verdict: str
    headline: str
    reason: str
    verdict_certainty: str
    verdict_code: str | None  # why a grid leaves the verdict open
    everywhere: bool | None  # the policy of the verdict is acceptable in all models
    acceptable: float
    findings: tuple[FindingAnswer, ...]
    theorem: TheoremAnswer | None
    average_gap: Certified | None
    at_stake: float | None
    relative_gap: Certified | None
    worst: WorstAnswer | None
    rounding: float | None  # of a loss told as one number; null: not planned
    memoryless_gap: Certified | None
    relative_memoryless: Certified | None
    memoryless_worst: WorstAnswer | None
    memory: Memory | None
    value_of_memory: Certified | None
    outcome: str | None  # of planning
    in_simulator: tuple[SimulatorAnswer, ...]  # of a class on a grid
    ladder: LadderAnswer | None  # with --refine
    passed: bool  # the exit status is 0
    next: tuple[str, ...]
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


CERTAINTY = {
    "communicating": "exact",
    "everywhere": "certified",
    "diameter": "certified",
    "separation": "certified",  # for kernels as stored, to twelve digits
    "steps": "certified",
    "theorem": "certified",
    "average_gap": "certified",
    "at_stake": "certified",  # up to rounding
    "relative_gap": "certified",
    "worst": "certified",  # for the policy planned, up to rounding
    "memoryless_gap": "certified",
    "value_of_memory": "certified",
}


def audit_answer(
    latent: LatentMDP,
    found: Audit,
    *,
    command: str,
    model: str,
    seed: int,
    ladder: Ladder | None = None,
) -> AuditAnswer:
    """Return an audit as a record."""
    from simgap.answers import Verdict
    from simgap.records import SCHEMA, provenance

    simulators, lost = latent.simulators, found.transfer
    theorem = found.theory.theorem
    return AuditAnswer(
        schema=SCHEMA,
        kind="audit",
        horizon=found.horizon,
        models=len(simulators),
        states=simulators.n_states,
        actions=simulators.n_actions,
        communicating=found.ways_back.communicating,
        diameter=found.theory.diameter,
        separation=_separation(found),
        verdict=found.verdict.value,
        headline=found.words.headline,
        reason=found.words.reason,
        verdict_certainty=found.certainty,
        verdict_code=found.code,
        everywhere=None
        if found.transfer is None or found.verdict is Verdict.GRID_TOO_COARSE
        else found.transfer.everywhere(found.settings.acceptable),
        acceptable=found.settings.acceptable,
        findings=tuple(
            FindingAnswer(each.check, each.status.value, each.text, each.value)
            for each in found.findings
        ),
        theorem=None
        if theorem is None
        else TheoremAnswer(
            theorem.name,
            theorem.bound,
            theorem.vacuous,
            theorem.non_vacuous_from,
        ),
        average_gap=None if lost is None else lost.average_gap,
        at_stake=_stake(lost),
        relative_gap=None if lost is None else lost.relative_gap,
        worst=_worst(latent, lost and lost.worst),
        rounding=None if lost is None else lost.rounding,
        memoryless_gap=None if lost is None else lost.memoryless_gap,
        relative_memoryless=None if lost is None else lost.relative_memoryless,
        memoryless_worst=_worst(latent, lost and lost.memoryless_worst),
        memory=None if lost is None else lost.memory(found.settings.acceptable),
        value_of_memory=None if lost is None else lost.value_of_memory,
        outcome=None if lost is None or lost.outcome is None else lost.outcome.value,
        in_simulator=() if lost is None else simulator_answers(lost.in_simulator),
        ladder=None if ladder is None else _ladder(ladder),
        passed=not found.failed,
        next=_next(latent, found, model, refined=ladder is not None),
        certainty=CERTAINTY,
        notes=(*simulators.notes, *found.theory.notes),
        provenance=provenance(command=command, model=model, latent=latent, seed=seed),
    )


def simulator_answers(
    found: tuple[InSimulator, ...],
) -> tuple[SimulatorAnswer, ...]:
    """Return what policies earn in the simulator, for a record."""
    return tuple(
        SimulatorAnswer(
            each.policy, each.table, each.simulator, each.episodes, each.fallbacks
        )
        for each in found
    )


def _ladder(found: Ladder) -> LadderAnswer:
    return LadderAnswer(
        outcome=found.end.value,
        tolerance=found.settings.tolerance,
        rungs=tuple(
            RungAnswer(
                cells=each.cells,
                states=each.states,
                noise=each.noise,
                average_gap=each.average_gap,
                at_stake=each.at_stake,
                verdict=each.verdict.value,
                in_simulator=simulator_answers(each.in_simulator),
            )
            for each in found.rungs
        ),
    )


def _separation(found: Audit) -> SeparationPair:
    apart, models = found.apart, found.models
    pair, labels = apart.nearest, models.simulators.labels
    if pair is None:
        return SeparationPair(apart.value, *[None] * 8)
    first, second = pair.first, pair.second
    return SeparationPair(
        value=apart.value,
        pair=(int(models.index[first]), int(models.index[second])),
        pair_names=(models.names[first], models.names[second]),
        state=pair.state,
        action=pair.action,
        state_name=None if pair.state is None else labels.state(pair.state),
        action_name=None if pair.action is None else labels.action(pair.action),
        visits=None if apart.experiment is None else apart.experiment.visits,
        steps=None if apart.experiment is None else apart.experiment.steps,
    )


def _stake(lost: Transfer | None) -> float | None:
    if lost is None or lost.stakes is None:
        return None
    return lost.stakes.average.upper


def _worst(latent: LatentMDP, worst: WorstModel | None) -> WorstAnswer | None:
    if worst is None:
        return None
    return WorstAnswer(
        name=latent.simulators.model_names[worst.member],
        gap=worst.gap,
        relative=worst.relative,
    )


def _next(
    latent: LatentMDP, found: Audit, model: str, *, refined: bool
) -> tuple[str, ...]:
    """Return the commands that carry on from the verdict."""
    from shlex import quote

    import numpy as np

    from simgap.answers import Verdict
    from simgap.instances import simulator_of

    name, theta = quote(model), latent.simulators.theta
    if found.horizon is None:
        return (f"simgap audit {name} -H 200",)
    steps = f"-H {found.horizon}"
    if found.verdict is Verdict.GRID_TOO_COARSE:
        if simulator_of(latent.simulators) is None:
            return ()  # a file has the table alone
        more = f" --time-limit {6 * found.settings.time_limit:g}" if refined else ""
        return (f"simgap audit {name} {steps} --refine{more}",)
    if found.verdict is Verdict.UNDECIDED:
        longer = 6 * found.settings.time_limit
        return (f"simgap audit {name} {steps} --time-limit {longer:g}",)
    varied = [n for n, v in zip(theta.names, theta.values.T, strict=True) if np.ptp(v)]
    commands = [f"simgap gap {name} {steps}"]
    if len(found.models.names) > 1:
        commands.append(f"simgap identify {name} {steps}")
    if varied:
        commands.append(f"simgap blame {name} {steps}")
        commands.append(f"simgap width {name} {steps} --param {quote(varied[0])}")
    return tuple(commands)
