"""What `simgap width` prints as JSON: the curve of losses over ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.cli.verbs.width_words import notes_of, reason_of
from simgap.intervals import Certified
from simgap.records import SCHEMA, Provenance, provenance

if TYPE_CHECKING:
    from simgap.answers import WidthCurve, WidthRow
    from simgap.mdp import LatentMDP

CERTAINTY = {
    "gap": "certified",  # of the policies planned, up to rounding
    "worst": "certified",
    "outside": "certified",
    "gaps": "certified",
    "at_nominal": "certified",
    "beyond": "certified",
    "inside": "certified",
    "least_possible": "certified",
    "at_stake": "certified",
}


@final
@dataclass(frozen=True, slots=True)
class RealModel:
    """A model that may be real."""

    name: str
    value: float  # of the parameter
    prior: float


@final
@dataclass(frozen=True, slots=True)
class BeyondAnswer:
    """What is lost if reality lies a distance outside the range."""

    distance: float
    models: int
    gap: Certified


@final
@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """The policy of one range in all models that may be real."""

    width: float
    low: float
    high: float
    models: int
    gap: Certified  # average over all real models
    worst: Certified
    worst_model: str
    inside: Certified  # average gap of the oracle in its own range
    outside: Certified | None  # average over the real models outside
    gaps: tuple[float, ...]  # in the order of `real`
    at_nominal: Certified
    beyond: tuple[BeyondAnswer, ...]
    surprising: bool  # reality may do what no model of the range can
    outcome: str


@final
@dataclass(frozen=True, slots=True)
class WidthAnswer:
    """The record of `simgap width`."""

    schema: int
    kind: str
    param: str
    horizon: int
    nominal: float
    real: tuple[RealModel, ...]
    widths: tuple[RangeAnswer, ...]
    recommended: float
    reason: str
    criterion: str
    slack: float  # a part of `at_stake`
    at_stake: float  # average gap of acting at random
    rounding: float  # of a gap of a model, told as one number
    recommended_average: float  # the width by the average
    recommended_worst: float  # and by the worst model
    least_possible: Certified | None  # average gap of the best policy of all
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


def width_answer(
    latent: LatentMDP, curve: WidthCurve, *, command: str, model: str
) -> WidthAnswer:
    """Return the record of a curve, with its reason in words."""
    names = [latent.simulators.model_names[int(at)] for at in curve.real]
    return WidthAnswer(
        schema=SCHEMA,
        kind="width",
        param=curve.param,
        horizon=curve.horizon,
        nominal=curve.nominal,
        real=tuple(
            RealModel(name, float(value), float(weight))
            for name, value, weight in zip(
                names, curve.values, curve.weights, strict=True
            )
        ),
        widths=tuple(_range(row, names) for row in curve.rows),
        recommended=curve.rows[curve.recommended].width,
        reason=reason_of(curve, names),
        criterion=curve.settings.criterion.value,
        slack=curve.settings.slack,
        at_stake=curve.at_stake.upper,
        rounding=curve.rounding,
        recommended_average=curve.rows[curve.by_average].width,
        recommended_worst=curve.rows[curve.by_worst].width,
        least_possible=curve.whole,
        certainty=dict(CERTAINTY),
        notes=notes_of(latent, curve),
        provenance=provenance(
            command=command,
            model=model,
            latent=latent,
            seed=curve.settings.seed,
        ),
    )


def record_name(param: str) -> str:
    """Return the name of the file that holds the record of a parameter.

    Names of parameters are strangers' words: what a file name should not have is
    replaced, and a digest keeps different parameters apart.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", param)[:80]
    if plain == param:
        return f"width-{param}.json"
    from simgap.arrays import digest

    return f"width-{plain}-{digest(param.encode('utf-8', 'replace'))[:8]}.json"


def _range(row: WidthRow, names: list[str]) -> RangeAnswer:
    return RangeAnswer(
        width=row.width,
        low=row.low,
        high=row.high,
        models=int(row.kept.sum()),
        gap=row.gap,
        worst=row.worst,
        worst_model=names[row.worst_model],
        inside=row.inside,
        outside=row.outside,
        gaps=tuple(row.gaps.tolist()),
        at_nominal=row.at_nominal,
        beyond=tuple(
            BeyondAnswer(each.distance, each.models, each.gap) for each in row.beyond
        ),
        surprising=row.surprising,
        outcome=row.outcome.value,
    )
