"""The examples in the docstrings of questions run and give what they say."""

from __future__ import annotations

import doctest
import inspect
import sys
from shutil import rmtree

import pytest

import simgap

QUESTIONS = sorted(
    name
    for name in simgap.__all__
    if inspect.isfunction(asked := getattr(simgap, name))
    and ">>>" in str(asked.__doc__)
)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_example_of_a_question_runs(name: str) -> None:
    if name == "train":  # another version may have left its folder
        rmtree("/tmp/simgap-doctest", ignore_errors=True)
    asked = getattr(simgap, name)
    home = vars(sys.modules[inspect.getmodule(asked).__name__])  # type: ignore[union-attr]
    (example,) = doctest.DocTestFinder(recurse=False).find(asked, name, globs=home)
    failed, tried = doctest.DocTestRunner().run(example)
    assert tried > 0 and failed == 0


def test_questions_have_examples() -> None:
    asked = {"adapt", "audit", "blame", "compare", "identify", "oracle", "run", "study"}
    assert asked | {"width"} <= set(QUESTIONS)
