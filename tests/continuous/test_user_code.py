"""Python files of users: what is found in them, and how their mistakes are told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simgap.continuous.user_code import (
    names_user_code,
    user_code,
    user_module,
    what_happened,
)
from simgap.errors import SimgapError


def written(folder: Path, source: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(source)
    return path


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("mine.py:make", True),
        ("a/b:c/mine.py:make", True),
        ("mine.py", True),
        ("gym:CartPole-v1", False),
        ("policy.onnx", False),
        ("mine.py:", False),
    ],
)
def test_a_python_file_is_recognised_by_its_ending(text: str, is_code: bool) -> None:
    assert names_user_code(text) is is_code


def test_a_function_is_found_and_its_file_runs_once(tmp_path: Path) -> None:
    path = written(
        tmp_path, "RUNS = []\nRUNS.append(1)\nEXTRA = 3\ndef make():\n    return 7\n"
    )
    first = user_code(f"{path}:make", example="make")
    second = user_code(f"{path}:make", example="make")
    assert first.value() == 7
    assert first.get("EXTRA") == 3
    assert first.get("MISSING") is None
    assert second.get("RUNS") == [1]


def test_a_changed_file_runs_again(tmp_path: Path) -> None:
    path = written(tmp_path, "def make():\n    return 1\n")
    assert user_code(f"{path}:make", example="make").value() == 1
    written(tmp_path, "def make():\n    return 2\n")
    assert user_code(f"{path}:make", example="make").value() == 2


def test_a_file_imports_its_neighbours_now_and_later(tmp_path: Path) -> None:
    written(tmp_path, "ONE = 1\n", "beside_now_9d1.py")
    written(tmp_path, "TWO = 2\n", "beside_later_9d1.py")
    path = written(
        tmp_path,
        "from beside_now_9d1 import ONE\n"
        "def make():\n    from beside_later_9d1 import TWO\n    return ONE + TWO\n",
    )
    try:
        assert user_code(f"{path}:make", example="make").value() == 3
        assert sys.path[0] != str(tmp_path)
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    ("source", "name", "code", "told"),
    [
        ("def make():\n    pass\n", ":mak", "no-such-name", "make"),
        ("def build():\n    pass\n", ":xyz", "no-such-name", "build"),
        ("", ":make", "no-such-name", "make"),
        ("make = 3\n", ":make", "not-a-function", "int"),
        ("def make():\n    pass\n", "", "no-function-named", ":make"),
        ("import os\n\n1 / 0\n", ":make", "code-does-not-run", "line 3 of mine.py"),
        ("def make(:\n", ":make", "code-does-not-run", "line 1 of mine.py"),
        ("import no_such_thing_9d1\n", ":make", "code-does-not-run", "no_such_thing"),
        ("raise SystemExit(2)\n", ":make", "code-does-not-run", "__main__"),
        (
            "def inner():\n    raise ValueError('no')\ninner()\n",
            ":make",
            "code-does-not-run",
            "line 2 of mine.py",
        ),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_place(
    tmp_path: Path, source: str, name: str, code: str, told: str
) -> None:
    path = written(tmp_path, source)
    with pytest.raises(SimgapError) as found:
        user_code(f"{path}{name}", example="make")
    assert found.value.code == code
    assert told in str(found.value)


def test_a_missing_file_is_told_with_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path, "", "walker.py")
    with pytest.raises(SimgapError) as found:
        user_code(f"{tmp_path / 'walkr.py'}:make", example="make")
    assert found.value.code == "no-file"
    assert "walker.py" in found.value.hint


def test_an_interruption_is_not_a_mistake_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "raise KeyboardInterrupt\n")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            user_module(path)


def test_the_line_of_an_error_is_one_of_the_users_own_code(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "import json\n"
        "def parse():\n"
        "    return json.loads('{')\n",  # fails deep inside another file
    )
    code = user_code(f"{path}:parse", example="make")
    with pytest.raises(ValueError, match="Expecting") as found:
        code.value()
    for told in (what_happened(found.value, path), what_happened(found.value)):
        assert told.endswith("(line 3 of mine.py)")
