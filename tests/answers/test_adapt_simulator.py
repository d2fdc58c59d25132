"""What a real log says about a simulator, as an answer, a verb and a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simgap.answers.adapt.simulator import adapt_simulator
from simgap.continuous import bind, open_simulator
from simgap.continuous.measuring.checks import without_effect
from simgap.errors import SimgapError
from simgap.records.audit import Finding
from tests.continuous.identification.real_pendulum import (
    RANGES,
    TRUTH,
    recorded,
)
from tests.continuous.toy import ToyPendulum


def code_of(findings: tuple[Finding, ...], check: str) -> str:
    return next(each.code for each in findings if each.check == check)


def test_the_posterior_comes_back_as_a_randomization(tmp_path: Path) -> None:
    path = tmp_path / "posterior.csv"
    found = adapt_simulator(
        ToyPendulum(), RANGES, recorded(1, delay=1), delay=1, out=path
    )
    assert found.delay == 1 and not found.outside_class and found.edge == ()
    assert [each.name for each in found.posterior] == ["mass", "length"]
    for each in found.posterior:
        assert each.lower < TRUTH[each.name] < each.upper
        assert each.lower < each.mean < each.upper and each.before == (0.5, 1.5)
    assert sum(each.probability for each in found.delays) == pytest.approx(1.0)
    codes = {each.check: each.code for each in found.findings}
    assert codes == {
        "fit": "no-misfit-seen",
        "edge": "inside",
        "lengths": "lengths-agree",
        "delay": "delay-found",
    }
    assert found.path == str(path) and found.effective >= 200
    bound = bind(str(path), open_simulator(ToyPendulum()))
    again = bound.sample(0, range(2000))
    assert bound.names == ("mass", "length", "delay")
    assert again[:, 0].mean() == pytest.approx(found.posterior[0].mean, abs=0.01)
    assert set(again[:, 2]) == {1.0}
    assert without_effect(open_simulator(ToyPendulum()), bound) == ()


def test_what_is_wrong_is_a_finding() -> None:
    wrong = adapt_simulator(
        ToyPendulum(), RANGES, recorded(1, friction=0.4, delay=3), delay=0
    )
    assert wrong.outside_class and code_of(wrong.findings, "fit") == "outside-class"
    assert code_of(wrong.findings, "delay") == "delay-differs"
    beyond = adapt_simulator(
        ToyPendulum(), "mass=0.5..0.7", recorded(1, truth={"mass": 0.9})
    )
    assert beyond.edge == ("mass",) and code_of(beyond.findings, "edge") == "at-edge"


@pytest.mark.parametrize(
    ("row", "step", "warned"),
    [
        (0.1, 0.05, True),
        (0.0501, 0.05, False),  # clocks differ by so much
        (None, 0.05, False),
        (0.1, None, False),
    ],
)
def test_a_log_at_another_rate_than_the_simulator_is_a_warning(
    row: float | None, step: float | None, warned: bool
) -> None:
    log = replace(recorded(1, steps=60), dt=row)
    found = adapt_simulator(ToyPendulum(seconds=step), RANGES, log).findings
    told = [each for each in found if each.code == "rate-differs"]
    assert [(each.status, each.value) for each in told] == (
        [("warning", 2.0)] if warned else []
    )


def test_a_simulator_with_noise_of_its_own_is_refused(tmp_path: Path) -> None:
    """Its predictions would be as noisy as the log, and the test of fit alarmed."""
    lines = (
        "import gymnasium, numpy as np",
        "class Slide(gymnasium.Env):",
        "    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,))",
        "    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))",
        "    def __init__(self, gain, noise): self.gain, self.noise = gain, noise",
        "    def reset(self, *, seed=None, options=None):",
        "        super().reset(seed=seed); self.x = 0.0; return self.seen(), {}",
        "    def seen(self):",
        "        off = self.noise * self.np_random.normal()",
        "        return np.array([self.x + off])",
        "    def step(self, action):",
        "        self.x += self.gain * float(action[0])",
        "        return self.seen(), 0.0, False, False, {}",
        "def noisy(gain=1.0): return Slide(gain, 0.1)",
        "def quiet(gain=1.0): return Slide(gain, 0.0)",
        "def set_state(env, observation): env.unwrapped.x = float(observation[0])",
    )
    file = tmp_path / "slide.py"
    file.write_text("\n".join(lines))
    rng = np.random.default_rng(0)
    action = rng.uniform(-1.0, 1.0, 80)
    x = np.concatenate([[0.0], np.cumsum(1.2 * action)])[:80] + 0.01 * rng.normal(
        size=80
    )
    rows = [f"0,{a},{b}" for a, b in zip(x, action, strict=True)]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["episode,obs_0,act_0", *rows]))
    found = adapt_simulator(f"{file}:quiet", "gain=0.5..2", log)
    assert found.posterior[0].lower <= 1.2 <= found.posterior[0].upper
    with pytest.raises(SimgapError) as error:
        adapt_simulator(f"{file}:noisy", "gain=0.5..2", log)
    assert error.value.code == "simulator-draws"
