"""Characters that steer terminals are written out; written ends hold intervals."""

from __future__ import annotations

import json
from decimal import Decimal
from math import ulp
from unicodedata import category

import pytest
from hypothesis import given, strategies as st

from simgap.intervals import Certified
from simgap.records.files import encode
from simgap.text import (
    HIDDEN,
    at_least,
    at_most,
    between,
    bracket,
    clean,
    clean_json,
    ends,
)

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


@given(
    value=st.floats(-1e300, 1e300, allow_subnormal=False),
    digits=st.integers(1, 12),
)
def test_an_end_is_never_written_on_its_wrong_side(value: float, digits: int) -> None:
    low, high = at_least(value, digits), at_most(value, digits)
    room = Decimal(4 * ulp(value))
    assert Decimal(low) - room <= Decimal(value) <= Decimal(high) + room
    step = max(abs(Decimal(low)), abs(Decimal(high))) * 10 ** Decimal(1 - digits)
    assert Decimal(high) - Decimal(low) <= step * 10


@given(
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(0.0, 1.0, allow_subnormal=False),
    st.integers(2, 7),
)
def test_what_is_written_of_an_interval_holds_it(
    lower: float, width: float, digits: int
) -> None:
    """One number stands for both ends only where both round to it."""
    upper = lower + width
    told = bracket(Certified(lower, upper), digits)
    middle, sign, half = told.partition(" ± ")
    room = Decimal(8 * ulp(max(abs(lower), abs(upper))))
    if sign:
        assert Decimal(middle) - Decimal(half) - room <= Decimal(lower)
        assert Decimal(upper) <= Decimal(middle) + Decimal(half) + room
    elif told.startswith("["):
        low, high = (Decimal(end) for end in told[1:-1].split(", "))
        assert low - room <= Decimal(lower) and Decimal(upper) <= high + room
    else:
        assert told == f"{lower:.{digits}g}" == f"{upper:.{digits}g}"


def test_rounding_to_the_nearest_would_be_noticed() -> None:
    """The control: the demo's own bracket, as it was written before."""
    lower, upper = 0.12356892580807237, 0.13460583742850302
    assert ends(lower, upper, 4) == ("0.1235", "0.1347")
    assert Decimal(f"{lower:.4g}") > Decimal(lower)  # 0.1236
    assert Decimal(f"{upper:.4g}") < Decimal(upper)  # 0.1346
    assert between(Certified(0.0, upper), 4) == "at most 0.1347"
    assert ends(0.5, 0.5 + 1e-9, 4) == ("0.5",)
