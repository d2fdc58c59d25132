"""The page about a folder: complete, offline, escaped, calm about what is missing."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from math import inf
from pathlib import Path

import pytest

from simgap.experiments import run_claim
from simgap.experiments.framework.claim import Claim, ClaimResult, Scale, check
from simgap.intervals import Estimate
from simgap.records import Curve, Figure, Point, Table, plain, write_record
from simgap.report import write_explorer
from simgap.report.explorer import render_explorer
from simgap.report.folder import read_folder
from simgap.report.parts.run import MOST_CURVES
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


# the page as a file


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


def test_without_figures_there_is_no_drawing_library(tmp_path: Path) -> None:
    page = page_with(tmp_path, "claims/lemma-6", cases.refuted())
    assert len(page.encode()) < 100_000
    assert "The record has nothing to draw." in Tags(page).text
    assert "Plotly, Inc." not in page
    assert page.count("<script>") == 2


def test_equal_folders_make_equal_pages(tmp_path: Path) -> None:
    first = page_of(whole_folder(tmp_path / "a" / "same"))
    assert page_of(whole_folder(tmp_path / "b" / "same")) == first


# what it says


def test_the_overview_has_a_line_with_a_link_for_every_record(whole: str) -> None:
    found = Tags(whole)
    links = [str(a["href"]) for t, a in found.tags if t == "a" and "href" in a]
    ids = [str(a["id"]) for _, a in found.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in links} <= set(ids)
    start = found.text[: found.text.index("average loss of the best agent") + 2000]
    for word in ("oracle", "gap", "likelihood", "lemma-6", "theorem-2", "theorem-10"):
        assert word in start
    assert "2 of 3 claims came out as expected; look at theorem-10." in start
    order = [found.text.index(f"{name}: ") for name in ("lemma-6", "theorem-2")]
    assert order == sorted(order)
    assert found.text.index("theorem-2: ") < found.text.index("theorem-10: ")


@pytest.mark.parametrize(
    "words",
    [
        "If the real world is one of M known models",
        "Stated in Theorem 2; Section 5.2.",
        "holds, as expected",
        "refuted, as expected",
        "undecided, but expected: holds",
        "Shows errata E17, E29 of docs/errata.md.",
        "Shows erratum E23 of docs/errata.md.",
        "0.487 (0.466 to 0.508, 95 %) estimated",
        "[61.25, 61.5] certified",
        "the norm is at most 1",
        "A bound above the line H says nothing.",
        "A mark at 612: from here on Theorem 2 says something.",
        "simgap reproduce theorem-2 --quick --seed 0",
        "simgap 0.1.0, python 3.12.4, numpy 2.1.0, numba 0.61.0",
        "seed 7",
        "loses between 1.6 and 2.1 on average, 6.25 to 8.21 % of what it could have.",
        "Memory is worth between 3.4 and 3.9 (certified).",
        "The policy planned by the oracle loses most in reward if success=0.225 is "
        "real: 1.5 of 15.",
        "oracle loses least on average: 1.5",
        "ucrl2: it needs a horizon of 1000 or more",
        "50 runs of 100000 steps in every real model",
        "nothing is eliminated before H = 9e6",
        "memoryless: the best of 40 starts",
    ],
)
def test_the_page_says(words: str, whole: str) -> None:
    text = re.sub(r"\s+", " ", Tags(whole).text)
    assert words in text


def test_every_figure_has_a_name_and_words(whole: str) -> None:
    found = Tags(whole)
    ids = {str(a["id"]) for _, a in found.tags if "id" in a}
    drawn = [a for _, a in found.tags if "data-figure" in a]
    assert len(drawn) == 9
    for attributes in drawn:
        assert attributes["role"] == "img"
        assert attributes["tabindex"] == "0"
        assert attributes["aria-labelledby"] in ids
        assert attributes["aria-describedby"] in ids
    for _, attributes in found.tags:
        for label in (attributes.get("aria-labelledby") or "").split():
            assert label in ids
    assert "oracle (certified): 12 at 64, 67.88 at 2048." in found.text
    assert "bound Theorem 2 (exact)" in found.text


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


def test_a_record_of_the_verbs_own_making_is_drawn(tmp_path: Path) -> None:
    """What the experiments write has the shape of the cases here."""
    result = ClaimResult(
        checks=(check("one is at most two", 1.0, 2.0),),
        key=("slope", Estimate(0.5, 0.4, 0.6, 0.95)),
        summary="It is so.",
        figures=(
            Figure(
                "f", "x", "y", (Curve("c", (Point(1, 2, 2, 2),), "exact"),),
                marks=((1.0, "here"),),
            ),
        ),
        tables=(Table("t", ("a", "b"), (("x", inf),), ("exact", "exact")),),
    )  # fmt: skip
    claim = Claim(
        name="theorem-1",
        title="T",
        statement="S.",
        source="Theorem 1",
        measure=lambda settings, seed, tell: result,
        quick=None,
        full=None,
    )
    record = run_claim(claim, Scale.QUICK, 3)
    assert set(plain(record)) == set(cases.claim())
    assert set(plain(record.figures[0])) == set(cases.claim()["figures"][0])
    assert set(plain(record.tables[0])) == set(cases.claim()["tables"][0])
    assert set(plain(record.checks[0])) == set(cases.claim()["checks"][0])
    (tmp_path / "claims").mkdir()
    write_record(record, tmp_path / "claims" / "theorem-1.json")
    found = read_folder(tmp_path)
    assert found.troubles == ()
    text = Tags(render_explorer(found)).text
    assert "The one claim came out as expected." in text
    assert "infinite" in text
    assert "A mark at 1: here." in text


def test_of_many_models_the_cheapest_and_the_dearest_are_drawn(tmp_path: Path) -> None:
    names = [f"m{k}" for k in range(100)]
    page = page_with(tmp_path, "run", cases.run(*names))
    figure = next(d for d in data_of(page).values() if d["kind"] == "curves")
    drawn = [each["name"] for each in figure["curves"]]
    assert len(drawn) == MOST_CURVES
    assert (drawn[0], drawn[-1]) == ("m0", "m99")
    assert f"{MOST_CURVES} of 100 models are drawn" in Tags(page).text


def test_colours_are_logarithmic_where_one_policy_dwarfs_the_others(
    tmp_path: Path,
) -> None:
    data = data_of(page_with(tmp_path, "gap", cases.gap(*RIVERS)))
    heat = next(each for each in data.values() if each["kind"] == "heat")
    assert heat["log"] is True
    assert 0.0 < heat["low"] < heat["high"]
    data = data_of(
        page_with(tmp_path, "gap", cases.gap(*RIVERS, policies=("oracle", "b")))
    )
    heat = next(each for each in data.values() if each["kind"] == "heat")
    assert (heat["log"], heat["low"]) == (False, 0.0)


def test_versions_that_differ_are_told(tmp_path: Path) -> None:
    whole_folder(tmp_path)
    old = cases.claim("lemma-1", versions={"simgap": "0.0.9"})
    write_record(old, tmp_path / "claims" / "lemma-1.json")
    text = Tags(page_of(tmp_path)).text
    assert "from 2 different sets of versions" in text
    assert "simgap 0.0.9" in text


def test_a_word_of_certainty_that_is_none_is_refused(
    whole: str, tmp_path: Path
) -> None:
    assert "does not say how sure this number is" not in Tags(whole).text
    record = cases.claim()
    record["figures"][0]["curves"][0]["certainty"] = "hopeful"
    page = page_with(tmp_path, "claims/theorem-2", record)
    assert 'class="troubles"' in page
