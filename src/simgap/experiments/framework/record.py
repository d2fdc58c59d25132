"""What running a claim leaves on disk: one JSON record per claim, drawn by the report.

What differs from run to run, such as seconds, is kept apart in `timings.json`, so that
the same command writes the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.experiments.framework.claim import (
    Check,
    Claim,
    ClaimResult,
    Figure,
    KeyNumber,
    Scale,
    Table,
    Verdict,
)
from simgap.intervals import Certified, Estimate
from simgap.records import SCHEMA, read_object, write_record

FOLDER = "claims"
KIND = "claim"


@final
@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One inequality and what it says."""

    name: str
    left: Certified | Estimate
    right: Certified | Estimate
    verdict: str


@final
@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A claim, its verdict and everything a page shows of it."""

    schema: int
    kind: str
    claim: str
    title: str
    statement: str
    source: str
    errata: tuple[str, ...]
    expected: str
    verdict: str
    as_expected: bool
    key_number: KeyNumber
    summary: str
    checks: tuple[CheckRecord, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    scale: str
    seed: int
    command: str  # that remakes this record
    versions: dict[str, str]


def claim_record(
    claim: Claim[Any], result: ClaimResult, *, scale: Scale, seed: int
) -> ClaimRecord:
    """Return the record of a claim that was run."""
    return ClaimRecord(
        schema=SCHEMA,
        kind=KIND,
        claim=claim.name,
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        errata=claim.errata,
        expected=claim.expected.value,
        verdict=result.verdict.value,
        as_expected=result.verdict is claim.expected,
        key_number=result.key_number,
        summary=result.summary,
        checks=tuple(_check(each) for each in result.checks),
        figures=result.figures,
        tables=result.tables,
        scale=scale.value,
        seed=seed,
        command=f"simgap reproduce {claim.name} --{scale.value} --seed {seed}",
        versions=_versions(),
    )


def claim_path(folder: Path, name: str) -> Path:
    """Return where the record of a claim is kept."""
    return folder / FOLDER / f"{name}.json"


def save_claim(record: ClaimRecord, folder: Path) -> None:
    """Write the record of a claim; a reader sees the old one or the new one."""
    path = claim_path(folder, record.claim)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"cannot make the folder {path.parent}: {error.strerror or error}",
            hint="choose another one with --out DIR",
        ) from error
    write_record(record, path)


def finished_claim(
    folder: Path, claim: Claim[Any], *, scale: Scale, seed: int
) -> dict[str, Any] | None:
    """Return the record of a claim that need not be run again, or None.

    It must be of the same scale, seed and versions; a damaged record is made anew.
    """
    path = claim_path(folder, claim.name)
    if not path.exists():
        return None
    try:
        found = read_object(path)
    except InvalidFile:
        return None
    wanted = {
        "kind": KIND,
        "claim": claim.name,
        "scale": scale.value,
        "seed": seed,
        "versions": _versions(),
        "expected": claim.expected.value,
        "statement": claim.statement,
    }
    same = all(found.get(key) == value for key, value in wanted.items())
    judged = found.get("verdict") in [each.value for each in Verdict]
    return found if same and judged else None


def _check(check: Check) -> CheckRecord:
    return CheckRecord(check.name, check.left, check.right, check.verdict.value)


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from platform import python_version

    return {
        "simgap": version("simgap"),
        "python": python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }
