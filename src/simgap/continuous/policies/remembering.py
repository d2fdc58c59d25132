"""What a policy and its memory tell about themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import BroughtPolicy


def is_informed(policy: BroughtPolicy) -> bool:
    """Return whether a policy is told the parameters of its worlds."""
    return bool(getattr(policy, "informed", False))


def holds_memory(memory: Any) -> bool:
    """Return whether anything is remembered; an empty shell is nothing."""
    kept = getattr(memory, "kept", None)
    return memory is not None if kept is None else bool(kept)


def memory_reader(policy: BroughtPolicy) -> Callable[[Any], FloatArray] | None:
    """Return what shows a memory as numbers, (B, n), if the policy has a way.

    That is a method `remembered(memory)`, of the policy or of the object behind it.
    """
    inner = getattr(policy, "inner", None)
    found = getattr(policy, "remembered", None) or getattr(inner, "remembered", None)
    return found if callable(found) else None


def what_failed(memory: Any) -> Mapping[int, str]:
    """Return the worlds in which a policy failed, and why: their actions are NaN."""
    failed: Mapping[int, str] = getattr(memory, "failed", {})
    return failed
