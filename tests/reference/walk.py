"""The simulator's draws and accounts in plain Python: whole numbers and Fractions."""

from __future__ import annotations

from fractions import Fraction

from simgap._kernels.walking.walk import World

MASK = 2**64 - 1


def mix(bits: int) -> int:
    """Return the finaliser of splitmix64."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def mixed(key: int, counter: int) -> int:
    """Return number `counter` of the stream of a key."""
    return mix((key + 0x9E3779B97F4A7C15 * (counter + 1)) & MASK)


def edge_chances(world: World, row: int) -> dict[int, Fraction]:
    """Return the chance of every edge that the cells of a row stand for."""
    width = 1 << int(world.shift)
    found: dict[int, Fraction] = {}
    for c in range(width):
        at = row * width + c
        cut = Fraction(int(world.cuts[at]), 2**64)
        first, second = (int(world.cells[2 * at + i]) >> 32 for i in (0, 1))
        found[first] = found.get(first, Fraction(0)) + cut / width
        found[second] = found.get(second, Fraction(0)) + (1 - cut) / width
    return found


def walk(world: World, key: int, actions: list[int], n_actions: int) -> list[int]:
    """Return the edges of an episode that starts in the first state of its law."""
    stream, stride = mixed(key, 0), mixed(key, 1) | 1
    state = int(world.start_law.argmax())
    edges = []
    for h, action in enumerate(actions):
        bits = mix((stream + stride * (h + 1)) & MASK)
        row = state * n_actions + action
        at = (row << int(world.shift)) | (bits >> (64 - int(world.shift)))
        second = ((bits << int(world.shift)) & MASK) >= int(world.cuts[at])
        cell = int(world.cells[2 * at + second])
        edges.append(cell >> 32)
        state = cell & 0xFFFFFFFF
    return edges
