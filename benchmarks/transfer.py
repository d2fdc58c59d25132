"""Episodes per second of `simgap transfer`, and episodes that common starts save.

    python -m benchmarks.transfer [--sb3 PYTHON] [--quick]

The same work by three programs: simgap's path, a plain loop over `gymnasium.make`, and
`evaluate_policy` of Stable-Baselines3 in the interpreter that `--sb3` names (without
it: not measured). Policies are networks with random hidden weights, one set for all
three. Every program is a process of its own that may use one core (seconds are those of
the processor), then two (those of the clock; the plain loop uses one), three times.
Starting, compiling and the first episodes are not counted but told: the seconds before.
Mean returns are compared before a row is told.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import Asked, Row, Table, run, spread, started
from benchmarks.transfer_peers import figures
from simgap.answers.transfer.setup import Recipe
from simgap.continuous import (
    Cube,
    Entry,
    bind,
    measured,
    open_simulator,
    parse_randomization,
)
from simgap.continuous.measuring.means import Level
from simgap.continuous.measuring.stopping import widest

TASKS: dict[str, Asked] = {  # simulators of simgap, parameter and range
    "CartPole": {
        "gym_id": "CartPole-v1",
        "simulators": ["gym:CartPole-v1", "cartpole"],
        "parameter": "length",
        "range": (0.4, 0.8),
        "sizes": (4, 2),
        "pair": ("LSTM", 2.0, 2.1),  # twists of the controller: both fall at times
        "most": 4096,
    },
    "Pendulum": {
        "gym_id": "Pendulum-v1",
        "simulators": ["gym:Pendulum-v1", "pendulum"],
        "parameter": "mass",
        "range": (0.7, 1.3),
        "sizes": (3, 1),
        "pair": ("MLP", 0.0, 0.05),
        "most": 4096,
        "ends": (-2.0, 2.0),
    },
    "Hopper": {
        "gym_id": "Hopper-v5",
        "simulators": ["hopper"],
        "parameter": "gravity.z",
        "range": (-10.5, -9.0),
        "sizes": (11, 3),
        "pair": ("MLP", 0.0, 0.05),
        "most": 512,
        "ends": (-1.0, 1.0),
    },
}
HORIZON = 200
HIDDEN = 64
ENDS = ("in", "out")
FIRST = 32  # episodes at a point that warm up: two jobs, one for each worker
REPEATS, PEERS = 3, "benchmarks.transfer_peers"
BALANCE = (0.3, 0.6, 12.0, 2.5)  # of a linear controller that keeps CartPole up


def rates(options: Namespace) -> Iterator[Row]:
    """Return episodes per second, and how many times as many the fastest has."""
    asked = {"seconds": 0.3 if options.quick else 1.0, "places": _places()}
    with tempfile.TemporaryDirectory() as folder:
        asked["cases"] = _cases(Path(folder), options.quick)
        for cores in (1,) if options.quick else (1, 2):
            programs = [(sys.executable, "benchmarks.transfer", "simgap")]
            if cores == 1:
                programs.append((sys.executable, PEERS, "plain loop"))
            if options.sb3 is not None:
                programs.append((options.sb3, PEERS, "SB3's evaluate_policy"))
            runs = [
                list(started(python, module, asked | {"cores": cores, "program": name}))
                for _ in range(1 if options.quick else REPEATS)
                for python, module, name in programs
            ]
            yield from _rows([row for each in runs for row in each], cores)


def _rows(runs: list[Asked], cores: int) -> Iterator[Row]:
    cases = dict.fromkeys((each["task"], each["policy"]) for each in runs)
    for task, policy in cases:
        same = [r for r in runs if (r["task"], r["policy"]) == (task, policy)]
        _check_alike(same)
        found: dict[str, list[Asked]] = {}
        for each in same:
            found.setdefault(each["program"], []).append(each)
        key = "cpu" if cores == 1 else "clock"
        speeds = {name: spread([r[key] for r in rows]) for name, rows in found.items()}
        ours = max(s.median for name, s in speeds.items() if "simgap" in name)
        for name, rows in found.items():
            before = [each["before"] for each in rows if "before" in each]
            steps = round(float(np.mean([each["steps"] for each in rows])))
            first = spread(before) if before else None
            times = ours / speeds[name].median
            yield task, policy, name, cores, steps, first, speeds[name], times


def _check_alike(rows: list[Asked]) -> None:
    """Stop unless all programs had the same work: their mean returns agree."""
    done = [each for each in rows if "mean" in each]
    for each in done[1:]:
        apart = abs(each["mean"] - done[0]["mean"])
        error = float(np.hypot(each["error"], done[0]["error"]))
        if apart > 5.0 * error + 1e-9:
            raise AssertionError(f"not the same work: {done[0]} and {each}")


def evaluated(asked: Asked) -> Iterator[Asked]:
    """Measure simgap's own path on some cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked["cores"]])
    for case in asked["cases"]:
        for name in case["simulators"]:
            who = {"task": case["task"], "policy": case["policy"]}
            yield {
                **_simgap({**asked, **case}, name),
                **who,
                "program": f"simgap, {name}",
            }


def _simgap(case: Asked, name: str) -> Asked:
    low, high = case["range"]
    points = 64 if name in ("cartpole", "pendulum") else 8  # a batch is 1024 or 64
    simulator = open_simulator(name)
    spec = parse_randomization(f"{case['parameter']}={low}..{high}")
    theta = np.linspace(low, high, points)[:, None]
    inside = np.ones(points, np.bool_)
    recipe = Recipe(name, (case["onnx"],), spec, "", HORIZON, 0, theta, inside)
    looks: list[tuple[float, float, int]] = []
    begin = time.perf_counter()

    def more(cube: Cube, *, look: int, steps: int) -> int | None:
        looks.append((time.perf_counter(), time.process_time(), steps))
        if looks[-1][0] - looks[0][0] >= case["seconds"]:
            return None
        return 2 * int(cube.returns.shape[-1])

    found = measured(
        replace(recipe(), randomization=bind(spec, simulator)),
        [Entry("network")],
        episodes=FIRST,
        more=more,
        recipe=recipe,
        workers=case["cores"],
    )
    (clock, cpu, warm), (end, spent, steps) = looks[0], looks[-1]
    return figures(
        found.cube.returns[..., FIRST:].ravel(),
        steps - warm,
        clock=end - clock,
        cpu=spent - cpu,
        before=clock - begin,
    )


def common_starts(options: Namespace) -> Iterator[Row]:
    """Episodes until a loss is known at every point, the same starts or others.

    The reference is nearly the same network. Without common random numbers its episodes
    are compared with those of other starts. The half-width is what all episodes of
    other starts come to.
    """
    with tempfile.TemporaryDirectory() as folder:
        yield from _common_starts(Path(folder), options.quick)


def _common_starts(folder: Path, quick: bool) -> Iterator[Row]:
    for task, about in TASKS.items():
        kind, *twists = about["pair"]
        texts = tuple(str(_network(folder, task, kind, each)) for each in twists)
        low, high = about["range"]
        name = about["simulators"][-1]
        spec = parse_randomization(f"{about['parameter']}={low}..{high}")
        theta, inside = np.linspace(low, high, 4)[:, None], np.ones(4, np.bool_)
        cube = measured(
            Recipe(name, texts, spec, "", HORIZON, 0, theta, inside)(),
            [Entry("policy"), Entry("reference")],
            episodes=128 if quick else about["most"],
            references=("reference",),
        ).cube
        cubes = {"approximate": replace(cube, bounds=None)}
        if cube.bounds is not None:
            cubes["guaranteed"] = cube
        for label, paired in cubes.items():
            width = widest(_apart(paired), Level(0.95)) / 2.0
            alike, mixed = (_needed(each, width) for each in (paired, _apart(paired)))
            yield task, label, width, alike, mixed, mixed / alike


def _apart(cube: Cube) -> Cube:
    """Return the cube with the episodes of the reference moved on by one."""
    returns = np.array(cube.returns)
    returns[1] = np.roll(returns[1], 1, axis=-1)
    return replace(cube, returns=returns)


def _needed(cube: Cube, half_width: float) -> int:
    """Return the first number of episodes at a point, up by an eighth, that do."""
    count = 8
    while count < cube.returns.shape[-1]:
        cut = replace(cube, returns=cube.returns[..., :count], success=None)
        if widest(cut, Level(0.95)) <= 2.0 * half_width:
            return count
        count += max(1, count // 8)
    return int(cube.returns.shape[-1])


def _cases(folder: Path, quick: bool) -> list[Asked]:
    """Return what is measured: tasks, policies and their files."""
    quickly = {("CartPole", "MLP"), ("Pendulum", "LSTM"), ("Hopper", "MLP")}
    found = []
    for task, about in TASKS.items():
        low, high = about["range"]
        for policy in ("MLP", "LSTM"):
            if quick and (task, policy) not in quickly:
                continue
            path = _network(folder, task, policy)
            found.append(
                {
                    **about,
                    "task": task,
                    "policy": policy,
                    "horizon": HORIZON,
                    "theta": np.linspace(low, high, 8).tolist(),
                    "onnx": str(path),
                    "weights": str(path.with_suffix(".npz")),
                }
            )
    return found


def _network(folder: Path, task: str, kind: str, twist: float = 0.0) -> Path:
    """Write a network as ONNX and its arrays as .npz; return the former.

    Weights are random, but for CartPole: there one unit is a linear controller that
    decides, since episodes of ten steps would only measure starts.
    """
    inputs, outputs = TASKS[task]["sizes"]
    rng = np.random.default_rng(5)

    def random(*shape: int) -> Any:
        return rng.normal(size=shape) / np.sqrt(shape[-1])

    push = 0.01 * np.array(BALANCE) * (1.0 + twist * rng.normal(size=4))
    if kind == "LSTM":
        arrays = {
            "input_weight": random(4 * HIDDEN, inputs),
            "hidden_weight": 0.5 * random(4 * HIDDEN, HIDDEN),
            "input_bias": np.zeros(4 * HIDDEN),
            "hidden_bias": np.zeros(4 * HIDDEN),
        }
        if task == "CartPole":
            gates = HIDDEN * np.arange(4)  # in, forget, cell, out
            arrays["input_weight"][gates] = arrays["hidden_weight"][gates] = 0.0
            arrays["input_weight"][gates[2]] = push
            arrays["input_bias"][gates] = (9.0, -9.0, 0.0, 9.0)
    else:
        sizes = {"1": (HIDDEN, inputs), "2": (HIDDEN, HIDDEN)}
        arrays = {f"weight_{at}": random(*shape) for at, shape in sizes.items()}
        arrays |= {f"bias_{at}": np.zeros(HIDDEN) for at in sizes}
        if task == "CartPole":
            arrays["weight_1"][0], arrays["weight_2"][0] = push, np.eye(HIDDEN)[0]
    head = random(outputs, HIDDEN)
    head *= 1.0 + twist * rng.normal(size=head.shape)
    if task == "CartPole":
        head = np.outer((-1.0, 1.0), np.eye(HIDDEN)[0])
    arrays |= {"weight_head": head, "bias_head": np.zeros(outputs)}
    path = folder / f"{task}-{kind}-{twist}.onnx"
    _write_onnx(path, arrays, TASKS[task].get("ends"))
    np.savez(path.with_suffix(".npz"), **arrays)
    return path


def _write_onnx(path: Path, arrays: Asked, ends: tuple[float, float] | None) -> None:
    """Write the network of some arrays, which are laid out as PyTorch's."""
    import onnx
    from onnx import helper, numpy_helper

    def port(name: str, *shape: int | str) -> Any:
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    def gemm(given: str, name: str, made: str) -> Any:
        inputs = [given, f"weight_{name}", f"bias_{name}"]
        return helper.make_node("Gemm", inputs, [made], transB=1)

    constants, (outputs, _) = dict(arrays), arrays["weight_head"].shape
    memory = []
    if "input_weight" in arrays:
        memory, inputs = ["h", "c"], arrays["input_weight"].shape[1]
        for name, each in arrays.items():
            if "head" not in name:  # from PyTorch's order of gates to that of ONNX
                parts = np.split(each, 4)
                constants[name] = np.concatenate([parts[g] for g in (0, 3, 1, 2)])[None]
        biases = [constants.pop(f"{each}_bias") for each in ("input", "hidden")]
        constants["biases"] = np.concatenate(biases, axis=1)
        fed = ["x", "input_weight", "hidden_weight", "biases", "", "h_in", "c_in"]
        made = ["", "h_out", "c_out"]
        body = [
            helper.make_node("Unsqueeze", ["obs", "zero"], ["x"]),
            helper.make_node("LSTM", fed, made, hidden_size=HIDDEN),
            helper.make_node("Squeeze", ["h_out", "zero"], ["y"]),
        ]
    else:
        inputs = arrays["weight_1"].shape[1]
        body = [
            gemm("obs", "1", "a"),
            helper.make_node("Tanh", ["a"], ["b"]),
            gemm("b", "2", "c"),
            helper.make_node("Tanh", ["c"], ["y"]),
        ]
    low, high = (-np.inf, np.inf) if ends is None else ends
    constants |= {"low": np.array(low), "high": np.array(high)}
    body += [
        gemm("y", "head", "z"),
        helper.make_node("Clip", ["z", "low", "high"], ["actions"]),
    ]
    stored = [
        numpy_helper.from_array(each.astype(np.float32), name)
        for name, each in constants.items()
    ]
    stored += [numpy_helper.from_array(np.array([0]), "zero")] if memory else []
    states = [(f"{name}_{end}", 1, "batch", HIDDEN) for name in memory for end in ENDS]
    graph = helper.make_graph(
        body,
        "policy",
        [port("obs", "batch", inputs), *(port(*e) for e in states if "_in" in e[0])],
        [port("actions", "batch", outputs)]
        + [port(*e) for e in states if "_out" in e[0]],
        stored,
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def _places() -> list[str]:
    """Return where MuJoCo is, for an interpreter that has none."""
    import mujoco

    return [str(Path(mujoco.__file__).parents[1])]


TABLES = (
    Table(
        "transfer",
        "task | policy | program | cores | steps | before, s | episodes/s | "
        "the fastest of simgap, times",
        rates,
    ),
    Table(
        "common_starts",
        "task | interval | half-width | episodes, same starts | other starts | ratio",
        common_starts,
    ),
)
SB3 = {"--sb3": "an interpreter that has stable-baselines3"}

if __name__ == "__main__":
    sys.exit(
        run("benchmarks.transfer", str(__doc__), TABLES, options=SB3, child=evaluated)
    )
