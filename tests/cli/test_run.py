"""`simgap run` and `simgap gap`: keys of the record, numbers, pages, wrong words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.base_policies.catalogue import POLICIES, build_policy
from simgap.cli.app.main import main
from simgap.cli.app.models import read_model
from simgap.gap import gaps
from tests.cli.test_contract import answer, human
from tests.note_codes import codes

RIVERS = "riverswim?states=4&success=0.1:0.6:3&left_reward=0.4&uniform=true"


def test_a_run_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "run", "likelihood", RIVERS, "-H", "2000", "--seeds", "30")
    assert found["policy"] == "likelihood"
    assert found["horizon"] == 2000 and found["seeds"] == 30
    assert len(found["models"]) == 3
    for each in found["models"]:
        for key in ("gap", "regret"):
            interval = each[key]
            assert interval["lower"] <= interval["estimate"] <= interval["upper"]
            assert interval["confidence"] == 0.95
        assert each["truth_eliminated"] == 0
        assert each["gap"]["estimate"] <= each["optimal"]
    assert found["steps_per_second"] >= 0.0
    assert found["certainty"]["gap"] == "estimated"
    assert found["provenance"]["seed"] == 0


def test_both_intervals_are_in_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", "likelihood", RIVERS, "-H", "2000", "--seeds", "200")
    for model in answer(capsys, *words)["models"]:
        for each in (model["gap"], model["regret"]):
            sure = each["guaranteed"]
            assert sure["lower"] <= each["estimate"] <= sure["upper"]
            assert sure["upper"] - sure["lower"] > each["upper"] - each["lower"]
    table = ("gap", RIVERS, "-H", "30", "--seeds", "50")
    policies = ("--policy", "likelihood", "--policy", "oracle-belief")
    found = answer(capsys, *table, *policies)
    for each in found["policies"]:
        numbers = (each["average"], each["worst"], *(m["gap"] for m in each["models"]))
        assert all(number["guaranteed"] for number in numbers)


def test_no_sampled_average_is_below_what_every_policy_loses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Few episodes: without the certified end some intervals would begin below it."""
    words = ("-H", "30", "--seeds", "10", "--policy", "likelihood")
    more = ("--policy", "oracle-belief", "--policy", "posterior-sampling")
    least = answer(capsys, "oracle", RIVERS, "-H", "30")["average_gap"]["lower"]
    for seed in ("0", "1"):
        found = answer(capsys, "gap", RIVERS, *words, *more, "--seed", seed)
        for each in found["policies"]:
            average = each["average"]
            assert least - 1e-9 <= average["lower"] <= average["estimate"]
            assert each["worst"]["upper"] >= average["lower"]


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", "variance", RIVERS, "-H", "3000", "--seeds", "12", "--seed", "7")
    one = answer(capsys, *words, "--threads", "1")
    two = answer(capsys, *words, "--threads", "2")
    assert one["models"] == two["models"]
    (alone,) = answer(capsys, *words, "--real", "1")["models"]
    assert alone == one["models"][1]
    named = answer(capsys, *words, "--real", one["models"][2]["name"])["models"]
    assert named == [one["models"][2]]


def test_a_page_has_the_curve_and_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    found = answer(
        capsys, "run", "optimistic", RIVERS, "-H", "4000", "--seeds", "8",
        "--out", str(folder),
    )  # fmt: skip
    page = Path(found["page"]).read_text()
    assert "egret" in page and "application/json" in page
    record = json.loads((folder / "run-optimistic.json").read_text())
    curve = record["models"][0]["curve"]
    assert curve[-1]["step"] == 4000
    assert curve[-1]["lower"] <= curve[-1]["estimate"] <= curve[-1]["upper"]
    assert found["vacuity_horizon"] is not None
    assert "nothing can be eliminated before" in page


def test_the_printed_rule_drops_the_real_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Errata E17: the threshold is zero at the first step of every episode."""
    words = ("run", "optimistic", RIVERS, "-H", "500", "--seeds", "10")
    literal = answer(capsys, *words, "--literal")
    repaired = answer(capsys, *words)
    assert sum(each["truth_eliminated"] for each in literal["models"]) >= 10
    assert sum(each["truth_eliminated"] for each in repaired["models"]) == 0


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = human(capsys, "run", "random", RIVERS, "-H", "50", "--seeds", "10")
    assert "real model" in text and "steps per second" in text
    text = human(
        capsys,
        "gap",
        RIVERS,
        "-H",
        "12",
        "--policy",
        "likelihood",
        "--policy",
        "random",
    )
    assert "likelihood" in text and "random" in text and "average" in text


def test_gaps_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(
        capsys, "gap", RIVERS, "-H", "8", "--policy", "likelihood",
        "--policy", "memoryless",
    )  # fmt: skip
    latent = read_model(RIVERS).latent
    for each in found["policies"]:
        assert each["certainty"] == "certified"
        policy = build_policy(each["name"], latent, 8)
        exact = gaps(latent.simulators, policy, 8)
        for told, gap in zip(each["models"], exact, strict=True):
            assert told["gap"] == {"lower": gap.lower, "upper": gap.upper}
        worst = max(told["gap"]["upper"] for told in each["models"])
        assert each["worst"]["upper"] == worst
        assert each["average"]["lower"] <= each["worst"]["upper"]


def test_every_policy_of_the_catalogue_can_be_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = [entry.name for entry in POLICIES]
    words = [word for name in names for word in ("--policy", name)]
    found = answer(capsys, "gap", RIVERS, "-H", "40", "--seeds", "10", *words)
    assert [each["name"] for each in found["policies"]] == names
    oracle = next(each for each in found["policies"] if each["name"] == "oracle")
    for each in found["policies"]:  # Lemma 1: none is better on average
        assert each["average"]["upper"] >= oracle["average"]["lower"] - 1e-9


def test_a_class_without_gains_leaves_learners_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "gap", "absorbing_doors?members=3", "-H", "8")
    names = {each["name"] for each in found["policies"]}
    assert {"oracle", "memoryless", "random"} <= names
    assert "optimistic" in found["left_out"]


@pytest.mark.parametrize(
    ("spec", "names", "says"),
    [
        (
            "riverswim?states=3&success=0.2..0.6&uniform=true&left_reward=0.1",
            ["success=0.2", "success=0.4", "success=0.6"],
            "linear-in-parameters",
        ),
        (
            "discretise:MountainCar-v0?gravity=0.002..0.003&cells=7x7",
            ["gravity=0.002", "gravity=0.0025", "gravity=0.003"],
            "nothing-guaranteed",
        ),
    ],
)
def test_algorithm_4_takes_infinitely_many_models(
    spec: str, names: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Linear in the parameter: mixtures. Not linear: a cover, and no promise."""
    found = answer(capsys, "run", "general", spec, "-H", "150", "--seeds", "3")
    assert [each["name"] for each in found["models"]] == names
    assert codes(found)[0] == says
    assert found["provenance"]["model"] == spec
    for each in found["models"]:
        assert each["gap"]["lower"] <= each["gap"]["estimate"]
    assert sum(each["switches"] for each in found["models"]) > 0.0
    again = answer(capsys, "run", "general", spec, "-H", "150", "--seeds", "3")
    assert again["models"] == found["models"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"run lielihood {RIVERS} -H 10", "did you mean likelihood"),
        (f"run qqqqq {RIVERS} -H 10", "it is one of"),
        (f"run likelihood {RIVERS}", "no horizon"),
        (f"run likelihood {RIVERS} -H 0", "1 or more"),
        (f"run likelihood {RIVERS} -H 10 --seeds 1", "2 or more"),
        (f"run likelihood {RIVERS} -H 10 --seeds x", "not a number"),
        (f"run likelihood {RIVERS} -H 10 --real 3", "from 0 to 2"),
        (f"run likelihood {RIVERS} -H 10 --real nobody", "no model"),
        (f"run likelihood {RIVERS} -H 10 --threads 0", "1 or more"),
        (f"run ucrl2 {RIVERS} -H 10 --literal", "no printed rule"),
        (f"run likelihood {RIVERS} -H 10 --seed -1", "0 or more"),
        (f"run oracle {RIVERS} -H 10 --time-limit 0", "seconds above 0"),
        (f"run likelihood {RIVERS} -H 10 --time-limit 5", "is for the oracle"),
        (f"run oracle {RIVERS} -H 10 --time-limit 5 --literal", "no printed rule"),
        ("run likelihood nosuch.npz -H 10", "there is no file"),
        ("run likelihood riverswim?success=0.1..0.6 -H 10", "success=0.1:0.6:5"),
        ("run general riverswim?success=0.1..0.6 -H 10 --literal", "finitely many"),
        ("run general riverswim?states=3..6 -H 10", "cannot be an interval"),
        ("gap riverswim?success=0.1..0.6 -H 10", "run general"),
        ("run optimistic absorbing_doors?members=3 -H 10", "not communicating"),
        (f"gap {RIVERS}", "no horizon"),
        (f"gap {RIVERS} -H 10 --policy orakel", "did you mean oracle"),
        (f"gap {RIVERS} -H 10 --half-width 0", "above 0"),
        (f"gap {RIVERS} -H 10 --half-width much", "not a number"),
    ],
)
def test_wrong_words_get_a_way_out(
    line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split(" ")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err and "Traceback" not in err
