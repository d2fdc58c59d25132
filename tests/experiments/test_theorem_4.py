"""Infinite classes: the printed promise fails, the corrected one holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.base_policies.infinite.general_mixture import optimistic_mixture
from simgap.base_policies.infinite.mixture_class import mixture_of
from simgap.experiments.printed import theorem_4_printed as printed
from simgap.experiments.theorems import theorem_4_corrected as corrected
from simgap.instances.bandit import bandit
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

PRINTED = printed.Settings(horizons=(1000, 5000, 20_000), solved=(5, 10))
CORRECTED = corrected.Settings((10_000, 50_000), (300, 300, 200), members=2, runs=3)


def test_the_printed_theorem_fails_on_4h_plus_5_models_and_on_a_continuum() -> None:
    found = printed.measured(PRINTED, 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is printed.CLAIM.expected
    *refuted, closed = found.checks
    assert [check.verdict for check in refuted] == [ClaimVerdict.REFUTED] * 4
    assert closed.verdict is ClaimVerdict.HOLDS
    rows = found.tables[0].rows
    assert {row[1] for row in rows[:3]} == {"infinitely many"}
    assert rows[-2][:4] == (5, "25", 1, 2)  # theory row 25: d_e, N of 25 models, H = 5
    assert rows[-2][4] == pytest.approx(2.0)  # theory row 23
    for row in rows[:6]:
        assert isinstance(row[0], int)
        assert row[4] == (row[0] - 1) / 2


def test_an_arm_that_is_worth_a_try_is_tried_and_print_is_right() -> None:
    """The control: uniform in the mean itself."""
    likely = printed.Settings((10, 12, 14), solved=(), power=1, finite=False)
    assert printed.measured(likely, 0, silent).verdict is ClaimVerdict.HOLDS


def test_the_corrected_theorem_holds_for_all_members() -> None:
    found = corrected.measured(CORRECTED, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is corrected.CLAIM.expected


def test_with_the_printed_constant_or_little_of_the_guarantee_it_fails() -> None:
    control = replace(CORRECTED, printed=True, runs=20, share=0.001)
    told = [check.verdict for check in corrected.measured(control, 0, silent).checks]
    assert told[:2] == [ClaimVerdict.REFUTED] * 2  # without L_gap, at every horizon
    assert told[2:4] == [ClaimVerdict.HOLDS] * 2  # which is what these say
    assert len(told) == 8
    assert ClaimVerdict.REFUTED in told[5:]  # the agents


def test_every_scale_runs_an_agent_against_its_guarantee() -> None:
    """A guarantee that is not below the horizon is no check."""
    for settings in (corrected.QUICK, corrected.FULL):
        mixture = mixture_of(bandit([[0.5, 0.0], [0.5, 1.0]]))
        horizon = settings.agent_horizons[0]
        assert optimistic_mixture(mixture, horizon).guarantee(2.0).gap < horizon
