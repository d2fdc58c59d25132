"""What the slow answers of a study found: one line each."""

from __future__ import annotations

from collections.abc import Iterator

from simgap.records import Adapt, Blame, Identify, Width
from simgap.text import between, number, shown

SlowAnswer = Blame | Width | Identify | Adapt


def finding_of(record: SlowAnswer) -> Iterator[str]:
    """Yield what an answer has found, in a line; nothing if there is nothing to say."""
    if isinstance(record, Blame):
        yield record.headline
    elif isinstance(record, Width):
        yield f"{shown(record.param, 40)}: {record.reason}"
    elif isinstance(record, Identify):
        yield from _identified(record)
    else:
        yield _adapted(record)


def _identified(record: Identify) -> Iterator[str]:
    if record.slowest is None:
        return
    pair = record.pairs[record.slowest]
    one, other = shown(pair.first_name, 40), shown(pair.second_name, 40)
    if pair.steps.lower == float("inf"):
        yield f"{one} and {other} are never told apart (certified)."
        return
    yield (
        f"Hardest to tell apart are {one} and {other}: the best experiment takes "
        f"{between(pair.steps, 6)} steps for an error of {100 * record.error:g} % "
        "(certified)."
    )


def _adapted(record: Adapt) -> str:
    after = record.gap_bound_after
    if record.outside_class or after is None:
        return (
            f"No model explains the {record.transitions} real transitions (false "
            f"alarms: at most {100 * record.false_alarm:g} %)."
        )
    best = max(record.posterior, key=lambda each: each.probability or 0.0)
    return (
        f"After {record.transitions} real transitions {shown(best.name, 40)} has "
        f"probability {number(best.probability, 3)}; the loss goes from "
        f"{between(record.gap_bound_before, 4)} to {between(after, 4)} (certified)."
    )
