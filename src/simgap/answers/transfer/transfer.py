"""Does it transfer? Returns over a design of parameters, and what is lost where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.transfer.opened_work import opened_work
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
    repeats,
    without_effect,
)
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records import (
    BrokenEpisode,
    Note,
    Transfer,
    Worth,
    provenance,
    write_record,
)
from simgap.user_files import made_folder, replacing

RETURNS, RECORD = "returns.npz", "transfer.json"
EPISODES = 32  # of a policy at a point, unless told otherwise
MOST = 16_384  # if a width is asked for
NOT_REPEATED = Note(
    "seed-ignored",
    "the same seed and actions give another episode: the simulator ignores its seed, "
    "or keeps something between episodes; then they are not independent, and intervals "
    "may be wrong",
)
FIRST = 16  # episodes of the first round, if a width or a budget is asked for


def transfer(
    simulator: Any,
    policies: Policies = (),
    *,
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
    noise: str = "",
    checked: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    out: Path | str | None = None,
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
    same. What is lost is
    measured against the best of `references` at each point. With `bounds` of a return,
    the simulator's own or yours, intervals are guaranteed. A parameter that changes
    nothing is refused, unless `checked` is False. `workers` is the number of
    processes; more than one needs a simulator and policies that are given by name.
    With a folder `out`, a run that was stopped goes on where it was, and the answer is
    kept there for `simgap report`.

    >>> import simgap
    >>> answer = simgap.transfer(
    ...     "gym:CartPole-v1", "random", randomize="length=0.3..1.0",
    ...     horizon=50, design="grid:3", episodes=16, beyond=1.0,
    ... )
    >>> len(answer.policies[0].points)
    3
    """
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
    if checked and (idle := without_effect(opened, randomization)):
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
    folder = None if out is None else Path(out)
    if folder is not None:
        made_folder(folder)
    rounds = None
    if until is not None and (threshold is None or not others):
        raise InvalidArgument(
            "until is decided what is lost, more than a threshold or less",
            hint="give --threshold X and --reference R",
            code="nothing-to-decide",
        )
    if half_width is not None or budget is not None or until is not None:
        first = min(FIRST, episodes or FIRST)
        if budget is not None:
            first = min(first, _affordable(budget, len(entries), work))
        limit = threshold if until is not None else None
        rounds = Rounds(first, half_width, budget, episodes or MOST, limit)
    repeated = repeats(opened)
    found = measured(
        work,
        entries,
        episodes=rounds.first if rounds else episodes or EPISODES,
        more=None if rounds is None else _more(rounds, confidence, where.drawn),
        references=tuple(dict.fromkeys(each.name for each in entries[len(mine) :])),
        paired=repeated,
        folder=folder,
        identity=ready.identity,
        recipe=ready.recipe,
        workers=workers,
        progress=progress,
    )
    if folder is not None:
        _keep(found.cube, folder)
    progress("computing intervals")
    answer = _record(
        found.cube,
        graded(
            found.cube,
            where.drawn,
            threshold=threshold,
            confidence=confidence,
            look=found.looks,
        ),
        simulator=opened.name,
        randomize=randomization.to_string(),
        horizon=steps,
        design=design,
        steps=found.steps,
        model=opened.name,
        seed=seed,
        notes=(
            *where.notes,
            *(() if repeated else (NOT_REPEATED,)),
        ),
        worths=() if run is None else run.worths(found.cube, where.drawn, found.looks),
    )
    if folder is not None:
        write_record(answer, folder / RECORD)
    return answer


def transfer_table(
    path: Path | str,
    *,
    randomize: Any = None,
    references: Iterable[str] = (),
    bounds: tuple[float, float] | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
) -> Transfer:
    """Return the same answer about returns that were measured elsewhere.

    The table is a CSV file with columns `policy`, one for each parameter, `seed` (of
    the training), `episode`, `return` and, if known, `success`. With `randomize` points
    outside its range count as beyond it. `bounds` is what a return certainly lies
    between: intervals are guaranteed then.
    """
    spec = None if randomize is None else parse_randomization(randomize)
    cube, drawn = read_returns(path, references=tuple(references), bounds=bounds)
    if spec is not None:
        cube = replace(cube, inside=_inside(cube, spec))
    return _record(
        cube,
        graded(cube, drawn, threshold=threshold, confidence=confidence),
        simulator="",
        randomize="" if spec is None else spec.to_string(),
        horizon=None,
        design="a table of returns",
        steps=None,
        model=str(path),
        seed=None,
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


def _affordable(budget: int, policies: int, work: Work) -> int:
    """Return the episodes at each point that a budget of steps allows at least."""
    longest = policies * len(work.points.theta) * work.horizon
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
