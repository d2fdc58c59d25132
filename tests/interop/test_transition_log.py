"""Logs of real transitions: several ways to write one, and to get it wrong."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given, strategies as st

from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.interop.transition_log import (
    StateSpace,
    TransitionLog,
    counts_of_log,
    read_transition_log,
)
from simgap.mdp import Labels, class_from_models, mdp_from_counts
from tests.note_codes import codes
from tests.strategies import STEADY

HEADER = "episode,step,state,action,next_state\n"
PLAIN = StateSpace(4, 2)
NAMED = StateSpace(3, 2, Labels(("home", "far away", "sea, open"), ("go", "stay")))


def read(text: str | bytes, space: StateSpace = PLAIN) -> TransitionLog:
    content = text.encode() if isinstance(text, str) else text
    return read_transition_log(BytesIO(content), space)


def refused(text: str | bytes, space: StateSpace = PLAIN) -> SimgapError:
    with pytest.raises(InvalidFile) as caught:
        read(text, space)
    assert caught.value.hint
    return caught.value


def columns(log: TransitionLog) -> list[list[int]]:
    kept = (log.episode, log.step, log.state, log.action, log.next_state)
    return [list(row) for row in zip(*(each.tolist() for each in kept), strict=True)]


TWO = [[0, 0, 1, 0, 2], [0, 1, 2, 1, 3]]


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "0,0,1,0,2\n0,1,2,1,3\n",
        HEADER + "0,0,1,0,2\n0,1,2,1,3",  # no last line end
        (HEADER + "0,0,1,0,2\n0,1,2,1,3\n").replace("\n", "\r\n"),
        (HEADER + "0,0,1,0,2\n0,1,2,1,3\n").replace("\n", "\r"),
        "\ufeff" + HEADER + "0,0,1,0,2\n0,1,2,1,3\n",
        "\n \n" + HEADER + "\n0,0,1,0,2\n\n,,,,\n0,1,2,1,3\n\n",
        HEADER + '"0","0","1","0","2"\n0, 1 ,2, 1,3\n',
        HEADER + "0,1,2,1,3\n0,0,1,0,2\n",  # any order
        HEADER.replace(",", ";") + "0;0;1;0;2\n0;1;2;1;3\n",
        HEADER.replace(",", "\t") + "0\t0\t1\t0\t2\n0\t1\t2\t1\t3\n",
        HEADER.upper() + "0.0,0.0,1.0,0.,2\nrun,1,1,0,2\n0,1,2,1,3\n",
        "step,next_state,action,state,episode\n0,2,0,1,7\n1,3,1,2,7\n",
    ],
)
def test_the_same_log_in_many_hands(text: str) -> None:
    assert columns(read(text))[:2] == TWO


def test_names_are_found_before_indices() -> None:
    log = read(
        HEADER + 'a,0,home,go,far away\na,1,far away,1,"sea, open"\nb,0,2,stay,0\n',
        NAMED,
    )
    assert columns(log) == [[0, 0, 0, 0, 1], [0, 1, 1, 1, 2], [1, 0, 2, 1, 0]]
    assert log.n_episodes == 2
    assert log.notes == ()
    odd = StateSpace(3, 1, Labels(("1", "2", "3")))
    log = read(HEADER + "0,0,1,0,3\n", odd)
    assert columns(log) == [[0, 0, 0, 0, 2]]
    assert codes(log) == ["names-are-numbers"]


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("", "the log is empty", HEADER.strip()),
        ("\n\n", "the log is empty", HEADER.strip()),
        (HEADER, "no transitions", "one line per step"),
        (HEADER.replace("next_state", "nextstate") + "0,0,1,0,2\n",
         "no column next_state", "did you mean the column 'nextstate'"),
        (HEADER.replace("next_state", "s'") + "0,0,1,0,2\n",
         "no column next_state", "did you mean the column \"s'\""),
        (HEADER.replace("episode", "x") + "0,0,1,0,2\n",
         "no column episode", "the columns are episode,step"),
        ("0,0,1,0,2\n0,1,2,1,3\n", "line 1 of the log is '0,0,1,0,2', not a header",
         "the first line is episode"),
        ("state," + HEADER + "1,0,0,1,0,2\n", "column state twice", "rename"),
        (HEADER + "0,0,1,0,2\n0,1,4,0,2\n", "line 3 of the log: state is '4'",
         "states are 0 to 3"),
        (HEADER + "0,0,1,2,2\n", "line 2 of the log: action is '2'",
         "actions are 0 to 1"),
        (HEADER + "0,0,1,0,-1\n", "next_state is '-1'", "no state names"),
        (HEADER + "0,0,1.5,0,2\n", "state is '1.5'", "no state names"),
        (HEADER + "0,0,,0,2\n", "line 2 of the log: state is empty", "index"),
        (HEADER + "0,x,1,0,2\n", "step is 'x'", "whole number"),
        (HEADER + ",0,1,0,2\n", "episode is empty", "every row"),
        (HEADER + "0,0,1,0\n", "line 2 of the log has 4 fields, the header 5",
         "quotes"),
        (HEADER + "0,0,1,0,2,9\n", "has 6 fields", "quotes"),
        (HEADER + "0,0,1,0,2\n\n0,1,1,0,2\n0,0,1,0,2\n",
         "lines 2 and 5 of the log are the same episode and step (0)", "own number"),
        (HEADER + '0,0,1,0,"2\n', "is not CSV", "double quote"),
        ("reward," + HEADER + "much,0,0,1,0,2\n", "reward is 'much'", "finite"),
        ("reward," + HEADER + "nan,0,0,1,0,2\n", "reward is 'nan'", "finite"),
        (b"PK\x03\x04\0\0\0", "a zero byte", "CSV"),
        (b"\xff\xfee\0p\0", "not text in UTF-8", "spreadsheet"),
        (b"x" * 200_000, "over 100000 letters", "CSV"),
        (HEADER + f"0,0,{'9' * 300},0,2\n", f"state is '{'9' * 60}...'", ""),
    ],
)  # fmt: skip
def test_bad_logs_are_refused_with_place_and_way_out(
    text: str | bytes, problem: str, hint: str
) -> None:
    error = refused(text)
    assert problem in error.problem
    assert hint in error.hint


@given(
    lines=st.lists(
        st.text(st.sampled_from('0123,.;"- ax\t\n\r\x00é'), max_size=14), max_size=6
    ),
    head=st.sampled_from(
        (HEADER, HEADER.replace(",", ";"), "reward," + HEADER, HEADER[13:], "")
    ),
)
@STEADY
def test_whatever_is_in_a_file_it_is_read_or_refused(
    lines: list[str], head: str
) -> None:
    try:
        log = read(head + "\n".join(lines))
    except InvalidFile as error:
        assert error.problem and error.hint
    else:
        assert len(log) > 0
        assert counts_of_log(log, 4, 2).sum() == len(log)


def test_breaks_and_missing_steps_are_counted() -> None:
    log = read(HEADER + "0,0,1,0,2\n0,1,3,0,2\n0,2,2,0,1\n0,5,0,0,0\n1,0,0,0,0\n")
    assert log.breaks().tolist() == [0]
    assert log.missing_steps() == 2
    assert log.first_rows().tolist() == [0, 4]
    assert len(log) == 5


def test_a_class_is_built_from_logs() -> None:
    """Frequencies of two logs, with the builder that takes counts."""
    space = StateSpace(2, 1)
    logs = [
        read(HEADER + "0,0,0,0,1\n0,1,1,0,0\n0,2,0,0,0\n0,3,0,0,1\n", space),
        read(HEADER + "0,0,0,0,0\n0,1,0,0,1\n0,2,1,0,1\n", space),
    ]
    tables = [counts_of_log(log, 2, 1) for log in logs]
    assert tables[0].tolist() == [[[1.0, 2.0]], [[1.0, 0.0]]]
    simulators = class_from_models([mdp_from_counts(n, [[0.0], [1.0]]) for n in tables])
    assert simulators[0].probability(0, 0, 1) == pytest.approx(2 / 3)
    assert simulators[1].probability(1, 0, 1) == 1.0
    with pytest.raises(InvalidArgument, match="state of transition 1 of the log"):
        counts_of_log(logs[0], 1, 1)
    with pytest.raises(InvalidArgument, match="more than"):
        counts_of_log(logs[0], 10**5, 1)
