"""`simgap complexity`: how hard a class is, in the measures the paper's bounds use.

The eluder dimension and the covering number are taken at the scale 1/H of the theorems,
for rewards scaled to [0, 1]. Without -H there is no scale: `eluder`, `covering` and
`smoothness` are null. They need biases, too: in a class that is not communicating the
diameter is "inf", and `eluder` and `covering` are null. `notes` says so each time.

No policy is involved here, so that smoothness is what holds for every policy, and for
optimal values what they really are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.cli.verbs.smoothness_answer import SmoothnessAnswer
    from simgap.complexity import Separation
    from simgap.intervals import Certified
    from simgap.mdp import LatentMDP, SimulatorClass
    from simgap.records import Provenance

NO_HORIZON = (
    "no eluder dimension, covering number and smoothness: they belong to a horizon, "
    "give one with -H"
)
NO_BIASES = (
    "no eluder dimension and covering number: some model is not communicating, so "
    "that it has no bias (simgap diameter names two states)"
)
MANY_BIASES = (
    "some model has several biases: eluder dimension and covering number belong to "
    "one choice of them"
)


@final
@dataclass(frozen=True, slots=True)
class SeparationAnswer:
    """Assumption 2: the two models hardest to tell apart, and where one sees it."""

    value: float  # delta, in [0, 2]; 2 for a class of one
    pair: tuple[int, int] | None
    pair_names: tuple[str, str] | None
    state: int | None  # None: their kernels are equal
    action: int | None
    state_name: str | None
    action_name: str | None
    farthest: tuple[int, int] | None
    greatest: float | None  # distance of the two farthest models
    duplicates: tuple[tuple[int, ...], ...]  # members with equal kernels


@final
@dataclass(frozen=True, slots=True)
class SequencePoint:
    """A point of the eluder sequence that proves the lower bound."""

    state: int
    action: int
    bias: int  # the model whose bias it is


@final
@dataclass(frozen=True, slots=True)
class EluderAnswer:
    """dim_E(F, 1/H), with the sequence behind its lower bound."""

    lower: int
    upper: int
    epsilon: float  # 1/H
    scale: float  # eps' of the sequence, in the same units
    sequence: tuple[SequencePoint, ...]
    upper_reason: str


@final
@dataclass(frozen=True, slots=True)
class CoveringAnswer:
    """N(F, 1/H), with the cover behind its upper bound."""

    lower: int
    upper: int
    epsilon: float
    functions: int  # different ones in F
    cover: tuple[str, ...]  # models whose functions are the centres


@final
@dataclass(frozen=True, slots=True)
class ComplexityAnswer:
    """The record of `simgap complexity`."""

    schema: int
    horizon: int | None
    diameter: Certified
    separation: SeparationAnswer
    eluder: EluderAnswer | None
    covering: CoveringAnswer | None
    smoothness: SmoothnessAnswer | None
    notes: tuple[str, ...]
    certainty: dict[str, str]
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Measure how hard a class is: diameter, separation, and with -H three more.

    These are the eluder dimension and covering number at scale 1/H, and smoothness.
    Bounds are certified: equal ends mean that a number is exact.

    Example: simgap complexity 'riverswim?states=6&success=0.2:0.5:4' -H 100
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import horizon_of, max_bytes_of
    from simgap.cli.app.output import print_json, working
    from simgap.errors import InvalidArgument

    steps = horizon_of(horizon)
    if steps == 0:
        raise InvalidArgument(
            "the horizon -H is 0, and the scale is 1/H", hint="one step or more"
        )
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    with working("measuring the class"):
        answer = measured(latent, steps, command=str(context.obj), model=model)
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def measured(
    latent: LatentMDP, horizon: int | None, *, command: str, model: str
) -> ComplexityAnswer:
    """Return every measure that there is, and notes on those that are not."""
    from simgap.cli.verbs.smoothness_answer import smoothness_answer
    from simgap.complexity import separation
    from simgap.intervals import Certified
    from simgap.planning import diameter
    from simgap.records import SCHEMA, provenance

    simulators, notes = latent.simulators, list[str]()
    compared, reach = separation(simulators), diameter(simulators)
    eluder, covering, smooth = None, None, None
    if horizon is None:
        notes.append(NO_HORIZON)
    else:
        eluder, covering = _at_scale(simulators, horizon, notes)
        smooth = smoothness_answer(simulators, compared, reach.upper, horizon, notes)
    return ComplexityAnswer(
        schema=SCHEMA,
        horizon=horizon,
        diameter=Certified(float(reach.lower), float(reach.upper)),
        separation=_separation(simulators, compared),
        eluder=eluder,
        covering=covering,
        smoothness=smooth,
        notes=tuple(notes),
        certainty={
            "diameter": "certified",
            "separation": "certified",  # for kernels as stored, to twelve digits
            **({} if eluder is None else {"eluder": _certainty(eluder)}),
            **({} if covering is None else {"covering": _certainty(covering)}),
            **({} if smooth is None else {"smoothness": "certified"}),
        },
        provenance=provenance(command=command, model=model, latent=latent),
    )


def _separation(simulators: SimulatorClass, compared: Separation) -> SeparationAnswer:
    near, far = compared.nearest, compared.farthest
    names, labels = simulators.model_names, simulators.labels
    state = None if near is None else near.state
    action = None if near is None else near.action
    return SeparationAnswer(
        value=compared.value,
        pair=None if near is None else (near.first, near.second),
        pair_names=None if near is None else (names[near.first], names[near.second]),
        state=state,
        action=action,
        state_name=None if state is None else labels.state(state),
        action_name=None if action is None else labels.action(action),
        farthest=None if far is None else (far.first, far.second),
        greatest=None if far is None else far.value,
        duplicates=compared.duplicates,
    )


def _at_scale(
    simulators: SimulatorClass, horizon: int, notes: list[str]
) -> tuple[EluderAnswer | None, CoveringAnswer | None]:
    """Return both measures of F at 1/H, or None and a note."""
    from simgap.complexity import (
        covering_number,
        eluder_dimension,
        function_class,
        precise_biases,
    )
    from simgap.errors import InvalidArgument, NotSolved
    from simgap.planning import communicating

    if not communicating(simulators).all():
        notes.append(NO_BIASES)
        return None, None
    try:
        plan = precise_biases(simulators)
        functions = function_class(simulators, plan=plan)
    except (InvalidArgument, NotSolved) as error:
        notes.append(f"no eluder dimension and covering number: {error.problem}")
        return None, None
    if not plan.unique_bias.all():
        notes.append(MANY_BIASES)
    width = float(simulators.rewards.max() - simulators.rewards.min())
    eluder = eluder_dimension(functions, width / horizon)
    cover = covering_number(functions, width / horizon)
    points = [functions.point(int(at)) for at in eluder.points]
    first = [functions.function.tolist().index(f) for f in cover.cover.tolist()]
    return (
        EluderAnswer(
            lower=eluder.lower,
            upper=eluder.upper,
            epsilon=1.0 / horizon,
            scale=eluder.scale / width if width > 0.0 else 1.0 / horizon,
            sequence=tuple(SequencePoint(p.state, p.action, p.bias) for p in points),
            upper_reason=eluder.reason.value,
        ),
        CoveringAnswer(
            lower=cover.lower,
            upper=cover.upper,
            epsilon=1.0 / horizon,
            functions=functions.n_functions,
            cover=tuple(simulators.model_names[at] for at in first),
        ),
    )


def _certainty(answer: EluderAnswer | CoveringAnswer) -> str:
    return "exact" if answer.lower == answer.upper else "certified"


def _print(answer: ComplexityAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.intervals import Certified
    from simgap.text import bracket, gap_bracket, number, shown

    apart, eluder, cover = answer.separation, answer.eluder, answer.covering
    rows = [
        ("diameter", "steps of the slowest trip", bracket(answer.diameter)),
        (
            "separation",
            _where(apart),
            "-" if apart.pair is None else number(apart.value),
        ),
    ]
    if eluder is not None:
        ends = Certified(eluder.lower, eluder.upper)
        rows.append(("eluder dimension", f"at scale 1/{answer.horizon}", bracket(ends)))
    if cover is not None:
        ends = Certified(cover.lower, cover.upper)
        what = f"balls of radius 1/{answer.horizon}; functions: {cover.functions}"
        rows.append(("covering number", what, bracket(ends)))
    print_table(
        f"complexity of {shown(answer.provenance.model)}",
        ("measure", "what it is", "value"),
        rows,
        "certified bounds, or one number that is exact",
        texts=2,
    )
    if answer.smoothness is not None:
        print_table(
            f"smoothness over the class in {answer.horizon} steps",
            ("distance", "V*", "any policy, at most", "its gap, at most"),
            [
                (
                    each.metric,
                    gap_bracket(each.optimal, _noise(each.policy_at_most)),
                    number(each.policy_at_most),
                    number(each.gap_at_most),
                )
                for each in answer.smoothness.metrics
            ],
            "Lipschitz constants; V* for this class, the others for every policy",
        )
    for note in answer.notes:
        print_line(f"note: {note}")


def _where(apart: SeparationAnswer) -> str:
    from simgap.text import shown

    if apart.pair_names is None:
        return "one model: nothing to tell apart"
    first, second = (shown(name, 30) for name in apart.pair_names)
    if apart.state_name is None or apart.action_name is None:
        return f"{first} and {second} have equal kernels"
    state, action = shown(apart.state_name, 20), shown(apart.action_name, 20)
    return f"{first} and {second}, by state {state}, action {action}"


def _noise(constant: float) -> float:
    """Return what is rounding beside a constant; nothing is beside infinity."""
    from math import isinf

    return 0.0 if isinf(constant) else 1e-9 * constant
