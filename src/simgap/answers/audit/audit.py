"""Will it transfer? The paper's assumptions checked on a class, and a verdict.

Every assumption becomes a finding in plain words. With a horizon the verdict rests on
certified losses, which need no assumption: one that fails is then a warning. Without a
horizon it rests on the theorems, and an assumption that fails voids it.
"""

from __future__ import annotations

from math import inf

from simgap._kernels.time_limit import time_limited
from simgap.answers.audit.losses import Settings
from simgap.answers.audit.refine import climbed
from simgap.answers.audit.table import audited_table
from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import PlannedClass, Tell
from simgap.answers.time_limits import whole_time
from simgap.errors import InvalidArgument
from simgap.planning import checked_horizon
from simgap.records import Audit


def audit(
    model: Model,
    horizon: int | None = None,
    *,
    acceptable: float = 0.1,
    time_limit: float = 20.0,
    refine: bool = False,
    thorough: bool = False,
    seed: int = 0,
    planned: PlannedClass | None = None,
    progress: Tell | None = None,
) -> Audit:
    """Return whether a policy trained on all models will transfer, and every check.

    With a horizon the verdict is "yes" if a policy without memory loses at most the
    part `acceptable` of what random actions lose, "with memory" if one with memory
    does, "no" if even the best one loses more; planning stops after `time_limit`
    seconds. Without a horizon it says what holds in the long run.

    Of a class on a grid, `refine` makes finer grids until the answer stays the same.
    `thorough` measures what takes long in large classes, and only planning has a limit
    then. `seed` is that of everything sampled. What is `planned` of the class already,
    at this horizon, is not planned again, and `progress` is called with a few words
    about how far it is.

    >>> from simgap import audit
    >>> audit("riverswim?states=4&success=0.3:0.7:3", 8).verdict
    'yes'
    """
    given = named_model(model)
    _check(horizon, acceptable, time_limit, refine=refine)
    settings = Settings(acceptable, time_limit, seed, thorough)
    if refine and horizon is not None:
        return climbed(given, horizon, settings, progress=progress)
    with time_limited(inf if thorough else whole_time(time_limit)):
        found, _ = audited_table(
            given, horizon, settings, planned=planned, progress=progress
        )
    return found


def _check(
    horizon: int | None, acceptable: float, time_limit: float, *, refine: bool
) -> None:
    if not 0.0 < acceptable < 1.0:
        raise InvalidArgument(
            f"an acceptable loss of {acceptable!r}",
            hint="it is a part of what random actions lose, above 0 and below 1: 0.1",
        )
    if not time_limit > 0.0:
        raise InvalidArgument(
            f"a time limit of {time_limit!r}", hint="seconds, above 0"
        )
    if horizon is None and refine:
        raise InvalidArgument(
            "--refine compares losses in a number of steps",
            hint="say how many: -H 100",
        )
    if horizon is not None and checked_horizon(horizon) < 1:
        raise InvalidArgument(
            f"a horizon of {horizon}", hint="one step or more, or None for the long run"
        )
