"""Figures of a transfer: the map of the loss, returns over parameters, shares."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

from simgap.intervals import Estimate
from simgap.records.files import damaged_record
from simgap.records.transfer import LossMap, Transfer, TransferPoint
from simgap.report.heat_plots import Dot, HeatPlot, SlidingHeat, Table
from simgap.report.parts.transfer_words import in_order, place
from simgap.report.plots import BarPlot, Curve, CurvePlot, Plot
from simgap.report.shown_number import NOTHING, ShownNumber, show
from simgap.text import listed, number, shown

MOST_BINS = 8  # places along a parameter at which returns are told
FEWEST = 4  # points of one place
MOST_PARAMETERS = 6  # with a figure of their own
MOST_PAIRS = 4
SOME = 0.01  # a share of the variance that is worth a bar
BANDS = (
    "Lines are means of the points inside the range that are near, bands go from the "
    "lowest to the highest of these points."
)
BEYOND = "Beyond: at points of a wider range that are not in the range itself."
LOSS = "loss, at least"
SURE = "estimated"
BELOW = "return below the best point"


def map_plot(record: Transfer, found: LossMap, key: str) -> Plot | None:
    """Return the map of the loss of one policy, with the points that were measured."""
    sizes = [len(axis) for axis in found.axes]
    cells = 1
    for size in sizes:
        cells *= size
    if len(sizes) != len(found.parameters) or len(found.loss) != cells:
        raise damaged_record(len(found.loss), f"a loss for each of {cells} cells")
    value = LOSS if found.loss_is == "gap" else BELOW
    name = shown(found.policy, 40)
    title = f"What {name} loses, and where"
    if found.loss_is != "gap":
        title = f"How far {name} falls below its best point"
    names = tuple(shown(name, 40) for name in found.parameters)
    note = _map_note(record, found)
    if len(sizes) == 1:
        points = zip(found.axes[0], found.loss, strict=True)
        curve = Curve("fitted", tuple((x, y, y, y) for x, y in points), "estimated")
        return CurvePlot(key, title, names[0], value, (curve,), note=note)
    if len(sizes) not in {2, 3}:
        return None
    rows, columns = found.axes[1], found.axes[0]
    most = inf if record.bounds is None else record.bounds[1] - record.bounds[0]
    places = range(sizes[2] if sizes[2:] else 1)
    tables = tuple(_table(found, at, most) for at in places)
    plot = HeatPlot(
        key=key,
        title=title,
        row_axis=names[1],
        column_axis=names[0],
        value=value,
        rows=tuple(number(each, 3) for each in reversed(rows)),
        columns=tuple(number(each, 3) for each in columns),
        cells=tables[0],
        note=note,
        row_word=names[1],
        column_word=names[0],
        dots=_dots(record, found),
    )
    if len(sizes) == 2:
        return plot
    worst = max(plot.dots, key=_lost, default=None)
    return SlidingHeat(
        **{name: getattr(plot, name) for name in plot.__slots__ if name != "cells"},
        slider=names[2],
        places=tuple(number(each, 3) for each in found.axes[2]),
        tables=tables,
        first=0 if worst is None or worst.place is None else worst.place,
    )


def parameter_plots(record: Transfer, anchor: str) -> tuple[CurvePlot, ...]:
    """Return the returns of all policies against each parameter that varies."""
    return tuple(
        CurvePlot(
            key=f"{anchor}-over-{at}",
            title=f"Return against {shown(name, 40)}",
            x=shown(name, 40),
            y="return",
            curves=tuple(
                Curve(shown(each.name, 40), _along(each.points, name), SURE)
                for each in record.policies
            ),
            note=BANDS if at == 1 else "",
            band=True,
        )
        for at, name in enumerate(in_order(record)[:MOST_PARAMETERS], start=1)
    )


def gap_plots(record: Transfer, anchor: str) -> tuple[CurvePlot, ...]:
    """Return what trainings lose against the best reference, along each parameter."""
    lost = [each for each in record.policies if each.gap is not None]
    names = in_order(record)[:MOST_PARAMETERS] if lost and record.worths else ()
    return tuple(
        CurvePlot(
            key=f"{anchor}-lost-{at}",
            title=f"Lost against {listed(record.references)}, over {shown(name, 40)}",
            x=shown(name, 40),
            y=LOSS,
            curves=tuple(
                Curve(shown(each.name, 40), _along(each.points, name, gaps=True), SURE)
                for each in lost
            ),
            note=BANDS if at == 1 else "",
            band=True,
        )
        for at, name in enumerate(names, start=1)
    )


def worths_plot(record: Transfer, key: str) -> BarPlot | None:
    """Return what memory, information and randomization are worth."""
    if not record.worths:
        return None
    count = Counter(each.what for each in record.worths)
    pairs = [f"{each.what}: {each.policy} - {each.against}" for each in record.worths]
    return BarPlot(
        key=key,
        title="What each way of training is worth",
        x="return with it less return without it",
        bars=tuple(
            (
                each.what
                if count[each.what] == 1
                else f"{each.what}, {shown(each.policy, 20)}",
                show(each.value, digits=4),
            )
            for each in record.worths
        ),
        ranges=tuple(each.evaluation.ends for each in record.worths),
        range_name="of these very policies",
        note=f"{listed(pairs)}. Lines: for any training, so that episodes and training "
        "seeds vary. Shades: of these very policies, only episodes vary.",
    )


def shares_plot(record: Transfer, key: str) -> BarPlot | None:
    """Return which parameter the loss goes with, with intervals."""
    if not record.parameters:
        return None
    pairs = [each for each in record.pairs if each.share.estimate >= SOME]
    drawn = (*record.parameters, *pairs[:MOST_PAIRS])
    return BarPlot(
        key=key,
        title="Which parameter the loss goes with",
        x="share of the variance of the loss, %",
        bars=tuple(
            (shown(each.name, 40), show(_percent(each.share), digits=3))
            for each in drawn
        ),
        ticks=tuple(
            None if each.total is None else 100.0 * each.total.estimate
            for each in drawn
        ),
        tick_name="with all that it does together with others",
        note="Bars: what a parameter explains alone. A pair: what only both together "
        "explain.",
    )


def mean_plot(record: Transfer, key: str) -> BarPlot | None:
    """Return the mean returns inside the range and beyond it."""
    bars = [
        (f"{shown(each.name, 40)}, {where}", show(mean, digits=4))
        for each in record.policies
        for where, mean in (("inside", each.mean), ("beyond", each.beyond))
        if mean is not None
    ]
    if not bars:
        return None
    wider = any(each.beyond is not None for each in record.policies)
    return BarPlot(
        key=key,
        title="Inside the range and beyond it" if wider else "Mean return",
        x="mean return",
        bars=tuple(bars),
        note=BEYOND if wider else "",
    )


def success_plot(record: Transfer, key: str) -> BarPlot | None:
    """Return how often policies succeed, where the simulator says it."""
    bars = [
        (shown(each.name, 40), show(_percent(each.success), digits=4))
        for each in record.policies
        if each.success is not None
    ]
    if not bars:
        return None
    return BarPlot(key, "How often they succeed", "episodes with success, %", (*bars,))


def _percent(found: Estimate) -> Estimate:
    return replace(
        found,
        estimate=100.0 * found.estimate,
        lower=100.0 * found.lower,
        upper=100.0 * found.upper,
    )


def _map_note(record: Transfer, found: LossMap) -> str:
    off = number(found.error, 3)
    said = (
        f"Dots were measured. Colours between them are fitted, typically off by {off}."
        if found.sure
        else "Dots were measured. Colours between them explain less than half of the "
        f"differences and are typically off by {off}: trust the dots."
    )
    if any(each.number is NOTHING for each in _dots(record, found)):
        said += " Crosses: not measured for both, so not compared."
    others = len(in_order(record)) - len(found.parameters)
    if others > 0:
        said += " Colours are means over all other parameters."
    return said


def _table(found: LossMap, at: int, most: float) -> Table:
    """Return the cells at one place of the slider, the largest row on top.

    A fit may promise more than can be lost, which is `most`.
    """
    columns, rows, *rest = (len(axis) for axis in found.axes)
    deep = rest[0] if rest else 1
    return tuple(
        tuple(
            show(
                min(max(found.loss[(column * rows + row) * deep + at], -most), most),
                certainty="estimated",
                digits=4,
            )
            for column in range(columns)
        )
        for row in reversed(range(rows))
    )


def _dots(record: Transfer, found: LossMap) -> tuple[Dot, ...]:
    """Return the measured points inside the range, each near one place of a slider.

    Where the policy or every reference is missing there is a point without a number.
    """
    policy = next((p for p in record.policies if p.name == found.policy), None)
    points = [] if policy is None else [each for each in policy.points if each.inside]
    losses = _losses(points, found)
    met = {tuple(each.theta.items()) for each in points}
    for each in (p for one in record.policies for p in one.points if p.inside):
        if (where := tuple(each.theta.items())) not in met:
            met.add(where)
            points.append(each)
            losses.append(NOTHING)
    if len(found.parameters) < 2:  # a curve
        return ()
    across, up, *slid = found.parameters
    dots = []
    for point, loss in zip(points, losses, strict=True):
        if any(name not in point.theta for name in found.parameters):
            continue
        near = None
        if slid:
            wanted, axis = point.theta[slid[0]], found.axes[2]
            near = min(range(len(axis)), key=lambda k: abs(axis[k] - wanted))
        dots.append(
            Dot(
                x=_position(point.theta[across], found.axes[0]),
                y=len(found.axes[1]) - 1 - _position(point.theta[up], found.axes[1]),
                place=near,
                number=loss,
                words=place(point.theta, found.parameters),
            )
        )
    return tuple(dots)


def _losses(points: Sequence[TransferPoint], found: LossMap) -> list[ShownNumber]:
    if found.loss_is == "gap":
        return [show(p.gap, digits=4) for p in points]
    best = max((p.returned.estimate for p in points), default=0.0)
    return [
        show(best - p.returned.estimate, certainty="estimated", digits=4)
        for p in points
    ]


def _lost(dot: Dot) -> float:
    return -inf if dot.number.value is None else dot.number.value


def _position(value: float, axis: Sequence[float]) -> float:
    """Return where a value lies on an axis, in cells from 0 on."""
    if len(axis) < 2:
        return 0.0
    at = min(max(bisect_right(axis, value) - 1, 0), len(axis) - 2)
    low, high = axis[at], axis[at + 1]
    part = (value - low) / (high - low) if high > low else 0.0
    return at + min(max(part, -0.5), 1.5)


def _along(
    points: Sequence[TransferPoint], name: str, *, gaps: bool = False
) -> tuple[tuple[float, float, float, float], ...]:
    """Return mean, least and largest return (or gap) of the points near each place."""
    known = sorted(
        (each.theta[name], found.estimate)
        for each in points
        if each.inside
        and name in each.theta
        and (found := each.gap if gaps else each.returned) is not None
    )
    if not known:
        return ()
    values = sorted({value for value, _ in known})
    if len(values) <= MOST_BINS:
        groups = [[each for each in known if each[0] == value] for value in values]
    else:
        bins = min(MOST_BINS, max(2, len(known) // FEWEST))
        ends = [len(known) * at // bins for at in range(bins + 1)]
        groups = [known[a:b] for a, b in pairwise(ends)]
    return tuple(
        (
            sum(value for value, _ in group) / len(group),
            sum(got for _, got in group) / len(group),
            min(got for _, got in group),
            max(got for _, got in group),
        )
        for group in groups
    )
