"""Theorems 4 and 7: radius, ridge, episodes and what they add up to."""

from __future__ import annotations

from itertools import product
from math import inf, log, log2, sqrt

import pytest

from simgap.bounds import (
    Quantity,
    Radius,
    Ridge,
    Switches,
    general_optimistic_gap,
    general_optimistic_regret,
    infinite_class,
)


def test_theorem_7_is_the_formula_of_the_theory() -> None:
    Dl, d, M, H = 6.0, 3.0, 4, 1000
    alpha, beta = Dl**2 + 1, 2 * Dl**2 * log(M * H)
    pairs = 1 + M * (M - 1) / 2 * log2(1 + H * Dl**2 / alpha)
    wanted = 1 + Dl * d + 2 * sqrt((8 * beta + alpha + Dl**2) * d * H)
    wanted += Dl / 2 + pairs * Dl + 1
    found = general_optimistic_regret(
        horizon=H, span=Dl, eluder=d, functions=M, switches=Switches.PAIRS
    )
    assert found.value == pytest.approx(wanted, rel=1e-14)
    assert found.constant("beta") == pytest.approx(beta)
    assert found.constant("K") == pytest.approx(pairs)
    gap = general_optimistic_gap(
        horizon=H, span=Dl, eluder=d, functions=M, switches=Switches.PAIRS
    )
    assert gap.value == pytest.approx(wanted + Dl, rel=1e-14)
    assert gap.quantity is Quantity.BASE_GAP


def test_covers_and_the_printed_constants() -> None:
    """c = 11 covers 2 + 6/(D log(HN)) from two steps on (theory 3.3)."""
    Dl, d, N, H = 2.0, 2.0, 7.0, 400

    def beta(radius: Radius) -> float:
        return general_optimistic_regret(
            horizon=H, span=Dl, eluder=d, covering=N, radius=radius
        ).constant("beta")

    assert beta(Radius.COVER) == pytest.approx(2 * Dl**2 * log(N * H) + 6 * Dl)
    assert beta(Radius.PAPER) == pytest.approx(11 * Dl**2 * log(N * H))
    for span, covering, horizon in product((1.0, 5.0), (1.0, 2.0, 90.0), (2, 3, 50)):
        kinds = [
            general_optimistic_regret(
                horizon=horizon, span=span, eluder=1, covering=covering, radius=radius
            ).constant("beta")
            for radius in (Radius.COVER, Radius.PAPER)
        ]
        assert kinds[0] <= kinds[1]
    wide = general_optimistic_regret(
        horizon=H, span=Dl, eluder=d, functions=4, ridge=Ridge.PAPER
    )
    assert wide.constant("alpha") == 4 * Dl**2 + 1


def test_episodes_are_the_least_of_three_counts() -> None:
    def episodes(
        horizon: int, functions: float, eluder: float, switches: Switches
    ) -> float:
        return general_optimistic_regret(
            horizon=horizon,
            span=3.0,
            eluder=eluder,
            functions=functions,
            covering=9.0,
            radius=Radius.COVER,
            switches=switches,
        ).constant("K")

    H, d = 10**6, 2.0
    bins = log2(3.0 * sqrt(H)) + 2
    by_eluder = 1 + 2 * (1 + bins * d * (4 * log(H) + 1))
    assert episodes(H, inf, d, Switches.ELUDER) == pytest.approx(by_eluder, rel=1e-14)
    assert episodes(H, 500, d, Switches.LEAST) == pytest.approx(by_eluder, rel=1e-14)
    assert episodes(H, 3, d, Switches.LEAST) == episodes(H, 3, d, Switches.PAIRS)
    assert episodes(3, 500, d, Switches.LEAST) == 3.0  # an episode has a step
    assert episodes(H, 1, 0.0, Switches.PAIRS) == 1.0
    counts = [episodes(h, 5, 1.0, Switches.LEAST) for h in range(1, 300)]
    assert counts == sorted(counts)


def test_the_regret_grows_with_the_horizon_and_is_found_first_below_it() -> None:
    bound = general_optimistic_regret(horizon=10, span=2.0, eluder=2.0, functions=3)
    values = [bound.at(h) for h in (1, 2, 3, 4, 5, 10, 100, 10**4, 10**6, 10**9)]
    assert values == sorted(values)
    begin = bound.non_vacuous_from
    assert begin is not None
    assert bound.at(int(begin)) < begin
    assert all(bound.at(h) >= h for h in range(int(begin) - 300, int(begin)))


def test_flat_biases_leave_only_the_constants() -> None:
    flat = general_optimistic_regret(horizon=100, span=0.0, eluder=0.0, functions=5)
    assert flat.value == 2.0


def test_what_theorem_7_asks_for_is_said() -> None:
    far = general_optimistic_gap(horizon=9, span=inf, eluder=0.0, functions=3)
    assert far.value == inf
    assert "finite diameter" in far.unmet[0]
    endless = general_optimistic_gap(horizon=9, span=1.0, eluder=2.0)
    assert endless.value == inf
    assert "finite class" in endless.unmet[0]
    unknown = general_optimistic_gap(horizon=9, span=1.0, eluder=inf, functions=3)
    assert "eluder" in unknown.unmet[0]
    bare = general_optimistic_gap(horizon=9, span=1.0, eluder=1.0, radius=Radius.COVER)
    assert "covering" in bare.unmet[0]
    short = general_optimistic_gap(
        horizon=1, span=1.0, eluder=1.0, covering=2.0, radius=Radius.PAPER
    )
    assert "constant 11" in short.unmet[0]


def test_theorem_4_takes_the_best_ball() -> None:
    base = general_optimistic_gap(horizon=10**6, span=2.0, eluder=2.0, functions=50)
    masses, radii, L = [0.02, 0.3, 1.0], [0.0, 0.1, 1.0], 3e5
    found = infinite_class(base, radii=radii, masses=masses, lipschitz=L)
    wanted = [base.value / m + L * e for e, m in zip(radii, masses, strict=True)]
    assert found.value == pytest.approx(min(wanted))
    assert found.constant("eps") == radii[wanted.index(min(wanted))]
    assert found.claim == "Theorem 4 (corrected)"
    assert found.non_vacuous_from is None  # L belongs to one horizon
    alone = infinite_class(base, radii=[0.0], masses=[0.02], lipschitz=0.0)
    assert alone.value == pytest.approx(50 * base.value)
    assert alone.non_vacuous_from is not None
