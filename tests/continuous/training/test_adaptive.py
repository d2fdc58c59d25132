"""Samplers that adapt, on returns that are functions of theta with a known answer."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
import pytest
from scipy.special import betainc

from simgap.arrays import FloatArray
from simgap.continuous import BoundRandomization, Parameter, bind
from simgap.continuous.training.adaptive import SAMPLINGS, AsGiven, parse_sampling
from simgap.continuous.training.adr import Adr, AdrSampler
from simgap.continuous.training.beforehand import Needed, Reference, sides_of
from simgap.continuous.training.doraemon import (
    Doraemon,
    DoraemonSampler,
    divergence,
    entropy,
    widened,
)
from simgap.continuous.training.gap_aware import GapAware, GapSampler, cells_of
from simgap.continuous.training.learner import finished
from simgap.continuous.training.samplers import Drawn, Met, Nu, Sampler
from simgap.errors import InvalidArgument

Surface = Callable[[FloatArray], FloatArray]

TWO = "mass=0..2 length=1..5"
GROUP = """
[randomize]
mass = "0..2"
length = "1..5"
[randomize.together.both]
members = ["mass", "length"]
correlation = [[1.0, 0.7], [0.7, 1.0]]
"""
REFERENCE = Reference(-100.0, 0.0)  # as returns often are: none above 0


@dataclass(frozen=True)
class Machine:
    """Enough of a simulator to draw for."""

    name: str = "machine"
    parameters: tuple[Parameter, ...] = (
        Parameter("mass", 1.0),
        Parameter("length", 9.0),
        Parameter("sign", 1.0),
    )


def bound(text: str) -> BoundRandomization:
    return bind(text, Machine())


def played(
    sampler: Sampler, surface: Surface, rounds: int, *, seed: int = 0, size: int = 64
) -> Sampler:
    """Return the sampler after rounds of episodes that return what a surface says."""
    for now in range(rounds):
        number = np.arange(now * size, (now + 1) * size)
        theta = sampler.draw(seed, number)
        sampler = sampler.met(Met(seed, number, theta, surface(theta)))
    return sampler


def light_enough(theta: FloatArray) -> FloatArray:
    """Return 0 up to a mass of 1.4, else -100."""
    return np.where(theta[:, 0] <= 1.4, 0.0, -100.0)


def always_good(theta: FloatArray) -> FloatArray:
    return np.zeros(len(theta))


def adr_ends(surface: Surface, text: str = "mass=0..2") -> FloatArray:
    sampler = played(Adr().start(bound(text), REFERENCE), surface, 400)
    assert isinstance(sampler, AdrSampler)
    return sampler.ends


def test_adr_stops_at_the_known_boundary() -> None:
    """0.7 of the range is good; an end moves by 0.05 and may be one step too far."""
    low, high = adr_ends(light_enough)[0]
    assert low == 0.0
    assert 0.65 <= high <= 0.75 + 1e-9


def test_control_without_a_boundary_adr_stops_at_the_limits() -> None:
    assert adr_ends(always_good, TWO).tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_control_where_all_is_bad_adr_stays_where_it_began() -> None:
    """The nominal mass is inside its range, the nominal length beyond its own."""
    found = adr_ends(lambda theta: np.full(len(theta), -100.0), TWO)
    assert found == pytest.approx(np.array([[0.45, 0.55], [0.45, 0.55]]))


def test_adr_narrows_again_where_returns_fall() -> None:
    whole = played(Adr().start(bound("mass=0..2"), REFERENCE), always_good, 400)
    again = played(whole, light_enough, 400)
    assert isinstance(again, AdrSampler)
    assert again.ends[0, 0] == 0.0
    assert 0.65 <= again.ends[0, 1] <= 0.75 + 1e-9


def test_adr_puts_the_stated_share_at_an_end_and_all_choices_are_drawn() -> None:
    start = Adr().start(bound(f"{TWO} sign={{-1, 1}}"), REFERENCE)
    theta = start.draw(5, np.arange(4000))
    mass = theta[:, 0]
    assert mass.min() == pytest.approx(0.9)
    assert mass.max() == pytest.approx(1.1)
    at_an_end = np.isin(theta[:, :2], (mass.min(), mass.max(), 2.8, 3.2)).any(axis=1)
    slack = sqrt(log(2.0 / 1e-6) / 8000.0)  # Hoeffding
    assert abs(at_an_end.mean() - 0.4) < slack
    assert abs((theta[:, 2] == 1.0).mean() - 0.5) < slack
    assert start.share == pytest.approx(0.1**2)


def test_thresholds_are_shares_of_the_way_from_an_untrained_policy() -> None:
    """-40 lies at 0.6 of the way from -100 to 0: neither good nor bad."""
    between = adr_ends(lambda theta: np.full(len(theta), -40.0))
    assert between == pytest.approx(np.array([[0.45, 0.55]]))
    assert REFERENCE.threshold(0.8) == pytest.approx(-20.0)
    with pytest.raises(InvalidArgument) as refused:
        Reference(-100.0, -120.0)
    assert refused.value.code == "reference-too-weak"


BATCH = 1024


def doraemon_after(
    surface: Surface, chance: float, rounds: int = 120, seed: int = 0
) -> FloatArray:
    start = Doraemon(chance=chance, batch=BATCH).start(bound("mass=0..2"), REFERENCE)
    sampler = played(start, surface, rounds, size=256, seed=seed)
    assert isinstance(sampler, DoraemonSampler)
    return sampler.shape


def light_share(shape: FloatArray) -> float:
    """Return the chance of a mass below 1.4."""
    return float(betainc(shape[0, 0], shape[0, 1], 0.7))


def widest(chance: float) -> float:
    """Return the greatest entropy of a Beta that succeeds so often, by brute force."""
    a, b = np.meshgrid(np.linspace(1.0, 3.0, 41), np.linspace(1.0, 6.0, 101))
    enough = betainc(a, b, 0.7) >= chance
    shapes = np.stack([a[enough], b[enough]], axis=-1)
    return max(entropy(each[None]) for each in shapes)


def test_doraemon_reaches_the_known_chance_with_the_greatest_entropy() -> None:
    """0.7 of the range is good: draws are as wide as 0.9 of successes allow."""
    slack = sqrt(log(2.0 / 1e-6) / (2.0 * BATCH))  # Hoeffding: 0.084
    shapes = [doraemon_after(light_enough, 0.9, seed=seed) for seed in range(3)]
    assert [light_share(shape) for shape in shapes] == pytest.approx(
        [0.9] * 3, abs=slack
    )
    best = widest(0.9)
    for shape in shapes:
        assert widest(light_share(shape)) - entropy(shape) < 0.02  # none is wider
    assert np.mean([entropy(shape) for shape in shapes]) == pytest.approx(best, abs=0.1)


def test_control_a_chance_that_uniform_draws_have_ends_in_them() -> None:
    """They succeed in 0.7 of the episodes, farther from 0.9 than the slack above."""
    shape = doraemon_after(light_enough, 0.6)
    assert shape == pytest.approx(np.ones((1, 2)), abs=0.02)
    assert light_share(shape) == pytest.approx(0.7, abs=0.01)


def test_doraemon_waits_until_enough_episodes_succeed_once() -> None:
    first = doraemon_after(light_enough, 0.9, rounds=0)
    hopeless = doraemon_after(lambda theta: np.full(len(theta), -100.0), 0.9, rounds=40)
    assert hopeless.tolist() == first.tolist() == [[50.0, 50.0]]


def test_doraemon_raises_success_first_where_it_is_too_rare() -> None:
    settings, old = Doraemon(chance=0.9), np.array([[2.0, 2.0]])
    points = np.random.default_rng(3).beta(2.0, 2.0, (4000, 1))
    success = (points[:, 0] < 0.4).astype(np.float64)
    new = widened(settings, old, points, success)
    assert betainc(new[0, 0], new[0, 1], 0.4) > betainc(2.0, 2.0, 0.4) + 0.1
    assert divergence(new, old) == pytest.approx(settings.divergence, abs=2e-3)
    assert widened(settings, old, points, 0.0 * success).tolist() == old.tolist()


def test_doraemon_widens_no_further_than_enough_episodes_succeed() -> None:
    """At the level, entropy is raised along it; the control asks for less success."""
    old = np.array([[1.1, 1.9]])
    points = np.random.default_rng(3).beta(1.1, 1.9, (8000, 1))
    success = (points[:, 0] < 0.7).astype(np.float64)
    slack = sqrt(log(2.0 / 1e-6) / (2.0 * len(points)))
    assert light_share(old) == pytest.approx(0.88, abs=0.01)
    held = widened(Doraemon(chance=0.87), old, points, success)
    assert light_share(held) > 0.87 - slack
    assert entropy(held) >= entropy(old)
    free = widened(Doraemon(chance=0.5), old, points, success)
    assert light_share(free) < 0.87 - slack


def test_entropy_and_divergence_agree_with_sums_over_a_grid() -> None:
    from scipy.stats import beta

    grid = (np.arange(200_000) + 0.5) / 200_000
    p, q = beta.pdf(grid, 3.0, 2.0), beta.pdf(grid, 1.5, 4.0)
    new, old = np.array([[3.0, 2.0]]), np.array([[1.5, 4.0]])
    assert entropy(new) == pytest.approx(-(p * np.log(p)).mean(), abs=1e-6)
    assert divergence(new, old) == pytest.approx((p * np.log(p / q)).mean(), abs=1e-6)


def told_heavy(theta: FloatArray) -> FloatArray:
    """Return -100 for the heaviest quarter, where an informed policy gets 0."""
    return np.where(theta[:, 0] >= 1.5, -100.0, 0.0)


def gap_after(surface: Surface) -> GapSampler:
    cells = cells_of(bound(TWO))
    told = replace(REFERENCE, cells=np.zeros(cells.count))
    sampler = played(GapAware().start(bound(TWO), told), surface, 40)
    assert isinstance(sampler, GapSampler)
    return sampler


def heavy_share(sampler: Sampler) -> float:
    return float((sampler.draw(9, np.arange(20_000))[:, 0] >= 1.5).mean())


def test_gap_aware_draws_concentrate_where_the_gap_is() -> None:
    """A gap of the whole way: e^10 to 1, so 0.7 and a quarter of 0.3."""
    assert heavy_share(gap_after(told_heavy)) == pytest.approx(0.775, abs=0.02)


def test_control_without_a_gap_draws_are_those_of_nu() -> None:
    assert heavy_share(gap_after(always_good)) == pytest.approx(0.25, abs=0.02)
    assert gap_after(always_good).chances == pytest.approx(np.full(64, 1 / 64))


def test_weights_make_a_mean_over_nu_and_without_them_it_is_another() -> None:
    """Weights are between 0 and 1 / 0.3, so that Hoeffding bounds the error."""
    sampler, episodes = gap_after(told_heavy), np.arange(40_000)
    theta = sampler.draw(4, episodes)
    weights = sampler.weights(4, episodes)
    slack = (1.0 / 0.3) * sqrt(log(2.0 / 1e-6) / (2.0 * episodes.size))
    assert abs(weights.mean() - 1.0) < slack
    assert weights.max() <= 1.0 / 0.3 + 1e-12
    share = theta[:, 0] / 2.0  # its mean under nu is a half
    assert abs((weights * share).mean() - 0.5) < slack
    assert abs(share.mean() - 0.5) > 5.0 * slack  # the control


def test_cells_have_equal_chances_and_do_not_cut_choices_for_nothing() -> None:
    assert cells_of(bound(TWO)).parts == (8, 8)
    assert cells_of(bound(f"sign={{-1, 1}} {TWO}")).parts == (2, 8, 4)
    assert cells_of(bound("sign={-1, 1}")).parts == (2,)
    points = cells_of(bound(TWO)).points(4, 0)
    counted, _ = np.histogramdd(points, bins=8, range=[(0.0, 2.0), (1.0, 5.0)])
    assert (counted == 4).all()


def test_an_informed_policy_must_be_measured_in_every_cell() -> None:
    with pytest.raises(InvalidArgument) as refused:
        GapAware().start(bound(TWO), REFERENCE)
    assert refused.value.code == "reference-cells"


@pytest.mark.parametrize("kind", ["adr", "doraemon"])
def test_choices_alone_leave_nothing_to_narrow(kind: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        parse_sampling(kind).start(bound("sign={-1, 1}"), REFERENCE)
    assert refused.value.code == "nothing-to-adapt"


@pytest.mark.parametrize(
    "text",
    [
        "mass=normal(1, sd=0.2) length=log(1..5)",
        GROUP,
        f"{TWO} sign={{-1: 1, 1: 3, 2: 1}}",
    ],
)
@pytest.mark.parametrize("kind", sorted(SAMPLINGS))
def test_every_sampler_stays_in_the_support_and_resumes_bit_for_bit(
    kind: str, text: str
) -> None:
    def surface(theta: FloatArray) -> FloatArray:
        return np.where(theta[:, 0] <= 1.4, -3.0 * theta[:, 1], -100.0)

    nu = bound(text)
    told = replace(REFERENCE, cells=np.zeros(cells_of(nu).count))
    fresh: Sampler = parse_sampling(kind).start(nu, told)
    fresh = pickle.loads(pickle.dumps(fresh))  # another process trains
    halfway = played(fresh, surface, 37, seed=7)  # inside a batch, a queue
    kept = {name: np.array(each) for name, each in halfway.arrays().items()}
    assert {each.dtype.name for each in kept.values()} <= {"float64", "int64"}
    episodes = np.arange(10_000, 12_000)
    resumed = fresh.restored(kept)
    pairs = [(halfway, resumed)]
    pairs.append((played(halfway, surface, 9), played(resumed, surface, 9)))
    for one, other in pairs:
        assert one.draw(7, episodes).tobytes() == other.draw(7, episodes).tobytes()
        assert {name: each.tobytes() for name, each in one.arrays().items()} == {
            name: each.tobytes() for name, each in other.arrays().items()
        }
    drawn = halfway.draw(7, episodes)
    assert nu.inside(drawn).all()
    assert np.isfinite(drawn).all()
    some = np.array([11_999, 10_500])
    assert (halfway.draw(7, some) == drawn[some - 10_000]).all()
    if kind != "uniform":  # the control: what was learnt matters
        assert halfway.draw(7, episodes).tobytes() != fresh.draw(7, episodes).tobytes()


def test_texts_name_the_four_ways_and_what_each_needs() -> None:
    needs = {text: parse_sampling(f" {text} ").needs for text in SAMPLINGS}
    assert needs == {
        "uniform": Needed.NOTHING,
        "adr": Needed.NOMINAL,
        "doraemon": Needed.NOMINAL,
        "gap": Needed.INFORMED,
    }
    assert isinstance(AsGiven().start(bound(TWO)), Nu)
    with pytest.raises(InvalidArgument) as refused:
        parse_sampling("plr")
    assert refused.value.code == "no-such-sampling"


def test_a_side_begins_at_the_nominal_value_where_that_is_inside() -> None:
    sides = sides_of(bound("mass*=0.5..2.5 length=1..5"))
    assert sides.middle == pytest.approx([0.25, 0.5])


def test_returns_are_those_of_first_episodes_which_no_end_of_a_row_cuts() -> None:
    """Episodes last 2 or 10 steps, one as often as the other; rows have 10 steps."""
    rng = np.random.default_rng(0)
    rows, horizon = 4000, 10
    ended = np.zeros((horizon, rows), np.bool_)
    for row in range(rows):
        at = 0
        while at < horizon:
            at += int(rng.choice([2, 10]))
            if at <= horizon:
                ended[at - 1, row] = True
    number = np.arange(rows)[:, None]
    drawn = Drawn(5, None, {}, number, np.zeros((rows, 1, 0)), number)  # type: ignore[arg-type]
    met = finished(np.ones((horizon, rows)), ended, drawn)
    slack = 8.0 * sqrt(log(2.0 / 1e-6) / (2.0 * rows))
    assert abs(met.returned.mean() - 6.0) < slack
    assert met.seed == 5
    step, which = np.nonzero(ended)
    first = np.isin(np.arange(which.size), np.unique(which, return_index=True)[1])
    all_that_end = np.where(first, step + 1, 2)  # later ones that end are short
    assert abs(all_that_end.mean() - 6.0) > 3.0 * slack  # the control
