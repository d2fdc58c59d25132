"""Does it transfer? Returns over a design of parameters, and what is lost where."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.transfer.setup import (
    Policies,
    Recipe,
    brought,
    digest,
    identity,
    opened_policies,
    opened_simulator,
    points_of,
    steps_of,
)
from simgap.continuous import (
    Cube,
    Graded,
    Work,
    bind,
    graded,
    measured,
    parse_randomization,
    seeds_repeat,
)
from simgap.records import BrokenEpisode, Note, Transfer, provenance
from simgap.user_files import replacing

RETURNS = "returns.npz"
EPISODES = 32  # of a policy at a point, unless told otherwise


def transfer(
    simulator: Any,
    policies: Policies,
    *,
    randomize: Any,
    horizon: int | None = None,
    references: Policies = (),
    design: str = "sobol:64",
    episodes: int | None = None,
    beyond: float = 1.5,
    threshold: float | None = None,
    noise: str = "",
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    out: Path | str | None = None,
    progress: Tell = lambda _: None,
) -> Transfer:
    """Return what policies get over the parameters of a simulator, and what they lose.

    `simulator` and `policies` are what the command line takes, or Python objects: a
    factory `make(**theta)`, a callable `f(observation, memory)`, anything with
    `predict`. Several policies are a list, or a mapping of names. Each is measured in
    `episodes` episodes of `horizon` steps at each point of the `design`, with the same
    starts and noise as the others. What is lost is measured
    against the best of `references` at each point. `workers` is the number of
    processes; more than one needs a simulator and policies that are given by name.
    With a folder `out`, a run that was stopped goes on where it was.

    >>> import simgap
    >>> answer = simgap.transfer(
    ...     "gym:CartPole-v1", "random", randomize="length=0.3..1.0",
    ...     horizon=50, design="grid:3", episodes=16, beyond=1.0,
    ... )
    >>> len(answer.policies[0].points)
    3
    """
    mine, others = brought(policies), brought(references) if references else []
    opened = opened_simulator(simulator, noise)
    randomization = bind(parse_randomization(randomize), opened)
    steps = steps_of(opened, horizon)
    where = points_of(randomization, design, beyond, seed)
    every, entries = opened_policies([*mine, *others], opened)
    work = Work(opened, randomization, every, where.points, steps, seed)
    given = [each.given for each in (*mine, *others)]
    folder = None if out is None else Path(out)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    found = measured(
        work,
        entries,
        episodes=episodes or EPISODES,
        references=tuple(dict.fromkeys(each.name for each in entries[len(mine) :])),
        paired=seeds_repeat(work),
        folder=folder,
        identity=identity(
            opened.name,
            {
                f"{each.name} {each.training_seed}": str(one)
                for each, one in zip(entries, given, strict=True)
            },
            {
                "randomization": randomization.to_string(),
                "points": digest(where.points.theta),
                "horizon": steps,
                "noise": noise,
                "seed": seed,
            },
        ),
        recipe=Recipe(
            simulator,
            tuple(given),
            randomization.spec,
            noise,
            steps,
            seed,
            where.points.theta,
            where.points.inside,
        )
        if all(isinstance(each, str) for each in (simulator, *given))
        else None,
        workers=workers,
        progress=progress,
    )
    if folder is not None:
        _keep(found.cube, folder)
    progress("computing intervals")
    return _record(
        found.cube,
        graded(
            found.cube,
            where.drawn,
            threshold=threshold,
            confidence=confidence,
        ),
        simulator=opened.name,
        randomize=randomization.to_string(),
        horizon=steps,
        design=design,
        steps=found.steps,
        model=opened.name,
        seed=seed,
        notes=where.notes,
    )


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
) -> Transfer:
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
        value_of_memory=None,
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
            "episodes": "exact",
            "steps": "exact",
            "failures": "exact",
        },
        provenance=provenance(command="", model=model, latent=None, seed=seed),
    )
