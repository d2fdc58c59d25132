"""The page about a folder: complete, offline, with its numbers in full."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from simgap.records.kept import write_record
from simgap.report.explorer import write_explorer
from simgap.report.scripts import STATIC, page_scripts
from tests.report import explorer_cases as cases
from tests.report.explorer_cases import (
    RIVERS,
    data_of,
    page_of,
    page_with,
    whole_folder,
)
from tests.report.tags import Tags

PUBLISHED = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(whole_folder(tmp_path_factory.mktemp("records") / "river-study"))


def test_only_the_scripts_in_the_page_may_run(whole: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', whole)
    assert policy is not None
    rules = policy.group(1).replace("&#39;", "'").split("; ")
    assert rules[:3] == [
        "default-src 'none'",
        "img-src data: blob:",
        "style-src 'unsafe-inline'",
    ]
    allowed = rules[-1].split(" ")
    assert allowed[0] == "script-src"
    texts = re.findall(r"<script>(.*?)</script>", whole, re.DOTALL)
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    assert allowed[1:] == [f"'sha256-{each}'" for each in digests]
    assert len(texts) == 3
    assert "unsafe-eval" not in whole.replace(texts[0], "")


def test_the_page_names_no_other_computer(whole: str) -> None:
    assert set(re.findall(r"https?://[^/\"' ]*", whole)) == {"http://www.w3.org"}
    found = Tags(re.sub(r"<script>.*?</script>", "", whole, flags=re.DOTALL))
    assert not {tag for tag, _ in found.tags} & {"link", "iframe", "object", "img"}
    for tag, attributes in found.tags:
        assert not any(key.startswith("on") for key in attributes), tag
        assert "src" not in attributes
        assert str(attributes.get("href", "#")).startswith("#")


def test_the_library_inside_is_the_published_one_with_its_licence() -> None:
    bundle = (STATIC / "plotly-cartesian.min.js").read_bytes()
    assert sha256(bundle).hexdigest() == PUBLISHED
    assert not re.search(rb"\beval\(|new Function", bundle)
    licence = (STATIC / "plotly-LICENSE.txt").read_text(encoding="utf-8")
    assert "MIT License" in licence
    assert licence.strip() in page_scripts(figures=True)[0].text


def test_sizes(whole: str, tmp_path: Path) -> None:
    assert len(whole.encode()) < 1_700_000
    (tmp_path / "claims").mkdir()
    for at in range(25):
        record = cases.claim(f"theorem-{at}")
        write_record(record, tmp_path / "claims" / f"theorem-{at}.json")
    size = write_explorer(tmp_path, tmp_path / "page.html")
    assert size == (tmp_path / "page.html").stat().st_size
    assert size < 2_000_000
    assert not list(tmp_path.glob(".*"))


def test_equal_folders_make_equal_pages(tmp_path: Path) -> None:
    first = page_of(whole_folder(tmp_path / "a" / "same"))
    assert page_of(whole_folder(tmp_path / "b" / "same")) == first


def test_numbers_are_in_the_page_in_full(whole: str) -> None:
    data = data_of(whole)
    record = cases.claim()
    figure = next(
        d for d in data.values() if d.get("title") == "Gap against the horizon"
    )
    for drawn, curve in zip(
        figure["curves"], record["figures"][0]["curves"], strict=True
    ):
        for point, given in zip(drawn["points"], curve["points"], strict=True):
            whole_point = [given[key] for key in ("x", "y", "lower", "upper")]
            known = given["lower"] == given["y"] == given["upper"]
            assert point == (whole_point[:2] if known else whole_point)
    assert figure["log_x"] is True
    assert figure["marks"] == [[612.0, "from here on Theorem 2 says something"]]
    tables = [each for each in data.values() if each["kind"] == "table"]
    assert record["tables"][0]["rows"] in [each["rows"] for each in tables]
    heat = next(d for d in data.values() if d.get("value") == "gap")
    given = cases.gap(*RIVERS)["policies"]
    assert heat["rows"] == [each["name"] for each in given]
    assert heat["columns"] == [name.removeprefix("success=") for name in RIVERS]
    assert heat["cells"][0] == [each["gap"]["lower"] for each in given[0]["models"]]
    low, high = heat["cells"][1][2][1:]
    assert (low, high) == tuple(
        given[1]["models"][2]["gap"][end] for end in ("lower", "upper")
    )


def test_a_word_of_certainty_that_is_none_is_refused(
    whole: str, tmp_path: Path
) -> None:
    assert "does not say how sure this number is" not in Tags(whole).text
    record = cases.claim()
    record["figures"][0]["curves"][0]["certainty"] = "hopeful"
    page = page_with(tmp_path, "claims/theorem-2", record)
    assert 'class="troubles"' in page
