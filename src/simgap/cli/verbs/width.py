"""How wide to randomize a parameter.

Ranges of the parameter are centred at its nominal value. For each the best policy is
planned for the models inside, and what it loses is computed in every model that may be
real, inside and outside. The narrowest range that loses hardly more than any other is
recommended. With --randomize MODEL is a simulator: policies are trained on parts of the
ranges, each beginning where that of a narrower part was, and measured over all of them.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, Any

import typer

from simgap.cli.app.adapted_simulator import refuse
from simgap.cli.app.arguments import (
    PART,
    SECONDS,
    AsJson,
    Horizon,
    Model,
    Noise,
    Out,
    Randomize,
    Seed,
    Threads,
    needed_horizon,
    one_of,
    real,
    threads_or_all,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    telling,
)
from simgap.cli.app.trained_widths import (
    NOT_OF_A_SIMULATOR,
    OF_A_SIMULATOR,
    TrainMemory,
    TrainSeeds,
    TrainSteps,
    WidthBeyond,
    WidthDesign,
    WidthEpisodes,
)
from simgap.errors import InvalidArgument

CRITERIA = ("average", "worst")
MOST_ASKED = 60  # widths in one command
USUAL_SECONDS = 120.0


def widths_of(text: str) -> tuple[float, ...]:
    """Return the numbers in --widths."""
    words = text.split(",")
    if len(words) > MOST_ASKED:
        raise InvalidArgument(
            f"{len(words)} widths, at most {MOST_ASKED} are tried",
            hint="name fewer of them",
        )
    hint = "write numbers with commas: --widths 0,0.2,0.4"
    return tuple(map(real("--widths", above=-inf, hint=hint), words))


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    param: Annotated[
        str | None,
        typer.Option(
            "--param",
            metavar="P",
            help="The parameter; needed if more than one differs between models.",
        ),
    ] = None,
    nominal: Annotated[
        float | None,
        typer.Option(
            "--nominal",
            metavar="X",
            help="Centre of all ranges; default: the median.",
            parser=real("--nominal", above=-inf, hint="write a number: --nominal 0.5"),
        ),
    ] = None,
    widths: Annotated[
        Any | None,
        typer.Option(
            "--widths",
            metavar="A,B,C",
            help="Default: all that differ, at most 12; of a simulator parts of the "
            "ranges, 0,0.25,0.5,0.75,1.",
            parser=widths_of,
        ),
    ] = None,
    criterion: Annotated[
        Any,
        typer.Option(
            "--criterion",
            metavar="|".join(CRITERIA),
            help="What shall be small.",
            parser=one_of("criterion", CRITERIA),
        ),
    ] = "average",
    slack: Annotated[
        float | None,
        typer.Option(
            "--slack",
            metavar="R",
            help="A loss that does not count, as a part of what is at stake; 0.003, of "
            "a simulator 0.05.",
            parser=real(
                "--slack", above=-inf, hint="write a part from 0 to 1: --slack 0.003"
            ),
        ),
    ] = None,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of the loss is this part of it.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning, for all ranges; all ends within half as long "
            "again.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = USUAL_SECONDS,
    randomize: Randomize = None,
    memory: TrainMemory = None,
    seeds: TrainSeeds = None,
    steps: TrainSteps = None,
    noise: Noise = None,
    design: WidthDesign = None,
    episodes: WidthEpisodes = None,
    beyond: WidthBeyond = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Of a simulator: refuse a parameter that changes nothing.",
        ),
    ] = True,
    allow_different_machine: Annotated[
        bool,
        typer.Option(
            "--allow-different-machine",
            help="Of a simulator: resume with other versions or threads.",
        ),
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Find how wide to randomize a parameter.

    The models of the class are what may be real. Each range keeps the models near the
    nominal value for training; what its policy loses is certified in all of them.

    With --randomize 'mass=0.5..2' MODEL is a simulator, such as pendulum, and widths
    are parts of the ranges; what is trained and measured is kept in --out, simgap-run
    unless it is given. Stopped at any moment, the same command goes on where it was.

    Example: simgap width 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 60
    """
    from simgap.answers.width.width import width
    from simgap.answers.width.width_run import width_run
    from simgap.cli.app.models import read_model
    from simgap.records.width import width_file
    from simgap.user_files import made_folder

    if randomize is not None:
        planned: dict[str, object] = {
            "--param": param,
            "--nominal": nominal is not None,
            "--criterion worst": criterion == "worst",
            "--gap-tolerance": gap_tolerance,
            "--time-limit": time_limit != USUAL_SECONDS,
        }
        refuse(planned, NOT_OF_A_SIMULATOR, "width")
        where = made_folder(out or "simgap-run")
        given: dict[str, Any] = {"widths": widths, "memory": memory, "seeds": seeds}
        given |= {"slack": slack, "design": design, "episodes": episodes}
        given |= {"beyond": beyond}
        with telling("training") as tell:
            found = width_run(
                model,
                randomize=randomize,
                steps=steps,
                horizon=horizon,
                noise=noise or "",
                checked=check,
                allow_different_machine=allow_different_machine,
                seed=seed,
                workers=threads_or_all(threads),
                out=where,
                progress=tell,
                **{key: value for key, value in given.items() if value is not None},
            )
        finish(found, context, where, as_json=as_json, name=found.kind)
        return
    trained: dict[str, object] = {"--memory": memory, "--seeds": seeds}
    trained |= {"--steps": steps, "--noise": noise}
    trained |= {"--design": design, "--episodes": episodes, "--threads": threads}
    trained |= {"--allow-different-machine": allow_different_machine}
    refuse({**trained, "--beyond": beyond}, OF_A_SIMULATOR, "width")
    length, folder = needed_horizon(horizon), folder_of(out)
    with telling("planning for ranges") as tell:
        answer = width(
            read_model(model),
            length,
            param,
            nominal=nominal,
            widths=widths,
            criterion=criterion,
            slack=0.003 if slack is None else slack,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    name = width_file(answer.param)
    finish(answer, context, folder, as_json=as_json, name=name)
