"""Questions about simulators: how a policy does over nu, and what training leads to."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from simgap.answers.train.train import train, training_recipe
from simgap.answers.transfer.setup import files_named, identity
from simgap.answers.transfer.transfer import transfer
from simgap.continuous import (
    ONE_THREAD,
    bind,
    open_policy,
    open_simulator,
    parse_design,
    parse_randomization,
)
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records.transfer import TransferPolicy
from simgap.sweeps.fields import Asked, Field, Found, Kind, Question

MEASURING = (
    Field("simulator", Kind.TEXT, "as for simgap transfer", needed=True),
    Field("randomize", Kind.TEXT, "what is drawn, as --randomize", needed=True),
    Field("horizon", Kind.WHOLE, "steps of an episode", least=1),
    Field("noise", Kind.TEXT, "added at every step, as --noise"),
    Field("design", Kind.TEXT, "the points that are measured, as --design"),
    Field("episodes", Kind.WHOLE, "at each point", least=2),
    Field("half_width", Kind.REAL, "run until every point is known to that much"),
    Field("beyond", Kind.REAL, "how far beyond the range is measured", least=1.0),
)
COLUMNS = {
    "mean": "return of an episode, averaged over what is drawn",
    "worst": "return at the worst point that was measured",
    "beyond_mean": "mean return beyond the range that is drawn",
    "success": "chance of success, if the simulator says what success is",
}
GRADED = "graded_over"
DRAWN = ("randomize", GRADED)  # fields that are randomizations
KINDS = ("informed", "nominal", "masked")  # before the memory of a trainer
OTHERS = ("another-machine", "another-training")  # a checkpoint that is of no use here


def _transfer(asked: Asked, seed: int, folder: str) -> Found:
    """Return what a policy gets over nu."""
    return _graded(asked, asked["policy"], seed, folder)


def _train(asked: Asked, seed: int, folder: str) -> Found:
    """Train one policy, then grade it."""
    place = Path(folder)
    try:
        trained = train(seed=seed, out=place / "training", **_training(asked))
    except InvalidFile as error:
        if error.code not in OTHERS:
            raise
        shutil.rmtree(place)  # what another machine or version began: from the start
        trained = train(seed=seed, out=place / "training", **_training(asked))
    policy = trained.policies[0]
    over = asked.get(GRADED, asked["randomize"])
    graded = _graded({**asked, "randomize": over}, policy.file, seed, folder)
    numbers = {**graded.numbers, "converged": policy.converged}
    codes = {*graded.notes, *(each.code for each in trained.notes)} - {"few-seeds"}
    files = {".onnx": Path(policy.file).read_bytes()}
    return Found(numbers, tuple(codes), files)


def _training(asked: Asked) -> dict[str, Any]:
    kind, memory = _trainer(asked["trainer"])
    return {
        "simulator": open_simulator(asked["simulator"]),  # trained in this very process
        "randomize": asked["randomize"],
        "memory": memory,
        "informed": kind == "informed",
        "nominal": kind == "nominal",
        "steps": asked.get("steps"),
        "horizon": asked.get("horizon"),
        "noise": asked.get("noise", ""),
        "settings": asked.get("learner"),
        "checked": False,
    }


def _graded(asked: Asked, policy: str, seed: int, folder: str) -> Found:
    wide = {key: asked[key] for key in ("design", "beyond") if key in asked}
    found = transfer(
        asked["simulator"],
        {"policy": policy},
        randomize=asked["randomize"],
        references={"reference": asked["reference"]} if "reference" in asked else (),
        horizon=asked.get("horizon"),
        noise=asked.get("noise", ""),
        episodes=asked.get("episodes"),
        half_width=asked.get("half_width"),
        checked=False,
        seed=seed,
        out=Path(folder) / "measuring",
        **wide,
    )
    mine: TransferPolicy = next(e for e in found.policies if e.name == "policy")
    numbers = {
        "mean": mine.mean,
        "worst": mine.worst.number,
        "beyond_mean": mine.beyond,
        "success": mine.success,
        "gap": mine.gap,
    }
    return Found(numbers, tuple(each.code for each in found.notes))


def _contents(asked: Asked) -> dict[str, Any]:
    named = {key: asked[key] for key in ("policy", "reference") if key in asked}
    found = identity(asked["simulator"], named, {})
    files = {k: v for k, v in found.items() if k != "versions"}
    drawn = [sha256(each.read_bytes()).hexdigest() for each in _drawn_from(asked)]
    return {"files": files, **({"randomize": drawn} if drawn else {})}


def _files(asked: Asked) -> tuple[Path, ...]:
    texts = (asked.get(key, "") for key in ("simulator", "policy", "reference"))
    named = (each for text in texts for each in files_named(text))
    return (*named, *_drawn_from(asked))


def _drawn_from(asked: Asked) -> tuple[Path, ...]:
    """Return the files of randomizations, and those of their rows."""
    found: list[Path] = []
    for text in (asked[key].strip() for key in DRAWN if key in asked):
        rows = parse_randomization(text).rows
        found += [each for each in files_named(text) if each == Path(text)]
        found += [Path(rows.file)] if rows else []
    return tuple(dict.fromkeys(found))


def _trainer(text: str) -> tuple[str, str]:
    """Return the kind of a training and its memory: informed-gru, lstm."""
    kind, dash, memory = text.partition("-")
    return (kind, memory) if dash and kind in KINDS else ("", text)


def _check_training(asked: Asked) -> None:
    if _trainer(asked["trainer"])[0] == "masked":
        raise InvalidArgument(
            f"the trainer {asked['trainer']!r}",
            hint="a masked policy answers simgap blame, not how well it transfers",
            code="no-such-trainer",
        )
    with TemporaryDirectory() as nowhere:
        training_recipe(out=nowhere, **_training(asked))


def _check_simulator(asked: Asked) -> None:
    open_simulator(asked["simulator"])


def _check_randomization(asked: Asked) -> None:
    simulator = open_simulator(asked["simulator"])
    for text in (asked[key] for key in DRAWN if key in asked):
        bind(parse_randomization(text), simulator)


def _check_policy(asked: Asked) -> None:
    open_policy(asked["policy"], open_simulator(asked["simulator"]))


def _check_design(asked: Asked) -> None:
    if "design" in asked:
        parse_design(asked["design"])


CHECKS = (
    ("simulator", _check_simulator),
    ("randomize", _check_randomization),
    ("design", _check_design),
)
TRANSFER = Question(
    "transfer",
    "what a policy gets over the parameters of a simulator, as simgap transfer",
    (
        *MEASURING,
        Field(
            "policy",
            Kind.TEXT,
            "a file or a name, as --policy",
            needed=True,
            compared=True,
        ),
        Field("reference", Kind.TEXT, "what losses are measured against"),
    ),
    {**COLUMNS, "gap": "what is lost against the reference, on average, at least"},
    _transfer,
    _contents,
    _files,
    (*CHECKS, ("policy", _check_policy)),
    version=1,
    environment=ONE_THREAD,
)
TRAIN = Question(
    "train",
    "train a policy and grade it, as simgap train and simgap transfer",
    (
        *MEASURING,
        Field(
            "trainer",
            Kind.TEXT,
            "gru, lstm, none or window:K; informed- or nominal- before it",
            needed=True,
            compared=True,
        ),
        Field(
            GRADED,
            Kind.TEXT,
            "what is drawn when it is graded; if left out, the same as in training",
        ),
        Field("steps", Kind.WHOLE, "of each training", least=1),
        Field("learner", Kind.NUMBERS, "settings of the learner, as units or rate"),
    ),
    {**COLUMNS, "converged": "whether the training had stopped improving"},
    _train,
    _contents,
    _files,
    (*CHECKS, ("trainer", _check_training)),
    version=1,
    environment=ONE_THREAD,
)
