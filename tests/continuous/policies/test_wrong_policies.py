"""Policies that are wrong: each is refused with a code, and none does harm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous import open_policy
from simgap.errors import SimgapError
from tests.continuous.policies.cases import choosing, linear

Make = Callable[[Path], Any]


def code_of(given: Any, simulator: Any = None) -> str:
    with pytest.raises(SimgapError) as caught:
        open_policy(given, simulator or linear())
    assert caught.value.problem
    return caught.value.code


def in_file(source: str) -> Make:
    def make(folder: Path) -> str:
        (folder / "p.py").write_text(source)
        return f"{folder}/p.py:f"

    return make


def function(body: str, head: str = "def f(o, m):") -> Make:
    return in_file(f"import numpy as np\n{head}\n    {body}\n")


TEXTS: list[tuple[str, str]] = [
    ("rando", "no-such-policy"),
    ("", "no-such-policy"),
    ("model.zip", "no-such-policy"),
    ("model.pt", "no-such-policy"),
    ("missing.onnx", "no-file"),
    ("missing.py:f", "no-file"),
    ("name=missing.onnx", "no-file"),
]


@pytest.mark.parametrize(("text", "code"), TEXTS)
def test_wrong_texts_are_refused(text: str, code: str) -> None:
    assert code_of(text) == code


FUNCTIONS: dict[str, tuple[Make, str]] = {
    "no name": (
        lambda folder: str(in_file("def f(o, m): ...")(folder))[:-2],
        "no-function-named",
    ),
    "other name": (in_file("def g(o, m): ..."), "no-such-name"),
    "not a function": (in_file("f = 3"), "not-a-function"),
    "does not run": (in_file("f = 1 / 0"), "code-does-not-run"),
    "one parameter": (function("return o", "def f(o):"), "wrong-parameters"),
    "four parameters": (
        function("return o", "def f(o, m, theta, x):"),
        "wrong-parameters",
    ),
    "third is not theta": (function("return o", "def f(o, m, x):"), "wrong-parameters"),
    "a keyword": (function("return o", "def f(o, m, *, k):"), "wrong-parameters"),
    "raises": (function("raise ValueError('no')"), "policy-failed"),
    "no memory returned": (function("return o[:2]"), "memory-not-returned"),
    "three values": (function("return o, m, 1"), "memory-not-returned"),
    "nothing": (function("pass"), "memory-not-returned"),
    "too wide": (function("return o, m"), "action-of-wrong-shape"),
    "a number": (function("return 0.5, m"), "action-of-wrong-shape"),
    "words": (function("return ['left', 'right'], m"), "action-of-wrong-shape"),
    "not finite": (function("return [np.nan, 0.0], m"), "action-not-finite"),
    "class with arguments": (
        in_file("class f:\n    def __init__(self, x): ..."),
        "policy-failed",
    ),
    "fails at the second step": (
        function("return [0.0, 0.0], (m or 0) + 1 / (m is None)"),
        "policy-failed",
    ),
    "fails for all": (
        in_file("def f(o, m):\n    return o[7], m\nf.batched = True"),
        "policy-failed",
    ),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_wrong_functions_are_refused(tmp_path: Path, case: str) -> None:
    make, code = FUNCTIONS[case]
    assert code_of(make(tmp_path)) == code


class Wrong:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, observation: Any, **more: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


OBJECTS: list[tuple[Any, str]] = [
    (3, "not-a-policy"),
    (None, "not-a-policy"),
    (Wrong((np.zeros(2), None)), "action-of-wrong-shape"),  # of one world, not two
    (Wrong((np.zeros((2, 5)), None)), "action-of-wrong-shape"),
    (Wrong(ValueError("unexpected observation shape")), "policy-failed"),
    (Wrong(np.full((2, 2), np.inf)), "action-not-finite"),
]


@pytest.mark.parametrize(("given", "code"), OBJECTS)
def test_wrong_objects_are_refused(given: Any, code: str) -> None:
    assert code_of(given) == code


def test_a_model_behind_a_normaliser_is_refused_without_it() -> None:
    class Normalised(Wrong):
        def get_vec_normalize_env(self) -> Any:
            return object()

    answer = (np.zeros((2, 2)), None)
    assert code_of(Normalised(answer)) == "normaliser-missing"
    open_policy(Wrong(answer), linear())  # the control


@pytest.mark.parametrize("action", [7, -1, 0.5])
def test_actions_that_do_not_exist_are_refused(action: float) -> None:
    assert code_of(lambda o, m: (action, m), choosing()) == "action-unknown"
