"""Records as `simgap transfer` and `simgap check` write them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from simgap.intervals import Estimate
from simgap.records.audit import Finding
from simgap.records.check import SimulatorCheck
from simgap.records.note import Note
from simgap.records.provenance import Provenance
from simgap.records.transfer import (
    LossMap,
    LossRegion,
    Transfer,
    TransferPoint,
    TransferPolicy,
    TransferVerdict,
    VarianceShare,
    WorstPoint,
)

ORIGIN = Provenance(
    command="simgap transfer cartpole --randomize 'length=0.5..1.5' --policy ppo.onnx",
    model="cartpole",
    model_hash="",
    seed=0,
    simgap="0.1.0",
    python="3.12.4",
    numpy="2.1.0",
    grid=None,
)
LENGTHS = (0.5, 0.75, 1.0, 1.25, 1.5)
MASSES = (0.1, 0.2, 0.3)
DELAYS = (0.0, 1.0)


def about(middle: float, half: float = 2.0) -> Estimate:
    return Estimate(middle, middle - half, middle + half, 0.95, "t interval")


def lost(length: float, delay: float) -> float:
    """What ppo loses: nothing with a short pole, up to 150 with a long one."""
    return 100.0 * max(0.0, length - 0.75) * (1.0 + delay)


def verdict(**changes: Any) -> TransferVerdict:
    made = TransferVerdict(
        code="fails-in-places",
        text="ppo loses 40 on average against lean, 0.3 of what random loses.",
        normalized_loss=about(0.3, 0.2),
        worst_normalized_loss=about(0.8, 0.2),
        drop=None,
        worst_drop=None,
        tolerance=0.1,
        acceptable=about(0.6, 0.2),
        success=None,
        reference="lean",
        baseline="random",
        compared=1.0,
    )
    return replace(made, **changes)


def policy(name: str, *, reference: bool = False, **changes: Any) -> TransferPolicy:
    def at(length: float, mass: float, delay: float) -> TransferPoint:
        loss = 0.0 if reference else lost(length, delay)
        return TransferPoint(
            theta={"mass": mass, "length": length, "delay": delay},
            inside=length < 1.5,
            episodes=32,
            broken=0,
            success=None,
            gap=None if reference else about(loss),
            reference=None if reference else "lean",
            returned=about(200.0 - loss),
        )

    theta = {"mass": 0.3, "length": 1.25, "delay": 1.0}
    worst = WorstPoint(
        theta=theta,
        estimate=200.0 if reference else 100.0,
        lower=80.0,
        upper=200.0,
        confidence=0.95,
        method="t interval",
        guaranteed=None,
    )
    made = TransferPolicy(
        name=name,
        is_reference=reference,
        training_seeds=1,
        mean=about(200.0 if reference else 160.0),
        beyond=about(90.0, 20.0),
        worst=worst,
        success=None,
        gap=None if reference else about(40.0, 30.0),
        worst_gap=None if reference else replace(worst, lower=75.0, upper=130.0),
        region=LossRegion(
            threshold=20.0,
            certain=0.25,
            possible=0.5,
            confidence=0.95,
            ranges={"mass": (0.1, 0.3), "length": (1.0, 1.25), "delay": (1.0, 1.0)},
        ),
        verdict=None if reference else verdict(),
        broken=0,
        points=tuple(at(*each) for each in product(LENGTHS, MASSES, DELAYS)),
    )
    return replace(made, **changes)


def share(name: str, middle: float, total: float | None) -> VarianceShare:
    return VarianceShare(
        name=name,
        share=about(middle, 0.01),
        total=None if total is None else about(total, 0.01),
    )


def loss_map(*parameters: str) -> LossMap:
    """A map over as many parameters as are named, of 100 for each unit of length."""
    axes = {"length": (0.5, 0.9, 1.3), "delay": DELAYS, "mass": MASSES}
    chosen = tuple(axes[name] for name in parameters)
    return LossMap(
        policy="ppo",
        loss_is="gap",
        parameters=parameters,
        axes=chosen,
        loss=tuple(
            100.0 * sum(place[:1]) + sum(place[1:]) for place in product(*chosen)
        ),
        error=4.5,
        sure=True,
    )


def transfer(**changes: Any) -> Transfer:
    """A policy that fails where the pole is long, and more so if actions are late."""
    made = Transfer(
        simulator="cartpole",
        randomize="length=0.5..1.25 mass=0.1..0.3 delay={0,1}",
        horizon=200,
        design="grid:4x3x2",
        episodes=1920,
        steps=300_000,
        paired=True,
        bounds=(0.0, 200.0),
        policies=(policy("ppo"), policy("lean", reference=True)),
        verdict=verdict(),
        references=("lean",),
        parameters=(
            share("length", 0.7, 0.9),
            share("delay", 0.1, 0.3),
            share("mass", 0.02, 0.05),
        ),
        pairs=(share("length x delay", 0.15, None), share("length x mass", 0.0, None)),
        maps=(loss_map("length", "delay", "mass"),),
        value_of_memory=None,
        failures=(),
        notes=(Note("few-episodes", "more episodes would help"),),
        certainty={"policies": "estimated", "episodes": "exact"},
        provenance=ORIGIN,
    )
    return replace(made, **changes)


def bare() -> Transfer:
    """Two points, one policy, nothing to compare with: what little a run may tell."""
    points = policy("random", reference=True).points[:2]
    alone = policy(
        "random", reference=False, gap=None, worst_gap=None, region=None, beyond=None
    )
    return transfer(
        policies=(replace(alone, points=points),),
        verdict=verdict(code="no-nominal", normalized_loss=None, reference=None),
        references=(),
        parameters=(),
        pairs=(),
        maps=(),
        bounds=None,
        horizon=None,
        steps=None,
    )


def check(*statuses: Any) -> SimulatorCheck:
    return SimulatorCheck(
        simulator="cartpole",
        policy="ppo",
        randomize="length=0.5..1.25",
        horizon=200,
        passed="fail" not in statuses,
        checks=tuple(
            Finding("seeds repeat", "seeds-repeat", each, f"found {each}")
            for each in statuses
        ),
        certainty={"checks": "exact"},
        provenance=ORIGIN,
    )
