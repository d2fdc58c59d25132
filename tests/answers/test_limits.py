"""Limits of whole questions: all of it ends soon after, and the answer says why.

Seconds are those of this process, so that other work on the machine changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from time import process_time
from typing import Any

import pytest

from simgap._kernels import compile_clock
from simgap._kernels.compile_clock import working_seconds
from simgap._kernels.time_limit import memory_limited, resident_bytes
from simgap.answers import audit, blame, compare, identify, oracle, solve, width
from simgap.errors import InvalidArgument, OutOfTime
from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle.baselines import baselines
from simgap.oracle.loss_form import loss_form
from tests.note_codes import codes

RIVERS = "riverswim?states=3&success=0.2,0.4,0.6&left_reward=0.4"
LONG, LIMIT = 300_000, 0.5  # steps and seconds: without a limit, a minute and more
QUESTIONS: dict[str, Callable[[int, float], object]] = {
    "oracle": lambda h, s: oracle(RIVERS, h, time_limit=s),
    "compare": lambda h, s: compare(RIVERS, h, time_limit=s, policies=["memoryless"]),
    "identify": lambda h, s: identify(RIVERS, h, time_limit=s),
    "blame": lambda h, s: blame(RIVERS, h, time_limit=s),
    "width": lambda h, s: width(RIVERS, h, time_limit=s),
    "audit": lambda h, s: audit(RIVERS, h, time_limit=s),
    "solve": lambda h, s: solve(RIVERS, 1000 * h, time_limit=s),
}


class Clock:
    """The seconds of this process, and more if somebody says so."""

    def __init__(self) -> None:
        self.more, self.speed = 0.0, 1.0

    def __call__(self) -> float:
        return self.speed * process_time() + self.more

    def jumps_after(
        self, patch: pytest.MonkeyPatch, place: str, name: str, seconds: float
    ) -> None:
        """Let the clock be so many seconds later after each call of a function."""
        module = import_module(place)
        called = getattr(module, name)

        def slow(*given: Any, **named: Any) -> Any:
            found = called(*given, **named)
            self.more += seconds
            return found

        patch.setattr(module, name, slow)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(compile_clock, "perf_counter", clock)
    yield clock


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_ends_soon_after_its_limit(name: str, clock: Clock) -> None:
    """Within one and a half times the limit; two seconds are for what starts it."""
    QUESTIONS[name](4, 60.0)  # loads kernels
    begin = working_seconds()
    try:
        QUESTIONS[name](LONG, LIMIT)
    except OutOfTime as error:
        assert error.hint
    assert working_seconds() - begin < 1.5 * LIMIT + 2.0


def test_the_oracle_leaves_out_simpler_policies_it_has_no_time_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.jumps_after(monkeypatch, "simgap.answers.oracle", "planned_oracle", 1e4)
    found = oracle(RIVERS, 8)
    assert found.outcome == "exact up to rounding"  # planning was in time
    assert codes(found) == ["baselines-left-out"]
    assert found.baselines == {} and found.memory is None
    assert found.estimated_gap is not None


def test_policies_and_horizons_that_there_is_no_time_for_are_named(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.jumps_after(monkeypatch, "simgap.answers.compare", "policy_gaps", 1e4)
    found = compare(RIVERS, 8, policies=["oracle", "random"], horizons=[4])
    assert [row.name for row in found.policies] == ["oracle"]
    assert list(found.left_out) == ["random"]
    assert codes(found)[-2:] == ["policies-left-out", "horizons-left-out"]
    assert found.by_horizon is None


def test_pairs_and_the_timeline_that_there_is_no_time_for_are_left_out(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "simgap.answers.identify.identify"
    whole = identify(RIVERS, 6)
    clock.jumps_after(monkeypatch, place, "telling_apart", 1e4)
    found = identify(RIVERS, 6)
    assert found.pairs == whole.pairs[:1]
    assert found.timeline is None
    assert {"pairs-left-out", "no-timeline"} <= set(codes(found))


def test_classes_that_there_is_no_time_to_plan_keep_valid_brackets(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rivers = "riverswim?states=3&success=0.1,0.6&down=0.05,0.3&left_reward=0.3"
    whole = blame(rivers, 8)
    place = "simgap.answers.blame.hidden_losses"
    clock.jumps_after(monkeypatch, place, "_planned", 1e4)
    found = blame(rivers, 8)
    assert found.whole == whole.whole
    assert "time-limit" in codes(found) and "time-limit" not in codes(whole)
    for part, known in zip(found.parameters, whole.parameters, strict=True):
        assert part.share.lower <= known.share.upper
        assert part.share.upper >= known.share.lower


def test_an_audit_without_time_for_the_theory_still_has_its_losses(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.jumps_after(monkeypatch, "simgap.answers.audit.theory", "diameter", 12.0)
    whole, found = audit(RIVERS, 6, thorough=True), audit(RIVERS, 6, time_limit=20.0)
    theory = [each.code for each in found.findings if each.check == "theory"]
    assert theory == ["out-of-time"]
    assert found.verdict == whole.verdict
    assert found.average_gap == whole.average_gap


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("seconds", [0.0, float("nan")])
def test_a_limit_is_a_number_above_zero(name: str, seconds: float) -> None:
    with pytest.raises(InvalidArgument):
        QUESTIONS[name](4, seconds)


def test_the_optimal_value_of_a_long_episode_is_left_out(clock: Clock) -> None:
    found = solve(RIVERS, 10**9, time_limit=0.3)
    for each in found.models:
        assert each.gain.lower is not None
        assert each.value is None and each.value_bounds is None
        assert each.note is not None


def test_a_slow_machine_changes_no_number(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted work decides: a clock that runs ten times as fast is a busy machine."""
    rivers = "riverswim?states=4&success=0.1:0.6:4&left_reward=0.4"
    idle = oracle(rivers, 40, gap_tolerance=0.3, time_limit=600.0)
    clock.speed = 10.0
    busy = oracle(rivers, 40, gap_tolerance=0.3, time_limit=600.0)
    assert idle.estimated_gap is not None
    assert idle.estimated_gap == busy.estimated_gap
    assert idle.models == busy.models
    assert idle.baselines == busy.baselines
    assert idle.notes == busy.notes == ()


def test_simpler_policies_that_there_is_no_memory_for_are_left_out() -> None:
    latent = LatentMDP.uniform(build_instance("garnet_mixture?states=12&members=6"))
    form = loss_form(latent, horizon=200)
    whole = {each.name: each for each in baselines(form, effort=0.02)}
    with memory_limited(resident_bytes() + 4e6):
        found = {each.name: each for each in baselines(form, effort=0.02)}
    assert found["window-2"].limit == "the memory limit"
    assert found["window-2"].policy is None and whole["window-2"].policy is not None
    assert not any(each.limit for each in whole.values())
