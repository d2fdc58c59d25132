"""What `simgap identify` says to people."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.cli.verbs.identify import IdentifyAnswer, PairAnswer, TimelineAnswer
    from simgap.intervals import Certified, Estimate

MOST_PAIRS = 15
MOST_MODELS = 15
COLUMNS = 6  # steps of the timeline that a terminal shows


def print_answer(answer: IdentifyAnswer) -> None:
    """Print the hardest pairs, and how the oracle's knowledge grows."""
    from simgap.cli.app.output import print_line

    if answer.slowest is None:
        print_line("one model: nothing to tell apart")
    else:
        _print_pairs(answer)
        _print_slowest(answer, answer.pairs[answer.slowest])
    if answer.timeline is not None:
        _print_timeline(answer, answer.timeline)
    for note in answer.notes:
        print_line(f"note: {note}")


def _print_pairs(answer: IdentifyAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.report import number, shown, without_common_part

    names, common = without_common_part(list(answer.names))
    hardest = sorted(answer.pairs, key=_hardness)[:MOST_PAIRS]
    print_table(
        f"telling models apart in {shown(answer.provenance.model)}",
        ("one", "other", "look at", "steps", "visits there", "distance there"),
        [
            (
                shown(names[each.first], 24),
                shown(names[each.second], 24),
                _place(each),
                _steps(each.steps),
                "-" if each.visits is None else str(each.visits),
                number(each.distance, 4) if each.state is not None else "-",
            )
            for each in hardest
        ],
        f"steps of the best experiment for a guess that errs with chance "
        f"{number(answer.error)}; certified" + (f"; names: {common}" if common else ""),
        texts=3,
    )
    if len(answer.pairs) > len(hardest):
        more = len(answer.pairs) - len(hardest)
        print_line(f"{more} easier pairs; --json has them all")


def _print_slowest(answer: IdentifyAnswer, pair: PairAnswer) -> None:
    from simgap.cli.app.output import print_line
    from simgap.report import number, shown

    one, other = shown(pair.first_name, 40), shown(pair.second_name, 40)
    if pair.steps.lower == inf:
        print_line(
            f"{one} and {other} can never be told apart with an error of "
            f"{number(answer.error)}"
        )
        return
    print_line(
        f"hardest: {one} and {other}, {_steps(pair.steps)} steps; "
        f"look at {_place(pair)}"
    )


def _print_timeline(answer: IdentifyAnswer, timeline: TimelineAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.report import number, shown, without_common_part

    names, common = without_common_part([each.name for each in timeline.models])
    places = _columns(len(timeline.steps))
    rows = [
        (
            shown(name, 30),
            *(_believed(each.posterior[k], k < timeline.computed) for k in places),
        )
        for name, each in zip(names, timeline.models, strict=True)
    ]
    print_table(
        "probability that the oracle gives to the real model, on average",
        ("real model", *(f"step {timeline.steps[k]}" for k in places)),
        rows[:MOST_MODELS],
        (
            "± is a 95 % interval, the others are known up to rounding"
            if timeline.episodes
            else "certified"
        )
        + (f"; names: {common}" if common else ""),
    )
    if len(rows) > MOST_MODELS:
        print_line(f"{len(rows) - MOST_MODELS} more models; --json has them all")
    last = [each.posterior[-1].estimate for each in timeline.models]
    low, high = last.index(min(last)), last.index(max(last))
    told = f"{number(last[low], 2)} ({shown(timeline.models[low].name, 40)})"
    if number(last[low], 2) != number(last[high], 2):
        told = (
            f"between {told} and {number(last[high], 2)} "
            f"({shown(timeline.models[high].name, 40)})"
        )
    print_line(
        f"after {timeline.steps[-1]} steps the oracle gives the real model {told}, "
        "on average"
    )


def _hardness(pair: PairAnswer) -> tuple[float, float]:
    return -pair.steps.upper, -pair.steps.lower


def _place(pair: PairAnswer) -> str:
    from simgap.report import shown

    if pair.state_name is None or pair.action_name is None:
        return "nowhere: no difference within reach"
    return f"state {shown(pair.state_name, 20)}, action {shown(pair.action_name, 16)}"


def _steps(steps: Certified) -> str:
    lower, upper = steps.lower, steps.upper
    if lower == inf:
        return "never"
    if upper == inf:
        return f"at least {lower:.0f}"
    return f"{lower:.0f}" if lower == upper else f"{lower:.0f} to {upper:.0f}"


def _believed(found: Estimate, exact: bool) -> str:
    if exact:
        return f"{found.estimate:.3f}"
    half = max(found.upper - found.estimate, found.estimate - found.lower)
    return f"{found.estimate:.3f} ± {half:.2g}"


def _columns(count: int) -> list[int]:
    """Return which steps to show: the first, the last, some between."""
    if count <= COLUMNS:
        return list(range(count))
    return [round(k * (count - 1) / (COLUMNS - 1)) for k in range(COLUMNS)]
