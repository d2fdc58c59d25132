"""Policies by name: one text, or one object, and every kind of policy."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simgap.continuous.interfaces import Batch, Box, BroughtPolicy, Simulator
from simgap.continuous.policies.actions import shaped_actions
from simgap.continuous.policies.remembering import is_informed
from simgap.continuous.user_code import names_user_code, user_code, what_happened
from simgap.errors import InvalidArgument, SimgapError
from simgap.interrupts import time_limit
from simgap.text import shown, suggestion

NAMED = re.compile(r"\s*([^=/\\:?]{1,60}?)\s*=(.+)", re.DOTALL)
KINDS = "file.py:function, file.onnx, a policy file .simgap, random or zero"
STRANGERS: Mapping[str, str] = {
    ".zip": "load it yourself (PPO.load) and give the model to Python, or name a "
    "function of yours that does: simgap unpickles nothing",
    ".pkl": "load it in a function of yours: simgap unpickles nothing",
    ".pt": "export it to ONNX, or load it in a function of yours: file.py:function",
    ".pth": "export it to ONNX, or load it in a function of yours: file.py:function",
    ".jit": "export it to ONNX, or load it in a function of yours: file.py:function",
    ".py": "name the function too: file.py:function",
}


class PolicyText(NamedTuple):
    """A policy as the command line names it."""

    name: str  # what tables call it; the text itself unless NAME= is given
    text: str


def read_policy_text(text: str) -> PolicyText:
    """Return `NAME=TEXT` in its two parts; a file of the whole name comes first."""
    found = NAMED.fullmatch(text)
    if found is None or Path(text).is_file():
        return PolicyText(text.strip(), text.strip())
    return PolicyText(found[1].strip(), found[2].strip())


def open_policy(given: Any, simulator: Simulator) -> BroughtPolicy:
    """Return a policy for a simulator: from a text or a path, or a Python object.

    A text is `file.py:function`, `file.onnx`, a policy file of simgap, `random` or
    `zero`, after `NAME=` if tables should call it so. Behind `file.onnx?` may stand
    which inputs are memory, and their next values: `h=25&c=26`. A policy is asked for
    two actions at the simulator's first observation, so that what does not fit is
    refused here.
    """
    with time_limit():
        if isinstance(given, str | os.PathLike):
            policy = _by_text(read_policy_text(os.fspath(given)), simulator)
        else:
            policy = _by_value(given, simulator)
        _try(policy, simulator)
    return policy


def _by_text(asked: PolicyText, simulator: Simulator) -> BroughtPolicy:
    name, text = asked
    if text in ("random", "zero"):
        from simgap.continuous.policies.simple import RandomPolicy, ZeroPolicy

        kind = RandomPolicy if text == "random" else ZeroPolicy
        return kind(simulator.action, name)
    if names_user_code(text):
        from simgap.continuous.policies.functions import python_policy

        code = user_code(text, example="act")
        return python_policy(code.value, name, simulator, code.path)
    file, _, memory = (text, "", "") if Path(text).is_file() else text.partition("?")
    ending = Path(file).suffix.lower()
    if ending == ".onnx":
        from simgap.continuous.policies.onnx_policy import onnx_policy

        return onnx_policy(Path(file), name, simulator, _fed_back(memory))
    if ending == ".simgap":
        from simgap.continuous.policies.tabular import saved_policy

        return saved_policy(Path(text), name, simulator)
    raise InvalidArgument(
        f"there is no policy {shown(text)!r}",
        hint=STRANGERS.get(ending)
        or suggestion(text, ("random", "zero"))
        or f"a policy is {KINDS}",
        code="no-such-policy",
    )


def _fed_back(text: str) -> dict[str, str]:
    """Return inputs and the outputs that are given back to them, from `h=25&c=26`."""
    pairs = [each.partition("=") for each in text.split("&") if each]
    found = {one: other for one, _, other in pairs if one and other}
    if len(found) < len(pairs):
        raise InvalidArgument(
            f"the memory of a network is given as {shown(text)!r}",
            hint="inputs, each with the output that is given back to it: "
            "policy.onnx?h=25&c=26",
            code="memory-not-understood",
        )
    return found


def _by_value(given: Any, simulator: Simulator) -> BroughtPolicy:
    from simgap.continuous.policies.functions import python_policy
    from simgap.continuous.policies.tabular import tabular_policy
    from simgap.policies import GridPlayer

    named = getattr(given, "name", None) or getattr(given, "__name__", None)
    name = named if isinstance(named, str) else type(given).__name__
    if isinstance(given, GridPlayer):
        return tabular_policy(
            given.agent.policy, given.agent.policy.name, simulator, given
        )
    if all(callable(getattr(given, each, None)) for each in ("start", "observe")):
        return tabular_policy(given, name, simulator)
    return python_policy(given, name, simulator)


def _try(policy: BroughtPolicy, simulator: Simulator) -> None:
    """Raise unless a policy gives two actions for the first observation.

    One that is told the parameters is not asked where nobody knows their names yet:
    they may also be draws of a randomization that is not known here.
    """
    theta = {each.name: np.full(2, each.nominal) for each in simulator.parameters}
    unknown = set(getattr(policy, "told", ())) - set(theta)
    if is_informed(policy) and (unknown or hasattr(simulator, "unlisted")):
        return
    worlds = simulator.instantiate({})
    try:
        seen = np.repeat(worlds.reset(np.zeros(1, np.int64)), 2, axis=0)
    finally:
        worlds.close()
    example = (
        f"it is shown {seen.shape[1]} numbers, for instance "
        f"{np.round(seen[0, :4], 3).tolist()}"
        if isinstance(simulator.observation, Box)
        else f"it is shown the number of a state, for instance {int(seen[0, 0])}"
    )
    try:
        memory = policy.reset(Batch(np.arange(2), theta))
        for _ in range(2):
            actions, memory = policy.act(seen, memory)
            for wrong in getattr(memory, "errors", {}).values():
                raise wrong
            shaped = shaped_actions(actions, simulator.action, 2)
            if not np.isfinite(shaped).all():
                raise InvalidArgument(
                    f"an action is {shaped[0]}",
                    hint="look for a division by zero, or a normaliser that is zero",
                    code="action-not-finite",
                )
    except SimgapError as error:
        raise InvalidArgument(
            f"policy {shown(policy.name)}, on the first observation of "
            f"{simulator.name}: {error.problem}",
            hint=error.hint or example,
            code=error.code,
        ) from error
    except (Exception, SystemExit) as error:  # of the user's code, whatever it is
        raise InvalidArgument(
            f"policy {shown(policy.name)} fails on the first observation of "
            f"{simulator.name}: {what_happened(error)}",
            hint=example,
            code="policy-failed",
        ) from error
