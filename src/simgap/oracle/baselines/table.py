"""What the oracle is compared with: agents that know more, remember less, or guess.

Each baseline comes with its gap in every model. Those of policies with tables are known
up to rounding; those of policies that track the posterior are estimated, or known up to
rounding as well if their histories are few. `bound` says what the best policy of the
same kind can reach, where that is known.

Is memory enough, and is it needed? Two statements, each with its own proof.

Memory is enough for a loss if some policy with memory is certified to lose no more; the
upper end of the oracle's bracket shows it. Memory is needed if every policy without
memory loses more than that; this takes a bound on all such policies, and a search that
found no better one does not prove it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from simgap._kernels.time_limit import if_in_time, limit_reached
from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import NOTHING_KNOWN, Certified, Estimate
from simgap.oracle.baselines.baseline import Baseline, absent, left_out
from simgap.oracle.baselines.memoryless import ShortMemoryPlan, best_plan, fits
from simgap.oracle.baselines.minimax import solve_minimax
from simgap.oracle.baselines.single_model import (
    best_memoryless,
    mean_model_plan,
    single_plans,
    ties_exhausted,
)
from simgap.oracle.baselines.tracking import (
    GREEDY,
    SAMPLING,
    greedy_baseline,
    sampling_baseline,
)
from simgap.oracle.baselines.windowed import LARGEST_TABLE, window_nodes, window_size
from simgap.oracle.completed_graph import average_plan
from simgap.oracle.loss_form import LossForm
from simgap.policies import MarkovPolicy, WindowPolicy, number_of_windows
from simgap.records.memory import Memory, Proof
from simgap.records.provenance import ON_GRID, Certainty

LARGEST_WINDOW_POLICY = 40_000_000  # actions
MINIMAX_NODES = 20_000
MINIMAX_ROUNDS = 100
SINGLE = "optimal for the best single model"
MEAN = "optimal for the average of all models"
WINDOWS = {
    1: ("window-1", "sees the last step"),
    2: ("window-2", "sees the last 2 steps"),
}
MINIMAX = "least gap in the worst model, whatever the prior"


def baselines(
    form: LossForm, *, seed: int = 0, effort: float = 1.0
) -> tuple[Baseline, ...]:
    """Return every baseline of a problem, in the order of a table.

    `effort` is in seconds of a usual machine for each search or simulation, spent as a
    fixed amount of work: the same seed gives the same numbers. What a time limit leaves
    no time for is absent, and names its `limit`.
    """
    if not effort > 0.0 or not np.isfinite(effort):
        raise InvalidArgument(f"effort {effort!r}", hint="give seconds, above 0")
    plans = if_in_time(lambda: single_plans(form)) or ()
    mean = if_in_time(lambda: mean_model_plan(form))
    found = (
        _informed(form, plans),
        *_without_memory(form, plans, mean, effort=effort, seed=seed),
        _if_in_time(
            "greedy-posterior", GREEDY,
            lambda: greedy_baseline(form, effort=effort, seed=seed),
        ),
        _if_in_time(
            "posterior-sampling", SAMPLING,
            lambda: sampling_baseline(form, effort=effort, seed=seed),
        ),
        _if_in_time("minimax", MINIMAX, lambda: _minimax(form, effort=effort)),
    )  # fmt: skip
    sure: Certainty = "certified" if form.latent.on_grid is None else ON_GRID
    return tuple(
        replace(
            each,
            prior=form.latent.prior,
            certainty="estimated" if each.certainty == "estimated" else sure,
        )
        for each in found
    )


def value_of_memory(
    form: LossForm, value: Certified, memoryless: Baseline
) -> Certified:
    """Return what remembering is worth: W* less the best value without memory.

    The lower end needs a bound on all memoryless policies; without one it is 0. With a
    discount these are the deterministic stationary ones.
    """
    found = _certified(memoryless.value).ends[0]
    best = _certified(value).ends[1] if memoryless.bound is None else memoryless.bound
    return _difference(form, _certified(value) - Certified(found, max(found, best)))


def value_of_randomization(
    form: LossForm, value: Certified, single: Baseline
) -> Certified:
    """Return what training on all models is worth: W* less the best plan for one.

    Plans for one model play an optimal action of it in every state at every step; ties
    are broken for the best of all models, if they are proved to be ties. The lower end
    needs a bound on all of these plans; without one it is 0.
    """
    low, high = _certified(value).ends
    found = _certified(single.value).ends[0]
    if single.most_gap is not None:
        sure = (form.informed_ends - Certified(single.most_gap, single.most_gap)).lower
        found = min(found, sure)
    best = high if single.bound is None else single.bound
    return _difference(form, Certified(low, high) - Certified(found, max(found, best)))


def _difference(form: LossForm, worth: Certified) -> Certified:
    high = worth.ends[1]
    if high < -2.0 * form.rounding - 1e-9 * abs(form.informed):
        raise InvalidArgument(
            f"the oracle's value is {-high} below that of the baseline",
            hint="compare a value and a baseline of the same problem",
        )
    return worth.not_negative()


def _certified(value: Certified | Estimate) -> Certified:
    if isinstance(value, Estimate) or value == NOTHING_KNOWN:
        raise InvalidArgument(
            "the value to compare with is not certified",
            hint="use the oracle's value and a baseline with certified values",
        )
    return value


def _if_in_time(name: str, about: str, make: Callable[[], Baseline]) -> Baseline:
    return if_in_time(make) or left_out(name, about)


def _without_memory(
    form: LossForm,
    plans: tuple[ShortMemoryPlan, ...],
    mean: ShortMemoryPlan | None,
    *,
    effort: float,
    seed: int,
) -> list[Baseline]:
    """Return the baselines whose policies are tables."""
    known = plans if mean is None else (*plans, mean)
    searched = if_in_time(
        lambda: best_memoryless(form, plans, mean, effort=effort, seed=seed)
    )
    limit = limit_reached() if searched is None else ""
    best = searched or min(known, key=lambda plan: plan.average, default=None)
    found = []
    if plans:
        tried = if_in_time(lambda: ties_exhausted(form, plans, effort))
        floor = None if best is None else best.least
        single = _single(form, tried or plans, floor)
        found.append(replace(single, limit="" if tried else limit_reached()))
    else:
        found.append(left_out("single-simulator", SINGLE))
    found.append(
        left_out("mean-model", MEAN)
        if mean is None
        else _of_plan(form, mean, "mean-model", MEAN)
    )
    about = "sees the state" if form.horizon is None else "sees the state and the step"
    if best is None:
        windows = [(name, about) for name, about in WINDOWS.values()]
        names = [("memoryless", about), *windows]
        return found + [left_out(*each) for each in names]
    note = f"not searched: {limit} came first; the best one made for a single model"
    note = note if limit else _how_good(form, best)
    plain = _of_plan(form, best, "memoryless", about, note=note)
    found.append(replace(plain, limit=limit))
    return found + _windows(form, best, effort=effort, seed=seed)


def _informed(form: LossForm, plans: tuple[ShortMemoryPlan, ...]) -> Baseline:
    value = form.informed_ends
    return Baseline(
        name="informed",
        about="is told the model",
        policy=tuple(
            _table(form, plan, f"plan of {name}")
            for plan, name in zip(
                plans, form.latent.simulators.model_names, strict=True
            )
        )
        if plans
        else None,
        value=value,
        average_gap=Certified(0.0, 0.0),
        values=form.optimal,
        gaps=owned(np.zeros(form.n_models)),
        certainty="certified",
        bound=value.upper,
        note="one policy per model",
    )


def _single(
    form: LossForm, plans: tuple[ShortMemoryPlan, ...], floor: float | None
) -> Baseline:
    """Return the best plan of one model; `floor` bounds all policies without memory."""
    best = min(range(len(plans)), key=lambda j: plans[j].average)
    name = form.latent.simulators.model_names[best]
    table = owned(np.stack([plan.gaps for plan in plans]))
    bounds = [plan.least for plan in plans if plan.least is not None]
    least = min(bounds) if len(bounds) == len(plans) else floor
    if least is not None and floor is not None:
        least = min(plans[best].average, max(least, floor))
    certain = [plan.most for plan in plans if plan.most is not None]
    known = replace(plans[best], least=least, most=min(certain, default=form.worth))
    tried = least is not None and known.average <= least + 4.0 * known.rounding
    how = "no optimal plan of one model is better" if tried else "the best one found"
    return _of_plan(
        form, known, "single-simulator", SINGLE,
        note=f"the plan of {name}; {how}", cross_gaps=table,
    )  # fmt: skip


def _of_plan(
    form: LossForm,
    plan: ShortMemoryPlan,
    name: str,
    about: str,
    *,
    note: str = "",
    cross_gaps: FloatArray | None = None,
) -> Baseline:
    average = plan.average_ends
    bound = None
    if plan.least is not None:
        bound = (form.informed_ends - Certified(plan.least, plan.least)).upper
    return Baseline(
        name=name,
        about=about,
        policy=_table(form, plan, name),
        value=form.informed_ends - average,
        average_gap=average,
        values=owned(form.optimal - plan.gaps),
        gaps=plan.gaps,
        certainty="certified",
        bound=bound,
        least_gap=plan.least,
        most_gap=plan.most,
        searched=plan.starts,
        note=note,
        cross_gaps=cross_gaps,
        plan=plan,
    )


def _table(
    form: LossForm, plan: ShortMemoryPlan, name: str
) -> MarkovPolicy | WindowPolicy:
    pattern, nodes = form.pattern, plan.nodes
    if nodes.window == 0:
        table = plan.actions if form.horizon is not None else plan.actions[0]
        return MarkovPolicy(name, pattern.n_actions, table)
    windows = number_of_windows(pattern.n_states, pattern.n_actions, nodes.window)
    # a window that no model allows has the plan of the average loss, not action 0
    shape = (form.steps, windows, pattern.n_states)
    actions = np.array(np.broadcast_to(average_plan(form)[:, None], shape))
    actions[:, nodes.window_numbers(pattern), nodes.node_state] = plan.actions
    return WindowPolicy(
        name, pattern.n_states, pattern.n_actions, nodes.window, form.horizon, actions
    )


def _windows(
    form: LossForm, memoryless: ShortMemoryPlan, *, effort: float, seed: int
) -> list[Baseline]:
    """Return the best policies that remember one and two steps, where they fit."""
    found, before = [], memoryless
    for window, (name, about) in WINDOWS.items():
        pattern = form.pattern
        tables = number_of_windows(pattern.n_states, pattern.n_actions, window)
        size = window_size(pattern, window)
        if (
            tables * pattern.n_states > LARGEST_TABLE
            or form.steps * tables * pattern.n_states > LARGEST_WINDOW_POLICY
            or not fits(form, size)
        ):
            note = f"not searched: a table of {tables * pattern.n_states} entries a "
            note += f"step, {size} of them in use, is too large"
            found.append(absent(name, about, note))
            continue
        longer = if_in_time(
            partial(_longer, form, before, window, effort=effort, seed=seed)
        )
        if longer is None:
            found.append(left_out(name, about))
            continue
        before = longer
        note = _how_good(form, before)
        found.append(_of_plan(form, before, name, about, note=note))
    return found


def _longer(
    form: LossForm, before: ShortMemoryPlan, window: int, *, effort: float, seed: int
) -> ShortMemoryPlan:
    """Return the best plan found that remembers more, starting from another."""
    nodes = window_nodes(form.pattern, window)
    start: IndexArray = before.for_nodes(nodes)
    return best_plan(form, nodes, [start], effort=effort, seed=seed)


def _how_good(form: LossForm, plan: ShortMemoryPlan) -> str:
    """Return what is known about a plan among all those of its memory."""
    kind = "" if form.horizon is not None else " stationary and deterministic"
    if not fits(form, plan.nodes.size):
        return f"too large to search: the best{kind} one made for a single model"
    if plan.least is not None and plan.average <= plan.least + 4.0 * plan.rounding:
        return f"no{kind} policy of this kind is better"
    return f"the best{kind} one found in {plan.starts} searches"


def _minimax(form: LossForm, *, effort: float) -> Baseline:
    try:
        found = solve_minimax(
            form,
            max_nodes=int(MINIMAX_NODES * min(1.0, effort)),
            max_rounds=MINIMAX_ROUNDS,
        )
    except NotSolved as error:
        return absent("minimax", MINIMAX, error.problem)
    average = form.around(float(form.latent.prior @ found.gaps))
    low, high = found.worst_gap.ends
    return Baseline(
        name="minimax",
        about=MINIMAX,
        policy=found.policies,
        value=form.informed_ends - average,
        average_gap=average,
        values=owned(form.optimal - found.gaps),
        gaps=found.gaps,
        certainty="certified",
        note="a mixture, drawn before the episode; the least worst gap is between "
        f"{low:.9g} and {high:.9g}",
        weights=found.weights,
    )


def memory_proofs(
    with_memory: Certified,
    without_memory: Certified,
    *,
    searched: int | None,
    noise: float = 0.0,
    acceptable: Certified | None = None,
    stationary: bool = False,
) -> Memory:
    """Return what two brackets prove; a difference of `noise` is rounding.

    Memory is enough for the loss it has; with `acceptable`, only if that is no more. A
    policy without memory is a policy, too, so that each bracket narrows the other.
    """
    low, high = with_memory.ends
    least, most = without_memory.ends
    if (
        most < high - noise
    ):  # else they differ by rounding, and a bracket stays as it is
        high = max(low, most)
    least = min(most, max(low, least))
    enough: Proof = "certified"
    if acceptable is not None and high > acceptable.ends[0]:
        enough = "no" if low > acceptable.ends[1] else "not proved"
    needed: Proof = "not proved"
    if least - high > noise:
        needed = "certified"
    elif most - low <= noise:
        needed = "no"
    brackets = Certified(low, high), Certified(least, most)
    return Memory(enough, needed, *brackets, searched, stationary)
