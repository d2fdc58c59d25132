"""How long simgap takes to start: processor time of fresh processes.

    python -m benchmarks.starting

Printed: the least of seven runs of each, and the part of it that is not Python's own
start. A missed goal ends with 1.
"""

from __future__ import annotations

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

COMMAND = ("-m", "simgap.cli.app.main")
ROWS = (  # what is run, and most milliseconds besides Python's own
    (("-c", "pass"), None),
    ((*COMMAND, "--help"), 150.0),
    ((*COMMAND, "--version"), 150.0),
    ((*COMMAND, "orcale", "riverswim"), 150.0),
    ((*COMMAND, "oracle", "--help"), 500.0),  # typer imports pydantic if it is there
    ((*COMMAND, "oracle", "riverswim", "--horison"), 500.0),
    (("-c", "import simgap"), 100.0),
    (("-c", "import simgap; simgap.LatentMDP"), 500.0),  # imports numpy
    (("-c", "import simgap._kernels.solving.travel"), None),  # and numba
)


def main() -> int:
    """Print a table; return 1 if a goal is missed."""
    missed, own = 0, 0.0
    print(f"{'python':52} {'ms':>6} {'more':>6} {'goal':>6}")
    for words, goal in ROWS:
        spent = min(_milliseconds(words) for _ in range(7))
        own = own or spent
        told = "-" if goal is None else f"{goal:.0f}"
        print(f"{' '.join(words):52} {spent:6.0f} {spent - own:6.0f} {told:>6}")
        missed += goal is not None and spent - own > goal
    print(f"{missed} goals missed")
    return 1 if missed else 0


def _milliseconds(words: tuple[str, ...]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], capture_output=True, check=False)
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1e3 * spent


if __name__ == "__main__":
    raise SystemExit(main())
