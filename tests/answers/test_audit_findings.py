"""Every check of the audit, tripped and not tripped."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from simgap.answers.audit.audit import audit
from simgap.answers.audit.losses import Settings, losses_in_steps
from simgap.answers.audit.numbers import conditioning_finding
from simgap.answers.audit.separation import models_apart
from simgap.answers.audit.ways_back import ways_back
from simgap.answers.weighted_models import weighted_models
from simgap.arrays import BoolArray
from simgap.instances import absorbing_doors, classic_control, riverswim
from simgap.mdp import Details, LatentMDP
from simgap.planning import diameter
from simgap.records import ON_GRID
from simgap.text import counted, listed, model_named, percent_at_least, percent_at_most
from tests.answers.audit_cases import (
    apart_of,
    coin,
    coins,
    latent_of,
    signs,
    with_an_island,
)
from tests.note_codes import codes


def test_a_sound_class_passes_every_check() -> None:
    found = audit(coins(0.1, 0.9))
    assert {each.status for each in found.findings} <= {"ok", "info"}
    assert found.verdict == "in the long run"
    assert found.verdict_certainty == "exact"
    assert found.passed


def test_rows_are_told_with_their_worst_error() -> None:
    P = coin(0.3)
    P[0, 0, 0] += 4e-10  # repaired, and said so
    found = audit(latent_of([P, coin(0.6)], np.eye(2)))
    rows = found.finding("rows")
    assert (rows.code, rows.status) == ("probabilities", "ok")
    assert rows.value is not None and rows.value < 1e-15
    assert codes(found) == ["about-the-class"]  # what was repaired


def test_models_without_weight_are_named() -> None:
    found = audit(coins(0.1, 0.5, 0.9, prior=(0.5, 0.0, 0.5)))
    told_of = found.finding("prior")
    assert told_of.code == "models-without-weight" and "model 1" in told_of.text
    assert audit(coins(0.1, 0.9)).finding("prior").status == "ok"
    uneven = audit(coins(0.1, 0.9, prior=(0.2, 0.8))).finding("prior")
    assert (uneven.code, uneven.value) == ("uneven", 0.2)


def test_models_without_weight_do_not_break_assumptions() -> None:
    """A trap in a model that is never met is no trap."""
    trap = coin(0.3)
    trap[1, :, :] = (0.0, 1.0)
    latent = latent_of(
        [coin(0.1), trap, coin(0.9)], [[0, 0], [1, 1]], prior=(0.5, 0.0, 0.5)
    )
    found = audit(latent)
    assert found.communicating and found.verdict == "in the long run"
    assert found.separation.pair == (0, 2)


def test_a_start_that_depends_on_the_model_is_information() -> None:
    both = [coin(0.1), coin(0.9)]
    plain = latent_of(both, np.eye(2), details=Details(start=[0.5, 0.5]))
    assert audit(plain).finding("start").value == 2.0
    telling = latent_of(both, np.eye(2), details=Details(start=[0, 1]))
    assert audit(telling).finding("start").status == "info"


@pytest.mark.parametrize(
    ("rewards", "status", "code"),
    [
        (np.array([[0.0, 0.0], [1.0, 1.0]]), "ok", "shared"),
        (np.array([[-5.0, 0.0], [1.0, 1.0]]), "ok", "shared"),
        (np.full((2, 2), 3.0), "info", "all-equal"),
        (np.arange(8.0).reshape(2, 2, 2), "warning", "depend-on-model"),
        (np.stack([np.eye(2), np.eye(2)]), "ok", "shared"),
    ],
)
def test_rewards_are_described(rewards: np.ndarray, status: str, code: str) -> None:
    found = audit(latent_of([coin(0.2), coin(0.7)], rewards)).finding("rewards")
    assert (found.status, found.code) == (status, code)
    assert found.value == np.ptp(rewards)
    within = rewards.min() >= 0.0 and rewards.max() <= 1.0
    assert code == "all-equal" or ("scaled" in found.text) == (not within)


def test_a_trap_is_named_and_is_no_more_than_a_warning_at_a_horizon() -> None:
    doors = LatentMDP.uniform(absorbing_doors(2))
    endless, short_run = audit(doors), audit(doors, 5)
    found = endless.finding("communicating")
    assert "and 1 more" in found.text
    here, there = np.array([[[1.0, 0.0]], [[0.0, 1.0]]]), coin(0.5)[:, :1]
    alone = audit(latent_of([here, there], np.zeros((2, 1))))
    assert "more" not in alone.finding("communicating").text
    assert found.status == "fail" and "paid 0" in found.text
    assert endless.verdict == "not promised" and not endless.passed
    assert "paid 0" in endless.reason
    assert short_run.finding("communicating").status == "warning"
    assert endless.diameter.upper == inf and endless.theorem is None


def test_what_restarts_is_said_to_communicate_only_because_of_that() -> None:
    notes = ("terminal=restart: a terminal state leads to the start",)
    both = [coin(0.1), coin(0.9)]
    found = audit(latent_of(both, np.eye(2), details=Details(notes=notes)))
    assert found.finding("communicating").code == "communicating-by-restart"
    plain = audit(coins(0.1, 0.9)).finding("communicating")
    assert plain.code == "communicating"
    trap = np.zeros((2, 2, 2))
    trap[:, :, 1] = 1.0
    notes = ("terminal=absorb: a terminal state is kept for ever",)
    ended = latent_of([trap, trap], np.eye(2), details=Details(notes=notes))
    assert "terminal=restart lets" in audit(ended).finding("communicating").text


def test_states_that_are_never_reached_are_harmless() -> None:
    found = audit(with_an_island())
    told_of = found.finding("communicating")
    assert told_of.code == "unreached-states" and "isle" in told_of.text
    assert told_of.status == "warning" and not found.communicating
    assert found.verdict == "in the long run" and found.passed


def test_models_that_differ_only_where_nobody_gets_are_one_model() -> None:
    kernels = []
    for to in (0, 1):
        P = np.zeros((3, 1, 3))
        P[0, 0, 1] = P[1, 0, 0] = P[2, 0, to] = 1.0
        kernels.append(P)
    shared = latent_of(kernels, [[0.0], [1.0], [0.0]])
    assert apart_of(shared).different == 1 and audit(shared).verdict == "yes"
    rewards = np.zeros((2, 3, 1))
    rewards[0, 0], rewards[1, 1] = 1.0, 1.0
    confused = latent_of(kernels, rewards)
    assert apart_of(confused).confused == ((0, 1),)
    found = audit(confused)
    assert found.verdict == "not promised"
    assert found.finding("separation").code == "move-alike-within-reach"


def test_a_state_that_only_some_models_reach_is_no_trap_but_breaks_the_assumption() -> (
    None
):
    here, there = np.zeros((2, 1, 2)), np.zeros((2, 1, 2))
    here[:, 0, 0] = 1.0
    there[0, 0, 1] = there[1, 0, 0] = 1.0
    found = ways_back(latent_of([here, there], [[0.0], [1.0]]).simulators)
    assert not found.sound and found.broken == 1 and found.closed == ()
    assert found.missed == ()


def closure(edges: BoolArray) -> BoolArray:
    """Return who can get where, by Warshall; everybody is where they are."""
    there = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        there = there | (there[:, [middle]] & there[[middle], :])
    return there


def test_ways_back_are_those_of_trying_all_pairs_of_states() -> None:
    rng = np.random.default_rng(2)
    kinds = set()
    for _ in range(300):
        S, M = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        kernels = (rng.random((M, S, 2, S)) < 0.35).astype(float)
        kernels[kernels.sum(axis=3) == 0.0] = np.eye(S)[0]
        kernels /= kernels.sum(axis=3, keepdims=True)
        latent = latent_of(list(kernels), np.zeros((S, 2)))
        found = ways_back(latent.simulators)
        ways = [closure((kernel > 0.0).any(axis=1)) for kernel in kernels]
        whole = [bool(there.all()) for there in ways]
        met = np.any([there[0] for there in ways], axis=0)  # episodes begin in 0
        inside = [there[met] for there in ways]
        sound = all(
            bool(rows[:, met].all()) and not rows[:, ~met].any() for rows in inside
        )
        assert found.communicating == all(whole)
        assert found.broken == whole.count(False)
        assert found.sound == (all(whole) or (sound and not met.all()))
        if not all(whole):
            assert found.missed == tuple(np.flatnonzero(~met).tolist())
            assert found.member is not None and not whole[found.member]
            there = ways[found.member]
            for states in found.closed:
                for state in states:
                    assert there[0, state]
                    assert np.flatnonzero(there[state]).tolist() == list(states)
        kinds.add((found.communicating, found.sound, bool(found.closed)))
    assert len(kinds) == 4  # whole, missed states only, traps, other models' states


def test_the_diameter_comes_with_its_trip_and_warns_in_short_episodes() -> None:
    rivers = LatentMDP.uniform(riverswim(4, success=(0.3, 0.5)))
    far = diameter(rivers.simulators)
    found = audit(rivers)
    assert found.diameter.lower == far.lower
    assert found.finding("diameter").value == far.lower
    assert audit(rivers, 5).finding("diameter").status == "warning"
    assert audit(rivers, 20).finding("diameter").status == "ok"


def test_the_hardest_pair_is_named_with_its_place_and_steps() -> None:
    found = audit(coins(0.1, 0.8, 0.9))
    pair = found.separation
    assert pair.pair == (1, 2) and pair.pair_names == ("model 1", "model 2")
    assert pair.value == pytest.approx(0.2)
    assert pair.action == 0 and pair.steps is not None
    assert found.finding("separation").code == "told-apart"
    few = audit(coins(0.1, 0.8, 0.9), 2).finding("separation")
    assert (few.code, few.status) == ("longer-than-episode", "info")


def test_one_model_has_nothing_to_tell_apart() -> None:
    found = audit(coins(0.3))
    assert found.separation.value == 2.0 and found.verdict == "yes"
    assert found.finding("separation").status == "ok"


def test_the_same_model_twice_is_harmless() -> None:
    latent = coins(0.2, 0.2, 0.9)
    found, apart = audit(latent), apart_of(latent)
    assert apart.alike == ((0, 1),) and apart.different == 2
    assert found.finding("look-alikes").code == "repeated-models"
    assert found.finding("separation").code == "move-alike"
    assert found.verdict == "in the long run" and found.passed
    assert audit(signs(equal_rewards=True)).verdict == "yes"


def test_models_that_pay_differently_but_move_alike_cost_every_step() -> None:
    """Told, an agent earns 1 a step; not told, a half: a coin flip for ever."""
    found = audit(signs())
    apart = apart_of(signs())
    assert apart.confused == ((0, 1),)
    loss = apart.loss_per_step
    assert loss is not None
    assert loss.lower <= 0.5 <= loss.upper
    assert loss.upper - loss.lower < 1e-8
    assert found.finding("look-alikes").status == "fail"
    assert found.verdict == "not promised" and found.verdict_certainty == "certified"
    assert "0.5" in found.reason
    assert audit(signs(), 4).finding("look-alikes").status == "warning"


def test_models_that_pay_differently_for_the_same_thing_cost_nothing() -> None:
    found = audit(signs(mirrored=False))
    assert found.finding("look-alikes").code == "pay-differently-harmless"
    assert found.verdict == "in the long run" and found.passed


def test_the_loss_of_look_alikes_is_the_limit_of_the_exact_gap_per_step() -> None:
    latent = signs()
    gaps = [audit(latent, steps).average_gap for steps in (6, 12)]
    (first, second) = (each.upper for each in gaps if each is not None)
    assert (second - first) / 6 == pytest.approx(0.5, abs=1e-9)


def test_smoothness_looks_at_neighbours() -> None:
    assert audit(coins(0.1, 0.9), 3).finding("smoothness").status == "info"
    named = audit(coins(0.1, 0.5, 0.9, named=True))
    assert named.finding("smoothness").code == "needs-horizon"
    dense = audit(coins(0.8, 0.85, 0.9, named=True), 3).finding("smoothness")
    assert dense.status == "ok" and dense.value == pytest.approx(0.0, abs=1e-9)
    coarse = coins(0.1, 0.9, named=True, prior=(0.4, 0.6))
    jump, lost = (
        audit(coarse, 2).finding("smoothness"),
        losses_in_steps(coarse, 2, Settings()),
    )
    assert lost.gaps is not None and lost.stakes is not None
    wanted = abs(float(np.subtract(*lost.gaps))) / lost.stakes.average.lower
    assert jump.value == pytest.approx(wanted)
    assert (jump.code, jump.status) == ("jumps", "warning")


def test_tiny_probabilities_and_large_spans_cost_digits() -> None:
    hair = coin(0.3)
    hair[0, 0] = (1.0 - 1e-12, 1e-12)
    found = audit(latent_of([hair, coin(0.5)], np.eye(2))).finding("digits")
    assert (found.code, found.value) == ("small-probability", 1e-12)
    simulators = coins(0.1, 0.9).simulators
    doubts = {
        "large-values": {"spans": np.array([1e11]), "residual": 0.0},
        "unsolved-equations": {"spans": None, "residual": 1e-3},
    }
    for code, numbers in doubts.items():
        told_of = conditioning_finding(simulators, rounding=None, **numbers)  # type: ignore[arg-type]
        assert (told_of.status, told_of.code) == ("warning", code)
    coarse = conditioning_finding(simulators, spans=None, residual=0.0, rounding=0.01)
    assert (coarse.status, coarse.code) == ("warning", "rounding")
    fine = conditioning_finding(simulators, spans=None, residual=0.0, rounding=1e-12)
    assert fine.status == "ok"


def test_a_theorem_that_says_nothing_yet_says_from_when_on() -> None:
    found = audit(coins(0.1, 0.9), 50)
    theorem = found.theorem
    assert theorem is not None and theorem.vacuous
    told_of = found.finding("theory")
    assert (told_of.code, told_of.value) == ("vacuous", theorem.bound)
    late = audit(coins(0.1, 0.9), 10 * int(theorem.non_vacuous_from or 0))
    assert late.theorem is not None and not late.theorem.vacuous
    assert late.finding("theory").code == "bounded"
    endless = audit(coins(0.1, 0.9)).finding("theory")
    assert endless.code == "applies" and endless.value is not None


def test_no_theorem_holds_for_look_alikes_with_their_own_rewards() -> None:
    found = audit(signs(), 4).finding("theory")
    assert (found.code, found.status) == ("none-applies", "warning")


def test_groups_are_counted_among_models_with_weight() -> None:
    latent = coins(0.2, 0.5, 0.2, 0.9, prior=(0.25, 0.0, 0.5, 0.25))
    models = weighted_models(latent)
    apart = models_apart(models, ways_back(models.simulators))
    assert apart.alike == ((0, 1),)
    assert tuple(models.index) == (0, 2, 3)
    assert models.names == ("model 0", "model 2", "model 3")


def test_sentences_stay_short() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"
    assert len(model_named("model" + "x" * 200)) == 40
    assert model_named("a") == "model a" and model_named("model 1") == "model 1"
    assert percent_at_least(0.123456) == "12.3 %"
    assert percent_at_most(0.123456) == "12.4 %"
    assert counted(1, "model") == "1 model" and counted(2, "model") == "2 models"


@pytest.mark.parametrize(
    ("cells", "code"), [(5, "grid-too-coarse"), (61, "on-grid"), (0, "")]
)
def test_a_table_on_a_grid_is_not_the_simulator(cells: int, code: str) -> None:
    """The noise of the grid is told as a part of the motion; tables have none."""
    from simgap.answers.audit.grid import grid_findings

    if cells == 0:
        assert grid_findings(riverswim(3, (0.2, 0.5))) == ()
        return
    table = classic_control("Pendulum-v1", grid={"mass": (0.7, 1.3)}, cells=cells)
    (found,) = grid_findings(table.simulators)
    assert found.code == code
    ratios = np.array(table.one_step.spread) / np.array(table.one_step.motion)
    assert found.value == pytest.approx(ratios.max(), rel=0.01)


def test_a_verdict_on_a_grid_says_so() -> None:
    """And a grid that adds more noise than the simulator moves decides nothing."""
    for cells, horizon in ((5, 3), (5, None), (21, 3), (21, None)):
        table = classic_control(
            "Pendulum-v1", grid={"mass": (0.7, 1.3)}, cells=cells, actions=2
        )
        found = audit(LatentMDP.uniform(table.simulators), horizon)
        assert found.findings[0].check == "grid"
        assert found.verdict_certainty == ON_GRID
        coarse = found.verdict == "undecided: grid too coarse"
        assert coarse == (max(table.origin.noise.values()) > 1.0) == (cells == 5)
        assert found.passed


def test_one_model_on_a_coarse_grid_hides_nothing() -> None:
    table = classic_control("Pendulum-v1", cells=5, actions=2)
    assert audit(LatentMDP.uniform(table.simulators), 3).verdict == "yes"


def test_one_model_is_told_that_nothing_is_hidden() -> None:
    for horizon in (None, 5):
        found = audit(LatentMDP.uniform(riverswim(3, 0.5)), horizon)
        assert found.verdict == "yes"
        assert found.finding("prior").code == "one-model"
        assert found.finding("prior").value == 1.0
        assert "one model" in found.headline
