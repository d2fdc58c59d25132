"""Two questions with one name: every option reaches the one that is meant."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers.time_limits import in_time
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, Outcome
from tests.answers.width_cases import two_parameters

ADAPT: Any = import_module("simgap.answers.adapt.adapt")
STUDY: Any = import_module("simgap.answers.study.entry")
PARTS: Any = import_module("simgap.answers.study.study")
LIMITS: Any = import_module("simgap.answers.time_limits")
PLANNED: Any = import_module("simgap.answers.planned_class")
OF_SIMULATOR = {  # options of a simulator, which a class refuses, or shares
    "adapt": {"rate", "delay", "false_alarm", "transfer", "out", "seed"},
    "study": {
        *("noise", "seeds", "time_budget", "out", "fresh", "seed", "workers"),
        *("command", "draw", "announce", "progress", "horizon"),
    },
}
ONLY = {
    "adapt": {"rate", "delay", "transfer", "out"},
    "study": {"noise", "seeds", "time_budget", "workers", "announce"},
}


def handed_on(
    home: Any, name: str, monkeypatch: pytest.MonkeyPatch, *given: Any, **more: Any
) -> dict[str, Any]:
    """Return what the question of a name is asked, by the names of its arguments."""
    met: dict[str, Any] = {}
    shape = signature(getattr(home, name))

    def asked(*args: Any, **named: Any) -> str:
        met.update(shape.bind(*args, **named).arguments)
        return name

    monkeypatch.setattr(home, name, asked)
    verb = name.split("_", maxsplit=1)[0]
    assert getattr(home, verb)(*given, **more) == name
    return met


def options_of(home: Any, verb: str, kind: str) -> dict[str, Any]:
    """Return a value of its own for each option that a kind of question has."""
    every = set(signature(getattr(home, verb)).parameters)
    every -= {"model", "horizon", "log", "randomize"}
    ours = every & OF_SIMULATOR[verb] if kind == "simulator" else every - ONLY[verb]
    return {name: f"value of {name}" for name in ours}


@pytest.mark.parametrize("verb", ["adapt", "study"])
def test_options_of_a_class_reach_it(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = ADAPT if verb == "adapt" else STUDY
    more = {**options_of(home, verb, "class"), "log": "real.csv"}
    met = handed_on(home, f"{verb}_class", monkeypatch, "model", 5, **more)
    assert met == {"model": "model", "horizon": 5, **more}


@pytest.mark.parametrize("verb", ["adapt", "study"])
def test_options_of_a_simulator_reach_it(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = ADAPT if verb == "adapt" else STUDY
    more = options_of(home, verb, "simulator")
    if verb == "adapt":
        more["log"] = "real.csv"
    if verb == "study":
        more |= {"horizon": 9, "out": Path("there")}
    met = handed_on(
        home, f"{verb}_simulator", monkeypatch, "servo", randomize="a=1..2", **more
    )
    assert met == {"simulator": "servo", "randomize": "a=1..2", **more}


def test_a_study_has_its_usual_tolerance_and_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met = handed_on(STUDY, "study_class", monkeypatch, "model", 5)
    assert (met["gap_tolerance"], met["time_limit"]) == (0.1, 30.0)
    assert (met["agents"], met["fresh"]) == (True, False)


@pytest.mark.parametrize("verb", ["adapt", "study"])
def test_options_of_the_other_kind_are_refused_one_by_one(verb: str) -> None:
    home: Any = ADAPT if verb == "adapt" else STUDY
    ask, log = getattr(home, verb), {"log": "real.csv"} if verb == "adapt" else {}
    for name in ONLY[verb] - {"workers", "announce"}:
        with pytest.raises(InvalidArgument, match=name):
            ask("model", 5, **log, **{name: "given"})
    every = set(signature(ask).parameters) - {"model", "randomize", "time_limit"}
    every -= {*OF_SIMULATOR[verb], "agents", "judged", "progress", "log"}
    every |= {"horizon"} if verb == "adapt" else {"time_limit", "log"}
    for name in every:
        with pytest.raises(InvalidArgument, match=name):
            ask("servo", randomize="a=1..2", **log, **{name: "given"})


def test_the_log_of_a_simulator_is_a_file_or_a_real_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for log in ("real.csv", Path("real.csv")):
        more = {"log": log, "randomize": "a=1..2"}
        with monkeypatch.context() as patch:
            met = handed_on(ADAPT, "adapt_simulator", patch, "servo", **more)
        assert met["log"] == log
    with pytest.raises(InvalidArgument, match="BytesIO"):
        ADAPT.adapt("servo", log=BytesIO(), randomize="a=1..2")


# a study of a class


def asked(**changes: Any) -> Any:
    usual: dict[str, Any] = {
        "given": Stand(name="rivers", latent=two_parameters()),
        "horizon": 6,
        "folder": Path("there"),
        "solver": AutoOracle(seed=3, gap_tolerance=0.2),
        "seconds": 30.0,
        "log": None,
        "agents": True,
        "command": "simgap study",
        "tell": lambda word: None,
    }
    return PARTS._Asked(**{**usual, **changes})


def test_slow_answers_share_the_plan_and_some_have_more_time() -> None:
    """Blame and width plan several classes: four times the limit of one."""
    given, result = asked(log="the log"), object()
    parts = list(PARTS._slow_parts(given, Stand(result=result)))
    assert [name for name, _, _ in parts] == [
        "blame",
        "width-success",
        "width-mass",
        "identify",
        "adapt",
    ]
    for name, _, make in parts:
        assert make.args[:2] == (given.given, 6)
        assert make.keywords["oracle"] is result
        assert make.keywords["progress"] is given.tell
        if name == "adapt":
            assert make.keywords["solver"] is given.solver
            assert make.args[2:] == ("the log",)
        else:
            assert make.keywords["seed"] == 3
            longer = name != "identify"
            assert make.keywords["time_limit"] == (120.0 if longer else 30.0)
    assert parts[1][2].args[2:] == ("success",)
    without = PARTS._slow_parts(asked(), Stand(result=result))
    assert [name for name, _, _ in without][-1] == "identify"


def test_a_command_names_what_is_not_usual() -> None:
    alone = asked(seconds=60.0, solver=AutoOracle(seed=0))
    assert alone.verb("gap") == "simgap gap rivers -H 6"
    assert asked().verb("oracle", "--x") == (
        "simgap oracle rivers -H 6 --x --time-limit 30 --seed 3"
    )
    assert asked(given=Stand(name="")).verb("gap") == ""


@pytest.mark.parametrize(
    ("verdict", "outcome", "plans"),
    [
        ("undecided", Outcome.SOLVED, 2),
        ("undecided", Outcome.OUT_OF_TIME, 1),
        ("yes", Outcome.SOLVED, 1),
    ],
)
def test_a_finer_plan_is_made_if_it_can_decide(
    verdict: str, outcome: Outcome, plans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[Any] = []

    def planned(given: Any) -> Any:
        met.append(given.solver.gap_tolerance)
        return Stand(result=Stand(outcome=outcome)), Stand(verdict=verdict)

    monkeypatch.setattr(PARTS, "_planned", planned)
    after, _, _ = PARTS._planned_and_judged(asked())
    assert met == pytest.approx([0.2, 0.02][:plans])
    assert after.solver.gap_tolerance == met[-1]


# time


@pytest.mark.parametrize("limit", [0.5, 2.0, 60.0])
def test_all_that_follows_a_plan_ends_soon_after_it(limit: float) -> None:
    """Within one and a half times the limit and the two seconds of a start."""
    whole = LIMITS.whole_time(limit)
    assert whole == pytest.approx(1.3 * limit + 0.3)
    assert limit < whole <= 1.5 * limit + 2.0


@pytest.mark.parametrize(
    ("limit", "started", "whole"),
    [
        (10.0, 0.5, 13.3),
        (10.0, 1.25, 13.05),
        (10.0, 9.0, 12.3),
        (2.0, 1.25, 2.65),
        (2.0, 9.0, 2.4),
    ],
)
def test_a_command_that_started_slowly_has_less_time_left(
    limit: float, started: float, whole: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But always a tenth more than its limit, so that a plan is followed by words."""
    began = 100.0
    monkeypatch.setattr(LIMITS.compile_news, "command_began", began)
    monkeypatch.setattr(LIMITS, "perf_counter", lambda: began + started)
    LIMITS._late.cache_clear()
    try:
        assert LIMITS.whole_time(limit) == pytest.approx(whole)
        monkeypatch.setattr(LIMITS, "perf_counter", lambda: began + 99.0)
        assert LIMITS.whole_time(limit) == pytest.approx(whole)  # counted once
    finally:
        LIMITS._late.cache_clear()


def test_a_limit_that_is_given_or_usual_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[float] = []
    right = LIMITS.time_limited

    def noted(seconds: float) -> Any:
        met.append(seconds)
        return right(seconds)

    monkeypatch.setattr(LIMITS, "time_limited", noted)

    @in_time
    def question(what: str, *, time_limit: float | None = 10.0) -> str:
        return what

    assert question("a") == "a" and question("b", time_limit=5.0) == "b"
    assert question("c", time_limit=None) == "c"
    assert met == [LIMITS.whole_time(10.0), LIMITS.whole_time(5.0), float("inf")]


def test_progress_of_a_plan_tells_its_bracket() -> None:
    told: list[str] = []
    follow = PLANNED.following(told.append)
    follow(Stand(lower=0.25, upper=0.5, seconds=3.2, doing="searching"))
    assert told == ["3 s: loss in [0.25, 0.5], searching"]
    assert PLANNED.following(None) is None
    latent = LatentMDP.uniform(build_instance("riverswim?states=3&success=0.2,0.8"))
    told.clear()
    solver = AutoOracle(gap_tolerance=0.2, episodes=2)
    PLANNED.planned_oracle(latent, 6, solver=solver, progress=told.append)
    assert told


def noted(monkeypatch: pytest.MonkeyPatch, name: str, answer: Any) -> dict[str, Any]:
    """Let a question of a study have an answer; return what it is asked."""
    met: dict[str, Any] = {}

    def ask(*given: Any, **more: Any) -> Any:
        met.update(more, given=given)
        return answer

    monkeypatch.setattr(PARTS, name, ask)
    return met


@pytest.mark.parametrize("agents", [True, False])
def test_gap_and_audit_of_a_study_rest_on_its_plan(
    agents: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, oracle = asked(agents=agents), Stand()
    compared = noted(monkeypatch, "compare", "gap")
    judged = noted(monkeypatch, "audit", "audit")
    planned = noted(monkeypatch, "planned_and_compared", oracle)
    monkeypatch.setattr(PARTS, "planned_class", lambda one: (one, "planned"))
    monkeypatch.setattr(PARTS, "with_command", lambda *record: record)
    found, command = PARTS._gap(given, oracle)
    assert found == "gap"
    assert command == (
        "simgap gap rivers -H 6 --horizons all"
        f"{'' if agents else ' --no-agents'} --time-limit 30 --seed 3"
    )
    assert compared == {
        "given": (given.given, 6),
        "horizons": "all",
        "agents": agents,
        "gap_tolerance": 0.2,
        "time_limit": 30.0,
        "seed": 3,
        "oracle": oracle,
        "progress": given.tell,
    }
    assert PARTS._planned(given) == (oracle, ("audit", "simgap study"))
    assert planned["given"] == (given.given, 6, given.solver, given.tell)
    assert judged == {
        "given": (given.given, 6),
        "time_limit": 30.0,
        "seed": 3,
        "planned": (oracle, "planned"),
        "progress": given.tell,
    }


def test_policies_of_a_study_are_named_by_its_oracle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved = noted(monkeypatch, "saved_policies", ("one", "other"))
    monkeypatch.setattr(PARTS, "replace", lambda record, **more: more)
    monkeypatch.setattr(PARTS, "with_command", lambda *record: record)
    given = asked(folder=Path("there"))
    kept, command = PARTS._with_policies(given, Stand(result="result"))
    assert kept == {"policy_file": "one", "belief_policy_file": "other"}
    assert command.startswith("simgap oracle rivers -H 6 --gap-tolerance 0.2 ")
    assert saved["given"] == ("result", Path("there/policy.simgap"), None)


def test_an_answer_is_defined_by_the_plan_and_its_own_log() -> None:
    oracle = Stand(average_gap=1.0, result=Stand(gap_intervals=(2.0,)))
    given = asked(log=Stand(hash="abc", notes=("note",)))
    parts = PARTS._defining(given, "blame", oracle)
    assert parts["answer"] == "blame" and parts["log"] is None
    assert parts["bracket"] == (1.0, (2.0,)) and parts["horizon"] == 6
    assert PARTS._defining(given, "adapt", oracle)["log"] == ("abc", ("note",))
    assert PARTS._defining(asked(), "adapt", oracle)["log"] is None
