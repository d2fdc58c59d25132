"""The story of a class in three sentences: one simulator, no memory, memory.

What a policy loses that was trained on one model and meets another, what the best
policy found loses that is trained on all but remembers nothing, and what is lost with
memory. Every sentence says how sure its numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.text import between, ends as outwards, how_sure, number, shown

if TYPE_CHECKING:
    from simgap.cli.verbs.baseline_answer import BaselineAnswer
    from simgap.cli.verbs.oracle import OracleAnswer
    from simgap.intervals import Certified


@final
@dataclass(frozen=True, slots=True)
class Chapter:
    """One way to train, and what it loses."""

    title: str
    average_gap: Certified
    worst_gap: float
    worst_model: str
    certainty: str
    text: str


def story_of(oracle: OracleAnswer, *, alone: int | None = None) -> tuple[Chapter, ...]:
    """Return the story; `alone` is the model of the first chapter, else the best one.

    The plan of one model takes, among actions that are optimal in it, those that lose
    least elsewhere: what is told of it is the least that such a plan can be blamed for.
    """
    chapters = []
    single = oracle.baselines.get("single-simulator")
    if single is not None and single.cross_gaps is not None:
        chapters.append(_alone(oracle, single, alone))
    memoryless = oracle.baselines.get("memoryless")
    if memoryless is not None and memoryless.models:
        chapters.append(_without_memory(oracle, memoryless))
    chapters.append(_with_memory(oracle))
    return tuple(chapters)


def _alone(oracle: OracleAnswer, single: BaselineAnswer, alone: int | None) -> Chapter:
    from simgap.intervals import Certified

    assert single.cross_gaps is not None
    table, prior = single.cross_gaps, [each.prior for each in oracle.models]
    averages = [
        sum(w * gap for w, gap in zip(prior, row, strict=True)) for row in table
    ]
    trained = averages.index(min(averages)) if alone is None else alone
    row = table[trained]
    worst = row.index(max(row))
    best = oracle.models[worst].optimal
    off = oracle.rounding
    name, there = (shown(oracle.models[at].name, 40) for at in (trained, worst))
    return Chapter(
        title="train on one simulator",
        average_gap=Certified(
            max(0.0, averages[trained] - off), averages[trained] + off
        ),
        worst_gap=row[worst],
        worst_model=oracle.models[worst].name,
        certainty="certified",
        text=f"Trained on {name} alone and deployed on {there}, a policy loses "
        f"{number(row[worst], 4)}{_whole(best)}, on average "
        f"{number(averages[trained], 4)} (certified).",
    )


def _whole(best: float) -> str:
    """Return what could be had; a negative value is not a whole to lose a part of."""
    return f" of {number(best, 4)}" if best > 0.0 else ""


def _without_memory(oracle: OracleAnswer, found: BaselineAnswer) -> Chapter:
    from simgap.cli.verbs.baseline_answer import middle
    from simgap.intervals import Certified

    gaps = [middle(each.gap) for each in found.models]
    worst = gaps.index(max(gaps))
    assert isinstance(found.average_gap, Certified)
    name = oracle.models[worst].name
    return Chapter(
        title="randomize, without memory",
        average_gap=found.average_gap,
        worst_gap=gaps[worst],
        worst_model=name,
        certainty="certified",
        text="Trained on all of them without memory, the best policy found loses "
        f"{between(found.average_gap, 4)} on average and {number(gaps[worst], 4)} if "
        f"{shown(name, 40)} is real (certified; {_how_good(found)}).{_needed(oracle)}",
    )


def _how_good(found: BaselineAnswer) -> str:
    return found.note or "a better one may exist"


def _needed(oracle: OracleAnswer) -> str:
    """Return whether memory is needed, if that was asked."""

    if oracle.memory is None:
        return ""
    return f" {oracle.memory.sentences()[1]}"


def _with_memory(oracle: OracleAnswer) -> Chapter:
    worst = max(oracle.models, key=lambda each: each.gap)
    estimate = oracle.estimated_gap
    ends = " to ".join(outwards(estimate.lower, estimate.upper, 3))
    ends += f", {how_sure(estimate.label, estimate.confidence)}"
    return Chapter(
        title="randomize, with memory",
        average_gap=oracle.average_gap,
        worst_gap=worst.gap,
        worst_model=worst.name,
        certainty="certified",
        text="Trained on all of them with memory, the best policy loses "
        f"{between(oracle.average_gap, 4)} on average (certified); the one found loses "
        f"{number(worst.gap, 4)} if {shown(worst.name, 40)} is real (certified), and "
        f"the one to run, which tracks the posterior, {number(estimate.estimate, 3)} "
        f"on average (estimated, {ends}).",
    )
