"""What a study of a simulator has found: answers computed from intervals.

What a thing is worth is *yes* if its interval lies above 0, *no* if it does not and
nothing that matters can be in it, *undecided* otherwise. What matters is the threshold
of `transfer`: a tenth of what random actions lose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from simgap.intervals import Estimate
from simgap.records.blame_run import BlamedRun
from simgap.records.identify_run import IdentifiedRun
from simgap.records.study_run import Question, StudyAnswer, Word
from simgap.records.train import Train
from simgap.records.transfer import Transfer, Worth
from simgap.records.width_run import WidthRun
from simgap.text import at_least, at_most, counted, number, shown

Answered = BlamedRun | IdentifiedRun | WidthRun
NEAR = 0.25  # of what the policy without memory loses: less is near the informed one


class Found(NamedTuple):
    """An answer in the making."""

    word: str
    code: str
    text: str  # without its full stop


def answers_of(
    trainings: Sequence[Train], graded: Transfer, record: str
) -> Iterator[StudyAnswer]:
    """Yield what a transfer says of memory, information and randomization."""
    matters = threshold(graded)
    first: dict[str, Worth] = {each.what: each for each in reversed(graded.worths)}
    if "memory" in first:
        yield _pays("memory", first["memory"], matters, trainings, record)
    if "information" in first:
        yield from _near(first, graded, matters, trainings, record)
    if "randomization" in first:
        yield _pays("randomization", first["randomization"], matters, trainings, record)


def _pays(
    question: Question,
    worth: Worth,
    matters: float,
    trainings: Sequence[Train],
    record: str,
) -> StudyAnswer:
    found, names = what_it_is_worth(worth, matters), (worth.policy, worth.against)
    return answer(question, found, worth.value, None, names, trainings, record)


def _near(
    first: Mapping[str, Worth],
    graded: Transfer,
    matters: float,
    trainings: Sequence[Train],
    record: str,
) -> Iterator[StudyAnswer]:
    informed, name = first["information"].policy, first["information"].against
    without = first["memory"].against if "memory" in first else ""
    gaps = {each.name: each.gap for each in graded.policies}
    gap, lost = gaps[name], gaps.get(without)
    if gap is not None:
        found = how_near(name, gap, without, lost, matters)
        names = informed, name, without
        yield answer("information", found, gap, lost, names, trainings, record)


def further_answer(
    found: Answered, trainings: Sequence[Train], record: str
) -> StudyAnswer:
    """Return what another record of the study says, in a sentence."""
    if isinstance(found, BlamedRun):
        said, names = _blamed(found), [found.policy]
        return answer("parameter", said, found.total, None, names, trainings, record)
    if isinstance(found, IdentifiedRun):
        said, names = _identified(found), [found.policy, found.reference or ""]
        return answer("time", said, found.total, None, names, trainings, record)
    return answer("width", _wide(found), None, None, [], trainings, record)


def only_parameter(name: str, record: str) -> StudyAnswer:
    """Return the blame of a parameter that is alone."""
    text = f"Nothing but {shown(name, 40)} is unknown: it has all the blame"
    found = Found(name, "one-parameter", text)
    return answer("parameter", found, None, None, [], [], record)


def words_of(answers: Sequence[StudyAnswer], seeds: int) -> tuple[Word, str, str]:
    """Return whether the policy needs memory, and the sentences that say why."""
    by_question = {each.question: each for each in answers}
    memory, near = by_question.get("memory"), by_question.get("information")
    words: dict[str, Word] = {"yes": "yes", "no": "no"}
    told = f"From {counted(seeds, 'training')} of each kind."
    if memory is None:
        return "undecided", "Memory was not compared.", told
    reason = told if near is None else f"{near.text} {told}"
    return words.get(memory.answer, "undecided"), memory.text, reason


def threshold(graded: Transfer) -> float:
    """Return the loss that matters."""
    found = (each.region.threshold for each in graded.policies if each.region)
    return next(found, 0.0)


def what_it_is_worth(worth: Worth, matters: float) -> Found:
    """Return whether memory or randomization pays."""
    value, subject = worth.value, worth.what.capitalize()
    is_worth = (
        f"it is worth {told(value)} of return ({worth.policy} less {worth.against})"
    )
    worst = (
        f"the return at the worst point is {number(worth.worst.estimate, 3)} with it, "
        f"{number(worth.worst_against.estimate, 3)} without"
    )
    if value.lower > 0.0 and value.upper > matters:
        text = f"{subject} pays: {is_worth}; {worst}"
        return Found("yes", f"{worth.what}-pays", text)
    if value.lower > 0.0:
        text = f"{subject} pays, but little: {is_worth}; {worst}"
        return Found("yes", f"{worth.what}-pays-little", text)
    if worth.worst.lower > worth.worst_against.upper:
        text = f"{subject} pays where it matters most: {worst}; {is_worth} on average"
        return Found("yes", f"{worth.what}-pays-at-worst", text)
    if value.upper < 0.0:
        return Found("no", f"{worth.what}-harms", f"{subject} does harm: {is_worth}")
    if value.upper <= matters:
        text = f"{subject} is not needed: {is_worth}"
        return Found("no", f"{worth.what}-not-needed", text)
    text = f"Whether {worth.what} pays is undecided: {is_worth}; more seeds would tell"
    return Found("undecided", f"{worth.what}-undecided", text)


def how_near(
    name: str, gap: Estimate, without: str, lost: Estimate | None, matters: float
) -> Found:
    """Return whether a policy is near the informed one, with both gaps."""
    limit = matters
    if lost is not None and lost.lower > 0.0:
        limit = min(matters, NEAR * lost.estimate)
    loses = f"on average over the parameters it loses {told(gap)}"
    if lost is not None:
        loses += f"; without memory ({without}) it is {told(lost)}"
    if gap.upper <= limit:
        text = f"{name} is near the informed policy: {loses}"
        return Found("yes", "near-informed", text)
    if gap.lower > limit:
        text = f"{name} is not near the informed policy: {loses}"
        return Found("no", "not-near-informed", text)
    text = f"Whether {name} is near the informed policy is undecided: {loses}"
    return Found("undecided", "near-undecided", text)


def told(value: Estimate) -> str:
    """Return a number with its interval, for a sentence."""
    low, high = at_least(value.lower, 3), at_most(value.upper, 3)
    return f"{number(value.estimate, 3)} ({low} to {high})"


def unconverged(trainings: Iterable[Train], names: Iterable[str]) -> tuple[str, ...]:
    """Return which trainings, of those named, were not at their end."""
    rough = {
        each.name: sum(one.converged is False for one in each.policies)
        for each in trainings
    }
    counts = {each.name: len(each.policies) for each in trainings}
    return tuple(
        f"{name} ({rough[name]} of {counts[name]})"
        for name in dict.fromkeys(names)
        if rough.get(name)
    )


def answer(
    question: Question,
    found: Found,
    value: Estimate | None,
    against: Estimate | None,
    names: Iterable[str],
    trainings: Iterable[Train],
    record: str,
) -> StudyAnswer:
    """Return an answer; trainings that were not at their end weaken it, by name."""
    return StudyAnswer(
        question=question,
        answer=found.word,
        code=found.code,
        text=f"{found.text}.",
        value=value,
        against=against,
        not_converged=unconverged(trainings, names),
        record=record,
    )


def _blamed(found: BlamedRun) -> Found:
    if found.total.lower <= 0.0:
        return Found("none", "nothing-to-blame", found.headline.rstrip("."))
    if found.leader is None:
        names = " or ".join(each.name for each in found.parameters[:2])
        return Found(names, "parameters-overlap", found.headline.rstrip("."))
    return Found(found.leader, "parameter-leads", found.headline.rstrip("."))


def _identified(found: IdentifiedRun) -> Found:
    text = found.headline.rstrip(".")
    if found.reference is None:
        return Found("not compared", "not-compared", text)
    if found.settled is None:
        return Found("never", "never-settles", text)
    return Found(counted(found.settled, "step"), "settles", text)


def _wide(found: WidthRun) -> Found:
    text = found.reason.rstrip(".")
    if found.recommended is None:
        return Found("undecided", "width-undecided", text)
    return Found(f"{number(found.recommended, 3)} of the ranges", "width-enough", text)
