"""Everything about a class of models, or about a simulator whose parameters are ranges.

Two studies with one name, as on the command line: models of a class are planned for,
for a simulator policies are trained, and `randomize` says which is meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, overload

from simgap.answers.adapt.options import refuse_options
from simgap.answers.model import Model
from simgap.answers.planned_class import Tell
from simgap.answers.study.simulator import study_simulator
from simgap.answers.study.study import study_class
from simgap.continuous import Randomized
from simgap.errors import InvalidArgument
from simgap.records.audit import Audit
from simgap.records.study import Study
from simgap.records.study_run import StudyRun

Draw = Callable[[Path, Path], object]


@overload
def study(
    model: Model,
    horizon: int,
    *,
    out: str | os.PathLike[str] = ...,
    gap_tolerance: float = ...,
    time_limit: float = ...,
    log: str | os.PathLike[str] | BinaryIO | None = ...,
    fresh: bool = ...,
    agents: bool = ...,
    alone: int | None = ...,
    seed: int = ...,
    command: str = ...,
    draw: Draw | None = ...,
    judged: Callable[[Audit], None] | None = ...,
    progress: Tell | None = ...,
) -> Study: ...


@overload
def study(
    model: str,
    horizon: int | None = ...,
    *,
    randomize: Randomized,
    noise: str = ...,
    seeds: int | None = ...,
    time_budget: float | None = ...,
    out: str | os.PathLike[str] = ...,
    fresh: bool = ...,
    seed: int = ...,
    workers: int = ...,
    command: str = ...,
    draw: Draw | None = ...,
    announce: Tell | None = ...,
    progress: Tell | None = ...,
) -> StudyRun: ...


def study(
    model: Model | Any,  # or the name of a simulator
    horizon: int | None = None,
    *,
    randomize: Randomized | None = None,
    noise: str = "",
    seeds: int | None = None,
    time_budget: float | None = None,
    out: str | os.PathLike[str] = "simgap-study",
    gap_tolerance: float | None = None,  # 0.1
    time_limit: float | None = None,  # 30 seconds
    log: str | os.PathLike[str] | BinaryIO | None = None,
    fresh: bool = False,
    agents: bool = True,
    alone: int | None = None,
    seed: int = 0,
    workers: int = 1,
    command: str = "",
    draw: Draw | None = None,
    judged: Callable[[Audit], None] | None = None,
    announce: Tell | None = None,
    progress: Tell | None = None,
) -> Study | StudyRun:
    """Return the answers to all questions; their records are in the folder `out`.

    Of a class of models `out` gets the records of audit, oracle, gap, blame, width,
    identify and, with a `log` of real transitions, adapt; both policies of the oracle;
    and the class. Slow answers that are there already are kept unless `fresh`. Each
    planning of the whole class ends at `gap_tolerance` of the loss (0.1) or after
    `time_limit` seconds (30). Without `agents` only planned policies are compared, and
    `alone` is the model that the story begins with.

    With `randomize` the model is the name of a simulator, and the answer is that of
    `simgap.answers.study_simulator`: policies are trained with memory, without and
    told the parameters, `seeds` of each, graded, and compared. The whole of it takes
    the seconds of `time_budget`, if one is given, on so many `workers`; stopped at any
    moment, the same call goes on where it was.

    `draw` is called with the folder and the file of a page, at the end and if the study
    is interrupted (`simgap.report.write_explorer` draws it), `judged` with the audit of
    a class as soon as it is there, `announce` with what is planned for a simulator.
    Records that rest on the study's plan name the `command`.

    >>> from tempfile import mkdtemp
    >>> from simgap import study
    >>> found = study("riverswim?states=3&success=0.2,0.8", 4, out=mkdtemp())
    >>> found.verdict, list(found.records)[:3]
    ('yes', ['audit', 'oracle', 'gap'])
    """
    if randomize is None:
        refuse_options(
            {"noise": noise or None, "seeds": seeds, "time_budget": time_budget},
            "it needs a simulator: randomize='mass=0.5..2'",
            "study",
        )
        if horizon is None:
            raise InvalidArgument(
                "no horizon is given",
                hint="study(model, 50), or randomize='mass=0.5..2' if the model is a "
                "simulator",
            )
        return study_class(
            model,
            horizon,
            out=out,
            gap_tolerance=0.1 if gap_tolerance is None else gap_tolerance,
            time_limit=30.0 if time_limit is None else time_limit,
            log=log,
            fresh=fresh,
            agents=agents,
            alone=alone,
            seed=seed,
            command=command,
            draw=draw,
            judged=judged,
            progress=progress,
        )
    refuse_options(
        {
            "gap_tolerance": gap_tolerance,
            "time_limit": time_limit,
            "log": log,
            "alone": alone,
        },
        "leave it out: with randomize policies are trained, and nothing is planned",
        "study",
    )
    return study_simulator(
        model,
        randomize=randomize,
        horizon=horizon,
        noise=noise,
        seeds=seeds,
        time_budget=time_budget,
        fresh=fresh,
        seed=seed,
        workers=workers,
        out=Path(out),
        command=command,
        draw=draw,
        announce=announce,
        progress=progress,
    )
