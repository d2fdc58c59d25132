"""Characters that steer terminals are written out, others stay."""

from __future__ import annotations

import json
from unicodedata import category

import pytest

from simgap.errors import SimgapError
from simgap.records import encode
from simgap.text import HIDDEN, clean, clean_json

EVERY = [chr(code) for code in range(0x110000)]
STEERING = [sign for sign in EVERY if category(sign) in HIDDEN]


def test_no_steering_character_is_left_and_no_other_is_touched() -> None:
    assert {"\x1b", "\x7f", "\x9b", "\u202e", "\u2028", "\ufeff"} <= set(STEERING)
    cleaned = clean("".join(EVERY))
    assert not set(cleaned) & set(STEERING)
    assert set(cleaned) == set(EVERY) - set(STEERING)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\nerror: b", r"a\nerror: b"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202eevil", r"\u202eevil"),
        ("\U000e0041", r"\U000e0041"),
        ("ünï 🙂 \\ \u00a0", "ünï 🙂 \\ \u00a0"),
    ],
)
def test_what_is_hidden_can_be_read(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(shown) == shown


def test_json_is_the_same_text_without_steering_characters() -> None:
    valid = "".join(sign for sign in EVERY if category(sign) != "Cs")
    content = encode({valid: [valid]}, indent=2).decode()
    assert json.loads(content) == {valid: [valid]}
    assert set(content) & set(STEERING) == {"\n"}
    assert clean_json('"\U000e0041"') == r'"\udb40\udc41"'


def test_an_error_in_python_steers_no_terminal() -> None:
    error = SimgapError("no state \x1b[2J\x9b", hint="did you mean\u202e?")
    assert not set(str(error)) & set(STEERING) - {"\n"}
    assert error.problem == r"no state \x1b[2J\x9b"
    assert str(error).splitlines()[1] == r"hint: did you mean\u202e?"
