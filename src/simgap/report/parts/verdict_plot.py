"""The picture of the verdict: what is lost with memory, without it, after one model.

Losses are parts of what is at stake in each model, which acting at random loses there,
so that models with small and with large rewards stand beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from simgap.report.heat_plots import spread_out
from simgap.report.plots import GroupPlot, short_names
from simgap.report.shown_number import NOTHING, ShownNumber
from simgap.text import at_least, at_most, number, shown, without_parameters

SERIES = {  # policies of records, as the picture calls them
    "oracle": "with memory",
    "memoryless": "without memory",
    "single-simulator": "trained on one model",
}
RANDOM = "random"
ON_AVERAGE = "on average"
IN_THE_WORST = "in its worst model"
TITLE = "Loss, in per cent of what random actions lose"
MOST_MODELS = 7


@final
@dataclass(frozen=True, slots=True)
class Losses:
    """What one policy loses: on average, and in every model."""

    average: ShownNumber
    models: tuple[ShownNumber, ...]


def verdict_plot(
    found: Mapping[str, Losses], names: Sequence[str], key: str
) -> GroupPlot | None:
    """Return losses of policies in every model; `found` is by the name of the policy.

    Nothing is drawn without a policy to compare with, or without what is at stake.
    """
    stakes = found.get(RANDOM)
    compared = [name for name in SERIES if name in found]
    if stakes is None or len(compared) < 2:
        return None
    kept = _kept(found[compared[0]].models)
    short, what = without_parameters([shown(name) for name in names])
    left = f"{len(kept)} of {len(names)} models are drawn, the one that loses most "
    return GroupPlot(
        key=key,
        title=TITLE,
        x=f"real model, by {shown(what, 40)}" if what else "real model",
        y="loss",
        unit=" %",
        groups=(ON_AVERAGE, *short_names([short[at] for at in kept], 20)),
        series=tuple(
            (
                SERIES[name],
                (
                    _share(found[name].average, stakes.average),
                    *(_share(found[name].models[i], stakes.models[i]) for i in kept),
                ),
            )
            for name in compared
        ),
        note=f"{left}among them." if len(kept) < len(names) else "",
    )


def two_groups(
    with_memory: tuple[ShownNumber, ShownNumber],
    without: tuple[ShownNumber, ShownNumber],
    key: str,
) -> GroupPlot | None:
    """Return two policies on average and in the worst model, from parts of the whole.

    For a record that has no more than these.
    """
    if not all(each.drawable for each in (*with_memory, *without)):
        return None
    whole = ShownNumber("", "", "exact", 1.0, 1.0, 1.0)
    return GroupPlot(
        key=key,
        title=TITLE,
        x="",
        y="loss",
        unit=" %",
        groups=(ON_AVERAGE, IN_THE_WORST),
        series=tuple(
            (name, tuple(_share(each, whole) for each in pair))
            for name, pair in (
                ("with memory", with_memory),
                ("without memory", without),
            )
        ),
    )


def _kept(losses: Sequence[ShownNumber]) -> tuple[int, ...]:
    """Return which models are drawn: some, and the one in which most is lost."""
    places = range(len(losses))
    worst = max(places, key=lambda at: losses[at].value or 0.0, default=0)
    kept = set(spread_out(len(losses), MOST_MODELS))
    if worst not in kept:
        kept = set(spread_out(len(losses), MOST_MODELS - 1)) | {worst}
    return tuple(sorted(kept))


def _share(part: ShownNumber, whole: ShownNumber) -> ShownNumber:
    """Return a loss in per cent of what is at stake; ends allow for those of both."""
    if (
        part.value is None
        or part.lower is None
        or part.upper is None
        or whole.lower is None
        or whole.upper is None
        or whole.value is None
        or whole.lower <= 0.0
    ):
        return NOTHING
    low, high = 100.0 * part.lower / whole.upper, 100.0 * part.upper / whole.lower
    value = 100.0 * part.value / whole.value
    certainty = whole.certainty if whole.certainty == "estimated" else part.certainty
    sampled = certainty == "estimated"
    between = f"{at_least(low, 3)} to {at_most(high, 3)}"
    wide = high - low > 1e-3 * abs(value)
    return replace(
        part,
        text=between if wide and not sampled else number(value, 3),
        detail=between if sampled else "",
        certainty=certainty,
        value=value,
        lower=low,
        upper=high,
    )
