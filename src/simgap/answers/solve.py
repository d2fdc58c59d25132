"""Gain, bias and optimal values of each model, and the slowest trip in it.

A model in which some state cannot be reached from another has no single gain. Without
a horizon such a model is refused, and its components are named. With a horizon its
value is still computed; gain, bias and residual are None and `note` says why.
"""

from __future__ import annotations

from simgap._kernels.time_limit import if_in_time
from simgap.answers.model import Model, named_model
from simgap.answers.time_limits import in_time
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.planning import (
    AverageRewardPlan,
    communicating,
    diameter as diameters,
    optimal_values,
    solve_average_reward,
)
from simgap.records.provenance import Certainty, provenance
from simgap.records.solve import Diameter, Gain, ModelDiameter, ModelSolution, Solve

NO_GAIN = "not communicating: no single gain"
NO_VALUE = "no optimal value: the time limit came first"
MANY_BIASES = (
    "the bias is not unique, optimal play can settle in several places: this is the "
    "span of one solution"
)
COARSE_BIAS = (
    "the bias is so large that doubles round it by more than rewards differ: look at "
    "the residual"
)
CERTAINTY: dict[str, Certainty] = {
    "gain": "certified",
    "value": "certified",
    "bias_span": "certified",  # exact for rewards moved by at most the residual
    "residual": "certified",
}
Average = tuple[Gain, float | None, float | None, str | None]


@in_time
def solve(
    model: Model, horizon: int | None = None, *, time_limit: float | None = None
) -> Solve:
    """Return gain and bias of each model, and with a horizon its optimal value.

    `time_limit` is in seconds, none by default. If it comes before the optimal values
    they are None, and `note` says so; before gain and bias, `OutOfTime` is raised.

    >>> from simgap import solve
    >>> found = solve("riverswim?states=3&success=0.3,0.8", 50)
    >>> round(found.models[0].value, 9)
    19.199971074
    """
    given = named_model(model)
    simulators = given.latent.simulators
    averages = _averages(simulators, strict=horizon is None)
    values = if_in_time(lambda: _values(simulators, horizon))
    if values is None:
        values = [(None, None)] * len(simulators)
        averages = [(*each[:3], _both(each[3], NO_VALUE)) for each in averages]
    return Solve(
        horizon=horizon,
        models=tuple(
            ModelSolution(name, *averages[at][:3], *values[at], averages[at][3])
            for at, name in enumerate(simulators.model_names)
        ),
        certainty=dict(CERTAINTY),
        provenance=provenance(command="", model=given.name, latent=given.latent),
    )


def diameter(model: Model) -> Diameter:
    """Return the expected steps of the slowest trip in each model (Definition 1).

    It is infinite if some state cannot be reached from another.

    >>> from simgap.answers.solve import diameter
    >>> found = diameter("riverswim?states=3&success=0.3,0.8").models[0]
    >>> found.source_name, found.target_name, round(found.upper, 3)
    ('0', '2', 5.278)
    """
    given = named_model(model)
    simulators = given.latent.simulators
    found, labels = diameters(simulators), simulators.labels
    return Diameter(
        diameter=Certified(float(found.lower), float(found.upper)),
        models=tuple(
            ModelDiameter(
                name=name,
                lower=float(found.model_lower[at]),
                upper=float(found.model_upper[at]),
                source=int(found.source[at]),
                target=int(found.target[at]),
                source_name=labels.state(int(found.source[at])),
                target_name=labels.state(int(found.target[at])),
            )
            for at, name in enumerate(simulators.model_names)
        ),
        certainty={"diameter": "certified"},
        provenance=provenance(command="", model=given.name, latent=given.latent),
    )


def _averages(simulators: SimulatorClass, *, strict: bool) -> list[Average]:
    reachable = communicating(simulators)
    if strict or reachable.all():
        return _average(solve_average_reward(simulators))
    found: list[Average] = []
    for at in range(len(simulators)):
        if reachable[at]:
            found += _average(solve_average_reward(simulators[at]))
        else:
            found.append((Gain(None, None), None, None, NO_GAIN))
    return found


def _average(plan: AverageRewardPlan) -> list[Average]:
    rewards = plan.simulators.rewards
    coarse = 1e-6 * float(rewards.max() - rewards.min())
    found: list[Average] = []
    for at, unique in enumerate(plan.unique_bias):
        found.append(
            (
                Gain(float(plan.gain_lower[at]), float(plan.gain_upper[at])),
                float(plan.bias_span[at]),
                float(plan.residual[at]),
                _both(
                    None if unique else MANY_BIASES,
                    COARSE_BIAS if plan.residual[at] > coarse else None,
                ),
            )
        )
    return found


def _both(one: str | None, other: str | None) -> str | None:
    return "; ".join(filter(None, (one, other))) or None


def _values(
    simulators: SimulatorClass, horizon: int | None
) -> list[tuple[float | None, Certified | None]]:
    if horizon is None:
        return [(None, None)] * len(simulators)
    found = optimal_values(simulators, horizon)
    return [
        (value, Certified(*ends))
        for value, ends in zip(
            found.start.tolist(), found.start_ends.tolist(), strict=True
        )
    ]
