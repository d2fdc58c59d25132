"""The page about a folder: complete, offline, escaped, calm about what is missing."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile, SimgapError
from simgap.experiments.claim import (
    Check,
    Claim,
    ClaimResult,
    Curve,
    Figure,
    KeyNumber,
    Point,
    Scale,
    Table,
    Verdict,
    exactly,
)
from simgap.experiments.record import claim_record, save_claim
from simgap.records import plain, write_record
from simgap.report import scripts as page_scripts_module
from simgap.report import write_explorer
from simgap.report.explorer import render_explorer
from simgap.report.folder import read_folder
from simgap.report.parts import MAKERS, claim_part
from simgap.report.parts.run import MOST_CURVES
from simgap.report.plots import MOST_POINTS, thinned
from simgap.report.scripts import STATIC, page_scripts
from simgap.report.sheet import MOST_ROWS, Heading, sheet
from simgap.report.told import NOTHING, told
from simgap.statistics import Estimate
from tests.report import explorer_cases as cases
from tests.report.explorer_cases import RIVERS, whole_folder
from tests.report.test_page import HOSTILE, Tags

PUBLISHED = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "oracle": lambda: cases.oracle(*RIVERS[:2]),
    "gap": lambda: cases.gap(*RIVERS[:2]),
    "run": lambda: cases.run(*RIVERS[:2]),
    "claims/theorem-2": cases.claim,
}


def page_of(folder: Path) -> str:
    return render_explorer(read_folder(folder))


def page_with(folder: Path, kind: str, record: dict[str, Any]) -> str:
    path = folder / f"{kind}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(record, path)
    return page_of(folder)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    return dict(json.loads(found.group(1)))


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


def test_a_script_that_would_end_early_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_scripts_module, "STATIC", tmp_path)
    for name in ("figures.js", "page.js"):
        (tmp_path / name).write_text("'</ScRiPt>'", encoding="utf-8")
    with pytest.raises(SimgapError, match="before its end"):
        page_scripts(figures=False)


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
        "0.487 (0.466 to 0.508 at 95 %) estimated",
        "[61.25, 61.5] certified",
        "the norm is at most 1",
        "A bound above the line H says nothing.",
        "A mark at 612: from here on Theorem 2 says something.",
        "simgap reproduce theorem-2 --quick --seed 0",
        "simgap 0.1.0, python 3.12.4, numpy 2.1.0, numba 0.61.0",
        "seed 7",
        "loses between 1.6 and 2.1 on average, 6.25 to 8.2 % of what it could have.",
        "Memory is worth between 3.4 and 3.9 (certified).",
        "It loses most if success=0.225 is real: 1.5 of 15.",
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
    assert len(drawn) == 8
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
        checks=(Check("one is at most two", exactly(1.0), exactly(2.0)),),
        key_number=KeyNumber("slope", Estimate(0.5, 0.4, 0.6, 0.95)),
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
        expected=Verdict.HOLDS,
        run=lambda scale, seed, tell: result,
    )
    record = claim_record(claim, result, scale=Scale.QUICK, seed=3)
    assert set(plain(record)) == set(cases.claim())
    assert set(plain(record.figures[0])) == set(cases.claim()["figures"][0])
    assert set(plain(record.tables[0])) == set(cases.claim()["tables"][0])
    assert set(plain(record.checks[0])) == set(cases.claim()["checks"][0])
    save_claim(record, tmp_path)
    found = read_folder(tmp_path)
    assert found.troubles == ()
    text = Tags(render_explorer(found)).text
    assert "The one claim came out as expected." in text
    assert "infinite" in text
    assert "A mark at 1: here." in text


# what is missing or damaged


def test_a_folder_without_records_is_a_page_that_says_so(tmp_path: Path) -> None:
    text = Tags(page_of(tmp_path)).text
    assert "There are no records here" in text
    assert "Get the same numbers again" not in text


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot read the folder"):
        write_explorer(tmp_path / "none", tmp_path / "page.html")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile, match="cannot read the folder"):
        write_explorer(tmp_path / "file", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_unknown_records_are_named_and_timings_are_not(tmp_path: Path) -> None:
    whole_folder(tmp_path)
    for name in ("audit", "timings", "mystery"):
        write_record({"schema": 1}, tmp_path / f"{name}.json")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "run.json.d").mkdir()
    found = read_folder(tmp_path)
    assert found.unknown == ("audit.json", "mystery.json")
    assert "audit.json, mystery.json." in Tags(render_explorer(found)).text


def test_two_runs_stand_side_by_side(tmp_path: Path) -> None:
    for name in ("run", "run-psrl"):
        write_record(cases.run("a", "b"), tmp_path / f"{name}.json")
    write_record({"schema": 1}, tmp_path / "runner.json")
    found = read_folder(tmp_path)
    assert [part.anchor for part in found.parts] == [
        "record-1-run",
        "record-2-run-psrl",
    ]
    assert found.unknown == ("runner.json",)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"schema": 2}', b"\xff", b"[" * 10_000]
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_damaged_file_is_a_sentence(
    kind: str, content: bytes, tmp_path: Path
) -> None:
    whole_folder(tmp_path)
    (tmp_path / f"{kind}.json").write_bytes(content)
    found = read_folder(tmp_path)
    assert [each.name for each in found.troubles] == [f"{kind}.json"]
    assert len(found.parts) == 5
    text = Tags(render_explorer(found)).text
    assert "1 record could not be drawn:" in text
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


ODD = [KeyError, None, "x", "inf", 3, -1e308, True, [], [[]], [None], {}, {"lower": 1}]


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_change_of_a_record_breaks_the_page(kind: str) -> None:
    """Every field replaced by everything odd: drawn, or refused with a reason."""
    record, make = KINDS[kind](), MAKERS.get(kind, claim_part)
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


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_missing_field_is_a_page_all_the_same(kind: str, tmp_path: Path) -> None:
    record = KINDS[kind]()
    for key in set(record) - {"schema"}:
        lacking = {name: each for name, each in record.items() if name != key}
        page = page_with(tmp_path, kind, lacking)
        assert 'class="troubles"' not in page, key
        assert page.rstrip().endswith("</html>")
    page = page_with(tmp_path, kind, {"schema": 1})
    assert 'class="troubles"' not in page


def test_what_a_claim_lacks_is_a_sentence(tmp_path: Path) -> None:
    text = Tags(page_with(tmp_path, "claims/x", {"schema": 1})).text
    for sentence in (
        "no verdict in the record",
        "does not say what the claim states",
        "has no key number",
        "has nothing to draw",
        "has no checks",
        "does not say which command made it",
        "do not say with which versions",
    ):
        assert sentence in text


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "perhaps"},
        {"figures": [{"curves": [{"points": [{"x": 1}]}]}]},
        {"figures": [{"marks": [[1.0]]}]},
        {"tables": [{"columns": ["a"], "rows": [[1, 2]]}]},
        {"tables": [{"columns": ["a"], "rows": [[[]]]}]},
        {"tables": [{"columns": ["a"], "rows": [], "certainty": ["exact", "exact"]}]},
        {"key_number": {"name": "n", "value": {"lower": 2, "upper": 1}}},
        {"checks": [{"left": "x"}]},
        {"title": ["a"]},
    ],
)
def test_a_claim_of_another_shape_is_refused_with_a_reason(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    page_with(tmp_path, "claims/theorem-2", cases.claim(**changes))
    found = read_folder(tmp_path)
    assert found.parts == ()
    assert re.search("belongs|expected", found.troubles[0].problem)


def test_policies_of_different_classes_are_refused(tmp_path: Path) -> None:
    record = cases.gap("a", "b")
    record["policies"][1]["models"][0]["name"] = "c"
    page_with(tmp_path, "gap", record)
    assert "same models" in read_folder(tmp_path).troubles[0].problem


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
            cases.run(text, "b", policy=text, about=text, notes=[text]),
            folder / "run.json",
        )
        write_record(
            cases.gap(text, "b", policies=(text, "c"), left_out={text: text}),
            folder / "gap.json",
        )
        write_record(
            cases.oracle(text, "b", solver=text, outcome=text), folder / "oracle.json"
        )
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


# pieces


def test_a_number_says_how_sure_it_is() -> None:
    assert told({"lower": 1.0, "upper": 1.0}).certainty == "exact"
    assert told({"lower": 1.0, "upper": 2.0}).certainty == "certified"
    assert told({"lower": 1.0, "upper": 2.0}).text == "[1, 2]"
    found = told(cases.estimate(1.5, 0.5))
    assert (found.text, found.detail) == ("1.5", "1 to 2 at 95 %")
    assert found.certainty == "estimated"
    assert told(3).certainty == "unlabelled"
    assert told(3, certainty="certified").certainty == "certified"
    assert told(3, certainty="sure").certainty == "unlabelled"
    assert told(3, certainty="").certainty == ""
    assert told(None) is told({"lower": None, "upper": 1.0}) is NOTHING
    assert told({"lower": 0.0, "upper": "inf"}).text == "[0, infinite]"
    assert not told("inf").drawable
    with pytest.raises(InvalidFile, match="in order"):
        told({"lower": 2.0, "upper": 1.0})


def test_a_table_keeps_full_numbers_for_the_spreadsheet() -> None:
    rows: list[tuple[Any, ...]] = [
        ("a", told(cases.estimate(0.1234567, 0.1)), 1 / 3, 12345678),
        ("b", told({"lower": 2.0, "upper": 2.0}), inf, 1),
    ]
    heads = [Heading(name) for name in ("name", "gap", "part", "count")]
    made = sheet("key", "title", heads, rows)
    assert made.wide == ("name", "gap", "gap, lower", "gap, upper", "part", "count")
    assert made.full[0][:2] == ("a", 0.1234567)
    assert made.full[1] == ("b", 2.0, 2.0, 2.0, inf, 1)
    assert [cell.text for cell in made.rows[0]] == [
        "a",
        "0.1235",
        "0.333333",
        "12345678",
    ]
    many = sheet("key", "title", heads[:1], [("x",)] * (MOST_ROWS + 7))
    assert (len(many.rows), many.left_out, len(many.full)) == (
        MOST_ROWS,
        7,
        MOST_ROWS + 7,
    )


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    points = [(float(k), 0.0, 0.0, 0.0) for k in range(3 * MOST_POINTS + 1)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS + 1
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert thinned(points[:MOST_POINTS]) == points[:MOST_POINTS]


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


def test_unlabelled_numbers_are_explained_only_where_there_are_some(
    whole: str, tmp_path: Path
) -> None:
    sentence = "does not say how sure this number is"
    assert sentence not in Tags(whole).text
    record = cases.claim()
    record["figures"][0]["curves"][0]["certainty"] = "hopeful"
    page = page_with(tmp_path, "claims/theorem-2", record)
    assert sentence in Tags(page).text
    assert "hopeful" not in page
