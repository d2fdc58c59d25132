"""What shall be trained, whoever trains it: checked before anything is run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.answers.transfer.setup import digest, opened_simulator, steps_of
from simgap.continuous import (
    BoundRandomization,
    Memory,
    OwnDraws,
    Randomization,
    Simulator,
    bind,
    parse_memory,
    parse_randomization,
    without_effect,
)
from simgap.errors import InvalidArgument

NOMINAL = "nominal"
PLAIN = re.compile(r"[^a-z0-9]+")


@final
@dataclass(frozen=True, slots=True, eq=False)
class AskedTraining:
    """What shall be trained, by whatever trainer."""

    simulator: Simulator
    told: BoundRandomization  # nu of the user
    drawn: Randomization  # while it is trained
    memory: Memory
    horizon: int
    informed: bool
    nominal: bool
    specialist: bool
    draws: str  # name of the function of one's own that draws; empty: there is none

    def name(self, *, masked: bool = False) -> str:
        """Return what tables call the training."""
        parts = [PLAIN.sub("-", self.memory.text)]
        if self.nominal:
            parts.insert(0, NOMINAL)
        if self.specialist:
            text = self.drawn.to_string().encode()
            parts.insert(0, f"specialist-{digest(np.frombuffer(text, np.uint8))[:6]}")
        if self.informed:
            parts.insert(0, "masked" if masked else "informed")
        if self.draws:
            parts.append(PLAIN.sub("-", self.draws.lower()).strip("-"))
        return "-".join(parts)


def asked_training(
    simulator: Any,
    *,
    randomize: Any,
    memory: str,
    informed: bool,
    nominal: bool,
    at: Any,
    horizon: int | None,
    noise: str,
    checked: bool,
    draws: OwnDraws | None = None,
) -> AskedTraining:
    """Return what shall be trained, or say what is wrong with it."""
    remembers = parse_memory(memory)
    if draws is not None and (nominal or at is not None):
        raise InvalidArgument(
            "draws for one value of the parameters",
            hint="nothing is drawn then: leave them out",
            code="nothing-to-draw",
        )
    if informed and (nominal or at is not None):
        raise InvalidArgument(
            "an informed policy of one value of the parameters",
            hint="it has nothing to be told: leave --informed out",
            code="nothing-to-tell",
        )
    if nominal and at is not None:
        raise InvalidArgument("--nominal and --at", hint="give one of them")
    opened = opened_simulator(simulator, noise)
    told = bind(parse_randomization(randomize), opened)
    if informed and not told.varying:
        raise InvalidArgument(
            f"nothing varies in {told.to_string() or 'the randomization'}",
            hint="an informed policy is told what varies: mass=0.5..2.0",
            code="nothing-to-tell",
        )
    spec = told.spec
    if nominal:
        spec = parse_randomization(NOMINAL)
    elif at is not None:
        spec = parse_randomization(at)
        if bind(spec, opened).varying:
            raise InvalidArgument(
                f"--at {spec.to_string()} is not one value of the parameters",
                hint="write mass=1.2 length=0.8",
                code="not-one-value",
            )
    if checked and not nominal and (idle := without_effect(opened, told)):
        raise InvalidArgument(
            f"{idle[0]} changes nothing in {opened.name}, whatever its value",
            hint="is it written where the simulator reads it? --no-check trains all "
            "the same",
            code="parameter-without-effect",
        )
    return AskedTraining(
        opened,
        told,
        spec,
        remembers,
        steps_of(opened, horizon),
        informed,
        nominal,
        at is not None,
        "" if draws is None else getattr(draws, "__name__", type(draws).__name__),
    )
