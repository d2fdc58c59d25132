"""The page about a folder of records that are damaged or hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile
from simgap.records.files import plain
from simgap.records.kept import write_record
from simgap.report.explorer import render_explorer, write_explorer
from simgap.report.folder import read_folder
from simgap.report.parts import CLAIM, MAKERS
from simgap.user_files import LARGEST_WHOLE
from tests.report import (
    answer_cases as answers,
    explorer_cases as cases,
    sweep_cases as sweeps,
)
from tests.report.explorer_cases import (
    RIVERS,
    data_of,
    page_of,
    whole_folder,
)
from tests.report.study_cases import study
from tests.report.tags import HOSTILE, Tags
from tests.report.trained_cases import blamed, identified
from tests.report.transfer_cases import transfer

KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "audit": lambda: answers.audit(*RIVERS[:2]),
    "oracle": lambda: cases.oracle(*RIVERS[:2]),
    "gap": lambda: answers.growing_gap(*RIVERS[:2]),
    "blame": lambda: answers.blame(*RIVERS[:2]),
    "width": lambda: answers.width(*RIVERS[:2]),
    "identify": lambda: answers.identify(*RIVERS[:2]),
    "adapt": lambda: answers.adapt(*RIVERS[:2]),
    "run": lambda: cases.run(*RIVERS[:2]),
    "sweep": sweeps.sweep_with_table,
    "claims/theorem-2": cases.claim,
    "transfer": lambda: plain(transfer()),
    "study_run": lambda: plain(study()),
    "blame_run": lambda: plain(blamed()),
    "identify_run": lambda: plain(identified()),
}


# what is missing or damaged


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot read the folder"):
        write_explorer(tmp_path / "none", tmp_path / "page.html")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile, match="cannot read the folder"):
        write_explorer(tmp_path / "file", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"schema": 2}', b"\xff", b"[" * 10_000]
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_damaged_file_is_a_sentence(
    kind: str, content: bytes, tmp_path: Path
) -> None:
    whole_folder(tmp_path)
    sound = len(read_folder(tmp_path).parts) - (tmp_path / f"{kind}.json").exists()
    (tmp_path / f"{kind}.json").write_bytes(content)
    found = read_folder(tmp_path)
    assert [each.name for each in found.troubles] == [f"{kind}.json"]
    assert len(found.parts) == sound
    text = Tags(render_explorer(found)).text
    assert str(tmp_path) not in text


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a record, of lists only the first item."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from _places(value[0], (*path, 0))


def _changed(record: dict[str, Any], path: tuple[Any, ...], value: Any) -> Any:
    copy = deepcopy(record)
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    if value is KeyError:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return copy


ODD: list[Any] = [
    KeyError,
    None,
    "x",
    "inf",
    3,
    -1e308,
    True,
    [],
    [[]],
    [None],
    {},
    {"lower": 1},
    {"lower": "-inf", "upper": "inf"},
    {"lower": 1e308, "upper": 1.5e308},
    LARGEST_WHOLE,
    -0.0,
    "\x9b" * 1000,
]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "transfer"])
def test_no_change_of_a_record_breaks_the_page(kind: str) -> None:
    """Every field replaced by everything odd: drawn, or refused with a reason."""
    record, make = KINDS[kind](), MAKERS.get(kind, CLAIM)
    drawn = refused = 0
    for path in _places(record):
        for value in ODD:
            try:
                part = make(_changed(record, path, value), "record-1")
            except InvalidFile as error:
                assert error.problem
                refused += 1
                continue
            drawn += 1
            for each in (*part.plots, *part.sheets):
                json.dumps(plain(each.data()), allow_nan=False)
    assert drawn > 100
    assert refused > 50


# strangers' words


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str, tmp_path: Path) -> None:
    def page(text: str, where: str) -> Tags:
        folder = tmp_path / where
        write = folder / "claims"
        write.mkdir(parents=True)
        figure = deepcopy(cases.claim()["figures"][0])
        figure |= {"title": text, "x": text, "y": text, "note": text}
        figure["marks"] = [[612.0, text]]
        figure["curves"][0]["name"] = text
        record = cases.claim(
            text,
            title=text,
            statement=text,
            source=text,
            errata=[text],
            summary=text,
            key_number={"name": text, "value": cases.certified(1.0)},
            checks=[cases.claim()["checks"][0] | {"name": text}],
            figures=[figure],
            tables=[{"title": text, "columns": [text], "rows": [[text]]}],
            command=text,
            versions={text: text},
        )
        write_record(record, write / "a.json")
        write_record(
            cases.run(
                text, "b", policy=text, about=text, notes=[{"code": text, "text": text}]
            ),
            folder / "run.json",
        )
        write_record(
            cases.gap(text, "b", policies=(text, "c"), left_out={text: text}),
            folder / "gap.json",
        )
        write_record(
            cases.oracle(text, "b", solver=text, outcome=text), folder / "oracle.json"
        )
        answers.strange_answers(folder, text)
        sweeps.strange_sweep(folder, text)
        made = page_of(folder)
        assert not set("\x00\x1b\u202e") & set(made)
        data_of(made)
        return Tags(re.sub(r"<script>.*?</script>", "", made, flags=re.DOTALL))

    expected, found = page("calm", "calm"), page(name, "hostile")
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in expected.tags]
    assert [set(each) for _, each in found.tags] == [set(e) for _, e in expected.tags]


def test_hostile_file_names_stay_text(tmp_path: Path) -> None:
    for name in (
        "<img src=x onerror=alert(1)>",
        "run-' onload='alert(1)",
        "\u202eevil",
    ):
        (tmp_path / f"{name}.json").write_text("{}", encoding="utf-8")
    found = Tags(
        re.sub(r"<script>.*?</script>", "", page_of(tmp_path), flags=re.DOTALL)
    )
    assert "img" not in {tag for tag, _ in found.tags}
    assert "<img src=x onerror=alert(1)>.json" in found.text
    assert "run-' onload='alert(1).json" in found.text
    assert "\u202e" not in found.text
