"""Random randomizations, from a seed: the same ones every time."""

import numpy as np

from simgap.continuous import (
    Choice,
    Distribution,
    Fixed,
    Group,
    Item,
    LogUniform,
    Operation,
    Randomization,
    Rows,
    TruncatedNormal,
    Uniform,
)

NAMES = (
    "mass",
    "length_2",
    "body.torso.mass",
    "geom.*.friction",
    "actuator[*].gear",
    "body[*_foot].mass",
    "wheel[0].radius",
    "größe",
    "left-leg/knee",
    "x",
)
FILES = ("posterior.csv", "my rows/p (2).npz", 'a "b".csv', "ü#.csv", "../up.npz")


def distribution(rng: np.random.Generator) -> Distribution:
    scale = 10.0 ** rng.integers(-12, 13)
    low, high = np.sort(rng.normal(size=2)) * scale
    kind = rng.integers(6)
    if kind == 0:
        return Fixed(low)
    if kind == 1:
        return Uniform(low, high if rng.random() < 0.8 else low)
    if kind == 2:
        return LogUniform(*np.sort(np.exp(10.0 * rng.normal(size=2))))
    if kind == 3:
        sd = float(scale * rng.exponential()) + 1e-15
        if rng.random() < 0.3:
            return TruncatedNormal(low, sd)
        ends = low - 2.0 * sd * rng.random(), low + 3.0 * sd * rng.random()
        cut = rng.random()
        return TruncatedNormal(
            low,
            sd,
            -np.inf if cut < 0.2 else ends[0],
            np.inf if cut > 0.8 else ends[1],
        )
    values = tuple(np.unique(rng.integers(-50, 50, size=rng.integers(1, 7)) / 4.0))
    values = tuple(rng.permutation(values).tolist())
    weights = tuple(rng.exponential(size=len(values))) if kind == 4 else ()
    return Choice(values, weights)


def randomization(seed: int) -> Randomization:
    rng = np.random.default_rng(seed)
    names = rng.permutation(NAMES)[: rng.integers(0, len(NAMES) + 1)].tolist()
    operations = list(Operation)
    items = tuple(
        Item(name, distribution(rng), operations[rng.integers(3)]) for name in names
    )
    groups = []
    single = [name for name in names if "[*" not in name]
    if len(single) >= 2 and rng.random() < 0.5:
        members = single[: rng.integers(2, len(single) + 1)]
        scores = rng.normal(size=(len(members), 2 * len(members)))
        matrix = np.corrcoef(scores)
        matrix = np.tril(matrix, -1) + np.tril(matrix, -1).T + np.eye(len(members))
        groups.append(
            Group(
                "pay load"[: rng.integers(1, 4)],
                tuple(members),
                tuple(map(tuple, matrix)),
            )
        )
    rows = Rows(str(rng.choice(FILES))) if rng.random() < 0.3 else None
    return Randomization(items, tuple(groups), rows)
