"""The page of measurements says what the files of measurements say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from benchmarks.results import MARKED, PAGE, RESULTS, Table, page

SCRIPTS = (
    "complexity", "intervals", "memory_needed", "oracle", "planner_constants",
    "planning", "simulate", "sweep", "train", "transfer",
)  # fmt: skip
BY_HAND = "# Adaptive randomization"  # the section whose tables no script writes
RECORD = {
    "table": "swims",
    "command": "python -m benchmarks.swims",
    "commit": "abcdefabcd",
    "date": "2026-11-19",
    "machine": {"cpu": "Z80", "cores": 1, "load": 0.5, "os": "CP/M", "python": "3.11"},
    "versions": {"numpy": "2.4.6", "scipy": "1.17.1"},
    "columns": ["river", "steps", "ms", "ratio", "met"],
    "digits": {"ratio": 4},
    "rows": [
        ["RiverSwim", 6, [1.25, 1.0, 1234.5], 1.0, True],
        ["other", 10**7, [2.5, 2.5, 2.5], 0.00001, False],
        ["none", None, 1e9, None, None],
    ],
}


def test_every_table_of_the_page_is_what_its_file_says() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "write it again: see benchmarks/results.py"


def test_every_table_of_a_script_has_one_place_and_every_file_a_table() -> None:
    tables: list[str] = ["speed"]
    for name in SCRIPTS:
        every: tuple[Table, ...] = import_module(f"benchmarks.{name}").TABLES
        tables += [table.name for table in every]
    assert sorted(found for _, found, _ in MARKED.findall(PAGE.read_text())) == sorted(
        tables
    )
    assert {path.stem for path in RESULTS.glob("*")} <= set(tables)


def test_only_tables_have_numbers() -> None:
    text = MARKED.sub("", PAGE.read_text())
    sections = re.split(r"^(?=# )", text, flags=re.MULTILINE)
    prose = "".join(each for each in sections if not each.startswith(BY_HAND))
    assert len(prose.split()) > 500
    plain = re.sub(r"`[^`]*`", "", prose)
    assert re.findall(r"(?<![\w.-])\d\S*", plain) == []


def test_a_number_that_changed_in_the_file_is_noticed(tmp_path: Path) -> None:
    text = "# Rivers\n\n<!-- table: swims -->\n<!-- end -->\nmore\n"
    path = tmp_path / "swims.json"
    missing = page(text, tmp_path)
    path.write_text(json.dumps(RECORD))
    full = page(text, tmp_path)
    assert full == page(missing, tmp_path) == page(full, tmp_path)
    assert full.startswith("# Rivers\n") and full.endswith("<!-- end -->\nmore\n")
    path.write_text(path.read_text().replace("1234.5", "1235.5"))
    assert page(full, tmp_path) == full.replace("1234", "1236")


def rows() -> dict[str, Callable[[], Any]]:
    every: dict[str, Callable[[], Any]] = import_module("benchmarks.speed").ROWS
    return every


@pytest.mark.slow
def test_what_is_watched_agrees_with_its_twins() -> None:
    for module in ("mdptoolbox", "stormpy", "jax", "onnxruntime"):
        pytest.importorskip(module)
    for name, make in rows().items():
        pair = make()
        assert pair.agree(pair.ours()[1], pair.twin()[1]), name
