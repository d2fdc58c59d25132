"""Episodes per second of `simgap transfer`, and episodes that common starts save.

    python -m benchmarks.transfer [--sb3 PYTHON] [--quick] [--json FILE]

The same work by three programs: simgap's path, a plain loop over `gymnasium.make`, and
`evaluate_policy` of Stable-Baselines3 in the interpreter that `--sb3` names (without
it: not measured). Policies are networks with random hidden weights, one set for all
three. Every program is a process of its own that may use one core, then two (the plain
loop uses one). Starting, compiling and the first episodes are not counted but told: the
seconds before. Mean returns are compared before anything is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.transfer_peers import Asked, figures, started
from simgap.answers.transfer.setup import Recipe
from simgap.continuous import (
    Activation,
    Box,
    Choices,
    Cube,
    Dense,
    Entry,
    Lstm,
    bind,
    measured,
    open_simulator,
    parse_randomization,
    write_policy,
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
        "pair": ("LSTM", 1.0, 1.05),  # twists of the last layer: both fall at times
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
NAMES = {"plain loop": "plain loop", "sb3": "SB3's evaluate_policy"}
HORIZON = 200
HIDDEN = 64
FIRST = 32  # episodes at a point that warm up: two jobs, one for each worker
BALANCE = (0.3, 0.6, 12.0, 2.5)  # of a linear controller that keeps CartPole up


def main() -> int:
    """Run all comparisons and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sb3", help="an interpreter that has stable-baselines3")
    parser.add_argument("--quick", action="store_true", help="one core, short runs")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(json.load(sys.stdin))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        cases = _cases(Path(folder), options.quick)
        rows = list(_rates(cases, options.sb3, options.quick))
        saved = list(_common_numbers(Path(folder), options.quick))
    if options.json:
        options.json.write_text(json.dumps({"rates": rows, "saved": saved}, indent=1))
    return 0


def _rates(cases: list[Asked], sb3: str | None, quick: bool) -> Iterator[Asked]:
    asked = {"cases": cases, "seconds": 0.3 if quick else 1.5, "places": _places()}
    print(
        "| task | policy | program | cores | steps | before, s | episodes/s | ratio | "
        "CPU: episodes/s | ratio |\n" + "|---" * 10 + "|"
    )
    for cores in (1,) if quick else (1, 2):
        rows: list[Asked] = []
        here = {**asked, "cores": cores}
        programs = [("simgap", sys.executable, "benchmarks.transfer")]
        peers = "benchmarks.transfer_peers"
        if cores == 1:
            programs.append(("plain loop", sys.executable, peers))
        if sb3 is not None:
            programs.append(("sb3", sb3, peers))
        for name, python, module in programs:
            told = started(python, {**here, "program": name}, module)
            rows += [{"program": name, "cores": cores, **each} for each in told]
        if sb3 is None:
            missing = {"program": "sb3", "cores": cores, "missing": "no --sb3"}
            rows += [{**missing, **_who(each)} for each in cases]
        for case in cases:
            same = [each for each in rows if _who(each) == _who(case)]
            _check_alike(same)
            _print(same)
        yield from rows


def _who(row: Asked) -> Asked:
    return {"task": row["task"], "policy": row["policy"]}


def _check_alike(rows: list[Asked]) -> None:
    """Stop unless all programs had the same work: their mean returns agree."""
    done = [each for each in rows if "mean" in each]
    for each in done[1:]:
        apart = abs(each["mean"] - done[0]["mean"])
        error = float(np.hypot(each["error"], done[0]["error"]))
        if apart > 5.0 * error + 1e-9:
            raise AssertionError(f"not the same work: {done[0]} and {each}")


def _print(rows: list[Asked]) -> None:
    """Print rates; ratios are of simgap's fastest door over each program."""
    best = max(
        (each for each in rows if each["program"] == "simgap"), key=lambda r: r["clock"]
    )
    for each in rows:
        name = each.get("simulator") or NAMES[each["program"]]
        start = f"| {each['task']} | {each['policy']} | {name} | {each['cores']} |"
        if "missing" in each:
            print(f"{start} not measured | | | | | |", flush=True)
            continue
        before = f"{each['before']:.1f}" if "before" in each else "-"
        speeds = [
            "- | -"
            if each[clock] is None
            else f"{each[clock]:.3g} | {best[clock] / each[clock]:.2g}"
            for clock in ("clock", "cpu")
        ]
        shown = " | ".join([f"{each['steps']:.0f}", before, *speeds])
        print(f"{start} {shown} |", flush=True)


def _child(asked: Asked) -> None:
    """Measure simgap's own path on some cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked["cores"]])
    for case in asked["cases"]:
        for name in case["simulators"]:
            row = _simgap({**asked, **case}, name)
            print(json.dumps({**row, **_who(case), "simulator": f"simgap, {name}"}))
            sys.stdout.flush()


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
        cpu=spent - cpu if case["cores"] == 1 else None,
        before=clock - begin,
    )


def _common_numbers(folder: Path, quick: bool) -> Iterator[Asked]:
    """Episodes until a loss is known at every point, the same starts or others.

    The reference is nearly the same network. Without common random numbers its episodes
    are compared with those of other starts. The half-width is what all episodes of
    other starts come to.
    """
    print("\n| task | interval | half-width | same starts | other starts | ratio |")
    print("|---|---|---|---|---|---|")
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
            print(
                f"| {task} | {label} | {width:.3g} | {alike} | {mixed} | "
                f"{mixed / alike:.2g} |",
                flush=True,
            )
            yield {"task": task, "interval": label, "half_width": width,
                   "same": alike, "other": mixed}  # fmt: skip


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

    Hidden weights are random. So is the last layer, but for CartPole: there it follows
    a linear controller, since episodes of ten steps would only measure starts.
    """
    inputs, outputs = TASKS[task]["sizes"]
    rng = np.random.default_rng(5)

    def random(*shape: int) -> Any:
        return rng.normal(size=shape) / np.sqrt(shape[-1])

    if kind == "LSTM":
        arrays = {
            "input_weight": random(4 * HIDDEN, inputs),
            "hidden_weight": 0.5 * random(4 * HIDDEN, HIDDEN),
            "input_bias": np.zeros(4 * HIDDEN),
            "hidden_bias": np.zeros(4 * HIDDEN),
        }
        body: list[Any] = [Lstm(**arrays)]
    else:
        sizes = {"1": (HIDDEN, inputs), "2": (HIDDEN, HIDDEN)}
        arrays = {f"weight_{at}": random(*shape) for at, shape in sizes.items()}
        arrays |= {f"bias_{at}": np.zeros(HIDDEN) for at in sizes}
        body = [
            Dense(arrays[f"weight_{at}"], arrays[f"bias_{at}"], Activation.TANH)
            for at in sizes
        ]
    head = random(outputs, HIDDEN)
    if task == "CartPole":
        wanted = _balancing(arrays, rng)
        head = np.stack([-wanted, wanted])
    head = head + twist * rng.normal(size=head.shape) * np.abs(head)
    arrays |= {"weight_head": head, "bias_head": np.zeros(outputs)}
    ends = TASKS[task].get("ends")
    space = Choices(2) if ends is None else Box(*(np.full(outputs, e) for e in ends))
    path = folder / f"{task}-{kind}-{twist}.onnx"
    write_policy(path, [*body, Dense(head, np.zeros(outputs))], space)
    np.savez(path.with_suffix(".npz"), **arrays)
    return path


def _balancing(arrays: Asked, rng: np.random.Generator) -> Any:
    """Return a last layer that pushes CartPole as a linear controller would."""
    spread = np.array((0.5, 0.5, 0.1, 0.6))
    walks = np.cumsum(rng.normal(size=(400, 30, 4)), axis=1) * spread / np.sqrt(30)
    if "input_weight" not in arrays:
        seen = walks.reshape(-1, 4)
        hidden = np.tanh(np.tanh(seen @ arrays["weight_1"].T) @ arrays["weight_2"].T)
    else:
        h = c = np.zeros((len(walks), HIDDEN))
        every = []
        for at in range(walks.shape[1]):
            gates = walks[:, at] @ arrays["input_weight"].T
            gates += h @ arrays["hidden_weight"].T
            i, f, g, o = np.split(gates, 4, axis=1)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
            every.append(h)
        hidden = np.stack(every, axis=1).reshape(-1, HIDDEN)
    pushed = walks.reshape(-1, 4) @ np.array(BALANCE)
    return np.linalg.lstsq(hidden, pushed, rcond=None)[0]


def _sigmoid(values: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-values))


def _places() -> list[str]:
    """Return where MuJoCo is, for an interpreter that has none."""
    import mujoco

    return [str(Path(mujoco.__file__).parents[1])]


if __name__ == "__main__":
    sys.exit(main())
