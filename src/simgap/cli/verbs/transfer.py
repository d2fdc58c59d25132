"""Does it transfer? Returns and losses of policies over a simulator's parameters.

SIMULATOR is a built-in name, gym:ID, mujoco:FILE.xml, model:MODEL or file.py:make, or
the folder of `simgap train`, all of whose policies are graded. Every policy meets the
same starts and noise at the same points. With --returns a table of returns is graded
that was measured elsewhere.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Noise,
    Out,
    Policies,
    Randomize,
    Seed,
    Simulator,
    Threads,
    real,
    threads_or_all,
    whole,
)
from simgap.cli.app.output import finish, folder_of, telling
from simgap.errors import InvalidArgument

Given = TypeVar("Given")


def run(
    context: typer.Context,
    simulator: Simulator = None,
    randomize: Randomize = None,
    policy: Policies = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            metavar="R",
            help="To measure the loss against: a policy; may be repeated.",
        ),
    ] = None,
    horizon: Horizon = None,
    design: Annotated[
        str | None,
        typer.Option(
            "--design",
            metavar="D",
            help="sobol:64, random:200, grid:5x5, corners.",
        ),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            "--episodes",
            metavar="K",
            help="Of each policy at each point; 32, or at most with --half-width.",
            parser=whole("--episodes", 2, 10**7, "a number"),
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width",
            metavar="X",
            help="Run until what is lost at every point is known to ±X.",
            parser=real("--half-width", hint="it is a return above 0"),
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="STEPS",
            help="Run until the simulator has made so many steps.",
            parser=whole("--budget", 1, 10**15, "a number of steps"),
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="decided",
            help="Run until the mean loss is above or below --threshold, or only more "
            "points would tell; --episodes and --budget limit it.",
        ),
    ] = None,
    beyond: Annotated[
        float,
        typer.Option(
            "--beyond",
            metavar="F",
            help="Also at points of F times the range; 1: only inside.",
            parser=real("--beyond", above=0.999999, below=100.0, hint="it is 1 to 100"),
        ),
    ] = 1.5,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="X",
            help="A loss that matters; a tenth of what the baseline loses.",
            parser=real("--threshold", hint="it is a loss above 0"),
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="P",
            help="Stands for knowing nothing; random actions, unless you name a "
            "policy (with --returns: a name in the table).",
        ),
    ] = None,
    noise: Noise = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Refuse a parameter that changes nothing."
        ),
    ] = True,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds",
            metavar="LOW,HIGH",
            help="What a return certainly lies between, for guaranteed intervals.",
        ),
    ] = None,
    returns: Annotated[
        str | None,
        typer.Option(
            "--returns",
            metavar="FILE",
            help="Instead of SIMULATOR, CSV or Parquet: columns policy, parameters, "
            "seed (of training), episode, episode_seed, return, success.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAME,NAME",
            help="Which columns of --returns are parameters; else all others.",
        ),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Measure anew what the folder of --out has measured."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure where a policy fails over the parameters of a simulator, and by how much.

    What is lost at a point is measured against the best --reference there: at least
    that much, since a better policy may exist. With --out a run that was stopped goes
    on where it was.

    Example: simgap transfer gym:CartPole-v1 --randomize length=0.3..1 --policy random
    """
    from simgap.answers.transfer.trained_run import is_run
    from simgap.answers.transfer.transfer import transfer

    folder = folder_of(out)
    if returns is not None:
        answer = transfer(
            simulator,
            policy or (),
            returns=returns,
            columns=[each.strip() for each in (columns or "").split(",") if each],
            randomize=randomize,
            references=reference or (),
            bounds=_ends(bounds),
            threshold=threshold,
            baseline=baseline,
        )
    else:
        with telling("measuring") as tell:
            given = _needed(simulator, "SIMULATOR", "cartpole, or see simgap list")
            if not is_run(given):
                _needed(policy, "--policy", "file.onnx, file.py:function or random")
                _needed(randomize, "--randomize", '"mass=0.5..2.0"')
            answer = transfer(
                given,
                policy or (),
                randomize=randomize,
                horizon=horizon,
                references=reference or (),
                design=design or "sobol:64",
                episodes=episodes,
                half_width=half_width,
                budget=budget,
                until=_until(until),
                beyond=beyond,
                bounds=_ends(bounds),
                threshold=threshold,
                baseline=baseline,
                noise=noise or "",
                checked=check,
                seed=seed,
                workers=threads_or_all(threads),
                out=folder,
                again=again,
                progress=tell,
            )
    finish(answer, context, folder, as_json=as_json)


def _until(word: str | None) -> Literal["decided"] | None:
    if word not in (None, "decided"):
        raise InvalidArgument(f"--until {word}", hint="write --until decided")
    return None if word is None else "decided"


def _ends(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not -1e300 < low < high < 1e300:
        raise InvalidArgument(
            f"--bounds is {text[:40]!r}", hint="write two numbers: --bounds 0,500"
        )
    return low, high


def _needed(given: Given | None, what: str, example: str) -> Given:
    if not given:
        raise InvalidArgument(f"{what} is not given", hint=f"for instance {example}")
    return given
