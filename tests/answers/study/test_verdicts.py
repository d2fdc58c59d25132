"""Verdicts of a study: codes from the ends of intervals."""

from __future__ import annotations

from typing import Any

import pytest

from simgap.answers.study.verdicts import (
    how_near,
    what_it_is_worth,
)
from simgap.intervals import Estimate
from simgap.records.transfer import Worth


def about(value: float, half: float) -> Estimate:
    return Estimate(value, value - half, value + half, 0.95)


def worth(value: Estimate, **more: Any) -> Worth:
    return Worth(
        what="memory",
        policy="gru",
        against="none",
        value=value,
        evaluation=value,
        seed_spread=1.0,
        trainings=(5, 5),
        **{"worst": about(-20.0, 5.0), "worst_against": about(-22.0, 5.0), **more},
    )


@pytest.mark.parametrize(
    ("value", "word", "ending"),
    [
        (about(20.0, 5.0), "yes", "pays"),
        (about(12.0, 11.0), "yes", "pays"),
        (about(3.0, 2.0), "yes", "pays-little"),
        (about(3.0, 4.0), "no", "not-needed"),
        (about(0.0, 9.0), "no", "not-needed"),
        (about(3.0, 8.0), "undecided", "undecided"),
        (about(-20.0, 30.0), "no", "not-needed"),
        (about(-20.0, 5.0), "no", "harms"),
        (about(-5.0, 5.0), "no", "not-needed"),
        (about(5.0, 5.0), "no", "not-needed"),
    ],
)
def test_what_a_thing_is_worth(value: Estimate, word: str, ending: str) -> None:
    """Ten matters."""
    found = what_it_is_worth(worth(value), 10.0)
    assert (found.word, found.code) == (word, f"memory-{ending}")


def test_the_worst_point_alone_may_need_memory() -> None:
    better = {"worst": about(-20.0, 5.0), "worst_against": about(-90.0, 5.0)}
    found = what_it_is_worth(worth(about(3.0, 8.0), **better), 10.0)
    assert (found.word, found.code) == ("yes", "memory-pays-at-worst")
    overlapping = {**better, "worst_against": about(-27.0, 5.0)}
    found = what_it_is_worth(worth(about(3.0, 8.0), **overlapping), 10.0)
    assert found.code == "memory-undecided"


@pytest.mark.parametrize(
    ("gap", "lost", "code"),
    [
        (about(3.0, 2.0), about(60.0, 5.0), "near-informed"),
        (about(3.0, 2.0), None, "near-informed"),
        (about(20.0, 2.0), about(60.0, 5.0), "not-near-informed"),
        (about(9.0, 3.0), about(60.0, 5.0), "near-undecided"),
        (about(7.0, 1.0), about(20.0, 5.0), "not-near-informed"),  # a quarter of 20
        (about(4.0, 0.5), about(20.0, 5.0), "near-informed"),
        (about(4.0, 0.5), about(2.0, 5.0), "near-informed"),  # nothing to compare with
    ],
)
def test_how_near_the_informed_policy(
    gap: Estimate, lost: Estimate | None, code: str
) -> None:
    """Ten matters, or a quarter of what the policy without memory loses."""
    found = how_near("gru", gap, "none", lost, 10.0)
    assert found.code == code
    assert (found.word == "undecided") == (code == "near-undecided")
