"""What a transfer says in sentences: the verdict, where it fails, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from simgap.records.transfer import (
    LossRegion,
    Transfer,
    TransferPolicy,
    VerdictCode,
    WorstPoint,
)
from simgap.report.parts.audit import Verdict
from simgap.report.shown_number import ShownNumber, show
from simgap.text import (
    counted,
    number,
    percent,
    percent_at_least,
    percent_at_most,
    percent_between,
    shown,
)

MOST_NAMED = 4  # parameters of a point
MOST_WARNINGS = 2  # under the verdict; the others stand among the notes
HARMLESS = ("design",)
NARROW = 0.75  # of the range: a box that is wider says nothing
AT_LEAST = (
    "What is lost is measured against the best reference at each point. A better "
    "policy may exist: the true loss is at least that."
)
WORST = (
    "A worst point was chosen for being bad. So it is told from the half of its "
    "episodes that had no part in the choice, or, if they are few, with a wider "
    "interval: its numbers differ from those of the same point in the table."
)
INTERVALS = (
    "Intervals are those of Student's t, and miss about one time in twenty. They are "
    "right if rare events are like those that were met."
)
GUARANTEED = (
    "Where a return has known bounds there is a guaranteed interval beside them: it "
    "misses at most one time in twenty, whatever the law of the returns."
)


ANSWERS: dict[VerdictCode, tuple[str, str]] = {  # the word on the page, and its mood
    "transfers": ("Yes", "good"),
    "transfers-on-average": ("Yes, on average", "but"),
    "on-average-only": ("On average only", "mind"),
    "fails-in-places": ("Not everywhere", "mind"),
    "fails": ("No", "bad"),
    "undecided": ("Undecided", "open"),
    "partly-compared": ("Compared in part", "open"),
    "no-useful-reference": ("No verdict: no useful reference", "open"),
    "no-baseline": ("No verdict: no baseline", "open"),
    "no-nominal": ("Not compared", "open"),
    "nominal-no-better": ("No better than the baseline", "bad"),
    "no-drop-seen": ("No drop seen", "open"),
    "drops-in-places": ("Drops in places", "mind"),
    "drops": ("Drops", "mind"),
}


def transfer_verdict(record: Transfer) -> Verdict | None:
    """Return where the policy fails, by how much and how sure that is."""
    policy, found = record.main_policy, record.verdict
    if policy is None or found is None:
        return None
    word, mood = ANSWERS[found.code]
    return Verdict(
        answer=word,
        mood=mood,
        certainty="estimated",
        headline=found.text,
        reason=" ".join(_reasons(record, policy)),
        more="",
        warnings=_warnings(record),
    )


def worst_number(found: WorstPoint) -> ShownNumber:
    """Return the number at a worst point with its interval."""
    return show(found.number, digits=4)


def in_order(record: Transfer) -> tuple[str, ...]:
    """Return the parameters that vary, the one that matters most first."""
    policy = record.main_policy
    points = () if policy is None else policy.points
    values: dict[str, set[float]] = {}
    for point in points:
        for name, value in point.theta.items():
            values.setdefault(name, set()).add(value)
    varying = [name for name, found in values.items() if len(found) > 1]
    known = [each.name for each in record.parameters if each.name in varying]
    return tuple(dict.fromkeys((*known, *varying)))


def place(theta: Mapping[str, float], order: Sequence[str]) -> str:
    """Return a point in words, what matters most first."""
    names = [name for name in order if name in theta] or list(theta)
    told = [f"{shown(name, 40)}={number(theta[name], 3)}" for name in names]
    more = len(told) - MOST_NAMED
    return ", ".join(told[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def region_words(record: Transfer, policy: TransferPolicy) -> str:
    """Return where a policy loses more than matters, as a sentence without an end."""
    region = policy.region
    if region is None:
        return ""
    loses = f"{shown(policy.name, 40)} loses more than {number(region.threshold, 4)}"
    if region.certain > 0.0:
        share = percent_at_least(region.certain)
        if region.possible < 1.0:
            share += f" to {percent_at_most(region.possible)}"
            return f"{loses} at {share} of the points{_box(record, policy, region)}"
        return f"{loses} at {share} or more of the points{_box(record, policy, region)}"
    if region.possible <= 0.5:  # "97 % or less" would tell nothing
        return f"{loses} at {percent_at_most(region.possible)} or less of the points"
    return ""


def sure_words(record: Transfer) -> tuple[str, ...]:
    """Return how the numbers were made, and what that is worth."""
    return tuple(_sure(record))


def _warnings(record: Transfer) -> tuple[str, ...]:
    """Return the remarks that limit the verdict, the gravest first."""
    found = [each.text for each in record.notes if each.code not in HARMLESS]
    return tuple(found[:MOST_WARNINGS])


def _reasons(record: Transfer, policy: TransferPolicy) -> Iterator[str]:
    order, about = in_order(record), policy.verdict
    if policy.worst_gap is None:
        mean, least = show(policy.mean, digits=4), worst_number(policy.worst)
        yield (
            f"It returns {mean.text} ({mean.detail}) on average, and {least.text} at "
            f"its worst, at {place(policy.worst.theta, order)}."
        )
    else:
        most = worst_number(policy.worst_gap)
        yield (
            f"Most is lost at {place(policy.worst_gap.theta, order)}: {most.text} "
            f"({most.detail})."
        )
    if where := region_words(record, policy):
        yield f"{where}."
    if about is not None and about.acceptable is not None and policy.region is not None:
        yield (
            f"No more than {number(policy.region.threshold, 4)} is lost at "
            f"{percent_between(about.acceptable)} of the range."
        )
    if about is not None and about.success is not None:
        yield f"It succeeds in {percent_between(about.success)} of the episodes."
    if record.parameters:
        first = record.parameters[0]
        yield (
            f"{percent(first.share.estimate)} of the differences between points go "
            f"with {shown(first.name, 40)} alone."
        )


def _box(record: Transfer, policy: TransferPolicy, region: LossRegion) -> str:
    """Return the sides of the box that are narrower than the range."""
    told = []
    for name in in_order(record):
        inside = [each.theta[name] for each in policy.points if each.inside]
        if name not in region.ranges or not inside:
            continue
        low, high = region.ranges[name]
        if high - low < NARROW * (max(inside) - min(inside)):
            one = number(low, 3) if low == high else ""
            between = f"{number(low, 3)} to {number(high, 3)}"
            told.append(f"{shown(name, 40)} is {one or between}")
    if not told:
        return ", all over it"
    return f": where {' and '.join(told[:MOST_NAMED])}"


def _sure(record: Transfer) -> Iterator[str]:
    policy = record.main_policy
    if policy is None:
        return
    inside = sum(each.inside for each in policy.points)
    beyond = len(policy.points) - inside
    yield (
        f"{counted(record.episodes, 'episode')} at {counted(inside, 'point')} inside "
        f"the range and {beyond} beyond it."
    )
    if len(record.policies) > 1:
        yield (
            "All policies met the same starts and noise, so that differences are "
            "known better than returns."
            if record.paired
            else "Policies did not meet the same starts and noise: differences are "
            "as uncertain as two returns."
        )
    seeds = {each.training_seeds for each in record.policies if not each.is_reference}
    if seeds == {1}:
        yield "One training of each policy was measured; another may do otherwise."
    elif seeds:
        fewest = counted(min(seeds), "training")
        yield f"At least {fewest} of each policy were measured."
    yield INTERVALS
    if any(each.returned.guaranteed is not None for each in policy.points):
        yield GUARANTEED
    yield "Nothing is said of what lies between two points: a cliff may hide there."
    yield WORST
    if record.bounds is not None:
        low, high = (number(each, 4) for each in record.bounds)
        yield f"A return certainly lies between {low} and {high}."
    if policy.gap is not None:
        yield AT_LEAST
