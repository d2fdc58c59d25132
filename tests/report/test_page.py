"""The page: complete, offline, escaped, and calm about what is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile, SimgapError
from simgap.records import Certified, encode, number, plain, read_record, write_record
from simgap.report import render_page, write_page
from simgap.report.figures import MOST_BARS, WIDTH, bar_figure
from simgap.report.words import bracket
from tests.report.tags import HOSTILE, Tags


def record(*names: str, **changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "kind": "demo",
        "title": "A class",
        "summary": "What it is.",
        "horizon": 200,
        "states": 16,
        "actions": 4,
        "diameter": {"lower": 57.5, "upper": 57.6},
        "models": [
            {
                "name": name,
                "parameters": {"success": 0.5 + at / 100},
                "optimal": 3.0 + at,
                "optimal_bounds": {"lower": 3.0 + at, "upper": 3.0 + at},
                "gain": {"lower": 0.1, "upper": 0.1 + 1e-12},
                "bias_span": 1.0,
                "residual": 1e-14,
                "diameter": {"lower": 8.0, "upper": 8.0 + at},
            }
            for at, name in enumerate(names)
        ],
        "certainty": {"optimal": "certified", "gain": "certified"},
        "notes": ["terminal states restart"],
        "provenance": {"command": "simgap demo", "model_hash": "abc", "seed": None},
    } | changes


def test_the_page_needs_no_network_and_no_script() -> None:
    page = render_page(record("a", "b"))
    found = Tags(page)
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "img", "form"}
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face", page)
    for tag, attributes in found.tags:
        assert not any(key.startswith("on") for key in attributes), tag
        assert set(attributes) & {"src", "href"} <= {"href"}
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    policies = [a for t, a in found.tags if a.get("http-equiv") is not None]
    assert len(policies) == 1
    policy = policies[0]["content"]
    assert policy is not None
    assert policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    calm, hostile = (
        render_page(
            record(
                text,
                "b",
                title=text,
                summary=text,
                notes=[text],
                provenance={"command": text, "model": text, "model_hash": text},
            )
            | {"certainty": {"optimal": text, text: "certified"}}
        )
        for text in ("calm", name)
    )
    expected, found = Tags(calm), Tags(hostile)
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in expected.tags]
    assert [set(each) for _, each in found.tags] == [set(e) for _, e in expected.tags]
    assert ("{{ 7 * 7 }}" in found.text) == (name == "{{ 7 * 7 }}")
    assert not set("\x00\x1b\u202e") & set(hostile)


def test_the_page_is_small_and_says_how_sure_it_is() -> None:
    page = render_page(record("a", "b"))
    assert len(page.encode()) < 100_000
    text = Tags(page).text
    for word in ("certified", "exact", "simgap demo", "terminal states"):
        assert word in text
    assert 'lang="en"' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_every_figure_has_words_for_those_who_do_not_see_it() -> None:
    found = Tags(render_page(record("a", "b")))
    figures = [attributes for tag, attributes in found.tags if tag == "svg"]
    ids = {attributes["id"] for _, attributes in found.tags if "id" in attributes}
    assert len(figures) == 3
    for attributes in figures:
        labels = attributes["aria-labelledby"]
        assert attributes["role"] == "img"
        assert labels is not None
        assert set(labels.split()) <= ids
    for _, attributes in found.tags:
        for label in (attributes.get("aria-labelledby") or "").split():
            assert label in ids


@pytest.mark.parametrize("key", list(record("a")))
def test_a_missing_part_is_a_sentence_not_a_crash(key: str) -> None:
    lacking = record("a", "b")
    del lacking[key]
    assert "</html>" in render_page(lacking)


def test_an_empty_record_is_a_page_that_says_so() -> None:
    text = Tags(render_page({"schema": 1})).text
    assert "no values to draw" in text
    assert "no models" in text
    assert "does not say where it comes from" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"models": "none"},
        {"models": [3]},
        {"models": [{"name": "a", "gain": {"lower": "x", "upper": 1}}]},
        {"models": [{"name": "a", "gain": {"lower": True, "upper": 1}}]},
        {"certainty": []},
        {"provenance": "me"},
        {"diameter": 3},
    ],
)
def test_a_record_of_another_shape_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidFile):
        render_page(record("a") | changes)


def test_infinite_and_unknown_values_are_drawn_as_such() -> None:
    endless = {"lower": "inf", "upper": "inf"}
    unknown = {"lower": None, "upper": None}
    models = [{"name": "a", "diameter": endless, "gain": unknown, "optimal": None}]
    page = render_page(record() | {"models": models, "diameter": endless})
    assert "infinite" in Tags(page).text
    assert 'class="bar endless"' in page
    assert "nan" not in page.lower().replace("finance", "")


def test_bars_stay_inside_their_drawing() -> None:
    values = [(f"m{i}", Certified(-3.0 + i, -2.0 + i)) for i in range(8)]
    figure = bar_figure("k", "t", values, unit="u", certainty="certified")
    assert figure is not None
    for bar in figure.bars:
        assert 0.0 <= bar.begin <= bar.begin + bar.width <= WIDTH + 1e-9
        assert bar.spread is not None
    assert bar_figure("k", "t", [], unit="u", certainty="exact") is None
    zeros = [("z", Certified(0.0, 0.0))]
    assert bar_figure("k", "t", zeros, unit="u", certainty="exact") is not None


def test_many_models_are_counted_not_drawn() -> None:
    names = [f"m{i}" for i in range(MOST_BARS + 10)]
    page = render_page(record(*names))
    assert "10 more models are in the table" in page
    assert f"m{MOST_BARS + 9}" in page


def test_a_page_comes_from_a_record_on_disk(tmp_path: Path) -> None:
    write_record(record("a"), tmp_path / "record.json")
    size = write_page(tmp_path / "record.json", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size == size
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a JSON record"),
        (b"{", "not a JSON record"),
        (b"[1]", "not an object"),
        (b'{"schema": 2}', "schema 2"),
        (b"{}", "schema None"),
        (b'{"schema": NaN}', "not a JSON record"),
        (b"[" * 100_000, "not a JSON record"),
        (b"\xff\xfe", "not a JSON record"),
    ],
)
def test_a_file_that_is_no_record_is_refused(
    content: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=says):
        read_record(path)


def test_a_missing_record_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot read the record"):
        read_record(tmp_path / "none.json")


def test_records_have_no_nan_and_spell_infinity() -> None:
    text = encode({"a": float("inf"), "b": [-float("inf"), 1.5], "c": None, "d": True})
    assert json.loads(text) == {"a": "inf", "b": ["-inf", 1.5], "c": None, "d": True}
    assert number("inf") == float("inf")
    assert number("-inf") == -float("inf")
    with pytest.raises(SimgapError, match="not a number"):
        encode({"a": [float("nan")]})
    with pytest.raises(SimgapError, match="no place in a record"):
        plain({1, 2})


def test_bounds_are_told_without_more_digits_than_they_have() -> None:
    assert bracket(Certified(1.0, 1.0)) == "1"
    assert bracket(Certified(1.0, 2.0)) == "[1, 2]"
    assert bracket(Certified(1.0, 1.0001)) == "1.00005 ± 5e-05"
    assert bracket(Certified(float("inf"), float("inf"))) == "infinite"
    assert bracket(Certified(3.0, float("inf"))) == "[3, infinite]"
    assert bracket(Certified(None, None)) == "-"
