"""How hard a class is, in the measures the paper's bounds use.

The eluder dimension and the covering number are taken at the scale 1/H of the theorems,
for rewards scaled to [0, 1]. Without a horizon there is no scale: both are None, and so
is smoothness. They need biases, too: a class that is not communicating has neither, and
an infinite diameter. `notes` says so each time.

No policy is involved here, so that smoothness is what holds for every policy, and for
optimal values what they really are.
"""

from __future__ import annotations

from simgap.answers.complexity.smoothness import class_smoothness
from simgap.answers.model import Model, named_model
from simgap.complexity import (
    Separation,
    covering_number,
    eluder_dimension,
    function_class,
    precise_biases,
    separation,
)
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.planning import checked_horizon, communicating, diameter
from simgap.records import (
    Certainty,
    ClassSeparation,
    Complexity,
    CoveringBounds,
    EluderBounds,
    Notes,
    SequencePoint,
    provenance,
)

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
        certainty |= {"eluder": _certainty(eluder), "covering": _certainty(covering)}
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
        notes.add("many-biases", MANY_BIASES)
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


def _certainty(answer: EluderBounds | CoveringBounds) -> Certainty:
    return "exact" if answer.lower == answer.upper else "certified"
