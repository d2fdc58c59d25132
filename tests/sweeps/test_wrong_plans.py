"""What is wrong in a plan is told with its line, and before anything runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from simgap.errors import SimgapError
from simgap.sweeps.reading import read_plan

MODEL = 'model = "riverswim?states=3&success=0.3,0.6"'
RIGHT = f"""question = "gap"
[axes]
{MODEL}
horizon = [2, 3]
policy = ["oracle", "random"]
"""
SIMULATOR = """question = "transfer"
[axes]
simulator = "pendulum"
randomize = "mass=0.5..2"
policy = "zero"
[settings]
horizon = 5
"""


class Wrong(NamedTuple):
    what: str
    text: str | bytes
    code: str
    line: int | None


def changed(old: str, new: str, text: str = RIGHT) -> str:
    assert old in text
    return text.replace(old, new)


def added(text: str) -> str:
    return RIGHT + text


WRONG = (
    Wrong("an unknown key", "colour = 3\n" + RIGHT, "plan-key", 1),
    Wrong("a key written wrongly", "sedes = 3\n" + RIGHT, "plan-key", 1),
    Wrong("a table that is not known", added("[axis]\nx = 1\n"), "plan-key", 6),
    Wrong("no question", RIGHT.split("\n", 1)[1], "plan-question", None),
    Wrong("another question", changed('"gap"', '"gaps"'), "plan-question", 1),
    Wrong("a number as question", changed('"gap"', "7"), "plan-question", 1),
    Wrong("a title that is no text", "title = 4\n" + RIGHT, "plan-value", 1),
    Wrong("no axes", 'question = "gap"\n', "plan-axes", None),
    Wrong("empty axes", 'question = "gap"\n[axes]\n', "plan-axes", 2),
    Wrong("axes that are a list", 'question = "gap"\naxes = []\n', "plan-axes", 2),
    Wrong("many tables of axes", changed("[axes]", "[[axes]]"), "plan-axes", 2),
    Wrong("an axis without values", changed("[2, 3]", "[]"), "plan-value", 4),
    Wrong("a text as horizon", changed("[2, 3]", '["2"]'), "plan-value", 4),
    Wrong("half a step", changed("[2, 3]", "[2.5]"), "plan-value", 4),
    Wrong("no step", changed("[2, 3]", "[0, 1]"), "plan-value", 4),
    Wrong("a truth as horizon", changed("[2, 3]", "[true]"), "plan-value", 4),
    Wrong("an endless horizon", changed("[2, 3]", f"[{10**40}]"), "plan-value", 4),
    Wrong("an empty policy", changed('"oracle"', '" "'), "plan-value", 5),
    Wrong("a list in a list", changed("[2, 3]", "[[2], [3]]"), "plan-value", 4),
    Wrong("a date", added("day = 1979-05-27\n"), "plan-value", 6),
    Wrong("an axis that is not a number", added("x = [nan]\n"), "plan-value", 6),
    Wrong("an endless axis", added("x = [1.0, inf]\n"), "plan-value", 6),
    Wrong("a value twice", changed("[2, 3]", "[2, 3, 2]"), "plan-value-twice", 4),
    Wrong(
        "the same value in two forms",
        changed("states=3", "states={n}") + 'n = [3, "3"]\n',
        "plan-value-twice",
        6,
    ),
    Wrong("an axis that nothing uses", added("x = [1, 2]\n"), "plan-unused-axis", 6),
    Wrong("a name written wrongly", added("hroizon = 1\n"), "plan-unused-axis", 6),
    Wrong("no such axis", changed("states=3", "states={n}"), "plan-no-axis", 3),
    Wrong(
        "braces inside of braces",
        changed("states=3", "{n}") + 'n = "states={m}"\nm = [3, 4]\n',
        "plan-no-axis",
        3,
    ),
    Wrong("an axis in itself", changed("states=3", "{model}"), "plan-no-axis", 3),
    Wrong("an axis named like a column", added("state = [3]\n"), "plan-key", 6),
    Wrong("an axis with a strange name", added('"a b" = [3]\n'), "plan-key", 6),
    Wrong("a field that is missing", changed("horizon", "# "), "plan-missing", 2),
    Wrong("a field twice", added("[settings]\nhorizon = 2\n"), "plan-twice", 7),
    Wrong("a setting that is not known", added("[settings]\nx = 1\n"), "plan-key", 7),
    Wrong("seeds in the wrong table", added("[settings]\nseeds = 2\n"), "plan-key", 7),
    Wrong("a list as a setting", added("[settings]\nruns = [9]\n"), "plan-value", 7),
    Wrong("one run", added("[settings]\nruns = 1\n"), "plan-value", 7),
    Wrong("a negative width", added("[settings]\nhalf_width=-1\n"), "plan-value", 7),
    Wrong("not a width", added("[settings]\nhalf_width = nan\n"), "plan-value", 7),
    Wrong("settings that are no table", "settings = 3\n" + RIGHT, "plan-value", 1),
    Wrong("no seeds", "seeds = 0\n" + RIGHT, "plan-value", 1),
    Wrong("seeds as a list", "seeds = [1, 2]\n" + RIGHT, "plan-value", 1),
    Wrong("a negative seed", added("seed = [-1]\n"), "plan-value", 6),
    Wrong("seeds twice", "seeds = 2\n" + added("seed = [1]\n"), "plan-twice", 1),
    Wrong("very many seeds", f"seeds={10**12}\n" + RIGHT, "plan-too-many-cells", 1),
    Wrong("very many cells", f"seeds = {10**7}\n" + RIGHT, "plan-too-many-cells", 3),
    Wrong("a limit that is not known", added("[limits]\ntime = 1\n"), "plan-key", 7),
    Wrong("no time at all", added("[limits]\nseconds = 0\n"), "plan-value", 7),
    Wrong("memory in words", added('[limits]\nmemory = "4 GB"\n'), "plan-value", 7),
    Wrong("half a try", added("[limits]\ntries = 1.5\n"), "plan-value", 7),
    Wrong("no such instance", changed("riverswim", "riversim"), "plan-refused", 3),
    Wrong("no such file", changed("random", "none.py:act"), "plan-refused", 5),
    Wrong("no such policy", changed('"random"', '"rondam"'), "plan-refused", 5),
    Wrong(
        "one model of many",
        changed("states=3", "states={n}") + "n = [3, 4, -5]\n",
        "plan-refused",
        3,
    ),
    Wrong(
        "no such simulator",
        changed("pendulum", "pandulem", SIMULATOR),
        "plan-refused",
        3,
    ),
    Wrong(
        "no such parameter",
        changed("mass=0.5..2", "height=0.5..2", SIMULATOR),
        "plan-refused",
        4,
    ),
    Wrong(
        "a range that is none",
        changed("mass=0.5..2", "mass=2..", SIMULATOR),
        "plan-refused",
        4,
    ),
    Wrong(
        "no such policy of a simulator",
        changed('"zero"', '"nothing.onnx"', SIMULATOR),
        "plan-refused",
        5,
    ),
    Wrong(
        "a design that is none",
        SIMULATOR + 'design = "star"\n',
        "plan-refused",
        8,
    ),
    Wrong(
        "no such trainer",
        changed('policy = "zero"', 'trainer = "gur"', SIMULATOR).replace(
            "transfer", "train"
        ),
        "plan-refused",
        5,
    ),
    Wrong("not TOML", RIGHT + "horizon 3\n", "plan-not-toml", 6),
    Wrong("a key twice", added("horizon = 3\n"), "plan-not-toml", 6),
    Wrong("not UTF-8", b'question = "gap"\n# caf\xe9\n', "plan-not-text", 2),
    Wrong("a picture", b"\x89PNG\r\n\x1a\n" + bytes(64), "plan-not-text", 1),
    Wrong("far too long", b"#" * (5 * 2**20), "plan-too-large", None),
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.what.replace(" ", "-"))
def test_a_wrong_plan_is_refused_with_its_line(tmp_path: Path, wrong: Wrong) -> None:
    path = tmp_path / "plan.toml"
    text = wrong.text if isinstance(wrong.text, bytes) else wrong.text.encode()
    path.write_bytes(text)
    with pytest.raises(SimgapError) as caught:
        read_plan(path)
    error = caught.value
    assert error.code == wrong.code
    lines = [int(each) for each in re.findall(r"line (\d+)", error.problem)]
    assert lines[:1] == ([] if wrong.line is None else [wrong.line])
    assert "plan.toml" in error.problem
    assert error.hint
    assert len(error.problem) < 300 + len(str(path))
    if isinstance(wrong.text, str) and wrong.line is not None:
        assert lines[0] <= wrong.text.count("\n") + 1


def test_the_plan_that_all_these_are_made_of_is_right(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(RIGHT)
    assert read_plan(path).size == 4
    path.write_text(SIMULATOR)
    assert read_plan(path).size == 1


@pytest.mark.parametrize("name", ["", "none.toml"])
def test_a_folder_or_nothing_is_no_plan(tmp_path: Path, name: str) -> None:
    with pytest.raises(SimgapError) as caught:
        read_plan(tmp_path / name)
    assert caught.value.code in ("InvalidFile", "no-file")
    assert str(tmp_path) in caught.value.problem


def test_a_line_may_have_dotted_keys_or_a_whole_table(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("axes.horizon = 0\naxes.policy = 'random'\nquestion = 'gap'\n")
    with pytest.raises(SimgapError, match="line 1"):
        read_plan(path)
    path.write_text("question = 'gap'\naxes = { policy = 'random', horizon = 0 }\n")
    with pytest.raises(SimgapError, match="line 2"):
        read_plan(path)


def test_a_mark_at_the_beginning_of_the_file_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode())
    assert read_plan(path).size == 4
