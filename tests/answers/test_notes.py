"""Notes, findings and words: each is said where its condition holds, and nowhere else.

Stand-ins have what a sentence reads and no more, so that every condition is met at its
very boundary.
"""

from __future__ import annotations

from importlib import import_module
from math import inf
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.audit import numbers, separation
from simgap.answers.audit.smoothness import smoothness_finding
from simgap.answers.study import verdicts
from simgap.answers.train.asked import asked_training
from simgap.answers.weighted_models import weighted_models
from simgap.answers.width import sentences
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.intervals import Certified, Estimate
from simgap.mdp import Details, LatentMDP
from simgap.oracle import Outcome
from tests.answers.audit_cases import apart_of, coin, coins, latent_of, signs

blame_run: Any = import_module("simgap.answers.blame.blame_run")
identify: Any = import_module("simgap.answers.identify.identify")
identify_run: Any = import_module("simgap.answers.identify.identify_run")
run: Any = import_module("simgap.answers.run.run")
adapt: Any = import_module("simgap.answers.adapt.simulator")
class_facts: Any = import_module("simgap.answers.class_facts")


def between(low: float, high: float) -> Estimate:
    return Estimate(0.5 * (low + high), low, high, 0.95)


def codes(notes: Any) -> list[str]:
    return [each.code for each in notes]


# trained policies


@pytest.mark.parametrize(
    ("total", "share", "difference", "expected"),
    [
        ((1.0, 2.0), (0.0, 1.0), (-1.0, 0.0), []),
        ((0.25, 0.5), (0.0, 0.5), (-1.0, 0.0), []),
        ((0.0, 2.0), (0.5, 1.0), (0.5, 1.0), ["nothing-to-blame"]),
        ((-2.0, 0.0), (0.5, 1.0), (0.5, 1.0), ["nothing-to-blame"]),
        ((-2.0, -1.0), (0.5, 1.0), (0.5, 1.0), ["information-hurts"]),
        ((1.0, 2.0), (-1.0, -0.1), (0.5, 1.0), ["negative-share"]),
        ((1.0, 2.0), (-1.0, 0.0), (-1.0, -0.1), ["masking-costs"]),
    ],
)
def test_notes_about_blame(
    total: Any, share: Any, difference: Any, expected: list[str]
) -> None:
    shares = Stand(
        total=Stand(value=between(*total)),
        parameters=[Stand(name="mass", share=between(*share))],
    )
    check = Stand(told="nothing", against="gru", difference=between(*difference))
    assert codes(blame_run._notes(shares, [check])) == expected


@pytest.mark.parametrize(
    ("settled", "upper", "shuffled", "expected"),
    [
        (2, 0.0, 0.1, []),
        (None, 0.0, 0.0, []),
        (1, 0.0, 0.0, ["nothing-lost"]),
        (2, -0.1, 0.0, ["memory-beats-informed"]),
        (2, 0.0, 0.2, ["shuffled-is-read"]),
    ],
)
def test_notes_about_what_a_policy_found_out(
    settled: int | None, upper: float, shuffled: float, expected: list[str]
) -> None:
    lost = Stand(value=Stand(settled=settled, upper=np.array([1.0, upper])))
    read = Stand(name="mass", shuffled=[None, between(shuffled, 1.0)])
    assert codes(identify_run._notes(lost, [read])) == expected
    assert codes(identify_run._notes(None, [])) == [
        "no-informed-policy",
        "memory-not-read",
    ]


@pytest.mark.parametrize(
    ("total", "leader", "word", "code"),
    [
        ((0.0, 2.0), "mass", "none", "nothing-to-blame"),
        ((0.1, 2.0), "mass", "mass", "parameter-leads"),
        ((0.1, 2.0), None, "mass or gain", "parameters-overlap"),
    ],
)
def test_a_study_says_who_is_to_blame(
    total: Any, leader: str | None, word: str, code: str
) -> None:
    every = [Stand(name=name) for name in ("mass", "gain", "drag")]
    record: Any = Stand(
        total=between(*total), leader=leader, parameters=every, headline="So."
    )
    found = verdicts._blamed(record)
    assert (found.word, found.code, found.text) == (word, code, "So")


def test_a_study_says_how_long_and_how_wide() -> None:
    given: Any = Stand(headline="So.", reference=None, settled=None)
    assert verdicts._identified(given).code == "not-compared"
    given.reference = "informed"
    assert verdicts._identified(given).code == "never-settles"
    given.settled = 1
    assert verdicts._identified(given) == verdicts.Found("1 step", "settles", "So")
    wide: Any = Stand(reason="So.", recommended=None)
    assert verdicts._wide(wide).code == "width-undecided"
    wide.recommended = 0.5
    assert verdicts._wide(wide) == verdicts.Found(
        "0.5 of the ranges", "width-enough", "So"
    )
    alone = verdicts.only_parameter("mass", "blame.json")
    assert (alone.code, alone.answer, alone.record) == (
        "one-parameter",
        "mass",
        "blame.json",
    )


def test_an_informed_policy_is_told_something_that_varies() -> None:
    def code(**given: Any) -> str | None:
        usual = {"randomize": "gain=0.5..1.5", "memory": "none", "informed": True}
        more = {"nominal": False, "at": None, "horizon": 20, "noise": ""}
        with pytest.raises(InvalidArgument) as caught:
            asked_training("servo", **{**usual, **more, "checked": False, **given})
        return caught.value.code

    assert code(nominal=True) == code(at="gain=1") == "nothing-to-tell"
    assert code(randomize="gain=1") == "nothing-to-tell"
    assert code(informed=False, at="gain=0.5..1.0") == "not-one-value"


@pytest.mark.parametrize(
    ("delay", "stated", "effective", "settled", "expected"),
    [
        (1, None, 400.0, True, ["delay-found"]),
        (1, 1, 400.0, True, ["delay-found"]),
        (1, 0, 400.0, True, ["delay-differs"]),
        (2, None, 400.0, True, ["delay-longest"]),
        (2, 1, 400.0, True, ["delay-differs"]),
        (1, None, 400.0, False, ["delay-found", "few-samples"]),
        (1, None, adapt.LEAST_SAMPLES, False, ["delay-found", "few-samples"]),
        (1, None, 0.5, False, ["delay-found", "too-few-samples"]),
    ],
)
def test_findings_about_delays_and_samples(
    delay: int, stated: int | None, effective: float, settled: bool, expected: list[str]
) -> None:
    found = Stand(
        fit=Stand(channel=None),
        at_edge=lambda at: False,
        seen=[1],
        delay=delay,
        delays=(0, 1, 2),
        delay_chances=np.array([0.0, 0.75, 0.25]),
        samples=Stand(effective=effective, settled=settled),
    )
    usual = ["nothing-left", "inside", "one-length"]
    findings = adapt._findings(found, ["mass"], stated, 0.01)
    assert codes(findings) == usual + expected
    assert findings[3].value == 0.75


@pytest.mark.parametrize(
    ("p_value", "edge", "apart", "delays", "expected"),
    [
        (0.01, False, False, False, ["no-misfit-seen", "inside", "lengths-agree"]),
        (0.009, False, False, False, ["outside-class", "inside", "lengths-agree"]),
        (0.5, True, False, False, ["no-misfit-seen", "at-edge", "lengths-agree"]),
        (0.5, False, True, False, ["no-misfit-seen", "inside", "lengths-disagree"]),
        (0.5, False, False, True, ["no-misfit-seen", "inside", "lengths-disagree"]),
    ],
)
def test_findings_about_fit_edges_and_lengths(
    p_value: float, edge: bool, apart: bool, delays: bool, expected: list[str]
) -> None:
    fit = Stand(channel=0, p_value=p_value, explained=0.2, drag={0: 0.1})
    found = Stand(
        fit=fit,
        at_edge=lambda at: edge,
        disagree=lambda at: apart,
        delays_disagree=delays,
        seen=[1, 5],
    )
    names = ["mass"]
    findings = [adapt._fit(found, 0.01), adapt._edges(found, names)]
    assert codes([*findings, adapt._lengths(found, names)]) == expected


def test_what_to_measure_next_is_least_known_or_costs_most() -> None:
    found = Stand(remaining=lambda at: (0.5, 0.4)[at])
    assert adapt._next(found, ["mass", "gain"], {}) == "mass"
    assert adapt._next(found, ["mass", "gain"], {"mass": 0.1, "gain": 0.9}) == "gain"
    assert adapt._next(found, ["mass", "gain"], {"gain": 0.1}) == "gain"
    known = Stand(remaining=lambda at: 0.01)
    assert adapt._next(known, ["mass"], {}) is None
    assert adapt._next(Stand(remaining=lambda at: 0.011), ["mass"], {}) == "mass"


@pytest.mark.parametrize(
    ("row", "names", "expected"),
    [
        (0.02, ("mass",), []),
        (None, ("mass",), []),
        (0.04, ("mass",), ["rate-differs"]),
        (0.01, ("mass",), ["rate-differs"]),
        (0.04, ("mass", "dt"), []),
    ],
)
def test_rows_of_a_log_are_as_long_as_a_step(
    row: float | None, names: tuple[str, ...], expected: list[str]
) -> None:
    simulator = Stand(seconds=0.02, name="servo")
    found = list(adapt._rates(row, simulator, Stand(names=names)))
    assert codes(found) == expected
    if row is not None and found:
        assert found[0].value == row / 0.02


# classes of models


def test_findings_about_rows_priors_and_starts_say_how_many() -> None:
    found = numbers._rows(coins(0.2, 0.7, 0.9).simulators)
    assert found.text.startswith("all 12 rows")  # 3 models, 2 states, 2 actions
    rare = numbers._prior(coins(0.2, 0.7, 0.9, prior=(0.0, 0.5, 0.5)))
    assert rare.text.startswith("1 model without weight (model 0)")
    uneven = numbers._prior(coins(0.2, 0.7, prior=(0.2, 0.8)))
    assert "from 0.2 (model 0) to 0.8" in uneven.text and "be 5 times" in uneven.text
    assert numbers._prior(coins(0.2, 0.7)).code == "uniform"
    both = [coin(0.2), coin(0.7)]
    one = latent_of(both, np.eye(2), details=Details(start=1)).simulators
    start = numbers._start(one)
    assert (start.code, start.value, start.text) == ("same-law", 1.0, "1")
    two = latent_of(both, np.eye(2), details=Details(start=[0.5, 0.5])).simulators
    assert numbers._start(two).text.startswith("drawn from 2 states: ")
    telling = latent_of(both, np.eye(2), details=Details(start=[0, 1])).simulators
    assert numbers._start(telling).code == "depends-on-model"


@pytest.mark.parametrize(
    ("steps", "horizon", "code"),
    [
        ((5.0, 9.0), None, "told-apart"),
        ((5.0, 9.0), 5, "told-apart"),
        ((5.0, 9.0), 4, "longer-than-episode"),
        ((5.0, inf), 5, "maybe-never-told-apart"),
        ((5.0, inf), 4, "longer-than-episode"),
        ((inf, inf), 4, "never-told-apart"),
    ],
)
def test_how_long_the_nearest_models_take_to_be_told_apart(
    steps: tuple[float, float], horizon: int | None, code: str
) -> None:
    latent = coins(0.2, 0.9)
    given, models = apart_of(latent), weighted_models(latent)
    assert given.experiment is not None
    experiment: Any = Stand(
        state=0, action=0, visits=given.experiment.visits, steps=Certified(*steps)
    )
    apart: Any = Stand(nearest=given.nearest, experiment=experiment)
    found = separation.separation_finding(models, apart, horizon)
    assert found.code == code
    assert found.value == pytest.approx(1.4)
    assert f"visits: {experiment.visits}" in found.text
    experiment.visits = None
    assert "visits" not in separation.separation_finding(models, apart, horizon).text


@pytest.mark.parametrize(
    ("loss", "code", "status"),
    [
        (None, "pay-differently-unknown", "fail"),
        (Certified(0.0, 0.25), "pay-differently-harmless", "info"),
        (Certified(0.1, 0.25), "pay-differently", "fail"),
    ],
)
def test_models_that_pay_differently_cost_what_is_known(
    loss: Certified | None, code: str, status: str
) -> None:
    models = weighted_models(signs())
    apart: Any = Stand(confused=((0, 1),), loss_per_step=loss)
    found = separation.look_alikes_finding(models, apart, None)
    assert (found.code, found.status) == (code, status)
    at_a_horizon = separation.look_alikes_finding(models, apart, 9)
    assert at_a_horizon.status == ("info" if status == "info" else "warning")
    plain: Any = Stand(confused=(), alike=(), loss_per_step=None)
    differ = separation.look_alikes_finding(models, plain, 9)
    assert (differ.code, differ.value) == ("all-differ", 0.0)
    twice: Any = Stand(confused=(), alike=((0, 1), (2, 3, 4)), loss_per_step=None)
    five = weighted_models(coins(0.1, 0.2, 0.3, 0.4, 0.5))
    repeated = separation.look_alikes_finding(five, twice, 9)
    assert (repeated.code, repeated.value) == ("repeated-models", 3.0)


@pytest.mark.parametrize(
    ("prior", "models", "last", "outcome", "expected"),
    [
        ((0.5, 0.5), 2, 9, Outcome.EXACT, []),
        ((1.0, 0.0), 1, 9, Outcome.SOLVED, ["without-prior-weight"]),
        ((0.5, 0.5), 1, 9, Outcome.EXACT, ["some-models"]),
        ((0.5, 0.5), 2, 8, Outcome.EXACT, ["timeline-cut-short"]),
        ((0.5, 0.5), 2, 9, Outcome.STALLED, ["planning-cut-short"]),
    ],
)
def test_notes_about_a_timeline(
    prior: Any, models: int, last: int, outcome: Outcome, expected: list[str]
) -> None:
    notes = identify.Notes()
    timeline = Stand(models=[0] * models, steps=[0, last])
    oracle = Stand(outcome=outcome, average_gap=Certified(0.25, 1.5))
    identify._note_timeline(Stand(prior=np.array(prior)), oracle, timeline, 9, notes)
    assert codes(notes) == expected


@pytest.mark.parametrize(
    ("first", "width", "expected"),
    [
        (None, 4.0, []),
        (50, 4.0, []),
        (51, 4.0, ["nothing-eliminated"]),
        (None, 4.1, ["rare-events"]),
    ],
)
def test_notes_about_runs(first: int | None, width: float, expected: list[str]) -> None:
    latent = LatentMDP.uniform(riverswim(3, (0.3, 0.6)))
    gap = Estimate(1.0, 0.0, width, 0.95, standard_error=0.1)
    loss = Stand(gap=gap, runs=Stand(reward=np.zeros(100)))
    assert codes(run._notes(latent, object(), 50, first, [loss])) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"surprising": True}, ["surprises"]),
        ({"possible": 3}, ["some-ranges"]),
        ({"nominal": 0.4}, ["no-nominal-model"]),
        ({"prior": (0.5, 0.5, 0.0)}, ["without-prior-weight"]),
        ({"outcome": Outcome.SOLVED}, ["tolerance"]),
        ({"outcome": Outcome.OUT_OF_TIME}, ["tolerance", "time-limit"]),
        ({"many": True}, ["many-models"]),
    ],
)
def test_notes_about_widths(changes: dict[str, Any], expected: list[str]) -> None:
    prior = changes.get("prior", ())
    latent = coins(0.1, 0.5, 0.9, prior=prior, named=True)
    outcome = changes.get("outcome", Outcome.EXACT)
    rows = [
        Stand(
            surprising=changes.get("surprising", False) and width == 0.4,
            outcome=(outcome if width == 0.4 else Outcome.EXACT).value,
            inside=Certified(0.1, 0.2),
            width=width,
        )
        for width in (0.0, 0.4)
    ]
    real = [Stand(value=value) for value in (0.1, 0.5, 0.9)]
    found: Any = Stand(
        widths=rows,
        real=real[: 2 if prior else 3],
        nominal=changes.get("nominal", 0.5),
        param="chance",
    )
    many, possible = changes.get("many", False), changes.get("possible", 2)
    told = sentences.notes_of(found, latent, possible=possible, many=many, aim="1 %")
    assert codes(told) == ["whole-is-best", "one-policy-of-many", *expected]
    found.param = "another"
    told = sentences.notes_of(found, latent, possible=possible, many=many, aim="1 %")
    assert "others-stay-random" in codes(told)


def test_separation_of_a_class_is_rounded_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = class_facts.Notes()
    delta, exponent = class_facts._separation(coins(0.2, 0.9).simulators, notes)
    assert delta == pytest.approx(1.4, rel=1e-9) and delta < 1.4
    shared = np.sqrt(0.2 * 0.9) + np.sqrt(0.8 * 0.1)
    assert exponent == pytest.approx(-np.log(shared), rel=1e-9)
    assert exponent < -np.log(shared)
    assert class_facts._separation(coins(0.2).simulators, notes) == (2.0, None)
    assert codes(notes) == []
    monkeypatch.setattr(class_facts, "MOST_MODELS", 1)
    assert class_facts._separation(coins(0.2, 0.9).simulators, notes) == (None, None)
    assert codes(notes) == ["no-separation"]


@pytest.mark.parametrize(
    ("gaps", "stake", "code", "value"),
    [
        (None, 2.0, "needs-horizon", None),
        ([0.1, 0.2, 0.2], None, "needs-horizon", None),
        ([0.1, 0.2, 0.2], 0.0, "nothing-at-stake", 0.0),
        ([0.25, 0.5, 0.5], 2.0, "smooth", 0.125),
        ([0.25, 0.75, 0.5], 2.0, "jumps", 0.25),
    ],
)
def test_losses_jump_if_neighbours_differ_by_more_than_is_acceptable(
    gaps: list[float] | None, stake: float | None, code: str, value: float | None
) -> None:
    models = weighted_models(coins(0.1, 0.2, 0.9, named=True))
    lost = None if gaps is None else np.array(gaps)
    found = smoothness_finding(models, lost, stake=stake, acceptable=0.125)
    assert found.code == code
    assert found.value == value
