"""Every check of `simgap check` can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.cli.app.main import main
from simgap.errors import SimgapError
from tests.answers.transfer.test_transfer import USER

STRANGE = """
import itertools

count = itertools.count()


def gentle(observation, memory):
    return -0.1 * observation, memory


def forgets(observation, memory):
    return -observation, 0 if memory is None else memory + 1


def remembers(observation, memory):
    steps = 0 if memory is None else memory + 1
    return -observation * (0.5 if steps > 2 else 1.0), steps


def wild(observation, memory):
    return 100 * observation, memory


def draws(observation, memory):
    return observation * 0.0 + 0.01 * next(count), memory


class Blind(Pull):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=None)


def blind(pull=0.0):
    return Blind(pull)


class Shared(Pull):
    latest = 0.0

    def step(self, action):
        self.pull = Shared.latest
        return super().step(action)


def shared(pull=0.0):
    Shared.latest = pull
    return Shared(pull)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(USER + STRANGE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(policy: str = "mine.py:back", make: str = "make", **options: Any) -> set[str]:
    given = {"randomize": "pull=-0.5..0.5", "horizon": 20, **options}
    found = simgap.check(f"mine.py:{make}", policy, **given)
    assert found.passed == all(each.status != "fail" for each in found.checks)
    return {f"{each.status} {each.code}" for each in found.checks}


def test_nothing_is_wrong_with_a_simulator_that_is_right(here: Path) -> None:
    found = codes("mine.py:gentle")
    assert {"ok acts", "ok repeats", "ok run", "ok seldom"} <= found
    assert not {each for each in found if each.startswith(("fail", "warning"))}


@pytest.mark.parametrize(
    ("policy", "make", "options", "code"),
    [
        ("back", "make", {"randomize": "spare=0..1"}, "fail parameter-without-effect"),
        ("back", "blind", {}, "fail seed-ignored"),
        ("back", "blind", {}, "warning cannot-tell"),
        ("back", "shared", {}, "fail worlds-share-state"),
        ("back", "make", {"bounds": (-0.1, 0.0)}, "fail broken"),
        ("back", "make", {}, "info memoryless"),
        ("forgets", "make", {}, "warning unused"),
        ("remembers", "make", {}, "ok used"),
        ("wild", "make", {}, "warning often"),
        ("draws", "make", {}, "warning draws-by-itself"),
        ("sometimes", "make", {}, "fail action-not-finite"),
        ("back", "make", {"randomize": "crash=0.95..1"}, "fail simulator-failed"),
    ],
)
def test_what_is_wrong_is_found(
    here: Path, policy: str, make: str, options: dict[str, Any], code: str
) -> None:
    assert code in codes(f"mine.py:{policy}", make, **options)


def test_the_exit_status_says_no_if_a_check_fails(here: Path) -> None:
    fine = ["check", "mine.py:make", "--policy", "mine.py:back", "-H", "9"]
    assert main(fine) == 0  # nothing is randomized: there is one world
    assert main([*fine, "--randomize", "pull=-1..1"]) == 0
    assert main([*fine, "--randomize", "spare=-1..1"]) == 1


def test_bounds_are_those_of_whole_episodes(here: Path) -> None:
    assert "ok kept" in codes(bounds=(-200.0, 0.0))


def test_worlds_that_share_a_global_are_not_measured(here: Path) -> None:
    with pytest.raises(SimgapError) as error:
        simgap.transfer(
            "mine.py:shared", "mine.py:back", randomize="pull=-0.5..0.5", horizon=9
        )
    assert error.value.code == "worlds-share-state"
