"""A table of returns becomes a cube; what is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import Drawn, graded, read_returns
from simgap.errors import InvalidFile

GOOD = """policy,mass,length,seed,episode,return,success
a,0.5,1,0,0,10,1
a,0.5,1,0,1,12,0
a,2.0,1,0,0,4,0
a,2.0,1,0,1,,0
b,0.5,1,0,1,13,1
b,0.5,1,0,0,11,1
b,2.0,1,0,0,6,0
b,2.0,1,0,1,8,1
"""


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "returns.csv"
    path.write_bytes(text.encode())
    return path


def test_every_number_is_in_its_place(tmp_path: Path) -> None:
    cube, points = read_returns(
        table(tmp_path, GOOD), references=("b",), bounds=(0.0, 20.0)
    )
    assert (cube.policies, cube.parameters) == (("a", "b"), ("mass", "length"))
    assert cube.theta.tolist() == [[0.5, 1.0], [2.0, 1.0]]
    assert cube.of("b")[0].tolist() == [[11.0, 13.0], [6.0, 8.0]]
    assert np.isnan(cube.of("a")[0, 1, 1])
    assert [each.code for each in cube.failures] == ["return-missing"]
    assert cube.paired
    assert points.drawn is Drawn.CHOSEN
    found = graded(cube, points)
    assert found.policies[0].points[1].returned.estimate == 2.0  # (4 + 0) / 2
    assert found.policies[0].gap is not None
    assert found.policies[0].gap.estimate == pytest.approx((1.0 + 5.0) / 2)


def test_columns_may_stand_in_any_order_and_seeds_be_names(tmp_path: Path) -> None:
    rows = ("Return,Seed,mass,Policy", "1,red,0.1,p", "2,blue,0.1,p", "", "3,red,0.7,p")
    text = "\ufeff" + "\r\n".join(rows)
    cube, _ = read_returns(table(tmp_path, text))
    assert cube.returns.shape == (1, 2, 2, 1)
    assert cube.of("p")[:, 0, 0].tolist() == [1.0, 2.0]
    assert cube.success is None
    assert not cube.paired


def test_unequal_counts_leave_holes_and_no_pairs(tmp_path: Path) -> None:
    cube, _ = read_returns(table(tmp_path, GOOD + "b,2.0,1,0,7,9,1\n"))
    assert cube.of("b")[0, 1].tolist() == [6.0, 8.0, 9.0]
    assert np.isnan(cube.of("b")[0, 0, 2])
    assert not cube.paired
    assert not cube.failures[1:]


def test_points_that_are_no_grid_are_not_taken_for_one(tmp_path: Path) -> None:
    rows = [f"a,{m},{n},0,0,1,\n" for m, n in ((0, 1), (1, 0), (2, 2))]
    head = "policy,mass,length,seed,episode,return,success\n"
    cube, points = read_returns(table(tmp_path, head + "".join(rows)))
    assert (len(cube.theta), points.drawn) == (3, Drawn.SCRAMBLED)


BAD = {
    "policy,mass,retrun\na,1,2\n": "line 1.*'return'",
    "mass,return\n1,2\n": "line 1.*'policy'",
    "policy,return\na,2\n": "line 1.*parameter",
    "policy,mass,mass,return\na,1,1,2\n": "line 1.*one name",
    "policy,mass,return\n": "line 1.*no row",
    "policy,mass,return\na,1\n": "line 2.*2 fields",
    "policy,mass,return\na,1,2\n\na,heavy,2\n": "line 4.*'heavy'",
    "policy,mass,return\na,nan,2\n": "line 2.*not finite",
    "policy,mass,return\na,1,inf\n": "line 2.*infinite",
    "policy,mass,return\n,1,2\n": "line 2.*no policy",
    "policy,mass,return,success\na,1,2,maybe\n": "line 2.*'maybe'",
    "policy,mass,episode,return\na,1,0,2\na,1,0,3\n": "line 3.*line 2",
    'policy,mass,return\n"a,1,2\n': "line 2",
    "": "line 1",
}


@pytest.mark.parametrize("text", list(BAD))
def test_what_is_wrong_is_told_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=BAD[text]) as error:
        read_returns(table(tmp_path, text))
    assert error.value.hint


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="did you mean retrun"):
        read_returns(table(tmp_path, "policy,mass,retrun\na,1,2\n"))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "returns.csv"
    path.write_bytes(b"policy,mass,return\n\xff\xfe,1,2\n")
    with pytest.raises(InvalidFile, match="UTF-8"):
        read_returns(path)
    with pytest.raises(InvalidFile, match="no file"):
        read_returns(tmp_path / "return.csv")
