"""Records as `simgap blame RUN` and `simgap identify RUN` write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simgap.records.blame_run import BlamedRun, MaskingCheck, ToldParameter, ToldSet
from simgap.records.identify_run import IdentifiedRun, ReadParameter, StepLoss
from simgap.records.note import Note
from tests.report.transfer_cases import ORIGIN, about

PROBED = (1, 3, 10, 30)


def told(name: str, share: float, half: float = 2.0) -> ToldParameter:
    """A parameter with its share of 20."""
    return ToldParameter(
        name=name,
        share=about(share, half),
        evaluation=about(share, half / 4.0),
        seed_spread=1.0,
        part=about(share / 20.0, half / 20.0),
        first=about(share - 1.0, half),
        last=about(share + 1.0, half),
    )


def blamed(**changes: Any) -> BlamedRun:
    """Length is worth 21, and to be told the mass does harm."""
    sets = (
        ((), -40.0),
        (("length",), -18.0),
        (("mass",), -42.0),
        (("length", "mass"), -20.0),
    )
    found: dict[str, Any] = {
        "simulator": "cartpole",
        "randomize": "length=0.5..1.5 mass=0.1..0.3",
        "horizon": 200,
        "design": "sobol:64",
        "policy": "masked-gru",
        "trainings": 3,
        "episodes": 12_288,
        "steps": 1_228_800,
        "method": "exact",
        "orders": None,
        "total": about(20.0, 4.0),
        "evaluation": about(20.0, 1.0),
        "seed_spread": 1.5,
        "parameters": (told("length", 25.0), told("mass", -5.0)),
        "leader": "length",
        "sets": tuple(
            ToldSet(told=names, returned=about(value)) for names, value in sets
        ),
        "checks": (
            MaskingCheck(told="everything", against="informed", difference=about(-3.0)),
        ),
        "headline": "Measure length first: it has 125 % of the 20.",
        "notes": (Note("few-seeds", "training seeds: 3"),),
        "certainty": {"total": "estimated", "episodes": "exact"},
        "provenance": replace(ORIGIN, command="simgap blame run"),
    }
    return BlamedRun(**{**found, **changes})


def read(name: str, *parts: float | None) -> ReadParameter:
    """A parameter that can be read so well at the probed steps."""
    found = tuple(None if each is None else about(each, 0.1) for each in parts)
    return ReadParameter(
        name=name,
        explained=found,
        shuffled=tuple(None if each is None else about(0.0, 0.02) for each in found),
        blame=about(25.0) if name == "length" else None,
    )


def identified(**changes: Any) -> IdentifiedRun:
    """Something is lost at the first nine of thirty steps."""
    losses = [max(0.0, 1.0 - at / 10.0) for at in range(30)]
    found: dict[str, Any] = {
        "simulator": "cartpole",
        "randomize": "length=0.5..1.5 mass=0.1..0.3",
        "horizon": 30,
        "policy": "gru",
        "reference": "informed-gru",
        "trainings": (3, 3),
        "worlds": 512,
        "steps": 184_320,
        "losses": tuple(
            StepLoss(step=at + 1, loss=about(each, 0.15), evaluation=about(each, 0.05))
            for at, each in enumerate(losses)
        ),
        "total": about(sum(losses), 1.0),
        "evaluation": about(sum(losses), 0.3),
        "settled": 10,
        "settled_here": None,
        "probed": PROBED,
        "parameters": (
            read("length", 0.0, 0.7, 0.9, 0.9),
            read("mass", 0.0, 0.1, 0.2, None),
        ),
        "headline": "gru loses nothing against informed-gru from step 10 of 30 on.",
        "notes": (Note("few-seeds", "training seeds: 3"),),
        "certainty": {"losses": "estimated", "worlds": "exact"},
        "provenance": replace(ORIGIN, command="simgap identify run"),
    }
    return IdentifiedRun(**{**found, **changes})
