"""The verdict in words: a headline and the reason, in parts of what is at stake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.answers.audit.finding import (
    NOISE,
    listed,
    model_named,
    percent,
    percent_at_least,
    percent_at_most,
    short,
    told,
)
from simgap.answers.audit.losses import PlanningSettings, Transfer, WorstModel
from simgap.answers.audit.separation import Apart
from simgap.answers.audit.verdict import Verdict, memory_is_needed
from simgap.answers.audit.ways_back import WaysBack
from simgap.answers.weighted_models import WeightedModels
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome
from simgap.text import ends

RARE = 0.01  # a probability below which a model is said to be unlikely
AT_STAKE = "what is at stake"  # what acting at random loses


@final
@dataclass(frozen=True, slots=True)
class Words:
    """One sentence, and one to three more that say why."""

    headline: str
    reason: str


def words_in_steps(
    latent: LatentMDP, lost: Transfer, back: WaysBack, settings: PlanningSettings
) -> Words:
    """Return the verdict at a horizon in words."""
    part, without = lost.relative_gap, lost.relative_memoryless
    if part is None or without is None or lost.stakes is None:
        return _nothing_to_compare(lost)
    assert lost.memoryless_gap is not None
    accepted = percent(settings.acceptable)
    if lost.verdict is Verdict.YES:
        return _yes(latent, lost, without, settings)
    if lost.verdict is Verdict.WITH_MEMORY:
        return _with_memory(latent, lost, part, without, settings)
    if lost.verdict is Verdict.NO:
        headline = (
            "No: even the best policy with memory loses at least "
            f"{percent_at_least(part.lower)} of {AT_STAKE} on average, more "
            f"than {accepted}."
        )
        why = (
            f"In {lost.horizon} steps the models are not told apart soon enough, or "
            "finding out costs too much."
            if back.sound
            else "Finding out which model is real takes moves that cannot be undone, "
            "or more steps than there are."
        )
        most = _worst(latent, lost.worst, settings, "The policy found")
        return Words(headline, f"{why} {most}".strip())
    headline = (
        "Undecided: the best policy with memory loses "
        f"{_between(part)} of {AT_STAKE} on average, and {accepted} is in between."
    )
    stopped = (
        "Nothing was planned, the episode is too long for this class."
        if lost.outcome is None
        else f"Planning {lost.outcome.value}."
        if lost.outcome is not Outcome.SOLVED
        else "The bracket is narrow; the loss is about as large as the acceptable one."
    )
    return Words(headline, f"{stopped} {_narrower(latent, lost)}")


def words_of_one_model() -> Words:
    """Return what there is to say where nothing is hidden."""
    return Words(
        "Yes, trivially: there is one model, so that nothing is hidden.",
        "To ask about transfer give several models: several values of a parameter, "
        "such as 'riverswim?success=0.2:0.5:4', or several in the file.",
    )


def _yes(
    latent: LatentMDP, lost: Transfer, without: Certified, settings: PlanningSettings
) -> Words:
    headline = (
        "Yes, and without memory: on average a policy that sees only the state "
        f"and the step loses {_at_most(without)} of {AT_STAKE}."
    )
    reason = _worst(latent, lost.memoryless_worst, settings, "But it")
    if not reason:
        reason = f"In no model it loses more than {_part(lost.memoryless_worst)}."
    elif lost.worst is not None:
        reason += f" Memory does not help much: {_part(lost.worst)} at worst."
    return Words(headline, reason)


def _with_memory(
    latent: LatentMDP,
    lost: Transfer,
    part: Certified,
    without: Certified,
    settings: PlanningSettings,
) -> Words:
    assert lost.memoryless_gap is not None
    assert lost.stakes is not None
    accepted = percent(settings.acceptable)
    headline = (
        "With memory: on average a policy that learns which model it is in loses "
        f"{_at_most(part)} of {AT_STAKE}."
    )
    if lost.outcome is None:
        reason = "A theorem says so; policies without memory were not searched."
    elif memory_is_needed(
        lost.memoryless_gap, lost.stakes.average, settings.acceptable
    ):
        reason = (
            f"No policy without memory stays within {accepted} (--acceptable): the "
            f"best loses {_between(without)}."
        )
    elif without.upper > settings.acceptable:
        reason = (
            f"No policy without memory that stays within {accepted} (--acceptable) was "
            f"found: the best one found loses {percent(without.upper)}, and "
            f"none less than {percent_at_least(without.lower)}."
        )
    else:
        fear = _worst(latent, lost.memoryless_worst, settings, "but it")
        reason = (
            "Without memory the best policy found is fine on average, with "
            f"{percent(without.upper)}, {fear} (That no other one without "
            "memory does better there is not proved.)"
        )
    more = _worst(latent, lost.worst, settings, "With memory it")
    if not more and lost.worst is not None:
        more = f"With memory no model loses more than {_part(lost.worst)}."
    return Words(headline, f"{reason} {more}".strip())


def words_in_the_long_run(
    verdict: Verdict, models: WeightedModels, back: WaysBack, apart: Apart
) -> Words:
    """Return the verdict for episodes without end in words."""
    if verdict is Verdict.YES:
        return Words(
            "Yes: there is only one model, so nothing is hidden and nothing is lost.",
            "All models with weight move and pay alike; the optimal policy of one is "
            "optimal in all.",
        )
    if verdict is Verdict.IN_THE_LONG_RUN:
        named = "Theorem 1" if not apart.confused else "Theorem 1, on what is seen"
        missed = (
            ""
            if back.communicating
            else " States that are never reached do not matter."
        )
        return Words(
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
            "a mistake can cost all that follows. It may still be fine in a short "
            "episode: ask again with -H."
        )
        return Words(headline, reason)
    group = listed([models.names[m] for m in apart.confused[0]])
    loss = apart.loss_per_step
    cost = "may cost a part of every step"
    if loss is not None and loss.lower is not None:
        known = ends(*loss.ends, 3)
        cost = "costs " if len(known) == 1 else "costs at least "
        cost += f"{known[0]} in every step, for ever"
    return Words(
        headline,
        f"{group} move alike but pay differently, and what cannot be found out {cost}.",
    )


def _nothing_to_compare(lost: Transfer) -> Words:
    if lost.verdict is Verdict.YES:
        return Words(
            "Yes: nothing is at stake, random actions are as good as any.",
            "In every model with weight all that is reached pays the same.",
        )
    if lost.stakes is None:
        return Words(
            f"Undecided: {lost.horizon} steps are too many to follow in this class.",
            "Losses of policies are not computed at this length. Ask with a shorter "
            "-H, or without -H for the long run.",
        )
    return Words(
        "Undecided: what is at stake is lost in rounding.",
        "Acting at random costs less than doubles can tell from 0 here. Rescale the "
        "rewards, or look at the digits.",
    )


def _worst(
    latent: LatentMDP,
    worst: WorstModel | None,
    settings: PlanningSettings,
    who: str,
) -> str:
    """Return a sentence about the worst model if more than accepted is lost there."""
    if worst is None or worst.relative <= settings.acceptable:
        return ""
    name = short(latent.simulators.model_names[worst.member])
    return (
        f"{who} loses {_part(worst)} of what is at stake there if {name} is the real "
        f"model{_rare(latent, worst)}."
    )


def _rare(latent: LatentMDP, worst: WorstModel) -> str:
    """Return how unlikely a model is, if it is."""
    chance = float(latent.prior[worst.member])
    return f", which has probability {told(chance, 2)}" if chance < RARE else ""


def _narrower(latent: LatentMDP, lost: Transfer) -> str:
    if lost.outcome is None:
        return "A shorter -H can be planned."
    if lost.planned < int((latent.prior > 0.0).sum()):
        return "Only a part of the models was planned for; --thorough takes all."
    return "A longer --time-limit or another --acceptable decides."


def _part(worst: WorstModel | None) -> str:
    return percent(0.0 if worst is None else worst.relative)


def _at_most(part: Certified) -> str:
    high = part.upper
    return "nothing" if high <= NOISE else f"at most {percent_at_most(high)}"


def _between(part: Certified) -> str:
    low, high = part.ends
    if percent(low) == percent(high):
        return percent(high)
    return f"between {percent_at_least(low)} and {percent_at_most(high)}"
