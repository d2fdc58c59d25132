"""What `tools/speed` times: work of simgap, a peer or a plain twin of it, and a check.

A twin may do a part of the work: its time is then scaled up.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import gymnasium
import numpy as np
from scipy import sparse
from tests.reference.complexity import greedy_sequence

from benchmarks import twins
from benchmarks.complexity import compiled_affinities
from benchmarks.memory_needed import plain_bound
from benchmarks.peers import Storm, Toolbox, garnet, garnet_edges, quantecon_values
from benchmarks.results import Spread, Timed, measured, ratio, scaled, timed
from simgap import continuous, instances, planning
from simgap.answers.identify.shared_paths import shared_paths
from simgap.answers.transfer.setup import Recipe
from simgap.base_policies.paper import elimination, optimistic_exploration
from simgap.complexity import eluder_dimension, function_class, separation
from simgap.gap import MonteCarlo, sampled_gaps
from simgap.instances import build_instance
from simgap.mdp import LatentMDP, SimulatorClass, class_from_edges
from simgap.oracle import (
    BoundedOracle,
    ExactOracle,
    domain_randomization_oracle,
    estimated_gap,
    loss_form,
)
from simgap.oracle.baselines.coupled import least_by_coupling
from simgap.oracle.baselines.memoryless import WORK_PER_SECOND
from simgap.simulation import Stepwise, real_models, run_program

RIVER = "riverswim?success=0.1:0.6:5&left_reward=0.4&uniform=true"
TIGHT = 1e-8
UPRIGHT = np.array((0.3, 0.6, 12.0, 2.5))  # pushes that keep a pole up
task = partial(partial, timed)  # a call whose CPU seconds are told


@final
@dataclass(frozen=True)
class Pair:
    """Work, a twin that does a part of it, and whether their answers agree."""

    against: str
    ours: Callable[[], Timed]
    twin: Callable[[], Timed]
    agree: Callable[[Any, Any], object]
    part: float = 1.0


def close(ours: Any, twin: Any, tolerance: float = 1e-6) -> bool:
    """Return whether two answers are the same numbers."""
    return np.allclose(ours, twin, rtol=tolerance, atol=1e-9)


def compared(pair: Pair) -> tuple[Spread, Spread, Spread, bool]:
    """Return milliseconds of both, how many times ours is as fast, and if they agree.

    The milliseconds of a twin that does a part are those that the whole would take.
    """
    answers, (ours, theirs) = measured(pair.ours, pair.twin)
    theirs = [each / pair.part for each in theirs]
    agreed = bool(pair.agree(*answers))
    return scaled(ours, 1e3), scaled(theirs, 1e3), ratio(theirs, ours), agreed


def values(models: SimulatorClass, peer: str, horizon: int = 1000) -> Pair:
    """V* of a class against a peer or twin that does the first model."""
    rows = twins.stacked(models), models.rewards[0], horizon
    twin: Callable[[], Timed] = task(twins.optimal_values, *rows)
    if peer == "Storm":
        twin = partial(Storm(models[0]).horizon, horizon)
    if peer == "quantecon":
        twin = quantecon_values(*rows)
    ours = task(planning.optimal_values, models, horizon)
    one = 1.0 / len(models)
    return Pair(peer, ours, twin, lambda ours, v: close(ours.values[0], v), one)


def values_of_small() -> Pair:
    model, horizon, some = build_instance("riverswim"), 10**5, 10**4
    rows = twins.stacked(model), model.rewards[0], some
    return Pair(
        "SciPy",
        task(planning.optimal_values, model, horizon),
        task(twins.optimal_values, *rows),
        lambda _, v: close(planning.optimal_values(model, some).values[0], v),
        some / horizon,
    )


def gains(models: SimulatorClass, peer: str) -> Pair:
    """Gain and bias of a class against a peer that does the first model."""
    return Pair(
        peer,
        task(planning.solve_average_reward, models, tolerance=TIGHT),
        (Storm if peer == "Storm" else Toolbox)(models[0]).gain,
        lambda ours, gain: close(ours.gain[0], gain, 1e-5),
        1.0 / len(models),
    )


def gain_of_grid() -> Pair:
    grid = instances.slip_grid(30, slip=0.2)
    return Pair(
        "SciPy, policy iteration",
        task(planning.solve_average_reward, grid, tolerance=TIGHT),
        task(twins.optimal_gain, twins.stacked(grid), grid.rewards[0]),
        lambda ours, gain: close(ours.gain[0], gain),
    )


def hitting_times(model: SimulatorClass, sample: int, *, alone: bool = False) -> Pair:
    """All hitting times, or the diameter alone, against Storm's for some targets."""
    storm = Storm(model[0])
    targets = np.linspace(0, model.n_states - 1, sample).astype(int).tolist()

    def twin() -> Timed:
        found = [storm.travel(target) for target in targets]
        return sum(spent for spent, _ in found), [times for _, times in found]

    def agree(ours: Any, found: Any) -> bool:
        if alone:
            return bool(np.max(found) <= ours.upper * (1.0 + 1e-6))
        return close(ours.times[0][targets], found)

    ours = planning.diameter if alone else planning.all_travel_times
    part = sample / model.n_states
    return Pair("Storm", task(ours, model, tolerance=TIGHT), twin, agree, part)


def diameter_alone() -> Pair:
    model = garnet(70)
    return Pair(
        "NumPy, policy iteration",
        task(planning.diameter, model, tolerance=TIGHT),
        task(twins.greatest_hitting_time, model.transitions.array(0)),
        lambda ours, longest: close(ours.lower, longest),
    )


def building() -> Pair:
    members = 8
    edges, weights, rewards = garnet_edges(1000, members)
    shape = (members, *rewards.shape)

    def twin() -> Any:
        model, state, action, after = edges.T
        rows = (model * shape[1] + state) * shape[2] + action
        found = sparse.coo_matrix((weights, (rows, after))).tocsr()
        assert (weights >= 0.0).all() and close(found.sum(axis=1), 1.0)
        return found.data

    return Pair(
        "SciPy",
        task(class_from_edges, edges, weights, rewards, shape=shape),
        task(twin),
        lambda ours, found: close(ours.transitions.values.ravel(), found),
    )


def separations() -> Pair:
    models = instances.garnet(250, 4, 5, 100, seed=1)
    return Pair(
        "NumPy",
        task(separation, models),
        task(twins.greatest_l1, models),
        lambda ours, found: close(ours.distance, found),
    )


def affinity() -> Pair:
    work = shared_paths(garnet(500, members=2), 0, 1), 500
    return Pair(
        "NumPy", task(compiled_affinities, *work), task(twins.affinities, *work), close
    )


def eluder() -> Pair:
    functions = function_class(instances.garnet(40, 4, 5, 8, seed=1))
    rows = functions.values.tolist()
    order = range(len(rows))
    return Pair(
        "Python, one greedy pass",
        task(eluder_dimension, functions, 0.01),
        task(greedy_sequence, rows, order, 0.01, careful=False),
        lambda ours, found: ours.upper >= len(found),
    )


def exactly(members: int, states: int, actions: int, horizon: int) -> Pair:
    shape = f"states={states}&actions={actions}&branching=2&members={members}"
    latent = LatentMDP.uniform(build_instance(f"garnet?{shape}"))
    asked = {"horizon": horizon, "solver": ExactOracle()}
    return Pair(
        "NumPy, all beliefs",
        task(domain_randomization_oracle, latent, **asked),
        task(twins.oracle_value, latent, horizon),
        lambda ours, value: close(ours.value.middle, value),
    )


def bounded() -> Pair:
    latent, horizon = LatentMDP.uniform(build_instance(RIVER)), 50
    asked = {"horizon": horizon, "solver": BoundedOracle(gap_tolerance=0.05)}
    return Pair(
        "NumPy, 300 points",
        task(domain_randomization_oracle, latent, **asked),
        task(twins.oracle_lower_bound, latent, horizon, 300),
        lambda ours, low: 0.99 * ours.value.lower < low <= ours.value.upper,
    )


def coupling() -> Pair:
    form = loss_form(LatentMDP.uniform(build_instance(RIVER)), horizon=200)
    return Pair(
        "plain recursion, compiled",
        task(least_by_coupling, form, 0, WORK_PER_SECOND),
        task(plain_bound, form),
        lambda ours, bound: ours > 0.99 * bound,
    )


def algorithm_3(episodes: int, horizon: int, lanes: int, steps: int) -> Pair:
    worlds = build_instance(RIVER)
    agent = optimistic_exploration(worlds, horizon)

    def agree(ours: Any, earned: Any) -> bool:
        if steps < horizon:
            return True  # the same loops as in the row that has all steps
        lost = planning.optimal_values(worlds, horizon).start - earned.mean(axis=1)
        gaps = np.array([each.gap.estimate for each in ours])
        error = earned.std(axis=1) / np.sqrt(lanes)
        return bool((np.abs(gaps - lost) < 5.0 * error + 1.0).all())

    return Pair(
        "NumPy, episodes abreast",
        task(sampled_gaps, worlds, agent, horizon, MonteCarlo(episodes)),
        task(twins.explored, agent, steps, lanes, len(worlds)),
        agree,
        steps * lanes / (horizon * episodes),
    )


def eliminating() -> Pair:
    worlds, horizon, episodes, some = build_instance(RIVER), 2000, 500, 2
    agent = elimination(worlds, horizon)
    slow = Stepwise(agent, agent.observed)
    real = real_models(agent.observed, worlds, horizon)

    def agree(ours: Any, found: Any) -> bool:
        pairs = zip(ours, found, strict=True)
        return all(close(a.runs.gap[:some], b.gap) for a, b in pairs)

    return Pair(
        "Python",
        task(sampled_gaps, worlds, agent, horizon, MonteCarlo(episodes)),
        task(run_program, slow, real, runs=some, seed=0),
        agree,
        some / episodes,
    )


def following() -> Pair:
    latent, horizon = LatentMDP.uniform(build_instance(RIVER)), 50
    form, solver = (
        loss_form(latent, horizon=horizon),
        BoundedOracle(gap_tolerance=0.05),
    )
    plan = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    policy, episodes = plan.belief_policy, 2000
    return Pair(
        "NumPy, episodes abreast",
        task(estimated_gap, form, policy, episodes=episodes, seed=0),
        task(twins.followed, form, policy, episodes),
        lambda ours, gap: close(ours.estimate, gap, 0.15),
    )


def _write_linear(path: Path, weights: Any) -> None:
    """Write a network that prefers the action with the greatest product."""
    import onnx
    from onnx import helper, numpy_helper

    def port(name: str, width: int) -> Any:
        shape = ["rows", width]
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    actions, width = weights.shape
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["obs", "weights"], ["act"], transB=1)],
        "linear",
        [port("obs", width)],
        [port("act", actions)],
        [numpy_helper.from_array(weights.astype(np.float32), "weights")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)


def carts(simulator: str, points: int, episodes: int, some: int) -> Pair:
    """Keep poles of several lengths up: they stay up for the whole episode."""
    lengths, horizon = np.linspace(0.4, 0.8, points), twins.HORIZON
    given = continuous.parse_randomization("length=0.4..0.8"), "", horizon, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upright.onnx"
        _write_linear(path, np.stack([-UPRIGHT, UPRIGHT]))
        theta, inside = lengths[:, None], np.ones(points, np.bool_)
        work = Recipe(simulator, (str(path),), *given, theta, inside)()

    def abreast() -> Any:
        many = np.repeat(lengths, some)
        starts = np.random.default_rng(0).uniform(-0.05, 0.05, (many.size, 4))
        return twins.balanced(many, UPRIGHT, starts)

    def loop() -> Any:
        found = []
        for length in lengths.tolist():
            env: Any = gymnasium.make("CartPole-v1", max_episode_steps=horizon)
            env.unwrapped.length, env.unwrapped.polemass_length = length, 0.1 * length
            for seed in range(some):
                (seen, _), over, steps = env.reset(seed=seed), False, 0
                while not over:
                    seen, _, ended, late, _ = env.step(int(seen @ UPRIGHT > 0.0))
                    over, steps = ended or late, steps + 1
                found.append(steps)
        return found

    by_gym = simulator.startswith("gym:")
    return Pair(
        "plain loop" if by_gym else "NumPy, episodes abreast",
        task(
            continuous.measured, work, [continuous.Entry("upright")], episodes=episodes
        ),
        task(loop if by_gym else abreast),
        lambda ours, found: close(ours.cube.returns.mean(), np.mean(found), 0.02),
        some / episodes,
    )


def starting() -> Pair:
    def child(*words: str) -> Timed:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, *words]
        done = subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, done.stdout

    return Pair(
        "import numpy",
        partial(child, "-m", "simgap.cli.app.main", "--help"),
        partial(child, "-c", "import numpy"),
        lambda ours, _: b"transfer" in ours,
    )


ROWS: dict[str, Callable[[], Pair]] = {
    "V*, Garnet S=1000, H=1000": lambda: values(garnet(1000), "Storm"),
    "V*, Garnet S=1000, H=1000, plain": lambda: values(garnet(1000), "SciPy"),
    "V*, class of 48, S=1000, H=1000": lambda: values(
        garnet(1000, members=48), "SciPy"
    ),
    "V*, RiverSwim S=6, H=1e5": values_of_small,
    "gain and bias, Garnet S=1000": lambda: gains(garnet(1000), "pymdptoolbox"),
    "gain and bias, Garnet S=1000, Storm": lambda: gains(garnet(1000), "Storm"),
    "gain and bias, class of 48, S=1000": lambda: gains(
        garnet(1000, members=48), "pymdptoolbox"
    ),
    "gain and bias, slip grid 30x30": gain_of_grid,
    "all hitting times, Garnet S=300": lambda: hitting_times(garnet(300), 12),
    "diameter, Garnet S=70": diameter_alone,
    "build a class of 8, S=1000": building,
    "separation of 100 models, S=250": separations,
    "identify: 500 sweeps over a pair, S=500": affinity,
    "eluder dimension, 8 models, S=40": eluder,
    "exact oracle, M=3 S=4 A=2 H=10": partial(exactly, 3, 4, 2, 10),
    "exact oracle, M=4 S=5 A=2 H=9": partial(exactly, 4, 5, 2, 9),
    "exact oracle, M=2 S=6 A=3 H=8": partial(exactly, 2, 6, 3, 8),
    "bounded oracle to 5 %, RiverSwim M=5 H=50": bounded,
    "bound without memory, RiverSwim M=5 H=200": coupling,
    "Algorithm 3, H=2000, 200 episodes": partial(algorithm_3, 200, 2000, 200, 2000),
    "Algorithm 3, H=20000, 200 episodes": partial(algorithm_3, 200, 20_000, 200, 2000),
    "Algorithm 3, H=2000, 2000 episodes": partial(algorithm_3, 2000, 2000, 2000, 500),
    "Algorithm 1, H=2000, 500 episodes": eliminating,
    "belief policy, H=50, 2000 episodes": following,
    "gym:CartPole-v1, 64 episodes": partial(carts, "gym:CartPole-v1", 8, 8, 4),
    "cartpole in JAX, 4096 episodes": partial(carts, "cartpole", 64, 64, 64),
    "simgap --help": starting,
}
