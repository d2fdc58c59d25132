"""Random numbers that are a function of seed, episode and name."""

import numpy as np
import pytest
from scipy.stats import kstest

from simgap.continuous.randomization.draws import philox, uniforms

FAILURE = 1e-6  # chance that a check of sampling fails by bad luck


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_generator_is_philox(
    counter: tuple[int, ...], key: tuple[int, int], words: tuple[int, ...]
) -> None:
    """Known answers of Random123, philox4x32 with ten rounds."""
    given = tuple(np.array([each], np.uint64) for each in counter)
    found = philox(given, (np.uint64(key[0]), np.uint64(key[1])))
    assert tuple(int(each[0]) for each in found) == words


def test_a_number_does_not_depend_on_how_many_are_asked_for() -> None:
    many = uniforms(7, np.arange(1000), "mass")
    for chosen in ([3], [999, 0, 3], range(500, 600)):
        some = uniforms(7, np.array(chosen), "mass")
        assert (some == many[list(chosen)]).all()


def test_numbers_are_uniform_over_episodes_seeds_and_names() -> None:
    n = 20_000
    fifth = np.array([5])
    over_seeds = np.hstack([uniforms(seed, fifth, "mass") for seed in range(2000)])
    over_names = np.hstack([uniforms(1, fifth, f"x{i}") for i in range(2000)])
    episodes = [uniforms(seed, np.arange(n), "mass") for seed in (0, 1, 2**63)]
    for numbers in (over_seeds, over_names, *episodes):
        assert kstest(numbers, "uniform").pvalue > FAILURE
    assert kstest(episodes[0] ** 1.1, "uniform").pvalue < FAILURE  # the control
    assert ((episodes[0] > 0.0) & (episodes[0] < 1.0)).all()


def test_names_seeds_and_neighbours_are_not_related() -> None:
    n = 20_000
    one = uniforms(1, np.arange(n), "mass")
    bound = 5.0 / np.sqrt(n)  # five standard deviations of a correlation of nothing
    for other in (
        uniforms(1, np.arange(n), "length"),
        uniforms(2, np.arange(n), "mass"),
        uniforms(1, np.arange(1, n + 1), "mass"),
    ):
        assert abs(np.corrcoef(one, other)[0, 1]) < bound
    mixed = 0.05 * one + 0.95 * uniforms(2, np.arange(n), "mass")
    assert abs(np.corrcoef(one, mixed)[0, 1]) > bound  # the control
