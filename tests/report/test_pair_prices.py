"""The map of pair prices of classes of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap import blame, oracle
from simgap.answers.pair_prices import MOST_PRICED, recorded_prices
from simgap.records import PairPrices, write_record
from simgap.report.folder import read_folder
from simgap.report.parts.pair_prices import pair_prices_plot


def table(members: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    at = np.arange(members, dtype=np.float64)
    return np.abs(at[:, None] - at)


def test_a_record_of_many_models_has_the_prices_of_some() -> None:
    few = recorded_prices(table(5), table(5), None)
    assert few.models == (0, 1, 2, 3, 4)
    assert few.lower[1][4] == 3.0
    compared = np.arange(0, 300, 7)
    some = recorded_prices(table(300), table(300), compared)
    assert some.models == tuple(compared.tolist())
    assert some.upper[0][2] == 14.0
    whole = recorded_prices(table(300), table(300), None)
    assert len(whole.models) == MOST_PRICED == len(whole.lower) == len(whole.lower[0])
    assert whole.models[0] == 0 and whole.models[-1] == 299
    all_of_few = recorded_prices(table(5), table(5), np.array([0, 4]))
    assert all_of_few.models == few.models


def test_the_map_names_the_models_it_is_about() -> None:
    names = [f"chance={at}" for at in range(6)]
    three = tuple(map(tuple, table(3).tolist()))
    plot = pair_prices_plot(names, PairPrices(three, three, (0, 3, 5)), 0.0, "key")
    assert plot is not None
    assert list(plot.rows) == ["0", "3", "5"]
    for models in ((0, 3), (0, 3, 9)):
        prices = PairPrices(three, three, models)
        assert pair_prices_plot(names, prices, 0.0, "key") is None


@pytest.mark.parametrize(("horizon", "drawn"), [(9, 1), (10, 2)])
def test_the_same_map_is_drawn_once(tmp_path: Path, horizon: int, drawn: int) -> None:
    """The oracle and blame price the same pairs, unless they were asked differently."""
    river = "riverswim?states=3&success=0.3,0.8"
    write_record(oracle(river, 9), tmp_path / "oracle.json")
    write_record(blame(river, horizon), tmp_path / "blame.json")
    parts = read_folder(tmp_path).parts
    keys = [plot.key for part in parts for plot in part.plots]
    assert len([key for key in keys if key.endswith("-pairs")]) == drawn
