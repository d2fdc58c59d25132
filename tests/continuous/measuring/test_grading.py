"""Numbers of a transfer from returns that are easy to do in the head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.continuous import Cube, Drawn, DrawnPoints, Failure, compared, graded
from simgap.errors import InvalidArgument
from simgap.records.note import Note

POINTS, EPISODES = 4, 40


def cube(bounds: tuple[float, float] | None = (0.0, 10.0)) -> Cube:
    """Return two policies: one gets 2, 4, 6, 8 with noise, a reference 1 more."""
    wave = np.tile([-0.5, 0.5], EPISODES // 2)
    mean = np.array([2.0, 4.0, 6.0, 8.0])[:, None] + wave
    returns = np.stack([mean, mean + 1.0])[:, None]
    return Cube(
        policies=("mine", "informed"),
        parameters=("mass",),
        theta=np.array([[0.5], [1.0], [1.5], [2.0]]),
        inside=np.array([True, True, True, False]),
        returns=returns,
        success=(returns > 3.0).astype(float),
        references=("informed",),
        bounds=bounds,
    )


def codes(notes: tuple[Note, ...]) -> list[str]:
    return [each.code for each in notes]


EVERY = DrawnPoints(Drawn.EVERY)


def test_means_are_over_the_points_inside_and_beyond_apart() -> None:
    mine, informed = graded(cube(), EVERY).policies
    assert mine.mean.estimate == pytest.approx(4.0)
    assert mine.beyond is not None
    assert mine.beyond.estimate == pytest.approx(8.0)
    assert mine.mean.guaranteed is not None and mine.worst.guaranteed is not None
    assert mine.worst.theta == {"mass": 0.5}
    assert mine.gap is not None
    assert mine.gap.estimate == pytest.approx(1.0)
    assert (informed.is_reference, informed.gap, informed.worst_gap) == (
        True,
        None,
        None,
    )
    assert mine.success is not None
    assert mine.success.estimate == pytest.approx(2.0 / 3.0)


def test_weights_are_those_of_the_points() -> None:
    weighted = DrawnPoints(Drawn.EVERY, weights=np.array([6.0, 3.0, 1.0, 5.0]))
    mine = graded(cube(), weighted).policies[0]
    assert mine.mean.estimate == pytest.approx((6 * 2.0 + 3 * 4.0 + 1 * 6.0) / 10)


def test_a_negative_gap_is_told_as_it_is() -> None:
    turned = replace(cube(), references=("mine",))
    informed = graded(turned, EVERY).policies[1]
    assert informed.gap is not None
    assert informed.gap.estimate == pytest.approx(-1.0)
    assert [each.gap.estimate for each in informed.points if each.gap] == [-1.0] * 4


def test_without_bounds_nothing_is_guaranteed_but_counts() -> None:
    found = graded(cube(bounds=None), EVERY)
    mine = found.policies[0]
    assert "no-bounds" in codes(found.notes)
    assert mine.mean.guaranteed is mine.points[0].returned.guaranteed is None
    assert mine.points[0].success is not None
    assert mine.points[0].success.guaranteed is not None


def broken(bounds: tuple[float, float] | None) -> Cube:
    given = cube(bounds)
    returns, success = np.array(given.returns), np.array(given.success)
    returns[0, 0, 2, :4] = success[0, 0, 2, :4] = np.nan
    failures = tuple(
        Failure("mine", 0, 2, k, 7, "action-not-finite", "") for k in range(4)
    )
    return replace(given, returns=returns, success=success, failures=failures)


def test_broken_episodes_are_the_least_return_and_no_success() -> None:
    found = graded(broken((0.0, 10.0)), EVERY)
    point = found.policies[0].points[2]
    assert "broken-count-as-least" in codes(found.notes)
    assert (point.broken, point.episodes) == (4, EPISODES)
    assert point.returned.estimate == pytest.approx(6.0 * 36 / 40)
    assert point.success is not None
    assert point.success.estimate == pytest.approx(36 / 40)


def test_without_bounds_broken_episodes_are_left_out() -> None:
    found = graded(broken(None), EVERY)
    point = found.policies[0].points[2]
    assert "broken-left-out" in codes(found.notes)
    assert (point.broken, point.episodes) == (4, EPISODES - 4)
    assert point.returned.estimate == pytest.approx(6.0)
    assert point.gap is not None
    assert point.gap.estimate == pytest.approx(1.0)


def test_the_region_of_large_losses_is_a_box_of_points_that_are_certain() -> None:
    """The reference gets 6 everywhere: what is lost is 4, 2 and 0."""
    mine = cube().returns[:1]
    best = mine + np.array([4.0, 2.0, 0.0, 0.0])[:, None]
    both = replace(cube(), returns=np.concatenate([mine, best]), success=None)
    region = graded(both, EVERY, threshold=1.0).policies[0].region
    assert region is not None
    assert region.certain <= 2.0 / 3.0 <= region.possible
    wide = graded(both, EVERY, threshold=0.2).policies[0].region
    assert wide is not None
    assert wide.ranges == {"mass": (0.5, 1.0)}


def test_few_training_seeds_are_told() -> None:
    given = cube()
    twice = np.concatenate([given.returns, given.returns + 0.2], axis=1)
    found = graded(replace(given, returns=twice, success=None), EVERY)
    assert "few-training-seeds" in codes(found.notes)
    mine = found.policies[0]
    assert mine.training_seeds == 2  # the number is about these two
    thrice = np.concatenate([twice, given.returns + 0.4], axis=1)
    more = graded(replace(given, returns=thrice, success=None), EVERY)
    assert "few-training-seeds" not in codes(more.notes)
    wide = more.policies[0].mean
    assert wide.upper - wide.lower > 2 * 3.0 * 0.2 / np.sqrt(3)  # t with few freedoms
    assert mine.mean.upper - mine.mean.lower < 0.5


def test_looks_cost_width_and_are_told() -> None:
    fixed, looked = graded(cube(), EVERY), graded(cube(), EVERY, look=3)
    assert "stopped-early" in codes(looked.notes)
    one, two = (each.policies[0].mean for each in (fixed, looked))
    assert two.confidence == one.confidence
    assert two.lower < one.lower <= one.upper < two.upper


def test_one_policy_less_another_is_paired() -> None:
    more = compared(cube(), "informed", "mine", EVERY).mean.value
    assert more.estimate == pytest.approx(1.0)
    assert more.guaranteed is not None


def test_points_with_one_episode_take_the_spread_of_the_others() -> None:
    given = cube(bounds=None)
    returns = np.array(given.returns)
    returns[:, :, 0, 1:] = np.nan
    found = graded(replace(given, returns=returns, success=None), EVERY)
    first = found.policies[0].points[0]
    assert first.episodes == 1
    assert first.returned.lower < 2.0 < first.returned.upper
    assert found.policies[0].mean.lower < 4.0 < found.policies[0].mean.upper


def test_points_without_any_return_are_left_out() -> None:
    given = cube()
    returns = np.array(given.returns)
    returns[:, :, 1] = np.nan
    found = graded(replace(given, returns=returns, success=None), EVERY)
    assert len(found.policies[0].points) == 3
    assert found.policies[0].mean.estimate == pytest.approx(4.0)


@pytest.mark.parametrize("drawn", list(Drawn))
def test_all_points_beyond_the_range_are_refused(drawn: Drawn) -> None:
    outside = replace(cube(), inside=np.zeros(POINTS, dtype=bool))
    with pytest.raises(InvalidArgument, match="beyond"):
        graded(outside, DrawnPoints(drawn))


def test_returns_outside_their_bounds_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="between"):
        graded(cube(bounds=(0.0, 5.0)), EVERY)


def test_holes_anywhere_are_no_trouble() -> None:
    """A training seed without episodes inside, a reference met at some points only."""
    given = cube(bounds=(0.0, 20.0))
    returns = np.concatenate([given.returns, given.returns + 0.1], axis=1)
    returns[0, 1, :3] = np.nan  # beyond the range alone
    found = graded(replace(given, returns=returns, success=None), EVERY)
    assert found.policies[0].mean.estimate == pytest.approx(4.0)
    thrice = np.concatenate([given.returns, given.returns[1:] + 1.0])
    thrice[1, :, :, :] = np.nan
    thrice[1, :, 0, 0] = 5.0
    both = replace(
        given,
        policies=("mine", "first", "second"),
        references=("first", "second"),
        returns=thrice,
        success=None,
        inside=np.array([True, False, False, False]),
    )
    gap = graded(both, EVERY).policies[0].gap
    assert gap is not None
    assert gap.estimate == pytest.approx(2.0)


def test_nothing_but_holes_is_refused() -> None:
    given = cube(bounds=None)
    empty = replace(given, returns=np.full_like(given.returns, np.nan), success=None)
    with pytest.raises(InvalidArgument, match="no return"):
        graded(empty, EVERY)
