"""`simgap run` and `simgap gap`: certified ends, seeds and threads, every policy."""

from __future__ import annotations

import pytest

from simgap.base_policies.catalogue import POLICIES
from tests.cli.test_contract import answer
from tests.note_codes import codes

RIVERS = "riverswim?states=4&success=0.1:0.6:3&left_reward=0.4&uniform=true"


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


def test_the_printed_rule_drops_the_real_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Errata E17: the threshold is zero at the first step of every episode."""
    words = ("run", "optimistic", RIVERS, "-H", "500", "--seeds", "10")
    literal = answer(capsys, *words, "--literal")
    repaired = answer(capsys, *words)
    assert sum(each["truth_eliminated"] for each in literal["models"]) >= 10
    assert sum(each["truth_eliminated"] for each in repaired["models"]) == 0


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
