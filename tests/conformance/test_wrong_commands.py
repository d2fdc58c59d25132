"""Every verb refuses what is wrong with a code, status 2 and two lines, and no more.

The commands are in `wrong_commands.toml`, under their codes; "usage" stands for what
the parser of the command line refuses. What the two lines say is free.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from random import Random

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.app.program import VERBS, run_program
from simgap.errors import SimgapError

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").with_stem("wrong_commands")
                      .read_text())  # fmt: skip
WRONG = [(line, code) for code, lines in TABLE["status-2"].items() for line in lines]
HEADER = "episode,step,state,action,next_state\n"

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a class in lakes.simgap and things that are none."""
    folder = tmp_path_factory.mktemp("wrong")
    kernel, rewards = np.full((2, 2, 1, 2), 0.5), np.zeros((2, 1))
    names = np.array(["slow", "fast"])
    np.savez(folder / "a.npz", transitions=kernel, rewards=rewards, model_names=names)
    assert main(["export", str(folder / "a.npz"), str(folder / "lakes.simgap")]) == 0
    (folder / "cut.npz").write_bytes((folder / "a.npz").read_bytes()[:-9])
    prior = np.array([0.5, 0.6])
    np.savez(folder / "unfair.npz", transitions=kernel, rewards=rewards, prior=prior)
    np.savez(folder / "nan.npz", transitions=kernel * np.nan, rewards=rewards)
    np.savez(folder / "lost.npz", transitions=kernel)
    (folder / "text.npz").write_text("hello world\n" * 9)
    (folder / "empty.simgap").touch()
    (folder / "table.csv").write_text("0,1\n")
    (folder / "oracle.json").write_text("{}\n")
    (folder / "records").mkdir()
    (folder / "log.csv").write_text(f"{HEADER}0,0,0,1,1\n")
    (folder / "far.csv").write_text(f"{HEADER}0,0,0,1,1\n0,1,1,1,9\n")
    (folder / "plan.toml").write_text('question = "nothing"\n[axes]\nhorizon = [3]\n')
    (folder / "broken.py").write_text("raise ValueError('no')\n")
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def refused(arguments: list[str], capsys: Captured) -> bool:
    """Run a command; if it is refused, check that this is said in two lines."""
    capsys.readouterr()
    status = main(arguments)
    out, err = capsys.readouterr()
    if status != 2:
        return False
    problem, hint = err.splitlines()  # no traceback
    assert problem.startswith("error: ") and hint.startswith("hint: ")
    assert out == "" and "defect of simgap" not in hint, arguments
    return True


def test_the_table_has_every_verb_and_no_command_twice() -> None:
    lines = [line for line, _ in WRONG]
    assert len(set(lines)) == len(lines) > 150
    assert {line.split()[0] for line in lines} >= set(VERBS)


@pytest.mark.parametrize(("line", "code"), WRONG)
def test_a_wrong_command_has_its_code(
    line: str, code: str, folder: Path, capsys: Captured
) -> None:
    """Nothing is printed as an answer, and no file is written."""
    before = sorted(folder.rglob("*"))
    try:
        assert run_program(shlex.split(line)) == 2
        assert code == "usage"
    except SimgapError as error:
        assert error.code == code
        assert error.problem and error.hint
    assert capsys.readouterr().out == ""
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("code", TABLE["status-2"])
def test_a_refusal_is_two_lines_also_with_json(
    code: str, folder: Path, capsys: Captured
) -> None:
    for line in TABLE["status-2"][code][-3:]:
        plain = shlex.split(line)
        assert refused(plain, capsys) and refused([*plain, "--json"], capsys)


@pytest.mark.parametrize(
    "line",
    [
        "solve riverswim -H5",
        "solve riverswim --horizon=5",
        "solve -H 5 -- riverswim",
        "info 'riverswim?success=0.2:0.5:5'",
        "run random lakes.simgap -H 5 --real fast --seeds 2",
    ],
)
def test_what_is_right_is_not_taken_for_a_slip(
    line: str, folder: Path, capsys: Captured
) -> None:
    assert main([*shlex.split(line)[:1], "--json", *shlex.split(line)[1:]]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1


SOUND = (  # quick ones, so that a slip which changes nothing costs nothing
    "info riverswim?states=3&success=0.3:0.6:2 --json",
    "info gym:FrozenLake-v1?terminal=restart",
    "solve riverswim?states=3 -H 5 --json",
    "oracle lakes.simgap -H 3 --no-baselines --solver exact --seed 1",
    "adapt lakes.simgap -H 3 --log table.csv --rewards exact",
    "width lakes.simgap -H 3 --param success --criterion worst",
)
SIGNS = "abcxyz-_=?&:,.;% /é\0"  # no digits: a horizon must not grow


def _slip(words: list[str], rng: Random) -> list[str]:
    """The command after one slip of a hand."""
    at = rng.randrange(len(words))
    word, i = words[at], rng.randrange(len(words[at]))
    before, sign, after = word[:i], rng.choice(SIGNS), word[i + 1 :]
    wrong = rng.choice([
        [before + after],
        [before + word[i : i + 2][::-1] + word[i + 2 :]],
        [before + sign + word[i:]],
        [before + sign + after],
        [],
        [word, word],
    ])  # fmt: skip
    return [*words[:at], *wrong, *words[at + 1 :]]


@pytest.mark.parametrize("line", SOUND)
def test_one_slip_is_never_a_defect(line: str, folder: Path, capsys: Captured) -> None:
    rng = Random(line)
    assert sum(refused(_slip(line.split(), rng), capsys) for _ in range(30)) > 10
