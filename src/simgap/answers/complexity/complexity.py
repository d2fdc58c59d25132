"""How hard a class is, in the measures the paper's bounds use.

The eluder dimension and the covering number are taken at the scale 1/H of the theorems,
for rewards scaled to [0, 1]. Without a horizon there is no scale: both are None, and so
is smoothness. They need biases, too: a class that is not communicating has neither, and
an infinite diameter. `notes` says so each time.

No policy is involved here, so that smoothness is what holds for every policy, and for
optimal values what they really are.
"""

from __future__ import annotations

import numpy as np

from simgap.answers.model import Model, named_model
from simgap.arrays import BoolArray, FloatArray
from simgap.complexity import (
    AverageL1,
    GreatestL1,
    Metric,
    ParameterDistance,
    Separation,
    covering_number,
    eluder_dimension,
    function_class,
    model_distances,
    optimal_constant,
    policy_constant,
    precise_biases,
    separation,
)
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.planning import checked_horizon, communicating, diameter, optimal_values
from simgap.records.complexity import (
    ClassSeparation,
    ClassSmoothness,
    Complexity,
    CoveringBounds,
    EluderBounds,
    MetricSmoothness,
    SequencePoint,
)
from simgap.records.note import Notes
from simgap.records.provenance import Certainty, provenance

NO_HORIZON = (
    "no eluder dimension, covering number and smoothness: they belong to a horizon, "
    "give one with -H"
)
NO_BIASES = (
    "no eluder dimension and covering number: some model is not communicating, so "
    "that it has no bias (simgap diameter names two states)"
)
MANY_BIASES_CODE = "many-biases"
MANY_BIASES = (
    "some model has several biases: eluder dimension and covering number belong to "
    "one choice of them"
)
MOST_BACKUPS = 2e10  # horizon x entries of all kernels: about half a minute
NOT_MEASURED = (
    "optimal values are not computed for a horizon this long: how smooth they are is "
    "bounded by the diameter instead"
)


def complexity(model: Model, horizon: int | None = None) -> Complexity:
    """Return diameter and separation of a class, and with a horizon three more.

    These are the eluder dimension and the covering number at scale 1/H, and smoothness.

    >>> from simgap import complexity
    >>> found = complexity("riverswim?states=3&success=0.3,0.8", 100)
    >>> round(found.separation.value, 9), found.eluder.upper, found.covering.upper
    (1.0, 1, 2)
    """
    if horizon is not None:
        checked_horizon(horizon)
    given, notes = named_model(model), Notes()
    simulators = given.latent.simulators
    compared, reach = separation(simulators), diameter(simulators)
    eluder, covering, smooth = None, None, None
    if horizon is None:
        notes.add("no-horizon", NO_HORIZON)
    else:
        eluder, covering = _at_scale(simulators, horizon, notes)
        smooth = class_smoothness(simulators, compared, reach.upper, horizon, notes)
    certainty: dict[str, Certainty] = {
        "diameter": "certified",
        "separation": "certified",  # for kernels as stored, to twelve digits
    }
    if eluder is not None and covering is not None:
        unique = all(note.code != MANY_BIASES_CODE for note in notes)
        certainty |= {
            "eluder": _certainty(eluder, unique),
            "covering": _certainty(covering, unique),
        }
    if smooth is not None:
        certainty["smoothness"] = "certified"
    return Complexity(
        horizon=horizon,
        diameter=Certified(float(reach.lower), float(reach.upper)),
        separation=_separation(simulators, compared),
        eluder=eluder,
        covering=covering,
        smoothness=smooth,
        notes=tuple(notes),
        certainty=certainty,
        provenance=provenance(command="", model=given.name, latent=given.latent),
    )


def _separation(simulators: SimulatorClass, compared: Separation) -> ClassSeparation:
    near, far = compared.nearest, compared.farthest
    names, labels = simulators.model_names, simulators.labels
    state = None if near is None else near.state
    action = None if near is None else near.action
    return ClassSeparation(
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
    simulators: SimulatorClass, horizon: int, notes: Notes
) -> tuple[EluderBounds | None, CoveringBounds | None]:
    """Return both measures of F at 1/H, or None and a note."""
    if not communicating(simulators).all():
        notes.add("no-bias", NO_BIASES)
        return None, None
    try:
        plan = precise_biases(simulators)
        functions = function_class(simulators, plan=plan)
    except (InvalidArgument, NotSolved) as error:
        notes.add(
            "no-functions", f"no eluder dimension and covering number: {error.problem}"
        )
        return None, None
    if not plan.unique_bias.all():
        notes.add(MANY_BIASES_CODE, MANY_BIASES)
    width = float(simulators.rewards.max() - simulators.rewards.min())
    eluder = eluder_dimension(functions, width / horizon)
    cover = covering_number(functions, width / horizon)
    points = [functions.point(int(at)) for at in eluder.points]
    first = [functions.function.tolist().index(f) for f in cover.cover.tolist()]
    return (
        EluderBounds(
            lower=eluder.lower,
            upper=eluder.upper,
            epsilon=1.0 / horizon,
            scale=eluder.scale / width if width > 0.0 else 1.0 / horizon,
            sequence=tuple(SequencePoint(p.state, p.action, p.bias) for p in points),
            upper_reason=eluder.reason.value,
        ),
        CoveringBounds(
            lower=cover.lower,
            upper=cover.upper,
            epsilon=1.0 / horizon,
            functions=functions.n_functions,
            cover=tuple(simulators.model_names[at] for at in first),
        ),
    )


def _certainty(answer: EluderBounds | CoveringBounds, unique: bool) -> Certainty:
    """Return how sure a measure of F is; F is one of several without a unique bias."""
    return "exact" if answer.lower == answer.upper and unique else "certified"


def class_smoothness(
    simulators: SimulatorClass,
    compared: Separation,
    diameter: float,
    horizon: int,
    notes: Notes,
) -> ClassSmoothness:
    """Return constants for every distance that the class has.

    Each is the greatest ratio over pairs of models: of what values may differ by to
    the distance of the two.
    """
    rewards = simulators.rewards
    span = float(rewards.max() - rewards.min())
    beside = _beside_kernels(simulators, horizon, span)
    policy = compared.distance * policy_constant(horizon, reward_span=span) + beside
    optimal = _optimal_values(simulators, horizon, same=policy == 0.0)
    if optimal is None:
        notes.add("values-not-computed", NOT_MEASURED)
        slope = optimal_constant(horizon, diameter, reward_span=span)
        optimal = 0.0 * beside, compared.distance * slope + beside
    metrics: list[Metric] = [GreatestL1(), AverageL1()]
    if simulators.theta.names:
        metrics.append(ParameterDistance())
    found = []
    for metric in metrics:
        apart = model_distances(simulators, metric, compared=compared).matrix
        least, pair = _steepest(optimal[0], apart)
        most, steepest = _steepest(optimal[1], apart)[0], _steepest(policy, apart)[0]
        found.append(
            MetricSmoothness(
                metric=metric.name,
                optimal=Certified(least, most),
                optimal_pair=pair,
                policy_at_most=steepest,
                gap_at_most=steepest + most,
            )
        )
    return ClassSmoothness(tuple(found))


def _beside_kernels(
    simulators: SimulatorClass, horizon: int, span: float
) -> FloatArray:
    """Return how much rewards and starts that depend on the model add, (M, M).

    Rewards that differ by r add H r (theory 7.2). Starts at distance d in L1 add d / 2
    times the greatest difference of values, H times that of rewards.
    """
    added = np.zeros((len(simulators), len(simulators)))
    if not simulators.shared_rewards:
        flat = simulators.rewards.reshape(len(simulators), -1)
        for at, row in enumerate(flat):
            added[at] += horizon * np.abs(flat - row).max(axis=1)
    if len(simulators.start) > 1:
        laws = np.stack([simulators.start_law(m) for m in range(len(simulators))])
        for at, law in enumerate(laws):
            added[at] += 0.5 * np.abs(laws - law).sum(axis=1) * horizon * span
    return added


def _optimal_values(
    simulators: SimulatorClass, horizon: int, *, same: BoolArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return the least and greatest |V*_1 - V*_2| of all pairs.

    None if that takes too long. Models that are the same have the same values.
    """
    kernel = simulators.transitions
    if float(horizon) * kernel.nonzeros * len(simulators) > MOST_BACKUPS:
        return None
    found = optimal_values(simulators, horizon)
    rise = np.abs(found.start[:, None] - found.start[None, :])
    error = found.error[:, None] + found.error[None, :]
    low = np.where(same, 0.0, np.maximum(rise - error, 0.0))
    return low, np.where(same, 0.0, rise + error)


def _steepest(
    rises: FloatArray, distance: FloatArray
) -> tuple[float, tuple[int, int] | None]:
    """Return the greatest rise over distance and its pair; a rise over none is inf."""
    slope = np.where(rises > 0.0, np.inf, 0.0)
    np.divide(rises, distance, out=slope, where=distance > 0.0)
    i, j = divmod(int(np.argmax(slope)), len(slope))
    return float(slope[i, j]), (i, j) if slope[i, j] > 0.0 else None
