"""Train a policy over the parameters of a simulator: with memory, without, informed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import asked_training
from simgap.answers.train.own_trainer import notes_on_seeds, over_seeds, trained_by
from simgap.answers.transfer.setup import identity
from simgap.continuous import (
    Fixed,
    Memory,
    Outcome,
    OwnDraws,
    Randomization,
    Settings,
    TrainedSeed,
    TrainFunction,
    TrainingRecipe,
    finished_trainings,
    preset,
)
from simgap.errors import InvalidArgument
from simgap.records.kept import write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.train import Train, TrainedPolicy
from simgap.user_files import made_folder, plain_name

RECORD = "train.json"
STEPS = 2_000_000  # for each seed, unless told otherwise
MOST_POINTS = 200  # of a curve


def train(
    simulator: Any,
    *,
    randomize: Any,
    memory: str = "gru",
    informed: bool = False,
    masked: bool = False,
    nominal: bool = False,
    at: Any = None,
    seeds: int = 1,
    steps: int | None = None,
    horizon: int | None = None,
    noise: str = "",
    name: str | None = None,
    settings: dict[str, Any] | None = None,
    draws: OwnDraws | None = None,
    train_fn: TrainFunction | None = None,
    checked: bool = True,
    allow_different_machine: bool = False,
    seed: int = 0,
    workers: int = 1,
    out: Path | str = "simgap-run",
    progress: Tell = lambda _: None,
) -> Train:
    """Return policies trained over the parameters of a simulator, a file each.

    `memory` is gru, lstm, none or window:K. An `informed` policy is told the
    parameters; a `masked` one some of them, others in every episode. With `nominal`
    nothing is randomized, and `at` names the one value that a specialist is trained
    for: "mass=1.2 length=0.8". There are `seeds` trainings of `steps` steps each,
    from `seed` on, as many at a time as `workers`. `settings` changes numbers of the
    learner: {"rate": 1e-3, "units": 128}. In the folder `out`, under the name of the
    training, are the policies and their checkpoints: a training that was stopped goes
    on from there, to the same weights.

    Episodes draw from `randomize`, or as a function of yours says: `draws(rng,
    episodes, past)` is called for every round and returns theta of so many episodes,
    a column for each parameter. `past.theta` and `past.returned` are episodes so far.

    A trainer of your own is `train_fn(simulator, sampler, memory)`, called once for
    each seed, which returns a policy: a function, an object with `predict`, whatever
    `simgap.transfer` takes. `sampler.draw(seed, episodes)` is theta of episodes,
    `sampler.values(theta)` what `simulator.instantiate` takes, and
    `simgap.continuous.as_env(simulator, sampler)` an environment of Gymnasium. Nothing
    is written then:
    `simgap.transfer([answer, another])` grades such trainings in memory.

    >>> import simgap
    >>> answer = simgap.train(
    ...     "cartpole", randomize="length=0.3..1.0", memory="none",
    ...     horizon=20, steps=20_000, out="/tmp/simgap-doctest",
    ... )
    >>> answer.policies[0].file
    '/tmp/simgap-doctest/none/seed-0.onnx'
    """
    every = seeds_from(seed, seeds)
    if name is not None:
        plain_name(name, "the training")
    if train_fn is not None:
        asked = asked_training(
            simulator,
            randomize=randomize,
            memory=memory,
            informed=informed,
            nominal=nominal,
            at=at,
            horizon=horizon,
            noise=noise,
            checked=checked,
        )
        _refuse_settings(masked=masked, steps=steps, settings=settings, draws=draws)
        return trained_by(
            train_fn,
            asked,
            simulator,
            name=name or asked.name(),
            noise=noise,
            seeds=every,
            progress=progress,
        )
    recipe = training_recipe(
        simulator,
        randomize=randomize,
        memory=memory,
        informed=informed,
        masked=masked,
        nominal=nominal,
        at=at,
        steps=steps,
        horizon=horizon,
        noise=noise,
        name=name,
        settings=settings,
        draws=draws,
        checked=checked,
        allow_different_machine=allow_different_machine,
        out=out,
    )
    jobs = [(recipe, each) for each in every]
    done = finished_trainings(jobs, workers=workers, tell=progress)
    return kept_record(recipe, done)


def training_recipe(
    simulator: Any,
    *,
    randomize: Any,
    memory: str = "gru",
    informed: bool = False,
    masked: bool = False,
    nominal: bool = False,
    at: Any = None,
    drawn: Randomization | None = None,
    steps: int | None = None,
    horizon: int | None = None,
    noise: str = "",
    name: str | None = None,
    settings: dict[str, Any] | None = None,
    draws: OwnDraws | None = None,
    checked: bool = True,
    allow_different_machine: bool = False,
    warm: Path | None = None,
    out: Path | str,
) -> TrainingRecipe:
    """Return a training that is ready to run, everything about it checked.

    `drawn` is what is drawn if it is neither all of `randomize` nor one value.
    """
    asked = asked_training(
        simulator,
        randomize=randomize,
        memory=memory,
        informed=informed or masked,
        nominal=nominal,
        at=at,
        horizon=horizon,
        noise=noise,
        checked=checked,
        draws=draws,
    )
    spec = asked.drawn if drawn is None else drawn
    chosen = learner_settings(
        asked.memory,
        asked.horizon,
        settings,
        informed=informed or masked,
        masked=masked,
    )
    budget = STEPS if steps is None else steps
    if budget < 2 * chosen.batch:
        raise InvalidArgument(
            f"{budget} steps of training",
            hint=f"a round takes {chosen.batch}; give at least {2 * chosen.batch}",
            code="too-few-steps",
        )
    called = name or asked.name(masked=masked)
    folder = Path(out) / plain_name(called, "the training")
    made_folder(folder)
    parts = {
        "randomization": spec.to_string(),
        "told": asked.told.to_string(),
        "noise": noise,
        "steps": budget,
        "warm start": "" if warm is None else warm.name,
        "memory": chosen.memory.text,
        "informed": chosen.informed,
        "masked": chosen.masked,
        "draws": asked.draws,
        **{f"setting {key}": value for key, value in _plain(chosen).items()},
    }
    return TrainingRecipe(
        simulator=simulator,
        randomize=spec,
        told=asked.told.spec,
        settings=chosen,
        steps=budget,
        folder=folder,
        identity=tuple(sorted(identity(asked.simulator.name, {}, parts).items())),
        noise=noise,
        draws=draws,
        warm=warm,
        other_machine=allow_different_machine,
    )


def kept_record(recipe: TrainingRecipe, done: Sequence[TrainedSeed]) -> Train:
    """Return the record of a training that is finished, kept beside its policies."""
    every = sorted(done, key=lambda each: each.seed)
    name = recipe.folder.name
    policies = tuple(_policy(name, each) for each in every)
    spent = sum(each.seconds for each in every)
    fresh = sum(each.fresh_steps for each in every)
    parts = dict(recipe.identity)
    answer = Train(
        name=name,
        simulator=str(recipe.simulator)
        if recipe.by_name
        else parts["simulator"].split()[0],
        randomize=recipe.randomize.to_string(),
        told=recipe.told.to_string(),
        noise=recipe.noise,
        horizon=recipe.settings.horizon,
        memory=recipe.settings.memory.text,
        informed=recipe.settings.informed,
        masked=recipe.settings.masked,
        specialist=_is_one_value(recipe.randomize),
        draws=parts["draws"],
        steps=every[0].steps,
        steps_per_second=fresh / spent if fresh and spent > 0.0 else None,
        final_return=over_seeds(
            [each.final_return for each in every],
            [each.returns[-max(2, len(each.returns) // 10) :] for each in every],
            "the last rounds",
        ),
        converged=all(each.converged for each in policies),
        policies=policies,
        settings=_plain(recipe.settings),
        notes=(*notes_on_seeds(policies), *_warm_start(recipe)),
        certainty={"policies": "estimated", "final_return": "estimated"},
        provenance=provenance(
            command="", model=str(recipe.simulator), latent=None, seed=every[0].seed
        ),
    )
    write_record(answer, recipe.folder / RECORD)
    return answer


def _warm_start(recipe: TrainingRecipe) -> tuple[Note, ...]:
    if recipe.warm is None:
        return ()
    told = f"it began with the weights of {recipe.warm.name}, whose steps are not told"
    return (Note("warm-start", told),)


def learner_settings(
    memory: Memory,
    horizon: int,
    changes: dict[str, Any] | None,
    *,
    informed: bool,
    masked: bool,
) -> Settings:
    """Return the settings of the learner, those of the user instead of the preset's."""
    usual = preset(memory, horizon, informed=informed, masked=masked)
    known = _plain(usual)
    for key, value in (changes or {}).items():
        if key not in known or isinstance(value, bool | str) or not value > 0:
            raise InvalidArgument(
                f"the setting {key}={value}",
                hint=f"settings are numbers above 0: {', '.join(known)}",
                code="no-such-setting",
            )
    return preset(memory, horizon, informed=informed, masked=masked, **(changes or {}))


def seeds_from(first: int, count: int) -> range:
    """Return the seeds of so many trainings."""
    if count < 1:
        raise InvalidArgument(f"{count} seeds", hint="give 1 or more; 5 for a claim")
    return range(first, first + count)


def _refuse_settings(**given: object) -> None:
    """Refuse what a trainer of one's own decides itself."""
    for name, value in given.items():
        if value:
            raise InvalidArgument(
                f"{name} is given, and a trainer of your own",
                hint="leave it out: your trainer decides that",
                code="not-for-own-trainer",
            )


def _is_one_value(spec: Randomization) -> bool:
    fixed = all(isinstance(each.distribution, Fixed) for each in spec.items)
    return fixed and spec.rows is None


def _plain(settings: Settings) -> dict[str, float]:
    """Return the numbers among the settings."""
    found = {each: getattr(settings, each) for each in asdict(settings)}
    return {
        key: value
        for key, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _policy(name: str, done: TrainedSeed) -> TrainedPolicy:
    count = len(done.returns)
    batch = done.steps // count
    width = -(-count // MOST_POINTS)
    curve = [
        (min(at + width, count) * batch, float(np.nanmean(part)))
        for at in range(0, count, width)
        if np.isfinite(part := done.returns[at : at + width]).any()
    ]
    return TrainedPolicy(
        name=name,
        seed=done.seed,
        file=str(done.file),
        converged=done.outcome is Outcome.CONVERGED,
        outcome=done.outcome.value,
        final_return=done.final_return,
        curve=tuple(curve),
    )
