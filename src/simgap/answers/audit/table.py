"""The audit of one table: every check, what is lost, the verdict, as one record."""

from __future__ import annotations

from math import inf
from shlex import quote

import numpy as np

from simgap._kernels.time_limit import time_limited
from simgap.answers.audit.grid import grid_findings, on_this_grid
from simgap.answers.audit.losses import Losses, Settings, losses_in_steps
from simgap.answers.audit.numbers import conditioning_finding, number_findings
from simgap.answers.audit.separation import (
    Apart,
    look_alikes_finding,
    models_apart,
    separation_finding,
)
from simgap.answers.audit.smoothness import smoothness_finding
from simgap.answers.audit.theory import Theory, theory
from simgap.answers.audit.verdict import BAD, Judgement, verdict_in_the_long_run
from simgap.answers.audit.ways_back import WaysBack, ways_back, ways_back_finding
from simgap.answers.audit.words import (
    judged_in_steps,
    judged_in_the_long_run,
    judged_one_model,
)
from simgap.answers.model import NamedModel
from simgap.answers.planned_class import PlannedClass, Tell
from simgap.answers.weighted_models import WeightedModels, weighted_models
from simgap.instances import simulator_of
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome
from simgap.records import (
    Audit,
    Certainty,
    Finding,
    Status,
    Verdict,
    class_notes,
    provenance,
)

LONGER = 6  # times as long a limit, if the verdict is left open
FOR_THEORY = 0.5  # of the time limit
CERTAINTY: dict[str, Certainty] = {
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


def audited_table(
    given: NamedModel,
    horizon: int | None,
    settings: Settings,
    *,
    planned: PlannedClass | None = None,
    progress: Tell | None = None,
) -> tuple[Audit, Verdict]:
    """Return the record of a class, and the verdict of its table.

    The verdict of the record is about the simulator behind the table, if there is one.
    """
    latent, accepted = given.latent, settings.acceptable
    models = weighted_models(latent)
    back = ways_back(models.simulators)
    apart = models_apart(models, back)
    with time_limited(inf if settings.thorough else FOR_THEORY * settings.time_limit):
        known = theory(
            latent, models, back, apart, horizon=horizon, thorough=settings.thorough
        )
    lost = Losses()
    if horizon is not None:
        lost = losses_in_steps(
            latent,
            horizon,
            settings,
            promised=known.promised,
            planned=planned,
            progress=progress,
        )
    table = _judged(latent, models, back, apart, lost, accepted)
    judged = table
    if apart.different > 1:
        judged = on_this_grid(table, models.simulators, lost, accepted)
    findings = (
        *grid_findings(models.simulators),
        *_findings(latent, models, back, apart, known, lost, accepted),
    )
    found = Audit(
        horizon=horizon,
        models=len(latent.simulators),
        states=latent.simulators.n_states,
        actions=latent.simulators.n_actions,
        communicating=back.communicating,
        diameter=known.diameter,
        separation=apart.hardest(models),
        verdict=judged.verdict,
        headline=judged.headline,
        reason=judged.reason,
        verdict_certainty=_certainty(latent, horizon, apart),
        verdict_code=judged.code,
        everywhere=lost.everywhere(judged.verdict, accepted),
        acceptable=accepted,
        findings=findings,
        theorem=known.theorem,
        average_gap=lost.average_gap,
        at_stake=None if lost.stakes is None else lost.stakes.average.upper,
        relative_gap=lost.part(lost.average_gap),
        worst=lost.worst,
        rounding=lost.rounding,
        memoryless_gap=lost.memoryless_gap,
        relative_memoryless=lost.part(lost.memoryless_gap),
        memoryless_worst=lost.memoryless_worst,
        memory=lost.memory(accepted),
        value_of_memory=lost.value_of_memory,
        outcome=None if lost.outcome is None else lost.outcome.value,
        in_simulator=lost.in_simulator,
        ladder=None,
        passed=judged.verdict not in BAD
        and all(each.status != "fail" for each in findings),
        next=next_commands(given, horizon, judged.verdict, settings),
        certainty=CERTAINTY,
        notes=(*class_notes(latent.simulators.notes), *known.notes),
        provenance=provenance(
            command="", model=given.name, latent=latent, seed=settings.seed
        ),
    )
    return found, table.verdict


def next_commands(
    given: NamedModel,
    horizon: int | None,
    verdict: Verdict,
    settings: Settings,
    *,
    refined: bool = False,
) -> tuple[str, ...]:
    """Return the commands that carry on from a verdict."""
    simulators, name = given.latent.simulators, quote(given.name)
    if horizon is None:
        return (f"simgap audit {name} -H 200",)
    steps = f"-H {horizon}"
    longer = f"--time-limit {LONGER * settings.time_limit:g}"
    if verdict == "undecided: grid too coarse":
        if simulator_of(simulators) is None:
            return ()  # a file has the table alone
        more = f" {longer}" if refined else ""
        return (f"simgap audit {name} {steps} --refine{more}",)
    if verdict == "undecided":
        return (f"simgap audit {name} {steps} {longer}",)
    theta = simulators.theta
    varied = [n for n, v in zip(theta.names, theta.values.T, strict=True) if np.ptp(v)]
    commands = [f"simgap gap {name} {steps}"]
    if int((given.latent.prior > 0.0).sum()) > 1:
        commands.append(f"simgap identify {name} {steps}")
    if varied:
        commands.append(f"simgap blame {name} {steps}")
        commands.append(f"simgap width {name} {steps} --param {quote(varied[0])}")
    return tuple(commands)


def _judged(
    latent: LatentMDP,
    models: WeightedModels,
    back: WaysBack,
    apart: Apart,
    lost: Losses,
    acceptable: float,
) -> Judgement:
    """Return the verdict of the table in words."""
    if apart.different == 1:  # whatever rounding makes of it
        return judged_one_model()
    if lost.horizon is not None:
        return judged_in_steps(latent, lost, back, acceptable)
    verdict = verdict_in_the_long_run(
        ways_back=back.sound, loss_per_step=apart.loss_per_step
    )
    return judged_in_the_long_run(verdict, models, back, apart)


def _certainty(latent: LatentMDP, horizon: int | None, apart: Apart) -> Certainty:
    """Return how sure a verdict is; graphs and equal numbers are exact."""
    proved = horizon is not None or apart.confused or latent.on_grid is not None
    return latent.certified if proved else "exact"


def _findings(
    latent: LatentMDP,
    models: WeightedModels,
    back: WaysBack,
    apart: Apart,
    known: Theory,
    lost: Losses,
    acceptable: float,
) -> tuple[Finding, ...]:
    stake = None if lost.stakes is None else lost.stakes.average.lower
    gaps = None if lost.gaps is None else lost.gaps[models.index]
    rounding = None
    if lost.rounding is not None and stake:
        rounding = lost.rounding / stake
    return (
        *number_findings(latent),
        ways_back_finding(models.simulators, back, horizon=lost.horizon),
        known.trip,
        separation_finding(models, apart, lost.horizon),
        look_alikes_finding(models, apart, lost.horizon),
        smoothness_finding(models, gaps, stake=stake, acceptable=acceptable),
        known.finding,
        *_planning(models, lost),
        conditioning_finding(
            models.simulators,
            spans=None if known.facts is None else known.facts.spans,
            residual=0.0 if known.facts is None else known.facts.residual,
            rounding=rounding,
        ),
    )


def _planning(models: WeightedModels, lost: Losses) -> tuple[Finding, ...]:
    """Return why planning stopped, if there was any."""
    if lost.horizon is None:
        return ()
    if lost.outcome is None:
        text = (
            f"not planned: {lost.horizon} steps are too many for this class; losses "
            "are bounded by theory and by what random actions lose"
        )
        return (Finding("planning", "not-planned", "info", text),)
    done = lost.outcome in (Outcome.EXACT, Outcome.SOLVED)
    text, code = lost.outcome.value, "solved" if done else "stopped-early"
    if not done:
        text += ": the bracket is valid but wider than asked"
    if lost.planned < len(models.names):
        code = "in-part" if done else code
        text += (
            f"; planned for {lost.planned} of {len(models.names)} models, evaluated in "
            "all of them (--thorough plans for all)"
        )
    status: Status = "ok" if done else "warning"
    return (Finding("planning", code, status, text, float(lost.planned)),)
