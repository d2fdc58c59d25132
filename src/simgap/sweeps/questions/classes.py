"""Questions about classes of models: what a policy loses, what the best agent loses."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from simgap.answers.compare import compare
from simgap.answers.model import NamedModel, named_model
from simgap.answers.oracle import oracle
from simgap.answers.transfer.setup import files_named, identity
from simgap.base_policies.catalogue import POLICIES
from simgap.intervals import Certified
from simgap.sweeps.fields import Asked, Field, Found, Kind, Question

TINY = "riverswim?states=3&success=0.3,0.6"  # its kernels are those of all classes
STILL = f"{Path(__file__).with_name('still.py')}:act"  # a user policy is a file
MODEL = Field(
    "model", Kind.TEXT, "a file or an instance, as for simgap gap", needed=True
)
HORIZON = Field("horizon", Kind.WHOLE, "steps of an episode", needed=True, least=1)
PLANNING = (
    Field(
        "gap_tolerance",
        Kind.REAL,
        "part of its loss that the oracle may miss by",
        least=1e-9,
    ),
    Field("time_limit", Kind.REAL, "seconds of planning in a cell", least=0.001),
)


def _gap(asked: Asked, seed: int, folder: str) -> Found:
    """Return what a policy loses, on average over the prior and in the worst model."""
    model = _model(asked)
    found = compare(
        model,
        asked["horizon"],
        policies=[asked["policy"]],
        seeds=asked.get("runs", 400),
        half_width=asked.get("half_width"),
        gap_tolerance=asked.get("gap_tolerance", 0.1),
        time_limit=asked.get("time_limit", 60.0),
        seed=seed,
        threads=1,
    )
    row = found.policies[0]
    codes = tuple(each.code for each in found.notes)
    numbers = {"average": row.average, "worst": row.worst}
    return Found(numbers, codes, certified=model.latent.simulators.certified)


def _oracle(asked: Asked, seed: int, folder: str) -> Found:
    """Return what the best agent gets and loses that does not know the model."""
    model = _model(asked)
    found = oracle(
        model,
        asked["horizon"],
        gap_tolerance=asked.get("gap_tolerance"),
        time_limit=asked.get("time_limit"),
        baselines=asked.get("baselines", True),
        seed=seed,
    )
    memory = found.memory
    return Found(
        {
            "average_gap": found.average_gap,
            "memoryless_gap": None if memory is None else memory.without_memory,
            "value_of_memory": found.value_of_memory,
            "worst_gap": Certified.around(found.worst_gap, found.rounding),
            "value": Certified(found.lower, found.upper),
            "outcome": found.outcome,
        },
        certified=model.latent.simulators.certified,
    )


def _contents(asked: Asked) -> dict[str, Any]:
    found: dict[str, Any] = {"model": _model(asked).latent.hash}
    policy = asked.get("policy", "oracle")
    if _has_files(policy):
        found["policy"] = identity("", {"policy": policy}, {})["policy policy"]
    return found


def _files(asked: Asked) -> tuple[Path, ...]:
    return files_named(asked["model"]) + files_named(asked.get("policy", ""))


def _model(asked: Asked) -> NamedModel:
    text = asked["model"]
    try:
        found = Path(text).stat()
    except (OSError, ValueError):  # an instance, not a file
        return _built(text, ())
    return _built(text, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=64)
def _built(text: str, file: tuple[int, ...]) -> NamedModel:
    """Return a model, built once unless its file is another one."""
    return named_model(text)


def _check_policy(asked: Asked) -> None:
    from simgap.answers.brought_policies import brought_to_class
    from simgap.answers.compare import checked_policies

    (policy,) = checked_policies([asked["policy"]])
    if _has_files(asked["policy"]):
        brought_to_class(policy.what, _model(asked).latent)


def _has_files(policy: str) -> bool:
    return not {".", ":"}.isdisjoint(policy)


def _tiny(asked: Asked) -> Asked:
    small = {"model": TINY, "horizon": 3, "runs": 3, "time_limit": 60.0}
    if "policy" not in asked:
        return small
    policy = asked["policy"]
    if policy not in {each.name for each in POLICIES}:
        tabular = policy.endswith((".simgap", "zero"))  # certified, not run
        policy = "oracle" if tabular else STILL
    return {**small, "policy": policy}


GAP = Question(
    "gap",
    "what a policy loses in a class, as simgap gap",
    (
        MODEL,
        HORIZON,
        Field(
            "policy",
            Kind.TEXT,
            "a name or a file, as for simgap gap --policy",
            needed=True,
            compared=True,
        ),
        Field(
            "runs", Kind.WHOLE, "runs in each model where sampling is needed", least=2
        ),
        Field(
            "half_width",
            Kind.REAL,
            "run until intervals are within plus or minus so much",
            least=1e-9,
        ),
        *PLANNING,
    ),
    {
        "average": "loss, averaged over the models by their prior",
        "worst": "loss in the worst model",
    },
    _gap,
    _contents,
    _files,
    (("model", _model), ("policy", _check_policy)),
    version=1,
    tiny=_tiny,
)
ORACLE = Question(
    "oracle",
    "what the best agent loses that does not know the model, as simgap oracle",
    (
        MODEL,
        HORIZON,
        Field("baselines", Kind.YES, "compare with policies without memory"),
        *PLANNING,
    ),
    {
        "average_gap": "loss of the best agent, averaged over the models",
        "memoryless_gap": "the same of the best agent without memory",
        "value_of_memory": "what that loses more",
        "worst_gap": "loss of the planned policy in its worst model",
        "value": "reward of the best agent, averaged over the models",
        "outcome": "why planning stopped",
    },
    _oracle,
    _contents,
    _files,
    (("model", _model),),
    version=1,
    tiny=_tiny,
)
