"""The first run on a machine compiles; it says so, and uses a second core for it.

While the first answer is computed, a second process compiles what comes later: it asks
the same questions about tiny classes, and what it compiles is kept where the first
process looks for it. It ends with the command that started it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP

NOTICED = 1.0  # seconds of compilation, from which on it is worth a word
TINY = "riverswim?states=3&success=0.2,0.6&left_reward=0.4"
STEPS = 4


def announce_compiling(say: Callable[[str], None]) -> None:
    """Say once in a while that kernels are compiled, and how many are ready."""
    from simgap._kernels import compile_news

    due = NOTICED

    def tell(seconds: float) -> None:
        nonlocal due
        if seconds >= due:
            due = 2.0 * due + 4.0
            from simgap._kernels.compiled import compiled_of_imported

            ready, known = compiled_of_imported()
            say(f"compiling once on this machine: {ready} of {known} kernels")

    compile_news.tell, compile_news.warn = tell, say


def compile_ahead(*questions: str) -> None:
    """Start to compile what these questions need, if nothing is compiled yet."""
    import atexit
    import subprocess

    import simgap._kernels.solving.episodic  # noqa: F401 (one whose cache is asked)
    from simgap._kernels.compiled import is_cold

    if len(os.sched_getaffinity(0)) < 2 or not is_cold():
        return
    with suppress(OSError):
        child = subprocess.Popen(
            [sys.executable, "-m", "simgap.cli.app.compiling", *questions],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(child.terminate)


def main(questions: list[str]) -> None:
    """Ask questions about tiny classes, until the process that asked for it is gone."""
    from threading import Thread
    from time import sleep

    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(0.5)
        os._exit(0)

    Thread(target=watch, daemon=True).start()
    for name in questions:
        with suppress(Exception):  # nobody waits for an answer
            QUESTIONS[name]()


def _tiny() -> LatentMDP:
    from simgap.instances import build_instance
    from simgap.mdp import LatentMDP

    return LatentMDP.uniform(build_instance(TINY))


def _exact() -> None:
    from simgap.oracle import ExactOracle, domain_randomization_oracle

    domain_randomization_oracle(_tiny(), horizon=STEPS, solver=ExactOracle())


def _bounded() -> None:
    from simgap.oracle import BoundedOracle, domain_randomization_oracle

    solver = BoundedOracle(time_limit=5.0)
    domain_randomization_oracle(_tiny(), horizon=STEPS, solver=solver)


def _baselines() -> None:
    from simgap.oracle import baselines, loss_form

    list(baselines(loss_form(_tiny(), horizon=STEPS)))


def _theory() -> None:
    from simgap.answers.audit.audit import audit

    audit(_tiny())


def _identify() -> None:
    from simgap.answers.identify.identify import identify

    identify(_tiny(), STEPS)


def _blame() -> None:
    from simgap.answers.blame.blame import blame

    blame(_tiny(), STEPS)


QUESTIONS = {
    "exact": _exact,
    "bounded": _bounded,
    "baselines": _baselines,
    "theory": _theory,
    "identify": _identify,
    "blame": _blame,
}
WHOLE_STUDY = ("baselines", "theory", "identify", "blame")  # after planning

if __name__ == "__main__":
    main(sys.argv[1:])
