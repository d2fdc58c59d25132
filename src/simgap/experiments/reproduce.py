"""Run claims of the paper and keep what they found: one record for each.

The record of a claim is made of nothing that differs from run to run, so that the same
command writes the same bytes; seconds are in the answer only. An interrupted claim
leaves no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from simgap.errors import InvalidFile
from simgap.experiments import catalogue
from simgap.experiments.framework.claim import Claim, Scale, Tell
from simgap.records import (
    ClaimAnswer,
    ClaimRecord,
    Reproduce,
    provenance,
    read_record,
    write_record,
)

FOLDER = "claims"  # inside the folder of the records


def reproduce(
    names: Sequence[str] = (),
    *,
    out: Path,
    scale: Scale = Scale.QUICK,
    seed: int = 0,
    again: bool = False,
    progress: Tell | None = None,
) -> Reproduce:
    """Run claims and say which hold; their records go to a folder.

    Args:
        names: such as "theorem-2"; all claims if there is none.
        out: the folder; a claim that it holds already, of the same scale, seed and
            versions, is not run.
        scale: how much work goes into a claim.
        seed: of everything that is sampled.
        again: run claims that are there already.
        progress: is called with a few words about what is being done.

    Returns:
        Every claim in short: its verdict, what was expected, its key number.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> found = reproduce(["lemma-6"], out=Path(mkdtemp()))
        >>> found.claims[0].verdict.value, found.as_expected
        ('refuted', True)
    """
    tell = progress or (lambda words: None)
    begin = perf_counter()
    chosen = catalogue.named_claims(tuple(names))
    done = tuple(_answer(claim, scale, seed, out, again, tell) for claim in chosen)
    return Reproduce(
        scale=scale.value,
        claims=done,
        as_expected=all(each.verdict is each.expected for each in done),
        seconds=perf_counter() - begin,
        page="",
        provenance=provenance(command="", model="the paper", latent=None, seed=seed),
    )


def run_claim(
    claim: Claim[Any], scale: Scale, seed: int, tell: Tell = lambda words: None
) -> ClaimRecord:
    """Return the record of a claim, run at a scale."""
    found = claim.run(scale, seed, tell)
    return ClaimRecord(
        claim=claim.name,
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        errata=claim.errata,
        expected=claim.expected,
        verdict=found.verdict,
        as_expected=found.verdict is claim.expected,
        key_number=found.key_number,
        summary=found.summary,
        checks=found.checks,
        figures=found.figures,
        tables=found.tables,
        scale=scale.value,
        seed=seed,
        command=f"simgap reproduce {claim.name} --{scale.value} --seed {seed}",
        versions=_versions(),
    )


def _answer(
    claim: Claim[Any], scale: Scale, seed: int, out: Path, again: bool, tell: Tell
) -> ClaimAnswer:
    """Run a claim, or take it from the folder if it is there."""
    path, begin = out / FOLDER / f"{claim.name}.json", perf_counter()
    record = None if again else _kept(path, claim, scale, seed)
    seconds = None
    if record is None:
        tell(f"{claim.name} ...")
        record = run_claim(
            claim, scale, seed, lambda words: tell(f"{claim.name}: {words}")
        )
        _save(record, path)
        seconds = perf_counter() - begin
    return ClaimAnswer(
        claim=claim.name,
        title=claim.title,
        verdict=record.verdict,
        expected=claim.expected,
        key_number=record.key_number,
        seconds=seconds,
        record=str(path),
    )


def _kept(path: Path, claim: Claim[Any], scale: Scale, seed: int) -> ClaimRecord | None:
    """Return the record of a claim that need not be run, or None.

    It must be of the same scale, seed, versions and words; a damaged one is made anew.
    """
    if not path.exists():
        return None
    try:
        found = read_record(path, ClaimRecord)
    except InvalidFile:
        return None
    wanted = (claim.name, claim.statement, claim.expected, scale.value, seed)
    kept = (found.claim, found.statement, found.expected, found.scale, found.seed)
    return found if kept == wanted and found.versions == _versions() else None


def _save(record: ClaimRecord, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"cannot make the folder {path.parent}: {error.strerror or error}",
            hint="choose another one with --out DIR",
        ) from error
    write_record(record, path)


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from platform import python_version

    return {
        "simgap": version("simgap"),
        "python": python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }
