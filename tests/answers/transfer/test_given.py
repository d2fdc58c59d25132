"""What is given to a transfer: policies, names, points and files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.transfer.opened_run import chosen_training, training_notes
from simgap.answers.transfer.setup import (
    Brought,
    brought,
    digest,
    files_named,
    identity,
    points_of,
    refuse_one_name_for_two,
    steps_of,
)
from simgap.answers.transfer.trained_run import TrainedRun, trained_run
from simgap.continuous import bind, parse_randomization
from simgap.errors import InvalidArgument, InvalidFile
from tests.answers.target import Target
from tests.report.study_cases import training, trainings


def test_policies_are_named_or_counted_as_seeds_of_a_name() -> None:
    assert brought("zero") == [Brought("zero")]
    assert brought({"net": ["a", "b"], "other": "c"}) == [
        Brought("a", "net", 0),
        Brought("b", "net", 1),
        Brought("c", "other", 0),
    ]
    found = brought(["net=a.onnx", "zero", "net=b.onnx", "zero", "net=c.onnx"])
    assert [(each.name, each.training_seed) for each in found] == [
        ("net", 0),
        (None, 0),
        ("net", 1),
        (None, 0),
        ("net", 2),
    ]
    nothing: Any
    for nothing in ([], {}, ()):
        with pytest.raises(InvalidArgument):
            brought(nothing)


def test_a_name_is_taken_by_a_reference_alone() -> None:
    mine = [Brought("a", "net"), Brought("b")]
    refuse_one_name_for_two(mine, [Brought("a", "other"), Brought("b")])
    with pytest.raises(InvalidArgument) as caught:
        refuse_one_name_for_two(mine, [Brought("x"), Brought("y", "net")])
    assert caught.value.code == "name-taken"


@pytest.mark.parametrize(
    ("own", "asked", "steps"), [(7, None, 7), (7, 3, 3), (None, 1, 1)]
)
def test_an_episode_is_as_long_as_asked_or_as_the_simulator_says(
    own: int | None, asked: int | None, steps: int
) -> None:
    assert steps_of(Target(horizon=own), asked) == steps


@pytest.mark.parametrize(("own", "asked"), [(None, None), (7, 0)])
def test_an_episode_without_a_length_is_refused(
    own: int | None, asked: int | None
) -> None:
    with pytest.raises(InvalidArgument):
        steps_of(Target(horizon=own), asked)


def where(text: str, design: str, beyond: float) -> Any:
    return points_of(bind(parse_randomization(text), Target()), design, beyond, 3)


@pytest.mark.parametrize(("design", "inside"), [("grid:8", 8), ("random:9", 9)])
def test_a_quarter_more_points_lie_beyond_the_range(design: str, inside: int) -> None:
    """Rounded up, all of them outside the range and inside the wider one."""
    found = where("theta=1..3", design, 2.0)
    theta, beyond = found.points.theta[:, 0], -(-inside // 4)
    assert found.points.inside.tolist() == [True] * inside + [False] * beyond
    assert ((theta[:inside] >= 1.0) & (theta[:inside] <= 3.0)).all()
    out = theta[inside:]
    assert ((out < 1.0) | (out > 3.0)).all() and len(set(out)) == beyond
    assert ((out >= 0.0) & (out <= 4.0)).all()
    assert found.drawn.shares(found.points.inside).sum() == pytest.approx(1.0)
    if found.drawn.weights is not None:
        assert found.drawn.weights.shape == found.points.inside.shape
    if found.drawn.uniforms is not None:
        assert found.drawn.uniforms.shape == found.points.theta.shape


def test_nothing_lies_beyond_if_nobody_asks_or_nothing_is_drawn() -> None:
    assert where("theta=1..3", "grid:8", 1.0).points.inside.all()
    assert where("nominal", "sobol:1", 2.0).points.theta.shape == (1, 0)
    choice = where("theta={1,2}", "grid:2", 2.0)
    assert choice.points.inside.all()
    assert len(choice.notes) == len(where("theta={1,2}", "grid:2", 1.0).notes) + 1


def test_files_that_belong_to_a_network_or_a_model_are_named(tmp_path: Path) -> None:
    names = ("net.onnx", "net.onnx.data", "arm.xml", "arm.py")
    for each in (*names, "reach.py", "mesh.stl", "tool.py", "other.py"):
        (tmp_path / each).touch()
    (tmp_path / "arm.xml").write_text(
        "<mujoco><asset><mesh file='mesh.stl'/></asset></mujoco>"
    )
    (tmp_path / "reach.py").write_text("import tool")

    def found(text: str) -> set[str]:
        every = files_named(text)
        assert len(every) == len(set(every))
        return {str(each.relative_to(tmp_path)) for each in every}

    for text in (f"net={tmp_path}/net.onnx", f"{tmp_path}/net.onnx?h=25&c=26"):
        assert found(text) == set(names[:2])
    model = {"arm.xml", "arm.py", "mesh.stl"}
    assert found(f"mujoco:{tmp_path}/arm.xml") == model
    assert found(f"mujoco:{tmp_path}/arm.xml?task=reach.py") == {
        *model,
        "reach.py",
        "tool.py",
    }
    assert files_named("gym:CartPole-v1") == files_named("") == ()


def test_an_identity_tells_settings_and_files_apart(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    file.write_text("one")
    first = identity("sim", {"net 0": str(file)}, {"seed": 3})
    assert first["seed"] == "3" and first["simulator"] == "sim"
    assert first["versions"].startswith("simgap ") and "numpy" in first["versions"]
    file.write_text("two")
    second = identity("sim", {"net 0": str(file)}, {"seed": 4})
    assert {key for key in first if first[key] != second[key]} == {
        "policy net 0",
        "seed",
    }
    assert digest(np.arange(3.0)) != digest(np.arange(1.0, 4.0))
    assert digest(np.arange(6.0)[::2]) == digest(np.array([0.0, 2.0, 4.0]))


# trainings of a run


def test_trainings_in_a_list_must_be_about_one_question() -> None:
    every = list(trainings())
    found = trained_run(every)
    assert found is not None and found.trainings == tuple(every)
    what: str
    value: Any
    for what, value in (("told", "length=0..1"), ("horizon", 9), ("noise", "action=1")):
        with pytest.raises(InvalidFile) as caught:
            trained_run([training("gru"), training("none", **{what: value})])
        assert caught.value.code == "trainings-differ"
    with pytest.raises(InvalidArgument) as taken:
        trained_run([training("gru"), training("gru")])
    assert taken.value.code == "name-taken"
    assert trained_run([]) is None and trained_run([3]) is None
    assert trained_run([training("gru"), 3]) is None
    assert trained_run("gym:CartPole-v1") is None
    alone = trained_run(training("gru"))
    assert alone is not None and len(alone.trainings) == 1


def test_who_knows_the_parameters_is_a_reference() -> None:
    special = training("specialist", randomize="length=1", specialist=True)
    run = TrainedRun(None, (*trainings(), special))
    assert set(run.policies) == {"gru", "none", "nominal-gru"}
    assert set(run.references) == {"informed-none", "masked-gru", "specialist"}
    assert run.policies["gru"] == [f"run/gru/seed-{at}.onnx" for at in range(3)]
    moved = TrainedRun(Path("there"), run.trainings)
    assert moved.policies["gru"] == [f"there/gru/seed-{at}.onnx" for at in range(3)]
    assert run.simulator == "cartpole"
    made = Stand(simulator="own", policies=("p", "q"))
    own = TrainedRun(None, (training("own", made=made),))
    assert own.simulator == "own" and own.policies == {"own": ["p", "q"]}


def test_what_is_compared_with_what() -> None:
    """A policy told everything is compared before one that is told some of it."""
    special = training("specialist", randomize="length=1", specialist=True)
    assert TrainedRun(None, (*trainings(), special)).pairs == (
        ("memory", "gru", "none"),
        ("information", "informed-none", "gru"),
        ("randomization", "gru", "nominal-gru"),
    )
    few = [each for each in trainings() if each.name in ("none", "masked-gru")]
    assert TrainedRun(None, tuple(few)).pairs == (
        ("information", "masked-gru", "none"),
    )


def test_a_training_is_chosen_by_name_or_because_it_remembers() -> None:
    every = [training("none", memory="none"), training("gru"), training("lstm")]
    more = {"what": "policy", "hint": "train one", "code": "no-policy"}
    assert chosen_training(every, None, **more).name == "gru"
    assert chosen_training(every, "lstm", **more).name == "lstm"
    assert chosen_training(every, "none", **more).name == "none"
    assert chosen_training(every[:1], None, **more).name == "none"
    for given, name, hint in (
        ([], None, "train one"),
        ([], "gru", "train one"),
        (every, "window", "lstm"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            chosen_training(given, name, **more)
        assert caught.value.code == "no-policy" and hint in caught.value.hint


def test_few_seeds_and_rough_trainings_are_told() -> None:
    many = training("gru", seeds=5)
    assert training_notes([many]) == ()
    (few,) = training_notes([many, training("none", seeds=4)])
    assert few.code == "few-seeds" and "4 of none" in few.text
    assert "gru" not in few.text
    (rough,) = training_notes([many, training("none", seeds=5, rough=1)])
    assert rough.code == "not-converged" and "gru" not in rough.text
