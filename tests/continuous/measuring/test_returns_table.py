"""A table of returns becomes a cube; what is wrong is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    cube, points, _ = read_returns(
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
    cube, _, _ = read_returns(table(tmp_path, text))
    assert cube.returns.shape == (1, 2, 2, 1)
    assert cube.of("p")[:, 0, 0].tolist() == [1.0, 2.0]
    assert cube.success is None
    assert not cube.paired


def test_unequal_counts_leave_holes_and_no_pairs(tmp_path: Path) -> None:
    cube, _, _ = read_returns(table(tmp_path, GOOD + "b,2.0,1,0,7,9,1\n"))
    assert cube.of("b")[0, 1].tolist() == [6.0, 8.0, 9.0]
    assert np.isnan(cube.of("b")[0, 0, 2])
    assert not cube.paired
    assert not cube.failures[1:]


def test_points_that_are_no_grid_are_not_taken_for_one(tmp_path: Path) -> None:
    rows = [f"a,{m},{n},0,0,1,\n" for m, n in ((0, 1), (1, 0), (2, 2))]
    head = "policy,mass,length,seed,episode,return,success\n"
    cube, points, _ = read_returns(table(tmp_path, head + "".join(rows)))
    assert (len(cube.theta), points.drawn) == (3, Drawn.SCRAMBLED)


BAD = {
    "policy,mass,retrun\na,1,2\n": ("returns-columns", "'return'"),
    "mass,return\n1,2\n": ("returns-columns", "'policy'"),
    "policy,return\na,2\n": ("returns-columns", "line 1"),
    "policy,mass,mass,return\na,1,1,2\n": ("returns-columns", "line 1"),
    "policy,mass,return\n": ("returns-empty", "line 1"),
    "policy,mass,return\na,1\n": ("returns-fields", "line 2"),
    "policy,mass,return\na,1,2\n\na,heavy,2\n": ("returns-number", "line 4"),
    "policy,mass,return\na,nan,2\n": ("returns-value", "line 2"),
    "policy,mass,return\na,1,inf\n": ("returns-value", "line 2"),
    "policy,mass,return\n,1,2\n": ("returns-value", "line 2"),
    "policy,mass,return,success\na,1,2,maybe\n": ("returns-value", "line 2"),
    "policy,mass,episode,return\na,1,0,2\na,1,0,3\n": ("returns-twice", "line 3"),
    'policy,mass,return\n"a,1,2\n': ("returns-text", "line 2"),
    "": ("returns-empty", ""),
}


@pytest.mark.parametrize("text", list(BAD))
def test_what_is_wrong_is_refused_by_code_and_line(text: str, tmp_path: Path) -> None:
    code, place = BAD[text]
    with pytest.raises(InvalidFile) as error:
        read_returns(table(tmp_path, text))
    assert error.value.code == code and place in error.value.problem
    assert error.value.hint


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as error:
        read_returns(table(tmp_path, "policy,mass,retrun\na,1,2\n"))
    assert "retrun" in error.value.hint


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "returns.csv"
    path.write_bytes(b"policy,mass,return\n\xff\xfe,1,2\n")
    for given, code in ((path, "returns-text"), (tmp_path / "no.csv", "no-file")):
        with pytest.raises(InvalidFile) as error:
            read_returns(given)
        assert error.value.code == code


COINS = """policy,mass,episode_seed,return
a,1,7,1
a,1,8,0
a,2,8,0
a,2,7,1
"""


def test_only_seeds_of_episodes_say_what_shares_its_luck(tmp_path: Path) -> None:
    """Rows may stand in another order at each point."""
    cube, points, _ = read_returns(table(tmp_path, COINS))
    assert cube.of("a")[0].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert points.shared
    apart = COINS.replace("2,8", "2,9").replace("2,7", "2,6")
    cube, points, _ = read_returns(table(tmp_path, apart), bounds=(0.0, 1.0))
    assert not points.shared
    assert graded(cube, points).policies[0].mean.guaranteed
    for text in (COINS.replace("2,8", "2,9"), COINS.replace("episode_seed", "episode")):
        cube, points, notes = read_returns(table(tmp_path, text), bounds=(0.0, 1.0))
        assert points.shared
        assert graded(cube, points).policies[0].mean.guaranteed is None
    assert "dependence-unknown" in [each.code for each in notes]


def test_columns_that_are_no_parameters_are_left_out(tmp_path: Path) -> None:
    """A column that is not named as a parameter may hold texts."""
    text = "policy,mass,gpu,wall_time,return\na,1,t4,0.25,3\na,1,t4,0.5,5\n"
    cube, _, notes = read_returns(table(tmp_path, text), columns=("mass",))
    assert cube.parameters == ("mass",) and cube.of("a").tolist() == [[[3.0, 5.0]]]
    assert notes[0].code == "columns"
    assert "gpu" in notes[0].text and "wall_time" in notes[0].text
    with pytest.raises(InvalidFile) as error:
        read_returns(table(tmp_path, text), columns=("weight",))
    assert error.value.code == "returns-columns"


@pytest.mark.parametrize("kind", ["mapping", "npz", "parquet", "records"])
def test_arrays_and_other_files_are_the_same_table(kind: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "policy": np.array(["a", "a", "b", "b"]),
        "mass": np.array([0.5, 1.0, 0.5, 1.0]),
        "episode_seed": np.array([3.0, 3.0, 3.0, 3.0]),  # as a frame with holes has it
        "return": np.array([1.0, 2.0, 3.0, np.nan]),
    }
    given: object = columns
    if kind == "npz":
        given = tmp_path / "returns.npz"
        np.savez(given, **columns)
    elif kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        given = tmp_path / "returns.parquet"
        parquet.write_table(arrow.table(columns), given)
    elif kind == "records":
        kinds = [(name, column.dtype) for name, column in columns.items()]
        given = np.array(list(zip(*columns.values(), strict=True)), dtype=kinds)
    cube, points, _ = read_returns(given)
    assert cube.policies == ("a", "b") and points.shared and cube.paired
    assert cube.of("a").tolist() == [[[1.0], [2.0]]]
    assert [each.point for each in cube.failures] == [1]
