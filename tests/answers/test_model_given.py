"""Whatever is given for a model, public functions take it or say how to make one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.answers.adapt.adapt import adapt
from simgap.answers.audit.audit import audit
from simgap.answers.blame.blame import blame
from simgap.answers.bounds import bounds
from simgap.answers.compare import compare
from simgap.answers.complexity.complexity import complexity
from simgap.answers.identify.identify import identify
from simgap.answers.identify.posterior_timeline import posterior_timeline
from simgap.answers.info import info
from simgap.answers.oracle import oracle
from simgap.answers.over_horizons import over_horizons
from simgap.answers.run.run import run
from simgap.answers.solve import diameter, solve
from simgap.answers.stakes import stakes
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.interop import save_model
from simgap.interop.transition_log import TransitionLog
from simgap.mdp import LatentMDP, SimulatorClass, class_from_arrays
from simgap.oracle import AutoOracle, domain_randomization_oracle

ONE: Any = np.zeros(1, np.int64)
LOG = TransitionLog(ONE, ONE, ONE, ONE, ONE)
QUESTIONS: dict[str, Callable[[Any], object]] = {  # they take what MODEL may be
    "adapt": lambda given: adapt(given, 2, LOG),
    "audit": lambda given: audit(given, 2),
    "blame": lambda given: blame(given, 2),
    "bounds": lambda given: bounds(given, 2),
    "compare": lambda given: compare(given, 2, policies=["random"]),
    "complexity": lambda given: complexity(given, 2),
    "diameter": diameter,
    "identify": lambda given: identify(given, 2),
    "info": info,
    "oracle": lambda given: oracle(given, 2, baselines=False),
    "run": lambda given: run("random", given, 2, seeds=2),
    "solve": lambda given: solve(given, 2),
}
PUBLIC: dict[str, Callable[[Any], object]] = {
    "over_horizons": lambda given: over_horizons(given, [3], solver=AutoOracle()),
    "posterior_timeline": lambda given: posterior_timeline(given, given),
    "stakes": lambda given: stakes(given, 10),
    "oracle": lambda given: domain_randomization_oracle(given, horizon=10),
}


def coins() -> SimulatorClass:
    kernel = np.full((2, 2, 1, 2), 0.5)
    return class_from_arrays(kernel, np.zeros((2, 1)))


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize(
    ("given", "problem", "hint"),
    [
        (coins(), "this is a SimulatorClass", "LatentMDP.uniform(simulators)"),
        (coins()[0], "this is a TabularMDP", "class_from_models([model])"),
        (list(coins()), "this is a list", "class_from_models(models)"),
        ("cart.npz", "this is the text 'cart.npz'", "load_model(path)"),
        (Path("carts/one.simgap"), "the path 'carts/one.simgap'", "load_model(path)"),
        (
            "riverswim?success=0.2",
            "the text 'riverswim",
            "instances.build_instance(text)",
        ),
        ("x" * 100 + ".npz", f"'{'x' * 60}...'", "load_model(path)"),
        (None, "this is None", "LatentMDP.uniform(simulators)"),
        ([], "this is a list", "LatentMDP.uniform(simulators)"),
    ],
)
def test_what_is_no_latent_mdp_is_refused_with_the_way_to_one(
    name: str, given: object, problem: str, hint: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        PUBLIC[name](given)
    assert caught.value.problem.startswith("a LatentMDP is needed, ")
    assert problem in caught.value.problem
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_takes_a_class_a_model_a_text_and_a_path(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "rivers.simgap"
    rivers = "riverswim?states=3&success=0.2,0.6"
    save_model(LatentMDP.uniform(build_instance(rivers)), path)
    for given in (coins(), coins()[0], rivers, path, str(path)):
        QUESTIONS[name](given)
