"""A look at an ONNX file in a process of its own, with little memory and time.

A file of a hundred bytes can ask for forty gigabytes or loop for ever, and both load.
So a file is first opened and asked for a few actions where that does no harm. The
process prints one line of JSON: what the file is, or what is wrong with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.continuous.interfaces import Box, Choices, Space
from simgap.continuous.policies.onnx_network import Network, open_session, tensors_of
from simgap.continuous.policies.onnx_signature import (
    Roles,
    Signature,
    checked_roles,
    find_roles,
)
from simgap.errors import InvalidFile, SimgapError

WAIT = 6  # seconds of waiting for each second of work: machines may be busy
ROWS = 3  # worlds that are asked together, to see whether they may be


@final
@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """What a file may use when it is tried."""

    seconds: int = 10  # of the processor
    bytes: int = 2 * 2**30  # of memory, besides four times its own size


def probed(
    path: Path,
    observation: Space,
    action: Space,
    roles: Roles | None,
    limits: ProbeLimits,
) -> Signature:
    """Return what a file takes and gives, tried in a limited process, or refuse it."""
    import msgspec

    asked = {
        "path": str(path),
        "observation": _space_out(observation),
        "action": _space_out(action),
        "roles": None if roles is None else msgspec.to_builtins(roles),
        "seconds": limits.seconds,
        "bytes": limits.bytes + 4 * path.stat().st_size,
    }
    places = os.pathsep.join(each for each in sys.path if each)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    try:
        ran = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=WAIT * limits.seconds + 20,
            env={**os.environ, **one, "PYTHONPATH": places},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_slow(path, limits) from error
    answer = ran.stdout.strip().rpartition("\n")[2]
    if ran.returncode == 0 and answer.startswith("{"):
        found: dict[str, Any] = json.loads(answer)
        if "problem" not in found:
            return msgspec.convert(found, Signature)
        raise InvalidFile(
            f"{path.name}: {found['problem']}", hint=found["hint"], code=found["code"]
        )
    if ran.returncode in (-24, -9):  # SIGXCPU, and SIGKILL after it
        raise _too_slow(path, limits)
    raise InvalidFile(
        f"{path.name} ends the process that opens it (status {ran.returncode})",
        hint="export it again; it was tried apart, nothing else is harmed",
        code="onnx-crashes",
    )


def look(path: Path, observation: Space, action: Space, roles: Roles | None) -> Any:
    """Return what a file takes and gives, after it was asked for a few actions."""
    session = open_session(path)
    inputs = tensors_of(session.get_inputs())
    outputs = tensors_of(session.get_outputs())
    meta = session.get_modelmeta()
    kept = meta.custom_metadata_map
    found = find_roles(inputs, outputs, kept) if roles is None else roles
    found = checked_roles(found, inputs, outputs)
    metadata = {key: str(value)[:2000] for key, value in kept.items()}
    if meta.producer_name:
        metadata.setdefault("producer", meta.producer_name)
    said = Signature(inputs, outputs, found, False, metadata)
    alone = Network(session, said, observation, action)
    together = replace(alone, signature=replace(said, batched=True))
    seen = _some(observation)
    expected = _asked(alone, seen)
    try:
        fits = together.batch_axes_fit and np.allclose(
            _asked(together, seen), expected, rtol=1e-4, atol=1e-5, equal_nan=True
        )
    except Exception:  # an axis that is called free and is not
        fits = False
    return replace(said, batched=fits)


def _asked(network: Network, seen: Any) -> Any:
    """Return the actions at two steps."""
    told = len(network.signature.roles.told)
    theta = np.linspace(0.5, 1.0, len(seen))[:, None] * np.ones(told)
    first, carried = network.step(seen, network.start(theta))
    second, _ = network.step(seen, carried)
    return np.concatenate([network.handled(first), network.handled(second)])


def _some(space: Space) -> Any:
    """Return a few observations that differ."""
    if isinstance(space, Choices):
        return (np.arange(ROWS) % space.n)[:, None].astype(np.float64)
    low, high = np.maximum(space.low, -1.0), np.minimum(space.high, 1.0)
    low, high = np.minimum(low, space.high), np.maximum(high, space.low)
    parts = np.linspace(0.0, 1.0, ROWS * space.size).reshape(ROWS, space.size)
    return low + parts * (high - low)


def _main() -> None:
    """Answer one question from standard input, within its limits."""
    import resource

    import msgspec

    asked = json.loads(sys.stdin.read())
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + asked["seconds"]
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + asked["bytes"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    roles = asked["roles"]
    try:
        found: Any = look(
            Path(asked["path"]),
            _space_in(asked["observation"]),
            _space_in(asked["action"]),
            None if roles is None else msgspec.convert(roles, Roles),
        )
        print(msgspec.json.encode(found).decode())
    except SimgapError as error:
        _say(error.problem, error.hint, error.code)
    except MemoryError:
        _say("it needs too much memory", "is it a policy?", "onnx-too-large")
    except Exception as error:  # onnxruntime has many
        told = " ".join(str(error).split())[:300]
        if "alloc" in told.lower():
            _say(f"it needs too much memory: {told}", "is it?", "onnx-too-large")
        else:
            _say(
                f"onnxruntime refuses it: {told}",
                "is it a whole ONNX file? weights beside it are read only from "
                "NAME.onnx.data",
                "onnx-does-not-load",
            )


def _say(problem: str, hint: str, code: str) -> None:
    print(json.dumps({"problem": problem, "hint": hint, "code": code}))


def _too_slow(path: Path, limits: ProbeLimits) -> InvalidFile:
    return InvalidFile(
        f"{path.name} did not give an action within {limits.seconds} seconds",
        hint="a policy takes less than a second; does it loop?",
        code="onnx-too-slow",
    )


def _space_out(space: Space) -> dict[str, Any]:
    if isinstance(space, Choices):
        return {"n": space.n}
    return {"low": space.low.tolist(), "high": space.high.tolist()}


def _space_in(told: dict[str, Any]) -> Space:
    if "n" in told:
        return Choices(told["n"])
    return Box(np.array(told["low"]), np.array(told["high"]))


if __name__ == "__main__":
    _main()
