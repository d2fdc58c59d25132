"""`simgap blame`: keys of the record, original units, words, and bad requests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.verbs.blame import names_of
from simgap.instances.riverswim import riverswim
from simgap.interop import save_model
from simgap.mdp import LatentMDP, RewardUnits, SimulatorClass
from tests.cli.test_contract import answer, human
from tests.note_codes import codes

RIVERS = "riverswim?states=3&success=0.1,0.6&down=0.05,0.3&left_reward=0.3"
STEPS = ("-H", "8")


def total(pair: dict[str, float]) -> float:
    return 0.5 * (pair["lower"] + pair["upper"])


def test_the_keys_of_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "blame", RIVERS, *STEPS, "--out", str(tmp_path / "kept"))
    kept = json.loads((tmp_path / "kept" / "blame.json").read_text())
    assert kept == found
    assert (found["schema"], found["kind"], found["horizon"]) == (1, "blame", 8)
    assert found["method"] == "exact"
    assert found["leader"] == "success"
    assert found["permutations"] is None
    assert [each["name"] for each in found["parameters"]] == ["success", "down"]
    whole = total(found["whole"])
    assert whole > 0.01
    shares = [total(each["share"]) for each in found["parameters"]]
    assert sum(shares) == pytest.approx(whole, abs=1e-9)
    parts = [total(each["part"]) for each in found["parameters"]]
    assert sum(parts) == pytest.approx(1.0, abs=1e-9)
    ignored = [total(each["ignored"]) for each in found["parameters"]]
    assert sum(ignored) == pytest.approx(found["ignored_whole"], abs=1e-9)
    for each in found["parameters"]:
        assert each["values"] == len(each["curve"]) == 2
        for key in ("alone", "information"):
            assert 0.0 <= each[key]["lower"] <= each[key]["upper"]
        for point in each["curve"]:
            assert point["loss"] >= 0.0
            assert 0.0 <= point["told"]["lower"] <= point["told"]["upper"]
    assert found["nominal"] in found["names"]
    prices = np.array(found["pair_prices"]["upper"])
    assert prices.shape == (4, 4)
    assert set(found["certainty"].values()) == {"certified"}
    assert found["notes"] == []
    assert "seconds" not in json.dumps(found)


def test_a_negative_share_is_explained_where_there_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    negative = "negative: "
    shown = {}
    for nominal in (0, 1):
        command = ("blame", RIVERS, *STEPS, "--nominal", str(nominal))
        found = answer(capsys, *command)
        least = min(total(each["ignored"]) for each in found["parameters"])
        shown[least < -0.01] = negative in " ".join(human(capsys, *command).split())
    assert shown == {True: True, False: False}


def test_the_same_command_gives_the_same_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sampled = ("--exact-up-to", "0", "--permutations", "8", "--seed", "5")
    told = []
    for _ in range(2):
        assert main(["blame", RIVERS, *STEPS, "--json", *sampled]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    found = json.loads(told[0])
    assert found["method"] == "sampled"
    assert found["permutations"] == 8
    assert found["certainty"]["share"] == "estimated"
    share = found["parameters"][0]["share"]
    assert share["lower"] <= share["estimate"] <= share["upper"]
    assert share["confidence"] == 0.95
    assert codes(found)[0] == "sampled-orders"
    assert "4 random orders" in found["notes"][0]["text"]


def test_numbers_are_in_original_rewards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is a gap or a part of one: only the factor matters."""
    worlds = riverswim(states=3, success=(0.1, 0.6), down=(0.05, 0.3), left_reward=0.3)
    files = []
    for name, units in (("one", RewardUnits()), ("two", RewardUnits(-3.0, 5.0))):
        path = tmp_path / f"{name}.simgap"
        save_model(LatentMDP.uniform(in_units(worlds, units)), path)
        files.append(str(path))
    plain, other = (answer(capsys, "blame", each, *STEPS) for each in files)
    assert total(other["whole"]) == pytest.approx(5.0 * total(plain["whole"]), abs=1e-9)
    assert other["ignored_whole"] == pytest.approx(5.0 * plain["ignored_whole"])
    for one, two in zip(plain["parameters"], other["parameters"], strict=True):
        for key in ("share", "alone", "information", "ignored"):
            assert total(two[key]) == pytest.approx(5.0 * total(one[key]), abs=1e-9)
        assert total(two["part"]) == pytest.approx(total(one["part"]), abs=1e-9)
        for here, there in zip(one["curve"], two["curve"], strict=True):
            assert there["loss"] == pytest.approx(5.0 * here["loss"], abs=1e-9)
            assert total(there["told"]) == pytest.approx(
                5.0 * total(here["told"]), abs=1e-9
            )
    prices = [np.array(each["pair_prices"]["lower"]) for each in (plain, other)]
    np.testing.assert_allclose(prices[1], 5.0 * prices[0], atol=1e-9)


def in_units(worlds: SimulatorClass, units: RewardUnits) -> SimulatorClass:
    from dataclasses import replace

    return replace(worlds, rewards=units.meant(worlds.rewards))


def test_people_read_what_to_measure_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = human(capsys, "blame", RIVERS, *STEPS)
    assert text.index("  success") < text.index("  down")  # sorted by share
    assert "#" * 8 in text
    assert answer(capsys, "blame", RIVERS, *STEPS)["headline"] in text
    assert "(certified)" in text
    assert "if success is really" in text


def test_a_group_and_a_nominal_model(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--group", "success,down", "--nominal", "3")
    found = answer(capsys, "blame", RIVERS, *STEPS, *options)
    (only,) = found["parameters"]
    assert only["name"] == "success+down"
    assert only["values"] == 4
    assert found["nominal"] == found["names"][3]
    assert all(isinstance(point["value"], str) for point in only["curve"])


@pytest.mark.parametrize(
    ("more", "problem", "hint"),
    [
        ((), "no horizon", "-H 200"),
        (("-H", "0"), "horizon -H is 0", "1 or more"),
        (("-H", "4", "--group", "succes"), "'succes'", "did you mean success?"),
        (("-H", "4", "--group", "success,"), "empty name", "--group mass,length"),
        (("-H", "4", "--group", "down", "--group", "down"), "twice", "one group"),
        (("-H", "4", "--nominal", "9"), "no model '9'", "0 to 3"),
        (("-H", "4", "--nominal", "success=0.1, down=0.5"), "no model", "did you mean"),
        (("-H", "4", "--permutations", "1"), "--permutations is 1", "4 or more"),
        (("-H", "4", "--exact-up-to", "-1"), "--exact-up-to is -1", "0 or more"),
        (("-H", "4", "--gap-tolerance", "2"), "--gap-tolerance is 2", "below 1"),
        (("-H", "4", "--time-limit", "0"), "--time-limit is 0", "above 0"),
        (("-H", "4", "--seed", "x"), "--seed is 'x'", "whole number"),
        (("-H", "4", "--horison", "4"), "--horison", "--help"),
    ],
)
def test_bad_requests_get_a_problem_and_a_hint(
    more: tuple[str, ...],
    problem: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["blame", RIVERS, *more, "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert problem in told.err.splitlines()[0]
    assert hint in told.err or "--horizon" in told.err


def test_a_group_is_names_with_commas() -> None:
    assert names_of("a, b") == ("a", "b")
    assert names_of("c") == ("c",)
