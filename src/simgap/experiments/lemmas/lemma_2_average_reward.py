"""Lemmas 2 and 3: an episode of H steps beside H times the average reward.

For a communicating model with diameter D, gain rho, a solution l of the optimality
equation with min l = 0, and rewards between r0 and r1 (theory 4.2):

    sp(l) <= D (rho - r0)
    l(s) - max l <= V*_n(s) - n rho <= l(s)
    sp(V*_n) <= D (r1 - r0)

for every number n of steps to go and every state s, so |V*_n - n rho| <= sp(l) <= D.
Each line is checked on random models and on named ones, as the greatest ratio of its
two sides. Lines are met with equality (cycles meet the first), so one part in 10^7 is
allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from simgap.bounds import bias_span, value_span
from simgap.complexity import precise_biases
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.shared_classes import random_class
from simgap.instances import (
    adverse,
    chain,
    cycle,
    garnet,
    linear_bandit,
    riverswim,
    slip_grid,
    switch,
    switch_tree,
    two_optima,
    windy_grid,
)
from simgap.intervals import Certified, greatest
from simgap.mdp import SimulatorClass
from simgap.planning import diameter, relative_values
from simgap.records.claim import Figure

ALLOWED = 1e-7  # of a line that is met with equality; solvers are off by less


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How many random models, and how long."""

    garnets: int
    dense: int  # random models in which every state follows every other
    horizon: int
    shown: tuple[int, ...]  # horizons of the figure
    share: float = 1.0  # of the diameter that is held against; a control takes less


QUICK = Settings(garnets=60, dense=60, horizon=60, shown=(1, 3, 10, 30, 100, 300))
FULL = Settings(
    garnets=400, dense=400, horizon=200, shown=(1, 3, 10, 30, 100, 300, 1000, 3000)
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The greatest ratio of each line over the models of a class."""

    name: Annotated[str, "model"]
    diameter: Annotated[float, "D"]
    gain: Annotated[float, "rho"]
    span: Annotated[float, "sp(l)"]
    bias: Annotated[Certified, "sp(l) over D (rho - min R)"]
    drift: Annotated[Certified, "|V* - n rho| over sp(l)"]
    drift_far: Annotated[Certified, "|V* - n rho| over D"]
    values: Annotated[Certified, "sp(V*) over D (max R - min R)"]

    @property
    def ratios(self) -> tuple[Certified, ...]:
        """Return the greatest ratio of each line."""
        return self.bias, self.drift, self.drift_far, self.values


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    named = []
    for name, simulators in _named():
        tell(name)
        named.append(_row(name, simulators, settings))
    tell("random models")
    random = [
        _row(name, simulators, settings)
        for name, simulators in _random(settings, np.random.default_rng(seed))
    ]
    everything = named + random
    worst = _greatest("all models", everything)
    together = _greatest(f"{len(random)} random models, the greatest of each", random)
    shown = table("Greatest ratios of the two sides of each line", [*named, together])
    checks = tuple(
        check(
            f"{words} is at most 1 in {len(everything)} models or classes, every state "
            f"and every n up to {settings.horizon} (one part in 10^7 allowed)",
            found,
            1.0 + ALLOWED,
        )
        for words, found in zip(shown.columns[4:], worst.ratios, strict=True)
    )
    return ClaimResult(
        checks=checks,
        key=("greatest |V* - n rho| over sp(l)", worst.drift),
        summary=f"In {len(everything)} models and classes, |V* - n rho| reached "
        f"{worst.drift.middle:.4f} of sp(l) and {worst.drift_far.middle:.4f} of D, and "
        f"the span of the bias {worst.bias.middle:.4f} of D (rho - min R): never more.",
        figures=(_figure(settings),),
        tables=(shown,),
    )


def _named() -> Iterator[tuple[str, SimulatorClass]]:
    yield "cycle of 5", cycle(5)
    yield "RiverSwim, 6 states", riverswim(6)
    yield "RiverSwim, 12 states, 3 currents", riverswim(12, (0.3, 0.45, 0.6))
    yield "switch", switch((0.1, 0.25), (0.05, 0.1))
    yield "switch tree", switch_tree(4, 2, 0.05, 3, delta=0.2)
    yield "chain against the current", adverse(6)
    yield "chains", chain(8, (0.3, 0.5), (0.3, 0.5))
    yield "Proposition 2", linear_bandit(9)
    yield "two optimal sets", two_optima()
    yield "slippery grid", slip_grid()
    yield "windy grid", windy_grid()


def _random(
    settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[str, SimulatorClass]]:
    for number in range(settings.garnets):
        states, actions = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        branching = int(rng.integers(1, min(states, 3) + 1))
        seed = int(rng.integers(2**31))
        yield f"garnet {number}", garnet(states, actions, branching, 1, seed=seed)
    for number in range(settings.dense):
        states, actions = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        uneven = float(rng.choice([0.1, 0.3, 1.0]))
        yield (
            f"dense {number}",
            random_class(rng, members=1, states=states, actions=actions, uneven=uneven),
        )


def _row(name: str, simulators: SimulatorClass, settings: Settings) -> Row:
    models = range(len(simulators))
    return _greatest(name, [_of_model(simulators, settings, m) for m in models])


def _greatest(name: str, rows: list[Row]) -> Row:
    """Return the greatest number in each column."""
    ratios = zip(*(row.ratios for row in rows), strict=True)
    return Row(
        name,
        max(row.diameter for row in rows),
        max(row.gain for row in rows),
        max(row.span for row in rows),
        *(greatest(each) for each in ratios),
    )


def _of_model(simulators: SimulatorClass, settings: Settings, member: int) -> Row:
    """Return the greatest ratio of each line in one model.

    l is the stored solution. Its equation holds up to a residual e, for which the first
    line reads D (rho + e - min R) and the second gains n e.
    """
    model = simulators[member].as_class()
    far, plan = diameter(model), precise_biases(model)
    ahead = relative_values(model, settings.horizon, plan, last_steps=settings.horizon)
    low, high = float(model.rewards.min()), float(model.rewards.max())
    residual, error = float(plan.residual[0]), float(ahead.error[0])
    width = float(plan.gain_upper[0] - plan.gain_lower[0])
    d_low, d_high = (
        float(end[0]) * settings.share for end in (far.model_lower, far.model_upper)
    )
    span = float(plan.bias_span[0])
    off = error + settings.horizon * (width + residual)
    largest = float(np.abs(ahead.last[0]).max())
    drift = Certified(max(0.0, largest - off), largest + off)
    spans = np.ptp(ahead.last[0], axis=1)
    of_values = float(spans.max())
    spread = Certified(max(0.0, of_values - 2 * error), of_values + 2 * error)
    gain = float(plan.gain_lower[0]) + residual, float(plan.gain_upper[0]) + residual
    limits = Certified(
        *(
            bias_span(d, rho, least_reward=low).value
            for d, rho in zip((d_low, d_high), gain, strict=True)
        )
    )
    widest = Certified(
        *(
            value_span(d, least_reward=low, greatest_reward=high).value
            for d in (d_low, d_high)
        )
    )
    return Row(
        name=f"model {member}",
        diameter=far.upper,
        gain=float(plan.gain[0]),
        span=span,
        bias=span / limits,
        drift=drift / span,
        drift_far=drift / Certified(d_low, d_high),
        values=spread / widest,
    )


def _figure(settings: Settings) -> Figure:
    river = riverswim(6)
    plan, far = precise_biases(river), diameter(river)
    horizons = settings.shown
    away = [
        float(np.abs(relative_values(river, h, plan).values).max()) for h in horizons
    ]
    span, most = [float(plan.bias_span[0])] * len(away), [far.upper] * len(away)
    return figure(
        "RiverSwim with 6 states: how far V* is from H rho",
        "horizon H",
        "greatest |V* - H rho| over states",
        curve("|V* - H rho|", horizons, away),
        curve("sp(l)", horizons, span, bound=True),
        curve("D", horizons, most, bound=True),
    )


CLAIM = Claim(
    name="lemma-2",
    title="An episode earns H times the average reward, up to the diameter",
    statement="If every state can be reached from every other, the best return of H "
    "steps differs from H times the best average reward by no more than the span of "
    "the bias, which is no more than the diameter; optimal returns from two states "
    "never differ by more than the diameter.",
    source="Lemmas 2 and 3 (theory 4.2)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E6", "E22"),
)
