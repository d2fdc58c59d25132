"""What is asked reaches those who compute it: options, seeds, limits and progress.

Those who compute are replaced by ones that note what they are given and stop there.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers import audit, blame, compare, identify
from simgap.intervals import Certified
from simgap.oracle import Outcome, domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from tests.answers.audit_cases import coins

LATENT = coins(0.2, 0.9, named=True)
H = 4


class Told(Exception):
    """What a function was given."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__()
        self.given, self.more = given, more


def stop(*given: Any, **more: Any) -> Any:
    raise Told(*given, **more)


def tell(word: str) -> None:
    pass


def planned() -> Any:
    solver = ExactOracle(episodes=2)
    return domain_randomization_oracle(LATENT, horizon=H, solver=solver)


def test_identify_plans_and_follows_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asking: Any = import_module("simgap.answers.identify.identify")
    options: dict[str, Any] = {"gap_tolerance": 0.5, "time_limit": 9.0, "seed": 5}
    monkeypatch.setattr(asking, "planned_oracle", stop)
    with pytest.raises(Told) as told:
        identify(LATENT, H, progress=tell, **options)
    assert told.value.given == (LATENT, H)
    assert told.value.more["progress"] is tell
    solver = told.value.more["solver"]
    assert (solver.gap_tolerance, solver.time_limit) == (0.5, 9.0)
    assert (solver.seed, solver.episodes) == (5, 2)
    monkeypatch.setattr(asking, "posterior_timeline", stop)
    oracle = planned()
    with pytest.raises(Told) as told:
        identify(LATENT, H, oracle=oracle, episodes=77, seed=5)
    assert told.value.given == (LATENT, oracle.policy)
    assert told.value.more == {"episodes": 77, "seed": 5}
    endless: Any = Stand(horizon=None, prior=LATENT.prior)  # has no graph to follow
    assert identify(LATENT, oracle=endless).timeline is None
    monkeypatch.setattr(asking, "telling_apart", stop)
    with pytest.raises(Told) as told:
        identify(LATENT, error=0.125)
    assert told.value.given[1:] == (0, 1) and told.value.more["error"] == 0.125


def test_compare_plans_and_runs_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asking: Any = import_module("simgap.answers.compare")
    options: dict[str, Any] = {"gap_tolerance": 0.5, "time_limit": 9.0, "seed": 5}
    monkeypatch.setattr(asking, "planned_and_compared", stop)
    with pytest.raises(Told) as told:
        compare(LATENT, H, progress=tell, **options)
    _, horizon, solver, progress = told.value.given
    assert (horizon, progress) == (H, tell)
    assert (solver.gap_tolerance, solver.time_limit, solver.seed) == (0.5, 9.0, 5)
    monkeypatch.setattr(asking, "policy_gaps", stop)

    def evaluator(**more: Any) -> Any:
        with pytest.raises(Told) as told:
            compare(LATENT, H, policies=["random"], **more)
        return told.value.given[3]

    found = evaluator(seeds=50, seed=5, half_width=0.25, threads=3)
    assert (found.episodes, found.seed, found.half_width) == (50, 5, 0.25)
    assert (found.threads, found.most_episodes) == (3, 10**6)
    assert not found.guaranteed and evaluator(seeds=50, guaranteed=True).guaranteed
    assert evaluator(seeds=29).guaranteed and not evaluator(seeds=30).guaranteed
    assert evaluator(seeds=2 * 10**6).most_episodes == 2 * 10**6
    assert evaluator(seeds=50).threads >= 1

    def wanted(**more: Any) -> list[str]:
        names: list[str] = []

        def row(latent: Any, name: str, *_: Any) -> Any:
            names.append(name)
            raise asking.SimgapError("not here", hint="")

        monkeypatch.setattr(asking, "policy_gaps", row)
        monkeypatch.setattr(asking, "_worth_planning", lambda *_: False)
        found = compare(LATENT, H, **more)
        assert list(found.left_out) == names and found.policies == ()
        assert (found.memory, found.value_of_memory) == (None, None)
        return names

    assert len(wanted()) == 12
    assert wanted(agents=False) == [
        "oracle", "oracle-belief", "memoryless", "mean-model", "single-simulator",
        "minimax", "random",
    ]  # fmt: skip


def test_shorter_horizons_are_planned_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    asking: Any = import_module("simgap.answers.compare")
    asked: list[Any] = []

    def over(latent: Any, horizons: Any, **more: Any) -> Any:
        asked.append((horizons, more))
        return (Stand(horizon=2, outcome=Outcome.OUT_OF_TIME),)

    monkeypatch.setattr(asking, "over_horizons", over)
    monkeypatch.setattr(asking, "measured_class", lambda latent, horizon: horizon)
    notes = asking.Notes()
    solver = asking.AutoOracle(seed=5)
    found = asking._grown(LATENT, (2, 3), solver, "known", notes, tell)
    assert [each.horizon for each in found] == [2]
    ((horizons, more),) = asked
    assert (horizons, more["measured"], more["planned"]) == ((2, 3), 3, "known")
    assert (more["solver"].episodes, more["solver"].seed) == (100, 5)
    assert more["tell"] is tell
    assert [each.code for each in notes] == ["planning-cut-short"]
    monkeypatch.setattr(asking, "trained_models", lambda latent: (0,))
    asking._grown(LATENT, (2, 3), solver, None, notes, tell)
    assert "some-models" in [each.code for each in notes]


def test_blame_plans_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asking: Any = import_module("simgap.answers.blame.blame")
    monkeypatch.setattr(asking, "whole_class_planned", stop)
    options: dict[str, Any] = {"gap_tolerance": 0.5, "time_limit": 9.0, "seed": 5}
    oracle = planned()
    with pytest.raises(Told) as told:
        blame(LATENT, H, oracle=oracle, progress=tell, **options)
    parts, horizon, effort, report = told.value.given
    assert parts.names == ("chance",)
    assert (horizon, report) == (H, tell)
    assert (effort.gap_tolerance, effort.time_limit, effort.seed) == (0.5, 9.0, 5)
    assert told.value.more == {"alone": True, "oracle": oracle}
    monkeypatch.setattr(asking, "nominal_plan", stop)
    with pytest.raises(Told) as told:
        blame(LATENT, H, nominal=1)
    assert told.value.given[1:] == (1, H)


@pytest.mark.parametrize(("permutations", "pairs"), [(4, 2), (5, 3), (100, 50)])
def test_blame_samples_pairs_of_orders(
    permutations: int, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking: Any = import_module("simgap.answers.blame.blame")
    monkeypatch.setattr(asking, "whole_class_planned", lambda *_, **__: "losses")
    monkeypatch.setattr(asking, "_exact", lambda *_: False)
    monkeypatch.setattr(asking, "estimated_shares", stop)
    with pytest.raises(Told) as told:
        blame(LATENT, H, permutations=permutations)
    assert told.value.given == ("losses",)
    assert told.value.more == {"pairs": pairs, "confidence": 0.95}


def test_an_audit_is_made_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asking: Any = import_module("simgap.answers.audit.audit")
    known: Any = Stand()
    options: dict[str, Any] = {"acceptable": 0.25, "time_limit": 9.0, "seed": 5}
    monkeypatch.setattr(asking, "losses_in_steps", stop)
    with pytest.raises(Told) as told:
        audit(LATENT, H, planned=known, progress=tell, thorough=True, **options)
    settings = told.value.given[2]
    assert told.value.given[:2] == (LATENT, H) and settings.thorough
    assert (settings.acceptable, settings.time_limit) == (0.25, 9.0)
    assert settings.seed == 5
    more = told.value.more
    assert more["planned"] is known and more["progress"] is tell
    assert more["promised"] > 0.0
    monkeypatch.setattr(asking, "theory", stop)
    for thorough in (False, True):
        with pytest.raises(Told) as told:
            audit(LATENT, H, thorough=thorough)
        assert told.value.more == {"horizon": H, "thorough": thorough}


def test_an_audit_takes_what_is_planned_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    losing: Any = import_module("simgap.answers.audit.losses")
    oracle = planned()
    known: Any = Stand(
        oracle=oracle,
        memoryless=Stand(
            average_ends=Certified(1.0, 2.0), least=None, gaps=oracle.gaps, starts=3
        ),
        value_of_memory=Certified(0.25, 0.5),
    )
    monkeypatch.setattr(losing, "planned_oracle", stop)
    monkeypatch.setattr(losing, "search_without_memory", stop)
    found = losing.losses_in_steps(LATENT, H, losing.Settings(), planned=known)
    assert found.average_gap == oracle.average_gap
    assert (found.worth, found.searched) == (Certified(0.25, 0.5), 3)
    assert (found.gaps == oracle.gaps).all() and found.outcome is oracle.outcome
    assert found.memoryless_gap.upper == 2.0 and found.planned == 2
    assert found.worst.gap == oracle.gaps.max()
    monkeypatch.undo()
    monkeypatch.setattr(losing, "search_without_memory", stop)
    for limit, effort in ((9.0, 0.5), (0.25, 0.25)):
        settings = losing.Settings(time_limit=limit, seed=5)
        with pytest.raises(Told) as told:
            losing.losses_in_steps(LATENT, H, settings)
        assert told.value.given[1:] == (effort, 5)
