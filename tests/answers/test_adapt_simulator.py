"""What a real log says about a simulator, as an answer, a verb and a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simgap.answers import adapt, adapt_simulator
from simgap.cli.app.main import main
from simgap.continuous import bind, open_simulator
from simgap.continuous.measuring.checks import without_effect
from simgap.errors import InvalidArgument, SimgapError
from simgap.interop import TransitionLog
from simgap.records import Finding
from tests.continuous.identification.real_pendulum import (
    RANGES,
    TRUTH,
    recorded,
    written,
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


def test_shares_of_a_transfer_say_what_to_measure(tmp_path: Path) -> None:
    log = recorded(2, steps=60)
    plain = adapt_simulator(ToyPendulum(), RANGES, log)
    least = max(plain.posterior, key=lambda each: each.remaining)
    assert plain.measure_next == least.name
    with pytest.raises(SimgapError) as told:
        adapt_simulator(ToyPendulum(), RANGES, log, transfer=tmp_path)
    assert told.value.code == "no-file"


RIVER = "riverswim?states=3&success=0.3,0.8"
STATES = TransitionLog(*np.zeros((5, 1), np.int64))


@pytest.mark.parametrize(
    ("model", "options", "word"),
    [
        (RIVER, {"horizon": 8}, "log"),
        (RIVER, {"log": STATES}, "horizon"),
        (RIVER, {"horizon": 8, "log": STATES, "out": "p.csv"}, "out"),
        (RIVER, {"horizon": 8, "log": STATES, "rate": 20.0}, "rate"),
        (RIVER, {"horizon": 8, "log": recorded(1)}, "observations"),
        (ToyPendulum(), {"log": recorded(1), "randomize": RANGES, "horizon": 8},
         "horizon"),
        (ToyPendulum(), {"log": recorded(1), "randomize": RANGES, "save": "p.simgap"},
         "save"),
        (ToyPendulum(), {"log": STATES, "randomize": RANGES}, "TransitionLog"),
    ],
)  # fmt: skip
def test_options_and_logs_of_the_other_kind_are_refused(
    model: object, options: dict[str, object], word: str
) -> None:
    with pytest.raises(InvalidArgument) as told:
        adapt(model, **options)  # type: ignore[call-overload]
    assert word in str(told.value) and told.value.hint


def test_a_file_of_observations_is_no_log_of_a_class(tmp_path: Path) -> None:
    log = written(recorded(1, steps=60), tmp_path / "real.csv")
    with pytest.raises(InvalidArgument) as told:
        adapt(RIVER, 8, log)
    assert told.value.code == "log-of-observations"


def test_the_verb_prints_the_keys_of_the_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jax")
    log = written(recorded(3, steps=100), tmp_path / "real.csv")
    out = tmp_path / "posterior.csv"
    command = ["adapt", "pendulum", "--randomize", "mass=0.5..1.5 length=1.1"]
    command += ["--log", str(log), "--rate", "20", "--out", str(out)]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "adapt" and found["simulator"] == "pendulum"
    (mass,) = found["posterior"]
    assert {"name", "mean", "lower", "upper"} <= set(mass)
    assert mass["lower"] < TRUTH["mass"] < mass["upper"]
    assert (found["delay"], found["outside_class"], found["edge"]) == (0, False, [])
    assert out.read_text().startswith("mass,length,delay\n")
    rows = np.loadtxt(out, delimiter=",", skiprows=1)
    assert set(rows[:, 1]) == {1.1}


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--randomize", RANGES], "no log"),
        (["--randomize", RANGES, "--log", "x.csv", "-H", "5"], "-H"),
        (["--randomize", RANGES, "--log", "x.csv", "--save", "p.simgap"], "--save"),
        (["--log", "x.csv", "--transfer", "run", "-H", "5"], "--transfer"),
        (["--log", "x.csv", "--rate", "20", "-H", "5"], "--rate"),
        (["--log", "x.csv", "--delay", "0", "-H", "5"], "--delay"),
        (["--randomize", RANGES, "--log", "x.csv", "--out", "p.txt"], "p.txt"),
        (["--randomize", RANGES, "--log", "x.csv", "--delay", "99"], "--delay"),
    ],
)
def test_misuse_is_told(
    more: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapt", "pendulum", *more]) == 2
    out, err = capsys.readouterr()
    assert out == "" and word in err and "\nhint: " in err


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
