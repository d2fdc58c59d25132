"""A factory `make(**theta)`: the user knows its parameters, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

import simgap
from simgap.continuous import open_simulator
from simgap.errors import SimgapError
from tests.answers.transfer.test_transfer import USER


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    any_name = "\n\ndef anything(**theta):\n    return Pull(**theta)\n"
    (tmp_path / "mine.py").write_text(USER + any_name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_what_the_user_names_is_given_to_the_factory() -> None:
    options = {"randomize": "pull=-0.5..0.5", "horizon": 9, "design": "grid:3"}
    named, open_ = (
        simgap.transfer(f"mine.py:{make}", "mine.py:informed", **options)  # type: ignore[arg-type]
        for make in ("make", "anything")
    )
    assert named.policies == open_.policies


@pytest.mark.usefixtures("here")
def test_a_name_that_the_factory_does_not_take_is_told() -> None:
    with pytest.raises(SimgapError) as error:
        simgap.transfer("mine.py:anything", "zero", randomize="mass=1..2", horizon=9)
    assert error.value.code == "no-such-parameter"
    assert "mass" in str(error.value)


def test_choices_that_do_not_start_at_0_are_refused() -> None:
    import gymnasium

    class Signed(gymnasium.Env):  # type: ignore[misc]
        observation_space = gymnasium.spaces.Discrete(3)
        action_space = gymnasium.spaces.Discrete(3, start=-1)

        def reset(self, *, seed: int | None = None, options: object = None) -> object:
            return 0, {}

        def step(self, action: int) -> object:
            return 0, float(action), False, False, {}

    with pytest.raises(SimgapError) as error:
        open_simulator(lambda gain=1.0: Signed())
    assert error.value.code == "discrete-start"
