"""The page about the answers of a study: order, words, verdict and scorecard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simgap.records import write_record
from simgap.report.folder import read_folder
from simgap.report.part import Part
from simgap.report.parts import MAKERS
from simgap.report.scorecard import SLOTS, top_of
from tests.report import answer_cases as cases, explorer_cases
from tests.report.answer_cases import LAKES, study_folder
from tests.report.explorer_cases import page_of, page_with
from tests.report.tags import Tags


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(study_folder(tmp_path_factory.mktemp("study") / "lakes"))


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", Tags(page).text)


def made(kind: str, **changes: Any) -> Part:
    make = {**cases.KINDS, "width": cases.width}[kind]
    return MAKERS[kind](make(*LAKES, **changes), "record-1")


# the top


def test_parts_stand_in_the_order_of_the_questions(study: str) -> None:
    found = [
        study.index(f'id="record-{at}-{kind}"')
        for at, kind in enumerate(
            (
                "audit",
                "oracle",
                "gap",
                "blame",
                "width-success_rate",
                "identify",
                "adapt",
            ),
            start=1,
        )
    ]
    names = ("theory", "certainty", "reproduce")
    ends = [study.index(f'<h2 id="{name}"') for name in names]
    tops = [study.index(f'id="{name}"') for name in ("verdict", "scorecard", "index")]
    order = [*tops, *found, *ends]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "words",
    [
        "Will it transfer? Yes, with memory certified",
        "Memory is enough: a policy with it loses at most 0.2625 on average",
        "Memory is needed for the least loss: every policy without it loses at least ",
        "It transfers if the policy remembers what it has seen.",
        "With memory 2.2 to 2.3 % of what is at stake is lost; without it",
        "it loses most in success_rate=0.333: 0.28, 4.3 % of what they lose in this "
        "model.",
        "2.17 to 2.29 % certified of what random actions lose: [0.25, 0.2625] on "
        "average, as certified by audit and blame",
        "[0.7875, 0.8001]",
        "6.84 to 6.96 % of what random actions lose",
        "steps to tell success_rate=0.333 from success_rate=0.5",
        "0.4 to 0.8 certified success_rate, recommended; it loses [0.44444, 0.45556]",
        "72 to 88 % of the best agent's loss",
        "Theorem 2 bounds the loss by 51234, which is more than can be lost; it says "
        "nothing here. It says something from 9.1e+06 steps on.",
        "Measure success_rate first: it causes most of the loss.",
        "Shares are Shapley values over 64 random orders. Nominal here is "
        "success_rate=0.5: the nominal plan is the best one for it alone",
        "nominal value: ranges here grow from it",
        "The brackets of one number from several records are all true",
        "Randomize success_rate from 0.4 to 0.8.",
        "success_rate=0.333 and success_rate=0.5 take longest to tell apart: [40, 57] "
        "steps. They differ most by down in row 1, column 0.",
        "the wrong one of the two is named with probability at most 5 %",
        "Most likely is success_rate=0.333: 0.5333.",
        "From 1200 transitions in 6 episodes.",
        "moved left 9 times of 31",
        "rewards from -1 to 1 were moved and scaled",
        "shares add up to the whole",
        "A mark at 50: Theorem 1 says something.",
        "below the line of acting at random. Not so for Theorem 2. What says nothing "
        "is hidden at first: at 200 steps it is 2.93e+04 or more",
        "gap, trained on, by success_rate by real model, by success_rate, at horizon H "
        "200.",
    ],
)
def test_the_page_of_a_study_says(words: str, study: str) -> None:
    assert words in text_of(study)


def test_all_six_cards_lead_somewhere(study: str) -> None:
    found = Tags(study)
    links = [
        str(a["href"]) for t, a in found.tags if t == "a" and "aria-label" in a
    ]  # of cards
    ids = {str(a["id"]) for _, a in found.tags if "id" in a}
    assert len(links) == 6
    assert {link.removeprefix("#") for link in links} <= ids
    assert "not asked" not in found.text


def test_a_card_that_nobody_fills_names_its_command(tmp_path: Path) -> None:
    text = text_of(page_with(tmp_path, "gap", cases.growing_gap(*LAKES)))
    assert "Nobody has asked for a verdict yet: simgap audit MODEL" in text
    for slot in SLOTS:
        assert (slot.command in text) is (slot.name != "memory")
    assert text.count("not asked") == 4


def test_claims_and_runs_have_no_scorecard(tmp_path: Path) -> None:
    write_record(explorer_cases.run("a"), tmp_path / "run.json")
    assert top_of(read_folder(tmp_path).parts) is None
    assert "Scorecard" not in text_of(page_of(tmp_path))


@pytest.mark.parametrize(
    ("word", "answer", "mood", "sign"),
    [
        ("yes", "Yes", "good", "✓"),
        ("with memory", "Yes, with memory", "but", "✓"),
        ("in the long run", "In the long run", "mind", "!"),
        ("undecided", "Undecided", "open", "?"),
        ("not promised", "Not promised", "open", "?"),
        ("no", "No", "bad", "✗"),
    ],
)
def test_every_verdict_has_a_word_a_colour_and_a_sign(
    word: str, answer: str, mood: str, sign: str, tmp_path: Path
) -> None:
    page = page_with(tmp_path, "audit", cases.audit(*LAKES, verdict=word))
    box = page[page.index('class="verdict first') :]
    box = box[: box.index("</section>")]
    assert box.startswith(f'class="verdict first {mood}"')
    assert re.findall(r"<text[^>]*>(.)</text>", box) == [sign]
    assert box.count('class="on') == 1
    assert box.count('class="half"') == (mood == "but")  # yes, and mind something
    assert f"<bdi>{answer}</bdi>" in box


def test_an_audit_without_a_horizon_has_a_verdict_too(tmp_path: Path) -> None:
    record = cases.audit(*LAKES, horizon=None, verdict="in the long run")
    for key in ("average_gap", "at_stake", "relative_gap", "worst", "memoryless_gap"):
        record[key] = None
    record |= {"value_of_memory": None, "theorem": None}
    text = text_of(page_with(tmp_path, "audit", record))
    assert "4 models, 16 states, 4 actions, no horizon" in text
    assert "bounds the loss" not in text


def test_a_strange_verdict_is_refused(tmp_path: Path) -> None:
    page_with(tmp_path, "audit", cases.audit(*LAKES, verdict="perhaps"))
    assert "'perhaps'" in read_folder(tmp_path).troubles[0].problem


def test_real_data_outside_the_class_are_told_on_top(tmp_path: Path) -> None:
    record = cases.adapt(*LAKES, outside_class=True)
    for each in record["posterior"]:
        each["probability"] = None
    record["gap_bound_after"] = None
    page = page_with(tmp_path, "adapt", record)
    text = text_of(page)
    top = text.index("Outside the class: real transitions")
    assert top < text.index("How wide to randomize")
    assert "with probability at most 0.01. Widen the class first." in text
    assert "The record has no posterior." in text
    assert "bound on the gap" not in text  # it would presuppose the class
    assert page.count('role="alert"') == 2
    calm = page_with(tmp_path, "adapt", cases.adapt(*LAKES))
    assert 'role="alert"' not in calm


def test_several_widths_share_one_card(tmp_path: Path) -> None:
    for name in ("friction", "mass"):
        write_record(cases.width(*LAKES, param=name), tmp_path / f"width-{name}.json")
    top = top_of(read_folder(tmp_path).parts)
    assert top is not None
    card = next(each for each in top.scores if each.title == "How wide to randomize")
    assert [entry.card.words.split(",")[0] for entry in card.entries] == [
        "friction",
        "mass",
    ]
    assert len({entry.anchor for entry in card.entries}) == 2
