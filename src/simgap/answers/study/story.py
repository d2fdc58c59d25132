"""The story of a class in three sentences: one simulator, no memory, memory.

What a policy loses that was trained on one model and meets another, what the best
policy found loses that is trained on all but remembers nothing, and what is lost with
memory. Every sentence says how sure its numbers are.
"""

from __future__ import annotations

from simgap.intervals import Certified
from simgap.records.oracle import BaselinePolicy, Oracle
from simgap.records.study import Chapter
from simgap.text import between, ends as outwards, how_sure, number, shown


def story_of(oracle: Oracle, *, alone: int | None = None) -> tuple[Chapter, ...]:
    """Return the story; `alone` is the model of the first chapter, else the best one.

    The plan of one model takes, among actions that are optimal in it, those that lose
    least elsewhere: no such plan can be blamed for less than what is said of it.
    """
    chapters = []
    single = oracle.baselines.get("single-simulator")
    if single is not None and single.cross_gaps is not None:
        chapters.append(_alone(oracle, single.cross_gaps, alone))
    memoryless = oracle.baselines.get("memoryless")
    if memoryless is not None and memoryless.models:
        chapters.append(_without_memory(oracle, memoryless))
    chapters.append(_with_memory(oracle))
    return tuple(chapters)


def _alone(
    oracle: Oracle, table: tuple[tuple[float, ...], ...], alone: int | None
) -> Chapter:
    prior = [each.prior for each in oracle.models]
    averages = [
        sum(w * gap for w, gap in zip(prior, row, strict=True)) for row in table
    ]
    trained = averages.index(min(averages)) if alone is None else alone
    row, average = table[trained], averages[trained]
    worst = row.index(max(row))
    name, real = (shown(oracle.models[at].name, 40) for at in (trained, worst))
    off = oracle.rounding
    return Chapter(
        title="train on one simulator",
        average_gap=Certified(max(0.0, average - off), average + off),
        worst_gap=row[worst],
        worst_model=oracle.models[worst].name,
        certainty="certified",
        text=f"Trained on {name} alone and deployed on {real}, a policy loses "
        f"{number(row[worst], 4)}{_whole(oracle.models[worst].optimal)}, on average "
        f"{number(average, 4)} (certified).",
    )


def _whole(best: float) -> str:
    """Return what could be had; a negative value is not a whole to lose a part of."""
    return f" of {number(best, 4)}" if best > 0.0 else ""


def _without_memory(oracle: Oracle, found: BaselinePolicy) -> Chapter:
    gaps = found.gaps
    worst = gaps.index(max(gaps))
    assert isinstance(found.average_gap, Certified)
    name = oracle.models[worst].name
    needed = "" if oracle.memory is None else f" {oracle.memory.sentences()[1]}"
    return Chapter(
        title="randomize, without memory",
        average_gap=found.average_gap,
        worst_gap=gaps[worst],
        worst_model=name,
        certainty="certified",
        text="Trained on all of them without memory, the best policy found loses "
        f"{between(found.average_gap, 4)} on average and {number(gaps[worst], 4)} if "
        f"{shown(name, 40)} is real (certified; "
        f"{found.note or 'a better one may exist'}).{needed}",
    )


def _with_memory(oracle: Oracle) -> Chapter:
    worst = max(oracle.models, key=lambda each: each.gap)
    estimate, to_run = oracle.estimated_gap, ""
    if estimate is not None:
        ends = " to ".join(outwards(estimate.lower, estimate.upper, 3))
        ends += f", {how_sure(estimate)}"
        to_run = (
            ", and the one to run, which tracks the posterior, "
            f"{number(estimate.estimate, 3)} on average (estimated, {ends})"
        )
    return Chapter(
        title="randomize, with memory",
        average_gap=oracle.average_gap,
        worst_gap=worst.gap,
        worst_model=worst.name,
        certainty="certified",
        text="Trained on all of them with memory, the best policy loses "
        f"{between(oracle.average_gap, 4)} on average (certified); the one found loses "
        f"{number(worst.gap, 4)} if {shown(worst.name, 40)} is real "
        f"(certified){to_run}.",
    )
