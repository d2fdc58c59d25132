"""Improved agents lose far less than the paper's and keep their own bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.claim import ClaimResult
from simgap.experiments.remarks.improved_agents import (
    AGENTS,
    CLAIM,
    LIKELIHOOD,
    PAPER,
    Settings,
    measured,
)
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(
    rivers=3,
    horizons=(10**5,),
    runs=12,
    ratio_runs=300,
    worst_runs=30,
    bound_horizon=300,
    bound_runs=150,
    factor=2.0,
    worst_factor=2.0,
)


@pytest.fixture(scope="module")
def found() -> ClaimResult:
    return measured(TINY, 0, silent)


def test_three_agents_lose_less_and_keep_their_bounds(found: ClaimResult) -> None:
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected


def test_every_agent_is_in_the_tables(found: ClaimResult) -> None:
    for table in found.tables:
        assert tuple(row[0] for row in table.rows) == tuple(AGENTS)
        by_name = {row[0]: row for row in table.rows}
        assert float(by_name[LIKELIHOOD][-1]) < 0.2 * float(by_name[PAPER][-1])


def test_nobody_loses_ten_thousand_times_less() -> None:
    greedy = replace(TINY, horizons=(3000,), ratio_runs=3, bound_runs=3, factor=1e4)
    assert measured(greedy, 0, silent).verdict is ClaimVerdict.REFUTED
