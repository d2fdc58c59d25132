"""Records as `simgap train` and `simgap study SIMULATOR` write them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from simgap.intervals import Estimate
from simgap.records.kept import write_record
from simgap.records.note import Note
from simgap.records.study_run import StudyAnswer, StudyRun
from simgap.records.train import Train, TrainedPolicy
from simgap.records.transfer import Transfer, Worth
from tests.report.transfer_cases import ORIGIN, about, policy, transfer


def training(
    name: str = "gru", *, seeds: int = 3, rough: int = 0, **more: Any
) -> Train:
    """A training whose first `rough` seeds had not converged."""
    policies = tuple(
        TrainedPolicy(
            name=name,
            seed=seed,
            file=f"run/{name}/seed-{seed}.onnx",
            converged=seed >= rough,
            outcome="converged" if seed >= rough else "not converged: still rising",
            final_return=150.0 + seed,
            curve=tuple((6400 * at, 100.0 + 5.0 * at + seed) for at in range(1, 11)),
        )
        for seed in range(seeds)
    )
    usual: dict[str, Any] = {
        "simulator": "cartpole",
        "randomize": "length=0.5..1.5",
        "told": "length=0.5..1.5",
        "noise": "",
        "horizon": 200,
        "memory": "gru",
        "informed": False,
        "masked": False,
        "specialist": False,
        "draws": "",
        "steps": 64_000,
        "steps_per_second": 1e4,
        "settings": {"units": 64.0},
        "notes": (Note("few-seeds", "few seeds"),),
    }
    return Train(
        name=name,
        final_return=about(151.0),
        converged=not rough,
        policies=policies,
        certainty={"policies": "estimated", "final_return": "estimated"},
        provenance=replace(ORIGIN, command="simgap train cartpole"),
        **{**usual, **more},
    )


def trainings(rough: int = 0) -> tuple[Train, ...]:
    """Those of a study."""
    return (
        training("gru", rough=rough),
        training("none", memory="none"),
        training("informed-none", memory="none", informed=True),
        training("nominal-gru", randomize="nominal", specialist=True),
        training("masked-gru", informed=True, masked=True),
    )


def worth(what: Any, policy: str, against: str, value: Estimate) -> Worth:
    """What one way to train is worth more than another."""
    return Worth(
        what=what,
        policy=policy,
        against=against,
        value=value,
        evaluation=replace(value, lower=value.estimate - 1, upper=value.estimate + 1),
        seed_spread=1.0,
        trainings=(3, 3),
        worst=about(100.0),
        worst_against=about(50.0),
    )


def answer(question: Any, word: str, code: str, **more: Any) -> StudyAnswer:
    """An answer with a number."""
    usual: dict[str, Any] = {
        "text": f"What was found of {question}.",
        "value": about(28.0, 7.0),
        "against": None,
        "not_converged": (),
        "record": "transfer.json",
    }
    return StudyAnswer(question=question, answer=word, code=code, **{**usual, **more})


def study(**changes: Any) -> StudyRun:
    """A study that found memory to be needed."""
    answers = (
        answer("memory", "yes", "memory-pays"),
        answer("information", "yes", "near-informed", against=about(60.0, 5.0)),
        answer("randomization", "undecided", "randomization-undecided"),
        answer("parameter", "length", "parameter-leads"),
        answer("time", "12 steps", "settles"),
    )
    found: dict[str, Any] = {
        "simulator": "cartpole",
        "randomize": "length=0.5..1.5 mass=0.1..0.3",
        "parameters": ("length", "mass"),
        "horizon": 200,
        "verdict": "yes",
        "headline": "Memory pays: it is worth 28 (21 to 35) of return.",
        "reason": "gru is near the informed policy.",
        "answers": answers,
        "kinds": ("gru", "none"),
        "seeds": 3,
        "steps": 64_000,
        "time_budget": 300.0,
        "planned_seconds": 260.0,
        "total_seconds": 250.0,
        "report": "run/report.html",
        "records": {"transfer": "run/transfer.json"},
        "notes": (),
        "certainty": {"answers": "estimated", "verdict": "estimated"},
        "provenance": replace(ORIGIN, command="simgap study cartpole"),
    }
    return StudyRun(**{**found, **changes})


def graded() -> Transfer:
    """A transfer of trainings, with what they are worth."""
    return transfer(
        policies=(policy("gru"), policy("none"), policy("lean", reference=True)),
        worths=(
            worth("memory", "gru", "none", about(28.0, 7.0)),
            worth("information", "lean", "gru", about(3.0, 9.0)),
        ),
    )


def folder(where: Path, rough: int = 0) -> Path:
    """Write what a study leaves, but for records that other verbs draw."""
    write_record(study(), where / "study_run.json")
    write_record(graded(), where / "transfer.json")
    (where / "plan.json").write_text('{"schema": 1}')
    for each in trainings(rough):
        (where / each.name).mkdir()
        write_record(each, where / each.name / "train.json")
    return where
