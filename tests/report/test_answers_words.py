"""One number has one word, one name one policy: what the page calls things."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simgap.records import write_record
from simgap.report.certainty_words import NAMES, name_of
from simgap.report.parts import MAKERS
from simgap.report.parts.gap import GapContent
from simgap.report.parts.oracle import OracleContent
from simgap.text import without_common_part, without_parameters
from tests.report import answer_cases as cases, explorer_cases
from tests.report.answer_cases import LAKES
from tests.report.explorer_cases import certified, estimate, page_of, page_with
from tests.report.tags import Tags


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", Tags(page).text)


def gap_with(*averages: Any) -> dict[str, Any]:
    """Return a record of `simgap gap` whose policies lose this on average."""
    names = tuple(f"p{at}" for at in range(len(averages)))
    record = explorer_cases.gap(*LAKES, policies=names)
    for policy, average in zip(record["policies"], averages, strict=True):
        policy["average"] = average
    return record


def rivals(*averages: Any) -> tuple[str, str]:
    content = MAKERS["gap"](gap_with(*averages), "record-1").content
    assert isinstance(content, GapContent)
    return content.best, content.rivals


# names


def test_names_of_one_parameter_lose_it_and_names_of_several_stay_whole() -> None:
    assert without_common_part(["p=1", "p=2"]) == (["1", "2"], "p")
    pairs = ["mass=0.6, length=0.7", "mass=1.4, length=0.7"]
    assert without_common_part(pairs) == (pairs, "")
    assert without_common_part(["p=1", "p=2, q=3"])[1] == ""


def test_figures_leave_out_all_parameters_or_none() -> None:
    pairs = ["mass=0.6, length=0.7", "mass=1.4, length=0.7"]
    assert without_parameters(pairs) == (["0.6, 0.7", "1.4, 0.7"], "mass, length")
    assert without_parameters(["p=1", "p=2"]) == (["1", "2"], "p")
    for names in (["p=1", "q=2"], ["p=1", "p="], ["a", "b"], ["p=1, b", "p=2, b"], []):
        assert without_parameters(names) == (names, "")


def test_one_name_for_two_policies_says_which() -> None:
    record = explorer_cases.gap(*LAKES, policies=("oracle", "posterior-sampling"))
    part = MAKERS["gap"](record, "record-1")
    assert part.sheets[0].rows[1][0].text == "posterior-sampling, by episode"
    oracle = explorer_cases.oracle(*LAKES)
    rows = MAKERS["oracle"](oracle, "record-1").sheets[1].rows
    assert "posterior-sampling, by step" in [row[0].text for row in rows]


# which policy loses least


def test_a_policy_whose_interval_holds_another_is_not_crowned() -> None:
    near = certified(0.1346, 0.13461)
    assert rivals(estimate(0.131, 0.1), near, certified(9.0)) == ("p0", "p1")
    assert rivals(estimate(0.131, 0.001), near) == ("p0", "")
    assert rivals(near, certified(0.4845)) == ("p0", "")


def test_a_table_without_a_winner_says_so(tmp_path: Path) -> None:
    record = gap_with(
        estimate(1.0, 0.5), certified(1.2), certified(1.4), certified(7.0)
    )
    text = text_of(page_with(tmp_path, "gap", record))
    assert "The smallest number is that of p0, on average: 1" in text
    assert "it is not distinguishable from p1 and p2: intervals meet." in text
    assert "loses least" not in text


# how sure


def test_the_same_loss_has_the_same_word_in_every_table() -> None:
    oracle = explorer_cases.oracle(*LAKES)
    lost = certified(0.48449491, 0.48449492)
    plain = oracle["baselines"]["memoryless"]
    changed = {"average_gap": lost, "worst_gap": 1.9, "certainty": "exact"}
    oracle["baselines"] = {"memoryless": plain | changed}
    row = MAKERS["oracle"](oracle, "record-1").sheets[1]
    record = gap_with(lost)
    table = MAKERS["gap"](record, "record-1").sheets[0]
    assert (row.rows[-1][1].certainty or row.headings[1].certainty) == "certified"
    assert (row.rows[-1][2].certainty or row.headings[2].certainty) == "certified"
    assert table.headings[1].certainty == "certified"
    blame = cases.blame(*LAKES)
    blame["certainty"]["ignored_whole"] = "exact"
    part = MAKERS["blame"](blame, "record-1")
    assert ("average loss of the nominal plan", "certified") in part.certainties.labels


def test_every_key_of_the_records_has_words() -> None:
    made = {kind: make(*LAKES) for kind, make in cases.KINDS.items()}
    made |= {"oracle": explorer_cases.oracle(*LAKES), "gap": cases.growing_gap(*LAKES)}
    for kind, record in made.items():
        for key in record["certainty"]:
            assert "_" not in name_of(key, kind.partition("-")[0])
    assert name_of("everywhere", "audit") != "everywhere"
    assert name_of("worst", "audit") != name_of("worst", "width")
    assert name_of("stranger_s", "audit") == "stranger s"
    assert set(NAMES) >= {"", "audit", "oracle", "gap", "blame", "width", "identify"}


# what stands beside a number


def test_a_share_below_nothing_is_explained() -> None:
    record = cases.blame(*LAKES)
    assert MAKERS["blame"](record, "record-1").sheets[0].note == ""
    record["parameters"][0]["ignored"] = certified(-0.5, -0.4)
    part = MAKERS["blame"](record, "record-1")
    assert "the plan loses less on average" in part.sheets[0].note
    assert "the plan loses less on average" in part.plots[1].note
    assert part.plots[0].note == ""


def test_a_loss_is_no_part_of_a_value_below_nothing() -> None:
    def show(least: float) -> tuple[str, list[str]]:
        record = explorer_cases.oracle(*LAKES)
        for model in record["models"]:
            model["optimal"] = least
        part = MAKERS["oracle"](record, "record-1")
        assert isinstance(part.content, OracleContent)
        most = next(each for each in part.content.points if "most in reward" in each)
        return most, [head.title for head in part.sheets[0].headings]

    words, heads = show(-162.0)
    assert " of -162" not in words
    assert "gap, part of V*" not in heads
    words, heads = show(15.0)
    assert words.endswith(" of 15.")
    assert "gap, part of V*" in heads


@pytest.mark.parametrize(("status", "said"), [("warning", True), ("ok", False)])
def test_a_warning_about_the_grid_stands_under_the_verdict(
    status: str, said: bool, tmp_path: Path
) -> None:
    finding = {
        "check": "grid",
        "code": "grid-noisy",
        "status": status,
        "text": "the grid adds noise",
        "value": 0.7,
    }
    page = page_with(tmp_path, "audit", cases.audit(*LAKES, findings=[finding]))
    assert ("the grid adds noise" in page[: page.index('id="scorecard"')]) is said


# the title


def test_the_title_is_class_and_horizon_if_all_records_agree(tmp_path: Path) -> None:
    for kind in ("audit", "identify"):
        write_record(cases.KINDS[kind](*LAKES), tmp_path / f"{kind}.json")
    page = page_of(tmp_path)
    words = "FrozenLake-v1, 4 models that differ in success_rate, 200 steps"
    assert f"<title>{words} - simgap</title>" in page
    assert f'<h1 title="{cases.MODEL.replace("&", "&amp;")}"><bdi>{words}</bdi>' in page
    assert f"report of the folder {tmp_path.name}" in text_of(page)
    write_record(cases.blame(*LAKES, horizon=100), tmp_path / "blame.json")
    other = page_of(tmp_path)
    assert f"<title>Report on {tmp_path.name} - simgap</title>" in other
    assert f"Of {cases.MODEL}" in text_of(other)
