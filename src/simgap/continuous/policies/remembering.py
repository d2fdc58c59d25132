"""What a policy and its memory tell about themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simgap.continuous.interfaces import BroughtPolicy


def is_informed(policy: BroughtPolicy) -> bool:
    """Return whether a policy is told the parameters of its worlds."""
    return bool(getattr(policy, "informed", False))


def holds_memory(memory: Any) -> bool:
    """Return whether anything is remembered; an empty shell is nothing."""
    kept = getattr(memory, "kept", None)
    return memory is not None if kept is None else bool(kept)


def what_failed(memory: Any) -> Mapping[int, str]:
    """Return the worlds in which a policy failed, and why: their actions are NaN."""
    failed: Mapping[int, str] = getattr(memory, "failed", {})
    return failed
