"""The parts of a study: each answers one question and keeps its record.

The class is planned once, and every answer has the bracket of that plan. Oracle, gap
and audit are answered every time. Blame, width, identify and adapt take longer, so that
they are kept if the folder has them for the same class, horizon, seed, version and
bracket. Every record names the command that makes it: its own verb, or the study where
it rests on the study's plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.mdp import LatentMDP
    from simgap.oracle import AutoOracle, OracleResult
    from simgap.records import Oracle, Study as StudyRecord

MOST_WIDTHS = 6  # parameters whose width is studied
FINER = 0.1  # of the tolerance, if the bracket leaves the verdict open
EPISODES = 400  # of agents that are sampled
BLAME_SECONDS = 4.0  # times the limit of one planning
SECONDS = 60.0  # of planning, if `oracle` or `gap` is not told


@final
@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What is studied, how hard, and where it goes."""

    latent: LatentMDP
    horizon: int
    folder: Path
    solver: AutoOracle
    command: str
    model: str  # as the user named it
    log: Path | None = None
    fresh: bool = False
    refined: bool = False  # the audit climbs a ladder of grids
    agents: bool = True  # run base policies too: each compiles for ten seconds, once
    alone: int | None = None  # the model of the story's first chapter
    begun: float = field(default_factory=perf_counter)

    @property
    def seconds(self) -> float:
        """The limit of one planning."""
        return self.solver.time_limit or 30.0

    def verb(self, name: str, *options: str) -> str:
        """Return the command that gives the record of `oracle` or `gap` alone."""
        from shlex import join

        words = ["simgap", name, self.model, "-H", str(self.horizon), *options]
        if self.seconds != SECONDS:
            words += ["--time-limit", f"{self.seconds:g}"]
        if self.solver.seed:
            words += ["--seed", str(self.solver.seed)]
        return join(words)


def studied(study: Study) -> StudyRecord:
    """Answer every question, keep the records, and draw the page.

    If it is interrupted, the page shows what is there.
    """
    from simgap.answers import story_of
    from simgap.cli.app.output import say
    from simgap.cli.verbs.study_words import findings_of
    from simgap.interop import save_model
    from simgap.records import Study as StudyRecord
    from simgap.report import write_explorer

    model_file, page = study.folder / "model.simgap", study.folder / "report.html"
    save_model(study.latent, model_file)
    records: dict[str, str] = {}
    try:
        study, planned, audit = _planned_and_judged(study)
        _written(study, "audit", audit, records)
        say(f"verdict: {audit.headline} Now the details")
        oracle = _oracle(study, planned)
        _written(study, "oracle", oracle, records)
        _written(study, "gap", _gap(study, planned), records)
        for name, make in _slow_parts(study, planned.result):
            _kept_or_made(study, name, make, records, planned.result)
    finally:
        write_explorer(study.folder, page)
    return StudyRecord(
        verdict=audit.verdict,
        headline=audit.headline,
        reason=audit.reason,
        story=story_of(oracle, alone=study.alone),
        findings=tuple(findings_of(records)),
        oracle=oracle,
        total_seconds=perf_counter() - study.begun,
        model_file=str(model_file),
        report=str(page),
        records=records,
        provenance=oracle.provenance,
    )


def _written(study: Study, name: str, answer: Any, records: dict[str, str]) -> Any:
    from simgap.records import write_record

    path = study.folder / f"{name}.json"
    write_record(answer, path)
    records[name] = str(path)
    return answer


def _kept_or_made(
    study: Study,
    name: str,
    make: Callable[[], Any],
    records: dict[str, str],
    oracle: OracleResult,
) -> None:
    """Keep the record that is there if it answers this very question, else make it."""
    path = study.folder / f"{name}.json"
    if not study.fresh and _answers_this(study, path, oracle):
        records[name] = str(path)
        return
    _written(study, name, make(), records)


def _answers_this(study: Study, path: Path, oracle: OracleResult) -> bool:
    """Return whether a record is about this question, with the bracket of this plan."""
    from importlib.metadata import version

    from simgap.cli.verbs.study_brackets import brackets_of_the_oracle
    from simgap.cli.verbs.study_words import findings_of
    from simgap.errors import InvalidFile
    from simgap.records import plain, read_object

    if path.name == "adapt.json" or not path.exists():
        return False  # a log may have grown
    try:
        found = read_object(path)
        list(findings_of({path.stem: str(path)}))
    except InvalidFile:
        return False
    source, bracket = found.get("provenance"), plain(oracle.average_gap)
    if any(told != bracket for told in brackets_of_the_oracle(found)):
        return False
    return isinstance(source, dict) and (
        found.get("horizon"),
        source.get("model_hash"),
        source.get("seed"),
        source.get("simgap"),
    ) == (study.horizon, study.latent.hash, study.solver.seed, version("simgap"))


def _planned_and_judged(study: Study) -> tuple[Study, Oracle, Any]:
    """Return the one plan of the class, and the verdict from it.

    If the bracket is as narrow as asked and leaves the verdict open, a finer one is
    asked for, and is that of the study.
    """
    from dataclasses import replace

    from simgap.oracle import Outcome

    planned = _planned(study)
    audit = _audit(study, planned)
    left_open = audit.verdict == "undecided"
    if left_open and planned.result.outcome is Outcome.SOLVED:
        finer = FINER * (study.solver.gap_tolerance or 1.0)
        solver = replace(study.solver, gap_tolerance=finer)
        study = replace(study, solver=solver)
        planned = _planned(study)
        audit = _audit(study, planned)
    return study, planned, audit


def _audit(study: Study, planned: Oracle) -> Any:
    from simgap.answers import NamedModel, audit, planned_class
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    with telling("checking assumptions") as tell:
        found = audit(
            NamedModel(study.latent, study.model),
            study.horizon,
            time_limit=study.seconds,
            refine=study.refined,
            seed=study.solver.seed,
            planned=planned_class(planned),
            progress=tell,
        )
    return with_command(found, study.command)


def _planned(study: Study) -> Oracle:
    from simgap.answers import NamedModel, planned_and_compared
    from simgap.cli.app.output import telling

    with telling("planning") as tell:
        given = NamedModel(study.latent, study.model)
        return planned_and_compared(given, study.horizon, study.solver, tell)


def _oracle(study: Study, planned: Oracle) -> Oracle:
    from dataclasses import replace

    from simgap.answers import saved_policies
    from simgap.records import with_command

    tolerance = str(study.solver.gap_tolerance)
    files = saved_policies(planned.result, study.folder / "policy.simgap")
    kept = replace(planned, policy_file=files[0], belief_policy_file=files[1])
    return with_command(kept, study.verb("oracle", "--gap-tolerance", tolerance))


def _gap(study: Study, planned: Oracle) -> Any:
    from simgap.answers import NamedModel, compare
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    with telling("measuring") as tell:
        found = compare(
            NamedModel(study.latent, study.model),
            study.horizon,
            agents=study.agents,
            horizons="all",
            seeds=EPISODES,
            gap_tolerance=study.solver.gap_tolerance or 0.1,
            time_limit=study.seconds,
            seed=study.solver.seed,
            oracle=planned,
            progress=tell,
        )
    more = () if study.agents else ("--no-agents",)
    return with_command(found, study.verb("gap", "--horizons", "all", *more))


def _slow_parts(
    study: Study, oracle: OracleResult
) -> Iterator[tuple[str, Callable[[], Any]]]:
    from simgap.answers import varying_parameters
    from simgap.records import width_file

    yield "blame", partial(_blame, study, oracle)
    for name in varying_parameters(study.latent)[:MOST_WIDTHS]:
        yield (
            width_file(name),
            partial(_width, study, oracle, name),
        )
    yield "identify", partial(_identify, study, oracle)
    if study.log is not None:
        yield "adapt", partial(_adapt, study, oracle)


def _blame(study: Study, oracle: OracleResult) -> Any:
    from simgap.answers import NamedModel, blame
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    with telling("planning") as tell:
        found = blame(
            NamedModel(study.latent, study.model),
            study.horizon,
            time_limit=BLAME_SECONDS * study.seconds,
            seed=study.solver.seed,
            oracle=oracle,
            progress=tell,
        )
    return with_command(found, study.command)


def _width(study: Study, oracle: OracleResult, param: str) -> Any:
    from simgap.answers import NamedModel, width
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    with telling("planning for ranges") as tell:
        found = width(
            NamedModel(study.latent, study.model),
            study.horizon,
            param,
            time_limit=study.seconds,
            seed=study.solver.seed,
            oracle=oracle,
            progress=tell,
        )
    return with_command(found, study.command)


def _identify(study: Study, oracle: OracleResult) -> Any:
    from simgap.answers import NamedModel, identify
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    with telling("comparing models") as tell:
        found = identify(
            NamedModel(study.latent, study.model),
            study.horizon,
            seed=study.solver.seed,
            oracle=oracle,
            progress=tell,
        )
    return with_command(found, study.command)


def _adapt(study: Study, oracle: OracleResult) -> Any:
    from simgap.answers import NamedModel, adapt
    from simgap.cli.app.output import telling
    from simgap.records import with_command

    assert study.log is not None
    with telling("planning") as tell:
        found = adapt(
            NamedModel(study.latent, study.model),
            study.horizon,
            study.log,
            solver=study.solver,
            oracle=oracle,
            progress=tell,
        )
    return with_command(found, study.command)
