"""The JSON Schemas of `simgap schema`: real answers fit them, damaged ones do not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import NO_READER, main
from simgap.cli.app.process import INTERRUPTED
from simgap.cli.app.program import VERBS
from simgap.cli.verbs import schema
from simgap.instances import CONTROLS
from simgap.records.schema import DIALECT
from tests.cli.json_document import DOCUMENT, MARK, tables
from tests.reference.json_schema import problems

RIVERS = "riverswim?states=3&success=0.3,0.6&left_reward=0.4"
DOORS = "absorbing_doors?members=2"
CART = "gym:CartPole-v1 --randomize length=0.3..1.0"
FAST = "lemma-6"  # a claim that takes a moment

COMMANDS = [  # at least one of every verb; no horizon and no gain make nulls
    "list",
    f"info {RIVERS}",
    f"solve {RIVERS}",
    f"solve {DOORS} -H 5",
    f"diameter {DOORS}",
    f"complexity {RIVERS} -H 5",
    f"complexity {DOORS}",
    f"bounds {RIVERS} -H 100",
    f"oracle {RIVERS} -H 4",
    f"oracle {RIVERS} --discount 0.5 --no-baselines",
    f"gap {RIVERS} -H 4 --policy random --policy memoryless --seeds 2",
    f"audit {RIVERS} -H 4",
    f"audit {DOORS}",
    f"blame {RIVERS} -H 4",
    f"width {RIVERS} -H 4",
    f"identify {RIVERS} -H 4",
    f"identify {DOORS}",
    f"adapt {RIVERS} -H 4 --log real.csv",
    "adapt car.py:make_batch --randomize gravity=0.001..0.004 --log car.csv",
    f"run random {RIVERS} -H 5 --seeds 2 --threads 1",
    f"export {RIVERS} rivers.npz",
    f"reproduce {FAST} --out claims-here",
    "report claims-here",
    "sweep plan.toml --out swept --dry-run",
    "sweep plan.toml --out swept --workers 1",
    "status swept",
    "resume swept",
    "retry swept",
    f"check {CART} -H 9",
    f"transfer {CART} -H 9 --policy random --reference zero --design grid:2",
]
HEADING = "heading --randomize mounting_angle=-3..3 -H 20"
SLOW = [
    f"study {RIVERS} -H 4 --out study-here",
    "demo --out demo-here",
    f"train {HEADING} --steps 2e4 --out trained",
    "transfer trained --design sobol:4 --episodes 4",
    f"study {HEADING} --seeds 1 --time-budget 240 --out studied",
]
CAR = """
import numpy as np
from gymnasium.spaces import Discrete

from simgap.instances import pushed_car

PARAMETERS = {"gravity": (0.0, 0.0025, 0.01)}


class Cars:
    action_space = Discrete(3)

    def __init__(self, thetas):
        self.gravity = thetas["gravity"]

    def reset(self, seeds):
        self.state = np.tile([-0.5, 0.0], (len(seeds), 1))
        return self.state

    def step(self, actions):
        push = 0.001 * (actions - 1.0)
        self.state, ended = pushed_car(self.state, push, self.gravity, goal=0.5)
        return self.state, np.full(len(ended), -1.0), ended

    def set_state(self, observations):
        self.state = observations


def make_batch(thetas):
    return Cars(thetas)
"""
PLAN = f"""question = "gap"
[axes]
model = "{RIVERS}"
horizon = [3, 4]
policy = "random"
"""
LOG = "episode,step,state,action,next_state\n0,0,0,1,0\n0,1,0,1,1\n"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answer of every quick command, run in one folder."""
    return _answers(COMMANDS, tmp_path_factory.mktemp("answers"))


def _answers(commands: list[str], folder: Path) -> dict[str, Any]:
    import io
    from contextlib import chdir, redirect_stderr, redirect_stdout

    found = {}
    (folder / "real.csv").write_text(LOG)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "car.py").write_text(CAR)
    (folder / "car.csv").write_text(_car_log())
    for line in commands:
        out, err = io.StringIO(), io.StringIO()
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            status = main([*line.split(), "--json"])
        answers_no = line.startswith("audit ")  # it may, and fits all the same
        assert status in ((0, 1) if answers_no else (0,)), (line, err.getvalue())
        found[line] = json.loads(out.getvalue())
    return found


def _car_log() -> str:
    """Thirty steps of a car that is pushed to and fro."""
    physics = CONTROLS["MountainCar-v0"]
    theta = {name: each.default for name, each in physics.parameters.items()}
    state, lines = np.array([[-0.5, 0.0]]), ["obs_0,obs_1,act_0"]
    for step in range(30):
        push = float(step // 2 % 3)
        lines.append(",".join(map(repr, [*state[0].tolist(), push])))
        state = physics.step(theta, state, np.array([push])).state
    return "\n".join(lines)


def _schema(verb: str) -> dict[str, Any]:
    return json.loads(json.dumps(schema.schema_of(verb)))  # type: ignore[no-any-return]


def test_every_verb_has_a_schema_and_a_command_here() -> None:
    assert {line.split()[0] for line in [*COMMANDS, *SLOW]} == set(VERBS) - {"schema"}


def test_answers_fit_their_schemas(answers: dict[str, Any]) -> None:
    for line, answer in answers.items():
        assert problems(answer, _schema(line.split()[0])) == [], line


@pytest.mark.slow
def test_long_answers_fit_their_schemas(tmp_path: Path) -> None:
    for line, answer in _answers(SLOW, tmp_path).items():
        assert problems(answer, _schema(line.split()[0])) == [], line


def test_answers_fit_the_schema_of_all_verbs(answers: dict[str, Any]) -> None:
    whole = json.loads(json.dumps(schema.schema_of_all()))
    for line, answer in answers.items():
        assert problems(answer, whole) == [], line
        own = whole["$defs"][line.split()[0]]
        assert problems(answer, {**own, "$defs": whole["$defs"]}) == [], line
    assert problems({"schema": 1}, whole) != []


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value, of arrays and maps that repeat themselves the first.

    Maps of objects are baselines by name and the like.
    """
    yield place
    if isinstance(value, dict):
        alike = all(isinstance(each, dict) for each in value.values())
        for key, each in list(value.items())[: 1 if alike else None]:
            yield from _places(each, (*place, key))
    elif isinstance(value, list):
        for at, each in enumerate(value[:1]):
            yield from _places(each, (*place, at))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def test_a_damaged_answer_does_not_fit(answers: dict[str, Any]) -> None:
    """Whatever is replaced by a list in a list, and whatever required key is lost."""
    for line, answer in answers.items():
        told, lost = _schema(line.split()[0]), 0
        required = _required(told, answer)
        for place in _places(answer):
            if place[:1] in (("axes",), ("settings",)) and len(place) > 1:
                continue  # of a sweep: whatever the plan says
            damaged = copy.deepcopy(answer)
            if not place:
                damaged = [[answer]]
            else:
                _at(damaged, place[:-1])[place[-1]] = [[{"damaged": True}]]
            assert problems(damaged, told) != [], (line, place)
        for key in required:
            damaged = {k: each for k, each in answer.items() if k != key}
            assert problems(damaged, told) != [], (line, key)
            lost += 1
        assert lost == len(answer)


def _required(told: dict[str, Any], answer: Any) -> list[str]:
    """The keys that an answer must have; a verb may have several records."""
    if "required" in told:
        return list(told["required"])
    parts, named = told["$defs"], [each["$ref"] for each in told["anyOf"]]
    records = [parts[each.rpartition("/")[2]] for each in named]
    fits = [each for each in records if not problems(answer, {**each, "$defs": parts})]
    assert len(records) > 1
    (record,) = fits
    return list(record["required"])


def test_schema_prints_one_schema_or_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "solve"]) == 0
    indented = capsys.readouterr().out
    assert indented.count("\n") > 50
    assert main(["schema", "solve", "--json"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert json.loads(line) == json.loads(indented) == _schema("solve")
    assert json.loads(line)["$schema"] == DIALECT
    assert main(["schema"]) == 0
    out = capsys.readouterr().out
    assert all(f" {verb} " in out for verb in schema.answering_verbs())
    assert main(["schema", "--json"]) == 0
    assert set(schema.answering_verbs()) <= set(
        json.loads(capsys.readouterr().out)["$defs"]
    )
    assert main(["schema", "schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["$ref"] == DIALECT


def test_the_document_lists_every_key() -> None:
    """If this fails: python -m tests.cli.json_document."""
    text = DOCUMENT.read_text()
    head, found, listed = text.partition(MARK)
    assert found
    assert listed == "\n" + tables()
    for verb in schema.answering_verbs():
        assert f"\n| `simgap {verb}` | [" in listed
    for status in (0, 1, 2, INTERRUPTED, NO_READER):
        assert f"\n| {status} |" in head
