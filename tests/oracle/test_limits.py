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
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from simgap.instances import garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle import entry
from simgap.oracle.bounded import planner
from simgap.oracle.bounded.upper_graph import UpperPass
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import OracleResult, Outcome
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.watch import Progress, StopPlanning, Watch
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
    """Estimate included; the room is for the last piece of work on a busy machine."""
    latent = middling()
    solver = settings(time_limit=0.5, **FINE | {"episodes": 50_000})  # type: ignore[arg-type]
    domain_randomization_oracle(latent, **arguments, solver=solver)  # loads kernels
    result = domain_randomization_oracle(latent, **arguments, solver=solver)
    assert result.outcome is Outcome.OUT_OF_TIME
    assert result.statistics.seconds < 1.1 * 0.5 + 0.6
    usable(latent, result, arguments.get("horizon"))


@pytest.mark.slow
def test_a_limit_of_time_is_kept_on_a_middling_class() -> None:
    """Ten models, 20 states, 200 steps: two seconds and a tenth, and a little room."""
    latent = LatentMDP.uniform(garnet_mixture())
    solver = BoundedOracle(time_limit=2.0, gap_tolerance=1e-6)
    taken = []
    for _ in range(3):
        result = domain_randomization_oracle(latent, horizon=200, solver=solver)
        assert result.outcome is Outcome.OUT_OF_TIME
        taken.append(result.statistics.seconds)
    assert min(taken) < 2.5


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


class Rings:
    """Raises KeyboardInterrupt the first `times` times it is called, then calls."""

    def __init__(self, wrapped: Any, times: int = 1) -> None:
        self.wrapped, self.times = wrapped, times

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self.times > 0:
            self.times -= 1
            raise KeyboardInterrupt
        return self.wrapped(*given, **named)


@pytest.mark.parametrize("name", ["policy_graph", "graph_gaps", "pair_prices_above"])
def test_an_interrupt_while_the_graph_is_written_down_is_noted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, name, Rings(getattr(planner, name)))
    solver = BoundedOracle(time_limit=0.5, **KEEP)
    result = domain_randomization_oracle(middling(), horizon=8, solver=solver)
    assert result.outcome is Outcome.INTERRUPTED
    usable(middling(), result, 8)


@pytest.mark.parametrize(
    ("place", "name", "solver"),
    [
        (entry, "looks_hopeless", AutoOracle(**KEEP)),
        (entry, "count_nodes", AutoOracle(**KEEP)),
        (planner, "upper_nodes", BoundedOracle(**KEEP)),
        (planner, "upper_pass", BoundedOracle(**KEEP)),
    ],
)
def test_an_interrupt_before_planning_leaves_the_plan_of_one_model(
    place: Any, name: str, solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, Rings(getattr(place, name)))
    result = domain_randomization_oracle(middling(2), horizon=3, solver=solver)
    assert result.outcome is Outcome.INTERRUPTED
    assert result.average_gap.lower == 0.0
    usable(middling(2), result, 3)


@pytest.mark.parametrize("name", ["policy_to_run", "pair_prices"])
def test_an_interrupt_during_the_estimate_is_noted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, name, Rings(getattr(entry, name)))
    solver = ExactOracle(**KEEP)
    result = domain_randomization_oracle(middling(2), horizon=4, solver=solver)
    assert result.outcome is Outcome.INTERRUPTED
    low, high = result.average_gap.ends
    assert high - low < 1e-12  # nothing is lost


@pytest.mark.parametrize("name", ["policy_graph", "graph_gaps"])
def test_a_second_interrupt_is_obeyed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = BoundedOracle(time_limit=0.5, **KEEP)
    domain_randomization_oracle(middling(), horizon=8, solver=solver)
    monkeypatch.setattr(planner, name, Rings(getattr(planner, name), times=2))
    with pytest.raises(KeyboardInterrupt):
        domain_randomization_oracle(middling(), horizon=8, solver=solver)


def test_a_graph_that_turns_out_worse_is_worked_on_but_not_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first graph over points may lose to pairs alone; the answer must not."""
    latent = middling()
    form = loss_form(latent, horizon=12)
    calls: list[float] = []

    def pass_over_points_is_bad(*given: Any, **named: Any) -> UpperPass:
        """Let episodes begin at the worst node instead of the best."""
        made = upper_pass(*given, **named)
        if given[1].points.size > 0:
            first, last = made.nodes.state_offsets[form.root_states[0] :][:2]
            costs = made.vectors[first:last] @ form.root_weights[0]
            worst = np.array([first + costs.argmax()], np.int32)
            made = replace(made, upper=float(costs.max()), roots=worst)
        calls.append(made.upper)
        return made

    monkeypatch.setattr(planner, "upper_pass", pass_over_points_is_bad)
    solver = BoundedOracle(time_limit=0.5, gap_tolerance=1e-3)
    found = planner.solve_bounded(form, solver)
    assert max(calls) > 1.5 * min(calls)
    assert calls[-1] > 1.5 * min(calls)
    assert found.upper <= min(calls) * (1.0 + 1e-9)


def test_a_watch_stops_at_its_limits() -> None:
    watch = Watch(BoundedOracle(time_limit=1e-9), 1.0, 1.0, 0.0)
    with pytest.raises(StopPlanning) as stopped:
        watch.keep_going()
    assert stopped.value.outcome is Outcome.OUT_OF_TIME
    watch = Watch(BoundedOracle(max_memory=1.0), 1.0, 1.0, 0.0)
    with pytest.raises(StopPlanning) as stopped:
        watch.claim(8.0)
    assert stopped.value.outcome is Outcome.OUT_OF_MEMORY
    free = Watch(BoundedOracle(time_limit=None), 1.0, 1.0, 0.0)
    free.keep_going()
    free.claim(1e300)


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


def test_room_for_the_answer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("simgap.oracle.watch")
    monkeypatch.setattr(module, "resident_bytes", lambda: 600)
    watch = Watch(BoundedOracle(max_memory=1000.0), 1.0, 1.0, 0.0)
    watch.reserve(300.0)
    watch.claim(100.0)
    with pytest.raises(StopPlanning):
        watch.claim(101.0)
    watch.reserve(399.0)  # instead of the other, not besides it
    with pytest.raises(StopPlanning):
        watch.reserve(401.0)
    assert watch.reserved == 399.0
    watch.keep_going()
    monkeypatch.setattr(module, "resident_bytes", lambda: 602)
    with pytest.raises(StopPlanning) as stopped:
        watch.keep_going()
    assert stopped.value.outcome is Outcome.OUT_OF_MEMORY


def test_a_watch_tells_the_best_of_both_sides() -> None:
    told: list[Progress] = []
    watch = Watch(BoundedOracle(), 1.0, 1.0, 0.0, told.append)
    watch.narrow("one", upper=0.5)
    watch.narrow("two", lower=0.2, upper=0.7)
    watch.narrow("three", lower=0.1)
    assert [(each.lower, each.upper) for each in told] == [
        (0.0, 0.5),
        (0.2, 0.5),
        (0.2, 0.5),
    ]
