"""One number, one unit: every public function answers in the user's rewards, and so
does its verb, to the last digit.

Entry points are found, not listed: whatever `simgap` offers that takes a model must be
compared with its verb in AGREE, or stand in WITHOUT_REWARDS because no number of it is
in units of reward. Values are also computed here from the user's own rewards, so that
Python and the command line cannot be wrong together.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.answers.class_facts import measured_class
from simgap.arrays import FloatArray
from simgap.base_policies.catalogue import build_policy
from simgap.bounds import applicable
from simgap.cli.app.program import VERBS
from simgap.gap import regret
from simgap.mdp import SimulatorClass
from simgap.oracle import (
    AutoOracle,
    OracleResult,
    baselines,
    loss_form,
    value_of_memory,
    value_of_randomization,
)
from simgap.planning import (
    communicating,
    optimal_values,
    policy_values,
    solve_average_reward,
    solve_episodic,
)
from simgap.policies import MarkovPolicy
from simgap.records.files import plain
from tests.conformance.reward_cases import (
    FILES,
    INSTANCES,
    Case,
    answer,
    case_of_file,
    read,
)

HORIZON = 3
Pair = tuple[Any, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("units")


@pytest.fixture(params=[*INSTANCES, *(each[0] for each in FILES)])
def case(request: pytest.FixtureRequest, folder: Path) -> Case:
    for file in FILES:
        if file[0] == request.param:
            return case_of_file(folder, *file)
    return Case(request.param, None)


STEPS = ("-H", str(HORIZON))


def _values(case: Case) -> Iterator[Pair]:
    told = case.verb("solve", *STEPS)["models"]
    yield (
        optimal_values(case.latent.simulators, HORIZON).start,
        _all(told, "value"),
    )


def _plans(case: Case) -> Iterator[Pair]:
    """The table of all steps begins with the values of `solve`, up to rounding."""
    plan = solve_episodic(case.latent.simulators, HORIZON)
    for value, error, told in zip(
        plan.start, plan.error, case.verb("solve", *STEPS)["models"], strict=True
    ):
        ends = told["value_bounds"]
        assert ends["lower"] - error <= value <= ends["upper"] + error
    yield from ()


def _gains(case: Case) -> Iterator[Pair]:
    worlds = case.latent.simulators
    if not communicating(worlds).all():
        return
    plan = solve_average_reward(worlds)
    told = case.verb("solve", *STEPS)["models"]
    yield plan.gain_lower, [each["gain"]["lower"] for each in told]
    yield plan.gain_upper, [each["gain"]["upper"] for each in told]
    yield plan.bias_span, _all(told, "bias_span")
    yield plan.residual, _all(told, "residual")


def _of_a_policy(case: Case) -> Iterator[Pair]:
    """A policy that plays action 0 has V* less its gap, up to rounding."""
    worlds = case.latent.simulators
    table = np.zeros(worlds.n_states, np.int32)
    found = policy_values(worlds, table, HORIZON)
    policy = MarkovPolicy("first", worlds.n_actions, table)
    best = optimal_values(worlds, HORIZON)
    for m, gap in enumerate(simgap.gaps(worlds, policy, HORIZON)):
        lost = best.start[m] - found.start[m]
        room = 4.0 * (best.error[m] + found.error[m])
        assert gap.lower - room <= lost <= gap.upper + room
    yield from ()


@cache
def _oracle(argument: str) -> OracleResult:
    return simgap.domain_randomization_oracle(
        read(argument), horizon=HORIZON, solver=AutoOracle()
    )


def _oracles(case: Case) -> Iterator[Pair]:
    found, told = _oracle(case.argument), case.verb("oracle", *STEPS)
    yield found.value, {end: told[end] for end in ("lower", "upper")}
    yield found.average_gap, told["average_gap"]
    yield found.worst_gap, told["worst_gap"]
    yield found.least_worst_gap, told["least_worst_gap"]
    yield found.estimated_gap, told["estimated_gap"]
    yield found.gaps, _all(told["models"], "gap")
    yield found.values, _all(told["models"], "value")
    yield found.optimal, _all(told["models"], "optimal")
    yield found.pair_prices_upper, told["pair_prices"]["upper"]


ORACLE_KEYS = (
    "lower", "upper", "informed", "average_gap", "estimated_gap", "worst_gap", "models",
    "pair_prices", "baselines", "memory", "value_of_memory", "value_of_randomization",
)  # fmt: skip


def _planned(case: Case) -> Iterator[Pair]:
    found, told = simgap.oracle(case.latent, HORIZON), case.verb("oracle", *STEPS)
    for key in ORACLE_KEYS:
        yield getattr(found, key), told[key]


def _form(case: Case) -> Any:
    return loss_form(case.latent, horizon=HORIZON)


def _losses(case: Case) -> Iterator[Pair]:
    form, told = _form(case), case.verb("oracle", *STEPS)
    yield form.optimal, _all(told["models"], "optimal")
    yield form.informed, told["informed"]


@cache
def _baselines(argument: str) -> dict[str, Any]:
    form = loss_form(read(argument), horizon=HORIZON)
    return {each.name: each for each in baselines(form, effort=0.5)}


def _simpler(case: Case) -> Iterator[Pair]:
    told = case.verb("oracle", *STEPS)["baselines"]
    found = _baselines(case.argument)
    assert set(told) == set(found)
    for name, one in found.items():
        yield one.value, told[name]["value"]
        yield one.average_gap, told[name]["average_gap"]
        if told[name]["models"]:
            yield list(one.gaps), _all(told[name]["models"], "gap")


def _memory(case: Case) -> Iterator[Pair]:
    value, found = _oracle(case.argument).value, _baselines(case.argument)
    worth = value_of_memory(_form(case), value, found["memoryless"])
    yield worth, case.verb("oracle", *STEPS)["value_of_memory"]


def _randomization(case: Case) -> Iterator[Pair]:
    value, found = _oracle(case.argument).value, _baselines(case.argument)
    worth = value_of_randomization(_form(case), value, found["single-simulator"])
    yield worth, case.verb("gap", *STEPS)["value_of_randomization"]


RANDOM = (*STEPS, "--policy", "random")


def _compared(case: Case) -> Iterator[Pair]:
    found = simgap.compare(case.latent, HORIZON, policies=["random"])
    told = case.verb("gap", *RANDOM)
    for key in ("policies", "optimal", "at_stake", "rounding"):
        yield getattr(found, key), told[key]


def _of_all(case: Case) -> Iterator[Pair]:
    (told,) = case.verb("gap", *RANDOM)["policies"]
    policy = build_policy("random", case.latent, HORIZON)
    yield (
        simgap.gaps(case.latent.simulators, policy, HORIZON),
        _all(told["models"], "gap"),
    )


def _of_the_worst(case: Case) -> Iterator[Pair]:
    (told,) = case.verb("gap", *RANDOM)["policies"]
    policy = build_policy("random", case.latent, HORIZON)
    yield simgap.worst_gap(case.latent.simulators, policy, HORIZON), told["worst"]


def _on_average(case: Case) -> Iterator[Pair]:
    (told,) = case.verb("gap", *RANDOM)["policies"]
    policy = build_policy("random", case.latent, HORIZON)
    yield simgap.average_gap(case.latent, policy, HORIZON), told["average"]


def _of_one(case: Case) -> Iterator[Pair]:
    """A model alone is computed in another order than in its class: brackets meet."""
    (told,) = case.verb("gap", *RANDOM)["policies"]
    policy = build_policy("random", case.latent, HORIZON)
    found = simgap.sim_to_real_gap(case.latent.simulators[0], policy, HORIZON)
    other = told["models"][0]["gap"]
    assert found.lower is not None and found.upper is not None
    assert found.lower <= other["upper"] and other["lower"] <= found.upper
    yield from ()


RUN = ("--seeds", "50", "--real", "0")


def _regrets(case: Case) -> Iterator[Pair]:
    """Of the first model: what is sampled there does not depend on the others."""
    if not communicating(case.latent.simulators).all():
        return
    told = answer("run", "random", case.argument, *STEPS, *RUN)["models"][0]
    policy = build_policy("random", case.latent, HORIZON)
    sampled = simgap.MonteCarlo(episodes=50)
    first = case.latent.simulators
    found = simgap.gaps(first, policy, HORIZON, evaluator=sampled)[0]
    yield found.estimate, told["gap"]["estimate"]
    alone = regret(first[0], policy, HORIZON, evaluator=sampled)
    yield alone.estimate, told["regret"]["estimate"]  # type: ignore[union-attr]


def _ran(case: Case) -> Iterator[Pair]:
    if not communicating(case.latent.simulators).all():
        return
    told = answer("run", "random", case.argument, *STEPS, *RUN)["models"]
    found = simgap.run("random", case.latent, HORIZON, seeds=50, real=0)
    yield found.models, told


def _solved(case: Case) -> Iterator[Pair]:
    found = simgap.solve(case.latent, HORIZON)
    yield found.models, case.verb("solve", *STEPS)["models"]


def _bounded(case: Case) -> Iterator[Pair]:
    found = simgap.bounds(case.latent, HORIZON)
    yield found.bounds, case.verb("bounds", *STEPS)["bounds"]


def _audited(case: Case) -> Iterator[Pair]:
    found, told = simgap.audit(case.latent, HORIZON), case.verb("audit", *STEPS)
    for key in ("average_gap", "memoryless_gap", "value_of_memory", "worst", "theorem"):
        yield getattr(found, key), told[key]


def _blamed(case: Case) -> Iterator[Pair]:
    if not case.latent.simulators.theta.names:
        return
    found, told = simgap.blame(case.latent, HORIZON), case.verb("blame", *STEPS)
    yield found.whole, told["whole"]
    yield found.ignored_whole, told["ignored_whole"]
    for one, two in zip(found.parameters, told["parameters"], strict=True):
        for key in ("share", "alone", "information", "ignored"):
            yield getattr(one, key), two[key]


def _widths(case: Case) -> Iterator[Pair]:
    names = case.latent.simulators.theta.names
    if not names:
        return
    told = case.verb("width", *STEPS, "--param", names[0])
    found = simgap.width(case.latent, HORIZON, names[0])
    yield found.at_stake, told["at_stake"]
    yield found.least_possible, told["least_possible"]
    for one, two in zip(found.widths, told["widths"], strict=True):
        for key in ("gap", "worst", "inside", "at_nominal"):
            yield getattr(one, key), two[key]


def _identified(case: Case) -> Iterator[Pair]:
    told = case.verb("identify", *STEPS)
    found = simgap.identify(case.latent, HORIZON)
    yield [each.steps for each in found.pairs], _all(told["pairs"], "steps")
    assert found.timeline is not None
    yield found.timeline.average_gap, told["timeline"]["average_gap"]


def _adapted(case: Case) -> Iterator[Pair]:
    """A log of one step that every model can make, with the reward of the user."""
    worlds = case.latent.simulators
    state = int(np.flatnonzero(worlds.start_law(0))[0])
    after = int(worlds.transitions.array(0)[state, 0].argmax())
    path = Path(case.argument).parent if case.rewards is not None else Path("/tmp")
    log = path / f"log-{worlds.hash[:12]}.csv"
    header = "episode,step,state,action,next_state\n"
    log.write_text(f"{header}0,0,{state},0,{after}\n")
    try:
        told = answer("adapt", case.argument, *STEPS, "--log", str(log))
        found = simgap.adapt(case.latent, HORIZON, log)
    finally:
        log.unlink()
    yield found.gap_bound_before, told["gap_bound_before"]
    yield found.gap_bound_after, told["gap_bound_after"]
    yield found.gap_of_old_plan, told["gap_of_old_plan"]


def _measured(case: Case) -> Iterator[Pair]:
    found = simgap.complexity(case.latent, HORIZON)
    yield found.smoothness, case.verb("complexity", *STEPS)["smoothness"]


AGREE: dict[str, Callable[[Case], Iterator[Pair]]] = {
    "adapt": _adapted,
    "audit": _audited,
    "average_gap": _on_average,
    "baselines": _simpler,
    "blame": _blamed,
    "bounds": _bounded,
    "compare": _compared,
    "complexity": _measured,
    "domain_randomization_oracle": _oracles,
    "gaps": _of_all,
    "identify": _identified,
    "loss_form": _losses,
    "optimal_values": _values,
    "oracle": _planned,
    "policy_values": _of_a_policy,
    "regret": _regrets,
    "run": _ran,
    "sim_to_real_gap": _of_one,
    "solve": _solved,
    "solve_average_reward": _gains,
    "solve_episodic": _plans,
    "value_of_memory": _memory,
    "value_of_randomization": _randomization,
    "width": _widths,
    "worst_gap": _of_the_worst,
}
WITHOUT_REWARDS = {
    "steps": (
        "all_travel_times", "communicating", "communicating_components", "diameter",
        "separation", "telling_apart", "travel_times",
    ),
    "the answers of the others": ("study",),
    "policies": (
        "elimination", "explore_then_commit", "general_optimistic",
        "likelihood_optimism", "optimistic_exploration", "posterior_sampling", "psrl",
        "ucrl2", "ucrl2b", "uniformly_random", "run_episode",
    ),
    "models and logs": (
        "class_from_models", "class_over_grid", "counts_of_log", "load_model",
        "read_transition_log", "save_model",
    ),
    "functions, at a scale that the caller gives": ("function_class",),
}  # fmt: skip
WITHOUT_NUMBERS = {
    "demo", "study",  # the records of the others
    "list", "info", "export", "report", "schema",
    "reproduce",  # the paper's own classes, rewards in [0, 1]
    "diameter",  # steps
    "check", "train", "transfer",  # simulators, which have the units of their rewards
    "sweep", "status", "resume", "retry",  # cells, each one of the others
}  # fmt: skip


ROOMS = (
    "answers.identify.telling_apart", "base_policies.fixed", "base_policies.improved",
    "base_policies.outsiders", "base_policies.paper", "complexity", "gap", "interop",
    "mdp", "oracle", "planning", "policies",
)  # fmt: skip
MODELS = {"Model", "SimulatorClass", "LatentMDP", "TabularMDP", "LossForm"}


def public() -> Iterator[tuple[str, Any]]:
    """Return what the top level lists, and what is compared of the rooms."""
    for name in simgap.__all__:
        yield name, getattr(simgap, name)
    for room in ROOMS:
        module = import_module(f"simgap.{room}")
        for name in getattr(module, "__all__", vars(module)):
            if name in AGREE or any(
                name in others for others in WITHOUT_REWARDS.values()
            ):
                yield name, getattr(module, name)


def entry_points() -> list[str]:
    """Return the public functions that are given a model."""
    found = []
    for name, each in public():
        if inspect.isfunction(each):
            given = inspect.signature(each).parameters.values()
            told = " ".join(str(one.annotation) for one in given)
            if MODELS & set(re.findall(r"\w+", told)):
                found.append(name)
    return found


def test_every_entry_point_is_compared_with_its_verb() -> None:
    others = [name for names in WITHOUT_REWARDS.values() for name in names]
    assert sorted([*AGREE, *others]) == sorted({*AGREE, *others})  # none twice
    assert set(entry_points()) <= {*AGREE, *others}
    assert set(AGREE) <= set(entry_points())


def test_every_verb_that_tells_rewards_is_compared() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for verb in VERBS:
        compared = f'verb("{verb}"' in source or f'answer("{verb}"' in source
        assert compared or verb in WITHOUT_NUMBERS, verb


def test_python_and_the_command_line_agree_to_the_last_digit(case: Case) -> None:
    apart = {}
    for name, pairs in AGREE.items():
        for ours, theirs in pairs(case):
            if not _same(plain(ours), theirs):
                apart[name] = (ours, theirs)
    assert not apart


def test_bounds_of_theorems_are_those_of_python(case: Case) -> None:
    told = case.verb("bounds", *STEPS)
    measured = measured_class(case.latent, HORIZON)
    found = applicable(measured.facts, HORIZON)
    assert _same(plain([each.value for each in found]), _all(told["bounds"], "value"))
    width = float(np.ptp(case.latent.simulators.rewards))
    assert told["most_lost"] == HORIZON * width


def test_values_are_those_of_the_rewards_that_the_user_gave(case: Case) -> None:
    worlds, told = case.latent.simulators, case.verb("solve", *STEPS)["models"]
    shape = (len(worlds), worlds.n_states, worlds.n_actions)
    rewards = np.broadcast_to(worlds.rewards, shape)
    if case.rewards is not None:
        np.testing.assert_allclose(rewards, case.rewards, rtol=1e-15, atol=1e-15)
        rewards = case.rewards
    for m, each in enumerate(told):
        assert each["value"] == pytest.approx(_best(worlds, m, rewards[m]), rel=1e-12)


def _best(worlds: SimulatorClass, m: int, rewards: FloatArray) -> float:
    values: FloatArray = np.zeros(worlds.n_states)
    for _ in range(HORIZON):
        values = (rewards + worlds.transitions.array(m) @ values).max(axis=1)
    return float(worlds.start_law(m) @ values)


def _all(rows: list[dict[str, Any]], key: str) -> list[Any]:
    return [each[key] for each in rows]


def _same(ours: Any, theirs: Any) -> bool:
    """Return whether all numbers of ours are in theirs, under the same keys."""
    if isinstance(ours, dict):
        return all(_same(each, theirs[key]) for key, each in ours.items())
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return bool(ours == theirs)


def test_the_comparison_sees_another_unit() -> None:
    """The control: one factor, one offset, one digit."""
    assert _same({"lower": 0.5}, {"lower": 0.5, "upper": 1.0})
    for other in (0.5 * (1 + 2**-52), 50.0, -0.5):
        assert not _same({"lower": 0.5}, {"lower": other})
        assert not _same([0.5, [1.0]], [other, [1.0]])
