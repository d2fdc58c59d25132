"""Random numbers without a state: a number is a function of where it is used.

A key and a counter are mixed by the finaliser of splitmix64 (Steele, Lea and Flood,
2014), so that results do not depend on the order of episodes or on threads.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap.arrays import AnyArray, Integer

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
UNIT = 2.0**-53
FIRST_DRAW = np.int64(0)  # a literal 0 would be a type of its own to numba


@kernel
def mixed(key: Integer, counter: Integer) -> np.uint64:
    """Return 64 bits that look independent for different keys or counters."""
    return scrambled(uint64(key) + GOLDEN * (uint64(counter) + uint64(1)))


@kernel
def scrambled(bits: np.uint64) -> np.uint64:
    """Return 64 bits, each of which depends on all of the 64 given."""
    bits = (bits ^ (bits >> S30)) * FIRST
    bits = (bits ^ (bits >> S27)) * SECOND
    return bits ^ (bits >> S31)


@kernel
def uniform(key: Integer, counter: Integer) -> float:
    """Return a number in [0, 1) for a key made by `mixed` and a counter."""
    return float(mixed(key, counter) >> S11) * UNIT


@kernel(allocates=True)
def episode_keys(seed: Integer, first: int, count: int) -> AnyArray:
    """Return a key for each of `count` episodes from number `first` on."""
    keys = np.empty(count, np.uint64)
    root = mixed(seed, FIRST_DRAW)
    for i in range(count):
        keys[i] = mixed(root, first + i)
    return keys
