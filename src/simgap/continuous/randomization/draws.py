"""Random numbers that are a function of where they are used: Philox4x32-10.

A number depends on a seed, on the episode and on the name of the parameter, through the
counter-based generator of Salmon, Moraes, Dror and Shaw (2011). So a draw does not
depend on how many are asked for, in which order, or on what else is randomized.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument

Words = npt.NDArray[np.uint64]  # 32 bits are used of each

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
ROUNDS = 10


def uniforms(seed: int, episodes: OffsetArray, name: str) -> FloatArray:
    """Return a number in (0, 1) for each episode, (n,): never 0, never 1."""
    if isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise InvalidArgument(
            f"seed is {seed}", hint="a seed is a whole number from 0 to 2**64 - 1"
        )
    numbers = np.asarray(episodes)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers < 0).any():
        raise InvalidArgument(
            f"episodes are {str(episodes)[:60]}",
            hint="give the numbers of the episodes, from 0 on: range(100)",
        )
    counter = numbers.astype(np.uint64)
    stream = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    ones = np.ones_like(counter)
    words = philox(
        (counter & LOW, counter >> SHIFT, *(ones * each for each in _halves(stream))),
        _halves(seed),
    )
    bits = ((words[0] << SHIFT) | words[1]) >> np.uint64(12)  # 52: a half still fits
    return (bits.astype(np.float64) + 0.5) * 2.0**-52


def chances(counter: tuple[Words, ...], key: tuple[np.uint64, np.uint64]) -> FloatArray:
    """Return a number in [0, 1) for each counter of four words, under a key of two."""
    words = philox(counter, key)
    bits = ((words[0] << SHIFT) | words[1]) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def philox(
    counter: tuple[Words, ...], key: tuple[np.uint64, np.uint64]
) -> tuple[Words, Words, Words, Words]:
    """Return four words of 32 bits for each counter of four, under a key of two."""
    a, b, c, d = counter
    first, second = key
    for _ in range(ROUNDS):
        left, right = FACTORS[0] * a, FACTORS[1] * c
        a, b = (right >> SHIFT) ^ b ^ first, right & LOW
        c, d = (left >> SHIFT) ^ d ^ second, left & LOW
        first, second = (first + STEPS[0]) & LOW, (second + STEPS[1]) & LOW
    return a, b, c, d


def _halves(number: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(number & 0xFFFFFFFF), np.uint64(number >> 32)
