"""statisticalrl's UCRL2 and PSRL on a model of ours: the peers of the learners.

    python -m benchmarks.learning_peers [--peer-python PATH] [--quick]

statisticalrl pins old releases of NumPy and SciPy, so it wants an environment of its
own, with Python 3.10 or 3.11:

    python3.11 -m venv learners
    learners/bin/pip install statisticalrl==2.2507

Its interpreter is given by `--peer-python` or the variable SIMGAP_PEER_PYTHON; else the
running one is asked. Nothing is installed here: without the peer the run is skipped.

Every call is a process of one thread. The model is ours, handed over edge by edge and
played in the peer's own DiscreteMDP; the loop around it is ours too: theirs keeps lists
(about 1 % slower) and has no seeds. Counted is CPU time from the learner's reset to
its last step. Regret is steps * gain - the sum of R(s, a) over the pairs played.

rlberry 0.7.3 and rlberry-scool 0.7.3 have UCBVI, LSVI-UCB, MBQVI, value iteration,
Q-learning and SARSA, for episodes or a discount: no UCRL2, no PSRL, no average reward,
so nothing of theirs is compared.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:  # the peer's interpreter has no simgap
    from simgap.mdp import TabularMDP

VARIABLE = "SIMGAP_PEER_PYTHON"
ENVIRONMENTS = "statisticalrl_environments.MDPs_discrete.gymWrapper"
LEARNERS = "statisticalrl_learners.MDPs_discrete"
CONFIDENCE = 0.05  # delta of UCRL2 in their template; their PSRL ignores it
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")
}


class Learner(Enum):
    """What plays: a learner of the peer, or the optimal policy and no learner."""

    UCRL2 = "UCRL2"
    PSRL = "PSRL"
    FIXED = "fixed policy"


class PeerMissing(Exception):
    """There is no peer to compare with; the message says so in a sentence."""


@final
@dataclass(frozen=True, slots=True)
class Peer:
    """An interpreter that has statisticalrl."""

    python: str
    version: str


@final
@dataclass(frozen=True, slots=True)
class PeerRun:
    """One run of the peer."""

    seed: int
    steps: int
    seconds: float  # CPU
    reward: float  # sum of R(s, a)
    regret: float  # steps * gain - reward
    unconverged: int  # plans the peer gave up on, by its own messages

    @property
    def speed(self) -> float:
        """Steps per second of CPU time."""
        return self.steps / self.seconds


def find_peer(asked: str | None = None) -> Peer:
    """Return the interpreter asked for, named in the environment, or running."""
    wanted = asked or os.environ.get(VARIABLE) or sys.executable
    found = shutil.which(wanted)
    if found is None:
        raise PeerMissing(f"Skipped: there is no interpreter {wanted}.")
    python = str(Path(found).absolute())  # unresolved: a link may be an environment's
    probe = (
        f"import {ENVIRONMENTS}, {LEARNERS}.UCRL2, {LEARNERS}.PSRL\n"
        "from importlib.metadata import version\n"
        "print(version('statisticalrl-learners'))"
    )
    done = _started([python, "-c", probe], "")
    if done.returncode:
        raise PeerMissing(
            f"Skipped: {python} cannot import statisticalrl ({_last(done.stderr)}); "
            f"give one that can by --peer-python or {VARIABLE}."
        )
    return Peer(python, _last(done.stdout))


def peer_runs(
    peer: Peer,
    model: TabularMDP,
    learner: Learner,
    *,
    steps: int,
    seeds: Sequence[int] = (0,),
) -> list[PeerRun]:
    """Return a run of the peer's learner on our model for every seed."""
    from simgap.planning import solve_average_reward

    plan = solve_average_reward(model)
    rows = [
        [model.transitions.row(0, s, a) for a in range(model.n_actions)]
        for s in range(model.n_states)
    ]
    asked = {
        "learner": learner.value,
        "steps": steps,
        "seeds": list(seeds),
        "start": model.as_class().start_law(0).tolist(),
        "rewards": model.rewards.tolist(),
        "policy": plan.policy[0].tolist(),
        "successors": [[after.tolist() for after, _ in row] for row in rows],
        "weights": [[law.tolist() for _, law in row] for row in rows],
    }
    command = [peer.python, "-m", "benchmarks.learning_peers", "--child"]
    done = _started(command, json.dumps(asked))
    if done.returncode:
        raise RuntimeError(f"{peer.python} failed: {_last(done.stderr)}")
    gain = float(plan.gain[0])
    return [
        PeerRun(steps=steps, regret=steps * gain - run["reward"], **run)
        for run in json.loads(_last(done.stdout))
    ]


def main() -> int:
    """Print speed and regret of the peer on two rivers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer-python", help="an interpreter that has statisticalrl")
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_play(json.load(sys.stdin))))
        return 0
    try:
        peer = find_peer(options.peer_python)
    except PeerMissing as missing:
        print(missing)
        return 0
    from simgap.instances import riverswim

    print(f"statisticalrl {peer.version}, RiverSwim, CPU time of one thread")
    for states, short, seeds in ((6, 20_000, range(5)), (50, 10_000, range(1))):
        river = riverswim(states, 0.4, 0.05, left_reward=0.005, uniform=True)[0]
        steps = short if options.quick else 100_000
        for learner in Learner:
            _print(
                states,
                learner,
                peer_runs(peer, river, learner, steps=steps, seeds=seeds),
            )
    return 0


def _print(states: int, learner: Learner, runs: list[PeerRun]) -> None:
    speed = statistics.median(run.speed for run in runs)
    regrets = [run.regret for run in runs]
    spread = f" +- {statistics.stdev(regrets):.3g}" if len(regrets) > 1 else ""
    lost = sum(run.unconverged for run in runs)
    print(
        f"S={states:<3} {learner.value:12} T={runs[0].steps:<7} {speed:8.3g} steps/s, "
        f"regret {statistics.mean(regrets):.4g}{spread} (seeds: {len(runs)})"
        + (f", {lost} plans not converged" if lost else ""),
        flush=True,
    )


def _started(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env=os.environ | ONE_THREAD,
    )


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def _play(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what every seed took and earned; runs in the peer's interpreter."""
    runs = []
    _run(asked, seed=0, steps=50)  # first calls are slower
    for seed in asked["seeds"]:
        said = io.StringIO()
        gc.collect()
        with contextlib.redirect_stdout(said):
            seconds, reward = _run(asked, seed=seed, steps=asked["steps"])
        lost = said.getvalue().count("No convergence")
        runs.append(
            {"seed": seed, "seconds": seconds, "reward": reward, "unconverged": lost}
        )
    return runs


def _run(asked: dict[str, Any], *, seed: int, steps: int) -> tuple[float, float]:
    import numpy as np

    world = _world(asked)
    np.random.seed(seed)  # noqa: NPY002, their learners draw from the global generator
    state, _ = world.reset(seed=seed)
    reward = 0.0
    if asked["learner"] == Learner.FIXED.value:
        policy = asked["policy"]
        begin = time.process_time()
        for _ in range(steps):
            state, paid, *_ = world.step(policy[state])
            reward += paid
        return time.process_time() - begin, reward
    name = asked["learner"]
    made = getattr(importlib.import_module(f"{LEARNERS}.{name}"), name)
    learner = made(world.nS, world.nA, CONFIDENCE)
    begin = time.process_time()
    learner.reset(state)
    for _ in range(steps):
        action = learner.play(state)
        after, paid, *_ = world.step(action)
        learner.update(state, action, paid, after)
        reward += paid  # their reward is R(s, a) itself: Dirac
        state = after
    return time.process_time() - begin, reward


def _world(asked: dict[str, Any]) -> Any:
    """Return our model as the peer's environment."""
    theirs = importlib.import_module(ENVIRONMENTS)
    rewards = asked["rewards"]
    moves = {
        s: {
            a: [
                (p, after, False)
                for p, after in zip(law, successors[a], strict=True)
                if p > 0.0
            ]
            for a, law in enumerate(asked["weights"][s])
        }
        for s, successors in enumerate(asked["successors"])
    }
    paid = {s: dict(enumerate(map(theirs.Dirac, row))) for s, row in enumerate(rewards)}
    return theirs.DiscreteMDP(
        len(rewards), len(rewards[0]), moves, paid, asked["start"]
    )


if __name__ == "__main__":
    sys.exit(main())
