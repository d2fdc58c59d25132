"""Every question about a class, one folder of records.

The class is planned once, and every answer has the bracket of that plan. Each answer is
written as soon as it is there, so that a study can be stopped. Oracle, gap and audit
are answered every time. Blame, width, identify and adapt take longer: an answer that
the folder's ledger has for the same class, settings, versions and bracket is kept.
Every record names the command that makes it: its own verb, or the study where it rests
on the study's plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import join
from time import perf_counter
from typing import Any, BinaryIO, final

from simgap.answers.adapt.adapt import adapt
from simgap.answers.audit.audit import audit
from simgap.answers.blame.blame import blame
from simgap.answers.compare import compare
from simgap.answers.identify.identify import identify
from simgap.answers.model import Model, NamedModel, named_model
from simgap.answers.oracle import planned_and_compared, planned_class
from simgap.answers.planned_class import Tell
from simgap.answers.saved_policies import saved_policies
from simgap.answers.study.story import story_of
from simgap.answers.width.ranges import varying_parameters
from simgap.answers.width.width import width
from simgap.interop import TransitionLog, read_transition_log, save_model
from simgap.ledger import opened_ledger
from simgap.oracle import AutoOracle, Outcome
from simgap.records.adapt import Adapt
from simgap.records.audit import Audit
from simgap.records.blame import Blame
from simgap.records.gap import Gap
from simgap.records.identify import Identify
from simgap.records.kept import ANSWERS, kept_or_made, write_record
from simgap.records.oracle import Oracle
from simgap.records.provenance import provenance, versions
from simgap.records.record import Record, with_command
from simgap.records.study import Study
from simgap.records.width import Width, width_file
from simgap.text import between, number, shown
from simgap.user_files import made_folder

MOST_WIDTHS = 6  # parameters whose width is studied
FINER = 0.1  # of the tolerance, if the bracket leaves the verdict open
LONGER = 4.0  # times the limit of one planning, for blame and width
SECONDS = 60.0  # of planning, if `simgap oracle` or `simgap gap` has no limit
PAGE, ADAPT = "report.html", "adapt"
SlowAnswer = Blame | Width | Identify | Adapt


def study_class(
    model: Model,
    horizon: int,
    *,
    out: str | os.PathLike[str] = "simgap-study",
    gap_tolerance: float = 0.1,
    time_limit: float = 30.0,
    log: str | os.PathLike[str] | BinaryIO | None = None,
    fresh: bool = False,
    agents: bool = True,
    alone: int | None = None,
    seed: int = 0,
    command: str = "",
    draw: Callable[[Path, Path], object] | None = None,
    judged: Callable[[Audit], None] | None = None,
    progress: Tell | None = None,
) -> Study:
    """Return the answers to all questions about a class; their records are in a folder.

    `out` gets the records of audit, oracle, gap, blame, width, identify and, with a
    `log` of real transitions, adapt; both policies of the oracle; and the class. Slow
    answers that are there already are kept unless `fresh`. Each planning of the whole
    class ends at `gap_tolerance` of the loss or after `time_limit` seconds. Without
    `agents` only planned policies are compared, and `alone` is the model that the story
    begins with. `draw` is called with the folder and the file of a page, at the end and
    if the study is interrupted (`simgap.report.write_explorer` draws it), `judged` with
    the audit as soon as it is there. Records that rest on the study's plan name the
    `command`.
    """
    begin, given = perf_counter(), named_model(model)
    folder, seen = Path(out), None
    if log is not None:  # it is used last: refuse a bad one before all the planning
        source = Path(log) if isinstance(log, str | os.PathLike) else log
        seen = read_transition_log(source, given.latent.simulators)
    made_folder(folder)
    solver = AutoOracle(gap_tolerance=gap_tolerance, time_limit=time_limit, seed=seed)
    asked = _Asked(
        given=given,
        horizon=horizon,
        folder=folder,
        solver=solver,
        seconds=time_limit,
        log=seen,
        agents=agents,
        command=command,
        tell=progress or (lambda word: None),
    )
    with opened_ledger(folder, ANSWERS):  # the only driver there
        save_model(given.latent, folder / "model.simgap")
        files, findings = dict[str, str](), list[str]()
        try:
            asked, oracle, verdict = _planned_and_judged(asked)
            files["audit"] = _written(asked, "audit", verdict)
            if judged is not None:
                judged(verdict)
            oracle = _with_policies(asked, oracle)
            files["oracle"] = _written(asked, "oracle", oracle)
            files["gap"] = _written(asked, "gap", _gap(asked, oracle))
            for name, kind, make in _slow_parts(asked, oracle):
                found, _ = kept_or_made(
                    folder / f"{name}.json",
                    _defining(asked, name, oracle),
                    kind,
                    lambda make=make: with_command(make(), command),  # type: ignore[misc]
                    again=fresh,
                )
                files[name] = str(folder / f"{name}.json")
                findings += finding_of(found)
        finally:
            if draw is not None:
                draw(folder, folder / PAGE)
    return Study(
        verdict=verdict.verdict,
        headline=verdict.headline,
        reason=verdict.reason,
        story=story_of(oracle, alone=alone),
        findings=tuple(findings),
        oracle=oracle,
        total_seconds=perf_counter() - begin,
        model_file=str(folder / "model.simgap"),
        report=None if draw is None else str(folder / PAGE),
        records=files,
        provenance=provenance(
            command=command, model=given.name, latent=given.latent, seed=seed
        ),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What is studied, how hard, and where it goes."""

    given: NamedModel
    horizon: int
    folder: Path
    solver: AutoOracle
    seconds: float  # the limit of one planning
    log: TransitionLog | None
    agents: bool
    command: str
    tell: Tell

    def verb(self, name: str, *options: str) -> str:
        """Return the command that gives the record of `oracle` or `gap` alone."""
        if not self.given.name:
            return ""  # the class was built in Python
        words = ["simgap", name, self.given.name, "-H", str(self.horizon), *options]
        if self.seconds != SECONDS:
            words += ["--time-limit", f"{self.seconds:g}"]
        if self.solver.seed:
            words += ["--seed", str(self.solver.seed)]
        return join(words)


def _written(asked: _Asked, name: str, answer: Record) -> str:
    path = asked.folder / f"{name}.json"
    write_record(answer, path)
    return str(path)


def _defining(asked: _Asked, name: str, oracle: Oracle) -> dict[str, Any]:
    """Return everything that a slow answer depends on."""
    log = asked.log if name == ADAPT else None
    return {
        "answer": name,
        "model": (asked.given.name, asked.given.latent.hash),
        "horizon": asked.horizon,
        "solver": asked.solver,
        "time limit": asked.seconds,
        "agents": asked.agents,
        "log": None if log is None else (log.hash, log.notes),
        "bracket": (oracle.average_gap, oracle.result.gap_intervals),
        "versions": versions(),
    }


def _planned_and_judged(asked: _Asked) -> tuple[_Asked, Oracle, Audit]:
    """Return the one plan of the class, and the verdict from it.

    If the bracket is as narrow as asked and leaves the verdict open, a finer one is
    asked for, and is that of the study.
    """
    oracle, verdict = _planned(asked)
    left_open = verdict.verdict == "undecided"
    if left_open and oracle.result.outcome is Outcome.SOLVED:
        finer = FINER * (asked.solver.gap_tolerance or 1.0)
        asked = replace(asked, solver=replace(asked.solver, gap_tolerance=finer))
        oracle, verdict = _planned(asked)
    return asked, oracle, verdict


def _planned(asked: _Asked) -> tuple[Oracle, Audit]:
    oracle = planned_and_compared(asked.given, asked.horizon, asked.solver, asked.tell)
    verdict = audit(
        asked.given,
        asked.horizon,
        time_limit=asked.seconds,
        seed=asked.solver.seed,
        planned=planned_class(oracle),
        progress=asked.tell,
    )
    return oracle, with_command(verdict, asked.command)


def _with_policies(asked: _Asked, oracle: Oracle) -> Oracle:
    """Return the record of the oracle with its policies written to files."""
    grid, path = asked.given.latent.simulators.grid, asked.folder / "policy.simgap"
    files = saved_policies(oracle.result, path, grid)
    kept = replace(oracle, policy_file=files[0], belief_policy_file=files[1])
    tolerance = str(asked.solver.gap_tolerance)
    return with_command(kept, asked.verb("oracle", "--gap-tolerance", tolerance))


def _gap(asked: _Asked, oracle: Oracle) -> Gap:
    found = compare(
        asked.given,
        asked.horizon,
        horizons="all",
        agents=asked.agents,
        gap_tolerance=asked.solver.gap_tolerance or 0.1,
        time_limit=asked.seconds,
        seed=asked.solver.seed,
        oracle=oracle,
        progress=asked.tell,
    )
    more = () if asked.agents else ("--no-agents",)
    return with_command(found, asked.verb("gap", "--horizons", "all", *more))


def _slow_parts(
    asked: _Asked, oracle: Oracle
) -> Iterator[tuple[str, type[SlowAnswer], Callable[[], SlowAnswer]]]:
    """Yield the name, the record and the making of every answer that takes longer."""
    given, horizon, seed = asked.given, asked.horizon, asked.solver.seed
    result, tell = oracle.result, asked.tell
    yield (
        "blame",
        Blame,
        partial(
            blame,
            given,
            horizon,
            time_limit=LONGER * asked.seconds,
            seed=seed,
            oracle=result,
            progress=tell,
        ),
    )
    for param in varying_parameters(given.latent)[:MOST_WIDTHS]:
        yield (
            width_file(param),
            Width,
            partial(
                width,
                given,
                horizon,
                param,
                time_limit=LONGER * asked.seconds,
                seed=seed,
                oracle=result,
                progress=tell,
            ),
        )
    yield (
        "identify",
        Identify,
        partial(
            identify,
            given,
            horizon,
            time_limit=asked.seconds,
            seed=seed,
            oracle=result,
            progress=tell,
        ),
    )
    if asked.log is not None:
        yield (
            ADAPT,
            Adapt,
            partial(
                adapt,
                given,
                horizon,
                asked.log,
                solver=asked.solver,
                oracle=result,
                progress=tell,
            ),
        )


def finding_of(record: SlowAnswer) -> Iterator[str]:
    """Yield what an answer has found, in a line; nothing if there is nothing to say."""
    if isinstance(record, Blame):
        yield record.headline
    elif isinstance(record, Width):
        yield f"{shown(record.param, 40)}: {record.reason}"
    elif isinstance(record, Identify):
        yield from _identified(record)
    else:
        yield _adapted(record)


def _identified(record: Identify) -> Iterator[str]:
    if record.slowest is None:
        return
    pair = record.pairs[record.slowest]
    one, other = shown(pair.first_name, 40), shown(pair.second_name, 40)
    if pair.steps.lower == float("inf"):
        yield f"{one} and {other} are never told apart (certified)."
        return
    yield (
        f"Hardest to tell apart are {one} and {other}: the best experiment takes "
        f"{between(pair.steps, 6)} steps for an error of {100 * record.error:g} % "
        "(certified)."
    )


def _adapted(record: Adapt) -> str:
    after = record.gap_bound_after
    if record.outside_class or after is None:
        return (
            f"No model explains the {record.transitions} real transitions (false "
            f"alarms: at most {100 * record.false_alarm:g} %)."
        )
    best = max(record.posterior, key=lambda each: each.probability or 0.0)
    return (
        f"After {record.transitions} real transitions {shown(best.name, 40)} has "
        f"probability {number(best.probability, 3)}; the loss goes from "
        f"{between(record.gap_bound_before, 4)} to {between(after, 4)} (certified)."
    )
