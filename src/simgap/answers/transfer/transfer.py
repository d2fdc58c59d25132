"""Does it transfer? Returns over a design of parameters, and what is lost where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.transfer.baseline import RANDOM, BaselineRun, baseline_policy
from simgap.answers.transfer.check import look_at
from simgap.answers.transfer.opened_run import opened_work
from simgap.answers.transfer.setup import (
    Policies,
    brought,
    opened_simulator,
    points_of,
    refuse_one_name_for_two,
    steps_of,
)
from simgap.answers.transfer.trained_run import trained_run
from simgap.arrays import BoolArray
from simgap.continuous import (
    REPEATS,
    REPETITIONS,
    Baseline,
    Cube,
    DrawnPoints,
    Graded,
    More,
    Operation,
    Randomization,
    Rounds,
    Work,
    bind,
    graded,
    measured,
    next_round,
    parse_randomization,
    read_returns,
)
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records.kept import write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.transfer import BrokenEpisode, Transfer, Worth
from simgap.text import listed
from simgap.user_files import made_folder, replacing

RETURNS, RECORD = "returns.npz", "transfer.json"
EPISODES = 32  # of a policy at a point, unless told otherwise
MOST = 16_384  # if a width is asked for
NOT_CHECKED = Note(
    "not-checked",
    "the simulator ended its process before anything was measured: whether parameters "
    "act and seeds repeat is not known",
)
FIRST = 16  # episodes of the first round, if a width or a budget is asked for


def transfer(
    simulator: Any = None,
    policies: Policies = (),
    *,
    returns: Any = None,
    columns: Iterable[str] = (),
    randomize: Any = None,
    horizon: int | None = None,
    references: Policies = (),
    design: str = "sobol:64",
    episodes: int | None = None,
    half_width: float | None = None,
    budget: int | None = None,
    until: Literal["decided"] | None = None,
    beyond: float = 1.5,
    bounds: tuple[float, float] | None = None,
    threshold: float | None = None,
    baseline: Any = None,
    noise: str = "",
    checked: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    out: Path | str | None = None,
    again: bool = False,
    progress: Tell = lambda _: None,
) -> Transfer:
    """Return what policies get over the parameters of a simulator, and what they lose.

    `simulator` is a folder of trainings, all of whose policies are graded, or a list of
    what `simgap.train` returned; or it and `policies` are what the command line takes,
    or Python objects: a factory `make(**theta)`, a callable `f(observation, memory)`,
    anything with `predict`. Several policies are a list, or a mapping of names. Each is
    measured in
    `episodes` episodes of `horizon` steps at each point of the `design`, with the same
    starts and noise as the others. `half_width` runs on until what is lost (or got, if
    there is no reference) at every point is known to that much, `budget` until the
    simulator has made so many steps, `until="decided"` until the mean loss is known to
    be above or below `threshold`, or more points are needed; intervals hold all the
    same. What is lost is measured against the best of `references` at each point, and
    the verdict divides it by what the `baseline` loses, a policy that stands for
    knowing nothing: random actions, unless you name another. A tenth of that matters,
    or `threshold`. With `bounds` of a return,
    the simulator's own or yours, intervals are guaranteed. A parameter that changes
    nothing is refused, unless `checked` is False. `workers` is the number of
    processes; more than one needs a simulator and policies that are given by name.
    With a folder `out`, a run that was stopped goes on where it was, and the answer is
    kept there for `simgap report`; with `again` all of it is measured anew.

    `returns` stands instead of a simulator and policies: returns that were measured
    elsewhere, a file (CSV, Parquet, .npz), a data frame or a mapping of names to
    columns. Columns are `policy`, one for each parameter (`columns` names them; else
    all others are), `seed` of the training, `episode`, `episode_seed`, `return` and, if
    known, `success`. Points outside `randomize` count as beyond the range, and
    `references` are names.

    >>> import simgap
    >>> answer = simgap.transfer(
    ...     "gym:CartPole-v1", "random", randomize="length=0.3..1.0",
    ...     horizon=50, design="grid:3", episodes=16, beyond=1.0,
    ... )
    >>> len(answer.policies[0].points)
    3
    """
    if returns is not None:
        if simulator is not None or policies:
            raise InvalidArgument(
                "returns stand instead of a simulator and policies",
                hint="leave them out: the table names its policies",
                code="given-twice",
            )
        return _of_returns(
            returns,
            tuple(columns),
            randomize=randomize,
            references=tuple(references),
            bounds=bounds,
            threshold=threshold,
            baseline=None if baseline is None else str(baseline),
            confidence=confidence,
        )
    run = trained_run(simulator)
    if run is not None:
        about = run.trainings[0]
        simulator, noise, out = run.simulator, noise or about.noise, out or run.folder
        randomize, horizon = randomize or about.told, horizon or about.horizon
        policies = {**run.policies, **_by_name(policies)}
        references = {**run.references, **_by_name(references)}
        if not policies:
            raise InvalidFile(
                "there are only policies that are told the parameters",
                hint="train one that is not: simgap train ... --memory gru",
                code="nothing-to-grade",
            )
    if randomize is None:
        raise InvalidArgument("randomize is not given", hint='write "mass=0.5..2.0"')
    mine, others = brought(policies), brought(references) if references else []
    refuse_one_name_for_two(mine, others)
    if episodes is not None and episodes < 1:
        raise InvalidArgument(f"{episodes} episodes", hint="give 1 or more")
    opened = opened_simulator(simulator, noise)
    randomization = bind(parse_randomization(randomize), opened)
    steps = steps_of(opened, horizon)
    looked = look_at(simulator, noise, opened, randomization)
    repeated, idle = looked or (REPEATS, ())
    if checked and repeated == "worlds-share-state":
        raise InvalidArgument(
            f"{opened.name}: {REPETITIONS[repeated]}",
            hint="keep the parameters in each environment; --no-check measures all the "
            "same",
            code=repeated,
        )
    if checked and idle:
        raise InvalidArgument(
            f"{idle[0]} changes nothing in {opened.name}, whatever its value",
            hint="is it written where the simulator reads it, and do episodes come to "
            "where it matters? --no-check measures all the same",
            code="parameter-without-effect",
        )
    where = points_of(randomization, design, beyond, seed)
    ready = opened_work(
        simulator,
        opened,
        randomization,
        [*mine, *others],
        where,
        horizon=steps,
        noise=noise,
        seed=seed,
        bounds=bounds,
    )
    work, entries = ready.work, ready.entries
    names = [each.name for each in entries]
    least = baseline_policy(baseline, [*mine, *others], names)
    folder = None if out is None else Path(out)
    if folder is not None:
        made_folder(folder)
    if until is not None and (threshold is None or not others):
        raise InvalidArgument(
            "until is decided what is lost, more than a threshold or less",
            hint="give --threshold X and --reference R",
            code="nothing-to-decide",
        )
    bounded = any(each is not None for each in (half_width, budget, until))
    first = min(FIRST, episodes or FIRST) if bounded else episodes or EPISODES
    if budget is not None:
        extra = (least.name not in names, not others)
        first = min(first, _affordable(budget, len(entries), work, *extra))
    progress("measuring the baseline")
    beside = BaselineRun(
        simulator_argument=simulator,
        simulator=opened,
        randomization=randomization,
        where=where,
        horizon=steps,
        noise=noise,
        seed=seed,
        bounds=bounds,
        paired=repeated == REPEATS,
        folder=folder,
        workers=workers,
    ).measured(
        least,
        [
            replace(each, name=name)
            for each, name in zip([*mine, *others], names, strict=True)
        ],
        episodes=first,
        nominal=0 if others else first if bounded else max(FIRST, first),
    )
    rounds = None
    if bounded:
        left = None if budget is None else budget - beside.steps
        limit = threshold if until is not None else None
        rounds = Rounds(first, half_width, left, episodes or MOST, limit)
    found = measured(
        work,
        entries,
        episodes=first,
        more=None if rounds is None else _more(rounds, confidence, where.drawn),
        references=tuple(dict.fromkeys(each.name for each in entries[len(mine) :])),
        paired=repeated == REPEATS,
        folder=folder,
        identity=ready.identity,
        recipe=ready.recipe,
        workers=workers,
        again=again,
        progress=progress,
    )
    if folder is not None:
        _keep(found.cube, folder)
    progress("computing intervals")
    odd = [] if repeated == REPEATS else [Note(repeated, REPETITIONS[repeated])]
    if looked is None:
        odd.append(NOT_CHECKED)
    answer = _record(
        found.cube,
        graded(
            found.cube,
            where.drawn,
            threshold=threshold,
            confidence=confidence,
            look=found.looks,
            baseline=beside.baseline,
            pace=found.pace,
        ),
        simulator=opened.name,
        randomize=randomization.to_string(),
        horizon=steps,
        design=design,
        steps=found.steps + beside.steps,
        model=opened.name,
        seed=seed,
        notes=(
            *where.notes,
            *found.notes,
            *odd,
        ),
        worths=() if run is None else run.worths(found.cube, where.drawn, found.looks),
    )
    if folder is not None:
        write_record(answer, folder / RECORD)
    return answer


def _of_returns(
    given: Any,
    columns: tuple[str, ...],
    *,
    randomize: Any,
    references: tuple[str, ...],
    bounds: tuple[float, float] | None,
    threshold: float | None,
    baseline: str | None,
    confidence: float,
) -> Transfer:
    """Return the same answer about returns that were measured elsewhere."""
    spec = None if randomize is None else parse_randomization(randomize)
    cube, drawn, notes = read_returns(
        given, columns=columns, references=references, bounds=bounds
    )
    if spec is not None:
        cube = replace(cube, inside=_inside(cube, spec))
    if baseline is not None and baseline not in cube.policies:
        raise InvalidArgument(
            f"the table has no policy {baseline!r}, which is the baseline",
            hint=f"it has {listed(cube.policies)}",
            code="no-baseline",
        )
    least = baseline or (RANDOM if RANDOM in cube.policies else None)
    return _record(
        cube,
        graded(
            cube,
            drawn,
            threshold=threshold,
            confidence=confidence,
            baseline=None if least is None else Baseline(least),
        ),
        simulator="",
        randomize="" if spec is None else spec.to_string(),
        horizon=None,
        design="a table of returns",
        steps=None,
        model=str(given) if isinstance(given, str | Path) else type(given).__name__,
        seed=None,
        notes=notes,
    )


def _by_name(policies: Policies) -> dict[str, Any]:
    """Return policies beside those of a run, each under a name."""
    if not policies or isinstance(policies, Mapping):
        return dict(policies or {})
    return {each.name or str(each.given): each.given for each in brought(policies)}


def _inside(cube: Cube, spec: Randomization) -> BoolArray:
    """Return which points of a table lie in the range that is randomized."""
    found = np.ones(len(cube.theta), np.bool_)
    for item in spec.items:
        if item.name not in cube.parameters:
            raise InvalidArgument(
                f"the table has no column {item.name!r}",
                hint=f"its parameters are {', '.join(cube.parameters) or 'none'}",
                code="no-parameter",
            )
        if item.operation is not Operation.ABSOLUTE:
            raise InvalidArgument(
                f"{item.name} is scaled or moved, and a table says of no nominal value",
                hint=f"write the values themselves: {item.name}=LOW..HIGH",
                code="no-nominal",
            )
        low, high = item.distribution.support
        column = cube.theta[:, cube.parameters.index(item.name)]
        found &= (column >= low) & (column <= high)
    return found


def _affordable(
    budget: int, policies: int, work: Work, baseline: bool, nominal: bool
) -> int:
    """Return the episodes at each point that a budget of steps allows at least.

    The baseline may be one more policy, and the nominal parameters one more point.
    """
    policies, points = policies + baseline, len(work.points.theta) + nominal
    longest = policies * points * work.horizon
    if budget < 2 * longest:
        raise InvalidArgument(
            f"a budget of {budget} steps",
            hint=f"two episodes of each policy at each point may take {2 * longest}; "
            "measure at fewer points with --design, none beyond the range: --beyond 1",
            code="budget-too-small",
        )
    return budget // longest


def _more(rounds: Rounds, confidence: float, points: DrawnPoints) -> More:
    def more(cube: Cube, *, look: int, steps: int) -> int | None:
        return next_round(
            rounds,
            cube,
            look=look,
            steps=steps,
            confidence=confidence,
            points=points,
        ).episodes

    return more


def _keep(cube: Cube, folder: Path) -> None:
    """Write the returns, (policies, training seeds, points, episodes), as .npz."""
    arrays: dict[str, Any] = {
        "returns": cube.returns,
        "theta": cube.theta,
        "inside": cube.inside,
        "policies": np.array(cube.policies),
        "parameters": np.array(cube.parameters),
    }
    if cube.success is not None:
        arrays["success"] = cube.success
    with replacing(folder / RETURNS) as draft, draft.open("wb") as stream:
        np.savez(stream, **arrays)


def _record(
    cube: Cube,
    found: Graded,
    *,
    simulator: str,
    randomize: str,
    horizon: int | None,
    design: str,
    steps: int | None,
    model: str,
    seed: int | None,
    notes: Iterable[Note] = (),
    worths: tuple[Worth, ...] = (),
) -> Transfer:
    of_memory = [each.value for each in worths if each.what == "memory"]
    return Transfer(
        simulator=simulator,
        randomize=randomize,
        horizon=horizon,
        design=design,
        episodes=cube.episodes,
        steps=steps,
        paired=cube.paired,
        bounds=cube.bounds,
        policies=found.policies,
        verdict=found.verdict,
        references=cube.references,
        parameters=found.parameters,
        pairs=found.pairs,
        maps=found.maps,
        value_of_memory=of_memory[0] if of_memory else None,
        worths=worths,
        failures=tuple(
            BrokenEpisode(
                policy=each.policy,
                theta=dict(
                    zip(cube.parameters, cube.theta[each.point].tolist(), strict=True)
                ),
                training_seed=each.training_seed,
                episode=each.episode,
                step=each.step,
                code=each.code,
                text=each.text,
            )
            for each in cube.failures
        ),
        notes=(*found.notes, *notes),
        certainty={
            "policies": "estimated",
            "verdict": "estimated",
            "parameters": "estimated",
            "pairs": "estimated",
            "maps": "estimated",
            "worths": "estimated",
            "episodes": "exact",
            "steps": "exact",
            "failures": "exact",
        },
        provenance=provenance(command="", model=model, latent=None, seed=seed),
    )
