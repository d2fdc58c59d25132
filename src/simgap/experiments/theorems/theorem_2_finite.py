"""Theorem 2: on any finite class the gap grows at most like sqrt(H), and it can.

Algorithm 3 loses at most C2 = sqrt(H log(2H^2)/2 sum_m sp_m^2) + 2 sum_m sp_m + 1 in
every model (theory 4.6), and by Lemma 1 the oracle at most M C2. On a fixed class the
gap grows like H and then like log H, never like sqrt(H): the square root is that of the
hardest class for each horizon. So the difference e between models shrinks with H:

* two arms, e = c / sqrt(n), n = H - 1 the pulls that count (theory 4.10): the oracle's
  average gap, bracketed;
* four arms and a tree of switches (theory 4.11), e = c sqrt(log(2H^2) / H): Algorithm
  3, sampled in the model that it comes to last.

The greatest gap over c is then a multiple of sqrt(H), and of sqrt(H log(2H^2)) for
Algorithm 3, which comes near its own bound. Below both is what every policy loses.

The powers of D and of M are measured in the same way at one horizon, on switches that
are thrown rarely and on many arms: Theorem 2 allows D and M^(3/2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, final

from simgap.base_policies.paper import optimistic_exploration
from simgap.bounds import finite_class, hardest_best_arm_lower, optimistic_gap
from simgap.experiments.framework.agent_losses import (
    KnownClass,
    solved_oracle,
    worst_of_oracles,
)
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.instances import best_arm, switch_tree
from simgap.intervals import Certified, Estimate, greatest
from simgap.mdp import SimulatorClass
from simgap.records.claim import Check, Figure

POWERS = {"D": 1.0, "M": 1.5}  # that the theorem allows
LEAST, MOST = 0.45, 0.55  # exponents that count as a square root
BUILD: dict[str, Callable[[float], SimulatorClass]] = {
    "four arms": lambda e: best_arm(4, e),
    "tree of switches": lambda e: switch_tree(4, 2, e, 8, delta=0.2),
}  # with models that are e apart; one model per arm, one per pull


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, which c, and what part of the bounds must suffice."""

    oracle_pulls: tuple[int, ...]  # n = H - 1, as the last action is idle
    oracle_scales: tuple[float, ...]  # c of e = c / sqrt(n), two arms
    arm_horizons: tuple[int, ...]
    arm_scales: tuple[float, ...]  # c of e = c sqrt(log(2 H^2) / H), four arms
    tree_horizons: tuple[int, ...]
    tree_scales: tuple[float, ...]
    runs: int
    diameters: tuple[int, ...]  # of one switch with four pulls
    members: tuple[int, ...]  # of arms
    wide_horizon: int
    wide_scales: tuple[float, ...]  # c of e = c sqrt(M log(2 H^2) / (4 H D))
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings(
    oracle_pulls=(32, 64, 128, 256),
    oracle_scales=(1.0, 1.25, 1.5),
    arm_horizons=(10**3, 10**4, 10**5, 10**6),
    arm_scales=(1.2, 1.25, 1.3),
    tree_horizons=(10**5, 2 * 10**5, 5 * 10**5, 10**6),
    tree_scales=(5.5, 6.0, 6.5),
    runs=60,
    diameters=(3, 6, 12, 24),
    members=(2, 4, 8, 16),
    wide_horizon=10**5,
    wide_scales=(1.5, 2.5),
)
FULL = Settings(
    oracle_pulls=(32, 64, 128, 256, 512, 1024),
    oracle_scales=(1.0, 1.125, 1.25, 1.375, 1.5),
    arm_horizons=(10**3, 10**4, 10**5, 10**6, 10**7),
    arm_scales=(1.15, 1.2, 1.25, 1.3, 1.4),
    tree_horizons=(10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7),
    tree_scales=(5.0, 5.5, 6.0, 6.5, 7.0),
    runs=100,
    diameters=(3, 6, 12, 24, 48),
    members=(2, 4, 8, 16, 32),
    wide_horizon=10**6,
    wide_scales=(1.0, 1.5, 2.0, 3.0),
)


@final
@dataclass(frozen=True, slots=True)
class Hardest:
    """At one horizon, the difference between models at which most is lost."""

    name: Annotated[str, "policy and class"]
    horizon: Annotated[int, "H"]
    e: Annotated[float, "e"]
    gap: Annotated[Certified | Estimate, "gap"]  # on average, of the oracle
    bound: Annotated[float, "bound"]  # C2 there, M C2 of the oracle
    parts: Certified | Estimate  # greatest gap over bound, all differences


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    oracles = []
    for pulls in settings.oracle_pulls:
        tell(f"oracle, {pulls} pulls")
        oracles.append(_oracle(pulls, settings.oracle_scales))
    arms, trees = [], []
    for horizon in settings.arm_horizons:
        tell(f"four arms, H = {horizon:,}")
        arms.append(_agent("four arms", horizon, settings.arm_scales, settings, seed))
    for horizon in settings.tree_horizons:
        tell(f"tree of switches, H = {horizon:,}")
        trees.append(
            _agent("tree of switches", horizon, settings.tree_scales, settings, seed)
        )
    wide = {letter: _wide(letter, settings, seed, tell) for letter in POWERS}
    of_oracle = growth_exponent(
        [each.horizon - 1.0 for each in oracles], [each.gap for each in oracles]
    )
    every_policy = [
        hardest_best_arm_lower(horizon=each.horizon, members=2).value
        for each in oracles
    ]
    of_arms, of_tree = _exponent(arms), _exponent(trees)
    share = settings.share
    checks = (
        check(
            "two arms: every oracle loses at most M C2 in any model, all H and e: "
            "greatest ratio",
            greatest([each.parts for each in oracles]),
            share,
        ),
        check(
            "four arms: Algorithm 3 loses at most C2, all H and e: greatest ratio",
            greatest([each.parts for each in arms]),
            share,
        ),
        check(
            "tree of switches: Algorithm 3 loses at most C2, all H and e: greatest "
            "ratio",
            greatest([each.parts for each in trees]),
            share,
        ),
        *_square_root("two arms: the oracle's worst average gap over e", of_oracle),
        *_square_root("four arms: Algorithm 3's over sqrt(log(2H^2))", of_arms),
        *_square_root("tree: Algorithm 3's over sqrt(log(2H^2))", of_tree),
        check(
            "two arms: no policy loses less than the lower bound, the oracle neither: "
            "greatest ratio of bound to gap",
            max(
                bound / each.gap.lower
                for bound, each in zip(every_policy, oracles, strict=True)
            ),
            1.0,
        ),
        *(
            entry
            for letter, found in wide.items()
            for entry in _wide_checks(letter, found, share)
        ),
    )
    return ClaimResult(
        checks=checks,
        key=("exponent in H of the oracle's worst average gap", of_oracle),
        summary=f"With models 1/sqrt(H) apart the oracle's average gap grows like "
        f"H^{of_oracle.estimate:.3f}; Algorithm 3's reaches "
        f"{trees[-1].gap.middle / trees[-1].bound:.2f} of its bound on the tree of "
        f"switches at H = {trees[-1].horizon:,}.",
        figures=(_oracle_figure(oracles, every_policy), _agent_figure(arms, trees)),
        tables=(
            table("The hardest difference e at each horizon", oracles + arms + trees),
            table(
                "The hardest difference e for each D and M",
                [each for found in wide.values() for _, each in found],
            ),
        ),
    )


def _square_root(name: str, exponent: Estimate) -> tuple[Check, Check]:
    return (
        check(f"{name} grows at most like H^{MOST}", exponent, MOST),
        check(f"{name} grows at least like H^{LEAST}", LEAST, exponent),
    )


def _oracle(pulls: int, scales: tuple[float, ...]) -> Hardest:
    found, horizon = [], pulls + 1
    for c in scales:
        known = KnownClass.of("two arms", best_arm(2, c / sqrt(pulls)))
        oracle = solved_oracle(known.simulators, horizon)
        bound = finite_class(horizon=horizon, spans=known.spans).value
        found.append((c / sqrt(pulls), oracle, bound))
    e, oracle, bound = max(found, key=lambda each: each[1].average_gap.lower)
    parts = greatest([worst_of_oracles(each) / most for _, each, most in found])
    return Hardest("oracle, two arms", horizon, e, oracle.average_gap, bound, parts)


def _wide(
    letter: str, settings: Settings, seed: int, tell: Tell
) -> list[tuple[int, Hardest]]:
    """Return what Algorithm 3 loses at one horizon as D grows, or M."""
    horizon, rows = settings.wide_horizon, []
    for each in settings.diameters if letter == "D" else settings.members:
        tell(f"Algorithm 3, {letter} = {each}")
        pulls, rare = (4, each) if letter == "D" else (each, 1)
        found = []
        for c in settings.wide_scales:
            e = 0.5 * c * sqrt(pulls * log(2.0 * horizon**2) / (horizon * rare))
            models = (
                switch_tree(1, pulls, e, pulls, delta=1.0 / rare)
                if letter == "D"
                else best_arm(pulls, e)
            )
            found.append(_last_model(models, e, horizon, settings.runs, seed))
        name = f"Algorithm 3, {letter} = {each}"
        rows.append((each, _hardest(name, horizon, found)))
    return rows


def _wide_checks(
    letter: str, rows: list[tuple[int, Hardest]], share: float
) -> tuple[Check, Check]:
    exponent = growth_exponent([each for each, _ in rows], [row.gap for _, row in rows])
    return (
        check(
            f"Algorithm 3 loses at most C2 for all {letter}: greatest ratio",
            greatest([row.parts for _, row in rows]),
            share,
        ),
        check(
            f"Algorithm 3's gap over e grows at most like {letter}^{POWERS[letter]:g}",
            exponent,
            POWERS[letter] * share,
        ),
    )


def _agent(
    name: str, horizon: int, scales: tuple[float, ...], settings: Settings, seed: int
) -> Hardest:
    found = []
    for c in scales:
        e = c * sqrt(log(2.0 * horizon**2) / horizon)
        found.append(_last_model(BUILD[name](e), e, horizon, settings.runs, seed))
    return _hardest(f"Algorithm 3, {name}", horizon, found)


def _last_model(
    models: SimulatorClass, e: float, horizon: int, runs: int, seed: int
) -> tuple[float, Estimate, float]:
    """Return e, the gap of Algorithm 3 in the model that it comes to last, and C2."""
    known = KnownClass.of("class", models)
    agent = optimistic_exploration(known.known, horizon)
    last = [int(known.known.order[-1])]
    lost = known.losses(agent, horizon, runs=runs, seed=seed, models=last)
    bound = optimistic_gap(horizon=horizon, spans=known.spans).value
    return e, lost.worst_gap, bound


def _hardest(
    name: str, horizon: int, found: list[tuple[float, Estimate, float]]
) -> Hardest:
    e, gap, bound = max(found, key=lambda each: each[1].estimate)
    parts = greatest([lost / most for _, lost, most in found])
    return Hardest(name, horizon, e, gap, bound, parts)


def _exponent(found: list[Hardest]) -> Estimate:
    """Return the power of H, the theorem's own logarithm apart."""
    return growth_exponent(
        [each.horizon for each in found],
        [each.gap / sqrt(log(2.0 * each.horizon**2)) for each in found],
    )


def _oracle_figure(oracles: list[Hardest], every_policy: list[float]) -> Figure:
    horizons = [each.horizon for each in oracles]
    return figure(
        "The oracle on two arms, at the worst difference for each horizon",
        "horizon H",
        "average gap",
        curve("oracle", horizons, [each.gap for each in oracles]),
        curve("M C2", horizons, [each.bound for each in oracles], bound=True),
        curve("H: no promise", horizons, horizons, bound=True),
        curve("every policy loses at least", horizons, every_policy, bound=True),
    )


def _agent_figure(arms: list[Hardest], trees: list[Hardest]) -> Figure:
    curves = []
    for name, found in (("four arms", arms), ("tree of switches", trees)):
        horizons = [each.horizon for each in found]
        bounds = [each.bound for each in found]
        curves.append(
            curve(f"{name}: Algorithm 3", horizons, [each.gap for each in found])
        )
        curves.append(curve(f"{name}: C2", horizons, bounds, bound=True))
    horizons = sorted({each.horizon for each in arms + trees})
    curves.append(curve("H: no promise", horizons, horizons, bound=True))
    return figure(
        "Algorithm 3 at the worst difference for each horizon",
        "horizon H",
        "gap in the model that it comes to last",
        *curves,
        note="It loses most of what its bound allows.",
    )


CLAIM = Claim(
    name="theorem-2",
    title="Finite classes: the gap grows like sqrt(H)",
    statement="Over any finite set of simulators, however alike, a policy trained on "
    "all of them loses at most a constant times sqrt(H log H) in the real one; on the "
    "hardest sets it does lose that much, so the promise cannot be improved by more "
    "than the logarithm. It grows at most like the diameter and the number of "
    "simulators to the power 3/2.",
    source="Theorem 2 with Theorem 6 and Lemma 1 (theory 4.6, 4.10, 4.11)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E17", "E29"),
)
