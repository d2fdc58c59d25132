"""`simgap solve`: gain, bias and optimal values of each model.

A model in which some state cannot be reached from another has no single gain. Without
-H such a model is refused (exit 2, its components are named). With -H its value is
still computed; `gain` is then {"lower": null, "upper": null}, `bias_span` and
`residual` are null and `note` says why. Without -H every `value` is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.intervals import Certified
    from simgap.mdp import SimulatorClass
    from simgap.planning import AverageRewardPlan
    from simgap.records import Provenance

NO_GAIN = "not communicating: no single gain"
MANY_BIASES = (
    "the bias is not unique, optimal play can settle in several places: this is the "
    "span of one solution"
)
COARSE_BIAS = (
    "the bias is so large that doubles round it by more than rewards differ: look at "
    "the residual"
)


@final
@dataclass(frozen=True, slots=True)
class ModelSolution:
    """The optimal behaviour of one model, known to the agent."""

    name: str
    gain: Certified | None  # rho*, reward per step
    bias_span: float | None
    residual: float | None  # of the optimality equation of gain and bias
    value: float | None  # V*_1 at the start
    value_bounds: Certified | None  # the same with its rounding error
    note: str | None  # what a reader of these numbers should know


@final
@dataclass(frozen=True, slots=True)
class SolveAnswer:
    """The record of `simgap solve`."""

    schema: int
    horizon: int | None
    models: tuple[ModelSolution, ...]
    certainty: dict[str, str]
    provenance: Provenance


CERTAINTY = {
    "gain": "certified",
    "value": "certified",
    "bias_span": "certified",  # exact for rewards moved by at most the residual
    "residual": "certified",
}


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Solve every model: gain and bias, and with -H the optimal value at the start.

    Example: simgap solve 'riverswim?states=6&success=0.2:0.5:4' -H 200
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import horizon_of, max_bytes_of
    from simgap.cli.app.output import print_json, working
    from simgap.records import SCHEMA, provenance

    steps = horizon_of(horizon)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    with working("solving"):
        models = solutions(latent.simulators, steps)
    answer = SolveAnswer(
        schema=SCHEMA,
        horizon=steps,
        models=models,
        certainty=CERTAINTY,
        provenance=provenance(command=str(context.obj), model=model, latent=latent),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def solutions(
    simulators: SimulatorClass, horizon: int | None
) -> tuple[ModelSolution, ...]:
    """Return the solution of each model; values only if there is a horizon."""
    averages = _averages(simulators, strict=horizon is None)
    values = _values(simulators, horizon)
    return tuple(
        ModelSolution(name, *averages[at][:3], *values[at], averages[at][3])
        for at, name in enumerate(simulators.model_names)
    )


def _averages(
    simulators: SimulatorClass, *, strict: bool
) -> list[tuple[Certified | None, float | None, float | None, str | None]]:
    from simgap.planning import communicating, solve_average_reward

    reachable = communicating(simulators)
    if strict or reachable.all():
        plan = solve_average_reward(simulators)
        unique = plan.unique_bias
        return [_average(plan, at, bool(unique[at])) for at in range(len(simulators))]
    found: list[tuple[Certified | None, float | None, float | None, str | None]] = []
    for at in range(len(simulators)):
        if reachable[at]:
            plan = solve_average_reward(simulators[at])
            unique_here = bool(plan.unique_bias[0])
            found.append(_average(plan, 0, unique_here))
        else:
            found.append((None, None, None, NO_GAIN))
    return found


def _average(
    plan: AverageRewardPlan, at: int, unique: bool
) -> tuple[Certified, float, float, str | None]:
    from simgap.intervals import Certified

    notes = [] if unique else [MANY_BIASES]
    rewards = plan.simulators.rewards
    if plan.residual[at] > 1e-6 * max(float(rewards.max() - rewards.min()), 1e-300):
        notes.append(COARSE_BIAS)
    return (
        Certified(float(plan.gain_lower[at]), float(plan.gain_upper[at])),
        float(plan.bias_span[at]),
        float(plan.residual[at]),
        "; ".join(notes) or None,
    )


def _values(
    simulators: SimulatorClass, horizon: int | None
) -> list[tuple[float | None, Certified | None]]:
    if horizon is None:
        return [(None, None)] * len(simulators)
    from simgap.intervals import Certified
    from simgap.planning import optimal_values

    found = optimal_values(simulators, horizon)
    return [
        (value, Certified(*ends))
        for value, ends in zip(
            found.start.tolist(), found.start_ends.tolist(), strict=True
        )
    ]


def _print(answer: SolveAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import bracket, number, shown

    columns = ["model", "gain per step", "bias span", "residual"]
    if answer.horizon is not None:
        columns.append(f"V* in {answer.horizon} steps")
    rows = []
    for each in answer.models:
        row = [
            shown(each.name),
            "-" if each.gain is None else bracket(each.gain),
            number(each.bias_span),
            number(each.residual, 2),
        ]
        if each.value_bounds is not None:
            row.append(bracket(each.value_bounds))
        rows.append(row)
    print_table(
        f"optimal behaviour in {shown(answer.provenance.model)}",
        columns,
        rows,
        "certified: bounds of gain and V*; the bias span is exact for rewards moved by "
        "at most the residual",
    )
    for each in answer.models:
        if each.note:
            print_line(f"note: {shown(each.name)}: {each.note}")
