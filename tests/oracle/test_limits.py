"""Limits of time and memory, and interrupts: the bracket is valid whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simgap.instances import garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import OracleResult, Outcome
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.watch import Progress, Watch
from simgap.policies import Step

FINE = {"gap_tolerance": 1e-9, "negligible": 0.0, "episodes": 50}
KEEP = {"bracket_if_interrupted": True}


def middling(members: int = 4) -> LatentMDP:
    return LatentMDP.uniform(garnet_mixture(6, 2, 3, members, seed=2))


def usable(latent: LatentMDP, result: OracleResult, horizon: int | None) -> None:
    """The bracket is the policy's own, and the policy can be run."""
    lower, upper = result.average_gap.lower, result.average_gap.upper
    assert lower is not None
    assert upper is not None
    assert 0.0 <= lower <= upper < np.inf
    discount = None if horizon is not None else result.discount
    form = loss_form(latent, horizon=horizon, discount=discount)
    gaps = graph_gaps(form, result.policy)
    assert gaps == pytest.approx(result.gaps, rel=1e-9, abs=1e-12)
    assert latent.prior @ gaps == pytest.approx(upper, rel=1e-6, abs=1e-9)
    state = int(form.root_states[0])
    for policy in (result.policy, result.belief_policy):
        memory: Any = policy.start(state)
        action = int(np.argmax(policy.act(memory, 0, state)))
        row = state * form.pattern.n_actions + action
        entries = slice(*form.pattern.indptr[row : row + 2])
        allowed = form.likelihood[entries].any(axis=1)
        to = int(form.pattern.indices[entries][allowed][0])
        memory = policy.observe(memory, Step(0, state, action, to))
        policy.act(memory, 1, to)


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        (BoundedOracle, {"horizon": 40}),
        (BoundedOracle, {"discount": 0.95}),
        (AutoOracle, {"horizon": 40}),
    ],
)
def test_a_limit_of_time_is_kept(
    settings: type[BoundedOracle | AutoOracle], arguments: dict[str, Any]
) -> None:
    latent = middling()
    solver = settings(time_limit=0.5, **FINE | {"episodes": 50_000})  # type: ignore[arg-type]
    domain_randomization_oracle(latent, **arguments, solver=solver)  # loads kernels
    result = domain_randomization_oracle(latent, **arguments, solver=solver)
    assert result.outcome is Outcome.OUT_OF_TIME
    usable(latent, result, arguments.get("horizon"))


LIMITED = """
import json
from pathlib import Path
from simgap.instances import garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.settings import BoundedOracle
from simgap._kernels.time_limit import resident_bytes

few = LatentMDP.uniform(garnet_mixture(3, 2, 2, 3))
loaded = BoundedOracle(time_limit=0.5, gap_tolerance=1e-9, negligible=0.0, episodes=50)
domain_randomization_oracle(few, {how}, solver=loaded)  # the kernels take memory too
latent = LatentMDP.uniform(garnet_mixture(12, 3, 3, 6))
limit = resident_bytes() + {room}e6
solver = BoundedOracle(
    time_limit=20.0, gap_tolerance=1e-9, negligible=0.0, max_memory=limit, episodes=50
)
result = domain_randomization_oracle(latent, {how}, solver=solver)
status = Path("/proc/self/status").read_text()  # getrusage has the parent's peak
peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
print(json.dumps([
    result.outcome.name, limit, peak, result.average_gap.lower,
    result.average_gap.upper, result.statistics.seconds,
]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [10, 60, 100])
@pytest.mark.parametrize("how", ["horizon=60", "discount=0.97"])
def test_a_limit_of_memory_is_kept(room: int, how: str) -> None:
    """Also by the process as a whole: its peak stays below the limit and a tenth."""
    code = LIMITED.format(how=how, room=room)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    outcome, limit, peak, lower, upper, _ = json.loads(done.stdout)
    assert outcome == "OUT_OF_MEMORY"
    assert 0.0 <= lower <= upper
    assert peak <= 1.1 * limit


@contextmanager
def interrupted_after(seconds: float) -> Iterator[Callable[[Progress], None]]:
    """Send SIGINT to this process some time after the first progress is told."""
    told: list[Progress] = []

    def ring(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def wind(progress: Progress) -> None:
        if not told:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        told.append(progress)

    before = signal.signal(signal.SIGALRM, ring)
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
    try:
        yield wind
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, heard)


@pytest.mark.parametrize(
    ("solver", "arguments"),
    [
        (BoundedOracle(time_limit=20.0, **FINE, **KEEP), {"horizon": 40}),  # type: ignore[arg-type]
        (BoundedOracle(time_limit=20.0, **FINE, **KEEP), {"discount": 0.95}),  # type: ignore[arg-type]
        (AutoOracle(time_limit=20.0, **FINE, **KEEP), {"horizon": 40}),  # type: ignore[arg-type]
    ],
)
def test_an_interrupt_at_any_moment_leaves_a_bracket(
    solver: Solver, arguments: dict[str, Any]
) -> None:
    latent = middling()
    short = replace(solver, time_limit=0.7)  # an interrupted compiler goes on
    domain_randomization_oracle(latent, **arguments, solver=short)
    rng = np.random.default_rng(0)
    for _ in range(5):
        with interrupted_after(float(rng.uniform(0.001, 0.6))) as told:
            result = domain_randomization_oracle(
                latent, **arguments, solver=solver, progress=told
            )
        assert result.outcome is Outcome.INTERRUPTED
        usable(latent, result, arguments.get("horizon"))


@pytest.mark.parametrize(
    ("limits", "lower", "upper", "solved"),
    [
        (BoundedOracle(gap_tolerance=0.1, negligible=0.0), 0.91, 1.0, True),
        (BoundedOracle(gap_tolerance=0.1, negligible=0.0), 0.89, 1.0, False),
        (BoundedOracle(gap_tolerance=0.5, negligible=0.0), 1.0, 2.0, True),
        (BoundedOracle(gap_tolerance=None, tolerance=0.01), 0.0, 0.9, True),
        (BoundedOracle(gap_tolerance=None, tolerance=0.01), 0.0, 1.1, False),
        (BoundedOracle(gap_tolerance=0.5, tolerance=0.01), 0.0, 0.9, False),
        (BoundedOracle(gap_tolerance=None, negligible=0.0), 1.0, 1.1, False),
        (BoundedOracle(gap_tolerance=None, negligible=0.0), 1.0, 1.0, True),
        (GridOracle(gap_tolerance=0.1, negligible=0.02), 0.0, 1.0, True),
    ],
)
def test_the_stricter_tolerance_holds(
    limits: BoundedOracle, lower: float, upper: float, solved: bool
) -> None:
    watch = Watch(limits, informed=100.0, worth=100.0, rounding=1e-12)
    watch.narrow("a test", lower=lower, upper=upper)
    assert watch.solved() == solved
