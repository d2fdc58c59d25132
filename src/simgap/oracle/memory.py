"""Is memory enough, and is it needed? Two statements, each with its own proof.

Memory is enough for a loss if some policy with memory is certified to lose no more; the
upper end of the oracle's bracket shows it. Memory is needed if every policy without
memory loses more than that; this takes a bound on all such policies, and a search that
found no better one does not prove it.
"""

from __future__ import annotations

from simgap.intervals import Certified
from simgap.records import Memory, Proof


def memory_proofs(
    with_memory: Certified,
    without_memory: Certified,
    *,
    searched: int | None,
    noise: float = 0.0,
    acceptable: Certified | None = None,
    stationary: bool = False,
) -> Memory:
    """Return what two brackets prove; a difference of `noise` is rounding.

    Memory is enough for the loss it has; with `acceptable`, only if that is no more. A
    policy without memory is a policy, too, so that each bracket narrows the other.
    """
    low, high = with_memory.ends
    least, most = without_memory.ends
    if (
        most < high - noise
    ):  # else they differ by rounding, and a bracket stays as it is
        high = max(low, most)
    least = min(most, max(low, least))
    enough: Proof = "certified"
    if acceptable is not None and high > acceptable.ends[0]:
        enough = "no" if low > acceptable.ends[1] else "not proved"
    needed: Proof = "not proved"
    if least - high > noise:
        needed = "certified"
    elif most - low <= noise:
        needed = "no"
    brackets = Certified(low, high), Certified(least, most)
    return Memory(enough, needed, *brackets, searched, stationary)
