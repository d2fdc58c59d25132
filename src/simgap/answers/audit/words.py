"""The verdict in words: a headline and the reason, compared with random actions."""

from __future__ import annotations

from simgap.answers.audit.losses import Losses
from simgap.answers.audit.separation import Apart
from simgap.answers.audit.verdict import Judgement, memory_is_needed
from simgap.answers.audit.ways_back import WaysBack
from simgap.answers.weighted_models import WeightedModels
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome
from simgap.records.audit import Verdict, WorstModel
from simgap.text import (
    NOISE,
    ends,
    listed,
    model_named,
    number,
    percent,
    percent_at_least,
    percent_at_most,
)

RARE = 0.01  # a probability below which a model is said to be unlikely
AT_STAKE = "what random actions lose"
OF = f" of {AT_STAKE}"


def judged_in_steps(
    latent: LatentMDP, lost: Losses, back: WaysBack, acceptable: float
) -> Judgement:
    """Return the verdict at a horizon in words."""
    part, without = lost.part(lost.average_gap), lost.part(lost.memoryless_gap)
    if part is None or without is None:
        return _nothing_to_compare(lost)
    accepted = percent(acceptable)
    if lost.verdict == "yes":
        return _yes(latent, lost, without, acceptable)
    if lost.verdict == "with memory":
        return _with_memory(latent, lost, part, without, acceptable)
    if lost.verdict == "no":
        headline = (
            "No: on average even the best policy with memory loses at least "
            f"{percent_at_least(part.lower)} of {AT_STAKE}, more than the acceptable "
            f"{accepted}."
        )
        why = (
            f"In {lost.horizon} steps the models are not told apart soon enough, or "
            "finding out costs too much."
            if back.sound
            else "Finding out which model is real takes moves that cannot be undone, "
            "or more steps than there are."
        )
        most = _worst(latent, lost.worst, acceptable, "The policy found")
        return Judgement(lost.verdict, headline, f"{why} {most}".strip())
    headline = (
        f"Undecided: on average the best policy with memory loses {_between(part)} of "
        f"{AT_STAKE}, and the acceptable loss, {accepted}, is in between."
    )
    stopped = (
        "Nothing was planned, the episode is too long for this class."
        if lost.outcome is None
        else f"Planning {lost.outcome.value}."
        if lost.outcome is not Outcome.SOLVED
        else "The bracket is narrow; the loss is about as large as the acceptable one."
    )
    return Judgement(lost.verdict, headline, f"{stopped} {_narrower(latent, lost)}")


def judged_one_model() -> Judgement:
    """Return what there is to say where nothing is hidden."""
    return Judgement(
        "yes",
        "Yes, trivially: there is one model, so that nothing is hidden.",
        "To ask about transfer give several models: several values of a parameter, "
        "such as 'riverswim?success=0.2:0.5:4', or several in the file.",
    )


def _yes(
    latent: LatentMDP, lost: Losses, without: Certified, acceptable: float
) -> Judgement:
    chosen = lost.part(lost.without_memory) or without
    headline = (
        "Yes, and without memory: on average a policy that sees only the state "
        f"and the step loses {_at_most(chosen.upper, OF)}."
    )
    reason = _worst(latent, lost.memoryless_worst, acceptable, "But it")
    if not reason:
        worst = lost.memoryless_worst
        most = _at_most(0.0 if worst is None else worst.relative)
        reason = f"In every model it loses {most}."
    elif lost.worst is not None:
        reason += (
            " On average memory does not save much; the policy planned with memory "
            f"loses up to {percent(lost.worst.relative)} in a model."
        )
    return Judgement("yes", headline, reason)


def _with_memory(
    latent: LatentMDP,
    lost: Losses,
    part: Certified,
    without: Certified,
    acceptable: float,
) -> Judgement:
    assert lost.memoryless_gap is not None
    assert lost.stakes is not None
    accepted = percent(acceptable)
    headline = (
        "With memory: on average a policy that learns which model is real loses "
        f"{_at_most(part.upper, OF)}."
    )
    if lost.outcome is None:
        reason = "A theorem says so; policies without memory were not searched."
    elif memory_is_needed(lost.memoryless_gap, lost.stakes.average, acceptable):
        reason = (
            f"Every policy without memory loses more than {accepted} (--acceptable): "
            f"the best loses {_between(without)}."
        )
    elif without.upper > acceptable:
        reason = (
            f"No policy without memory was found that loses at most {accepted} "
            f"(--acceptable): the best one found loses {percent(without.upper)}, and "
            f"every one loses at least {percent_at_least(without.lower)}."
        )
    else:
        but = _worst(latent, lost.memoryless_worst, acceptable, "but it")
        others = (
            "So does every deterministic one, in some model."
            if lost.all_tables_fail
            else "(One without memory that is acceptable in every model may exist.)"
        )
        reason = (
            "Without memory the best policy found is acceptable on average, with a "
            f"loss of {percent(without.upper)}, {but} {others}"
        )
    more = _worst(latent, lost.worst, acceptable, "With memory it")
    if not more and lost.worst is not None:
        more = f"With memory it loses {_at_most(lost.worst.relative)} in every model."
    return Judgement("with memory", headline, f"{reason} {more}".strip())


def judged_in_the_long_run(
    verdict: Verdict, models: WeightedModels, back: WaysBack, apart: Apart
) -> Judgement:
    """Return the verdict for episodes without end in words."""
    if verdict == "in the long run":
        named = "Theorem 1" if not apart.confused else "Theorem 1, on what is seen"
        missed = (
            ""
            if back.communicating
            else " States that are never reached do not matter."
        )
        return Judgement(
            verdict,
            "In the long run: a policy with memory loses less and less per step, "
            "whichever model is real.",
            "Every mistake can be undone and what is seen tells the models apart, so "
            f"the loss grows slower than the episode ({named}). How long it takes: "
            f"ask again with -H.{missed}",
        )
    headline = "Not promised: no theorem says that the loss per step ever goes away."
    if not back.sound:
        assert back.member is not None
        state = models.simulators.labels.state
        stuck = [state(s) for part in back.closed for s in part]
        where = f" from {listed(stuck)}" if stuck else ""
        reason = (
            f"In {model_named(models.names[back.member])} there is no way back{where}: "
            "a mistake can cost all that follows. The loss may still be small in a "
            "short episode: ask again with -H."
        )
        return Judgement(verdict, headline, reason)
    group = listed([models.names[m] for m in apart.confused[0]])
    cost = "may cost a part of every step"
    if apart.loss_per_step is not None:
        known = ends(*apart.loss_per_step.ends, 3)
        cost = "costs " if len(known) == 1 else "costs at least "
        cost += f"{known[0]} in every step, for ever"
    reason = (
        f"{group} move alike but pay differently, and what cannot be found out {cost}."
    )
    return Judgement(verdict, headline, reason)


def _nothing_to_compare(lost: Losses) -> Judgement:
    if lost.verdict == "yes":
        return Judgement(
            "yes",
            "Yes: nothing can be lost, random actions are as good as any.",
            "In every model with weight all that is reached pays the same.",
        )
    if lost.stakes is None:
        return Judgement(
            lost.verdict,
            f"Undecided: {lost.horizon} steps are too many to follow in this class.",
            "Losses of policies are not computed at this length. Ask with a shorter "
            "-H, or without -H for the long run.",
        )
    return Judgement(
        lost.verdict,
        "Undecided: what random actions lose is too small to be computed.",
        "It is smaller than rounding errors. Rescale the rewards.",
    )


def _worst(
    latent: LatentMDP, worst: WorstModel | None, acceptable: float, who: str
) -> str:
    """Return a sentence about the worst model if more than accepted is lost in it."""
    if worst is None or worst.relative <= acceptable:
        return ""
    chance = latent.prior[latent.simulators.model_names.index(worst.name)]
    rare = f", which has probability {number(chance, 2)}" if chance < RARE else ""
    return (
        f"{who} loses {percent(worst.relative)} of {AT_STAKE} in "
        f"{model_named(worst.name)}, if that is the real one{rare}."
    )


def _narrower(latent: LatentMDP, lost: Losses) -> str:
    if lost.outcome is None:
        return "A shorter -H can be planned."
    if lost.planned < int((latent.prior > 0.0).sum()):
        return "Only a part of the models was planned for; --thorough takes all."
    return "A longer --time-limit or another --acceptable decides."


def _at_most(part: float, of: str = "") -> str:
    return "nothing" if part <= NOISE else f"at most {percent_at_most(part)}{of}"


def _between(part: Certified) -> str:
    low, high = part.ends
    if percent(low) == percent(high):
        return percent(high)
    return f"between {percent_at_least(low)} and {percent_at_most(high)}"
