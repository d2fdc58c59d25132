"""Will it transfer? The paper's assumptions checked on a class, and a verdict.

Every assumption becomes a finding in plain words. With a horizon the verdict rests on
certified losses, which need no assumption: one that fails is then a warning. Without a
horizon it rests on the theorems, and an assumption that fails voids it.

Is the class dense enough? Assumption 3 on a grid of parameters.

The real parameters lie between those that were simulated. If losses change smoothly
from one model to its neighbour, they do not change much in between either; where they
jump, the grid is too coarse to say. The distance of two models is that of their
parameters, each in units of its range.
"""

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
from simgap.answers.audit.theory import Theory, theory
from simgap.answers.audit.verdict import BAD, Judgement, verdict_in_the_long_run
from simgap.answers.audit.ways_back import WaysBack, ways_back, ways_back_finding
from simgap.answers.audit.words import (
    judged_in_steps,
    judged_in_the_long_run,
    judged_one_model,
)
from simgap.answers.model import Model, NamedModel, named_model
from simgap.answers.planned_class import PlannedClass, Tell
from simgap.answers.time_limits import whole_time
from simgap.answers.weighted_models import WeightedModels, weighted_models
from simgap.arrays import FloatArray
from simgap.complexity import ParameterDistance, lipschitz, model_distances
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome
from simgap.planning import checked_horizon
from simgap.records.audit import Audit, Finding, Status, Verdict
from simgap.records.note import class_notes
from simgap.records.provenance import Certainty, provenance
from simgap.text import SHORT, listed, number, percent, shown

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
MOST_MODELS = 4096  # a matrix of all distances
CHECK = "smoothness"


def audit(
    model: Model,
    horizon: int | None = None,
    *,
    acceptable: float = 0.1,
    time_limit: float = 20.0,
    thorough: bool = False,
    seed: int = 0,
    planned: PlannedClass | None = None,
    progress: Tell | None = None,
) -> Audit:
    """Return whether a policy trained on all models will transfer, and every check.

    With a horizon the verdict is "yes" if a policy without memory loses at most the
    part `acceptable` of what random actions lose, "with memory" if one with memory
    does, "no" if even the best one loses more; planning stops after `time_limit`
    seconds. Without a horizon it says what holds in the long run.

    `thorough` measures what takes long in large classes, and only planning has a limit
    then. `seed` is that of everything sampled. What is `planned` of the class already,
    at this horizon, is not planned again, and `progress` is called with a few words
    about how far it is.

    >>> from simgap import audit
    >>> audit("riverswim?states=4&success=0.3:0.7:3", 8).verdict
    'yes'
    """
    given = named_model(model)
    _check(horizon, acceptable, time_limit)
    settings = Settings(acceptable, time_limit, seed, thorough)
    with time_limited(inf if thorough else whole_time(time_limit)):
        return _audited(given, horizon, settings, planned, progress)


def _check(horizon: int | None, acceptable: float, time_limit: float) -> None:
    if not 0.0 < acceptable < 1.0:
        raise InvalidArgument(
            f"an acceptable loss of {acceptable!r}",
            hint="it is a part of what random actions lose, above 0 and below 1: 0.1",
        )
    if not time_limit > 0.0:
        raise InvalidArgument(
            f"a time limit of {time_limit!r}", hint="seconds, above 0"
        )
    if horizon is not None and checked_horizon(horizon) < 1:
        raise InvalidArgument(
            f"a horizon of {horizon}", hint="one step or more, or None for the long run"
        )


def _audited(
    given: NamedModel,
    horizon: int | None,
    settings: Settings,
    planned: PlannedClass | None,
    progress: Tell | None,
) -> Audit:
    """Return every check, what is lost, and the verdict.

    The verdict is about the simulator behind the table, if there is one.
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
    judged = _judged(latent, models, back, apart, lost, accepted)
    if apart.different > 1:
        judged = on_this_grid(judged, models.simulators, lost, accepted)
    findings = (
        *grid_findings(models.simulators),
        *_findings(latent, models, back, apart, known, lost, accepted),
    )
    return Audit(
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
        passed=judged.verdict not in BAD
        and all(each.status != "fail" for each in findings),
        next=_next_commands(given, horizon, judged.verdict, settings),
        certainty=CERTAINTY,
        notes=(*class_notes(latent.simulators.notes), *known.notes),
        provenance=provenance(
            command="", model=given.name, latent=latent, seed=settings.seed
        ),
    )


def _next_commands(
    given: NamedModel, horizon: int | None, verdict: Verdict, settings: Settings
) -> tuple[str, ...]:
    """Return the commands that carry on from a verdict."""
    simulators, name = given.latent.simulators, quote(given.name)
    if horizon is None:
        return (f"simgap audit {name} -H 200",)
    steps = f"-H {horizon}"
    if verdict == "undecided: grid too coarse":
        return ()
    if verdict == "undecided":
        longer = f"--time-limit {LONGER * settings.time_limit:g}"
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


def smoothness_finding(
    models: WeightedModels,
    gaps: FloatArray | None,
    *,
    stake: float | None,
    acceptable: float,
) -> Finding:
    """Return how losses change between neighbouring models (Assumption 3).

    `gaps` (K,) are those of the planned policy, `stake` what acting at random loses on
    average; both None without a horizon.
    """
    theta = models.simulators.theta
    if not theta.names or not np.ptp(theta.values, axis=0).any():
        text = "does not apply: the class is a list of models without parameters"
        return Finding(CHECK, "no-parameters", "info", text)
    varied = [n for n, v in zip(theta.names, theta.values.T, strict=True) if np.ptp(v)]
    if gaps is None or stake is None:
        text = f"how losses change over {listed(varied)} is known with a horizon (-H)"
        return Finding(CHECK, "needs-horizon", "info", text)
    if len(gaps) > MOST_MODELS:
        text = f"not measured: {len(gaps)} models make too many pairs"
        return Finding(CHECK, "not-measured", "info", text)
    distances = model_distances(models.simulators, ParameterDistance())
    slope = lipschitz(distances, gaps).constant
    apart = np.where(np.eye(len(gaps), dtype=bool), np.inf, distances.matrix)
    near = apart.argmin(axis=1)
    jumps = np.abs(gaps - gaps[near])
    at = int(np.argmax(jumps))
    if stake <= 0.0:
        text = "random actions lose nothing"
        return Finding(CHECK, "nothing-at-stake", "ok", text, 0.0)
    jump = float(jumps[at]) / stake
    first, second = (shown(models.names[m], SHORT) for m in (at, int(near[at])))
    text = (
        f"from one model to its neighbour over {listed(varied)} the loss changes by at "
        f"most {percent(jump)} of what random actions lose"
    )
    if jump > acceptable:
        text += (
            f" (between {first} and {second}): what happens between these two is not "
            "known, add models between them"
        )
        return Finding(CHECK, "jumps", "warning", text, jump)
    text += f"; Lipschitz constant {number(slope, 3)} per whole range"
    return Finding(CHECK, "smooth", "ok", text, jump)
