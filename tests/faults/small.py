"""`simgap` whose trainings are small or none at all: all around them is real.

    python -m tests.faults.small ARGUMENTS OF SIMGAP ...

`train` has eight episodes in a round; `study` takes policies as they begin.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

from simgap.cli.app.main import main
from simgap.cli.app.process import INTERRUPTED

ROWS = 8
HORIZON = 20
STEPS = 5 * ROWS * HORIZON


def small_trainings() -> None:
    """Collect few episodes for an update."""
    from simgap.continuous.training import settings

    numbers: Any = settings
    numbers.SHORT_ROWS = numbers.LEAST_ROWS = numbers.MOST_ROWS = ROWS


def no_trainings() -> None:
    """Let a study do everything but train, and plan the same on every machine."""
    from simgap.answers.study import simulator
    from simgap.continuous.training import finished
    from tests.answers.study.untrained import SPEEDS, untrained

    study: Any = simulator
    study.measured_speeds = lambda *_, **__: SPEEDS
    trainings: Any = finished
    trainings.train_all = untrained


def begin(verb: str) -> None:
    """Change what is needed; an interrupt meanwhile ends this process in order."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if verb == "study":
        no_trainings()
    else:
        small_trainings()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    begin(sys.argv[1])
    sys.exit(main())
