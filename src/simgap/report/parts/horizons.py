"""The gap at growing horizons: trained on one model by real in another, and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

from simgap.records.files import damaged_record
from simgap.records.gap import Gap, HorizonGaps
from simgap.report.heat_plots import SlidingHeat, Table, spread_out
from simgap.report.plots import Curve, CurvePlot, Point, short_names, shown_curve
from simgap.report.shown_number import certainty_of, show
from simgap.text import number, shown, without_parameters

ROUNDING = 1e-9  # of what is at stake: 0 but for rounding
MOST_CELLS = 8_000  # of a map, over all horizons
LINES = (
    ("average_gap", "best agent there can be"),
    ("memoryless", "best found without memory"),
    ("random", "acts at random"),
)


def _rows(record: Gap) -> list[HorizonGaps]:
    return sorted(
        (each for each in record.by_horizon or () if each.horizon > 0),
        key=lambda each: each.horizon,
    )


def _noise(rows: Sequence[HorizonGaps]) -> float:
    return ROUNDING * max((abs(row.random) for row in rows), default=0.0)


def trained_plot(record: Gap, key: str) -> SlidingHeat | None:
    """Return the map of what a plan for one model loses where another is real."""
    rows = _rows(record)
    word = certainty_of(record.certainty.get("by_horizon"))
    kept = record.trained or ()
    if any(not 0 <= at < len(record.names) for at in kept):
        raise damaged_record(kept[:5], f"some of {len(record.names)} models")
    names = [record.names[at] for at in kept]
    drawn = [each for each in rows if each.train and len(names) > 1]
    if not drawn:  # a class of one model has nothing to compare
        return None
    places = spread_out(len(names), max(2, isqrt(MOST_CELLS // len(drawn))))
    noise = _noise(rows)
    short, what = without_parameters([shown(name) for name in names])
    labels = short_names([short[at] for at in places])
    by = f", by {shown(what, 40)}" if what else ""
    left = f" {len(places)} of {len(names)} models are drawn." * (
        len(places) < len(names)
    )
    return SlidingHeat(
        key=key,
        title="Trained on one model, put in another",
        row_axis="trained on" + by,
        column_axis="real model" + by,
        value="gap",
        rows=labels,
        columns=labels,
        slider="horizon H",
        places=tuple(str(each.horizon) for each in drawn),
        tables=tuple(_table(each, len(names), places, word, noise) for each in drawn),
        note="What the best plan for one model loses where another is real. Move the "
        f"slider to see it grow; colours mean the same at every horizon.{left}",
        row_word="trained on",
        column_word="real:",
    )


def _table(
    row: HorizonGaps, size: int, places: Sequence[int], word: str, noise: float
) -> Table:
    table = row.train
    if len(table) != size or any(len(each) != size for each in table):
        raise damaged_record(row.horizon, f"a table of {size} by {size} gaps")
    return tuple(
        tuple(show(table[i][j], certainty=word, noise=noise) for j in places)
        for i in places
    )


def growth_plot(record: Gap, key: str) -> CurvePlot | None:
    """Return gaps and bounds over the horizon, on logarithmic axes."""
    rows = _rows(record)
    word = certainty_of(record.certainty.get("by_horizon"))
    if len(rows) < 2:
        return None
    noise = _noise(rows)
    curves = [
        shown_curve(
            name,
            [
                (float(row.horizon), found)
                for row, found in ((row, show(getattr(row, field))) for row in rows)
                if found.upper is not None and found.upper > noise
            ],
            word,
        )
        for field, name in LINES
    ]
    bounds, marks, silent = _bounds(rows)
    drawn = tuple(each for each in (*curves, *bounds) if each.points)
    if not drawn:
        return None
    note = "A gap of 0 has no place on this axis."
    if bounds:
        note += " Dashed lines are what theorems of the paper promise; one says "
        note += "something where it is below the line of acting at random."
    if silent:
        note += " Here none does." if not marks else f" Not so for {', '.join(silent)}."
        note += f" What says nothing is hidden at first: {_least(bounds, silent)}. "
        note += "Press a name to see it."
    return CurvePlot(
        key=key,
        title="What is lost as episodes grow",
        x="horizon H",
        y="average gap",
        curves=drawn,
        log_x=True,
        log_y=True,
        note=note,
        marks=tuple(marks),
    )


def _bounds(
    rows: Sequence[HorizonGaps],
) -> tuple[list[Curve], list[tuple[float, str]], list[str]]:
    """Return the bounds, where they begin to say something, and which never do."""
    found: dict[str, list[Point]] = {}
    stakes = {float(row.horizon): row.random for row in rows}
    for row in rows:
        for bound in row.bounds:
            ends = (bound.value, bound.value)
            point = (float(row.horizon), bound.value, *ends)
            found.setdefault(shown(bound.name), []).append(point)
    marks, silent = [], []
    for name, points in found.items():
        start = _says_from(points, stakes)
        if start is None:
            silent.append(name)
        else:
            marks.append((start, f"{name} says something"))
    curves = [
        Curve(name, tuple(p), "certified", bound=True, hidden=name in silent)
        for name, p in found.items()
    ]
    return curves, marks, silent


def _least(bounds: Sequence[Curve], silent: Sequence[str]) -> str:
    """Return how large the bounds are that say nothing."""
    steps, least = min(
        (each.points[-1][:2] for each in bounds if each.name in silent),
        key=lambda point: point[1],
    )
    return (
        f"at {number(steps, 4)} steps it is {number(least, 3)} or more, "
        "beside which all losses would look flat"
    )


def _says_from(points: Sequence[Point], stakes: Mapping[float, float]) -> float | None:
    """Return the horizon from which on a bound is below what is at stake."""
    start = None
    for steps, _, _, upper in points:
        if upper >= stakes[steps]:
            start = None
        elif start is None:
            start = steps
    return start
